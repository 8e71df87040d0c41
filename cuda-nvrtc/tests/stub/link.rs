//! The linker.

use cuda_nvrtc::{Architecture, ErrorKind, LinkInput, LinkOptions};

use super::build::linker;

const PTX: &str = ".version 7.0 .target sm_52 .address_size 64";
/// How LTO-IR begins.
const LTO_IR: &[u8] = b"\xedCN\x7f";

#[test]
fn the_names_of_all_versions_are_found() {
    for (name, prefix, suffix) in [("link_plain", "", ""), ("link_first", "__", "_12_0")] {
        let linker = linker(name, prefix, suffix);
        let options = LinkOptions::new(Architecture::new(9, 0).specific())
            .link_time_optimization()
            .max_registers(32)
            .fuse_multiply_add(false)
            .keep_kernel("f")
            .raw("-time");
        // SAFETY: the library only counts the bytes.
        let lto = unsafe { LinkInput::lto_ir(LTO_IR) };
        let linked = linker
            .link(&[lto.named("a.ltoir"), LinkInput::ptx(PTX)], &options)
            .unwrap();
        let expected = "-arch=sm_90a\n-lto\n-maxrregcount=32\n-fma=0\n-kernels-used=f\n-time\na.ltoir 3\nPtx 2\n";
        assert_eq!(std::str::from_utf8(linked.image()).unwrap(), expected);
        let error = linker.version().unwrap_err();
        assert!(
            error.kind() == ErrorKind::MissingSymbol
                && error.to_string().contains("nvJitLinkVersion"),
            "{error}"
        );
    }
}

#[test]
fn errors_have_the_log() {
    let linker = linker("link_errors", "", "");
    let options = LinkOptions::new(Architecture::new(8, 0));
    let error = linker
        .link(&[LinkInput::ptx(&format!("{PTX} // undefined"))], &options)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot link 1 programs: (nvJitLinkComplete: NVJITLINK_ERROR_INTERNAL)\nUndefined reference to 'g'".replacen(": (", " (", 1)
    );
    assert_eq!((error.kind(), error.status()), (ErrorKind::Link, Some(6)));
    let error = linker
        .link(&[LinkInput::ptx(PTX)], &options.clone().raw("-bad"))
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.log()),
        (ErrorKind::InvalidOption, "unrecognized option: -bad")
    );
    let error = linker.link(&[LinkInput::ptx("x")], &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let ptx = linker
        .link(
            &[LinkInput::ptx(PTX)],
            &LinkOptions::new(Architecture::new(8, 0)).ptx(),
        )
        .unwrap_err();
    assert_eq!(ptx.call(), Some("nvJitLinkGetLinkedPtxSize"));
}
