//! The file for readers: how much there is, and then every function in its group.

use std::collections::HashMap;
use std::fmt::Write;

use crate::COMMAND;
use crate::coverage::{Reach, Row};

/// How many functions are reached in which way.
#[derive(Clone, Copy, Default)]
struct Counts {
    safe: usize,
    otherwise: usize,
    inside: usize,
    checked: usize,
}

impl Counts {
    fn of(rows: &[&Row<'_>]) -> Self {
        let mut counts = Self::default();
        for row in rows {
            match row.reach {
                Reach::Safe(_) => counts.safe += 1,
                Reach::Otherwise(..) => counts.otherwise += 1,
                Reach::Inside(_) => counts.inside += 1,
                Reach::Checked(_) => counts.checked += 1,
            }
        }
        counts
    }

    fn cells(self) -> String {
        let Self {
            safe,
            otherwise,
            inside,
            checked,
        } = self;
        let total = safe + otherwise + inside + checked;
        let cells = [total, safe, otherwise, inside, checked];
        cells.map(|it| it.to_string()).join(" | ")
    }
}

/// Writes the whole file; `titles` has one for each group.
pub(crate) fn render(rows: &[Row<'_>], titles: &HashMap<String, String>) -> String {
    let title = |group: &str| titles.get(group).map_or(group, String::as_str).to_owned();
    let groups = in_groups(rows);
    let all: Vec<&Row<'_>> = rows.iter().collect();
    let mut text = head(&Counts::of(&all), rows.len());
    for (group, rows) in &groups {
        let title = title(group);
        let cells = Counts::of(rows).cells();
        line(
            &mut text,
            format_args!("| [{title}](#{}) | {cells} |", anchor(&title)),
        );
    }
    line(
        &mut text,
        format_args!("| **All** | {} |", Counts::of(&all).cells()),
    );
    for (group, rows) in &groups {
        line(
            &mut text,
            format_args!("\n## {}\n\nC group `{group}`.\n", title(group)),
        );
        text.push_str("| Function | Since | Deprecated | Symbols called | Item, or why there is none |\n|---|---|---|---|---|\n");
        for row in rows {
            line(&mut text, format_args!("{}", function(row)));
        }
    }
    text
}

fn head(counts: &Counts, total: usize) -> String {
    let Counts {
        safe,
        otherwise,
        inside,
        checked,
    } = counts;
    format!(
        "<!-- Written by `{COMMAND}`; do not edit. -->\n\
         # Coverage of the CUDA driver API\n\n\
         Of the {total} functions of the driver API, {safe} are called by an item of the safe layer, {otherwise} have an item \
         that does their work through another function, {inside} are called inside such items without one of their own, and \
         {checked} are for the checked tier only: `cuda_driver::call!` reaches every function that the loaded driver has in \
         one line, with its status checked.\n\n\
         Items that exist on every kind of stream are listed under `Stream`; `unsafe` marks those whose callers have a duty. \
         \"Since\" is the CUDA version that brought the function in any binary interface; \"Deprecated\" the one whose \
         documentation calls it so.\n\n\
         | Group | Functions | Item | Through another function | Inside items | Checked tier only |\n\
         |---|---:|---:|---:|---:|---:|\n"
    )
}

/// The rows of each group; groups in the order in which they first appear.
fn in_groups<'a, 'b>(rows: &'b [Row<'a>]) -> Vec<(&'b str, Vec<&'b Row<'a>>)> {
    let mut groups: Vec<(&str, Vec<&Row<'_>>)> = Vec::new();
    for row in rows {
        let group = row.function.group.as_str();
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, members)) => members.push(row),
            None => groups.push((group, vec![row])),
        }
    }
    groups
}

/// One function as a row of a table.
fn function(row: &Row<'_>) -> String {
    let function = row.function;
    let deprecated = match function.deprecated_since.strip_prefix("<=") {
        Some(version) => format!("{version} or before"),
        None if function.deprecated_since.is_empty() => "–".into(),
        None => function.deprecated_since.clone(),
    };
    let called = if row.called.is_empty() {
        "–".into()
    } else {
        code(&row.called)
    };
    let reach = match &row.reach {
        Reach::Safe(items) => code(items),
        Reach::Otherwise(items, reason) => {
            format!("{}, through another function: {reason}", code(items))
        }
        Reach::Inside(reason) => format!("inside items: {reason}"),
        Reach::Checked(reason) => format!("checked tier only: {reason}"),
    };
    let (name, since) = (&function.name, &function.first_cuda);
    format!("| `{name}` | {since} | {deprecated} | {called} | {reach} |")
}

fn code(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The anchor that renderers of Markdown give to a heading.
fn anchor(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.map(|c| {
        if c == ' ' {
            '-'
        } else {
            c.to_ascii_lowercase()
        }
    })
    .collect()
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{content}");
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{anchor, render};
    use crate::api::Function;
    use crate::coverage::{Reach, Row};

    #[test]
    fn every_way_has_its_words_and_every_group_its_counts() {
        let function = |name: &str, group: &str, deprecated: &str| Function {
            name: name.into(),
            first_cuda: "2.0".into(),
            deprecated_since: deprecated.into(),
            group: group.into(),
            ..Function::default()
        };
        let functions = [
            function("cuA", "G", ""),
            function("cuB", "H", "<=11.2"),
            function("cuC", "G", "12.4"),
            function("cuD", "G", ""),
        ];
        let item = || vec!["Thing::a".to_owned()];
        let reaches = [
            Reach::Safe(item()),
            Reach::Checked("old".into()),
            Reach::Otherwise(item(), "newer".into()),
            Reach::Inside("to look".into()),
        ];
        let called: [&[&str]; 4] = [&["cuA_v2"], &[], &[], &["cuD"]];
        let rows: Vec<Row<'_>> = functions
            .iter()
            .zip(reaches)
            .zip(called)
            .map(|((function, reach), called)| Row {
                function,
                called: called.iter().map(|it| (*it).into()).collect(),
                reach,
            })
            .collect();
        let titles = HashMap::from([("G".to_owned(), "First, group".to_owned())]);
        let text = render(&rows, &titles);
        for expected in [
            "| [First, group](#first-group) | 3 | 1 | 1 | 1 | 0 |\n| [H](#h) | 1 | 0 | 0 | 0 | 1 |\n| **All** | 4 | 1 | 1 | 1 | 1 |\n",
            "\n## First, group\n\nC group `G`.\n\n| Function |",
            "| `cuA` | 2.0 | – | `cuA_v2` | `Thing::a` |\n| `cuC` | 2.0 | 12.4 | – | `Thing::a`, through another function: newer |\n",
            "| `cuD` | 2.0 | – | `cuD` | inside items: to look |\n",
            "| `cuB` | 2.0 | 11.2 or before | – | checked tier only: old |\n",
        ] {
            assert!(text.contains(expected), "{expected} is not in:\n{text}");
        }
    }

    #[test]
    fn anchors_are_as_markdown_makes_them() {
        assert_eq!(
            anchor("Texture references (removed)"),
            "texture-references-removed"
        );
        assert_eq!(anchor("Stream-ordered memory"), "stream-ordered-memory");
    }
}
