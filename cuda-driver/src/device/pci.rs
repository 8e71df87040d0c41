//! Where a device is plugged in, and what PCI says that it is.

use std::fmt;

use super::attribute::FromAttributes;

/// The place of a device on the PCI buses of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// The PCI domain.
    pub domain: u32,
    /// The bus within the domain.
    pub bus: u32,
    /// The slot on the bus.
    pub device: u32,
}

impl fmt::Display for PciAddress {
    /// As system tools write it; the function of a GPU is always 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:04x}:{:02x}:{:02x}.0",
            self.domain, self.bus, self.device
        )
    }
}

impl FromAttributes<3> for PciAddress {
    fn from_attributes(values: [i32; 3]) -> Option<Self> {
        let [domain, bus, device] = <[u32; 3]>::from_attributes(values)?;
        Some(Self {
            domain,
            bus,
            device,
        })
    }
}

/// The two numbers by which PCI names a maker and its product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PciIdentifier {
    /// The maker; NVIDIA is `0x10de`.
    pub vendor: u16,
    /// The product.
    pub device: u16,
}

impl FromAttributes<1> for PciIdentifier {
    fn from_attributes([value]: [i32; 1]) -> Option<Self> {
        let [a, b, c, d] = value.to_le_bytes();
        Some(Self {
            vendor: u16::from_le_bytes([a, b]),
            device: u16::from_le_bytes([c, d]),
        })
    }
}

impl fmt::Display for PciIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_system_tools_do() {
        let address = PciAddress {
            domain: 0,
            bus: 0x3b,
            device: 0,
        };
        assert_eq!(address.to_string(), "0000:3b:00.0");
    }

    #[test]
    fn identifiers_with_the_top_bit_set() {
        let value = 0xa335_10de_u32.cast_signed();
        let identifier = PciIdentifier::from_attributes([value]).map(|it| it.to_string());
        assert_eq!(identifier.as_deref(), Some("10de:a335"));
    }
}
