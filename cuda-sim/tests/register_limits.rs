//! `CU_JIT_MAX_REGISTERS`: what it does to kernels, loaded and linked.

mod support;

use std::ffi::{CString, c_void};
use std::fmt::Write as _;
use std::ptr;

use cuda_sys::{CUfunction, CUfunction_attribute, CUjit_option, CUjitInputType, CUmodule};
use support::{Rig, ok};

/// Kernels of which each keeps 100 registers alive; all but the first say how many they may have.
fn kernels() -> String {
    let defined = (0..100).fold(String::new(), |mut text, number| {
        writeln!(text, "mov.u32 %r{number}, %tid.x;").expect("strings take everything");
        text
    });
    let summed = (0..100).fold(defined, |mut text, number| {
        writeln!(text, "add.u32 %r200, %r200, %r{number};").expect("strings take everything");
        text
    });
    let mut text = String::from(".version 8.0\n.target sm_75\n.address_size 64\n");
    for (name, bound) in [
        ("plain", ""),
        ("own", ".maxnreg 80"),
        ("sized", ".maxntid 128, 1, 1"),
        ("exact", ".reqntid 128, 1, 1"),
    ] {
        writeln!(
            text,
            ".visible .entry {name}() {bound} {{ .reg .b32 %r<201>;\n{summed}ret; }}"
        )
        .expect("strings take everything");
    }
    text
}

/// The option with its value, as calls take them; without a value, no option.
fn options(most: Option<usize>) -> (Vec<CUjit_option>, Vec<*mut c_void>) {
    let values = most.map(ptr::without_provenance_mut).into_iter();
    values
        .map(|value| (CUjit_option::CU_JIT_MAX_REGISTERS, value))
        .unzip()
}

fn load(rig: &Rig, image: *const c_void, most: Option<usize>) -> CUmodule {
    let (mut options, mut values) = options(most);
    let mut module = ptr::null_mut();
    ok!(
        rig.cuda,
        cuModuleLoadDataEx(
            &raw mut module,
            image,
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr()
        )
    );
    module
}

fn registers_of(rig: &Rig, function: CUfunction) -> i32 {
    let mut count = 0;
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    ok!(
        rig.cuda,
        cuFuncGetAttribute(&raw mut count, attribute, function)
    );
    count
}

/// Registers of each kernel of a module.
fn registers(rig: &Rig, module: CUmodule) -> [i32; 4] {
    ["plain", "own", "sized", "exact"].map(|name| registers_of(rig, rig.function(module, name)))
}

#[test]
fn a_module_keeps_to_the_limit_where_its_kernels_state_none() {
    let rig = Rig::new();
    let image = CString::new(kernels()).expect("no NUL");
    let load = |most| load(&rig, image.as_ptr().cast(), most);
    let free = registers(&rig, load(None));
    assert!(free[0] > 100, "{free:?}");
    assert_eq!(free[1], 80);
    assert_eq!(registers(&rig, load(Some(40))), [40, 80, free[2], free[3]]);
    assert_eq!(registers(&rig, load(Some(8)))[0], 24);
    assert_eq!(registers(&rig, load(Some(300))), free);
}

#[test]
fn fewer_registers_leave_room_for_more_threads() {
    let rig = Rig::new();
    let image = CString::new(kernels()).expect("no NUL");
    let blocks = |most| {
        let module = load(&rig, image.as_ptr().cast(), most);
        let function = rig.function(module, "plain");
        let mut blocks = 0;
        ok!(
            rig.cuda,
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, function, 256, 0)
        );
        let launched = rig.launch(function, 1, 1024, ptr::null_mut(), &[]);
        ok!(rig.cuda, cuCtxSynchronize());
        (blocks, launched.0)
    };
    assert_eq!(blocks(None), (2, 701));
    assert_eq!(blocks(Some(32)), (8, 0));
}

#[test]
fn a_library_keeps_to_the_limit() {
    let rig = Rig::new();
    let image = CString::new(kernels()).expect("no NUL");
    let (mut options, mut values) = options(Some(48));
    let (mut library, mut kernel, mut count) = (ptr::null_mut(), ptr::null_mut(), 0);
    ok!(
        rig.cuda,
        cuLibraryLoadData(
            &raw mut library,
            image.as_ptr().cast(),
            options.as_mut_ptr(),
            values.as_mut_ptr(),
            1,
            ptr::null_mut(),
            ptr::null_mut(),
            0
        )
    );
    ok!(
        rig.cuda,
        cuLibraryGetKernel(&raw mut kernel, library, c"plain".as_ptr())
    );
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    ok!(
        rig.cuda,
        cuKernelGetAttribute(&raw mut count, attribute, kernel, rig.device)
    );
    assert_eq!(count, 48);
}

/// Links the kernels with a limit for all inputs and one for this; then loads them without.
fn linked(rig: &Rig, all: Option<usize>, input: Option<usize>) -> [i32; 4] {
    let (mut linker, mut image, mut size) = (ptr::null_mut(), ptr::null_mut(), 0);
    let text = kernels();
    let (mut of_all, mut values) = options(all);
    ok!(
        rig.cuda,
        cuLinkCreate_v2(
            of_all.len() as u32,
            of_all.as_mut_ptr(),
            values.as_mut_ptr(),
            &raw mut linker
        )
    );
    let (mut of_input, mut values) = options(input);
    ok!(
        rig.cuda,
        cuLinkAddData_v2(
            linker,
            CUjitInputType::CU_JIT_INPUT_PTX,
            text.as_ptr().cast_mut().cast(),
            text.len(),
            c"kernels.ptx".as_ptr(),
            of_input.len() as u32,
            of_input.as_mut_ptr(),
            values.as_mut_ptr()
        )
    );
    ok!(
        rig.cuda,
        cuLinkComplete(linker, &raw mut image, &raw mut size)
    );
    let module = load(rig, image, None);
    ok!(rig.cuda, cuLinkDestroy(linker));
    registers(rig, module)
}

#[test]
fn a_linked_image_has_the_limit_of_its_linker_or_input() {
    let rig = Rig::new();
    let free = linked(&rig, None, None);
    assert!(free[0] > 100, "{free:?}");
    assert_eq!(linked(&rig, Some(40), None), [40, 80, free[2], free[3]]);
    assert_eq!(linked(&rig, Some(40), Some(64))[0], 64);
    assert_eq!(linked(&rig, None, Some(8))[0], 24);
    assert_eq!(linked(&rig, Some(1000), None), free);
}
