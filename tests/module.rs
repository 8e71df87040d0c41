//! Modules: what is in them, and how long they live.

use cuda_driver::{JitOptions, LaunchConfig, Module, call};

use crate::support::bench::Bench;
use crate::support::kernels::{CONST_MEMORY, PARAMS, SPIN, SlowAdd, VECTOR_ADD};
use crate::support::{Test, numbers};

#[test]
fn the_kernels_of_a_module_are_listed() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    let mut names = module.function_names()?;
    names.sort();
    assert_eq!(names, ["count", "polynomial"]);
    for name in &names {
        let function = module.function(name)?;
        assert_eq!(function.name(), name);
        assert!(function.module().is_same(&module));
        assert!(function.context().is_same(bench.context()));
    }
    assert!(module.context().is_same(bench.context()));
    Ok(())
}

#[test]
fn the_parameters_of_a_kernel_are_known() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(PARAMS)?;
    let scalars = module.function("scalars")?;
    let parameters = scalars.parameters().ok_or("the driver tells")?;
    let sizes: Vec<_> = parameters.iter().map(|it| it.size).collect();
    let offsets: Vec<_> = parameters.iter().map(|it| it.offset).collect();
    assert_eq!(sizes, [1, 2, 8, 4, 1, 8, 2, 4, 8]);
    assert_eq!(offsets, [0, 2, 8, 16, 20, 24, 32, 36, 40]);
    let structs = module.function("structs")?;
    let sizes: Vec<_> = structs
        .parameters()
        .ok_or("the driver tells")?
        .iter()
        .map(|it| it.size)
        .collect();
    assert_eq!(sizes, [16, 1, 16, 24, 8]);
    Ok(())
}

#[test]
fn what_a_kernel_needs_is_known() -> Test {
    let bench = Bench::new();
    let module = bench
        .context()
        .load_ptx(include_str!("kernels/barrier.ptx"))?;
    let attributes = module.function("block_sums")?.attributes()?;
    assert_eq!(attributes.static_shared_bytes, 1024);
    assert!(attributes.max_threads_per_block >= 32);
    assert!(attributes.registers > 0);
    assert_eq!(attributes.ptx_version, 52);
    let device = bench.driver().device(0)?.compute_capability()?;
    assert_eq!(attributes.binary_version, device.major * 10 + device.minor);
    let nothing = module.function("warp_sums")?.attributes()?;
    assert_eq!(nothing.static_shared_bytes, 0);
    Ok(())
}

#[test]
fn a_function_keeps_its_module_loaded() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let function = bench
        .context()
        .load_ptx(VECTOR_ADD)?
        .function("vector_add")?;
    let a = stream.upload(&[1.0_f32; 10])?;
    let mut sum = stream.zeroed::<f32>(10)?;
    // SAFETY: the kernel reads `a` and writes `sum`, ten elements each.
    unsafe {
        function.launch(
            &stream,
            LaunchConfig::for_len(10),
            (&a, &a, &mut sum, 10_u32),
        )
    }?;
    assert_eq!(sum.to_vec()?, [2.0; 10]);
    Ok(())
}

#[test]
fn a_module_is_closed_when_nothing_uses_it() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(VECTOR_ADD)?;
    let function = module.function("vector_add")?;
    let error = module.close().expect_err("the function uses it");
    assert_eq!(error.error().kind(), cuda_driver::ErrorKind::StillShared);
    assert!(
        error.to_string().starts_with("cannot unload the module: "),
        "{error}"
    );
    let module = error.into_handle().ok_or("the handle comes back")?;
    drop(function);
    module.close()?;
    Ok(())
}

#[test]
fn unloading_waits_for_the_kernels_that_run() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    for _ in 0..bench.repeats().min(5) {
        let slow = SlowAdd::load(bench.context(), bench.slow());
        let mut memory = stream.zeroed::<f32>(256)?;
        slow.run(&stream, memory.as_mut_slice(), 8.0)?;
        drop(slow);
        assert_eq!(memory.to_vec()?, [8.0; 256]);
    }
    Ok(())
}

#[test]
fn modules_are_dropped_on_threads_without_a_context() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(SPIN)?;
    let function = module.function("delay_then_add")?;
    std::thread::spawn(move || drop((module, function)))
        .join()
        .expect("no panic");
    Ok(())
}

#[test]
fn a_raw_module_goes_away_and_comes_back() -> Test {
    let bench = Bench::new();
    let raw = bench.context().load_ptx(VECTOR_ADD)?.into_raw()?;
    // SAFETY: the module is loaded in that context, and lives until the end of the block.
    let borrowed = unsafe { Module::from_borrowed_raw(bench.context(), raw) };
    assert_eq!(borrowed.function("vector_add")?.name(), "vector_add");
    borrowed.close()?;
    // SAFETY: it is still loaded, and ours alone from now on.
    let owned = unsafe { Module::from_raw(bench.context(), raw) };
    assert_eq!(owned.as_raw(), raw);
    assert_eq!(owned.function_names()?, ["vector_add"]);
    owned.close()?;
    Ok(())
}

#[test]
fn global_variables_have_an_address_and_a_size() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    let (address, size) = module.global_address("coefficients")?;
    assert!(address != 0 && size == 16);
    assert_eq!(module.global_address("counters")?.1, 24);
    let stream = bench.stream();
    let mut host = [0_i32; 6];
    let (counters, _) = module.global_address("counters")?;
    let to = host.as_mut_ptr().cast();
    // SAFETY: both have 24 bytes; the host waits before it looks.
    unsafe {
        call!(
            bench.driver(),
            cuMemcpyDtoHAsync_v2(to, counters, 24, stream.as_raw())
        )
    }?;
    stream.synchronize()?;
    assert_eq!(host, [1, 2, 0, 3, 0, 0]);
    Ok(())
}

#[test]
fn options_of_the_compiler_are_passed_and_its_log_is_kept() -> Test {
    let bench = Bench::new();
    let options = JitOptions::new()
        .max_registers(32)
        .optimization_level(3)
        .generate_line_info()
        .verbose_log();
    let module = bench.context().load_ptx_with(VECTOR_ADD, &options)?;
    if bench.is_real() {
        // The log is empty where the code was in the compiler's cache.
        assert!(
            module.info_log().is_empty() || module.info_log().contains("vector_add"),
            "{}",
            module.info_log()
        );
    }
    assert!(module.function("vector_add")?.attributes()?.registers <= 32);
    Ok(())
}

#[test]
fn ptx_needs_no_nul_and_may_have_one_at_the_end() -> Test {
    let bench = Bench::new();
    assert!(!VECTOR_ADD.contains('\0'));
    bench.context().load_ptx(VECTOR_ADD)?.close()?;
    // SAFETY: text is checked by the driver.
    let module = unsafe { bench.context().load_binary(VECTOR_ADD.as_bytes()) }?;
    assert_eq!(module.function_names()?, ["vector_add"]);
    Ok(())
}

#[test]
fn a_module_is_loaded_from_a_file() -> Test {
    let bench = Bench::new();
    let path = std::env::temp_dir().join(format!("cuda-driver-test-{}.ptx", std::process::id()));
    std::fs::write(&path, VECTOR_ADD)?;
    // SAFETY: text is checked by the driver.
    let module = unsafe { bench.context().load_file(&path) };
    std::fs::remove_file(&path)?;
    assert_eq!(module?.function_names()?, ["vector_add"]);
    Ok(())
}

#[test]
fn the_same_text_loaded_twice_is_two_modules() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let modules = [
        bench.context().load_ptx(CONST_MEMORY)?,
        bench.context().load_ptx(CONST_MEMORY)?,
    ];
    assert!(!modules[0].is_same(&modules[1]));
    for module in &modules {
        let mut out = stream.zeroed::<i32>(7)?;
        // SAFETY: seven threads write the seven elements.
        unsafe {
            module
                .function("count")?
                .launch(&stream, LaunchConfig::new(1, 7), (&mut out,))
        }?;
        // 1, 2, 0, 3 and the additions of this module's one launch alone.
        assert_eq!(out.to_vec()?, [4, 4, 2, 3, 0, 0, 3]);
    }
    assert_eq!(numbers(3), [0, 1, 2]);
    Ok(())
}
