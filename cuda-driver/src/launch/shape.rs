//! The sizes of a kernel's parameters in one number.

/// Up to 16 sizes of up to 254 bytes, a byte each; two equal shapes have the same sizes.
///
/// Lists that do not fit have a shape that equals no other, so they are compared one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(u128);

impl Shape {
    /// What a kernel takes that is larger, or that nobody knows.
    pub(crate) const OF_NO_KERNEL: Self = Self(u128::MAX);
    /// What is given that is larger.
    const OF_NO_ARGUMENTS: Self = Self(u128::MAX - 1);

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
        let mut packed = 0;
        let mut index = 0;
        while index < sizes.len() {
            let size = sizes[index];
            if size == 0 || size > 254 {
                return None;
            }
            packed |= (size as u128) << (8 * index);
            index += 1;
        }
        Some(Self(packed))
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes_are_equal_only_for_equal_sizes() {
        let lists: [&[usize]; 6] = [&[], &[8], &[8, 8], &[8, 4], &[4, 8], &[254; 16]];
        for a in lists {
            for b in lists {
                assert_eq!(
                    Shape::given(a) == Shape::taken(Some(b)),
                    a == b,
                    "{a:?} and {b:?}"
                );
            }
        }
    }

    #[test]
    fn what_does_not_fit_equals_nothing() {
        for list in [&[255][..], &[8; 17][..]] {
            assert_ne!(Shape::given(list), Shape::taken(Some(list)));
        }
        assert_ne!(Shape::given(&[]), Shape::taken(None));
    }
}
