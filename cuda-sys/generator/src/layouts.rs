//! Facts about layouts and values, for each target: what the headers say, not what Rust makes of it.

use std::fmt::Write as _;

use crate::c_names::CNames;
use crate::constants::Constant;
use crate::headers::{Headers, TARGETS};
use crate::model::{Api, Record};
use crate::{FIRST_LINE, Fallible};

/// One fact: a size, an alignment, an offset or a value.
struct Fact<'a> {
    kind: &'static str,
    item: &'a str,
    member: &'a str,
    /// How C says it; `-` where C has no name for it.
    in_c: String,
    in_rust: String,
    /// One value for each of [`TARGETS`].
    values: Vec<i64>,
}

impl Fact<'_> {
    /// Whether this is a constant of a pointer type.
    fn is_pointer(&self) -> bool {
        self.in_rust.ends_with(".addr()")
    }
}

/// `layout.tsv` with every fact, and `facts.rs` with the Rust expression of each.
pub(crate) fn tables(
    headers: &Headers,
    targets: &[Api],
    constants: &[Constant],
    c_names: &CNames,
) -> Fallible<(String, String)> {
    let first = targets.first().ok_or("no target was read")?;
    let mut facts = Vec::new();
    for record in first.records.iter().filter(|record| !record.is_opaque) {
        add_record(&mut facts, record, targets, c_names)?;
    }
    evaluate(&mut facts, headers)?;
    for item in &first.enums {
        for (member, value) in &item.values {
            facts.push(Fact {
                kind: "value",
                item: &item.tag,
                member,
                in_c: member.clone(),
                in_rust: format!("{}::{member}.0", item.tag),
                values: vec![*value; targets.len()],
            });
        }
    }
    for constant in constants {
        let suffix = match constant.ty.as_str() {
            "*mut c_void" | "CUstream" => ".addr()",
            ty if constant.value.contains("::") && ty.starts_with("CU") => ".0",
            _ => "",
        };
        let value = constant_value(constant, constants, first)?;
        facts.push(Fact {
            kind: "constant",
            item: &constant.name,
            member: "",
            in_c: constant.name.clone(),
            in_rust: format!("{}{suffix}", constant.name),
            values: vec![value; targets.len()],
        });
    }
    facts.sort_by_key(Fact::is_pointer);
    Ok((table(&facts), expressions(&facts)))
}

/// The facts of one record. The offset of an anonymous member is not in bindgen's output; its values stay empty.
fn add_record<'a>(
    facts: &mut Vec<Fact<'a>>,
    record: &'a Record,
    targets: &[Api],
    c_names: &CNames,
) -> Fallible<()> {
    let layouts: Option<Vec<_>> = targets
        .iter()
        .map(|api| api.layouts.get(&record.tag))
        .collect();
    let layouts =
        layouts.ok_or_else(|| format!("a target does not know the layout of {}", record.tag))?;
    let item = record.tag.as_str();
    let c = c_names.record(item);
    let mut add = |kind, member, in_c, in_rust, values| {
        facts.push(Fact {
            kind,
            item,
            member,
            in_c,
            in_rust,
            values,
        })
    };
    let sizes = layouts.iter().map(|layout| layout.size).collect();
    add("size", "", c.size(), format!("size_of::<{item}>()"), sizes);
    let alignments = layouts.iter().map(|layout| layout.align).collect();
    add(
        "align",
        "",
        c.align(),
        format!("align_of::<{item}>()"),
        alignments,
    );
    for field in &record.fields {
        let offsets = layouts
            .iter()
            .filter_map(|layout| layout.offsets.get(&field.name))
            .copied();
        let in_rust = format!("offset_of!({item}, {})", field.name);
        add(
            "offset",
            &field.name,
            c.offset(c_names, record, field),
            in_rust,
            offsets.collect(),
        );
    }
    Ok(())
}

/// Has clang compute each fact that C can express, and compares it with bindgen's number where there is one.
fn evaluate(facts: &mut [Fact<'_>], headers: &Headers) -> Fallible<()> {
    let in_c: Vec<String> = facts
        .iter()
        .map(|fact| fact.in_c.clone())
        .filter(|in_c| in_c != "-")
        .collect();
    let in_c: Vec<&str> = in_c.iter().map(String::as_str).collect();
    let mut columns = Vec::new();
    for target in TARGETS {
        columns.push(headers.evaluate(target, &in_c)?);
    }
    for (index, fact) in facts.iter_mut().filter(|fact| fact.in_c != "-").enumerate() {
        let values: Vec<i64> = columns.iter().map(|column| column[index]).collect();
        if !fact.values.is_empty() && fact.values != values {
            return Err(format!(
                "{}: clang says {values:?} and bindgen {:?}",
                fact.in_c, fact.values
            )
            .into());
        }
        fact.values = values;
    }
    match facts.iter().find(|fact| fact.values.len() != TARGETS.len()) {
        Some(fact) => Err(format!("{} has no value", fact.in_rust).into()),
        None => Ok(()),
    }
}

/// The number behind a constant.
fn constant_value(constant: &Constant, constants: &[Constant], api: &Api) -> Fallible<i64> {
    let mut text = constant.value.as_str();
    if let Some(inner) = text.split_once("mut(").map(|(_, inner)| inner) {
        text = inner.trim_end_matches(')').trim_end_matches(" as usize");
    }
    if text == "u32::MAX" {
        return Ok(i64::from(u32::MAX));
    }
    if let Some((item, member)) = text.split_once("::") {
        let found = api
            .enums
            .iter()
            .filter(|known| known.tag == item)
            .flat_map(|known| &known.values);
        let value = found
            .into_iter()
            .find(|(name, _)| name == member)
            .map(|(_, value)| *value);
        return value.ok_or_else(|| {
            format!("{} names an unknown enumerator {member}", constant.name).into()
        });
    }
    if let Some(other) = constants.iter().find(|other| other.name == text) {
        return constant_value(other, constants, api);
    }
    text.parse()
        .map_err(|error| format!("{} = {text}: {error}", constant.name).into())
}

fn table(facts: &[Fact<'_>]) -> String {
    let mut text = FIRST_LINE.trim_end().replacen("//", "#", 1);
    text.push_str("\nkind\titem\tmember\tin C");
    for target in TARGETS {
        let _ = write!(text, "\t{target}");
    }
    text.push('\n');
    for fact in facts {
        let _ = write!(
            text,
            "{}\t{}\t{}\t{}",
            fact.kind, fact.item, fact.member, fact.in_c
        );
        for value in &fact.values {
            let _ = write!(text, "\t{value}");
        }
        text.push('\n');
    }
    text
}

/// The numbers are compared when the test is compiled, for whichever target; addresses cannot be.
fn expressions(facts: &[Fact<'_>]) -> String {
    let mut text = FIRST_LINE.to_string();
    text.push_str(ASSERTION);
    text.push_str("/// What Rust says of each line of `layout.tsv`, in the same order, and what clang says for each target.\n");
    text.push_str("static NUMBERS: &[(i64, [i64; 4])] = &[\n");
    for fact in facts.iter().filter(|fact| !fact.is_pointer()) {
        let _ = writeln!(text, "    ({} as i64, {:?}),", fact.in_rust, fact.values);
    }
    text.push_str("];\n\n/// What Rust says of each line of `layout.tsv`, in the same order.\n");
    text.push_str("pub(super) fn rust() -> Vec<i64> {\n");
    text.push_str("    let mut facts: Vec<i64> = NUMBERS.iter().map(|fact| fact.0).collect();\n");
    for fact in facts.iter().filter(|fact| fact.is_pointer()) {
        let _ = writeln!(text, "    facts.push({} as i64);", fact.in_rust);
    }
    text.push_str("    facts\n}\n");
    text
}

const ASSERTION: &str = r#"const _: () = {
    let mut index = 0;
    while index < NUMBERS.len() {
        let (rust, clang) = NUMBERS[index];
        assert!(rust == clang[super::COLUMN], "a layout differs from clang's; the test names it");
        index += 1;
    }
};

"#;
