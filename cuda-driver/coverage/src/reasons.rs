//! Why functions have no safe item, and what the groups are called: the two files that people write.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::api::Function;

/// The reasons, by function and by group.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    /// Why a function is for the checked tier only.
    pub(crate) checked: BTreeMap<String, String>,
    /// What a function is called for that no public item stands for.
    pub(crate) inside: BTreeMap<String, String>,
    /// Why those functions of a group are for the checked tier only that have no reason of their own.
    pub(crate) groups: BTreeMap<String, String>,
}

/// Reads lines of a kind (`checked` or `inside`), the names separated by spaces, and the reason, separated by tabs.
///
/// A name is a function's or, for `checked`, a group's. Empty lines and lines that begin with `#` say nothing.
///
/// # Errors
/// Every line that is malformed, names nothing that exists, or repeats another.
pub(crate) fn parse(text: &str, functions: &[Function]) -> Result<Reasons, Vec<String>> {
    let names: HashSet<&str> = functions.iter().map(|it| it.name.as_str()).collect();
    let groups: HashSet<&str> = functions.iter().map(|it| it.group.as_str()).collect();
    let mut reasons = Reasons::default();
    let mut problems = Vec::new();
    for (number, line) in content(text) {
        let at = format!("line {number} of reasons.tsv");
        let [kind, subjects, reason] = *line.split('\t').collect::<Vec<_>>() else {
            problems.push(format!("{at} has not three columns: kind, names, reason"));
            continue;
        };
        if reason.trim().is_empty() {
            problems.push(format!("{at} has no reason"));
        }
        for name in subjects.split(' ') {
            let list = match kind {
                "checked" if groups.contains(name) => &mut reasons.groups,
                "checked" if names.contains(name) => &mut reasons.checked,
                "inside" if names.contains(name) => &mut reasons.inside,
                "checked" | "inside" => {
                    problems.push(format!("{at}: the driver has no `{name}`"));
                    continue;
                }
                _ => {
                    problems.push(format!(
                        "{at}: the kind `{kind}` is neither `checked` nor `inside`"
                    ));
                    continue;
                }
            };
            if list.insert(name.to_owned(), reason.to_owned()).is_some() {
                problems.push(format!("{at}: `{name}` has a reason already"));
            }
        }
    }
    if problems.is_empty() {
        Ok(reasons)
    } else {
        Err(problems)
    }
}

/// Reads the title of each group: lines of group and title, separated by a tab.
///
/// # Errors
/// Every group without a title and every title without a group.
pub(crate) fn titles(
    text: &str,
    functions: &[Function],
) -> Result<HashMap<String, String>, Vec<String>> {
    let groups: HashSet<&str> = functions.iter().map(|it| it.group.as_str()).collect();
    let mut titles = HashMap::new();
    let mut problems = Vec::new();
    for (number, line) in content(text) {
        match line.split_once('\t') {
            Some((group, title)) if groups.contains(group) => {
                titles.insert(group.to_owned(), title.to_owned());
            }
            Some((group, _)) => problems.push(format!(
                "line {number} of groups.tsv: the driver has no group `{group}`"
            )),
            None => problems.push(format!("line {number} of groups.tsv has not two columns")),
        }
    }
    let mut untitled: Vec<&str> = groups
        .into_iter()
        .filter(|it| !titles.contains_key(*it))
        .collect();
    untitled.sort_unstable();
    problems.extend(
        untitled
            .into_iter()
            .map(|group| format!("groups.tsv has no title for `{group}`")),
    );
    if problems.is_empty() {
        Ok(titles)
    } else {
        Err(problems)
    }
}

/// The lines that say something, with their numbers.
fn content(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::{parse, titles};
    use crate::api::Function;

    fn functions() -> Vec<Function> {
        [("cuA", "G"), ("cuB", "G"), ("cuC", "H")]
            .map(|(name, group)| Function {
                name: name.into(),
                group: group.into(),
                ..Function::default()
            })
            .into()
    }

    #[test]
    fn reasons_are_by_function_and_by_group() {
        let text = "# a comment\nchecked\tcuA cuB\tnot wrapped yet\n\ninside\tcuC\tfor captures\nchecked\tG\told\n";
        let reasons = parse(text, &functions()).unwrap();
        assert_eq!(reasons.checked["cuA"], "not wrapped yet");
        assert_eq!(reasons.checked["cuB"], "not wrapped yet");
        assert_eq!(reasons.inside["cuC"], "for captures");
        assert_eq!(reasons.groups["G"], "old");
    }

    #[test]
    fn malformed_reasons_are_all_reported() {
        let text = "checked\tcuA\nchecked\tcuZ\tx\ninside\tG\tx\nother\tcuA\tx\nchecked\tcuB\tx\nchecked\tcuB\ty\nchecked\tH\t\n";
        let problems = parse(text, &functions()).unwrap_err().join("\n");
        for expected in [
            "line 1 of reasons.tsv has not three columns",
            "line 2 of reasons.tsv: the driver has no `cuZ`",
            "line 3 of reasons.tsv: the driver has no `G`",
            "line 4 of reasons.tsv: the kind `other`",
            "line 6 of reasons.tsv: `cuB` has a reason already",
            "line 7 of reasons.tsv has no reason",
        ] {
            assert!(
                problems.contains(expected),
                "{expected} is not in:\n{problems}"
            );
        }
    }

    #[test]
    fn groups_and_titles_belong_together() {
        assert_eq!(
            titles("G\tGroup\nH\tOther\n", &functions()).unwrap()["G"],
            "Group"
        );
        let problems = titles("G\tGroup\nX\tUnknown\n", &functions()).unwrap_err();
        assert_eq!(
            problems,
            [
                "line 2 of groups.tsv: the driver has no group `X`",
                "groups.tsv has no title for `H`"
            ]
        );
    }
}
