//! Faults name the line of the source that the PTX was compiled from.

mod support;

use support::{Arena, Params, launch, program};

/// What a compiler makes of `inline.cu` with line information: `put`, in lines 2 to 4, is inlined at line 9.
const INLINED: &str = r#".version 7.2
.target sm_52
.address_size 64
.visible .entry squares(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	.loc	1 7 5
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	.loc	1 9 9
	add.u64 %rd1, %rd1, %rd2;
	.loc	2 3 5, function_name $L__info_string0, inlined_at 1 9 9
	st.global.u32 [%rd1], %r1;
	.loc	1 11 1
	ret;
}
.visible .entry plain() { trap; }
	.file	1 "src/inline.cu"
	.file	2 "src/put.cuh"
	.section	.debug_str
	{
$L__info_string0:
.b8 112,117,116,0
	}
"#;

#[test]
fn a_fault_names_the_line_and_where_it_was_inlined() {
    let program = program(INLINED);
    let arena = Arena::new();
    let data = arena.u32s(&[0; 40]);
    let params = Params::default().u64(data);
    let fault = launch(&program, "squares", 1, 64, &params, &arena).unwrap_err();
    let source = fault.place.as_ref().unwrap().source.as_ref().unwrap();
    assert_eq!(
        (&*source.file, source.line, source.column),
        ("src/put.cuh", 3, 5)
    );
    let (function, file, line) = source.inlined.as_ref().unwrap();
    assert_eq!(
        (function.as_str(), &**file, *line),
        ("put", "src/inline.cu", 9)
    );
    let expected = "kernel `squares`, src/put.cuh:3:5 (`put`, inlined at src/inline.cu:9), \
                    PTX line 15 `st.global.u32 [%rd1], %r1`, block (0,0,0), thread (40,0,0): ";
    assert!(fault.to_string().starts_with(expected), "{fault}");
}

#[test]
fn without_line_information_there_is_none() {
    let program = program(INLINED);
    let fault = launch(&program, "plain", 1, 1, &Params::default(), &Arena::new()).unwrap_err();
    assert_eq!(fault.place.as_ref().unwrap().source, None);
    assert!(
        fault
            .to_string()
            .starts_with("kernel `plain`, PTX line 19 `trap`, block"),
        "{fault}"
    );
}
