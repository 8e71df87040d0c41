//! Modules of the software driver.

use cuda_sim::Simulator;
use cuda_sys::CUresult;

use super::*;
use crate::device::ComputeCapability;

const TWO_KERNELS: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter[3];
.visible .entry scale(.param .u32 n, .param .u64 p, .param .f32 f)
{
    ret;
}
.visible .entry vector_add(.param .u64 a)
{
    ret;
}
";

fn context_of(simulator: &Simulator) -> Result<Context> {
    Driver::simulated_by(simulator)?
        .device(0)?
        .primary_context()
}

#[test]
fn kernels_and_globals_are_found_by_name() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let module = context.load_ptx(TWO_KERNELS)?;
    let mut names = module.function_names()?;
    names.sort();
    assert_eq!(names, ["scale", "vector_add"]);
    assert!(!module.core().raw_function("scale")?.is_null());
    let (address, size) = module.global_address("counter")?;
    assert_ne!(address, 0);
    assert_eq!(size, 12);
    Ok(())
}

#[test]
fn declared_variables_are_accessed_as_declared() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let module = context.load_ptx(TWO_KERNELS)?;
    let read = DeclaredGlobal::new(module.core(), "counter", false)?;
    let write = DeclaredGlobal::new(module.core(), "counter", true)?;
    let (read, write) = (read.access(), write.access());
    assert!(std::ptr::eq(read.order, write.order));
    assert_eq!((read.range.start, read.range.end), (0, 12));
    assert!(!read.effect.writes() && write.effect.writes());
    let error = DeclaredGlobal::new(module.core(), "count", false).unwrap_err();
    assert!(error.to_string().contains("`counter`"), "{error}");
    Ok(())
}

#[test]
fn a_name_that_is_not_there_is_answered_with_those_that_are() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let module = context.load_ptx(TWO_KERNELS)?;
    let error = module.core().raw_function("vector_ad").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let text = error.to_string();
    assert!(
        text.contains("no kernel `vector_ad`; it has `vector_add`, `scale`"),
        "{text}"
    );
    let error = module.global_address("count").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = module.core().raw_function("sc\0ale").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn ptx_needs_no_nul_and_may_have_one_at_its_end() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    context.load_ptx(&format!("{TWO_KERNELS}\0"))?;
    let error = context
        .load_ptx(&TWO_KERNELS.replace("ret", "r\0t"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("line 7"), "{error}");
    Ok(())
}

#[test]
fn ptx_that_does_not_compile_is_shown_with_the_log() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let wrong = TWO_KERNELS.replacen("    ret;", "    this is not PTX;", 1);
    let error = context.load_ptx(&wrong).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImage);
    assert!(error.subject().contains("PTX"), "{error}");
    let log = error.log().unwrap_or_default();
    assert!(log.contains(">     7 |     this is not PTX;"), "{log}");
    assert!(!context.is_poisoned());
    Ok(())
}

#[test]
fn ptx_newer_than_the_driver_is_told_from_wrong_ptx() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let newer = TWO_KERNELS.replace(".version 7.0", ".version 99.0");
    let text = context.load_ptx(&newer).unwrap_err().to_string();
    assert!(text.contains("99.0"), "{text}");
    assert!(text.contains("up to 9.0"), "{text}");
    Ok(())
}

#[test]
fn ptx_for_a_newer_device_names_both() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let newer = TWO_KERNELS.replace("7.0\n.target sm_70", "8.8\n.target sm_121");
    let error = context.load_ptx(&newer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImage);
    let text = error.to_string();
    assert!(
        text.contains("capability 9.0, but the PTX is for `sm_121`"),
        "{text}"
    );
    Ok(())
}

#[test]
fn what_is_no_ptx_is_said_to_be_none() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    for text in ["", "__global__ void f() {}"] {
        let error = context.load_ptx(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
        assert!(
            error.to_string().contains("begins with `.version`"),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn all_options_reach_the_driver() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let options = JitOptions::new()
        .max_registers(64)
        .optimization_level(4)
        .generate_line_info()
        .verbose_log()
        .target_from_context();
    context.load_ptx_with(TWO_KERNELS, &options)?;
    let contradiction = JitOptions::new()
        .min_threads_per_block(32)
        .target(ComputeCapability::new(9, 0));
    let error = context
        .load_ptx_with(TWO_KERNELS, &contradiction)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn dropping_the_last_handle_unloads_once() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let module = context.load_ptx(TWO_KERNELS)?;
    let other = module.clone();
    drop(module);
    assert_eq!(simulator.call_count("cuModuleUnload"), 0);
    drop(other);
    assert_eq!(simulator.call_count("cuModuleUnload"), 1);
    Ok(())
}

#[test]
fn closing_a_shared_module_gives_it_back() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let module = context.load_ptx(TWO_KERNELS)?;
    let other = module.clone();
    let refused = module.close().unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::StillShared);
    drop(refused);
    other.close()?;
    assert_eq!(simulator.call_count("cuModuleUnload"), 1);
    Ok(())
}

#[test]
fn closing_reports_what_dropping_cannot() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let module = context.load_ptx(TWO_KERNELS)?;
    simulator.fail("cuModuleUnload", 1, CUresult::CUDA_ERROR_INVALID_HANDLE);
    let refused = module.close().unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidHandle);
    assert_eq!(simulator.call_count("cuModuleUnload"), 1);
    Ok(())
}

#[test]
fn unloading_spares_the_captures_of_other_threads() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let dropped = context.load_ptx(TWO_KERNELS)?;
    let closed = context.load_ptx(TWO_KERNELS)?;
    simulator.reset_calls();
    simulator.set_trace(true);
    drop(dropped);
    closed.close()?;
    let exchange = "cuThreadExchangeStreamCaptureMode";
    let relevant = |symbol: &&str| *symbol == exchange || *symbol == "cuModuleUnload";
    let trace = simulator.trace();
    let calls: Vec<_> = trace.iter().map(|it| it.symbol).filter(relevant).collect();
    let expected = [exchange, "cuModuleUnload", exchange];
    assert_eq!(calls, [expected, expected].concat());
    Ok(())
}

#[test]
fn a_module_given_away_is_not_unloaded_until_it_is_taken_back() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let raw = context.load_ptx(TWO_KERNELS)?.into_raw()?;
    assert_eq!(simulator.call_count("cuModuleUnload"), 0);
    // SAFETY: the module is live and nobody else's.
    drop(unsafe { Module::from_raw(&context, raw) });
    assert_eq!(simulator.call_count("cuModuleUnload"), 1);
    Ok(())
}

#[test]
fn a_borrowed_module_is_left_loaded() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let owner = context.load_ptx(TWO_KERNELS)?;
    // SAFETY: the owner outlives the borrowed handle.
    let borrowed = unsafe { Module::from_borrowed_raw(&context, owner.as_raw()) };
    assert!(!borrowed.core().raw_function("scale")?.is_null());
    borrowed.close()?;
    assert_eq!(simulator.call_count("cuModuleUnload"), 0);
    Ok(())
}

#[test]
fn a_module_dropped_in_a_host_function_is_unloaded_later() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let module = context.load_ptx(TWO_KERNELS)?;
    process::host_function(|| drop(module));
    assert_eq!(simulator.call_count("cuModuleUnload"), 0);
    context.collect();
    assert_eq!(simulator.call_count("cuModuleUnload"), 1);
    Ok(())
}

#[test]
fn truncated_binaries_never_reach_the_driver() -> Result<()> {
    let simulator = Simulator::new();
    let context = context_of(&simulator)?;
    let cubin = super::image::sample_cubin();
    simulator.reset_calls();
    for len in 0..cubin.len() {
        // SAFETY: the binary is refused before the driver sees it.
        let error = unsafe { context.load_binary(&cubin[..len]) }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImage, "{error}");
    }
    assert_eq!(simulator.call_count("cuModuleLoadDataEx"), 0);
    Ok(())
}

#[test]
fn files_are_read_here_and_named_in_errors() -> Result<()> {
    let context = context_of(&Simulator::new())?;
    let folder = std::env::temp_dir().join(format!("cuda-driver-module-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("kernels.ptx");
    std::fs::write(&path, TWO_KERNELS).expect("a file");
    // SAFETY: the file has PTX.
    let module = unsafe { context.load_file(&path) }?;
    assert_eq!(module.function_names()?.len(), 2);
    let missing = folder.join("missing.ptx");
    // SAFETY: there is no such file.
    let error = unsafe { context.load_file(&missing) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("missing.ptx"), "{error}");
    std::fs::remove_dir_all(&folder).expect("the folder");
    Ok(())
}

#[test]
fn old_drivers_are_helped_by_the_text() -> Result<()> {
    let simulator = Simulator::builder().driver_version(11_040).build();
    let context = context_of(&simulator.expect("a simulator"))?;
    let module = context.load_ptx(TWO_KERNELS)?;
    let mut names = module.function_names()?;
    names.sort();
    assert_eq!(names, ["scale", "vector_add"]);
    let parameters = module.core().parameters_from_ptx("scale");
    let layout: Option<Vec<_>> =
        parameters.map(|list| list.iter().map(|it| (it.offset, it.size)).collect());
    assert_eq!(layout, Some(vec![(0, 4), (8, 8), (16, 4)]));
    assert!(module.core().parameters_from_ptx("other").is_none());
    let error = context.driver().module_loading_mode().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingSymbol);
    Ok(())
}

#[test]
fn newer_drivers_tell_parameters_and_the_text_the_rest() -> Result<()> {
    let simulator = Simulator::builder().driver_version(13_020).build();
    let context = context_of(&simulator.expect("a simulator"))?;
    let module = context.load_ptx(TWO_KERNELS)?;
    assert_eq!(module.core().with_ptx(|it| it.entries().count()), Some(2));
    let scale = module.function("scale")?;
    assert_eq!(scale.parameters().map(<[_]>::len), Some(3));
    Ok(())
}

#[test]
fn modules_go_between_threads() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Module>();
    assert_send_sync::<JitOptions>();
}
