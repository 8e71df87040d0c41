//! What the library shows to the world: its name, and the driver's symbols alone.
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeSet;

use object::elf::{DF_1_NODELETE, DT_FLAGS_1, DT_SONAME, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use object::{Endianness, Object, ObjectSymbol};

#[test]
fn exports_each_symbol_of_its_version_and_nothing_else() {
    let data = std::fs::read(support::library()).expect("the library is built");
    let file = object::File::parse(&*data).expect("it is an object file");
    let exported: BTreeSet<&str> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .map(|symbol| symbol.name().expect("it has a name"))
        .collect();
    let expected: BTreeSet<&str> = cuda_sys::SYMBOLS
        .iter()
        .filter(|symbol| symbol.first_cuda <= 13_000)
        .map(|symbol| symbol.as_str())
        .filter(|name| *name != "cuEventCreateFromEGLSync")
        .collect();
    assert!(expected.len() > 600, "{} symbols", expected.len());
    let missing: Vec<_> = expected.difference(&exported).collect();
    let foreign: Vec<_> = exported.difference(&expected).collect();
    assert!(
        missing.is_empty() && foreign.is_empty(),
        "missing: {missing:?}; not the driver's: {foreign:?}"
    );
}

#[test]
fn has_the_drivers_name_and_stays_loaded() {
    let data = std::fs::read(support::library()).expect("the library is built");
    let header = FileHeader64::<Endianness>::parse(&*data).expect("it is an ELF file");
    let endian = header.endian().expect("it has an order of bytes");
    let sections = header.sections(endian, &*data).expect("it has sections");
    let (entries, strings) = sections
        .dynamic(endian, &*data)
        .expect("the section can be read")
        .expect("it has a dynamic section");
    let strings = sections
        .strings(endian, &*data, strings)
        .expect("its strings can be read");
    let mut name = None;
    let mut flags = 0;
    for entry in entries {
        match entry.tag32(endian) {
            Some(DT_SONAME) => {
                name = Some(entry.string(endian, strings).expect("it names a string"))
            }
            Some(DT_FLAGS_1) => flags = entry.d_val(endian),
            _ => {}
        }
    }
    assert_eq!(name, Some(&b"libcuda.so.1"[..]));
    assert_ne!(
        flags & u64::from(DF_1_NODELETE),
        0,
        "its threads survive dlclose"
    );
}
