//! Lines of the source that a module was compiled from: `.file`, `.loc` and sections of strings.

use cuda_ptx::{Module, SourceMap, Statement};

#[test]
fn lines_of_the_source() {
    let text = ".version 7.2\n.target sm_52\n.address_size 64
.entry k()
{
	.loc	1 6 0
	ret;
	.loc	2 3 5, function_name $L__info_string0+4, inlined_at 1 9 9 // comment
	ret;
	.loc 1 x
	ret;
}
	.file	1 \"/a/k \\ l.cu\"
	.file	2 \"h.cuh\", 123, 456
	.section	.debug_str
	{
$L__info_string0:
.b8 1,2,3,4,95,90
.b8 112, 0, 113
	}
";
    let module = Module::parse(text).unwrap();
    let map = SourceMap::new(&module);
    let body = module.entry("k").unwrap().body.as_ref().unwrap();
    let lines: Vec<_> = body
        .iter()
        .filter_map(|statement| match statement {
            Statement::Directive(directive) => Some(directive.source_line()),
            _ => None,
        })
        .collect();
    let first = lines[0].unwrap();
    assert_eq!(
        (first.file, first.line, first.column, first.inlined),
        (1, 6, 0, None)
    );
    let second = lines[1].unwrap();
    assert_eq!((second.file, second.line, second.column), (2, 3, 5));
    let inlined = second.inlined.unwrap();
    assert_eq!((inlined.file, inlined.line, inlined.column), (1, 9, 9));
    assert_eq!(map.function(&inlined), Some("_Zp"));
    assert_eq!(lines[2], None);
    assert_eq!(
        (map.file(1), map.file(2), map.file(3)),
        (Some("/a/k \\ l.cu"), Some("h.cuh"), None)
    );
}
