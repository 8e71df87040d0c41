//! Linking: several texts become one image.

mod support;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use cuda_sim::LeakKind;
use cuda_sys::{CUjit_option, CUjitInputType, CUlinkState};
use support::{Rig, call, fails, ok};

const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";
const USER: &str = ".extern .func (.param .b32 r) helper(.param .b32 x);
.extern .global .align 4 .u32 base;
.visible .entry use(.param .u64 p)
{
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.global.u32 %r1, [base];
  { .param .b32 a; .param .b32 o; st.param.b32 [a], %r1; call.uni (o), helper, (a); ld.param.b32 %r2, [o]; }
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd1, %rd1;
  st.global.u32 [%rd1], %r2;
  ret;
}";
const HELPER: &str = ".visible .global .align 4 .u32 base = 40;
.visible .func (.param .b32 r) helper(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r2, %r1, 2;
  st.param.b32 [r], %r2;
  ret;
}";

/// A linker whose error log is written to `log`.
fn create(rig: &Rig, log: &mut [c_char; 4000]) -> (CUlinkState, Box<[*mut c_void; 2]>) {
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = Box::new([
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut::<c_void>(4000),
    ]);
    let mut linker = ptr::null_mut();
    ok!(
        rig.cuda,
        cuLinkCreate_v2(
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
            &raw mut linker
        )
    );
    (linker, values)
}

fn add(rig: &Rig, linker: CUlinkState, kind: u32, data: &[u8], name: &CStr) -> u32 {
    call!(
        rig.cuda,
        cuLinkAddData_v2(
            linker,
            CUjitInputType(kind),
            data.as_ptr().cast_mut().cast(),
            data.len(),
            name.as_ptr(),
            0,
            ptr::null_mut(),
            ptr::null_mut()
        )
    )
    .0
}

fn add_ptx(rig: &Rig, linker: CUlinkState, text: &str, name: &CStr) -> u32 {
    add(rig, linker, 1, format!("{HEADER}{text}\0").as_bytes(), name)
}

fn complete(rig: &Rig, linker: CUlinkState) -> Result<(*mut c_void, usize), u32> {
    let (mut image, mut size) = (ptr::null_mut(), 0);
    let result = call!(
        rig.cuda,
        cuLinkComplete(linker, &raw mut image, &raw mut size)
    );
    if result.0 == 0 {
        Ok((image, size))
    } else {
        Err(result.0)
    }
}

fn text(log: &[c_char; 4000]) -> String {
    // SAFETY: the driver ends the log with a NUL.
    let text = unsafe { CStr::from_ptr(log.as_ptr()) };
    text.to_string_lossy().into_owned()
}

#[test]
fn a_kernel_calls_what_another_input_defines() {
    let rig = Rig::new();
    let mut log = [0; 4000];
    let (linker, _values) = create(&rig, &mut log);
    assert_eq!(add_ptx(&rig, linker, USER, c"user.ptx"), 0);
    assert_eq!(add_ptx(&rig, linker, HELPER, c"helper.ptx"), 0);
    let (image, size) = complete(&rig, linker).expect("it links");
    assert!(size > 100);
    let mut module = ptr::null_mut();
    ok!(rig.cuda, cuModuleLoadData(&raw mut module, image));
    let to = rig.upload(&[0]);
    let kernel = rig.function(module, "use");
    assert_eq!(rig.launch(kernel, 1, 1, ptr::null_mut(), &[to]).0, 0);
    assert_eq!(rig.download(to, 1), [42]);
    // The linker is closed, and its image outlives nothing but itself.
    assert_eq!(add_ptx(&rig, linker, HELPER, c"more.ptx"), 1);
    assert_eq!(complete(&rig, linker), Err(400));
    let is_linker = |leak: &cuda_sim::Leak| leak.kind == LeakKind::Linker;
    assert!(rig.simulator.leaks().iter().any(is_linker));
    ok!(rig.cuda, cuLinkDestroy(linker));
    assert!(!rig.simulator.leaks().iter().any(is_linker));
    assert_eq!(rig.launch(kernel, 1, 1, ptr::null_mut(), &[to]).0, 0);
}

#[test]
fn what_does_not_fit_is_told_in_the_log() {
    let rig = Rig::new();
    let mut log = [0; 4000];
    let (linker, values) = create(&rig, &mut log);
    assert_eq!(add_ptx(&rig, linker, USER, c"user.ptx"), 0);
    assert_eq!(complete(&rig, linker), Err(300));
    let lines = "error   : Undefined reference to 'base' in 'user.ptx'\nerror   : Undefined reference to 'helper' in 'user.ptx'";
    assert_eq!(
        (text(&log).as_str(), values[1].addr()),
        (lines, lines.len())
    );
    ok!(rig.cuda, cuLinkDestroy(linker));

    let mut log = [0; 4000];
    let (linker, _values) = create(&rig, &mut log);
    assert_eq!(add_ptx(&rig, linker, HELPER, c"one.ptx"), 0);
    assert_eq!(add_ptx(&rig, linker, HELPER, c"two.ptx"), 300);
    assert_eq!(complete(&rig, linker), Err(300));
    assert!(
        text(&log)
            .contains("Multiple definition of 'helper' in 'two.ptx', first defined in 'one.ptx'")
    );
    ok!(rig.cuda, cuLinkDestroy(linker));
}

#[test]
fn an_input_that_cannot_be_read_is_left_out() {
    let rig = Rig::new();
    let mut log = [0; 4000];
    let (linker, _values) = create(&rig, &mut log);
    let named = |kind, data: &[u8]| add(&rig, linker, kind, data, c"input");
    let mut cubin = [0u8; 64];
    cubin[..4].copy_from_slice(b"\x7fELF");
    cubin[18] = 190;
    for (kind, data, code) in [
        (1, b"hello".as_slice(), 200),
        (1, b".version 99.0\n.target sm_75\n.address_size 64\n", 222),
        (
            1,
            b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret }",
            218,
        ),
        (0, &cubin, 209),
        (0, b"hello", 200),
        (3, b"hello", 999),
        (4, b"hello", 999),
        (3, b"\x7fELF an object", 801),
        (4, b"!<arch>\nobjects", 801),
        (5, b"BC", 221),
        (6, b"hello", 1),
        (99, b"hello", 1),
        (1, b"", 1),
    ] {
        assert_eq!(named(kind, data), code, "{kind} {data:?}");
    }
    assert!(text(&log).contains("objects and libraries"));
    assert_eq!(rig.simulator.unsupported_calls().len(), 2);
    assert!(complete(&rig, linker).is_ok());
    ok!(rig.cuda, cuLinkDestroy(linker));
}

#[test]
fn linkers_are_made_in_a_context_and_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let none = ptr::null_mut::<c_void>();
    let mut linker = ptr::null_mut();
    fails!(
        1,
        cuda,
        cuLinkCreate_v2(0, none.cast(), none.cast(), ptr::null_mut())
    );
    fails!(400, cuda, cuLinkDestroy(linker));
    assert_eq!(add_ptx(&rig, linker, HELPER, c"one.ptx"), 400);
    assert_eq!(complete(&rig, linker), Err(400));
    ok!(
        cuda,
        cuLinkCreate_v2(0, none.cast(), none.cast(), &raw mut linker)
    );
    let path = CString::new("/nonexistent").expect("no NUL");
    let ptx = CUjitInputType::CU_JIT_INPUT_PTX;
    fails!(
        301,
        cuda,
        cuLinkAddFile_v2(linker, ptx, path.as_ptr(), 0, none.cast(), none.cast())
    );
    let mut image = none;
    fails!(
        1,
        cuda,
        cuLinkComplete(linker, ptr::null_mut(), ptr::null_mut())
    );
    ok!(
        cuda,
        cuLinkComplete(linker, &raw mut image, ptr::null_mut())
    );
    ok!(cuda, cuLinkDestroy(linker));
    ok!(cuda, cuCtxSetCurrent(ptr::null_mut()));
    fails!(
        201,
        cuda,
        cuLinkCreate_v2(0, none.cast(), none.cast(), &raw mut linker)
    );
}

#[test]
fn an_image_that_was_linked_for_another_device_does_not_load() {
    let rig = Rig::new();
    let (mut option, mut value) = (CUjit_option::CU_JIT_TARGET, ptr::without_provenance_mut(80));
    let (mut linker, mut module) = (ptr::null_mut(), ptr::null_mut());
    ok!(
        rig.cuda,
        cuLinkCreate_v2(1, &raw mut option, &raw mut value, &raw mut linker)
    );
    assert_eq!(add_ptx(&rig, linker, HELPER, c"helper.ptx"), 0);
    let (image, _) = complete(&rig, linker).expect("it links");
    fails!(209, rig.cuda, cuModuleLoadData(&raw mut module, image));
    ok!(rig.cuda, cuLinkDestroy(linker));
}
