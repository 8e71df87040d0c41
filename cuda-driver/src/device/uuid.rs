//! The identity of a device that stays the same over reboots and between machines.

use std::fmt;

use cuda_sys::CUuuid;

/// The number that no other device has.
///
/// `Display` writes it as `nvidia-smi` and `CUDA_VISIBLE_DEVICES` do, `GPU-` in front.
///
/// ```
/// use cuda_driver::Uuid;
///
/// let uuid = Uuid::from_bytes([0xab; 16]);
/// assert_eq!(uuid.to_string(), "GPU-abababab-abab-abab-abab-abababababab");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// A number by its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, in the order in which they are written.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl From<CUuuid> for Uuid {
    fn from(raw: CUuuid) -> Self {
        // The sign of C's `char` depends on the platform; the bytes do not.
        Self(raw.bytes.map(|byte| byte.to_ne_bytes()[0]))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 0 | 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_driver_keep_their_order_and_sign() {
        let mut raw = CUuuid::default();
        for (index, byte) in raw.bytes.iter_mut().enumerate() {
            let value = u8::try_from(0xf8 + index % 8).unwrap_or(0);
            *byte = std::ffi::c_char::from_ne_bytes([value]);
        }
        assert_eq!(
            Uuid::from(raw).to_string(),
            "GPU-f8f9fafb-fcfd-feff-f8f9-fafbfcfdfeff"
        );
    }
}
