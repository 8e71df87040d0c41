//! What a status means in words, and what to do about it.

use cuda_sys::CUresult;

/// Why the driver refused, in words; `None` where the name of the status says it all.
pub(super) fn meaning(status: CUresult) -> Option<&'static str> {
    Some(match status {
        CUresult::CUDA_ERROR_INVALID_VALUE => "an argument is out of its range",
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "there is not enough memory",
        CUresult::CUDA_ERROR_NOT_INITIALIZED => "the driver is not initialised",
        CUresult::CUDA_ERROR_DEINITIALIZED => "the driver is shutting down",
        CUresult::CUDA_ERROR_NO_DEVICE => "the driver finds no device that it can use",
        CUresult::CUDA_ERROR_INVALID_DEVICE => "there is no such device",
        CUresult::CUDA_ERROR_INVALID_CONTEXT => "no usable context is current",
        CUresult::CUDA_ERROR_INVALID_HANDLE => {
            "a handle is no longer valid, or belongs to another context"
        }
        CUresult::CUDA_ERROR_NOT_FOUND => "nothing of that name exists",
        CUresult::CUDA_ERROR_NOT_SUPPORTED => "the driver or the device does not support it",
        CUresult::CUDA_ERROR_INVALID_PTX => "the PTX does not compile",
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "the PTX is of a newer version than the driver takes"
        }
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => "the image has no code for this device",
        CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
            "the driver's compiler of PTX (the library nvidia-ptxjitcompiler) is not found"
        }
        CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED => {
            "the image has only PTX for this device, and compiling PTX is switched off"
        }
        CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND => {
            "a library that the driver loads lacks a function that the driver needs"
        }
        CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED => {
            "a library that the driver loads cannot be initialised"
        }
        CUresult::CUDA_ERROR_INVALID_SOURCE => "the code does not link or does not suit the target",
        CUresult::CUDA_ERROR_INVALID_IMAGE => "the image is not a module",
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => {
            "a kernel accessed memory that is not there (the context is lost)"
        }
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => {
            "a kernel accessed a misaligned address (the context is lost)"
        }
        CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "the launch needs more registers or shared memory than there are"
        }
        CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => {
            "the device cannot run all blocks of the launch at once"
        }
        CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE => {
            "the clusters do not fit the grid, the kernel or the device"
        }
        CUresult::CUDA_ERROR_LAUNCH_FAILED => "a kernel failed (the context is lost)",
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION => {
            "a kernel ran into a trap or an illegal instruction (the context is lost)"
        }
        CUresult::CUDA_ERROR_ASSERT => "an assertion in a kernel failed (the context is lost)",
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT => "a kernel ran too long (the context is lost)",
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => {
            "the context was destroyed or reset by somebody else"
        }
        CUresult::CUDA_ERROR_STUB_LIBRARY => "the library is the toolkit's stub, not a driver",
        _ => return None,
    })
}

/// What to do about a status, where something likely helps.
pub(super) fn for_status(status: CUresult) -> Option<&'static str> {
    Some(match status {
        CUresult::CUDA_ERROR_NO_DEVICE => {
            "check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or use the software driver"
        }
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            "free memory first, or ask for less; Context::memory_info tells what is left"
        }
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "update the driver, or emit PTX with an older toolkit or a lower `.version`"
        }
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            "build for this device's compute capability, or embed PTX"
        }
        CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
            "install it with the driver (a container needs the driver capability `compute`), or load a cubin for this device"
        }
        CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED => {
            "unset CUDA_DISABLE_PTX_JIT, or build for this device's compute capability"
        }
        CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
        | CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED => {
            "the driver's libraries are of different versions: install the driver anew, and look for other copies of them on \
             LD_LIBRARY_PATH"
        }
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            "the kernel module and the user-mode driver differ; reboot, or install matching versions"
        }
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => {
            "make a new context, or start the process anew"
        }
        CUresult::CUDA_ERROR_STUB_LIBRARY => {
            "remove the toolkit's `stubs` folder from the library search path"
        }
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_FAILED => {
            "run under compute-sanitizer or on the software driver to find the access"
        }
        _ => return None,
    })
}
