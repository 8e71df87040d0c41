//! The scanner on small crates.

use std::path::Path;

use super::{Found, scan};

/// Scans a crate of the given files.
fn scan_files(files: &[(&str, &str)]) -> Result<Vec<Found>, Vec<String>> {
    scan(Path::new("src/lib.rs"), &|path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        let text = found.map(|(_, text)| (*text).to_owned());
        text.ok_or_else(|| format!("no file {}", path.display()))
    })
}

fn scan_one(text: &str) -> Vec<Found> {
    scan_files(&[("src/lib.rs", text)]).unwrap()
}

/// Path, visibility, aliases and calls, as one line each.
fn lines(found: &[Found]) -> Vec<String> {
    let line = |it: &Found| {
        let public = if it.public { "pub " } else { "" };
        format!("{public}{} {:?} {:?}", it.path, it.aliases, it.calls)
    };
    found.iter().map(line).collect()
}

#[test]
fn methods_carry_their_type_aliases_and_exact_symbols() {
    let found = scan_one(
        r#"impl<T> a::Stream<T> {
            #[doc(alias = "cuMemAlloc")]
            #[doc(alias = "malloc")]
            /// cuInit is only mentioned here.
            pub fn allocate(&self) { unsafe { call!(self.driver(), cuMemAlloc_v2(&raw mut x, 1)) } }
            pub(crate) unsafe fn free(&self) { if a { unsafe { call!(driver, cuMemFree_v2(x)) }? } }
        }"#,
    );
    assert_eq!(
        lines(&found),
        [
            r#"pub Stream::allocate ["cuMemAlloc"] ["cuMemAlloc_v2"]"#,
            r#"unsafe Stream::free [] ["cuMemFree_v2"]"#,
        ]
    );
}

#[test]
fn asking_whether_a_function_exists_is_no_call() {
    let found = scan_one(
        "fn asks() { driver.library().cuFuncLoad().is_err() || library.cuInit().is_ok() }
         fn types() { struct A { exchange: signatures::cuInit } }
         fn fetches() { let Ok(init) = driver.library().cuInit() else { return }; init(0) }",
    );
    assert_eq!(lines(&found), [r#"fetches [] ["cuInit"]"#]);
}

#[test]
fn traits_are_as_public_as_they_say() {
    let found = scan_one(
        r#"pub trait Any { #[doc(alias = "cuStreamQuery")] fn is_idle(&self) { idle() } }
           trait Own { fn query(&self) { call!(d, cuStreamQuery(s)) } }
           impl Drop for Guard<'_> {
               #[doc(alias = "cuCtxPopCurrent")] fn drop(&mut self) { call!(d, cuCtxPopCurrent_v2(p)); }
           }
           impl Own for Thing { fn query(&self) { call!(d, cuInit(0)) } }"#,
    );
    assert_eq!(
        lines(&found),
        [
            r#"pub Any::is_idle ["cuStreamQuery"] []"#,
            r#"Own::query [] ["cuStreamQuery"]"#,
            r#"pub Guard::drop ["cuCtxPopCurrent"] ["cuCtxPopCurrent_v2"]"#,
            r#"Thing::query [] ["cuInit"]"#,
        ]
    );
}

#[test]
fn macros_that_write_methods_are_looked_into() {
    let found = scan_one(
        r#"macro_rules! copies {
            ($($stream:ty),*) => {$(
                impl $stream {
                    #[doc(alias = "cuMemcpyAsync")]
                    pub fn copy(&self) { call!(self.driver(), cuMemcpyAsync(a, b)) }
                }
            )*};
        }
        copies!(Stream, BorrowedStream);
        macro_rules! harmless { ($a:tt) => { this $a is not rust }; }"#,
    );
    assert_eq!(
        lines(&found),
        [r#"pub Stream::copy ["cuMemcpyAsync"] ["cuMemcpyAsync"]"#]
    );
}

#[test]
fn macros_that_are_not_understood_are_reported() {
    let text = "macro_rules! odd { ($a:ident) => { call!($a, cuInit(0)) + }; }";
    let problems = scan_files(&[("src/lib.rs", text)]).unwrap_err();
    assert!(
        problems[0].starts_with("src/lib.rs: the macro `odd!`"),
        "{problems:?}"
    );
}

#[test]
fn exported_macros_and_types_can_carry_aliases() {
    let found = scan_one(
        r#"#[doc(alias = "cuLaunchKernel")] #[macro_export] macro_rules! launch { () => {}; }
           #[doc(alias("cuInit", "cuLaunch"))] pub struct Driver;
           pub static TABLE: fn() = || call!(d, cuInit(0));"#,
    );
    assert_eq!(
        lines(&found),
        [
            r#"pub launch! ["cuLaunchKernel"] []"#,
            r#"pub Driver ["cuInit", "cuLaunch"] []"#,
            r#"pub TABLE [] ["cuInit"]"#,
        ]
    );
}

#[test]
fn modules_are_followed_and_tests_left_out() {
    let call = "fn f() { call!(d, cuInit(0)) }";
    let found = scan_files(&[
        ("src/lib.rs", "mod stream; #[cfg(test)] mod absent;"),
        (
            "src/stream.rs",
            "mod core; #[cfg(not(test))] mod inline { fn g() { call!(d, cuA()) } }",
        ),
        ("src/stream/core.rs", call),
    ])
    .unwrap();
    assert_eq!(lines(&found), [r#"f [] ["cuInit"]"#, r#"g [] ["cuA"]"#]);
    assert_eq!(found[0].file, "src/stream/core.rs");
    let missing = scan_files(&[("src/lib.rs", "mod absent;")]).unwrap_err();
    assert_eq!(missing, ["no file src/absent.rs"]);
}
