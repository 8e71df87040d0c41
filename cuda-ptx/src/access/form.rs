//! What a value is made of: a sum of parameters and numbers, as far as that can be told.

/// Slots of a function that are told apart; what more there are share the last number.
pub(super) const MOST_SLOTS: u8 = 63;
/// The set that stands for all slots that are not told apart.
const OTHERS: u64 = 1 << MOST_SLOTS;

/// The set of one slot.
pub(super) fn set_of(slot: u8) -> u64 {
    1 << slot.min(MOST_SLOTS)
}

/// The slots of a set.
pub(super) fn slots_in(set: u64) -> impl Iterator<Item = u8> {
    (0..MOST_SLOTS).filter(move |slot| set & set_of(*slot) != 0)
}

/// A sum: some slots once, some subtracted, and something made of further slots in another way. Slots are pieces of 8 bytes of the
/// function's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Form {
    /// The slots that are part of the sum exactly once.
    pub(super) plus: u64,
    /// The slots that are subtracted exactly once.
    pub(super) minus: u64,
    /// The slots that the rest may be made of.
    pub(super) mixed: u64,
    pub(super) flags: u8,
}

/// It may hold an address in local, shared, constant or parameter memory.
pub(super) const NEAR: u8 = 1;
/// It may hold the address of a variable in global memory.
pub(super) const FAR: u8 = 2;
/// A part of it may be a whole value from memory, and so an address.
pub(super) const LOADED: u8 = 4;
/// It depends on what is in memory.
pub(super) const TAINTED: u8 = 8;

impl Form {
    /// A number, of which nothing else is to be known.
    pub(super) const NUMBER: Self = Self::flagged(0);
    /// A value from memory.
    pub(super) const FROM_MEMORY: Self = Self::flagged(LOADED | TAINTED);
    /// Anything.
    pub(super) const ANYTHING: Self = Self {
        plus: 0,
        minus: 0,
        mixed: u64::MAX,
        flags: NEAR | FAR | LOADED | TAINTED,
    };

    pub(super) const fn flagged(flags: u8) -> Self {
        Self {
            plus: 0,
            minus: 0,
            mixed: 0,
            flags,
        }
    }

    /// The value of a slot.
    pub(super) fn slot(slot: u8) -> Self {
        let set = set_of(slot);
        Self {
            plus: set & !OTHERS,
            mixed: set & OTHERS,
            ..Self::NUMBER
        }
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// All slots that it may depend on.
    pub(super) fn all(self) -> u64 {
        self.plus | self.minus | self.mixed
    }

    pub(super) fn plus(self, other: Self) -> Self {
        // An invariant: no slot is in both `plus` and `minus`, so nothing is added twice and subtracted at once.
        let twice = (self.plus & other.plus) | (self.minus & other.minus);
        let (plus, minus) = (self.plus | other.plus, self.minus | other.minus);
        let gone = (plus & minus) | twice;
        Self {
            plus: plus & !gone,
            minus: minus & !gone,
            mixed: self.mixed | other.mixed | twice,
            flags: self.flags | other.flags,
        }
    }

    pub(super) fn negated(self) -> Self {
        Self {
            plus: self.minus,
            minus: self.plus,
            ..self
        }
    }

    /// What an operation makes of it of which only the sources are known, such as a shift: no address, if it is one of numbers.
    pub(super) fn scaled(self) -> Self {
        Self {
            flags: self.flags & !LOADED,
            ..self.in_pieces()
        }
    }

    /// Halves of it, or a whole from halves: an address may come out.
    pub(super) fn in_pieces(self) -> Self {
        Self {
            plus: 0,
            minus: 0,
            mixed: self.all(),
            flags: self.flags,
        }
    }

    /// Either of the two.
    pub(super) fn or(self, other: Self) -> Self {
        let (plus, minus) = (self.plus & other.plus, self.minus & other.minus);
        let kept = plus | minus;
        let parts = (self.plus | self.minus | other.plus | other.minus) & !kept;
        Self {
            plus,
            minus,
            mixed: self.mixed | other.mixed | parts,
            flags: self.flags | other.flags,
        }
    }

    /// Whether it is an address outside global memory for certain.
    pub(super) fn is_near(self) -> bool {
        self.has(NEAR) && !self.has(FAR) && !self.has(LOADED) && self.all() == 0
    }

    /// The slot that an address made of it certainly derives from, among those of `memory`, which the rest cannot be addresses of.
    pub(super) fn base_among(self, memory: u64) -> Option<u8> {
        let memory = memory | OTHERS;
        let base = self.plus & memory;
        let is_sole = base.count_ones() == 1
            && self.minus & memory == 0
            && self.mixed & memory & !base == 0
            && self.flags & (NEAR | FAR | LOADED) == 0;
        is_sole.then(|| u8::try_from(base.trailing_zeros()).unwrap_or(MOST_SLOTS))
    }
}

/// What is known of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing has reached it yet.
    Nothing,
    /// The constant 0, which may stand for no address.
    Null,
    /// The address of a parameter, and bytes behind it.
    ParameterAt(u32, i64),
    Form(Form),
}

impl Value {
    pub(super) const NUMBER: Self = Self::Form(Form::NUMBER);

    /// As a sum; nothing for what nothing has reached.
    pub(super) fn form(self) -> Option<Form> {
        match self {
            Self::Nothing => None,
            Self::Null => Some(Form::NUMBER),
            Self::ParameterAt(..) => Some(Form::ANYTHING),
            Self::Form(form) => Some(form),
        }
    }

    /// Either of the two.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, it) | (it, Self::Nothing) => it,
            (one, same) if one == same => one,
            // A distance is 0 between an address and itself, and is added to that: 0 and a distance are two addresses.
            (Self::Null, Self::Form(form)) | (Self::Form(form), Self::Null) if form.minus != 0 => {
                Self::Form(Form::NUMBER.or(form))
            }
            (Self::Null, it) | (it, Self::Null) => it,
            (Self::Form(one), Self::Form(two)) => Self::Form(one.or(two)),
            _ => Self::Form(Form::ANYTHING),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_cancel() {
        let (p, q) = (Form::slot(0), Form::slot(1));
        let distance = q.plus(p.negated());
        assert_eq!(p.plus(distance), q);
        assert_eq!(distance.base_among(u64::MAX), None);
        let twice = p.plus(p);
        assert_eq!((twice.plus, twice.mixed), (0, 1));
    }

    #[test]
    fn either_of_two_addresses_is_neither() {
        let (p, q) = (Form::slot(0), Form::slot(1));
        let either = p.or(q);
        assert_eq!(either.base_among(u64::MAX), None);
        assert_eq!(either.all(), 3);
        assert_eq!(p.or(p).base_among(u64::MAX), Some(0));
        // An offset that is made of a number is no base.
        assert_eq!(p.plus(q.scaled()).base_among(1), Some(0));
        assert_eq!(p.plus(q.scaled()).base_among(3), None);
        assert_eq!(p.plus(Form::FROM_MEMORY).base_among(1), None);
        assert_eq!(p.plus(Form::FROM_MEMORY.scaled()).base_among(1), Some(0));
    }

    #[test]
    fn slots_beyond_the_last_are_never_a_base() {
        let many = Form::slot(200);
        assert_eq!(many.base_among(u64::MAX), None);
        assert_eq!(Form::slot(0).plus(many).base_among(1), None);
    }

    #[test]
    fn null_is_no_address() {
        let p = Value::Form(Form::slot(3));
        assert_eq!(Value::Null.or(p), p);
        assert_eq!(Value::NUMBER.or(p).form().map(|it| it.plus), Some(0));
    }
}
