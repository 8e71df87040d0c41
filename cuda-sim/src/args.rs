//! What C callers pass: pointers that are null or, by the caller's promise, valid.

use std::ffi::{CStr, c_char, c_void};

use cuda_sys::CUresult;

use crate::code;

/// Where a function stores a result.
///
/// # Invariants
/// Came from a C caller, who promised that it is null or valid for a write (for [`set_at`](Self::set_at): of as many elements as the
/// other arguments say) until the call returns.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

/// Says only what it is: where the caller's memory lies differs from run to run.
impl<T> std::fmt::Debug for Out<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_null() { "null" } else { "out" })
    }
}

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// Refuses null.
    ///
    /// # Errors
    /// `INVALID_VALUE`
    pub(crate) fn check(self) -> Result<Self, CUresult> {
        if self.0.is_null() {
            Err(code::INVALID_VALUE)
        } else {
            Ok(self)
        }
    }

    /// Stores the value; nothing happens where the pointer is null.
    pub(crate) fn set(self, value: T) {
        self.set_at(0, value);
    }

    /// Stores the value as element `index`; nothing happens where the pointer is null.
    pub(crate) fn set_at(self, index: usize, value: T) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: the invariant says that the element is within the caller's memory.
        let element = unsafe { self.0.add(index) };
        // SAFETY: the invariant says that it is valid for writes; C callers may pass it unaligned only in packed structs.
        unsafe { element.write_unaligned(value) };
    }

    /// Whether the caller wants no result.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The same place, for a value of another type.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// A place that a value which the caller passed points to.
    pub(crate) fn from_pointer(pointer: *mut T) -> Self {
        Self(pointer)
    }
}

impl<T: Copy> Out<T> {
    /// What stands there; for places that are read and written.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the pointer is null.
    pub(crate) fn read(self) -> Result<T, CUresult> {
        In(self.0.cast_const()).get()
    }
}

/// Where a function reads an argument.
///
/// # Invariants
/// Came from a C caller, who promised that it is null or valid for a read (for [`at`](Self::at): of as many elements as the other
/// arguments say) until the call returns.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// The value.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the pointer is null.
    pub(crate) fn get(self) -> Result<T, CUresult> {
        self.at(0)
    }

    /// The element `index`.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the pointer is null.
    pub(crate) fn at(self, index: usize) -> Result<T, CUresult> {
        if self.0.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: the invariant says that the element is within the caller's memory.
        let element = unsafe { self.0.add(index) };
        // SAFETY: the invariant says that it is valid for reads.
        Ok(unsafe { element.read_unaligned() })
    }
}

impl In<u8> {
    /// The first `len` bytes.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the pointer is null, or where no memory has that many bytes.
    pub(crate) fn bytes(&self, len: usize) -> Result<&[u8], CUresult> {
        if self.0.is_null() || isize::try_from(len).is_err() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: the invariant says that the bytes are valid for reads until the call returns, and the slice does not outlive the call.
        Ok(unsafe { std::slice::from_raw_parts(self.0, len) })
    }

    /// The bytes up to a NUL.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the pointer is null.
    pub(crate) fn text(&self) -> Result<&[u8], CUresult> {
        if self.0.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: the caller promised that what starts like text ends with a NUL and does not change until the call returns.
        Ok(unsafe { CStr::from_ptr(self.0.cast()) }.to_bytes())
    }
}

impl<T> In<T> {
    /// What a value which the caller passed points to.
    pub(crate) fn from_pointer(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// The same place, for a value of another type.
    pub(crate) fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// The element `index` as a place that the caller lets us write.
    pub(crate) fn place(self, index: usize) -> Out<T> {
        Out(self.0.wrapping_add(index).cast_mut())
    }

    /// Whether nothing was passed.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// A string that ends in NUL.
///
/// # Invariants
/// Came from a C caller, who promised that it is null or ends in NUL and does not change until the call returns.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// The string.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the pointer is null.
    pub(crate) fn get(&self) -> Result<&CStr, CUresult> {
        if self.0.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: by the invariant.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }
}

/// The number that a handle or pointer is.
pub(crate) fn number<T>(pointer: *const T) -> u64 {
    pointer.addr() as u64
}

/// The pointer type that C has for a handle.
pub(crate) fn handle<T>(number: u64) -> *mut T {
    std::ptr::without_provenance_mut(number as usize)
}

/// The address of host memory that a caller passed, to be turned back by [`crate::state::host`].
pub(crate) fn host_address(pointer: *const c_void) -> usize {
    pointer.expose_provenance()
}

/// Copies a text with its NUL into a caller's buffer of `len` bytes, cut where it does not fit.
pub(crate) fn copy_text(into: Out<c_char>, len: usize, text: &str) {
    let Some(room) = len.checked_sub(1) else {
        return;
    };
    let bytes = text.bytes().take(room);
    let mut count = 0;
    for byte in bytes {
        into.set_at(count, byte as c_char);
        count += 1;
    }
    into.set_at(count, 0);
}
