//! Libraries that are not there, or that cannot be used.

mod support;

use std::ffi::{CString, c_void};
use std::ptr;

use cuda_sys::{CUjit_option, CUlibraryOption};
use support::{KERNELS, Rig, call, fails, ok};

const NONE: *mut c_void = ptr::null_mut();

#[test]
fn what_is_not_there_is_not_found() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let library = rig.load_library(KERNELS).expect("it loads");
    let (mut kernel, mut address, mut size, mut pointer) = (ptr::null_mut(), 0, 0, NONE);
    let (nope, counter) = (c"nope".as_ptr(), c"counter".as_ptr());
    fails!(
        500,
        cuda,
        cuLibraryGetKernel(&raw mut kernel, library, nope)
    );
    fails!(
        1,
        cuda,
        cuLibraryGetKernel(&raw mut kernel, library, ptr::null())
    );
    fails!(
        400,
        cuda,
        cuLibraryGetKernel(&raw mut kernel, ptr::null_mut(), nope)
    );
    fails!(
        500,
        cuda,
        cuLibraryGetGlobal(&raw mut address, &raw mut size, library, nope)
    );
    fails!(
        500,
        cuda,
        cuLibraryGetManaged(&raw mut address, &raw mut size, library, counter)
    );
    fails!(
        1,
        cuda,
        cuLibraryGetUnifiedFunction(&raw mut pointer, library, counter)
    );
    fails!(400, cuda, cuLibraryUnload(ptr::null_mut()));
    ok!(cuda, cuLibraryUnload(library));
    fails!(400, cuda, cuLibraryUnload(library));
    fails!(
        400,
        cuda,
        cuLibraryGetKernel(&raw mut kernel, library, nope)
    );
}

#[test]
fn what_is_wrong_with_an_image_is_told_when_it_is_used() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    for (image, code) in [
        ("hello", 200),
        (".version 99.0\n.target sm_75\n.address_size 64\n", 222),
        (
            ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret }",
            218,
        ),
    ] {
        let library = rig.load_library(image).expect("a library is not looked at");
        let (mut kernel, mut module, name) = (ptr::null_mut(), ptr::null_mut(), c"k".as_ptr());
        let results = [
            call!(cuda, cuLibraryGetKernel(&raw mut kernel, library, name)).0,
            call!(cuda, cuLibraryGetModule(&raw mut module, library)).0,
        ];
        assert_eq!(results, [code; 2], "{image}");
        ok!(cuda, cuLibraryUnload(library));
    }
}

#[test]
fn options_are_checked_when_a_library_is_loaded() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let image = CString::new(KERNELS).expect("no NUL");
    let mut library = ptr::null_mut();
    let mut values = [NONE];
    for (option, code) in [(0, 0), (1, 0), (2, 1), (99, 1)] {
        let mut options = [CUlibraryOption(option)];
        let result = call!(
            cuda,
            cuLibraryLoadData(
                &raw mut library,
                image.as_ptr().cast(),
                ptr::null_mut(),
                ptr::null_mut(),
                0,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
                1
            )
        );
        assert_eq!(result.0, code, "library option {option}");
    }
    let mut jit_options = [CUjit_option(99)];
    fails!(
        1,
        cuda,
        cuLibraryLoadFromFile(
            &raw mut library,
            c"/nonexistent".as_ptr(),
            jit_options.as_mut_ptr(),
            values.as_mut_ptr(),
            1,
            ptr::null_mut(),
            ptr::null_mut(),
            0
        )
    );
    fails!(
        301,
        cuda,
        cuLibraryLoadFromFile(
            &raw mut library,
            c"/nonexistent".as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            0
        )
    );
}
