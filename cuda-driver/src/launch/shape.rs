//! The sizes of a kernel's parameters in one number.

/// Up to 16 sizes of up to 254 bytes, a byte each; two equal shapes have the same sizes.
///
/// Lists that do not fit have a shape that equals no other, so they are compared one by one.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// All sizes, of up to eight.
    short: u64,
    /// All sizes.
    long: u128,
}

impl Shape {
    /// What a kernel takes that is larger, or that nobody knows.
    pub(crate) const OF_NO_KERNEL: Self = Self {
        short: u64::MAX,
        long: u128::MAX,
    };
    /// What is given that is larger.
    const OF_NO_ARGUMENTS: Self = Self {
        short: u64::MAX,
        long: u128::MAX - 1,
    };

    /// Whether a kernel of this shape takes what is given, of a shape that is known when the program is compiled.
    #[inline(always)]
    pub(crate) fn takes(self, given: Self) -> bool {
        if given.short == u64::MAX {
            self.long == given.long
        } else {
            self.short == given.short
        }
    }

    /// The shape of arguments.
    pub(crate) const fn given(sizes: &[usize]) -> Self {
        match Self::pack(sizes) {
            Some(shape) => shape,
            None => Self::OF_NO_ARGUMENTS,
        }
    }

    /// The shape of a kernel's parameters.
    pub(crate) fn taken(sizes: Option<&[usize]>) -> Self {
        sizes.and_then(Self::pack).unwrap_or(Self::OF_NO_KERNEL)
    }

    const fn pack(sizes: &[usize]) -> Option<Self> {
        if sizes.len() > 16 {
            return None;
        }
        let mut packed = 0_u128;
        let mut index = 0;
        while index < sizes.len() {
            let size = sizes[index];
            if size == 0 || size > 254 {
                return None;
            }
            packed |= (size as u128) << (8 * index);
            index += 1;
        }
        // A size is never 255, so the short form of eight sizes is never all ones.
        let short = if sizes.len() > 8 {
            u64::MAX
        } else {
            packed as u64
        };
        Some(Self {
            short,
            long: packed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes_are_equal_only_for_equal_sizes() {
        let lists: [&[usize]; 9] = [
            &[],
            &[8],
            &[8, 8],
            &[8, 4],
            &[4, 8],
            &[8; 8],
            &[8; 9],
            &[254; 8],
            &[254; 16],
        ];
        for a in lists {
            for b in lists {
                assert_eq!(
                    Shape::taken(Some(b)).takes(Shape::given(a)),
                    a == b,
                    "{a:?} and {b:?}"
                );
            }
        }
    }

    #[test]
    fn what_does_not_fit_equals_nothing() {
        for list in [&[255][..], &[8; 17][..]] {
            assert!(!Shape::taken(Some(list)).takes(Shape::given(list)));
        }
        assert!(!Shape::taken(None).takes(Shape::given(&[])));
    }
}
