//! Names for handles, addresses and threads, given in the order in which they appear: so that two runs of a program read the same.

use std::collections::BTreeMap;

use crate::state::State;
use crate::state::handle::kind_of;
use crate::trace::argument::{Named, Value};

/// The names that were given.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeMap<(&'static str, u64, u64), u64>,
    counts: BTreeMap<&'static str, u64>,
}

impl Names {
    /// The name of the thing with that identity.
    pub(crate) fn of(&mut self, kind: &'static str, identity: (u64, u64)) -> String {
        let count = self.counts.entry(kind).or_insert(0);
        let number = *self
            .given
            .entry((kind, identity.0, identity.1))
            .or_insert_with(|| {
                *count += 1;
                *count
            });
        format!("{kind}#{number}")
    }

    /// The allocation that an address is in, or was in, with the offset.
    fn allocation(&mut self, state: &State, address: u64) -> Option<String> {
        let living = state.space.covering(address).map(|block| {
            let made = block.allocation.as_ref();
            let made = made.map_or(0, |allocation| allocation.call);
            (block.address, made)
        });
        let former = || {
            let former = state.space.former(address)?;
            Some((former.address, former.made))
        };
        let (start, made) = living.or_else(former)?;
        let name = self.of("alloc", (start, made));
        Some(match address - start {
            0 => name,
            offset => format!("{name}+{offset:#x}"),
        })
    }

    /// A value as JSON.
    pub(crate) fn json(&mut self, state: &State, (name, value): &Named) -> String {
        let word = |text: String| format!("\"{text}\"");
        match value {
            // A device carries the slot of its instance.
            Value::Number(number) if *name == "device" => {
                let device = i32::try_from(*number).ok();
                match device.and_then(|device| state.ordinal(device).ok()) {
                    Some(ordinal) => word(format!("device#{ordinal}")),
                    None => number.to_string(),
                }
            }
            Value::Number(number) => number.to_string(),
            Value::Size(size) => size.to_string(),
            Value::Float(number) if number.is_finite() => number.to_string(),
            Value::Float(number) => word(number.to_string()),
            Value::Text(text) => escaped(text),
            Value::Word("null") => String::from("null"),
            Value::Word(text) => word((*text).to_owned()),
            Value::Pointer(0) => String::from("null"),
            Value::Address(bits) | Value::Pointer(bits) => {
                if let Some(kind) = kind_of(*bits) {
                    return word(self.of(kind, (*bits, 0)));
                }
                if let Some(name) = self.allocation(state, *bits) {
                    return word(name);
                }
                // Where the host's own memory lies differs from run to run.
                if *bits >> 32 == 0 && !matches!(value, Value::Pointer(3..)) {
                    bits.to_string()
                } else {
                    word(String::from("host"))
                }
            }
        }
    }
}

/// A string of JSON.
pub(crate) fn escaped(text: &str) -> String {
    let mut json = String::from('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            control if control < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_each_kind_by_itself() {
        let mut names = Names::default();
        assert_eq!(names.of("stream", (7, 0)), "stream#1");
        assert_eq!(names.of("event", (7, 0)), "event#1");
        assert_eq!(names.of("stream", (9, 0)), "stream#2");
        assert_eq!(names.of("stream", (7, 0)), "stream#1");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(escaped("a\"\\\n\u{1}é"), "\"a\\\"\\\\\\n\\u0001é\"");
    }
}
