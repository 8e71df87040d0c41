//! What modules are loaded from: PTX by itself, in fatbins and in files.

#[path = "support/fatbin.rs"]
mod fatbin;
mod support;

use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::ptr;

use cuda_sim::{DeviceConfig, Simulator};
use fatbin::{CUBIN, EXACT, FAMILY, PACKINGS, PTX, Packing, container, entry, ptx};
use support::{Rig, call, fails, ok};

/// A module for an architecture, with the variable `which` that names it.
fn text(architecture: u32) -> String {
    format!(
        ".version 9.0\n.target sm_{architecture}\n.address_size 64\n.visible .global .align 4 .u32 which = {architecture};\n"
    )
}

fn device(compute_capability: (u32, u32)) -> Rig {
    let device = DeviceConfig {
        compute_capability,
        ..DeviceConfig::h200()
    };
    Rig::with(
        Simulator::builder()
            .devices(vec![device])
            .build()
            .expect("a free slot"),
    )
}

/// Loads an image and says which of the modules it was, or the code of the refusal.
fn load(rig: &Rig, image: &[u8]) -> Result<u32, u32> {
    let mut module = ptr::null_mut();
    let result = call!(
        rig.cuda,
        cuModuleLoadData(&raw mut module, image.as_ptr().cast())
    );
    if result.0 != 0 {
        return Err(result.0);
    }
    let (mut address, mut size) = (0, 0);
    ok!(
        rig.cuda,
        cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module, c"which".as_ptr())
    );
    let which = rig.download(address, 1)[0];
    ok!(rig.cuda, cuModuleUnload(module));
    Ok(which)
}

#[test]
fn the_latest_ptx_that_the_device_includes_is_chosen() {
    for packing in PACKINGS {
        let entry_for = |architecture| ptx(architecture, packing, &text(architecture));
        let image = container(&[
            entry(CUBIN, 90, 0, packing, b"machine code"),
            entry_for(75),
            entry_for(86),
            entry_for(80),
            entry_for(100),
        ]);
        for (capability, which) in [
            ((7, 0), Err(209)),
            ((7, 5), Ok(75)),
            ((8, 0), Ok(80)),
            ((8, 9), Ok(86)),
            ((9, 0), Ok(86)),
            ((12, 0), Ok(100)),
        ] {
            let rig = device(capability);
            assert_eq!(load(&rig, &image), which, "{packing:?} {capability:?}");
        }
    }
}

#[test]
fn text_for_one_architecture_alone_goes_nowhere_else() {
    let of = |flags, name: &str| {
        let text = format!("{}\0", text(90).replace("sm_90", name));
        entry(
            PTX,
            name[3..6].trim_end_matches('a').parse().unwrap_or(90),
            flags,
            Packing::Zstd,
            text.as_bytes(),
        )
    };
    let image = container(&[of(EXACT, "sm_90a")]);
    assert_eq!(load(&device((9, 0)), &image), Ok(90));
    assert_eq!(load(&device((10, 0)), &image), Err(209));
    let image = container(&[of(FAMILY, "sm_100f")]);
    assert_eq!(load(&device((10, 3)), &image), Ok(90));
    assert_eq!(load(&device((12, 0)), &image), Err(209));
}

#[test]
fn machine_code_alone_has_no_binary_for_this_device() {
    let rig = Rig::new();
    let mut cubin = [0u8; 64];
    cubin[..4].copy_from_slice(b"\x7fELF");
    cubin[18] = 190;
    assert_eq!(load(&rig, &cubin), Err(209));
    let image = container(&[entry(CUBIN, 90, 0, Packing::Plain, &cubin)]);
    assert_eq!(load(&rig, &image), Err(209));
    assert_eq!(load(&rig, &container(&[])), Err(209));
    assert_eq!(
        load(&rig, &container(&[ptx(100, Packing::Lz4, &text(100))])),
        Err(209)
    );
}

#[test]
fn damaged_containers_are_no_images() {
    let rig = Rig::new();
    let sound = container(&[ptx(80, Packing::Lz4, &text(80))]);
    assert_eq!(load(&rig, &sound), Ok(80));
    // Headers that are wrong, and content that cannot be unpacked.
    for (place, value, code) in [
        (4, 2, 200),
        (6, 8, 200),
        (15, 0xff, 200),
        (20, 8, 200),
        (24, 0xff, 200),
        (34, 1, 200),
        (72, 1, 999),
    ] {
        let mut image = sound.clone();
        image[place] = value;
        assert_eq!(load(&rig, &image), Err(code), "byte {place}");
    }
    // What the entry holds is judged as text that is passed by itself.
    for (content, code) in [
        (
            ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret }",
            218,
        ),
        (".version 99.0\n.target sm_75\n.address_size 64\n", 222),
        ("hello", 200),
    ] {
        let image = container(&[ptx(75, Packing::Zstd, content)]);
        assert_eq!(load(&rig, &image), Err(code), "{content}");
    }
}

/// What a compiler puts into a program for each container.
#[repr(C)]
struct Registered {
    magic: u32,
    version: u32,
    container: *const u8,
    unused: *const c_void,
}

#[test]
fn the_registration_structure_leads_to_its_container() {
    let rig = Rig::new();
    let image = container(&[ptx(80, Packing::Zstd, &text(80))]);
    let registered = Registered {
        magic: 0x4662_43b1,
        version: 1,
        container: image.as_ptr(),
        unused: ptr::null(),
    };
    let (mut module, image) = (ptr::null_mut(), ptr::from_ref(&registered).cast());
    ok!(rig.cuda, cuModuleLoadFatBinary(&raw mut module, image));
    fails!(200, rig.cuda, cuModuleLoadData(&raw mut module, image));
    let empty = Registered {
        container: ptr::null(),
        ..registered
    };
    let mut module = ptr::null_mut();
    fails!(
        1,
        rig.cuda,
        cuModuleLoadFatBinary(&raw mut module, ptr::from_ref(&empty).cast())
    );
}

/// A file that is removed with the value.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("cuda-sim-{}-{name}", std::process::id()));
        std::fs::write(&path, content).expect("a writable folder");
        Self(path)
    }

    fn name(&self) -> CString {
        CString::new(self.0.to_str().expect("plain text")).expect("no NUL")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[test]
fn files_hold_text_without_its_nul_or_a_container() {
    let rig = Rig::new();
    let mut module = ptr::null_mut();
    let whole = container(&[ptx(80, Packing::Lz4, &text(80))]);
    for (name, content, code) in [
        ("text", text(75).into_bytes(), 0),
        ("container", whole.clone(), 0),
        ("cut", whole[..whole.len() - 1].to_vec(), 200),
        ("header", whole[..9].to_vec(), 200),
        ("magic", whole[..3].to_vec(), 200),
        ("elf", b"\x7fELF".to_vec(), 200),
        ("empty", Vec::new(), 200),
        ("bytes", vec![0xff; 100], 200),
    ] {
        let file = File::new(name, &content);
        let result = call!(
            rig.cuda,
            cuModuleLoad(&raw mut module, file.name().as_ptr())
        );
        assert_eq!(result.0, code, "{name}");
    }
}
