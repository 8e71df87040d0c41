//! Lengths and other numbers that declarations compute, and the errors of those that do not fit.

use super::arguments::sealed::Ours;
use crate::error::{Error, ErrorKind, count};

/// An integer that may stand in a length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer, so a length cannot be computed of it"
)]
pub trait Integer: Copy + Ours {
    /// Its value; nothing if it is negative.
    fn to_u128(self) -> Option<u128>;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Ours for $type {}

        impl Integer for $type {
            #[inline(always)]
            fn to_u128(self) -> Option<u128> {
                u128::try_from(self).ok()
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// A computed number as the type of the parameter that it is filled into.
#[inline(always)]
#[must_use]
pub fn filled<T: Integer + TryFrom<N>, N>(number: N) -> Option<T> {
    number.try_into().ok()
}

/// A sum, unless it overflows or a part has.
#[inline(always)]
#[must_use]
pub fn add(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    a?.checked_add(b?)
}

/// A difference, unless it is negative.
#[inline(always)]
#[must_use]
pub fn subtract(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    a?.checked_sub(b?)
}

/// A product, unless it overflows.
#[inline(always)]
#[must_use]
pub fn multiply(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    a?.checked_mul(b?)
}

/// A quotient, unless the divisor is zero.
#[inline(always)]
#[must_use]
pub fn divide(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    a?.checked_div(b?)
}

/// A quotient rounded up, unless the divisor is zero.
#[inline(always)]
#[must_use]
pub fn divide_up(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    let (a, b) = (a?, b?);
    (b != 0).then(|| a.div_ceil(b))
}

/// A remainder, unless the divisor is zero.
#[inline(always)]
#[must_use]
pub fn remainder(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    a?.checked_rem(b?)
}

/// The smaller one.
#[inline(always)]
#[must_use]
pub fn smaller(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    Some(a?.min(b?))
}

/// The larger one.
#[inline(always)]
#[must_use]
pub fn larger(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    Some(a?.max(b?))
}

/// The names that an error needs: of the kernel, of the parameter or other place, and the text of the expression.
pub type Place = (&'static str, &'static str, &'static str);

/// Memory that has not as many elements as it is declared to have.
#[cold]
#[inline(never)]
#[must_use]
pub fn wrong_len(place: &Place, has: usize, wanted: Option<u128>, at_least: bool) -> Error {
    let (kernel, parameter, text) = *place;
    let Some(wanted) = wanted else {
        return wrong_number(place);
    };
    let least = if at_least { "at least " } else { "" };
    let equal = match text.parse::<u128>() {
        Ok(_) => String::new(),
        Err(_) => format!(" = {wanted}"),
    };
    let has = count(has, "element");
    let reason = format!("`{parameter}` has {has} where the kernel wants {least}{text}{equal}");
    Error::new(ErrorKind::ArgumentMismatch, reason).doing(format!("launch `{kernel}`"))
}

/// A number that is negative, overflows, divides by zero, or is too large for its place.
#[cold]
#[inline(never)]
#[must_use]
pub fn wrong_number(place: &Place) -> Error {
    let (kernel, parameter, text) = *place;
    let reason = format!("`{text}` is not a number that fits {parameter}");
    Error::new(ErrorKind::ArgumentMismatch, reason).doing(format!("launch `{kernel}`"))
}
