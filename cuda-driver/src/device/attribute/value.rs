//! The types of attributes that are more than a number.

/// A value made from `N` attributes; `None` if they are out of its range.
pub(in crate::device) trait FromAttributes<const N: usize>: Sized {
    fn from_attributes(values: [i32; N]) -> Option<Self>;
}

impl FromAttributes<1> for u32 {
    fn from_attributes([value]: [i32; 1]) -> Option<Self> {
        Self::try_from(value).ok()
    }
}

impl FromAttributes<1> for usize {
    fn from_attributes([value]: [i32; 1]) -> Option<Self> {
        Self::try_from(value).ok()
    }
}

impl FromAttributes<1> for bool {
    fn from_attributes([value]: [i32; 1]) -> Option<Self> {
        Some(value != 0)
    }
}

/// A number that is negative where there is none.
impl FromAttributes<1> for Option<u32> {
    fn from_attributes([value]: [i32; 1]) -> Option<Self> {
        Some(u32::try_from(value).ok())
    }
}

impl<const N: usize> FromAttributes<N> for [u32; N] {
    fn from_attributes(values: [i32; N]) -> Option<Self> {
        let mut result = [0; N];
        for (to, from) in result.iter_mut().zip(values) {
            *to = u32::try_from(from).ok()?;
        }
        Some(result)
    }
}

/// Defines an enumeration that keeps values newer than this crate.
macro_rules! enumeration {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $value:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// A value that is newer than this crate.
            Unknown(i32),
        }

        impl FromAttributes<1> for $name {
            fn from_attributes([value]: [i32; 1]) -> Option<Self> {
                Some(match value {
                    $($value => Self::$variant,)+
                    other => Self::Unknown(other),
                })
            }
        }
    };
}

enumeration! {
    /// How many contexts of how many processes may use a device.
    #[doc(alias = "CUcomputemode")]
    ComputeMode {
        /// Any number of processes.
        Default = 0,
        /// None: creating a context fails.
        Prohibited = 2,
        /// One process at a time.
        ExclusiveProcess = 3,
    }
}

enumeration! {
    /// Whether the device's memory is a NUMA node of the host.
    #[doc(alias = "CUdeviceNumaConfig")]
    NumaConfig {
        /// It is not.
        None = 0,
        /// It is the node that [`Device::numa_node`](crate::Device::numa_node) names.
        NumaNode = 1,
    }
}

enumeration! {
    /// How far the writes of other devices through GPUDirect RDMA are ordered without being flushed.
    #[doc(alias = "CUGPUDirectRDMAWritesOrdering")]
    RdmaWritesOrdering {
        /// Not at all.
        None = 0,
        /// For the device that owns the memory.
        Owner = 100,
        /// For all devices.
        AllDevices = 200,
    }
}

/// Defines a set of bits that keeps bits newer than this crate.
macro_rules! bits {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $constant:ident = $value:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
        pub struct $name(u32);

        impl $name {
            $($(#[$doc])* pub const $constant: Self = Self($value);)+

            /// The bits as the driver gives them.
            #[must_use]
            pub const fn bits(self) -> u32 {
                self.0
            }

            /// Whether every one of `other` is in this set.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl FromAttributes<1> for $name {
            fn from_attributes([value]: [i32; 1]) -> Option<Self> {
                Some(Self(value.cast_unsigned()))
            }
        }
    };
}

bits! {
    /// How memory can be handed to another process.
    #[doc(alias = "CUmemAllocationHandleType")]
    ShareableHandleTypes {
        /// As a POSIX file descriptor.
        POSIX_FILE_DESCRIPTOR = 1,
        /// As a Windows NT handle.
        WIN32 = 2,
        /// As a global Windows handle.
        WIN32_KMT = 4,
        /// As a handle that is good on every node of an NVLink fabric.
        FABRIC = 8,
    }
}

bits! {
    /// What the decompression engine can decompress.
    #[doc(alias = "CUmemDecompressAlgorithm")]
    DecompressionAlgorithms {
        /// Deflate.
        DEFLATE = 1,
        /// Snappy.
        SNAPPY = 2,
        /// LZ4.
        LZ4 = 4,
    }
}

bits! {
    /// How writes of other devices through GPUDirect RDMA can be made visible.
    #[doc(alias = "CUflushGPUDirectRDMAWritesOptions")]
    RdmaFlushOptions {
        /// By `cuFlushGPUDirectRDMAWrites` on the host.
        HOST = 1,
        /// By a flag of the memory operations of streams.
        MEMORY_OPERATIONS = 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_are_refused_or_mean_none() {
        assert_eq!(u32::from_attributes([-1]), None);
        assert_eq!(<[u32; 2]>::from_attributes([1, -1]), None);
        assert_eq!(<Option<u32>>::from_attributes([-1]), Some(None));
        assert_eq!(<Option<u32>>::from_attributes([3]), Some(Some(3)));
    }

    #[test]
    fn values_newer_than_this_crate_survive() {
        assert_eq!(
            ComputeMode::from_attributes([2]),
            Some(ComputeMode::Prohibited)
        );
        assert_eq!(
            ComputeMode::from_attributes([9]),
            Some(ComputeMode::Unknown(9))
        );
        let types = ShareableHandleTypes::from_attributes([0x41]);
        assert_eq!(types.map(ShareableHandleTypes::bits), Some(0x41));
    }
}
