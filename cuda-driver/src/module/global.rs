//! Global variables: device and constant memory that a module declares, as typed values.

mod argument;
mod value;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};
use cuda_sys::CUdeviceptr;

use super::symbols::Symbol;
use super::{Module, ModuleCore};
use crate::error::{Doing, Error, ErrorKind, Result, count};
use crate::memory::{
    Block, CopyDestination, CopySource, Place, bounds, copy, require_equal_len, size_in_bytes,
};
use crate::stream::AnyStream;
pub use value::GlobalValue;
use value::sealed;

/// A global variable of a module: `__device__` or `__constant__` memory, as a value (`Global<f32>`) or an array
/// (`Global<[f32]>`); cheap to clone. It keeps its module loaded.
///
/// All objects of one variable are one as far as order goes: an operation on it waits for the earlier ones that it
/// conflicts with, on whatever stream they are. Kernels of the module that are launched by [`Function::launch`], which
/// does not tell what globals they touch, count as touching all that were asked for: they wait for operations on these,
/// and operations wait for them, but they do not wait for each other.
///
/// It can be passed to kernels: `&global` where it is read, `&mut global` where it is written.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::{Driver, LaunchConfig};
///
/// let context = Driver::simulated()?.device(0)?.primary_context()?;
/// let module = context.load_ptx(
///     ".version 7.0
///      .target sm_52
///      .address_size 64
///      .visible .const .align 4 .f32 factor;
///      .visible .global .align 4 .f32 total[2];
///      .visible .entry scale() {
///          .reg .f32 %f<3>;
///          ld.const.f32 %f1, [factor];
///          mul.f32 %f2, %f1, 0f40000000;
///          st.global.f32 [total+4], %f2;
///          ret;
///      }",
/// )?;
/// let factor = module.global::<f32>("factor")?;
/// let total = module.global::<[f32]>("total")?;
/// let scale = module.function("scale")?;
///
/// let stream = context.create_stream()?;
/// factor.write(&stream, &1.5)?;
/// // SAFETY: the kernel touches nothing but the two variables.
/// unsafe { scale.launch(&stream, LaunchConfig::new(1, 1), ()) }?;
/// assert_eq!(total.read(&stream)?, [0.0, 3.0]);
/// # }
/// # Ok(())
/// # }
/// ```
///
/// [`Function::launch`]: crate::Function::launch
#[doc(alias = "cuModuleGetGlobal")]
#[doc(alias = "cudaMemcpyToSymbol")]
#[doc(alias = "cudaMemcpyFromSymbol")]
#[doc(alias = "SymbolDevicePtr")]
pub struct Global<V: GlobalValue + ?Sized> {
    symbol: Arc<Symbol>,
    len: usize,
    module: Arc<ModuleCore>,
    value: PhantomData<fn() -> V::Element>,
}

impl Module {
    /// The global variable of that name, as it stands in the image, as a value of type `V` or as a slice.
    ///
    /// The first time that a variable is asked for when kernels of the module were asked for before, this waits for the
    /// context, because they may be running; so ask for variables first.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] with the names that there are;
    /// [`ErrorKind::Mismatch`] if the variable's size is not the value's, or not a whole number of the slice's elements,
    /// or if it is misaligned for them; what the driver returns.
    #[doc(alias = "cuModuleGetGlobal")]
    #[doc(alias = "cudaGetSymbolAddress")]
    pub fn global<V: GlobalValue + ?Sized>(&self, name: &str) -> Result<Global<V>> {
        let doing = || format!("take the global variable `{name}`");
        let symbol = self.core().symbol(name).doing(doing)?;
        let len = len_as::<V>(symbol.block()).doing(doing)?;
        Ok(Global {
            symbol,
            len,
            module: Arc::clone(self.core()),
            value: PhantomData,
        })
    }
}

/// How many elements a variable has, if its size and place suit the type.
fn len_as<V: GlobalValue + ?Sized>(block: &Block) -> Result<usize> {
    let one = size_in_bytes::<V::Element>(1)?;
    let (size, align) = (block.size(), align_of::<V::Element>());
    let mismatch = |reason| Err(Error::new(ErrorKind::Mismatch, reason));
    let name = std::any::type_name::<V::Element>();
    if V::LEN.is_some() && size != one {
        let error = Error::new(
            ErrorKind::Mismatch,
            format!("it has {}, and `{name}` has {one}", count(size, "byte")),
        );
        return Err(if size != 0 && size.is_multiple_of(one) {
            error.remedied_by(format!(
                "it holds {} of them: ask for `[{name}]`",
                size / one
            ))
        } else {
            error
        });
    }
    if !size.is_multiple_of(one) {
        return mismatch(format!(
            "it has {}, which is no whole number of `{name}` of {} each",
            count(size, "byte"),
            count(one, "byte")
        ));
    }
    if !block.address().is_multiple_of(align as u64) {
        return mismatch(format!(
            "its address is not a multiple of {align}, the alignment of `{name}`"
        ));
    }
    Ok(size / one)
}

impl<V: GlobalValue + ?Sized> Global<V> {
    /// The name in the image.
    #[must_use]
    pub fn name(&self) -> &str {
        self.symbol.name()
    }

    /// How many elements there are; 1 for a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The size in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.symbol.block().size()
    }

    /// The address on the device, which stays the module's. What is done with it is not ordered.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        *self.block().address()
    }

    /// The module that the variable is of.
    #[must_use]
    pub fn module(&self) -> Module {
        Module::from_core(Arc::clone(&self.module))
    }

    fn block(&self) -> &Block {
        self.symbol.block()
    }

    fn place(&self) -> Place<'_> {
        Place::device(self.as_raw(), self.len, self.block())
    }

    /// Copies the variable to the host, in the order of `stream`, and waits for it.
    ///
    /// # Errors
    /// As [`Stream::copy`](crate::Stream::copy).
    #[doc(alias = "cuMemcpyDtoHAsync")]
    pub fn read<S: AnyStream>(&self, stream: &S) -> Result<V::Output> {
        V::read(self.len, |to| self.read_from(stream, 0, to))
            .doing(|| format!("read the global variable `{}`", self.name()))
    }

    fn read_from<S: AnyStream>(&self, stream: &S, start: usize, to: &mut [V::Item]) -> Result<()> {
        let from = self.part(start, to.len());
        copy(
            stream.stream_core(),
            from,
            to.destination(),
            size_of::<V::Item>(),
        )
    }

    /// The place of `len` elements from `start` on, which are within the variable.
    fn part(&self, start: usize, len: usize) -> Place<'_> {
        let start = (start * size_of::<V::Item>()) as u64;
        Place::device(self.as_raw() + start, len, self.block())
    }
}

impl<V: GlobalValue + ?Sized> Global<V>
where
    V::Item: NoUninit,
{
    /// Copies `value` over the variable, in the order of `stream`; `value` can be changed at once.
    ///
    /// Another thread's write to the same variable comes before or after it, except that more than 4 MiB are several
    /// copies.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if a slice is not exactly as long as the variable; as
    /// [`Stream::copy`](crate::Stream::copy).
    #[doc(alias = "cuMemcpyHtoDAsync")]
    pub fn write<S: AnyStream>(&self, stream: &S, value: &V) -> Result<()> {
        let doing = || format!("write the global variable `{}`", self.name());
        let from = value.elements();
        require_equal_len(from.len(), self.len).doing(doing)?;
        let from = from.source();
        copy(
            stream.stream_core(),
            from,
            self.place(),
            size_of::<V::Item>(),
        )
        .doing(doing)
    }
}

impl<T: AnyBitPattern> Global<[T]> {
    /// Copies a range of the elements to the host, in the order of `stream`, and waits for it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the range is not within the elements; as [`Stream::copy`](crate::Stream::copy).
    pub fn read_range<S: AnyStream>(&self, stream: &S, range: Range<usize>) -> Result<Vec<T>> {
        let doing = || format!("read a part of the global variable `{}`", self.name());
        let (start, end) = bounds(range, self.len).doing(doing)?;
        <[T] as sealed::Sealed>::read(end - start, |to| self.read_from(stream, start, to))
            .doing(doing)
    }

    /// Copies `values` over the elements from `start` on, in the order of `stream`; `values` can be changed at once.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if there are not as many elements; as [`Stream::copy`](crate::Stream::copy).
    pub fn write_at<S: AnyStream>(&self, stream: &S, start: usize, values: &[T]) -> Result<()>
    where
        T: NoUninit,
    {
        let doing = || format!("write a part of the global variable `{}`", self.name());
        let end = start.saturating_add(values.len());
        bounds(start..end, self.len).doing(doing)?;
        let to = self.part(start, values.len());
        copy(stream.stream_core(), values.source(), to, size_of::<T>()).doing(doing)
    }
}

impl<V: GlobalValue + ?Sized> Clone for Global<V> {
    fn clone(&self) -> Self {
        Self {
            symbol: Arc::clone(&self.symbol),
            len: self.len,
            module: Arc::clone(&self.module),
            value: PhantomData,
        }
    }
}

impl<V: GlobalValue + ?Sized> fmt::Debug for Global<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Global")
            .field("name", &self.name())
            .field("address", &format_args!("{:#x}", self.as_raw()))
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
