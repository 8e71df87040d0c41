//! What is reached before a wait.

use super::{kernel, with};

/// The line, counted from the body's first, of the first access before a wait.
fn before_wait(text: &str) -> Option<u32> {
    with(text, |found| found.before_wait().map(|it| it.position.line))
}

#[track_caller]
fn assert_waits(body: &str) {
    assert_eq!(before_wait(&kernel(body)), None, "{body}");
}

#[track_caller]
fn assert_early(body: &str) {
    assert!(before_wait(&kernel(body)).is_some(), "{body}");
}

const STORE: &str = "st.global.f32 [%a], %f1;";

#[test]
fn the_wait_comes_first_on_every_path() {
    assert_waits(&format!("griddepcontrol.wait; {STORE}"));
    assert_waits(&format!(
        "setp.ge.u32 %p1, %r1, %n; @%p1 bra E; griddepcontrol.wait; {STORE} E:"
    ));
    assert_waits(&format!(
        "@%p1 bra L; griddepcontrol.wait; bra M; L: griddepcontrol.wait; M: {STORE}"
    ));
    assert_waits(&format!(
        "L: @%p1 bra L; griddepcontrol.wait; {STORE} @%p2 bra L;"
    ));
    assert_waits(
        "ld.shared.f32 %f1, [%r1]; ld.const.f32 %f1, [%r1]; prefetch.global.L2 [%a]; griddepcontrol.launch_dependents;",
    );
    assert_waits(&format!(
        "T: .branchtargets A; griddepcontrol.wait; brx.idx %r1, T; A: {STORE}"
    ));
}

#[test]
fn accesses_that_come_too_early() {
    assert_early(STORE);
    assert_early(&format!("{STORE} griddepcontrol.wait;"));
    assert_early(&format!("@%p1 griddepcontrol.wait; {STORE}"));
    assert_early(&format!("@%p1 bra L; griddepcontrol.wait; L: {STORE}"));
    assert_early(&format!("L: {STORE} griddepcontrol.wait; bra L;"));
    assert_early(&format!("griddepcontrol.launch_dependents; {STORE}"));
    for access in [
        "ld.global.nc.f32 %f1, [%a];",
        "ld.f32 %f1, [%a];",
        "atom.global.add.u32 %r1, [%a], 1;",
        "red.global.add.u32 [%a], 1;",
        "cp.async.ca.shared.global [%r1], [%a], 16;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%a, {%r2}], [%r3];",
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%a, {%f5}];",
        "call %rd1, (), P;",
        "unheard.of.u32 [%a];",
    ] {
        assert_early(&format!("{access} griddepcontrol.wait;"));
    }
}

#[test]
fn the_first_access_is_named() {
    let body = "\nst.global.f32 [%a], %f1;\nst.global.f32 [%b], %f1;\ngriddepcontrol.wait;";
    assert_eq!(before_wait(&kernel(body)), Some(8));
}

#[test]
fn functions_that_wait_or_do_not() {
    let helpers = ".func wait() { griddepcontrol.wait; ret; }
        .func perhaps(.param .b32 p) { .reg .pred %q; @%q ret; griddepcontrol.wait; ret; }
        .func both(.param .b64 p) { .reg .b64 %rd; ld.param.u64 %rd, [p]; griddepcontrol.wait; st.global.f32 [%rd], 0f00000000; ret; }
        .func store(.param .b64 p) { .reg .b64 %rd; ld.param.u64 %rd, [p]; st.f32 [%rd], 0f00000000; ret; }";
    let early = |body: &str| before_wait(&format!("{helpers} {}", kernel(body))).is_some();
    let put = "{ .param .b64 q; st.param.b64 [q], %a; call.uni store, (q); }";
    assert!(!early(&format!("call.uni wait; {put}")));
    assert!(early(&format!("{put} call.uni wait;")));
    assert!(early(&format!("@%p1 call.uni wait; {put}")));
    assert!(early(&format!("call.uni perhaps, (0); {put}")));
    assert!(!early(
        "{ .param .b64 q; st.param.b64 [q], %a; call.uni both, (q); }"
    ));
    // Memory of the thread's own, whose address a function is given.
    let own = ".local .b8 depot[8]; mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1;
               { .param .b64 q; st.param.b64 [q], %rd2; call.uni store, (q); } st.u64 [%rd2], %rd1;";
    assert!(!early(own));
}

#[test]
fn functions_with_many_accesses_after_the_wait() {
    let mut accesses = String::new();
    for ty in ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"] {
        for of in [
            "ld.",
            "ld.v2.",
            "ld.v4.",
            "ld.global.",
            "ld.global.v2.",
            "ld.global.v4.",
        ] {
            accesses += &format!(
                "{of}{ty} {{%r1, %r2}}, [%rd]; st{} [%rd], {{%r1, %r2}};",
                &format!("{of}{ty}")[2..]
            );
        }
    }
    let function = format!(".func f(.reg .b64 %rd) {{ {accesses} ret; }}");
    let text = format!(
        "{function} {}",
        kernel("griddepcontrol.wait; call f, (%a);")
    );
    let found = with(&text, |found| {
        (
            found.list().len(),
            found.before_wait().is_some(),
            found.noncoherent().is_some(),
        )
    });
    assert_eq!(found, (65, false, false));
    let early = text.replace("ld.global.v4.s64", "ld.global.nc.v4.s64");
    assert!(with(&early, |found| found.noncoherent().is_some()));
}
