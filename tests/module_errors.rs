//! Modules that do not load, and names that are not there.

use cuda_driver::{ErrorKind, JitOptions};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{CONST_MEMORY, VECTOR_ADD};

#[test]
fn ptx_with_a_nul_inside_is_refused_before_any_call() -> Test {
    let bench = Bench::new();
    let text = VECTOR_ADD.replacen("ret;", "ret;\0", 1);
    let error = bench
        .context()
        .load_ptx(&text)
        .expect_err("there is a NUL inside");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert_eq!(error.call(), None);
    assert_eq!(error.subject(), "load a PTX module");
    Ok(())
}

#[test]
fn truncated_ptx_is_an_error_at_every_length() -> Test {
    let bench = Bench::new();
    let end = VECTOR_ADD.rfind('}').ok_or("a body")?;
    let step = if bench.is_real() { 97 } else { 29 };
    for len in (0..end).step_by(step) {
        let text = VECTOR_ADD.get(..len).ok_or("ASCII")?;
        // What ends before the kernel begins is a module without kernels, if anything.
        if let Ok(module) = bench.context().load_ptx(text) {
            assert!(module.function("vector_add").is_err(), "{len}: {text}");
        }
    }
    Ok(())
}

#[test]
fn ptx_that_does_not_compile_shows_the_log_and_the_line() -> Test {
    let bench = Bench::new();
    let text = VECTOR_ADD.replacen("ret;", "@@ret;", 1);
    let error = bench
        .context()
        .load_ptx(&text)
        .expect_err("no instruction begins like that");
    assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
    assert_eq!(error.call(), Some("cuModuleLoadDataEx"));
    let log = error.log().ok_or("a log")?;
    assert!(log.contains("@@ret"), "the log shows the line: {log}");
    let line = text
        .lines()
        .position(|it| it.contains("@@ret"))
        .ok_or("it is there")?
        + 1;
    assert!(log.contains(&format!("line {line}")), "{log}");
    assert!(
        error.to_string().starts_with("cannot load a PTX module: "),
        "{error}"
    );
    Ok(())
}

#[test]
fn ptx_newer_than_the_driver_says_both_versions() -> Test {
    let bench = Bench::new();
    let text = VECTOR_ADD.replacen(".version 7.0", ".version 99.0", 1);
    let error = bench
        .context()
        .load_ptx(&text)
        .expect_err("no driver is that new");
    assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
    assert!(error.to_string().contains("99.0"), "{error}");
    assert!(
        error
            .to_string()
            .contains(&bench.driver().version().to_string()),
        "{error}"
    );
    assert!(
        error.remedy().is_some_and(|it| it.contains(".version")),
        "{error}"
    );
    Ok(())
}

#[test]
fn ptx_for_a_newer_device_says_both_architectures() -> Test {
    let bench = Bench::new();
    let text = VECTOR_ADD
        .replacen(".target sm_52", ".target sm_120", 1)
        .replacen(".version 7.0", ".version 8.7", 1);
    let capability = bench.driver().device(0)?.compute_capability()?;
    if capability.major >= 12 {
        return Ok(());
    }
    let error = bench
        .context()
        .load_ptx(&text)
        .expect_err("the device is older");
    assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("sm_120") && text.contains(&capability.to_string()),
        "{text}"
    );
    Ok(())
}

#[test]
fn what_is_no_image_at_all_is_refused() -> Test {
    let bench = Bench::new();
    for image in [
        &b""[..],
        b"\0",
        b"\x7fELF",
        b"MZ\x90\0",
        &[0; 64],
        &[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0],
    ] {
        // SAFETY: what is no image must be refused.
        let error = unsafe { bench.context().load_binary(image) }.expect_err("it is none");
        assert_eq!(error.kind(), ErrorKind::InvalidImage, "{image:?}: {error}");
        assert_eq!(error.call(), None, "the driver must not see it: {error}");
    }
    for image in [&b"\x7fELF\x02\x01\x01"[..], VECTOR_ADD.as_bytes()] {
        // SAFETY: what is no cubin must be refused.
        let error = unsafe { bench.context().load_cubin(image) }.expect_err("it is no cubin");
        assert_eq!(error.kind(), ErrorKind::InvalidImage);
        // SAFETY: what is no fat binary must be refused.
        let error = unsafe { bench.context().load_fatbin(image) }.expect_err("it is no fat binary");
        assert_eq!(error.kind(), ErrorKind::InvalidImage);
    }
    let error = bench
        .context()
        .load_ptx("int main() {}")
        .expect_err("it is no PTX");
    assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
    Ok(())
}

#[test]
fn a_file_that_is_not_there_is_not_found() {
    let bench = Bench::new();
    // SAFETY: there is no file.
    let error = unsafe { bench.context().load_file("/nowhere/kernel.ptx") }.expect_err("no file");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error
            .to_string()
            .starts_with("cannot load the module `/nowhere/kernel.ptx`: "),
        "{error}"
    );
}

#[test]
fn a_kernel_that_is_not_there_lists_those_that_are() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    let error = module.function("polynomia").expect_err("there is none");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.call(), Some("cuModuleGetFunction"));
    assert!(
        error.to_string().starts_with(
            "cannot find the kernel `polynomia`: the module has no kernel `polynomia`; it has `polynomial`, `count`"
        ),
        "{error}"
    );
    for name in ["", "count\0", "Count", "no such kernel"] {
        let error = module.function(name).expect_err("there is none");
        assert!(
            matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::InvalidArgument
            ),
            "{name:?}: {error}"
        );
    }
    Ok(())
}

#[test]
fn a_global_variable_that_is_not_there_is_not_found() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    let error = module.global_address("nothing").expect_err("there is none");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.subject(), "find the global variable `nothing`");
    assert!(module.global_address("a\0b").is_err());
    Ok(())
}

#[test]
fn a_failed_load_leaks_nothing_and_the_next_one_works() -> Test {
    let bench = Bench::new();
    for _ in 0..3 {
        assert!(bench.context().load_ptx("nonsense").is_err());
        bench
            .context()
            .load_ptx_with(VECTOR_ADD, &JitOptions::new())?;
    }
    Ok(())
}
