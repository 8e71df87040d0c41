use super::*;

const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

/// Links inputs that are named `0`, `1`, …
fn link(inputs: &[&str]) -> Result<String, Failure> {
    let mut linker = Linker::default();
    let mut failure = Ok(());
    for (number, input) in inputs.iter().enumerate() {
        let text = format!("{HEADER}{input}");
        let module = Module::parse(&text).expect("a sound input");
        failure = failure.and(linker.add(&number.to_string(), &module, None));
    }
    let linked = linker.complete();
    match failure {
        // What spoiled an input spoils the whole.
        Err(failure) => {
            assert_eq!(linked.map_err(|error| error.result), Err(failure.result));
            Err(failure)
        }
        Ok(()) => linked,
    }
}

fn lines(inputs: &[&str]) -> (u32, Vec<String>) {
    let failure = link(inputs).expect_err("it does not link");
    (failure.result.0, failure.lines)
}

/// The linked module, parsed anew.
fn linked(inputs: &[&str], check: impl FnOnce(&Module<'_>)) {
    let text = link(inputs).expect("it links");
    match Module::parse(&text) {
        Ok(module) => check(&module),
        Err(error) => panic!("{error}\n{text}"),
    }
}

const USER: &str = ".extern .func (.param .b32 r) helper(.param .b32 x);
.extern .global .align 4 .u32 base;
.visible .entry use(.param .u64 p)
{
  .reg .b32 %r<3>;
  ld.global.u32 %r1, [base];
  { .param .b32 a; .param .b32 o; st.param.b32 [a], %r1; call.uni (o), helper, (a); ld.param.b32 %r2, [o]; }
  ret;
}";
const HELPER: &str = ".visible .global .align 4 .u32 base = 40;
.visible .func (.param .b32 r) helper(.param .b32 x) { ret; }";

#[test]
fn what_one_input_wants_another_defines_in_any_order() {
    for inputs in [[USER, HELPER], [HELPER, USER]] {
        linked(&inputs, |module| {
            let bodies = module.functions().iter().filter(|it| it.body.is_some());
            assert_eq!(bodies.count(), 2);
            assert_eq!(module.variables().len(), 1);
            assert_eq!(module.variables()[0].linkage, cuda_ptx::Linkage::Visible);
        });
    }
}

#[test]
fn undefined_names_are_told_with_the_input_that_uses_them() {
    assert_eq!(
        lines(&[USER]),
        (
            300,
            vec![
                "error   : Undefined reference to 'base' in '0'".into(),
                "error   : Undefined reference to 'helper' in '0'".into()
            ]
        )
    );
    linked(
        &[".extern .func never(); .visible .entry k() { ret; }"],
        |module| {
            assert_eq!(module.functions().len(), 1);
        },
    );
}

#[test]
fn two_definitions_of_a_name_are_refused() {
    for (input, name) in [
        (HELPER, "base"),
        (".visible .entry k() { ret; }", "k"),
        (".visible .shared .align 4 .b8 s[4];", "s"),
    ] {
        let (code, lines) = lines(&[input, input]);
        let expected =
            format!("error   : Multiple definition of '{name}' in '1', first defined in '0'");
        assert_eq!((code, lines.first()), (300, Some(&expected)));
    }
}

#[test]
fn declarations_must_agree() {
    let variable = ".extern .global .align 4 .u32 t;";
    let function = ".extern .func h(.param .b32 x);";
    for (first, second, code, word) in [
        (variable, ".visible .global .align 8 .u64 t;", 300, "Size"),
        (
            variable,
            ".visible .const .align 4 .u32 t = 1;",
            999,
            "Memory space",
        ),
        (variable, ".visible .func t() { ret; }", 999, "Memory space"),
        (
            function,
            ".visible .func h(.param .b64 x) { ret; }",
            300,
            "Prototype",
        ),
    ] {
        let (result, lines) = lines(&[first, second]);
        assert_eq!((result, lines.len()), (code, 1), "{second}");
        assert!(lines[0].contains(word), "{}", lines[0]);
    }
}

#[test]
fn the_strong_definition_is_taken_or_the_first_weak_or_the_largest_common_one() {
    let weak = |value| format!(".weak .global .align 4 .u32 t = {value};");
    let value = |inputs: &[&str]| {
        let mut value = 0;
        linked(inputs, |module| {
            assert_eq!(module.variables().len(), 1);
            let initial = module.variables()[0].initial.as_deref();
            if let Some([cuda_ptx::Initial::Integer(number)]) = initial {
                value = *number;
            }
        });
        value
    };
    assert_eq!(value(&[&weak(3), &weak(4)]), 3);
    assert_eq!(
        value(&[&weak(3), ".visible .global .align 4 .u32 t = 5;"]),
        5
    );
    assert_eq!(
        value(&[".visible .global .align 4 .u32 t = 5;", &weak(3)]),
        5
    );
    linked(
        &[
            ".common .global .align 4 .u32 t;",
            ".common .global .align 8 .u64 t;",
        ],
        |module| {
            assert_eq!(module.variables().len(), 1);
            assert_eq!(module.variables()[0].size(), Some(8));
        },
    );
    linked(
        &[".weak .func h() { trap; }", ".visible .func h() { ret; }"],
        |module| {
            let bodies = module.functions().iter().filter(|it| it.body.is_some());
            assert_eq!(bodies.count(), 1);
        },
    );
}

#[test]
fn names_that_inputs_keep_to_themselves_stay_apart() {
    let input = |entry: &str, value: u32| {
        format!(
            ".global .align 4 .u32 t = {value}; .func own() {{ ret; }} .extern .shared .align 4 .b8 s[];
             .visible .entry {entry}() {{ .reg .b32 %r<2>; ld.global.u32 %r1, [t+0]; st.shared.u32 [s], %r1; call own; ret; }}"
        )
    };
    linked(&[&input("a", 1), &input("b", 2)], |module| {
        let names: Vec<&str> = module.variables().iter().map(|it| it.name).collect();
        assert_eq!(names.len(), 4, "{names:?}");
        let b = module.entry("b").expect("the second kernel");
        let body = format!("{:?}", b.body);
        assert!(
            body.contains("t$linked") && body.contains("own$linked") && body.contains("s$linked")
        );
        let a = module.entry("a").expect("the first kernel");
        assert!(!format!("{:?}", a.body).contains("$linked"));
    });
}

#[test]
fn the_linked_module_is_as_new_as_its_newest_input() {
    let mut linker = Linker::default();
    for header in [
        ".version 8.0 .target sm_90a .address_size 64 .visible .entry a() { ret; }",
        ".version 7.0 .target sm_75 .address_size 64 .visible .entry b() { ret; }",
    ] {
        let module = Module::parse(header).expect("a sound input");
        assert_eq!(linker.add(header, &module, None), Ok(()));
    }
    let text = linker.complete().expect("it links");
    let module = Module::parse(&text).expect("a sound module");
    assert_eq!((module.version(), module.target()), ((8, 0), "sm_90a"));
    let empty = Linker::default().complete().expect("nothing links");
    assert_eq!(Module::parse(&empty).map(|it| it.functions().len()), Ok(0));
}

#[test]
fn files_and_lines_are_numbered_anew() {
    let input = |entry: &str| {
        format!(
            ".file 1 \"{entry}.cu\", 12, 34\n.visible .entry {entry}()\n{{\n.loc 1 7 3\nbar.sync 0;\n.loc 1 8 3, function_name $x, inlined_at 1 2 3\nret;\n}}\n.section .debug_str {{ .b8 1 }}\n"
        )
    };
    let text = link(&[&input("a"), &input("b")]).expect("it links");
    for expected in [
        ".file 1 \"a.cu\",12,34",
        ".file 2 \"b.cu\",12,34",
        ".loc 1 7 3",
        ".loc 2 7 3",
        ".loc 2 8 3\nret",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("inlined_at") && !text.contains("debug_str"));
}

#[test]
fn functions_may_be_named_before_they_are_defined() {
    let table =
        ".visible .global .align 8 .u64 table[1] = {later};\n.visible .func later() { ret; }";
    linked(
        &[
            ".extern .global .align 8 .u64 table[1]; .visible .entry k() { .reg .b64 %rd<2>; ld.global.u64 %rd1, [table]; ret; }",
            table,
        ],
        |module| {
            assert!(module.entry("k").is_some());
        },
    );
}
