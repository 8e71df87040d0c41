//! What the benchmarks share: a driver whose functions do nothing, so that only our own instructions are counted.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;

use cuda_driver::{Driver, Result};
use cuda_sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction,
    CUfunction_attribute, CUmodule, CUresult, CUstream, Library,
};

/// The size of each parameter of the one kernel that the driver which does nothing has.
const PARAMETER_SIZES: [usize; 4] = [8, 8, 8, 4];

/// A driver whose functions succeed at once and do nothing but fill in handles.
///
/// # Errors
/// Never in practice.
pub fn idle_driver() -> Result<Driver> {
    // SAFETY: each function has the signature of its name, or takes nothing and returns success, which the C calling
    // conventions of the platforms allow a caller with arguments to call.
    let library = unsafe { Library::from_resolver(resolve) };
    // SAFETY: everything the functions promise is trivially true: no memory is ever touched.
    unsafe { Driver::from_library(library) }
}

fn resolve(name: &CStr) -> Option<NonNull<c_void>> {
    let function = match name.to_bytes() {
        b"cuDriverGetVersion" => version as *const c_void,
        b"cuDeviceGetCount" => one_integer as *const c_void,
        b"cuDeviceGet" => device as *const c_void,
        b"cuDeviceGetAttribute" => attribute as *const c_void,
        b"cuDevicePrimaryCtxRetain" => context as *const c_void,
        b"cuStreamCreateWithPriority" => stream as *const c_void,
        b"cuEventCreate" => event as *const c_void,
        b"cuMemAllocAsync" => allocate as *const c_void,
        b"cuModuleLoadDataEx" | b"cuModuleLoadData" => module as *const c_void,
        b"cuModuleGetFunction" => function_handle as *const c_void,
        b"cuFuncGetParamInfo" => parameter as *const c_void,
        b"cuFuncGetAttribute" => function_attribute as *const c_void,
        b"cuLaunchKernel" => launch as *const c_void,
        _ => success as *const c_void,
    };
    NonNull::new(function.cast_mut())
}

const HANDLE: usize = 0x1000;

extern "system" fn success() -> CUresult {
    CUresult::CUDA_SUCCESS
}

/// Writes a value if there is a place for it.
fn put<T>(to: *mut T, value: T) -> CUresult {
    if !to.is_null() {
        // SAFETY: callers pass null or a pointer to live memory of that type.
        unsafe { to.write(value) };
    }
    CUresult::CUDA_SUCCESS
}

extern "system" fn version(to: *mut c_int) -> CUresult {
    put(to, 13000)
}

extern "system" fn one_integer(to: *mut c_int) -> CUresult {
    put(to, 1)
}

extern "system" fn device(to: *mut CUdevice, ordinal: c_int) -> CUresult {
    put(to, ordinal)
}

extern "system" fn attribute(to: *mut c_int, _: CUdevice_attribute, _: CUdevice) -> CUresult {
    put(to, 1024)
}

extern "system" fn function_attribute(
    to: *mut c_int,
    attribute: CUfunction_attribute,
    _: CUfunction,
) -> CUresult {
    type A = CUfunction_attribute;
    let limit = attribute == A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        || attribute == A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    put(to, if limit { 1024 } else { 0 })
}

extern "system" fn context(to: *mut CUcontext, _: CUdevice) -> CUresult {
    put(to, std::ptr::without_provenance_mut(HANDLE))
}

extern "system" fn stream(to: *mut CUstream, _: c_uint, _: c_int) -> CUresult {
    put(to, std::ptr::without_provenance_mut(HANDLE))
}

extern "system" fn event(to: *mut CUevent, _: c_uint) -> CUresult {
    put(to, std::ptr::without_provenance_mut(HANDLE))
}

extern "system" fn allocate(to: *mut CUdeviceptr, _: usize, _: CUstream) -> CUresult {
    put(to, 0x10_0000)
}

extern "system" fn module(to: *mut CUmodule, _: *const c_void) -> CUresult {
    put(to, std::ptr::without_provenance_mut(HANDLE))
}

extern "system" fn function_handle(to: *mut CUfunction, _: CUmodule, _: *const c_char) -> CUresult {
    put(to, std::ptr::without_provenance_mut(HANDLE))
}

extern "system" fn parameter(
    _: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> CUresult {
    let Some(&bytes) = PARAMETER_SIZES.get(index) else {
        return CUresult::CUDA_ERROR_INVALID_VALUE;
    };
    put(offset, 8 * index);
    put(size, bytes)
}

extern "system" fn launch(
    _: CUfunction,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: CUstream,
    _: *mut *mut c_void,
    _: *mut *mut c_void,
) -> CUresult {
    CUresult::CUDA_SUCCESS
}
