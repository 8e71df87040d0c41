//! The tables of exported symbols and functions (`data/*.tsv`).

use std::collections::BTreeMap;

use crate::Fallible;

/// One exported symbol.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) symbol: String,
    pub(crate) base: String,
    pub(crate) abi: u8,
    /// `""`, `"ptds"` or `"ptsz"`.
    pub(crate) stream_variant: String,
    /// 1000 · major + 10 · minor.
    pub(crate) first_cuda: u32,
    pub(crate) group: String,
    pub(crate) public: bool,
    pub(crate) deprecated_since: Option<u32>,
    pub(crate) description: String,
}

/// Joins the two tables; the rows come back sorted by symbol.
pub(crate) fn read(symbols: &str, functions: &str) -> Fallible<Vec<Row>> {
    let functions: BTreeMap<&str, Vec<&str>> = functions
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect())
        .map(|cells: Vec<&str>| (cells[0], cells))
        .collect();
    let mut rows = Vec::new();
    for line in symbols.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [
            symbol,
            base,
            abi,
            stream_variant,
            _,
            first_cuda,
            group,
            _,
            public,
            _,
        ] = cells[..]
        else {
            return Err(format!(
                "a symbol's line has {} cells instead of 10: {line}",
                cells.len()
            )
            .into());
        };
        let function = functions
            .get(base)
            .ok_or_else(|| format!("{base} is missing in the table of functions"))?;
        let cell = |index: usize| function.get(index).copied().unwrap_or_default();
        rows.push(Row {
            symbol: symbol.to_string(),
            base: base.to_string(),
            abi: abi.parse()?,
            stream_variant: stream_variant.to_string(),
            first_cuda: first_cuda.parse()?,
            group: if group == "(ungrouped)" {
                String::new()
            } else {
                group.to_string()
            },
            public: public == "yes",
            deprecated_since: version(cell(3))?,
            description: cell(6).to_string(),
        });
    }
    rows.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    check(&rows)?;
    Ok(rows)
}

/// No two rows may be indistinguishable for a driver that is asked by base name and version.
fn check(rows: &[Row]) -> Fallible<()> {
    let mut seen = BTreeMap::new();
    for row in rows {
        if let Some(other) = seen.insert(
            (&row.base, &row.stream_variant, row.first_cuda),
            &row.symbol,
        ) {
            return Err(format!("{other} and {} came with the same version", row.symbol).into());
        }
    }
    Ok(())
}

/// `12.4` and `<=11.2` as 12040 and 11020.
fn version(cell: &str) -> Fallible<Option<u32>> {
    let cell = cell.trim_start_matches("<=");
    if cell.is_empty() {
        return Ok(None);
    }
    let (major, minor) = cell
        .split_once('.')
        .ok_or_else(|| format!("{cell} is not a version"))?;
    Ok(Some(
        major.parse::<u32>()? * 1000 + minor.parse::<u32>()? * 10,
    ))
}
