//! `printf` of kernels.

mod support;

use cuda_sim_machine::FaultKind;
use support::services::{Recorder, run_kernel, text};

/// Calls `vprintf` with the format at `%d5` and the list of arguments at `%d6`.
const PRINT: &str = "
    { .param .b64 f; .param .b64 l; .param .b32 back; st.param.b64 [f], %d5; st.param.b64 [l], %d6;
      call (back), vprintf, (f, l); ld.param.b32 %r0, [back]; }";

/// An argument of `printf`.
#[derive(Debug)]
enum Argument {
    W(i32),
    L(i64),
    F(f64),
    S(&'static str),
}
use Argument::{F, L, S, W};

/// What one thread prints.
fn printed(format: &str, arguments: &[Argument]) -> String {
    let mut declared = text("format", format);
    let mut body = String::from(
        ".local .align 8 .b8 list[256]; mov.u64 %d5, format; mov.u64 %d6, list; cvta.local.u64 %d6, %d6;\n",
    );
    let mut at = 0usize;
    for (number, argument) in arguments.iter().enumerate() {
        let size = if matches!(argument, W(_)) { 4 } else { 8 };
        at = at.next_multiple_of(size);
        match argument {
            W(value) => body += &format!("st.local.b32 [list+{at}], {value};\n"),
            L(value) => body += &format!("st.local.b64 [list+{at}], {:#x};\n", *value as u64),
            F(value) => body += &format!("st.local.b64 [list+{at}], {:#x};\n", value.to_bits()),
            S(value) => {
                declared += &text(&format!("s{number}"), value);
                body += &format!("mov.u64 %d7, s{number}; st.local.b64 [list+{at}], %d7;\n");
            }
        }
        at += size;
    }
    let recorder = Recorder::default();
    let taken = run_kernel(&declared, &format!("{body}{PRINT}"), 1, &recorder).unwrap();
    assert_eq!(taken, [arguments.len() as u32], "{format}");
    recorder.printed.into_inner().unwrap()
}

/// What glibc's `printf` prints.
#[test]
fn formats_are_those_of_c() {
    let cases: &[(&str, &[Argument], &str)] = &[
        (
            "%d %i|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%-8.3d|%.0d",
            &[
                W(-7),
                W(42),
                W(42),
                W(42),
                W(-42),
                W(42),
                W(42),
                W(7),
                W(7),
                W(7),
                W(0),
            ],
            "-7 42|   42|42   |-0042|+42| 42|007|     007|007     |",
        ),
        (
            "%u %x %X %o %#x %#X %#o %#x %#o %#.0o %#.3o %#08x %.5x",
            &[
                W(-1),
                W(255),
                W(255),
                W(8),
                W(255),
                W(255),
                W(8),
                W(0),
                W(0),
                W(0),
                W(8),
                W(255),
                W(255),
            ],
            "4294967295 ff FF 10 0xff 0XFF 010 0 0 0 010 0x0000ff 000ff",
        ),
        (
            "%hhd %hd %hhu %hu %ld %lld %llu %lx %zu %hhx",
            &[
                W(300),
                W(70000),
                W(300),
                W(70000),
                L(-5),
                L(i64::MIN),
                L(-1),
                L(1099511627776),
                L(123456789012),
                W(-1),
            ],
            "44 4464 44 4464 -5 -9223372036854775808 18446744073709551615 10000000000 123456789012 ff",
        ),
        (
            "%c%c|%3c|%-3c|%%|%5%|",
            &[W(72), W(105), W(33), W(33)],
            "Hi|  !|!  |%|%|",
        ),
        (
            "%s|%10s|%-10s|%.2s|%10.2s",
            &[S("text"), S("text"), S("text"), S("text"), S("text")],
            "text|      text|text      |te|        te",
        ),
        (
            "%f %.2f %10.3f %-10.3f| %+f %010.2f %#.0f %.0f %.0f",
            &[
                F(1.5),
                F(2.345),
                F(3.24159),
                F(3.24159),
                F(1.0),
                F(-3.24159),
                F(3.0),
                F(2.5),
                F(3.5),
            ],
            "1.500000 2.35      3.242 3.242     | +1.000000 -000003.24 3. 2 4",
        ),
        (
            "%e %.2e %E %.0e %#.0e %12.3e",
            &[
                F(12345.678),
                F(0.00012),
                F(1e+300),
                F(5.0),
                F(5.0),
                F(-1e-09),
            ],
            "1.234568e+04 1.20e-04 1.000000E+300 5e+00 5.e+00   -1.000e-09",
        ),
        (
            "%g %g %g %g %g %.3g %#g %G %g",
            &[
                F(0.0001),
                F(1e-05),
                F(100000.0),
                F(1000000.0),
                F(123456789.0),
                F(123456.0),
                F(1.0),
                F(1e-10),
                F(0.1),
            ],
            "0.0001 1e-05 100000 1e+06 1.23457e+08 1.23e+05 1.00000 1E-10 0.1",
        ),
        (
            "%a %a %a %.2a %A %a %.0a",
            &[
                F(1.5),
                F(0.0),
                F(-2.0),
                F(1.999),
                F(255.5),
                F(5e-324),
                F(1.5),
            ],
            "0x1.8p+0 0x0p+0 -0x1p+1 0x2.00p+0 0X1.FFP+7 0x0.0000000000001p-1022 0x2p+0",
        ),
        (
            "%f %f %f %08f %-8f| %F %e %g",
            &[
                F(f64::INFINITY),
                F(f64::NEG_INFINITY),
                F(f64::NAN),
                F(f64::INFINITY),
                F(f64::INFINITY),
                F(f64::NAN),
                F(f64::INFINITY),
                F(f64::NAN),
            ],
            "inf -inf nan      inf inf     | NAN inf nan",
        ),
        (
            "%*d|%-*d|%.*f|%*.*f",
            &[
                W(6),
                W(42),
                W(6),
                W(42),
                W(3),
                F(3.24159),
                W(10),
                W(2),
                F(2.61828),
            ],
            "    42|42    |3.242|      2.62",
        ),
        ("%*d|%.*d", &[W(-6), W(42), W(-1), W(42)], "42    |42"),
        (
            "%p %p %20p|",
            &[L(8327732), L(0), L(2748)],
            "0x7f1234 (nil)                0xabc|",
        ),
        (
            "%.20f %.17g",
            &[F(0.1), F(0.1)],
            "0.10000000000000000555 0.10000000000000001",
        ),
        ("plain", &[], "plain"),
    ];
    for (format, arguments, expected) in cases {
        assert_eq!(printed(format, arguments), *expected, "{format}");
    }
}

#[test]
fn what_is_no_conversion_is_printed_as_it_is() {
    assert_eq!(printed("100%; sure %y %", &[]), "100%; sure %y %");
    assert_eq!(printed("%s", &[L(0)]), "(null)");
}

#[test]
fn threads_print_in_order_and_learn_how_many_arguments_there_were() {
    let declared = text("format", "thread %d of %d\n");
    let body = format!(
        ".local .align 8 .b8 list[8]; st.local.v2.b32 [list], {{%t, %n}}; mov.u64 %d5, format; mov.u64 %d6, list; cvta.local.u64 %d6, %d6; {PRINT}"
    );
    let recorder = Recorder::default();
    assert_eq!(
        run_kernel(&declared, &body, 40, &recorder).unwrap(),
        [2; 40]
    );
    let expected: String = (0..40).map(|t| format!("thread {t} of 40\n")).collect();
    assert_eq!(*recorder.printed.lock().unwrap(), expected);
    let nothing = format!("mov.u64 %d5, 0; mov.u64 %d6, 0; {PRINT}");
    assert_eq!(run_kernel("", &nothing, 1, &recorder).unwrap(), [u32::MAX]);
}

#[test]
fn a_bad_address_of_a_format_is_a_fault_of_the_call() {
    let body = format!("mov.u64 %d5, 16; mov.u64 %d6, 0; {PRINT}");
    let fault = run_kernel("", &body, 1, &Recorder::default()).unwrap_err();
    assert!(
        matches!(&fault.kind, FaultKind::Memory(it) if it.address == 16),
        "{fault}"
    );
    let place = fault.place.unwrap();
    assert_eq!(place.instruction, "call (back), vprintf, (f, l)");
}
