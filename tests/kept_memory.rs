//! Device memory of other libraries, kept by an owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_driver::{ErrorKind, Lender, Stream, call};
use cuda_sys::CUdeviceptr;

use crate::support::bench::Bench;
use crate::support::foreign::Foreign;
use crate::support::kernels::SlowAdd;
use crate::support::{Test, numbers};

/// Frees its memory when dropped; nothing may be in flight on it then.
struct Owner {
    driver: cuda_driver::Driver,
    address: CUdeviceptr,
    dropped: Arc<AtomicBool>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the memory is the owner's, and its last use is done.
        unsafe { call!(self.driver, cuMemFree_v2(self.address)) }.expect("the memory is live");
        self.dropped.store(true, Ordering::SeqCst);
    }
}

fn owner(bench: &Bench, bytes: usize) -> (Owner, Arc<AtomicBool>) {
    let foreign = std::mem::ManuallyDrop::new(Foreign::new(bench, bytes));
    let dropped = Arc::new(AtomicBool::new(false));
    let owner = Owner {
        driver: bench.driver().clone(),
        address: foreign.address,
        dropped: Arc::clone(&dropped),
    };
    (owner, dropped)
}

#[test]
fn a_kept_owner_is_dropped_after_the_last_use_and_never_in_flight() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let (owner, dropped) = owner(&bench, 4096);
    // SAFETY: the memory has 1024 numbers, and lives until the owner is dropped.
    let mut memory =
        unsafe { home.keep_memory::<f32, Stream>(owner.address, 1024, Lender::Host, owner) }?;
    slow.run(&other, memory.as_mut_slice(), 4.0)?;
    let done = bench
        .context()
        .create_event(cuda_driver::EventFlags::DISABLE_TIMING)?;
    let copy = other.upload(&[0.0_f32; 1024])?;
    let mut copy = copy;
    other.copy(&memory, &mut copy)?;
    done.record(&other)?;
    assert!(!dropped.load(Ordering::SeqCst));
    drop(memory);
    if dropped.load(Ordering::SeqCst) {
        assert!(
            done.is_complete()?,
            "the owner was dropped while its memory was in use"
        );
    }
    assert_eq!(copy.to_vec()?, [4.0; 1024]);
    home.synchronize()?;
    // Other tests collect in the same context, and may be about to drop this owner.
    for _ in 0..1000 {
        if bench.context().collect() == 0 || dropped.load(Ordering::SeqCst) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(dropped.load(Ordering::SeqCst));
    Ok(())
}

#[test]
fn kept_memory_is_not_given_away_as_ours() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let (owner, dropped) = owner(&bench, 4096);
    // SAFETY: the memory has 1024 numbers, and lives until the owner is dropped.
    let memory = unsafe {
        home.keep_memory::<u32, Stream>(owner.address, 1024, Lender::Stream(&home), owner)
    }?;
    let error = memory.into_raw_parts().expect_err("it is the owner's");
    assert_eq!(error.error().kind(), ErrorKind::InvalidArgument);
    let mut memory = error.into_handle().ok_or("the handle comes back")?;
    memory.copy_from(&numbers(1024))?;
    assert_eq!(memory.to_vec()?, numbers(1024));
    drop(memory);
    home.synchronize()?;
    bench.context().collect();
    assert!(dropped.load(Ordering::SeqCst));
    Ok(())
}

#[test]
fn an_owner_that_panics_when_dropped_is_reported_and_goes_no_further() -> Test {
    struct Panics(#[expect(dead_code, reason = "dropped after the panic")] Owner);
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose, in an owner");
        }
    }
    let bench = Bench::new();
    let home = bench.stream();
    let (owner, dropped) = owner(&bench, 4096);
    let address = owner.address;
    // SAFETY: the memory has 1024 numbers, and lives until the owner is dropped.
    let memory =
        unsafe { home.keep_memory::<u32, Stream>(address, 1024, Lender::Host, Panics(owner)) }?;
    drop(memory);
    home.synchronize()?;
    bench.context().collect();
    assert!(dropped.load(Ordering::SeqCst));
    assert!(crate::support::log_lines::contain(
        "the owner of external memory panicked"
    ));
    Ok(())
}
