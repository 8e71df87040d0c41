//! Device attributes: one table row for each, from which come the typed reader, its documentation and the listing.
//!
//! The rows are in the files of this module, by topic.

mod execution;
mod host_memory;
mod identity;
mod memory;
mod sharing;
mod surface;
mod texture;
mod value;

use cuda_sys::CUdevice_attribute;

pub(super) use value::FromAttributes;
pub use value::{
    ComputeMode, DecompressionAlgorithms, NumaConfig, RdmaFlushOptions, RdmaWritesOrdering,
    ShareableHandleTypes,
};

use super::Device;
use crate::error::{Error, ErrorKind, Result};

/// An attribute under the name that the C header gives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    name: &'static str,
    /// A second C name of the same attribute, unless empty.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare all names"))]
    alias: &'static str,
    attribute: CUdevice_attribute,
}

/// Makes a table of attributes, and a reader on [`Device`] for each row.
///
/// A row is `reader: Type = "C name"`, with several names where they are the parts of one value, and `"C name" | "other
/// C name"` where the header has two names for one attribute.
macro_rules! attributes {
    (
        $(#[$heading:meta])*
        {
            $(
                $(#[doc = $doc:literal])+
                $reader:ident: $type:ty = $($name:literal $(| $alias:literal)?),+;
            )+
        }
    ) => {
        pub(super) const ROWS: &[$crate::device::attribute::Row] = &[$($(
            $crate::device::attribute::row($name, concat!("" $(, $alias)?)),
        )+)+];

        $(#[$heading])*
        impl $crate::device::Device {
            $(
                $(#[doc = $doc])+
                ///
                /// # Errors
                /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the driver is too old to know the
                /// attribute.
                $(
                    #[doc(alias = $name)]
                    $(#[doc(alias = $alias)])?
                )+
                pub fn $reader(&self) -> $crate::error::Result<$type> {
                    self.read([$(const { $crate::device::attribute::by_name($name) }),+])
                }
            )+
        }
    };
}
use attributes;

const fn row(name: &'static str, alias: &'static str) -> Row {
    let attribute = by_name(name);
    Row {
        name,
        alias,
        attribute,
    }
}

/// The attribute of a C name; a name that the bindings do not know is an error at compile time.
///
/// Where the header has two names for one attribute, only the first one is known.
const fn by_name(name: &str) -> CUdevice_attribute {
    let mut attribute = CUdevice_attribute(1);
    while attribute.0 < CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX.0 {
        if let Some(known) = attribute.name()
            && is_same(known.as_bytes(), name.as_bytes())
        {
            return attribute;
        }
        attribute.0 += 1;
    }
    panic!("the bindings have no device attribute of this name");
}

const fn is_same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    // The names differ most at their ends.
    let mut index = left.len();
    while index > 0 {
        index -= 1;
        if left[index] != right[index] {
            return false;
        }
    }
    true
}

fn rows() -> impl Iterator<Item = &'static Row> {
    [
        identity::ROWS,
        execution::ROWS,
        memory::ROWS,
        host_memory::ROWS,
        texture::ROWS,
        surface::ROWS,
        sharing::ROWS,
    ]
    .into_iter()
    .flatten()
}

impl Device {
    /// Every attribute that this crate knows, under its C name, with its value as the driver gives it.
    ///
    /// Attributes newer than the driver are errors. Attributes newer than this crate can be read with
    /// [`raw_attribute`](Self::raw_attribute).
    #[must_use]
    pub fn all_attributes(&self) -> Vec<(&'static str, Result<i32>)> {
        rows()
            .map(|row| (row.name, self.raw_attribute(row.attribute)))
            .collect()
    }

    /// Reads the attributes that one value consists of.
    fn read<const N: usize, T: FromAttributes<N>>(
        &self,
        attributes: [CUdevice_attribute; N],
    ) -> Result<T> {
        let mut values = [0; N];
        for (value, attribute) in values.iter_mut().zip(attributes) {
            *value = self.raw_attribute(attribute)?;
        }
        T::from_attributes(values).ok_or_else(|| {
            Error::new(
                ErrorKind::Driver,
                format!("the driver reports {values:?}, which is out of range"),
            )
            .doing(format!("read {attributes:?} of device {}", self.ordinal()))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_attribute_of_the_bindings_has_one_row() {
        let mut seen = HashSet::new();
        for row in rows() {
            assert!(seen.insert(row.attribute), "{} has two rows", row.name);
        }
        for number in 1..CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX.0 {
            let attribute = CUdevice_attribute(number);
            if attribute.name().is_some() {
                assert!(seen.contains(&attribute), "{attribute:?} has no row");
            }
        }
    }

    /// Two names of one value look alike to the bindings at run time, so this reads their text.
    #[test]
    fn every_name_of_the_bindings_is_in_a_row() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda-sys/src/types.rs");
        let bindings = std::fs::read_to_string(path).expect("the bindings lie beside this crate");
        let names: HashSet<&str> = rows().flat_map(|row| [row.name, row.alias]).collect();
        let mut count = 0;
        for line in bindings.lines() {
            let name = line.trim().split(' ').next().unwrap_or_default();
            if name.starts_with("CU_DEVICE_ATTRIBUTE_") && name != "CU_DEVICE_ATTRIBUTE_MAX" {
                assert!(names.contains(name), "{name} is in no row");
                count += 1;
            }
        }
        let named = names.iter().filter(|name| !name.is_empty()).count();
        assert_eq!(
            count, named,
            "a row has a name that the bindings do not have"
        );
    }
}
