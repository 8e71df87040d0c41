//! Which function is covered by what: functions, code and reasons put together, and held against one another.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::api::Function;
use crate::reasons::Reasons;
use crate::scan::Found;

/// How users reach what a function does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Through these public items of the safe layer, which call it.
    Safe(Vec<String>),
    /// Through these public items, which use another function for the reason given.
    Otherwise(Vec<String>, String),
    /// Not by itself: items call it for the reason given.
    Inside(String),
    /// Through the checked tier only, for the reason given.
    Checked(String),
}

/// A function and how it is reached.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) function: &'a Function,
    /// The exact symbols that are called.
    pub(crate) called: Vec<String>,
    pub(crate) reach: Reach,
}

/// What the code says of one function.
#[derive(Default)]
struct Use {
    called: BTreeSet<String>,
    files: BTreeSet<String>,
    /// In the order of the code, each once.
    items: Vec<String>,
}

/// Decides for each function how it is reached.
///
/// # Errors
/// Every function whose way is not told, every reason that has become untrue, and every wrong or missing alias.
pub(crate) fn cover<'a>(
    functions: &'a [Function],
    code: &[Found],
    reasons: &Reasons,
) -> Result<Vec<Row<'a>>, Vec<String>> {
    let mut problems = Vec::new();
    let uses = uses(functions, code, &mut problems);
    let mut groups_used = HashSet::new();
    let mut rows = Vec::new();
    for function in functions {
        let name = function.name.as_str();
        let nothing = Use::default();
        let seen = uses.get(name).unwrap_or(&nothing);
        let own = reasons.checked.get(name);
        let inside = reasons.inside.get(name);
        let reach = match (!seen.called.is_empty(), !seen.items.is_empty()) {
            (true, true) => {
                if own.or(inside).is_some() {
                    let item = seen.items.join("`, `");
                    problems.push(format!(
                        "the reason of `{name}` is stale: `{item}` calls it"
                    ));
                }
                Reach::Safe(seen.items.clone())
            }
            (true, false) => {
                if own.is_some() {
                    problems.push(format!(
                        "the reason of `{name}` is stale: the code calls it"
                    ));
                }
                let Some(reason) = inside else {
                    let files: Vec<&str> = seen.files.iter().map(String::as_str).collect();
                    problems.push(format!(
                        "`{name}` is called in {} but no public item stands for it: add `#[doc(alias = \"{name}\")]` to the \
                         item that leads there, or an `inside` reason if none does",
                        files.join(", ")
                    ));
                    continue;
                };
                Reach::Inside(reason.clone())
            }
            (false, named) => {
                if inside.is_some() {
                    problems.push(format!(
                        "the reason of `{name}` is stale: the code does not call it"
                    ));
                }
                // That an item does the work of a function in another way is nothing that a group could explain.
                let of_group = reasons.groups.get(&function.group).filter(|_| !named);
                if own.is_none() && of_group.is_some() {
                    groups_used.insert(function.group.as_str());
                }
                match (own.or(of_group), named) {
                    (Some(reason), true) => Reach::Otherwise(seen.items.clone(), reason.clone()),
                    (Some(reason), false) => Reach::Checked(reason.clone()),
                    (None, _) => {
                        problems.push(format!(
                            "`{name}` is not called and has no reason: wrap it, or say why not in data/reasons.tsv"
                        ));
                        continue;
                    }
                }
            }
        };
        let called = seen.called.iter().cloned().collect();
        rows.push(Row {
            function,
            called,
            reach,
        });
    }
    for group in reasons.groups.keys() {
        if !groups_used.contains(group.as_str()) {
            problems.push(format!(
                "the reason of the group `{group}` is stale: no function needs it"
            ));
        }
    }
    if problems.is_empty() {
        Ok(rows)
    } else {
        Err(problems)
    }
}

/// Sorts what was found in the code by function.
fn uses<'a>(
    functions: &'a [Function],
    code: &[Found],
    problems: &mut Vec<String>,
) -> BTreeMap<&'a str, Use> {
    let by_symbol: HashMap<&str, &str> = functions
        .iter()
        .flat_map(|it| {
            it.symbols
                .iter()
                .map(|symbol| (symbol.as_str(), it.name.as_str()))
        })
        .collect();
    let by_name: HashMap<&str, &str> = functions
        .iter()
        .map(|it| (it.name.as_str(), it.name.as_str()))
        .collect();
    let mut uses: BTreeMap<&str, Use> = BTreeMap::new();
    for found in code {
        let Found { path, file, .. } = found;
        for symbol in &found.calls {
            let Some(name) = by_symbol.get(symbol.as_str()) else {
                problems.push(format!(
                    "`{path}` in {file} calls `{symbol}`, which no driver exports"
                ));
                continue;
            };
            let seen = uses.entry(name).or_default();
            seen.called.insert(symbol.clone());
            seen.files.insert(file.clone());
            if found.public && !found.aliases.iter().any(|alias| alias == name) {
                problems.push(format!(
                    "`{path}` in {file} calls `{symbol}` without carrying `#[doc(alias = \"{name}\")]`"
                ));
            }
        }
        for alias in &found.aliases {
            let Some(name) = by_name.get(alias.as_str()) else {
                problems.push(format!(
                    "`{path}` in {file} has the alias `{alias}`, which is not the name of a function without version"
                ));
                continue;
            };
            let seen = uses.entry(name).or_default();
            if found.public && !seen.items.contains(path) {
                seen.items.push(path.clone());
            }
        }
    }
    uses
}

#[cfg(test)]
mod tests;
