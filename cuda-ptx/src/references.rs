//! Which variables of the module a kernel refers to, by itself or through the functions that it calls.

use std::collections::{HashMap, HashSet};

use crate::{Function, Module, Space, Variable};

impl<'a> Module<'a> {
    /// The variables outside functions whose names stand in a function or in the functions that it names, directly or not, in the
    /// order of the text. Bodies need not have been parsed. What is reached through pointers to functions is not found.
    ///
    /// ```
    /// let module = cuda_ptx::Module::parse_signatures(
    ///     ".version 7.0 .target sm_52 .address_size 64
    ///      .visible .global .u32 counter;
    ///      .visible .global .u32 other;
    ///      .func count() { .reg .u32 %r; atom.global.add.u32 %r, [counter], 1; ret; }
    ///      .visible .entry k() { call count, (); ret; }",
    /// )?;
    /// let k = module.entry("k").ok_or("no kernel")?;
    /// let names: Vec<&str> = module.variables_of(k).iter().map(|it| it.name).collect();
    /// assert_eq!(names, ["counter"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn variables_of(&self, function: &Function<'a>) -> Vec<&Variable<'a>> {
        let functions: HashMap<&str, &Function<'a>> = self
            .functions()
            .iter()
            .map(|function| (function.name, function))
            .collect();
        let variables: HashSet<&str> = self.variables().iter().map(|it| it.name).collect();
        let mut found = HashSet::new();
        let mut visited = HashSet::from([function.name]);
        let mut waiting = vec![function];
        while let Some(function) = waiting.pop() {
            for word in words(function.text) {
                if variables.contains(word) {
                    found.insert(word);
                } else if let Some(callee) = functions.get(word)
                    && visited.insert(callee.name)
                {
                    waiting.push(callee);
                }
            }
        }
        let all = self.variables().iter();
        all.filter(|it| found.contains(it.name)).collect()
    }
}

impl Variable<'_> {
    /// Whether it is memory that outlives a launch and that launches share: global memory, or constant memory that the host can
    /// write. What compilers make for a kernel's own use is none: the texts of `printf`, tables of mathematical functions and
    /// constants within functions, which have an initial value and names that programs cannot give to variables of a module.
    #[must_use]
    pub fn is_shared_by_launches(&self) -> bool {
        let is_reserved = ["$", "__", "_ZZ"]
            .iter()
            .any(|it| self.name.starts_with(it));
        let is_own = is_reserved && self.initial.is_some();
        matches!(self.space, Space::Global | Space::Const) && !is_own
    }
}

/// The names in a text, without comments and strings.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|it: char| is_of_name(it) || it == '/' || it == '"')?;
            rest = rest.get(start..)?;
            if rest.starts_with("//") {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
            } else if rest.starts_with("/*") {
                rest = rest.split_once("*/").map_or("", |(_, after)| after);
            } else if let Some(quoted) = rest.strip_prefix('"') {
                rest = quoted.split_once('"').map_or("", |(_, after)| after);
            } else if let Some(after) = rest.strip_prefix('/') {
                rest = after;
            } else {
                let end = rest.find(|it: char| !is_of_name(it)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                rest = after;
                return Some(word);
            }
        }
    })
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_comments_and_strings() {
        let text = "ld.u32 %r1, [a+4]; // b\n /* c */ .file 1 \"d\" / $L1: e";
        let found: Vec<&str> = words(text).collect();
        assert_eq!(
            found,
            ["ld", "u32", "%r1", "a", "4", "file", "1", "$L1", "e"]
        );
    }

    #[test]
    fn variables_through_calls_even_in_circles() {
        let text = ".version 7.0 .target sm_52 .address_size 64
            .visible .global .u32 first; .global .u32 second; .visible .const .f32 third; .global .u32 fourth;
            .func g();
            .func f() { .reg .u32 %r; ld.global.u32 %r, [second]; call g, (); ret; }
            .func g() { .reg .u32 %r; ld.global.u32 %r, [first]; call f, (); ret; }
            .visible .entry k() { .reg .f32 %f; ld.const.f32 %f, [third]; call f, (); ret; }
            .visible .entry none() { ret; }";
        let module = Module::parse_signatures(text).expect("parses");
        let names = |kernel| -> Vec<&str> {
            let entry = module.entry(kernel).expect("is there");
            module
                .variables_of(entry)
                .iter()
                .map(|it| it.name)
                .collect()
        };
        assert_eq!(names("k"), ["first", "second", "third"]);
        assert_eq!(names("none"), [""; 0]);
    }

    #[test]
    fn what_a_compiler_made_is_not_shared() {
        let text = ".version 7.0 .target sm_52 .address_size 64
            .global .align 1 .b8 $str[3] = {37, 100, 0}; .global .u32 counter; .const .f32 factor = 1.0;
            .const .f32 __cudart_i2opi_f[1] = {1.0}; .extern .shared .b8 scratch[]; .global .u32 _ZZ1kvE5calls;
            .global .f32 _ZZ1kvE5table[1] = {1.0};";
        let module = Module::parse_signatures(text).expect("parses");
        let shared = module
            .variables()
            .iter()
            .filter(|it| it.is_shared_by_launches());
        let names: Vec<&str> = shared.map(|it| it.name).collect();
        assert_eq!(names, ["counter", "factor", "_ZZ1kvE5calls"]);
    }
}
