//! Loading the driver, and what it says of itself.

use cuda_driver::{Driver, ErrorKind, Version};
use cuda_sim::Simulator;
use cuda_sys::CUresult;

use crate::support::bench::Bench;
use crate::support::{Choice, Test, choice};

#[test]
fn a_path_that_does_not_exist_is_an_error_that_names_it() {
    let path = "/nowhere/libcuda.so.1";
    // SAFETY: there is no library, so nothing of it runs.
    let error = unsafe { Driver::load_from(path) }.expect_err("no library is there");
    assert_eq!(error.kind(), ErrorKind::LibraryNotFound);
    assert!(error.to_string().contains(path), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("cannot load the CUDA driver: "),
        "{error}"
    );
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(error.call(), None);
    assert_eq!(error.status(), None);
}

#[test]
fn a_file_that_is_no_library_is_broken_and_not_missing() {
    let path = std::env::current_exe()
        .expect("this program")
        .with_extension("d-not-a-library");
    std::fs::write(&path, "not a library").expect("the file is written");
    // SAFETY: the file is no library, so nothing of it runs.
    let result = unsafe { Driver::load_from(&path) };
    std::fs::remove_file(&path).expect("the file is removed");
    let error = result.expect_err("it is no library");
    assert_ne!(error.kind(), ErrorKind::Driver);
    assert!(error.to_string().contains("d-not-a-library"), "{error}");
}

#[test]
fn loading_can_be_tried_again() {
    for _ in 0..3 {
        match Driver::load() {
            Ok(driver) => assert!(driver.is_same(&Driver::load().expect("it was loaded"))),
            Err(error) => assert!(
                matches!(
                    error.kind(),
                    ErrorKind::LibraryNotFound | ErrorKind::NoDevice | ErrorKind::StubLibrary
                ),
                "{error}"
            ),
        }
    }
}

#[test]
fn falling_back_to_the_simulator_happens_only_without_a_library_or_a_device() -> Test {
    let loaded = Driver::load();
    let driver = Driver::load_or_simulated()?;
    assert_eq!(driver.is_simulated(), loaded.is_err());
    let text = driver.to_string();
    assert!(
        text.contains(if driver.is_simulated() {
            "software"
        } else {
            "NVIDIA"
        }),
        "{text}"
    );
    Ok(())
}

#[test]
fn each_simulated_driver_is_its_own() -> Test {
    let (one, two) = (Driver::simulated()?, Driver::simulated()?);
    assert!(!one.is_same(&two));
    assert!(one.is_same(&one.clone()));
    assert_ne!(one.device(0)?.as_raw(), two.device(0)?.as_raw());
    Ok(())
}

#[test]
fn a_driver_that_fails_to_initialise_is_an_error_with_its_status() {
    let simulator = Simulator::new();
    simulator.fail("cuInit", 1, CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    let error = Driver::simulated_by(&simulator).expect_err("cuInit fails");
    assert_eq!(error.call(), Some("cuInit"));
    assert_eq!(
        error.status(),
        Some(CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
    );
    assert!(
        error.remedy().is_some_and(|it| it.contains("reboot")),
        "{error}"
    );
    assert!(Driver::simulated_by(&simulator).is_ok());
}

#[test]
fn a_driver_without_devices_says_no_device() -> Test {
    let simulator = Simulator::builder().devices(Vec::new()).build()?;
    match Driver::simulated_by(&simulator) {
        Ok(driver) => {
            assert_eq!(driver.device_count()?, 0);
            assert!(driver.devices()?.is_empty());
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::NoDevice),
    }
    Ok(())
}

#[test]
fn the_version_is_read_and_ordered() -> Test {
    let bench = Bench::new();
    let version = bench.driver().version();
    assert!(
        version
            >= Version {
                major: 11,
                minor: 4
            }
    );
    assert!(
        version
            < Version {
                major: 99,
                minor: 0
            }
    );
    assert!(bench.driver().to_string().contains(&version.to_string()));
    let old = Simulator::builder().driver_version(11_040).build()?;
    let old = Driver::simulated_by(&old)?;
    assert_eq!(
        old.version(),
        Version {
            major: 11,
            minor: 4
        }
    );
    assert_eq!(old.version().to_string(), "11.4");
    Ok(())
}

#[test]
fn a_missing_symbol_is_an_error_that_names_function_and_versions() -> Test {
    let old = Simulator::builder().driver_version(11_040).build()?;
    let driver = Driver::simulated_by(&old)?;
    let mut count = 0;
    let out = &raw mut count;
    // SAFETY: the driver does not have the function, so nothing is called.
    let result =
        unsafe { cuda_driver::call!(driver, cuModuleGetFunctionCount(out, std::ptr::null_mut())) };
    let error = result.expect_err("the function is of CUDA 12.4");
    assert_eq!(error.kind(), ErrorKind::MissingSymbol);
    assert_eq!(error.call(), Some("cuModuleGetFunctionCount"));
    assert_eq!(error.status(), None);
    let text = error.to_string();
    assert!(
        text.contains("cuModuleGetFunctionCount") && text.contains("12.4"),
        "{text}"
    );
    assert!(text.contains("11.4"), "{text}");
    assert!(text.contains("update the NVIDIA driver"), "{text}");
    Ok(())
}

#[test]
fn statuses_have_names_and_descriptions() -> Test {
    let bench = Bench::new();
    let driver = bench.driver();
    let status = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    assert_eq!(driver.error_name(status)?, "CUDA_ERROR_OUT_OF_MEMORY");
    assert!(!driver.error_description(status)?.is_empty());
    Ok(())
}

#[test]
fn an_unknown_status_is_a_value_and_not_a_crash() {
    let bench = Bench::new();
    let unknown = CUresult(54_321);
    let error = bench
        .driver()
        .error_name(unknown)
        .expect_err("nobody knows it");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(format!("{unknown:?}").contains("54321"));
    let Choice::Software(_) = choice() else {
        return;
    };
    bench.simulator().fail("cuStreamSynchronize", 1, unknown);
    let stream = bench.stream();
    let error = cuda_driver::AnyStream::synchronize(&stream).expect_err("it fails with that");
    assert_eq!(error.kind(), ErrorKind::Driver);
    assert_eq!(error.status(), Some(unknown));
    assert!(error.to_string().contains("54321"), "{error}");
}

#[test]
fn handles_of_one_driver_are_cheap_and_the_same() {
    let bench = Bench::new();
    let clone = bench.driver().clone();
    assert!(clone.is_same(bench.driver()));
    assert!(clone.is_same(bench.context().driver()));
    assert!(format!("{clone:?}").contains("Driver"));
}
