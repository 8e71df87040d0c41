//! The grammar of `isa.txt`: patterns with alternatives, expanded to mnemonics.

use std::collections::HashMap;

/// A mnemonic and its operands, in the notation of `isa.txt`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Candidate {
    pub(crate) mnemonic: String,
    pub(crate) operands: String,
}

/// Every candidate in the order of the file, once.
pub(crate) fn candidates() -> Vec<Candidate> {
    let mut lists: HashMap<&str, &str> = HashMap::new();
    let (mut seen, mut all) = (std::collections::HashSet::new(), Vec::new());
    for line in include_str!("isa.txt").lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(list) = line.strip_prefix('@') {
            let (name, alternatives) = list.split_once(' ').unwrap();
            lists.insert(name, alternatives);
            continue;
        }
        let (pattern, operands) = line.split_once('|').unwrap();
        for mnemonic in expand(&with_lists(pattern.trim(), &lists)) {
            let candidate = Candidate {
                mnemonic,
                operands: operands.trim().to_owned(),
            };
            if seen.insert(candidate.clone()) {
                all.push(candidate);
            }
        }
    }
    all
}

/// Replaces `$LIST` by its alternatives, in braces where it does not stand in some already.
fn with_lists(pattern: &str, lists: &HashMap<&str, &str>) -> String {
    let (mut out, mut depth, mut rest) = (String::new(), 0, pattern);
    while let Some(first) = rest.chars().next() {
        if let Some(name) = rest.strip_prefix('$') {
            let length = name.bytes().take_while(u8::is_ascii_uppercase).count();
            let (name, after) = name.split_at(length);
            let list = lists[name];
            out += &if depth == 0 {
                format!("{{{list}}}")
            } else {
                list.to_owned()
            };
            rest = after;
            continue;
        }
        depth += i32::from(first == '{') - i32::from(first == '}');
        out.push(first);
        rest = &rest[1..];
    }
    out
}

/// `a{b,c}d` gives `abd` and `acd`; braces may be nested.
fn expand(pattern: &str) -> Vec<String> {
    let Some(open) = pattern.find('{') else {
        return vec![pattern.to_owned()];
    };
    let (mut depth, mut starts, mut close) = (0, vec![open + 1], open);
    for (at, byte) in pattern.bytes().enumerate().skip(open) {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        match (byte, depth) {
            (b',', 1) => starts.push(at + 1),
            (b'}', 0) => {
                close = at;
                break;
            }
            _ => {}
        }
    }
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([close]);
    let alternatives = starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &pattern[start..end]);
    let rests = expand(&pattern[close + 1..]);
    let mut all = Vec::new();
    for alternative in alternatives.flat_map(expand) {
        all.extend(
            rests
                .iter()
                .map(|rest| format!("{}{alternative}{rest}", &pattern[..open])),
        );
    }
    all
}
