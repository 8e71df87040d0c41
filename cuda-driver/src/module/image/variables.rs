//! The names of the global variables in an image, for errors that list them.

use super::cubin;

/// The names in a PTX text, as far as each declaration begins a line.
pub(super) fn of_ptx(text: &str) -> Vec<Box<str>> {
    text.lines().filter_map(declared).map(Box::from).collect()
}

/// The names in a cubin.
pub(super) fn of_cubin(bytes: &[u8]) -> Vec<Box<str>> {
    cubin::objects(bytes)
}

/// The name that a line declares, if it declares memory of the device.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if !line.starts_with('.') {
        return None;
    }
    let mut is_memory = false;
    let mut words = line.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match word {
            ".visible" | ".weak" | ".common" | ".extern" => {}
            ".global" | ".const" => is_memory = true,
            _ if !is_memory => return None,
            ".align" => {
                words.next()?;
            }
            // Types and attributes.
            _ if word.starts_with('.') => {}
            _ => {
                let end = word.find(['[', '=', ';', ',']).unwrap_or(word.len());
                return word.get(..end).filter(|name| !name.is_empty());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_ptx() {
        let text = "\
.version 7.0
.target sm_70
.visible .global .align 4 .u32 counter[3];
\t.const .align 8 .b8 table[16] = {1, 2};
.extern .global .f32 far;
.global .attribute(.managed) .align 4 .u32 shared_with_host;
.global .u32 a=1;
.visible .entry f(.param .u64 p)
{
    .reg .b32 %r<3>;
    .shared .align 4 .b8 tile[64];
    ld.global.u32 %r1, [counter];
}
";
        let names = of_ptx(text);
        let expected = ["counter", "table", "far", "shared_with_host", "a"];
        assert_eq!(names.iter().map(|it| &**it).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_no_declaration_has_no_name() {
        for line in [
            "",
            ".",
            ".global",
            ".global .align",
            ".const .u32 ;",
            ".file 1 \"x\"",
        ] {
            assert_eq!(declared(line), None, "{line}");
        }
    }
}
