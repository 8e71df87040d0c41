//! Modules: what loads, what does not and why, and how handles end.

mod support;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use cuda_sim::Simulator;
use cuda_sys::{CUfunction_attribute, CUjit_option};
use support::{KERNELS, Rig, call, fails, ok};

/// Loads with logs: the result, the error log, and the length that was written for it.
fn load(rig: &Rig, image: &str) -> (u32, String, usize) {
    let image = CString::new(image).expect("no NUL");
    let (mut error, mut info) = ([1 as c_char; 300], [1 as c_char; 300]);
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_INFO_LOG_BUFFER,
        CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_OPTIMIZATION_LEVEL,
    ];
    let size = ptr::without_provenance_mut::<c_void>(300);
    let mut values = [
        error.as_mut_ptr().cast(),
        size,
        info.as_mut_ptr().cast(),
        size,
        ptr::without_provenance_mut::<c_void>(4),
    ];
    let mut module = ptr::null_mut();
    let result = call!(
        rig.cuda,
        cuModuleLoadDataEx(
            &raw mut module,
            image.as_ptr().cast(),
            5,
            options.as_mut_ptr(),
            values.as_mut_ptr()
        )
    );
    // SAFETY: the driver ends the log with a NUL.
    let log = unsafe { CStr::from_ptr(error.as_ptr()) };
    (
        result.0,
        log.to_string_lossy().into_owned(),
        values[1].addr(),
    )
}

fn kernel(version: &str, target: &str, body: &str) -> String {
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n{body}\nret;\n}}\n"
    )
}

#[test]
fn refusals_have_the_drivers_codes_and_a_log() {
    let rig = Rig::new();
    assert_eq!(load(&rig, KERNELS), (0, String::new(), 0));
    for (image, code, word) in [
        (String::new(), 200, ".version"),
        (String::from("hello world"), 200, ".version"),
        (kernel("99.0", "sm_50", ""), 222, "99.0"),
        (kernel("9.1", "sm_50", ""), 222, "9.0"),
        (kernel("9.0", "sm_100", ""), 218, "sm_100"),
        (kernel("7.0", "sm_50", "ret\n}"), 218, "line 7"),
        (
            kernel("7.0", "sm_50", "").replace("address_size 64", "address_size 32"),
            218,
            "64",
        ),
        (String::from("\x7fELF\x02\x01\x01 not a cubin"), 200, "ELF"),
    ] {
        let (result, log, length) = load(&rig, &image);
        assert_eq!((result, log.len()), (code, length), "{image}: {log}");
        assert!(log.contains(word), "{image}: {log}");
    }
    assert_eq!(load(&rig, &kernel("9.0", "sm_90a", "")).0, 0);
}

#[test]
fn an_older_driver_takes_older_ptx() {
    let rig = Rig::with(
        Simulator::builder()
            .driver_version(12_020)
            .build()
            .expect("a free slot"),
    );
    assert_eq!(load(&rig, &kernel("8.2", "sm_50", "")).0, 0);
    assert_eq!(load(&rig, &kernel("8.3", "sm_50", "")).0, 222);
}

/// An instruction that PTX has and the software driver does not.
const TEXTURE: &str =
    ".reg .b64 %t; .reg .f32 %f<5>; tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%f4}];";

#[test]
fn ptx_that_no_assembler_takes_is_refused_with_the_places() {
    let rig = Rig::new();
    let (result, log, _) = load(
        &rig,
        &kernel(
            "7.0",
            "sm_50",
            ".reg .b32 %r<2>;\nfrobnicate.u32 %r0, %r1;\n  add.u32 %r0, %r1, %r2;",
        ),
    );
    assert_eq!(result, 218);
    let expected = "PTX line 7, column 1, in `k`: `frobnicate.u32 %r0, %r1`: PTX has no instruction `frobnicate`\n\
                    PTX line 8, column 3, in `k`: `add.u32 %r0, %r1, %r2`: the name `%r2` is not known here";
    assert_eq!(log, expected);
}

#[test]
fn an_instruction_that_is_not_implemented_fails_that_kernels_launch() {
    let rig = Rig::new();
    let strange = kernel("7.0", "sm_50", TEXTURE) + ".visible .entry fine() { ret; }";
    let module = rig.load(&strange);
    let none = ptr::null_mut();
    assert_eq!(
        rig.launch(rig.function(module, "k"), 1, 1, none, &[]).0,
        801
    );
    assert_eq!(
        rig.launch(rig.function(module, "fine"), 1, 1, none, &[]).0,
        0
    );
    ok!(rig.cuda, cuCtxSynchronize());
    let report = &rig.simulator.reports()[0];
    assert_eq!(
        (report.kernel.as_deref(), report.line),
        (Some("k"), Some(6)),
        "{report}"
    );
    assert!(rig.simulator.unsupported_calls()[0].contains("tex.1d"));
}

#[test]
fn names_and_options_are_checked_as_by_the_driver() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let module = rig.load(KERNELS);
    let (mut function, mut count) = (ptr::null_mut(), 0);
    fails!(
        500,
        cuda,
        cuModuleGetFunction(&raw mut function, module, c"nope".as_ptr())
    );
    fails!(
        1,
        cuda,
        cuModuleGetFunction(&raw mut function, module, c"".as_ptr())
    );
    fails!(
        1,
        cuda,
        cuModuleGetFunction(&raw mut function, module, ptr::null())
    );
    fails!(
        500,
        cuda,
        cuModuleGetGlobal_v2(ptr::null_mut(), &raw mut count, module, c"nope".as_ptr())
    );
    fails!(
        1,
        cuda,
        cuModuleGetGlobal_v2(
            ptr::null_mut(),
            ptr::null_mut(),
            module,
            c"counter".as_ptr()
        )
    );
    fails!(400, cuda, cuModuleUnload(ptr::null_mut()));
    fails!(
        301,
        cuda,
        cuModuleLoad((&raw mut function).cast(), c"/nonexistent".as_ptr())
    );
    let (mut texture, mut surface, mut address, mut size) =
        (ptr::null_mut(), ptr::null_mut(), 0, 0);
    fails!(
        500,
        cuda,
        cuModuleGetTexRef(&raw mut texture, module, c"t".as_ptr())
    );
    fails!(
        500,
        cuda,
        cuModuleGetSurfRef(&raw mut surface, module, c"s".as_ptr())
    );
    fails!(
        1,
        cuda,
        cuModuleGetTexRef(&raw mut texture, module, ptr::null())
    );
    // The name of a kernel, and none.
    for name in [c"increment", c""] {
        fails!(
            1,
            cuda,
            cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module, name.as_ptr())
        );
    }
    fails!(
        1,
        cuda,
        cuModuleLoad((&raw mut function).cast(), c"".as_ptr())
    );
    let image = CString::new(KERNELS).expect("no NUL");
    let mut value = ptr::null_mut::<c_void>();
    for option in [99, CUjit_option::CU_JIT_ERROR_LOG_BUFFER.0] {
        let mut option = CUjit_option(option);
        let mut module = ptr::null_mut();
        fails!(
            1,
            cuda,
            cuModuleLoadDataEx(
                &raw mut module,
                image.as_ptr().cast(),
                1,
                &raw mut option,
                &raw mut value
            )
        );
    }
    let mut number = 0;
    ok!(cuda, cuModuleGetFunctionCount(&raw mut number, module));
    let mut functions = vec![ptr::null_mut(); number as usize];
    ok!(
        cuda,
        cuModuleEnumerateFunctions(functions.as_mut_ptr(), number, module)
    );
    let names: Vec<String> = functions
        .iter()
        .map(|function| {
            let mut name = ptr::null();
            ok!(cuda, cuFuncGetName(&raw mut name, *function));
            // SAFETY: the name lives as long as the module.
            unsafe { CStr::from_ptr(name) }
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(names[..2], ["vector_add", "increment"]);
}

/// Loads with those options: the code, and what stands in the places of the values afterwards.
fn load_with(rig: &Rig, image: &str, options: &[(CUjit_option, *mut c_void)]) -> (u32, Vec<usize>) {
    let image = CString::new(image).expect("no NUL");
    let (mut options, mut values): (Vec<_>, Vec<_>) = options.iter().copied().unzip();
    let mut module = ptr::null_mut();
    let result = call!(
        rig.cuda,
        cuModuleLoadDataEx(
            &raw mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr()
        )
    );
    (result.0, values.iter().map(|value| value.addr()).collect())
}

#[test]
fn the_values_of_options_are_checked() {
    let rig = Rig::new();
    for (option, value, code) in [
        (0, 0, 1),
        (0, 16, 0),
        (1, 0, 1),
        (1, 256, 0),
        (2, 0, 0),
        (3, 0, 1),
        (4, 100, 1),
        (6, 100, 1),
        (7, 3, 0),
        (8, 0, 0),
        (9, 2, 200),
        (9, 90, 0),
        (9, 80, 300),
        (9, 1000, 1),
        (14, 2, 0),
        (14, 3, 1),
        (17, 0, 1),
        (19, 0, 1),
        (25, 0, 1),
        (27, 0, 1),
        (34, 0, 0),
        (35, 0, 1),
        (36, 0, 1),
    ] {
        let value = ptr::without_provenance_mut(value);
        let (result, _) = load_with(&rig, KERNELS, &[(CUjit_option(option), value)]);
        assert_eq!(result, code, "option {option} with the value {value:?}");
    }
    let number = ptr::without_provenance_mut;
    let (threads, target) = (
        CUjit_option::CU_JIT_THREADS_PER_BLOCK,
        CUjit_option::CU_JIT_TARGET,
    );
    let both = [(threads, number(256)), (target, number(90))];
    assert_eq!(load_with(&rig, KERNELS, &both).0, 1);
    assert_eq!(load_with(&rig, KERNELS, &[both[0], both[0]]).0, 0);
}

#[test]
fn a_log_is_cut_to_its_buffer() {
    let rig = Rig::new();
    for size in [0, 1, 10, 1000] {
        let mut log = [1 as c_char; 1000];
        let size_option = (
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            ptr::without_provenance_mut(size),
        );
        let buffer_option = (
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            log.as_mut_ptr().cast(),
        );
        let (code, values) = load_with(&rig, "hello", &[size_option, buffer_option]);
        let end = log.iter().position(|byte| *byte == 0);
        assert_eq!(code, 200);
        match size {
            0 => assert_eq!((values[0], end), (0, None)),
            1 | 10 => assert_eq!((values[0], end), (size, Some(size - 1))),
            _ => assert_eq!(Some(values[0]), end),
        }
    }
}

#[test]
fn functions_have_attributes() {
    let rig = Rig::new();
    let module = rig.load(KERNELS);
    let attribute = |name: &str, number: u32| {
        let mut value = -1;
        let function = rig.function(module, name);
        ok!(
            rig.cuda,
            cuFuncGetAttribute(&raw mut value, CUfunction_attribute(number), function)
        );
        value
    };
    assert_eq!(
        [0, 1, 2, 5, 6, 8, 9].map(|number| attribute("vector_add", number)),
        [1024, 0, 16, 50, 90, 49_152, -1]
    );
    assert_eq!(
        (attribute("small_blocks", 0), attribute("fixed_blocks", 0)),
        (64, 1024)
    );
    assert!((1..=255).contains(&attribute("vector_add", 4)));
    let mut value = 0;
    fails!(
        1,
        rig.cuda,
        cuFuncGetAttribute(
            &raw mut value,
            CUfunction_attribute(99),
            rig.function(module, "nothing")
        )
    );
    fails!(
        400,
        rig.cuda,
        cuFuncGetAttribute(&raw mut value, CUfunction_attribute(0), ptr::null_mut())
    );
}

#[test]
fn unloading_waits_and_ends_the_handles() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let module = rig.load(KERNELS);
    let increment = rig.function(module, "increment");
    let (from, to) = (rig.upload(&[4]), rig.upload(&[0]));
    let stream = rig.stream(0);
    assert_eq!(rig.launch(increment, 1, 1, stream, &[to, from]).0, 0);
    ok!(cuda, cuModuleUnload(module));
    assert_eq!(rig.simulator.pending_operations(), 0);
    assert_eq!(rig.download(to, 1), [5]);
    assert_eq!(rig.launch(increment, 1, 1, stream, &[to, from]).0, 400);
    fails!(400, cuda, cuModuleUnload(module));
}
