//! Addresses of shared memory that a thread cannot reach, and what a device makes of them.

use cuda_driver::{ExtendedLaunchConfig, LaunchConfig};
use cuda_sim::ReportKind;
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;

/// A kernel that reads from the block of that number, with an instruction for that space.
fn reader(space: &str, block: u32) -> String {
    format!(
        ".version 7.8
        .target sm_90
        .address_size 64
        .visible .entry read(.param .u64 to) {{
            .reg .b32 %r<3>; .reg .b64 %to; .shared .align 4 .b32 cell;
            mov.u32 %r1, cell; st.shared.u32 [cell], %r1;
            barrier.cluster.arrive; barrier.cluster.wait;
            mapa.shared::cluster.u32 %r1, %r1, {block}; ld.{space}.u32 %r2, [%r1];
            ld.param.u64 %to, [to]; st.global.u32 [%to], %r2;
            barrier.cluster.arrive; barrier.cluster.wait; ret;
        }}"
    )
}

/// Runs it on clusters of that many blocks, in a process of its own where the device is a real one.
fn fails(name: &str, ptx: &str, blocks: u32, status: CUresult) -> Test {
    let Some(mut bench) = Bench::to_ruin(name) else {
        return Ok(());
    };
    if bench.context().device().compute_capability()?.major < 9 {
        eprintln!("skipped, needs a device with clusters");
        return Ok(());
    }
    bench.allow_leaks();
    let stream = bench.stream();
    let read = bench.context().load_ptx(ptx)?.function("read")?;
    let mut out = stream.zeroed::<u32>(1)?;
    let mut config = ExtendedLaunchConfig::from(LaunchConfig::new(blocks, 1));
    if blocks > 1 {
        config = config.with_cluster(blocks);
    }
    // SAFETY: the fault is what the test wants.
    unsafe { read.launch(&stream, config, (&mut out,)) }?;
    let error = stream.synchronize().expect_err("nothing can be read there");
    assert_eq!(error.status(), Some(status), "{error}");
    if !bench.is_real() {
        assert_eq!(bench.take_reports()[0].kind, ReportKind::OutOfBounds);
    }
    Ok(())
}

#[test]
fn the_memory_of_another_block_is_none_of_its_own() -> Test {
    fails(
        "cluster_faults::the_memory_of_another_block_is_none_of_its_own",
        &reader("shared::cta", 1),
        2,
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    )
}

#[test]
fn a_block_that_is_alone_has_no_others() -> Test {
    fails(
        "cluster_faults::a_block_that_is_alone_has_no_others",
        &reader("shared::cluster", 7),
        1,
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    )
}

#[test]
fn a_cluster_has_as_many_blocks_as_it_has() -> Test {
    fails(
        "cluster_faults::a_cluster_has_as_many_blocks_as_it_has",
        &reader("shared::cluster", 7),
        2,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
    )
}
