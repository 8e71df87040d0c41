//! Errors: kind, call, status, subject, remedy, and the grammar of the message.

use cuda_driver::{Error, ErrorKind, LaunchConfig};
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{SHARED_DYNAMIC, load};

/// Makes a call fail with that status.
fn failing(bench: &Bench, status: CUresult) -> Error {
    bench.simulator().fail("cuStreamSynchronize", 1, status);
    bench.stream().synchronize().expect_err("it fails")
}

#[test]
fn the_message_says_what_was_tried_why_it_failed_and_what_to_do() {
    let Some(bench) = Bench::only_software() else {
        return;
    };
    let error = failing(&bench, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert_eq!(
        error.to_string(),
        "cannot synchronize the stream: there is not enough memory \
         (cuStreamSynchronize: CUDA_ERROR_OUT_OF_MEMORY); \
         free memory first, or ask for less; Context::memory_info tells what is left"
    );
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert_eq!(error.call(), Some("cuStreamSynchronize"));
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    assert_eq!(error.subject(), "synchronize the stream");
    assert!(
        error
            .remedy()
            .is_some_and(|it| it.starts_with("free memory first"))
    );
    assert_eq!(error.log(), None);
    assert!(format!("{error:?}").starts_with("OutOfMemory: cannot synchronize the stream"));
}

#[test]
fn statuses_have_kinds() {
    let Some(bench) = Bench::only_software() else {
        return;
    };
    let kinds = [
        (
            CUresult::CUDA_ERROR_INVALID_VALUE,
            ErrorKind::InvalidArgument,
        ),
        (CUresult::CUDA_ERROR_OUT_OF_MEMORY, ErrorKind::OutOfMemory),
        (CUresult::CUDA_ERROR_DEINITIALIZED, ErrorKind::Deinitialized),
        (
            CUresult::CUDA_ERROR_INVALID_HANDLE,
            ErrorKind::InvalidHandle,
        ),
        (CUresult::CUDA_ERROR_NOT_FOUND, ErrorKind::NotFound),
        (CUresult::CUDA_ERROR_NOT_SUPPORTED, ErrorKind::NotSupported),
        (
            CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            ErrorKind::Capture,
        ),
        (CUresult::CUDA_ERROR_UNKNOWN, ErrorKind::Driver),
        (CUresult(77_777), ErrorKind::Driver),
    ];
    for (status, kind) in kinds {
        let error = failing(&bench, status);
        assert_eq!(error.kind(), kind, "{status:?}");
        assert_eq!(error.status(), Some(status));
        assert!(!error.is_sticky());
        let text = error.to_string();
        assert!(text.starts_with("cannot synchronize the stream"), "{text}");
        assert!(
            text.contains(&format!("(cuStreamSynchronize: {status:?})")),
            "{text}"
        );
        assert!(!text.contains(": :") && !text.contains("  "), "{text}");
    }
    assert!(!bench.context().is_poisoned());
}

#[test]
fn sticky_statuses_are_kernel_faults() {
    let sticky = [
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
        CUresult::CUDA_ERROR_ASSERT,
        CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUresult::CUDA_ERROR_INVALID_PC,
    ];
    for status in sticky {
        let Some(mut bench) = Bench::only_software() else {
            return;
        };
        // Nothing is released in a lost context.
        bench.allow_leaks();
        let error = failing(&bench, status);
        assert_eq!(error.kind(), ErrorKind::KernelFault, "{status:?}");
        assert!(error.is_sticky() && bench.context().is_poisoned());
    }
}

#[test]
fn a_context_reset_by_somebody_else_is_lost() {
    let Some(mut bench) = Bench::only_software() else {
        return;
    };
    bench.allow_leaks();
    let error = failing(&bench, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_eq!(error.kind(), ErrorKind::ContextLost);
    assert!(!error.is_sticky());
    assert!(bench.context().is_poisoned());
}

#[test]
fn errors_are_small_and_go_between_threads() -> Test {
    static_assertions::assert_impl_all!(Error: Send, Sync, std::error::Error);
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<cuda_driver::Result<()>>(), size_of::<usize>());
    let bench = Bench::new();
    let error = bench
        .driver()
        .device(1000)
        .expect_err("there are not that many");
    let text = std::thread::spawn(move || error.to_string())
        .join()
        .expect("no panic");
    assert!(
        text.starts_with("cannot find device 1000: there is no such device (cuDeviceGet: "),
        "{text}"
    );
    Ok(())
}

#[test]
fn a_number_that_does_not_fit_is_an_invalid_argument_with_a_source() {
    let convert = |number: u64| -> cuda_driver::Result<u32> { Ok(u32::try_from(number)?) };
    let error = convert(u64::MAX).expect_err("it does not fit");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(error.call(), None);
}

#[test]
fn calls_of_the_checked_tier_name_their_function() {
    let bench = Bench::new();
    let mut value = 0;
    let out = &raw mut value;
    let attribute = cuda_sys::CUdevice_attribute(1);
    // SAFETY: the pointer is to a live integer; there is no such device.
    let result =
        unsafe { cuda_driver::call!(bench.driver(), cuDeviceGetAttribute(out, attribute, -5)) };
    let error = result.expect_err("there is no such device");
    assert_eq!(error.call(), Some("cuDeviceGetAttribute"));
    assert_eq!(error.subject(), "");
    assert!(
        error
            .to_string()
            .starts_with("cuDeviceGetAttribute failed: "),
        "{error}"
    );
}

#[test]
fn one_of_something_is_no_plural() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let mut one = stream.zeroed::<u8>(1)?;
    let two = stream.zeroed::<u8>(2)?;
    // SAFETY: the launch must be refused; so must the next.
    let launch = unsafe { reverse.launch(&stream, LaunchConfig::new(1, 1), (&two, 1_u32)) };
    // SAFETY: as above.
    let dynamic = unsafe { reverse.launch(&stream, LaunchConfig::new(1, 1), (1_u8,)) };
    let texts = [
        (launch, "it has 1 parameter, and 2 arguments were given"),
        (
            dynamic,
            "argument 1 of 1 has 1 byte where the kernel takes 8",
        ),
        (
            stream.copy(&two, &mut one),
            "copy 2 elements of 1 byte: the source has 2 elements and the destination 1",
        ),
        (
            stream.copy(&stream.zeroed::<u8>(1)?, &mut stream.zeroed::<u8>(2)?),
            "copy 1 element of 1 byte: the source has 1 element",
        ),
        (
            one.slice(..2).map(drop),
            "the range 0..2 is not within the 1 element",
        ),
    ];
    for (result, text) in texts {
        let error = result.expect_err(text).to_string();
        assert!(error.contains(text), "{error}");
    }
    Ok(())
}
