//! What the tests share: a simulator with its library, and calls by name.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "each test file uses its own part"
)]

use std::ffi::{CString, c_void};
use std::ptr;

use cuda_sim::Simulator;
use cuda_sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUlibrary, CUmodule, CUresult, CUstream,
    Library,
};

/// Calls a driver function: `call!(library, cuInit(0))`.
macro_rules! call {
    ($library:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let function = $library.$function().expect("the symbol is exported");
        // SAFETY: the tests pass valid or null pointers; handles and device addresses are checked by the software driver.
        unsafe { function($($argument),*) }
    }};
}
pub(crate) use call;

/// Calls a driver function that must succeed.
macro_rules! ok {
    ($library:expr, $function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(
            $crate::support::call!($library, $function($($argument),*)),
            cuda_sys::CUresult::CUDA_SUCCESS,
            stringify!($function)
        )
    };
}
pub(crate) use ok;

/// Calls a driver function that must fail with that code: `fails!(INVALID_VALUE, library, cuInit(1))`.
macro_rules! fails {
    ($code:literal, $library:expr, $function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(
            $crate::support::call!($library, $function($($argument),*)),
            cuda_sys::CUresult($code),
            stringify!($function)
        )
    };
}
pub(crate) use fails;

/// Kernels for the tests.
pub(crate) const KERNELS: &str = include_str!("kernels.ptx");

/// A simulator, initialised, with a primary context current on the calling thread.
pub(crate) struct Rig {
    pub(crate) simulator: Simulator,
    pub(crate) cuda: Library,
    pub(crate) device: CUdevice,
    pub(crate) context: CUcontext,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(Simulator::new())
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        Self::with(
            Simulator::builder()
                .seed(seed)
                .build()
                .expect("a free slot"),
        )
    }

    pub(crate) fn with(simulator: Simulator) -> Self {
        let cuda = simulator.library();
        ok!(cuda, cuInit(0));
        let mut device = -1;
        ok!(cuda, cuDeviceGet(&raw mut device, 0));
        let mut context = ptr::null_mut();
        ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
        ok!(cuda, cuCtxSetCurrent(context));
        Self {
            simulator,
            cuda,
            device,
            context,
        }
    }

    pub(crate) fn stream(&self, flags: u32) -> CUstream {
        let mut stream = ptr::null_mut();
        ok!(self.cuda, cuStreamCreate(&raw mut stream, flags));
        stream
    }

    pub(crate) fn event(&self, flags: u32) -> CUevent {
        let mut event = ptr::null_mut();
        ok!(self.cuda, cuEventCreate(&raw mut event, flags));
        event
    }

    pub(crate) fn memory(&self, bytes: usize) -> CUdeviceptr {
        let mut address = 0;
        ok!(self.cuda, cuMemAlloc_v2(&raw mut address, bytes));
        address
    }

    pub(crate) fn pinned(&self, bytes: usize) -> *mut c_void {
        let mut pointer = ptr::null_mut();
        ok!(self.cuda, cuMemHostAlloc(&raw mut pointer, bytes, 0));
        pointer
    }

    pub(crate) fn upload(&self, values: &[u32]) -> CUdeviceptr {
        let address = self.memory(size_of_val(values));
        ok!(
            self.cuda,
            cuMemcpyHtoD_v2(address, values.as_ptr().cast(), size_of_val(values))
        );
        address
    }

    pub(crate) fn download(&self, address: CUdeviceptr, len: usize) -> Vec<u32> {
        let mut values = vec![0u32; len];
        ok!(
            self.cuda,
            cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, len * 4)
        );
        values
    }

    pub(crate) fn load(&self, ptx: &str) -> CUmodule {
        let image = CString::new(ptx).expect("no NUL");
        let mut module = ptr::null_mut();
        ok!(
            self.cuda,
            cuModuleLoadData(&raw mut module, image.as_ptr().cast())
        );
        module
    }

    /// Loads a library without options: its handle, or the code of the refusal.
    pub(crate) fn load_library(&self, image: &str) -> Result<CUlibrary, u32> {
        let image = CString::new(image).expect("no NUL");
        let mut library = ptr::null_mut();
        let result = call!(
            self.cuda,
            cuLibraryLoadData(
                &raw mut library,
                image.as_ptr().cast(),
                ptr::null_mut(),
                ptr::null_mut(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                0
            )
        );
        if result.0 == 0 {
            Ok(library)
        } else {
            Err(result.0)
        }
    }

    pub(crate) fn function(&self, module: CUmodule, name: &str) -> CUfunction {
        let name = CString::new(name).expect("no NUL");
        let mut function = ptr::null_mut();
        ok!(
            self.cuda,
            cuModuleGetFunction(&raw mut function, module, name.as_ptr())
        );
        function
    }

    pub(crate) fn kernel(&self, name: &str) -> CUfunction {
        self.function(self.load(KERNELS), name)
    }

    /// Launches with 64-bit arguments.
    pub(crate) fn launch(
        &self,
        function: CUfunction,
        grid: u32,
        block: u32,
        stream: CUstream,
        arguments: &[u64],
    ) -> CUresult {
        let mut arguments = arguments.to_vec();
        let mut params: Vec<*mut c_void> = arguments
            .iter_mut()
            .map(|argument| ptr::from_mut(argument).cast())
            .collect();
        call!(
            self.cuda,
            cuLaunchKernel(
                function,
                grid,
                1,
                1,
                block,
                1,
                1,
                0,
                stream,
                params.as_mut_ptr(),
                ptr::null_mut()
            )
        )
    }
}

/// The code of success.
pub(crate) const SUCCESS: CUresult = CUresult::CUDA_SUCCESS;
