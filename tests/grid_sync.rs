//! Cooperative launches: all blocks run at the same time and can wait for each other.

use cuda_driver::{DeviceSliceMut, LaunchConfig, Result, Stream, call};
use cuda_sys::{CUdeviceptr, CUresult};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{GRID_SYNC, load};

/// Launches `rounds` with that many blocks, which all have a value.
fn launch(
    bench: &Bench,
    stream: &Stream,
    blocks: u32,
    values: DeviceSliceMut<'_, u32>,
    rounds: u32,
) -> Result<()> {
    let function = load(bench.context(), GRID_SYNC, "rounds");
    let _current = bench.context().push()?;
    let launch = |stream, (values,): (CUdeviceptr,)| {
        let (mut values, mut rounds) = (values, rounds);
        let mut params = [(&raw mut values).cast(), (&raw mut rounds).cast()];
        // SAFETY: the kernel has these two parameters, and they live until the call returns.
        unsafe {
            call!(
                bench.driver(),
                cuLaunchCooperativeKernel(
                    function.as_raw(),
                    blocks,
                    1,
                    1,
                    64,
                    1,
                    1,
                    0,
                    stream,
                    params.as_mut_ptr()
                )
            )
        }
    };
    // SAFETY: the launch reads and writes one value for each block, on the stream that it is given.
    unsafe { stream.with_raw((values,), launch) }?
}

fn expected(blocks: u32, rounds: u32) -> Vec<u32> {
    let mut values = vec![1_u32; blocks as usize];
    for round in 0..rounds {
        let sum = values.iter().fold(0_u32, |sum, it| sum.wrapping_add(*it));
        let next = (0..blocks).map(|block| sum.wrapping_add(block + round));
        values = next.collect();
    }
    values
}

#[test]
fn all_blocks_wait_for_each_other_again_and_again() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    for (blocks, rounds) in [(1, 2), (7, 3), (132, 5), (132, 4)] {
        let mut values = stream.upload(&vec![1_u32; blocks as usize])?;
        launch(&bench, &stream, blocks, values.as_mut_slice(), rounds)?;
        assert_eq!(values.to_vec()?, expected(blocks, rounds));
    }
    Ok(())
}

#[test]
fn more_blocks_than_run_at_once_are_refused() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    assert!(bench.driver().device(0)?.supports_cooperative_launch()?);
    let many = 132 * 32 + 1;
    let mut values = stream.zeroed::<u32>(many as usize)?;
    let error = launch(&bench, &stream, many, values.as_mut_slice(), 1);
    let error = error.expect_err("they do not fit");
    assert_eq!(
        error.status(),
        Some(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    );
    Ok(())
}

#[test]
fn an_ordinary_launch_has_no_workspace() -> Test {
    const NAME: &str = "grid_sync::an_ordinary_launch_has_no_workspace";
    let Some(bench) = Bench::to_ruin(NAME) else {
        return Ok(());
    };
    let stream = bench.stream();
    let rounds = load(bench.context(), GRID_SYNC, "rounds");
    let mut values = stream.zeroed::<u32>(2)?;
    let config = LaunchConfig::new(2, 64);
    // SAFETY: the trap is what the test wants.
    unsafe { rounds.launch(&stream, config, (&mut values, 1_u32)) }?;
    let error = stream.synchronize().expect_err("it traps");
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_LAUNCH_FAILED));
    let _expected = bench.take_reports();
    Ok(())
}
