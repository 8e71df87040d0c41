//! Devices like those that can be bought.

use super::DeviceConfig;

/// A preset: name, compute capability, bytes of memory, multiprocessors, and bytes of shared memory that a block can ask for.
type Preset = (&'static str, (u32, u32), u64, u32, u32);

impl DeviceConfig {
    /// A device like an H200: compute capability 9.0.
    #[must_use]
    pub fn h200() -> Self {
        Self::like(("H200", (9, 0), 150_109_880_320, 132, 232_448))
    }

    /// A device like a B200: compute capability 10.0.
    #[must_use]
    pub fn b200() -> Self {
        Self::like(("B200", (10, 0), 191_512_969_216, 148, 232_448))
    }

    /// A device like an A100 of 80 GB: compute capability 8.0.
    #[must_use]
    pub fn a100() -> Self {
        Self::like(("A100", (8, 0), 85_094_825_984, 108, 166_912))
    }

    /// A device like a GeForce RTX 4090: compute capability 8.9.
    #[must_use]
    pub fn rtx4090() -> Self {
        Self::like(("GeForce RTX 4090", (8, 9), 25_386_352_640, 128, 101_376))
    }

    /// A device like a T4: compute capability 7.5.
    #[must_use]
    pub fn t4() -> Self {
        Self::like(("T4", (7, 5), 15_655_829_504, 40, 65_536))
    }

    /// The device of that name: `h200`, `b200`, `a100`, `rtx4090` or `t4`.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        Some(match name {
            "h200" => Self::h200(),
            "b200" => Self::b200(),
            "a100" => Self::a100(),
            "rtx4090" => Self::rtx4090(),
            "t4" => Self::t4(),
            _ => return None,
        })
    }

    fn like((name, compute_capability, total_memory, multiprocessors, optin): Preset) -> Self {
        Self {
            name: format!("NVIDIA {name} (simulated)"),
            compute_capability,
            total_memory,
            multiprocessors,
            shared_memory_per_block: 49_152,
            shared_memory_per_block_optin: optin,
            pci: None,
            uuid: None,
            attributes: Vec::new(),
        }
    }
}
