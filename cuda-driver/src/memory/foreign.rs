//! Device memory that other libraries allocated: borrowed while a closure runs, or kept by an owner.
//!
//! Each view is checked once against the driver: that it is memory which the context's device can use, how far it
//! reaches, and its alignment.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

use cuda_sys::{CUdeviceptr, CUmemorytype, CUpointer_attribute};

use super::allocation::DeviceAllocation;
use super::block::{Block, Release};
use super::element::{offset, size_in_bytes};
use super::host_wait::wait_on_host;
use super::owner::Owner;
use super::slice::DeviceSliceMut;
use crate::call;
use crate::context::{Context, ContextCore};
use crate::error::{Doing, Error, ErrorKind, Result, count};
use crate::order::Queue;
use crate::stream::{AnyStream, Stream, StreamCore};

/// The stream in whose order the lender of memory works on it.
#[derive(Debug)]
pub enum Lender<'a, S: AnyStream> {
    /// Work on the memory is in the order of this stream: ours begins after what is enqueued there, and what is enqueued
    /// there later begins after ours.
    Stream(&'a S),
    /// The host orders it: nothing is in flight on the memory now, and everything of ours is done at the end.
    Host,
}

impl Context {
    /// Runs `body` with device memory that somebody else owns.
    ///
    /// All work that `body` enqueues on the memory, on any stream, is ordered before what the lender does afterwards, on
    /// every way out of it, panics included.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the driver does not know the memory, if it does not reach as far, or if it is
    /// misaligned; [`ErrorKind::Mismatch`] if it is another device's. What `body` returns is inside.
    ///
    /// # Safety
    /// * `len` valid elements of `T` start at `address`, and stay allocated until the lender's stream (or the host) has
    ///   passed the end of this call.
    /// * Nobody else works on the memory meanwhile, and no second view of it is used without order.
    #[doc(alias = "cuPointerGetAttributes")]
    pub unsafe fn with_borrowed_memory<T, S: AnyStream, R>(
        &self,
        address: CUdeviceptr,
        len: usize,
        lender: Lender<'_, S>,
        body: impl FnOnce(DeviceSliceMut<'_, T>) -> R,
    ) -> Result<R> {
        let doing = || {
            format!(
                "borrow {} of external memory at {address:#x}",
                count(len, "element")
            )
        };
        let size = size_in_bytes::<T>(len).doing(doing)?;
        check(self.core(), address, size, align_of::<T>()).doing(doing)?;
        let loan = Loan {
            block: Block::lent(self.core(), address, size),
            lender: match lender {
                Lender::Stream(stream) => Some(stream.stream_core()),
                Lender::Host => None,
            },
        };
        loan.begin().doing(doing)?;
        let result = body(DeviceSliceMut::new(address, len, &loan.block));
        loan.end().doing(|| "give external memory back")?;
        Ok(result)
    }
}

/// Memory that is lent to us; its end is ordered on every way out.
struct Loan<'a> {
    block: Block,
    lender: Option<&'a StreamCore>,
}

impl Loan<'_> {
    /// Orders our work behind the lender's.
    fn begin(&self) -> Result<()> {
        if let Some(stream) = self.lender {
            stream.require_driver("memory", self.block.context().driver())?;
            let event = stream.reserve()?;
            stream.record(&event)?;
            self.block.order().enter_arrival(stream.number(), event);
        }
        Ok(())
    }

    /// Orders the lender's work behind ours.
    fn end(&self) -> Result<()> {
        let result = match self.lender {
            Some(stream) => self.block.order().gather(stream),
            None => wait_on_host(self.block.order(), false),
        };
        if result.is_err() {
            // The events could not be waited for in stream order: the host waits for the device itself.
            return wait_on_host(self.block.order(), false).and(result);
        }
        result
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        // After `end` nothing is left to wait for; this is the way of a panic.
        if let Err(error) = self.end() {
            log::error!("work on external memory cannot be ordered before its owner's: {error}");
        }
    }
}

impl Stream {
    /// Device memory that somebody else allocated, at home on this stream, alive until `owner` is dropped.
    ///
    /// The owner is dropped after the last use, on an ordinary thread, when [`Context::collect`] or another call comes
    /// by.
    ///
    /// # Errors
    /// As [`Context::with_borrowed_memory`].
    ///
    /// # Safety
    /// * `len` valid elements of `T` start at `address`, and stay allocated until `owner` is dropped.
    /// * Nobody else works on the memory until then, and no second view of it is used without order.
    #[doc(alias = "cuPointerGetAttributes")]
    pub unsafe fn keep_memory<T, S: AnyStream>(
        &self,
        address: CUdeviceptr,
        len: usize,
        lender: Lender<'_, S>,
        owner: impl Any + Send,
    ) -> Result<DeviceAllocation<T>> {
        let doing = || {
            format!(
                "keep {} of external memory at {address:#x}",
                count(len, "element")
            )
        };
        let size = size_in_bytes::<T>(len).doing(doing)?;
        let home = self.core();
        check(home.context(), address, size, align_of::<T>()).doing(doing)?;
        if let Lender::Stream(stream) = lender {
            let stream = stream.stream_core();
            stream
                .require_driver("memory", home.driver())
                .doing(doing)?;
            let event = stream.reserve()?;
            stream.record(&event)?;
            home.wait(&event)?;
        }
        let owner: Box<dyn Any + Send> = Box::new(owner);
        let release = Release::Kept(Some(owner).into());
        let block = Block::at_home(home, address, size, release, true);
        Ok(DeviceAllocation::new(address, len, Owner::new(block)))
    }
}

/// Asks the driver whether the range is device memory that the context can use.
fn check(
    context: &Arc<ContextCore>,
    address: CUdeviceptr,
    size: usize,
    align: usize,
) -> Result<()> {
    if size == 0 {
        return Ok(());
    }
    if !address.is_multiple_of(offset(align)) {
        return Err(Error::invalid(format!(
            "the address is not a multiple of {align}"
        )));
    }
    let mut kind = CUmemorytype(0);
    let mut device: i32 = -1;
    let mut start: CUdeviceptr = 0;
    let mut length: usize = 0;
    let mut attributes = [
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    ];
    let mut values: [*mut c_void; 4] = [
        (&raw mut kind).cast(),
        (&raw mut device).cast(),
        (&raw mut start).cast(),
        (&raw mut length).cast(),
    ];
    let driver = context.driver();
    let _current = context.push()?;
    // SAFETY: there are as many attributes as values, each of the type that its attribute has.
    unsafe {
        call!(
            driver,
            cuPointerGetAttributes(4, attributes.as_mut_ptr(), values.as_mut_ptr(), address)
        )
    }?;
    if kind != CUmemorytype::CU_MEMORYTYPE_DEVICE {
        return Err(
            Error::invalid("the driver does not know the address as device memory")
                .remedied_by("pass an address of live device memory of this process"),
        );
    }
    if device != context.device().raw_ordinal() {
        return Err(Error::new(
            ErrorKind::Mismatch,
            format!(
                "the memory is of device {device}, the context of device {}",
                context.device().ordinal()
            ),
        ));
    }
    let end = address.checked_add(offset(size));
    if length != 0 && end.is_none_or(|end| address < start || end > start + offset(length)) {
        return Err(Error::invalid(format!(
            "the allocation there reaches from {start:#x} over {}, which does not include {} from {address:#x} on",
            count(length, "byte"),
            count(size, "byte")
        )));
    }
    Ok(())
}
