//! Each way a function is reached, and each contradiction.

use super::{Reach, cover};
use crate::api::Function;
use crate::reasons::Reasons;
use crate::scan::Found;

fn functions() -> Vec<Function> {
    let function = |name: &str, symbols: &[&str]| Function {
        name: name.into(),
        symbols: symbols.iter().map(|it| (*it).into()).collect(),
        group: "G".into(),
        ..Function::default()
    };
    vec![
        function("cuA", &["cuA", "cuA_v2"]),
        function("cuB", &["cuB"]),
    ]
}

fn found(path: &str, public: bool, aliases: &[&str], calls: &[&str]) -> Found {
    let list = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    Found {
        path: path.into(),
        file: "src/file.rs".into(),
        public,
        aliases: list(aliases),
        calls: list(calls),
    }
}

/// Reasons by kind and name; each is the kind itself.
fn reasons(entries: &[(&str, &str)]) -> Reasons {
    let mut reasons = Reasons::default();
    for (kind, name) in entries {
        let list = match *kind {
            "inside" => &mut reasons.inside,
            "group" => &mut reasons.groups,
            _ => &mut reasons.checked,
        };
        list.insert((*name).into(), (*kind).into());
    }
    reasons
}

/// How `cuA` and `cuB` are reached.
fn reach(code: &[Found], entries: &[(&str, &str)]) -> Result<Vec<Reach>, Vec<String>> {
    let functions = functions();
    let rows = cover(&functions, code, &reasons(entries))?;
    Ok(rows.into_iter().map(|row| row.reach).collect())
}

/// The only problem.
fn problem(code: &[Found], entries: &[(&str, &str)]) -> String {
    let problems = reach(code, entries).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].clone()
}

#[test]
fn a_helper_is_reached_through_the_item_with_the_alias() {
    let code = [
        found("Thing::make", true, &["cuA"], &[]),
        found("make", false, &[], &["cuA_v2"]),
        found("Thing::b", true, &["cuB"], &["cuB"]),
    ];
    let safe = |name: &str| Reach::Safe(vec![name.into()]);
    assert_eq!(
        reach(&code, &[]).unwrap(),
        [safe("Thing::make"), safe("Thing::b")]
    );
    let functions = functions();
    let rows = cover(&functions, &code, &reasons(&[])).unwrap();
    assert_eq!(rows[0].called, ["cuA_v2"]);
}

#[test]
fn reasons_of_functions_go_before_those_of_groups() {
    let expected = [
        Reach::Checked("checked".into()),
        Reach::Checked("group".into()),
    ];
    assert_eq!(
        reach(&[], &[("checked", "cuA"), ("group", "G")]).unwrap(),
        expected
    );
}

#[test]
fn an_alias_without_a_call_needs_a_reason_of_its_own() {
    let code = [found("Thing::a", true, &["cuA"], &[])];
    let otherwise = Reach::Otherwise(vec!["Thing::a".into()], "checked".into());
    let reached = reach(&code, &[("checked", "cuA"), ("group", "G")]).unwrap();
    assert_eq!(reached, [otherwise, Reach::Checked("group".into())]);
    assert!(problem(&code, &[("group", "G")]).contains("`cuA` is not called and has no reason"));
}

#[test]
fn a_call_that_no_item_stands_for_must_be_explained() {
    let code = [found("helper", false, &["cuA"], &["cuA"])];
    let text = problem(&code, &[("group", "G")]);
    assert!(
        text.contains("`cuA` is called in src/file.rs but no public item"),
        "{text}"
    );
    let reached = reach(&code, &[("inside", "cuA"), ("group", "G")]).unwrap();
    assert_eq!(reached[0], Reach::Inside("inside".into()));
}

#[test]
fn what_has_no_reason_is_named() {
    assert!(
        problem(&[], &[("checked", "cuB")]).starts_with("`cuA` is not called and has no reason")
    );
}

#[test]
fn stale_reasons_are_named() {
    let public = [found("Thing::a", true, &["cuA"], &["cuA"])];
    let private = [found("helper", false, &[], &["cuA"])];
    for (code, entries, expected) in [
        (
            &public[..],
            &[("checked", "cuA"), ("group", "G")][..],
            "of `cuA` is stale: `Thing::a` calls",
        ),
        (
            &public,
            &[("inside", "cuA"), ("group", "G")],
            "of `cuA` is stale: `Thing::a` calls",
        ),
        (
            &private,
            &[("inside", "cuA"), ("checked", "cuA"), ("group", "G")],
            "of `cuA` is stale: the code calls",
        ),
        (
            &[],
            &[("inside", "cuB"), ("group", "G")],
            "of `cuB` is stale: the code does not",
        ),
        (
            &[],
            &[("checked", "cuA"), ("checked", "cuB"), ("group", "G")],
            "of the group `G` is stale",
        ),
    ] {
        let text = problem(code, entries);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn wrong_and_missing_aliases_are_named() {
    let group = [("group", "G")];
    let missing = [
        found("Thing::other", true, &["cuA"], &[]),
        found("Thing::a", true, &[], &["cuA_v2"]),
    ];
    let text = problem(&missing, &group);
    assert!(
        text.contains("`Thing::a` in src/file.rs calls `cuA_v2` without"),
        "{text}"
    );
    let text = problem(&[found("Thing::a", true, &["cuA_v2"], &[])], &group);
    assert!(
        text.contains("has the alias `cuA_v2`, which is not the name"),
        "{text}"
    );
    let text = problem(&[found("a", false, &[], &["cuZ"])], &group);
    assert!(
        text.contains("calls `cuZ`, which no driver exports"),
        "{text}"
    );
}
