//! Real user-mode drivers of several CUDA generations, which load without a GPU.
//!
//! `CUDA_SYS_OLD_DRIVERS` names the directory that `tests/fetch_drivers.sh` filled. Without it these tests are skipped.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::{child, is_child};
use cuda_sys::{CUresult, Library, SYMBOLS, StreamVariant, Symbol};

/// Major version of each driver, and the CUDA version that it supports.
const GENERATIONS: [(u32, i32); 8] = [
    (418, 10010),
    (450, 11000),
    (460, 11020),
    (470, 11040),
    (525, 12000),
    (535, 12020),
    (550, 12040),
    (555, 12050),
];

/// Loads one driver and says what it has; each driver gets a process of its own.
#[test]
fn describe_one_driver() {
    if !is_child("describe_one_driver") {
        return;
    }
    let path = PathBuf::from(std::env::var_os("CUDA_SYS_TEST_DRIVER").unwrap());
    // SAFETY: it is a driver of NVIDIA's.
    let library = unsafe { Library::load_from(&path) }.unwrap_or_else(|error| panic!("{error}"));
    // The line that the test harness has begun ends here.
    println!();
    println!("version {}", library.driver_version().unwrap());
    // SAFETY: it is loaded already.
    let exports = unsafe { libloading::Library::new(&path) }.unwrap();
    for symbol in &SYMBOLS {
        // SAFETY: the symbol is only taken as an address.
        let exported =
            unsafe { exports.get::<*mut core::ffi::c_void>(symbol.name.to_bytes_with_nul()) }.ok();
        let resolved = library.resolve(symbol).ok();
        if let Some(address) = exported {
            println!("exports {symbol}");
            assert_eq!(
                resolved.map(|resolved| resolved.as_ptr()),
                Some(*address),
                "{symbol}"
            );
            if let Some(address) = handed_out(&library, symbol) {
                println!(
                    "hands_out {symbol} {}",
                    address == resolved.unwrap().as_ptr()
                );
            }
        } else if resolved.is_some() {
            println!("only_hands_out {symbol}");
        } else {
            let message = library.resolve(symbol).unwrap_err().to_string();
            assert!(message.contains(symbol.as_str()), "{message}");
        }
    }
    // SAFETY: `cuInit` takes flags, which must be 0.
    println!("init {:?}", unsafe { library.cuInit().unwrap()(0) });
}

/// What `cuGetProcAddress_v2` answers for the symbol and its own version; `None` for drivers without that function.
fn handed_out(library: &Library, symbol: &Symbol) -> Option<*mut core::ffi::c_void> {
    let function = library.cuGetProcAddress_v2().ok()?;
    let name = std::ffi::CString::new(symbol.base).unwrap();
    let flags = if symbol.stream_variant == StreamVariant::Legacy {
        1
    } else {
        2
    };
    let (mut address, mut found) = (core::ptr::null_mut(), Default::default());
    let version = i32::try_from(symbol.first_cuda).unwrap();
    // SAFETY: the name ends in a NUL, and the function writes one pointer and one query result.
    let status = unsafe {
        function(
            name.as_ptr(),
            &raw mut address,
            version,
            flags,
            &raw mut found,
        )
    };
    assert_eq!(status, CUresult::CUDA_SUCCESS, "{symbol}");
    Some(address)
}

/// The symbols that the table expects a driver of this major version to export.
fn expected(major: u32) -> BTreeSet<String> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("generator/data/driver_symbols.tsv");
    let table = std::fs::read_to_string(table).unwrap();
    let mut symbols = BTreeSet::new();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let first = cells[9]
            .split('(')
            .next()
            .and_then(|first| first.parse::<u32>().ok());
        if first.is_some_and(|first| first <= major) {
            symbols.insert(cells[0].to_string());
        }
    }
    symbols
}

#[test]
fn each_generation_has_exactly_the_expected_symbols() {
    let Some(directory) = std::env::var_os("CUDA_SYS_OLD_DRIVERS").map(PathBuf::from) else {
        println!(
            "skipped: CUDA_SYS_OLD_DRIVERS is not set; fill a directory with cuda-sys/tests/fetch_drivers.sh"
        );
        return;
    };
    let mut checked = 0;
    for (major, version) in GENERATIONS {
        let path = directory.join(major.to_string()).join("libcuda.so.1");
        if !path.is_file() {
            println!("skipped: {} does not exist", path.display());
            continue;
        }
        let mut command = child("describe_one_driver");
        command
            .env("CUDA_SYS_TEST_DRIVER", &path)
            .env("LD_LIBRARY_PATH", path.parent().unwrap());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "driver {major}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut lines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (word, rest) in text.lines().filter_map(|line| line.split_once(' ')) {
            lines.entry(word).or_default().push(rest);
        }
        assert_eq!(lines["version"], [version.to_string()], "driver {major}");
        let exported: BTreeSet<String> = lines["exports"]
            .iter()
            .map(|name| name.to_string())
            .collect();
        let expected = expected(major);
        let differing: Vec<_> = exported.symmetric_difference(&expected).collect();
        assert!(
            differing.is_empty(),
            "driver {major} and the table differ in {differing:?}"
        );
        // From 12.0 on the driver itself can be asked, and must mean the same function.
        let handed_out = lines
            .get("hands_out")
            .map(Vec::as_slice)
            .unwrap_or_default();
        assert_eq!(
            handed_out.len(),
            if version >= 12000 { exported.len() } else { 0 },
            "driver {major}"
        );
        let other: Vec<_> = handed_out
            .iter()
            .filter(|line| !line.ends_with(" true"))
            .collect();
        assert!(
            other.is_empty(),
            "driver {major} hands out another function than it exports: {other:?}"
        );
        // With a GPU in the machine, a user-mode driver of another version than the kernel's says so.
        let init = lines["init"][0];
        let refusals = [
            "CUDA_ERROR_NO_DEVICE",
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        ];
        let has_gpu = Path::new("/proc/driver/nvidia/version").exists();
        assert!(
            init == refusals[0] || (has_gpu && refusals.contains(&init)),
            "driver {major}: cuInit returned {init}"
        );
        println!(
            "driver {major}: CUDA {version}, {} symbols, cuInit: {init}",
            exported.len()
        );
        checked += 1;
    }
    println!("{checked} driver generations checked");
}
