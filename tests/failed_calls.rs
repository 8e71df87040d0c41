//! What one failed call leaves behind.

use cuda_driver::EventFlags;
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;

#[test]
fn an_enqueue_error_that_is_no_refusal_counts_as_running() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let (home, other) = (bench.stream(), bench.stream());
    let mut memory = home.zeroed::<u32>(100)?;
    bench
        .simulator()
        .fail_after_executing("cuMemsetD32Async", 1, CUresult::CUDA_ERROR_UNKNOWN);
    assert!(other.fill(&mut memory, 0x0102_0304).is_err());
    // The fill runs all the same, and what comes later is ordered behind it.
    home.fill(&mut memory, 9)?;
    assert_eq!(memory.to_vec()?, [9; 100]);
    Ok(())
}

#[test]
fn at_exit_drops_are_silent() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    bench.allow_leaks();
    let stream = bench.stream();
    let memory = stream.zeroed::<u32>(100)?;
    let event = bench.context().create_event(EventFlags::TIMING)?;
    for symbol in ["cuMemFreeAsync", "cuEventDestroy_v2", "cuStreamDestroy_v2"] {
        bench
            .simulator()
            .fail(symbol, 1, CUresult::CUDA_ERROR_DEINITIALIZED);
    }
    drop((memory, event));
    drop(stream);
    assert!(!crate::support::log_lines::contain(
        "CUDA_ERROR_DEINITIALIZED"
    ));
    Ok(())
}
