//! Numbers of things in messages.

use std::fmt::Display;

/// So many of something: `1 byte`, `2 bytes`.
pub(crate) fn count<N: Display + PartialEq + From<u8>>(number: N, one: &str) -> String {
    let s = if is_one(&number) { "" } else { "s" };
    format!("{number} {one}{s}")
}

/// What so many things do: that `1 byte` `exceeds` and `2 bytes` `exceed`.
pub(crate) fn exceed<N: PartialEq + From<u8>>(number: &N) -> &'static str {
    if is_one(number) { "exceeds" } else { "exceed" }
}

fn is_one<N: PartialEq + From<u8>>(number: &N) -> bool {
    *number == N::from(1)
}

#[cfg(test)]
mod tests {
    use super::{count, exceed};

    #[test]
    fn one_thing_is_no_plural() {
        let texts = [0_usize, 1, 2].map(|it| format!("{} {}", count(it, "byte"), exceed(&it)));
        assert_eq!(
            texts,
            ["0 bytes exceed", "1 byte exceeds", "2 bytes exceed"]
        );
        assert_eq!(count(1_u128, "block"), "1 block");
        assert_eq!(count(-1_i64, "thread"), "-1 threads");
    }
}
