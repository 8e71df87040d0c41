//! Libraries, linkers and launch attributes, which the safe layer does not wrap: the same codes and results on both drivers.

use std::ffi::{CString, c_void};
use std::ptr;

use cuda_driver::CurrentContext;
use cuda_sys::{
    CUdeviceptr, CUfunction, CUfunction_attribute, CUjitInputType, CUkernel, CUlaunchAttribute,
    CUlaunchAttributeID, CUlaunchConfig, CUlibrary, CUlinkState,
};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::raw::{code, good};

const USER: &str = ".version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) helper(.param .b32 x);
.extern .global .align 4 .u32 base;
.visible .entry user(.param .u64 p)
{
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.global.u32 %r1, [base];
  { .param .b32 a; .param .b32 o; st.param.b32 [a], %r1; call.uni (o), helper, (a); ld.param.b32 %r2, [o]; }
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd1, %rd1;
  st.global.u32 [%rd1], %r2;
  ret;
}
";
const HELPER: &str = ".version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 base = 40;
.visible .func (.param .b32 r) helper(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r2, %r1, 2;
  st.param.b32 [r], %r2;
  ret;
}
.visible .entry nothing() { ret; }
";

/// Four bytes of device memory in the current context.
struct Raw<'a> {
    bench: &'a Bench,
    device: CUdeviceptr,
    _current: CurrentContext<'a>,
}

impl<'a> Raw<'a> {
    fn new(bench: &'a Bench) -> Self {
        let current = bench.context().push().expect("the context can be pushed");
        let mut device = 0;
        good!(bench, cuMemAlloc_v2(&raw mut device, 4));
        good!(bench, cuMemsetD32_v2(device, 0, 1));
        Self {
            bench,
            device,
            _current: current,
        }
    }

    fn word(&self) -> u32 {
        let mut word = 0u32;
        let place = ptr::from_mut(&mut word).cast();
        good!(self.bench, cuMemcpyDtoH_v2(place, self.device, 4));
        word
    }

    /// Launches one thread with the address of the memory.
    fn launch(&self, function: CUfunction, attributes: &mut [CUlaunchAttribute]) -> u32 {
        let config = CUlaunchConfig {
            gridDimX: 4,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
            ..Default::default()
        };
        let mut address = self.device;
        let mut params = [ptr::from_mut(&mut address).cast::<c_void>()];
        let none = ptr::null_mut();
        code!(
            self.bench,
            cuLaunchKernelEx(&raw const config, function, params.as_mut_ptr(), none)
        )
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        good!(self.bench, cuMemFree_v2(self.device));
    }
}

fn library(bench: &Bench, image: &str) -> CUlibrary {
    let image = CString::new(image).expect("no NUL");
    let (mut library, none) = (ptr::null_mut(), ptr::null_mut::<c_void>());
    good!(
        bench,
        cuLibraryLoadData(
            &raw mut library,
            image.as_ptr().cast(),
            none.cast(),
            none.cast(),
            0,
            none.cast(),
            none.cast(),
            0
        )
    );
    library
}

fn add(bench: &Bench, linker: CUlinkState, text: &str) -> u32 {
    let image = CString::new(text).expect("no NUL");
    let size = image.as_bytes_with_nul().len();
    let none = ptr::null_mut::<c_void>();
    code!(
        bench,
        cuLinkAddData_v2(
            linker,
            CUjitInputType::CU_JIT_INPUT_PTX,
            image.as_ptr().cast_mut().cast(),
            size,
            c"input".as_ptr(),
            0,
            none.cast(),
            none.cast()
        )
    )
}

#[test]
fn linked_modules_call_each_other() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let none = ptr::null_mut::<c_void>();
    let mut linker = ptr::null_mut();
    good!(
        bench,
        cuLinkCreate_v2(0, none.cast(), none.cast(), &raw mut linker)
    );
    assert_eq!(
        [add(&bench, linker, USER), add(&bench, linker, HELPER)],
        [0, 0]
    );
    let (mut image, mut size, mut module) = (none, 0, ptr::null_mut());
    good!(bench, cuLinkComplete(linker, &raw mut image, &raw mut size));
    good!(bench, cuModuleLoadData(&raw mut module, image));
    assert_eq!(
        code!(bench, cuLinkComplete(linker, &raw mut image, &raw mut size)),
        400
    );
    assert_eq!(add(&bench, linker, HELPER), 1);
    let mut function = ptr::null_mut();
    good!(
        bench,
        cuModuleGetFunction(&raw mut function, module, c"user".as_ptr())
    );
    assert_eq!(raw.launch(function, &mut []), 0);
    assert_eq!(raw.word(), 42);
    good!(bench, cuModuleUnload(module));
    good!(bench, cuLinkDestroy(linker));
    Ok(())
}

#[test]
fn linking_fails_where_names_are_missing_or_defined_twice() -> Test {
    let bench = Bench::new();
    let _raw = Raw::new(&bench);
    let none = ptr::null_mut::<c_void>();
    for (inputs, added) in [([USER, USER], [0, 300]), ([HELPER, HELPER], [0, 300])] {
        let (mut linker, mut image) = (ptr::null_mut(), none);
        good!(
            bench,
            cuLinkCreate_v2(0, none.cast(), none.cast(), &raw mut linker)
        );
        assert_eq!(inputs.map(|input| add(&bench, linker, input)), added);
        let result = code!(
            bench,
            cuLinkComplete(linker, &raw mut image, ptr::null_mut())
        );
        assert_eq!(result, 300);
        good!(bench, cuLinkDestroy(linker));
    }
    Ok(())
}

#[test]
fn a_librarys_kernel_is_launched_and_is_no_function_otherwise() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let library = library(&bench, HELPER);
    let (mut kernel, mut function): (CUkernel, CUfunction) = (ptr::null_mut(), ptr::null_mut());
    good!(
        bench,
        cuLibraryGetKernel(&raw mut kernel, library, c"nothing".as_ptr())
    );
    good!(bench, cuKernelGetFunction(&raw mut function, kernel));
    assert_eq!(
        [
            raw.launch(kernel.cast(), &mut []),
            raw.launch(function, &mut [])
        ],
        [0, 0]
    );
    good!(bench, cuCtxSynchronize());
    let mut value = 0;
    let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    assert_eq!(
        code!(
            bench,
            cuFuncGetAttribute(&raw mut value, dynamic, kernel.cast())
        ),
        400
    );
    let mut module = ptr::null_mut();
    good!(bench, cuLibraryGetModule(&raw mut module, library));
    assert_eq!(code!(bench, cuModuleUnload(module)), 800);
    good!(bench, cuLibraryUnload(library));
    Ok(())
}

#[test]
fn a_library_is_not_looked_at_before_it_is_used() -> Test {
    let bench = Bench::new();
    let _raw = Raw::new(&bench);
    for (image, expected) in [
        ("hello", 200),
        (".version 99.0\n.target sm_75\n.address_size 64\n", 222),
    ] {
        let library = library(&bench, image);
        let mut kernel = ptr::null_mut();
        let name = c"nothing".as_ptr();
        assert_eq!(
            code!(bench, cuLibraryGetKernel(&raw mut kernel, library, name)),
            expected
        );
        good!(bench, cuLibraryUnload(library));
    }
    Ok(())
}

#[test]
fn launch_attributes_are_checked() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let library = library(&bench, HELPER);
    let mut kernel = ptr::null_mut();
    good!(
        bench,
        cuLibraryGetKernel(&raw mut kernel, library, c"nothing".as_ptr())
    );
    for (id, value, expected) in [
        (3u32, 1i8, 1),
        (4, 0, 0),
        (5, 9, 1),
        (6, 1, 0),
        (8, 1, 0),
        (10, 2, 1),
        (13, 1, 801),
        (14, 101, 1),
    ] {
        let mut attribute = CUlaunchAttribute {
            id: CUlaunchAttributeID(id),
            ..Default::default()
        };
        let mut pad = [0; 64];
        pad[0] = value as std::ffi::c_char;
        attribute.value.pad = pad;
        assert_eq!(
            raw.launch(kernel.cast(), &mut [attribute]),
            expected,
            "attribute {id}"
        );
    }
    good!(bench, cuCtxSynchronize());
    good!(bench, cuLibraryUnload(library));
    Ok(())
}
