//! Libraries: code that is loaded once and used in every context.

use cuda_driver::{
    Context, ContextFlags, ErrorKind, JitOptions, Kernel, LaunchConfig, Library, LibraryOptions,
    ModuleLoadingMode, SharedCarveout,
};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{CONST_MEMORY, PARAMS, SHARED_DYNAMIC, VECTOR_ADD};

/// Adds in a context.
fn add_in(context: &Context, kernel: &Kernel) -> cuda_driver::Result<()> {
    let stream = context.create_stream()?;
    let add = kernel.in_context(context)?;
    let a = stream.upload(&[1.0_f32; 100])?;
    let mut sum = stream.zeroed::<f32>(100)?;
    let config = LaunchConfig::for_len(100);
    // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
    unsafe { add.launch(&stream, config, (&a, &a, &mut sum, 100_u32)) }?;
    assert_eq!(sum.to_vec()?, [2.0; 100]);
    Ok(())
}

fn uses_a_library_in_every_context(bench: &Bench) -> Test {
    let driver = bench.driver();
    let library = driver.load_library_ptx(VECTOR_ADD)?;
    assert!(library.driver().is_same(driver));
    let kernel = library.kernel("vector_add")?;
    assert_eq!(kernel.name(), "vector_add");
    assert!(kernel.library().is_same(&library));
    add_in(bench.context(), &kernel)?;
    for device in driver.devices()? {
        let created = device.create_context(ContextFlags::default())?;
        add_in(&created, &kernel)?;
        add_in(&device.primary_context()?, &kernel)?;
    }
    // A kernel keeps its library, and a function too.
    drop(library);
    let function = kernel.in_context(bench.context())?;
    assert_eq!(function.parameters().map(<[_]>::len), Some(4));
    drop(kernel);
    assert_eq!(function.name(), "vector_add");
    Ok(())
}

#[test]
fn kernels_of_a_library_run_in_every_context() -> Test {
    let bench = Bench::new();
    uses_a_library_in_every_context(&bench)
}

#[test]
fn kernels_of_a_library_run_on_two_devices() -> Test {
    match Bench::two_devices() {
        Some(bench) => uses_a_library_in_every_context(&bench),
        None => Ok(()),
    }
}

#[test]
fn drivers_without_libraries_load_modules_instead() -> Test {
    for version in [11_040, 11_080] {
        let settings = |it: cuda_sim::Builder| it.driver_version(version);
        let Some(bench) = Bench::only_software_with(settings) else {
            return Ok(());
        };
        uses_a_library_in_every_context(&bench)?;
        let library = bench.driver().load_library_ptx(PARAMS)?;
        assert_eq!(library.as_raw(), None);
        assert!(library.kernel_names()?.contains(&String::from("scalars")));
        let error = library.kernel("scalar").expect_err("no such kernel");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("`scalars`"), "{error}");
        let kernel = library.kernel("scalars")?;
        assert_eq!(kernel.as_raw(), None);
        let device = bench.context().device();
        assert_eq!(kernel.attributes(device)?.static_shared_bytes, 0);
        let error = library.unified_function("scalars").expect_err("too old");
        assert_eq!(error.kind(), ErrorKind::MissingSymbol);
        // What a context has put into a variable stays there, as in a library.
        let constants = bench.driver().load_library_ptx(CONST_MEMORY)?;
        let stream = bench.stream();
        let set = constants.global::<[f32]>(bench.context(), "coefficients")?;
        set.write(&stream, &[9.0; 4])?;
        drop(set);
        let again = constants.global::<[f32]>(bench.context(), "coefficients")?;
        assert_eq!(again.read(&stream)?, [9.0; 4]);
    }
    Ok(())
}

#[test]
fn the_kernels_of_a_library_are_listed() -> Test {
    let bench = Bench::new();
    let library = bench.driver().load_library_ptx(CONST_MEMORY)?;
    let mut names = library.kernel_names()?;
    names.sort();
    assert_eq!(names, ["count", "polynomial"]);
    let error = library.kernel("polynom").expect_err("no such kernel");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("it has `polynomial`"), "{error}");
    Ok(())
}

#[test]
fn variables_of_a_library_are_each_contexts_own() -> Test {
    let bench = Bench::new();
    let library = bench.driver().load_library_ptx(CONST_MEMORY)?;
    let other = bench
        .context()
        .device()
        .create_context(ContextFlags::default())?;
    let (here, there) = (bench.stream(), other.create_stream()?);
    let a = library.global::<[f32]>(bench.context(), "coefficients")?;
    let b = library.global::<[f32]>(&other, "coefficients")?;
    a.write(&here, &[7.0; 4])?;
    assert_eq!(b.read(&there)?, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(a.read(&here)?, [7.0; 4]);
    // They stay as long as the library, also where nothing of the module is in use for a while.
    drop(a);
    let polynomial = library.function(bench.context(), "polynomial")?;
    let x = here.upload(&[1.0_f32; 8])?;
    let mut y = here.zeroed::<f32>(8)?;
    // SAFETY: the kernel reads the coefficients and `x`, and writes `y`.
    unsafe { polynomial.launch(&here, LaunchConfig::for_len(8), (&x, &mut y, 8_u32)) }?;
    assert_eq!(y.to_vec()?, [28.0; 8]);
    drop(polynomial);
    let again = library.global::<[f32]>(bench.context(), "coefficients")?;
    let module = library.module(bench.context())?;
    assert!(again.module().is_same(&module));
    assert_eq!(again.read(&here)?, [7.0; 4]);
    let error = module.into_raw().expect_err("it is shared");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    Ok(())
}

#[test]
fn attributes_are_each_devices_own() -> Test {
    let bench = Bench::new();
    let library = bench.driver().load_library_ptx(SHARED_DYNAMIC)?;
    let name = library.kernel_names()?.remove(0);
    let kernel = library.kernel(&name)?;
    let device = bench.context().device();
    kernel.set_max_dynamic_shared_bytes(device, 65536)?;
    kernel.set_preferred_shared_carveout(device, SharedCarveout::MaxShared)?;
    assert_eq!(kernel.attributes(device)?.max_dynamic_shared_bytes, 65536);
    let function = kernel.in_context(bench.context())?;
    assert_eq!(function.attributes()?.max_dynamic_shared_bytes, 65536);
    Ok(())
}

#[test]
fn what_does_not_compile_is_told_with_the_log_at_the_latest_in_a_context() -> Test {
    let bench = Bench::new();
    let wrong = CONST_MEMORY.replacen("ret;", "this is not PTX;", 1);
    let error = bench
        .driver()
        .load_library_ptx(&wrong)
        .and_then(|library| library.function(bench.context(), "polynomial"))
        .expect_err("it does not compile");
    assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
    let log = error.log().unwrap_or_default();
    assert!(log.contains("this is not PTX;"), "{error}");
    Ok(())
}

#[test]
fn options_of_libraries_and_images_that_are_kept() -> Test {
    let bench = Bench::new();
    let options = LibraryOptions::new()
        .jit(JitOptions::new().max_registers(32).verbose_log())
        .preserve_image();
    let text = String::from(VECTOR_ADD);
    let library = bench.driver().load_library_ptx_with(&text, &options)?;
    drop(text);
    add_in(bench.context(), &library.kernel("vector_add")?)?;
    library.close()?;
    // SAFETY: the image is PTX of this repository.
    let library = unsafe {
        bench
            .driver()
            .load_library_binary(VECTOR_ADD.as_bytes(), &options)
    }?;
    let error = library
        .clone()
        .close()
        .expect_err("there is another handle");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    let raw = library.as_raw().is_some();
    assert!(raw || bench.driver().version().major < 12);
    Ok(())
}

#[test]
fn kernels_are_loaded_now_or_later() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(VECTOR_ADD)?;
    let now = module.function("vector_add")?;
    assert!(now.is_loaded()?);
    let library = bench.driver().load_library_ptx(VECTOR_ADD)?;
    let kernel = library.kernel("vector_add")?;
    let later = kernel.in_context_with(bench.context(), ModuleLoadingMode::Lazy)?;
    later.load()?;
    assert!(later.is_loaded()?);
    Ok(())
}

#[test]
fn parts_of_different_drivers_are_refused() -> Test {
    let (Some(one), Some(two)) = (Bench::only_software(), Bench::only_software()) else {
        return Ok(());
    };
    let library = one.driver().load_library_ptx(VECTOR_ADD)?;
    let kernel = library.kernel("vector_add")?;
    for error in [
        library.module(two.context()).err(),
        kernel.in_context(two.context()).err(),
        kernel.attributes(two.context().device()).err(),
    ] {
        assert_eq!(error.ok_or("refused")?.kind(), ErrorKind::Mismatch);
    }
    Ok(())
}

#[test]
fn a_raw_library_can_be_taken_over() -> Test {
    let bench = Bench::new();
    let library = bench.driver().load_library_ptx(VECTOR_ADD)?;
    let Some(raw) = library.as_raw() else {
        return Ok(());
    };
    std::mem::forget(library);
    // SAFETY: the only handle of it is forgotten.
    let library = unsafe { Library::from_raw(bench.driver(), raw) };
    add_in(bench.context(), &library.kernel("vector_add")?)?;
    let error = library.managed_address(bench.context(), "x").err();
    assert_eq!(error.ok_or("no such variable")?.kind(), ErrorKind::NotFound);
    library.close()?;
    Ok(())
}
