//! Whose line a report names when a declared kernel makes a mistake.

use cuda_driver::simulator::Simulator;
use cuda_driver::{Driver, kernels};

const PTX: &str = ".version 7.0 .target sm_52 .address_size 64
    .visible .entry beyond(.param .u64 out) {
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        st.global.u32 [%rd1+65536], 7;
        ret;
    }";

kernels! {
    /// A kernel that does not keep to what it is given.
    unsafe extern Beyond {
        #[launch(grid = 1, block = 1)]
        unsafe fn beyond(out: &mut [u32]);
    }
}

#[test]
#[cfg_attr(
    any(miri, not(debug_assertions)),
    ignore = "lines are known to builds with debug information only"
)]
fn a_report_names_the_line_that_calls_the_method() -> cuda_driver::Result<()> {
    let builder = Simulator::builder().call_sites(true);
    let simulator = builder.build().expect("a free slot");
    let context = Driver::simulated_by(&simulator)?
        .device(0)?
        .primary_context()?;
    let stream = context.create_stream()?;
    let module = context.load_ptx(PTX)?;
    // SAFETY: the software driver executes no access outside of its memory.
    let kernels = unsafe { Beyond::from_module(&module) }?;
    let mut out = stream.zeroed::<u32>(4)?;
    let line = line!() + 2;
    // SAFETY: as above.
    unsafe { kernels.beyond(&stream, &mut out) }?;
    assert!(stream.synchronize().is_err(), "the kernel has faulted");
    let reports = simulator.take_reports();
    let site = reports[0].site.as_ref().expect("call sites are on");
    assert_eq!(site.line, Some(line), "{site}");
    let text = site.to_string();
    let expected = format!("typed_kernels/blame.rs:{line} (");
    assert!(text.contains(&expected) && !text.contains('<'), "{text}");
    Ok(())
}
