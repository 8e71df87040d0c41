//! Which parameter an address derives from.

use cuda_ptx::AccessKind;

use super::{ALL, kernel, with, written};

#[track_caller]
fn assert_written(body: &str, memory: &[usize], certain: &[usize], may: &[usize]) {
    let found = written(&kernel(body), memory);
    assert_eq!(found, (certain.to_vec(), may.to_vec()), "{body}");
}

#[test]
fn addresses_with_offsets() {
    for address in [
        "mov.u64 %rd9, %a;",
        "cvta.to.global.u64 %rd9, %a;",
        "mul.wide.u32 %rd1, %n, 4; add.s64 %rd9, %a, %rd1;",
        "mul.wide.u32 %rd1, %n, 4; add.s64 %rd9, %rd1, %a;",
        "mad.wide.u32 %rd9, %n, 4, %a;",
        "cvt.u64.u32 %rd1, %n; mad.lo.s64 %rd9, %rd1, 12, %a;",
        "sub.s64 %rd9, %a, 16;",
        "and.b64 %rd9, %a, -16;",
        "or.b64 %rd9, %a, 8;",
        "add.s64 %rd1, %a, 8; selp.b64 %rd9, %a, %rd1, %p1;",
        // A null pointer beside it, and a loop over elements.
        "mov.u64 %rd9, 0; @%p1 bra L; mov.u64 %rd9, %a; L: add.s64 %rd9, %rd9, 4; @%p2 bra L;",
        // An index from memory.
        "ld.global.u32 %r1, [%b]; mul.wide.s32 %rd1, %r1, 4; add.s64 %rd9, %a, %rd1;",
        "ld.global.u64 %rd1, [%b]; shl.b64 %rd2, %rd1, 2; add.s64 %rd9, %a, %rd2;",
        // The distance of two pointers, as loops over several arrays have it.
        "sub.s64 %rd1, %a, %b; mad.wide.u32 %rd2, %n, 4, %b; add.s64 %rd9, %rd2, %rd1;",
    ] {
        assert_written(
            &format!("{address} st.global.f32 [%rd9+4], %f1;"),
            ALL,
            &[0],
            &[0],
        );
        assert_written(&format!("{address} st.f32 [%rd9+4], %f1;"), ALL, &[0], &[0]);
    }
}

#[test]
fn offsets_that_are_parameters() {
    // `c` is a number.
    assert_written(
        "add.s64 %rd1, %a, %c; st.global.u8 [%rd1], %r1;",
        &[0, 1],
        &[0],
        &[0, 2],
    );
    assert_written(
        "shl.b64 %rd1, %c, 2; add.s64 %rd2, %a, %rd1; st.global.u32 [%rd2], %r1;",
        &[0, 1],
        &[0],
        &[0, 2],
    );
    // Nobody knows.
    assert_written(
        "add.s64 %rd1, %a, %c; st.global.u8 [%rd1], %r1;",
        ALL,
        &[],
        &[0, 2],
    );
}

#[test]
fn either_of_two() {
    for address in [
        "selp.b64 %rd9, %a, %b, %p1;",
        "mov.u64 %rd9, %a; @%p1 mov.u64 %rd9, %b;",
        "max.u64 %rd9, %a, %b;",
        "xor.b64 %rd9, %a, %b;",
        "mov.b64 {%r1, %r2}, %a; mov.b64 {%r3, %r4}, %b; mov.b64 %rd9, {%r1, %r4};",
    ] {
        assert_written(
            &format!("{address} st.global.f32 [%rd9], %f1;"),
            ALL,
            &[],
            &[0, 1],
        );
    }
}

#[test]
fn reads_are_no_writes() {
    for access in [
        "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%a];",
        "ld.f32 %f1, [%a];",
        "cp.async.ca.shared.global [%r1], [%a], 16;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%a], 64, [%r2];",
        "prefetch.global.L2 [%a];",
        "st.shared.u64 [%r1], %rd1;",
    ] {
        assert_written(access, ALL, &[], &[]);
    }
}

#[test]
fn every_kind_of_write() {
    for access in [
        "st.global.v2.f32 [%a], {%f1, %f2};",
        "st.volatile.u32 [%a], %r1;",
        "@%p1 st.global.u8 [%a], %r1;",
        "atom.global.add.u32 %r1, [%a], 1;",
        "red.global.add.f32 [%a], %f1;",
        "discard.global.L2 [%a], 128;",
        "cp.async.bulk.global.shared::cta.bulk_group [%a], [%r1], 64;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a], [%r1], 64;",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%a], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r1;",
        "multimem.red.global.add.u32 [%a], %r1;",
    ] {
        assert_written(access, ALL, &[0], &[0]);
    }
}

#[test]
fn what_is_not_executed_does_not_count() {
    assert_written("bra L; st.global.f32 [%a], %f1; L:", ALL, &[], &[]);
    assert_written("ret; st.global.f32 [%a], %f1;", ALL, &[], &[]);
    assert_written("@%p1 ret; st.global.f32 [%a], %f1;", ALL, &[0], &[0]);
    // The same label in two blocks.
    let twice = "{ bra D; st.global.f32 [%a], %f1; D: } { bra D; st.global.f32 [%b], %f1; D: } st.global.f32 [%c], %f1;";
    assert_written(twice, ALL, &[2], &[2]);
    let table = "T: .branchtargets L1, L2; brx.idx %r1, T; st.global.f32 [%a], %f1; L1: st.global.f32 [%b], %f1; L2:";
    assert_written(table, ALL, &[1], &[1]);
}

#[test]
fn pointers_that_go_through_memory() {
    // `a` is put somewhere, and something from memory is written through.
    let body = "st.local.u64 [%rd5], %a; ld.global.u64 %rd1, [%b]; st.global.f32 [%rd1], %f1;";
    assert_written(body, ALL, &[], &[0]);
    let body = "ld.global.u64 %rd1, [%b]; st.global.f32 [%rd1], %f1;";
    assert_written(body, ALL, &[], &[]);
}

#[test]
fn variables_are_nobodys_memory() {
    let text = format!(
        ".visible .global .f32 table[9]; {}",
        kernel(".local .align 8 .b8 depot[16]; .shared .f32 s[4];
                mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; st.u64 [%rd2], %rd3;
                mov.u64 %rd4, table; add.s64 %rd5, %rd4, %a; st.global.f32 [%rd5], %f1; st.global.f32 [table+4], %f1;
                mov.u64 %rd6, s; cvta.shared.u64 %rd7, %rd6; st.f32 [%rd7], %f1;")
    );
    // An index is added to the table: `a` is no number if it is memory, but the table is the base.
    assert_eq!(written(&text, ALL).0, [0; 0]);
    with(&text, |found| {
        assert_eq!(found.list().len(), 2, "those of global memory: {found:?}");
    });
}

#[test]
fn members_of_structs_are_no_parameters() {
    let body = "ld.param.u64 %rd1, [s+8]; st.global.f32 [%rd1], %f1; ld.param.v2.u64 {%rd2, %rd3}, [s]; st.global.f32 [%rd3], %f1;
                mov.b64 %rd4, s; ld.param.u64 %rd5, [%rd4+8]; st.global.f32 [%rd5], %f1;";
    assert_written(body, ALL, &[], &[]);
    with(&kernel(body), |found| {
        assert!(found.may_write(3));
        assert_eq!(
            found.write_through(3, |_| true),
            None,
            "a struct is no pointer"
        );
        // The third by way of the parameter's address.
        assert!(found.list().iter().all(|it| found.may_be_of(it, 3)));
    });
}

const HELPERS: &str = ".func (.param .b64 r) second(.param .b64 p, .param .b64 q) {
        .reg .b64 %rd<4>; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; add.s64 %rd3, %rd2, 4; st.param.b64 [r], %rd3; ret; }
    .func put(.param .b64 p, .param .b64 i) {
        .reg .b64 %rd<9>; .reg .f32 %f<2>; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [i]; shl.b64 %rd3, %rd2, 2;
        add.s64 %rd4, %rd1, %rd3; st.f32 [%rd4], %f1; ret; }
    .func forward(.param .b64 p) {
        .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];
        { .param .b64 param0; .param .b64 param1; st.param.b64 [param0], %rd1; st.param.b64 [param1], 4; call.uni put, (param0, param1); } ret; }
    .func around(.param .b64 p) {
        .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];
        { .param .b64 param0; st.param.b64 [param0], %rd1; call.uni around, (param0); } ret; }
    .extern .func elsewhere(.param .b64 p);
    .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);";

fn call(function: &str, arguments: &str) -> String {
    let mut text = String::from("{ .param .b64 retval0;");
    let mut names = Vec::new();
    for (index, argument) in arguments.split(' ').enumerate() {
        text += &format!(".param .b64 param{index}; st.param.b64 [param{index}+0], {argument};");
        names.push(format!("param{index}"));
    }
    format!(
        "{text} call.uni {function}, ({}); ld.param.b64 %rd9, [retval0+0]; }}",
        names.join(", ")
    )
}

#[test]
fn through_calls() {
    let called = |body: &str| written(&format!("{HELPERS} {}", kernel(body)), ALL);
    let by_return = |first, second| {
        format!(
            "{} st.global.f32 [%rd9], %f1;",
            call("(retval0), second", &format!("{first} {second}"))
        )
    };
    assert_eq!(called(&by_return("%a", "%b")), (vec![1], vec![1]));
    assert_eq!(called(&by_return("%b", "%a")), (vec![0], vec![0]));
    assert_eq!(called(&call("put", "%a %rd5")), (vec![0], vec![0]));
    assert_eq!(called(&call("forward", "%c")), (vec![2], vec![2]));
    // Each call by itself.
    let both = format!("{} {}", call("put", "%a %rd5"), call("forward", "%c"));
    assert_eq!(called(&both), (vec![0, 2], vec![0, 2]));
    // Nobody knows what happens there.
    assert_eq!(called(&call("elsewhere", "%a")), (vec![], vec![0]));
    assert_eq!(called(&call("around", "%a")), (vec![], vec![0]));
    assert_eq!(called("call %rd5, (%a), P;"), (vec![], vec![0]));
    assert_eq!(
        called(&call("(retval0), vprintf", "%a %rd5")),
        (vec![], vec![])
    );
}

#[test]
fn accesses_say_where_they_are() {
    let body = "\n.loc 1 7 5\nst.global.v2.f32 [%a+8], {%f1, %f2};\n.loc 2 9 1\n";
    with(&kernel(body), |found| {
        let [access] = found.list() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (access.kind, access.lanes, access.function),
            (AccessKind::Write, 2, "k")
        );
        assert_eq!((access.position.line, access.position.column), (9, 1));
        assert_eq!(access.line.map(|it| (it.file, it.line)), Some((1, 7)));
        assert_eq!(found.parameter_of(access, |_| true), Some(0));
        let none = access.place(&cuda_ptx::SourceMap::default());
        assert_eq!(none, "PTX line 9");
        assert!(!found.is_pointer(1) && found.is_pointer(0));
    });
}

#[test]
fn nothing_or_a_distance_between_two_addresses() {
    // b + (p ? a - b : 0) is either of the two.
    for distance in [
        "sub.s64 %rd1, %a, %b; selp.b64 %rd2, %rd1, 0, %p1;",
        "sub.s64 %rd1, %a, %b; selp.b64 %rd2, 0, %rd1, %p1;",
        "mov.u64 %rd2, 0; @%p1 bra L; sub.s64 %rd2, %a, %b; L:",
    ] {
        let body = format!("{distance} add.s64 %rd3, %b, %rd2; st.global.f32 [%rd3], %f1;");
        assert_written(&body, ALL, &[], &[0, 1]);
    }
}

#[test]
fn addresses_that_are_equal_stand_for_one_another() {
    // `if (b == a) a[0] = 1;`, of which compilers make a write through `b`.
    for compare in ["setp.eq.s64", "setp.ne.s64", "setp.eq.u64", "setp.ne.b64"] {
        let body = format!("{compare} %p1, %a, %b; @%p1 bra L; st.global.f32 [%b], %f1; L:");
        assert_written(&body, ALL, &[], &[0, 1]);
        assert_written(&body, &[1, 2], &[1], &[0, 1]);
    }
    assert_written(
        "setp.lt.u64 %p1, %a, %b; setp.eq.s64 %p2, %b, 0; setp.eq.f64 %p3, %a, %b; setp.eq.u32 %p4, %a, %b;
         add.s64 %rd1, %b, 8; setp.ne.s64 %p5, %rd1, %b; st.global.f32 [%b], %f1;",
        ALL,
        &[1],
        &[1],
    );
    let function = ".func f(.reg .b64 x, .reg .b64 y) { setp.eq.s64 %p, x, y; @%p st.f32 [x], 0f00000000; ret; }";
    let text = format!("{function} {}", kernel("call f, (%a, %b);"));
    assert_eq!(written(&text, ALL), (vec![], vec![0, 1]));
}

#[test]
fn addresses_from_matrices_in_shared_memory() {
    assert_written(
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3]; mov.b64 %rd1, {%r1, %r2};
         add.s64 %rd2, %a, %rd1; st.global.u8 [%rd2], %r1;",
        ALL,
        &[],
        &[0],
    );
}

/// A function that accesses memory in many ways, and a kernel that calls it.
fn of_calls(calls: &str) -> String {
    let mut body = String::new();
    for ty in ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"] {
        body += &format!("ld.{ty} %r1, [%rd1]; st.{ty} [%rd1], %r1;");
    }
    let function =
        format!(".func f(.reg .b64 %rd1) {{ .reg .b32 %r1; griddepcontrol.wait; {body} ret; }}");
    function + &kernel(calls)
}

#[test]
fn accesses_of_a_function_are_told_once() {
    let count = |calls: &str| with(&of_calls(calls), |found| found.list().len());
    assert_eq!(count("call f, (%a);"), 16);
    assert_eq!(count(&"call f, (%a);".repeat(500)), 16);
    assert_eq!(count(&"call f, (%a); call f, (%b);".repeat(500)), 32);
}

#[test]
fn many_accesses_of_functions_count_as_one() {
    // Each call is given another sum of twelve numbers beside the pointer.
    let mut calls = String::new();
    for number in 0..1 << 9 {
        calls += "mov.u64 %s, 0;"
            .replace("%s", &format!("%s{number}"))
            .as_str();
        for bit in (0..9).filter(|bit| number >> bit & 1 == 1) {
            calls += &format!("add.s64 %s{number}, %s{number}, %q{bit};");
        }
        calls += &format!("add.s64 %t{number}, %a, %s{number}; call f, (%t{number});");
    }
    let given: String = (0..9)
        .map(|bit| format!("ld.param.u64 %q{bit}, [q+{}];", 8 * bit))
        .collect();
    let text = of_calls(&(given + &calls)).replace(".align 8 .b8 s[16]", ".align 8 .b8 q[72]");
    with(&text, |found| {
        assert_eq!(found.list().len(), 4097);
        assert!((0..5).all(|it| found.may_write(it)));
        // It is known of all that they come after the wait, and that nothing is read too early.
        assert!(found.before_wait().is_none() && found.noncoherent().is_none());
    });
}
