//! `assert`, `malloc` and `free` of kernels.

mod support;

use cuda_sim_machine::FaultKind;
use support::services::{Recorder, run_kernel, text};
use support::{each, program, thread_kernel};

#[test]
fn a_failed_assertion_says_where_and_ends_the_kernel() {
    let declared = [
        text("what", "x > 0"),
        text("file", "a.cu"),
        text("who", "void k(int)"),
    ]
    .concat();
    let body = "
        setp.ne.u32 %p1, %t, 35; setp.ne.and.u32 %p1, %t, 38, %p1; mov.u32 %r0, %t; @%p1 bra FINISH;
        { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 w; .param .b64 s;
          mov.u64 %d5, what; st.param.b64 [m], %d5; mov.u64 %d5, file; st.param.b64 [f], %d5; st.param.b32 [l], 17;
          mov.u64 %d5, who; st.param.b64 [w], %d5; st.param.b64 [s], 1;
          call.uni __assertfail, (m, f, l, w, s); }";
    let recorder = Recorder::default();
    let fault = run_kernel(&declared, body, 64, &recorder).unwrap_err();
    let expected = FaultKind::Assert {
        message: "x > 0".into(),
        file: "a.cu".into(),
        line: 17,
    };
    assert_eq!(fault.kind, expected);
    assert_eq!(fault.place.as_ref().unwrap().thread, [35, 0, 0]);
    assert!(
        fault
            .to_string()
            .ends_with("assertion `x > 0` failed (a.cu:17)"),
        "{fault}"
    );
    let line = |t| {
        format!(
            "a.cu:17: void k(int): block: [0,0,0], thread: [{t},0,0] Assertion `x > 0` failed.\n"
        )
    };
    assert_eq!(
        *recorder.said.lock().unwrap(),
        [line(35), line(38)].concat()
    );
}

#[test]
fn memory_is_taken_and_given_back() {
    // Every thread takes a piece, writes it and reads it back; those that get none say so.
    let body = "
        { .param .b64 size; .param .b64 back; st.param.b64 [size], 16; call (back), malloc, (size); ld.param.b64 %d5, [back]; }
        mov.u32 %r0, 777; setp.eq.u64 %p1, %d5, 0; @%p1 bra GIVE;
        st.u32 [%d5+12], %t; ld.u32 %r0, [%d5+12];
        GIVE: { .param .b64 address; st.param.b64 [address], %d5; call free, (address); }";
    let recorder = Recorder::default();
    let expected = each(64, |t| if t < 40 { t } else { 777 });
    assert_eq!(run_kernel("", body, 64, &recorder).unwrap(), expected);
    assert_eq!(recorder.freed.lock().unwrap().len(), 40);
    let bad = "{ .param .b64 address; st.param.b64 [address], 5; call free, (address); }";
    let fault = run_kernel("", bad, 1, &recorder).unwrap_err();
    assert!(
        fault
            .to_string()
            .ends_with("free of address 0x5: it is odd"),
        "{fault}"
    );
}

#[test]
fn other_parameters_than_the_runtime_has_are_refused() {
    let text = thread_kernel(
        ".extern .func (.param .b64 back) malloc (.param .b32 size);",
        "{ .param .b32 size; .param .b64 back; st.param.b32 [size], 16; call (back), malloc, (size); }",
    );
    let program = program(&text);
    let why = program
        .kernel("k")
        .unwrap()
        .unsupported()
        .unwrap()
        .to_string();
    assert!(
        why.contains("`malloc` is declared with other parameters"),
        "{why}"
    );
}

#[test]
fn a_function_of_that_name_in_the_module_is_called_itself() {
    let own =
        ".func (.param .b64 back) malloc (.param .b64 size) { st.param.b64 [back], 99; ret; }";
    let body = "{ .param .b64 size; .param .b64 back; st.param.b64 [size], 16; call (back), malloc, (size); ld.param.b64 %d5, [back]; }
        cvt.u32.u64 %r0, %d5;";
    let results = support::thread_results(own, body, 1, 2);
    assert_eq!(results, [99, 99]);
}
