//! The functions of the driver, from the table that the bindings are made of.

/// One function of the driver, in whatever binary interfaces it is exported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Function {
    /// The name without version and stream variant, `cuMemAlloc`.
    pub(crate) name: String,
    /// The exported names, `cuMemAlloc` and `cuMemAlloc_v2`.
    pub(crate) symbols: Vec<String>,
    /// The CUDA version that brought the first of them.
    pub(crate) first_cuda: String,
    /// The CUDA version since which it is deprecated, with `<=` in front if it was so by then; empty if it is not.
    pub(crate) deprecated_since: String,
    /// The group of the driver's documentation.
    pub(crate) group: String,
}

/// Reads the table; its columns are found by the names in its first line.
///
/// # Errors
/// What is missing, and where.
pub(crate) fn parse(table: &str) -> Result<Vec<Function>, String> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| {
        header
            .iter()
            .position(|column| *column == name)
            .ok_or_else(|| format!("driver_api.tsv has no column `{name}`"))
    };
    let name = column("function")?;
    let symbols = column("symbols@first_cuda")?;
    let first_cuda = column("first_cuda")?;
    let deprecated_since = column("deprecated_since")?;
    let group = column("group")?;
    lines
        .enumerate()
        .map(|(index, line)| {
            let fields: Vec<&str> = line.split('\t').collect();
            let field = |at: usize| {
                let number = index + 2;
                let found = fields.get(at).map(|field| (*field).to_owned());
                found.ok_or_else(|| format!("line {number} of driver_api.tsv has too few columns"))
            };
            let symbols = field(symbols)?;
            let exact = |symbol: &str| symbol.split('@').next().unwrap_or_default().to_owned();
            Ok(Function {
                name: field(name)?,
                symbols: symbols.split(';').map(exact).collect(),
                first_cuda: field(first_cuda)?,
                deprecated_since: field(deprecated_since)?,
                group: field(group)?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_row_is_a_function_with_its_symbols() {
        let table = "function\tsymbols@first_cuda\tfirst_cuda\tdeprecated_since\tgroup\n\
                     cuGetError\tcuGetError@2.0;cuGetError_v2@3.2\t2.0\t<=11.2\tCUDA_ERROR\n";
        let functions = parse(table).unwrap();
        assert_eq!(functions.len(), 1);
        assert_eq!(functions[0].symbols, ["cuGetError", "cuGetError_v2"]);
        assert_eq!(functions[0].deprecated_since, "<=11.2");
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(
            parse("function\n")
                .unwrap_err()
                .contains("`symbols@first_cuda`")
        );
        let table = "function\tsymbols@first_cuda\tfirst_cuda\tdeprecated_since\tgroup\ncuInit\n";
        assert!(parse(table).unwrap_err().contains("line 2"));
    }
}
