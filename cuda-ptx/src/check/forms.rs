//! The table of instructions, and which of its forms a mnemonic has.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::{ScalarType, Space};

const TABLE: &str = concat!(
    include_str!("instructions.txt"),
    include_str!("matrices.txt")
);

/// What an operand may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A register that is written; as many in a vector as `.v2`, `.v4` and `.v8` say.
    Destination {
        vector: bool,
    },
    /// A register that is written, and perhaps a predicate behind a bar.
    DestinationAndPredicate,
    /// A predicate that is written, and perhaps a second one behind a bar.
    Predicates,
    /// A register that is written, or a vector of any length.
    MoveDestination,
    /// So many registers in braces that hold a part of a matrix.
    Fragment {
        count: usize,
        written: bool,
    },
    /// A register or constant; as many in a vector as the modifiers say.
    Source {
        vector: bool,
    },
    /// A register, constant or special register, or the address of a variable or function.
    FreeSource,
    /// The same, or a vector of any length.
    MoveSource,
    /// A register that holds an integer of any width.
    IntegerRegister,
    Address,
    /// An address in a space of its own, whichever the instruction names first.
    AddressIn(Space),
    /// `_`
    Sink,
    Constant,
    Label,
    BranchTable,
    /// All operands of a call.
    Call,
    Anything,
    /// Any number of operands of any kind.
    Rest,
}

/// The type that an operand must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// The n-th type of the mnemonic.
    Nth(usize),
    /// Twice as wide as the first type.
    Twice,
    Fixed(Type),
}

/// An operand as a form wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) role: Role,
    pub(super) typed: Typed,
    /// Registers may be wider than the type.
    pub(super) wider: bool,
    pub(super) optional: bool,
}

/// The type of an instruction: a fundamental one, or one that only instructions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Scalar(ScalarType),
    /// Bits of a type that registers are declared for as untyped.
    Packed(usize),
}

impl Type {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let bits = match name {
            "e4m3" | "e5m2" | "e2m3" | "e3m2" | "e2m1" | "e2m1x2" | "b4" | "u4" | "s4" | "u2"
            | "s2" | "b1" | "ue8m0" | "ue4m3" => 8,
            "e4m3x2" | "e5m2x2" | "e2m3x2" | "e3m2x2" | "ue8m0x2" | "s2f6x2" | "e2m1x4"
            | "bf16" => 16,
            "u16x2" | "s16x2" | "bf16x2" | "e4m3x4" | "e5m2x4" | "e2m3x4" | "e3m2x4" | "u8x4"
            | "s8x4" | "tf32" => 32,
            "f32x2" => 64,
            _ => return ScalarType::from_name(name).map(Self::Scalar),
        };
        Some(Self::Packed(bits))
    }

    pub(super) fn bits(self) -> usize {
        match self {
            Self::Scalar(scalar) => scalar.size() * 8,
            Self::Packed(bits) => bits,
        }
    }
}

/// Modifiers that come in order among themselves, and those that come in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Types,
    /// Of matrices.
    Layouts,
    Any,
}

impl Order {
    fn of(modifier: &str) -> Self {
        if matches!(modifier, "row" | "col") {
            Self::Layouts
        } else if Type::from_name(modifier).is_some() {
            Self::Types
        } else {
            Self::Any
        }
    }
}

#[derive(Debug, Clone)]
struct Group {
    choices: Vec<&'static str>,
    required: bool,
    order: Order,
}

/// One line of the table.
#[derive(Debug, Clone)]
pub(super) struct Form {
    groups: Vec<Group>,
    /// Accepts whatever modifiers are left.
    open: bool,
    pub(super) slots: Vec<Slot>,
    /// The first version of PTX that has it.
    pub(super) since: (u32, u32),
    /// The first architecture that has it.
    pub(super) architecture: u32,
    /// Only targets with a letter have it.
    pub(super) specific: bool,
    /// Modules of this version for this architecture have it no more.
    pub(super) until: Option<((u32, u32), u32)>,
}

/// All forms by their opcode.
pub(super) fn table() -> &'static HashMap<&'static str, Vec<Form>> {
    static PARSED: OnceLock<HashMap<&'static str, Vec<Form>>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let mut forms: HashMap<_, Vec<Form>> = HashMap::new();
        let mut names = HashMap::new();
        for line in TABLE.lines() {
            if let Some((name, text)) = line.split_once(" = ").filter(|_| line.starts_with('$')) {
                names.insert(name, text);
            } else if let Some((opcodes, form)) = Form::read(line, &names) {
                for opcode in opcodes.split('|') {
                    forms.entry(opcode).or_default().push(form.clone());
                }
            }
        }
        forms
    })
}

impl Form {
    fn read(
        line: &'static str,
        names: &HashMap<&'static str, &'static str>,
    ) -> Option<(&'static str, Self)> {
        let (mnemonic, rest) = line.split_once(" =").filter(|_| !line.starts_with('#'))?;
        let (rest, until) = match rest.split_once("until") {
            Some((rest, until)) => (rest, Some(needs(until)?)),
            None => (rest, None),
        };
        let (operands, since) = match rest.split_once('@') {
            Some((operands, since)) => (operands, needs(since)?),
            None => (rest, ((0, 0), 0)),
        };
        let words = mnemonic.split_whitespace();
        let mut words = words.flat_map(|word| names.get(word).unwrap_or(&word).split_whitespace());
        let opcode = words.next()?;
        let mut form = Self {
            groups: Vec::new(),
            open: false,
            slots: operands.split_whitespace().filter_map(Slot::read).collect(),
            since: since.0,
            architecture: since.1,
            specific: rest.contains('@') && rest.trim_end().ends_with('a'),
            until,
        };
        let mut inside = None::<Group>;
        for word in words {
            let name = word
                .trim_start_matches(['{', '['])
                .trim_end_matches(['}', ']']);
            if word == "**" {
                form.open = true;
                continue;
            }
            let group = inside.get_or_insert_with(|| Group {
                choices: Vec::new(),
                required: !word.starts_with('['),
                order: Order::of(name),
            });
            group.choices.push(name);
            let opens = word.starts_with(['{', '[']);
            let alone = group.choices.len() == 1 && !opens;
            if alone || word.ends_with(['}', ']']) {
                form.groups.extend(inside.take());
            }
        }
        Some((opcode, form))
    }

    /// The types that the modifiers name, if this form has these modifiers.
    pub(super) fn types_of(&self, modifiers: &[&str]) -> Option<Vec<Type>> {
        let is_space = |name: &str| super::body::space_of(name).is_some();
        let mut used = vec![false; self.groups.len()];
        let mut types = Vec::new();
        for (place, modifier) in modifiers.iter().enumerate() {
            let ty = Type::from_name(modifier);
            let order = Order::of(modifier);
            let fits = |(index, group): &(usize, &Group)| {
                !used.get(*index).copied().unwrap_or(true)
                    && group.order == order
                    // Types come in order: only the first slot that is free can be meant.
                    && (order != Order::Any || group.choices.contains(modifier))
            };
            let mut found = self.groups.iter().enumerate().find(fits);
            // So do the spaces of a copy.
            if is_space(modifier) {
                let spaces = |(index, group): &(usize, &Group)| {
                    !used[*index] && group.choices.iter().any(|name| is_space(name))
                };
                found = self.groups.iter().enumerate().find(spaces);
            }
            match (found, ty) {
                (Some((index, group)), ty) if group.choices.contains(modifier) => {
                    used[index] = true;
                    types.extend(ty);
                }
                _ if self.open => types.extend(ty),
                // Assemblers let a modifier stand twice, but not a state space, and none that belongs to matrices.
                _ if order == Order::Any
                    && !is_space(modifier)
                    && !super::matrix::stands_once(modifier)
                    && modifiers[..place].contains(modifier) => {}
                _ => return None,
            }
        }
        let complete = self
            .groups
            .iter()
            .zip(&used)
            .all(|(group, used)| *used || !group.required);
        complete.then_some(types)
    }

    /// Whether it knows a modifier at all.
    pub(super) fn knows(&self, modifier: &str) -> bool {
        self.open
            || self
                .groups
                .iter()
                .any(|group| group.choices.contains(&modifier))
    }
}

/// `7.0,80`
fn needs(text: &str) -> Option<((u32, u32), u32)> {
    let (version, architecture) = text.trim().split_once(',')?;
    let (major, minor) = version.split_once('.')?;
    let version = (major.parse().ok()?, minor.parse().ok()?);
    let number = architecture.trim_end_matches('a').parse().ok()?;
    Some((version, number))
}

impl Slot {
    fn read(word: &str) -> Option<Self> {
        let (word, optional) = word
            .strip_suffix('?')
            .map_or((word, false), |word| (word, true));
        let (name, fixed) = match word.split_once('.') {
            Some((name, fixed)) => (name, Type::from_name(fixed)),
            None => (word, None),
        };
        let nth = match name.chars().last() {
            Some('2') => 1,
            Some('3') => 2,
            _ => 0,
        };
        let typed = match (fixed, name) {
            (Some(fixed), _) => Typed::Fixed(fixed),
            (None, "dw" | "sw") => Typed::Twice,
            _ => Typed::Nth(nth),
        };
        let fragment = |first, written| {
            let count = name.strip_prefix(first)?.parse().ok()?;
            Some(Role::Fragment { count, written })
        };
        let fragment = fragment('v', false).or_else(|| fragment('w', true));
        let role = match name.trim_end_matches(['2', '3']) {
            _ if fragment.is_some() => fragment?,
            "d" | "D" | "dw" => Role::Destination { vector: false },
            "Dv" => Role::Destination { vector: true },
            "dp" => Role::DestinationAndPredicate,
            "pp" => Role::Predicates,
            "dm" => Role::MoveDestination,
            "s" | "S" | "sw" => Role::Source { vector: false },
            "Sv" | "sv" => Role::Source { vector: true },
            "x" | "X" => Role::FreeSource,
            "xm" => Role::MoveSource,
            "r" => Role::IntegerRegister,
            "a" => Role::Address,
            "ag" => Role::AddressIn(Space::Global),
            "as" => Role::AddressIn(Space::Shared),
            "_" => Role::Sink,
            "i" => Role::Constant,
            "l" => Role::Label,
            "t" => Role::BranchTable,
            "c" => Role::Call,
            "*" => Role::Anything,
            "**" => Role::Rest,
            _ => return None,
        };
        Some(Self {
            role,
            typed,
            wider: name.starts_with(|first: char| first.is_ascii_uppercase()),
            optional,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let names = HashMap::new();
        let lines = TABLE
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with(['#', '$']));
        for line in lines {
            let (_, form) = Form::read(line, &names).unwrap_or_else(|| panic!("{line}"));
            let operands = line.split_once(" =").unwrap().1;
            let operands = operands
                .split("until")
                .next()
                .unwrap()
                .split('@')
                .next()
                .unwrap();
            assert_eq!(
                form.slots.len(),
                operands.split_whitespace().count(),
                "{line}"
            );
            for group in &form.groups {
                let types = |name: &&&str| Type::from_name(name).is_some();
                let count = group.choices.iter().filter(types).count();
                assert!(count == 0 || count == group.choices.len(), "{line}");
            }
        }
    }

    #[test]
    fn modifiers_come_in_any_order_and_types_in_theirs() {
        let forms = &table()["cvt"];
        let has = |modifiers: &[&str]| forms.iter().any(|form| form.types_of(modifiers).is_some());
        assert!(has(&["rn", "f32", "s32"]));
        assert!(has(&["f32", "rn", "s32"]));
        assert!(!has(&["f32", "s32"]));
        assert!(!has(&["rn", "s32", "f32"]));
        assert!(has(&["rn", "rn", "f32", "s32"]));
        assert!(!has(&["rn", "rz", "f32", "s32"]));
    }
}
