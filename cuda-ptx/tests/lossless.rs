//! Nothing of the text is lost: the parts that the tree hands out, and blanks, comments and separators between them, are the text.
//!
//! With `PTX_FILES=folder` every file of that folder that ends in `.ptx` is looked at besides.

use std::ops::Range;

use cuda_ptx::{Function, Module, Statement};

const ARITHMETIC: &str = include_str!("../../tests/kernels/arithmetic.ptx");
const PARAMS: &str = include_str!("../../tests/kernels/params.ptx");
const SAMPLE: &str = r#"// head
.version 8.0 .target sm_90, debug
.address_size 64 /* between */
.extern .shared .align 16 .b8 dynamic[];
.global .b32 a = 1, b[2] = {2, 3};
.func (.param .b32 r) f (.param .b32 x) .noreturn ;
.visible .entry k(.param .u64 .ptr .global p) .maxntid 32 .pragma "nounroll";
{
	.reg .b32 %r<4>, %q; .reg .pred %p;
$L: P: .callprototype (.param .b32 _) _ (.param .b32 _) ;
	{ @!%p call (%r1), f, (%r2) /* , */ ; } ;
	T: .branchtargets $L, T;
	.loc 1 2 3
	ld.global.v2.u32 { %r1 , %r2 } , [ %q + 4 ] ; // "
	ret;
}
.file 1 "a, b.cu"
.section .debug_str { L: .b8 1, 2 }
.alias g, f;
"#;

/// The gap between two parts may have blanks, comments, and these marks.
fn is_trivia(gap: &str, marks: &[char]) -> bool {
    let mut rest = gap;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || marks.contains(&c));
        let comment = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            return rest.is_empty();
        };
        rest = &rest[comment..];
    }
}

/// Puts the text together again from its parts, and requires that what lies between them means nothing.
fn covers(source: &str, whole: Range<usize>, mut parts: Vec<Range<usize>>, marks: &[char]) {
    parts.sort_by_key(|part| part.start);
    // The names of one declaration share its text.
    parts.dedup();
    let (mut at, mut rebuilt) = (whole.start, String::new());
    for part in parts {
        assert!(
            part.start >= at && part.end <= whole.end,
            "{part:?} overlaps"
        );
        let gap = &source[at..part.start];
        assert!(is_trivia(gap, marks), "lost: {gap:?}");
        rebuilt += gap;
        rebuilt += &source[part.clone()];
        at = part.end;
    }
    let gap = &source[at..whole.end];
    assert!(is_trivia(gap, marks), "lost: {gap:?}");
    rebuilt += gap;
    assert_eq!(rebuilt, source[whole]);
}

/// Bytes of a part; `span_of` counts lines from the start of the text, which is too slow for every part of a long one.
fn bytes(source: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - source.as_ptr().addr();
    start..start + part.len()
}

fn body(source: &str, function: &Function<'_>) {
    let Some(statements) = &function.body else {
        return;
    };
    let whole = bytes(source, function.text);
    let mut parts = Vec::new();
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => {
                let text = bytes(source, instruction.text);
                let mut pieces = vec![bytes(source, instruction.mnemonic)];
                pieces.extend(instruction.guard.map(|guard| bytes(source, guard.register)));
                let operands: Vec<&str> = instruction.operand_texts().collect();
                assert_eq!(
                    operands.len(),
                    instruction.operands.len(),
                    "{}",
                    instruction.text
                );
                pieces.extend(operands.iter().map(|operand| bytes(source, operand)));
                covers(source, text.clone(), pieces, &['@', '!', ',']);
                parts.push(text);
            }
            Statement::Label(name, _) => parts.push(bytes(source, name)),
            Statement::Variable(variable) => parts.push(bytes(source, variable.text)),
            Statement::Prototype(prototype) => parts.push(bytes(source, prototype.text)),
            Statement::Directive(directive) => parts.push(bytes(source, directive.text)),
            Statement::BlockStart(_) | Statement::BlockEnd(_) => {}
        }
    }
    // The body starts behind the signature: at the first brace that no parameter and no string has before it.
    let directives = function.directives.iter().map(|directive| directive.text);
    let last = directives
        .chain([function.name])
        .map(|part| bytes(source, part).end)
        .max();
    let open = source[last.unwrap_or(whole.start)..].find('{').unwrap() + last.unwrap_or(0);
    covers(source, open..whole.end, parts, &['{', '}', ';', ':']);
}

fn check(source: &str) {
    let module = Module::parse(source).unwrap();
    let mut parts = Vec::new();
    parts.extend(module.directives().iter().map(|it| bytes(source, it.text)));
    parts.extend(module.variables().iter().map(|it| bytes(source, it.text)));
    for function in module.functions() {
        parts.push(bytes(source, function.text));
        body(source, function);
    }
    covers(source, 0..source.len(), parts, &[';']);
}

#[test]
fn every_byte_belongs_to_a_part_or_means_nothing() {
    check(SAMPLE);
    check(ARITHMETIC);
    check(PARAMS);
    check(&SAMPLE.replace('\n', "\r\n"));
}

#[test]
fn parts_have_their_places() {
    let module = Module::parse(SAMPLE).unwrap();
    let span = module.span_of(module.entry("k").unwrap().name).unwrap();
    assert_eq!((span.position.line, span.position.column), (7, 17));
    assert_eq!(&SAMPLE[span.bytes], "k");
    assert_eq!(module.span_of("elsewhere"), None);
}

#[test]
fn files_of_a_folder() {
    let Some(folder) = std::env::var_os("PTX_FILES") else {
        return;
    };
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            check(&std::fs::read_to_string(&path).unwrap());
            count += 1;
        }
    }
    println!("{count} files");
}
