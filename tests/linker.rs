//! The linker: images that refer to each other become one.

use cuda_driver::{Error, ErrorKind, JitOptions, LaunchConfig, Linker};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::VECTOR_ADD;

const HEADER: &str = ".version 7.0\n.target sm_52\n.address_size 64\n";

/// `x * factor + offset`, of which the factor is a variable and the function is called from elsewhere.
fn function() -> String {
    format!(
        "{HEADER}\
.visible .global .align 4 .u32 factor = 3;
.visible .func (.param .b32 result) scaled(.param .b32 x)
{{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [x];
    ld.global.u32 %r2, [factor];
    mul.lo.u32 %r3, %r1, %r2;
    st.param.b32 [result], %r3;
    ret;
}}
"
    )
}

/// Writes `scaled(thread)`.
fn kernel() -> String {
    format!(
        "{HEADER}\
.extern .func (.param .b32 result) scaled(.param .b32 x);
.visible .entry scale_all(.param .u64 to)
{{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    {{
    .param .b32 argument;
    st.param.b32 [argument], %r1;
    .param .b32 result;
    call.uni (result), scaled, (argument);
    ld.param.b32 %r2, [result];
    }}
    ld.param.u64 %rd1, [to];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r2;
    ret;
}}
"
    )
}

fn told(error: &Error, parts: &[&str]) {
    for part in parts {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}

#[test]
fn what_is_linked_is_loaded_and_run() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    linker.add_ptx("kernel.ptx", &kernel())?;
    linker.add_ptx("function.ptx", &function())?;
    let image = linker.complete()?;
    assert!(!image.as_bytes().is_empty());
    let module = bench.context().load_linked(&image)?;
    let library = bench.driver().load_library_linked(&image)?;
    for function in [
        module.function("scale_all")?,
        library.function(bench.context(), "scale_all")?,
    ] {
        let mut to = stream.zeroed::<u32>(4)?;
        // SAFETY: each of the four threads writes one element.
        unsafe { function.launch(&stream, LaunchConfig::new(1, 4), (&mut to,)) }?;
        assert_eq!(to.to_vec()?, [0, 3, 6, 9]);
    }
    assert_eq!(module.global::<u32>("factor")?.read(&stream)?, 3);
    Ok(())
}

#[test]
fn what_is_defined_nowhere_or_twice_is_told_with_names() -> Test {
    let bench = Bench::new();
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    linker.add_ptx("kernel.ptx", &kernel())?;
    let error = linker.complete().expect_err("a function is missing");
    assert_eq!(error.kind(), ErrorKind::InvalidImage);
    told(
        &error,
        &[
            "`kernel.ptx` refers to `scaled`",
            "add the input that defines it",
        ],
    );
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    linker.add_ptx("one", &function())?;
    let error = linker
        .add_ptx("two", &function())
        .and_then(|()| linker.complete())
        .expect_err("a function is there twice");
    assert_eq!(error.kind(), ErrorKind::InvalidImage);
    told(&error, &["`two` defines", "so does `one`"]);
    Ok(())
}

#[test]
fn an_input_that_does_not_compile_is_named_and_shown() -> Test {
    let bench = Bench::new();
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    let wrong = function().replace("ret;", "this is not PTX;");
    let error = linker.add_ptx("wrong.ptx", &wrong).expect_err("wrong PTX");
    assert_eq!(error.kind(), ErrorKind::InvalidImage);
    told(&error, &["add `wrong.ptx` (PTX)", "this is not PTX;"]);
    let newer = function().replace("7.0", "99.0");
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    let error = linker
        .add_ptx("newer", &newer)
        .expect_err("PTX from the future");
    told(&error, &["`newer`", "version 99.0"]);
    Ok(())
}

/// Demands that an input is refused before the driver sees it.
fn refused(bench: &Bench, add: impl FnOnce(&mut Linker) -> cuda_driver::Result<()>, part: &str) {
    let linker = bench.context().create_linker(&JitOptions::new());
    let mut linker = linker.expect("a linker");
    let (result, calls) = bench.calls_of(|| add(&mut linker));
    let error = result.expect_err("it is refused");
    told(&error, &[part]);
    assert!(!calls.contains("cuLinkAdd"), "{calls}");
}

#[test]
fn inputs_that_are_not_whole_never_reach_the_driver() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let mut elf = vec![0_u8; 64];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[40] = 0xff;
    elf[58] = 64;
    elf[60] = 9;
    #[allow(
        clippy::multiple_unsafe_ops_per_block,
        reason = "all for the same reason"
    )]
    // SAFETY: none of them is linked.
    unsafe {
        refused(&bench, |it| it.add_cubin("a", b"\x7fELF"), "truncated");
        refused(
            &bench,
            |it| it.add_fatbin("a", &[0; 32]),
            "not a fat binary",
        );
        refused(&bench, |it| it.add_object("a.o", &elf), "9 sections");
        refused(&bench, |it| it.add_object("a.o", b"text"), "not an object");
        refused(
            &bench,
            |it| it.add_archive("a.a", b"!<arch>\nx"),
            "truncated",
        );
        refused(&bench, |it| it.add_archive("a.a", b"x"), "not an archive");
        refused(&bench, |it| it.add_file("/no such file"), "cannot be read");
    }
    refused(&bench, |it| it.add_ptx("a", ".version\0 7.0"), "NUL");
    refused(&bench, |it| it.add_ptx("a\0b", ".version 7.0"), "NUL");
    Ok(())
}

#[test]
fn fat_binaries_and_files_are_inputs() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    linker.add_ptx("function", &function())?;
    let image = linker.complete()?;
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    linker.add_ptx("kernel", &kernel())?;
    // SAFETY: the image is what the linker made.
    unsafe { linker.add_fatbin("linked", image.as_bytes()) }?;
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/kernels/vector_add.ptx"
    );
    // SAFETY: the file is PTX of this repository.
    unsafe { linker.add_file(path) }?;
    let module = bench.context().load_linked(&linker.complete()?)?;
    let mut names = module.function_names()?;
    names.sort();
    assert_eq!(names, ["scale_all", "vector_add"]);
    Ok(())
}

#[test]
fn options_are_the_linkers_and_of_each_input() -> Test {
    let bench = Bench::new();
    let options = JitOptions::new().verbose_log().optimization_level(3);
    let mut linker = bench.context().create_linker(&options)?;
    let own = JitOptions::new().max_registers(32);
    linker.add_ptx_with("add", VECTOR_ADD, &own)?;
    let image = linker.complete()?;
    assert!(!image.info_log().is_empty());
    let module = bench.context().load_linked(&image)?;
    let registers = module.function("vector_add")?.attributes()?.registers;
    assert!(registers <= 32, "{registers}");
    let wrong = JitOptions::new().optimization_level(9);
    let error = bench.context().create_linker(&wrong).expect_err("no level");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn a_linker_is_given_up_on_any_thread() -> Test {
    let bench = Bench::new();
    let mut linker = bench.context().create_linker(&JitOptions::new())?;
    linker.add_ptx("kernel", &kernel())?;
    assert!(!linker.as_raw().is_null());
    assert!(linker.context().is_same(bench.context()));
    std::thread::spawn(move || drop(linker))
        .join()
        .expect("no panic");
    Ok(())
}
