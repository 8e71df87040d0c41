//! Linking with the real nvJitLink.

use cuda_driver::{Driver, LaunchConfig};
use cuda_nvrtc::{
    Architecture, CompileOptions, Compiler, ErrorKind, LinkInput, LinkOptions, Linker, Output,
};

const HELPER: &str = "__device__ int helper(int x) { return 3 * x + 1; }";
const KERNEL: &str = "__device__ int helper(int x);
extern \"C\" __global__ void apply(int *x) { x[threadIdx.x] = helper(x[threadIdx.x]); }";

/// Each linker with a compiler whose code it takes.
fn pairs() -> Vec<(Compiler, Linker)> {
    let linkers: Vec<Linker> = match std::env::var_os("CUDA_NVJITLINK_TEST_PATHS") {
        Some(list) => std::env::split_paths(&list)
            .filter(|path| !path.as_os_str().is_empty())
            // SAFETY: whoever set the variable vouches for the libraries.
            .map(|path| unsafe { Linker::load_from(path) }.unwrap())
            .collect(),
        None => Linker::find().ok().into_iter().collect(),
    };
    if linkers.is_empty() {
        println!("skipped: there is no nvJitLink; `pip install nvidia-nvjitlink` installs one");
    }
    let mut pairs = Vec::new();
    for linker in linkers {
        // The oldest ones cannot tell; they are of 12.0.
        let newest = match linker.version() {
            Ok(version) => (version.major, version.minor),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::MissingSymbol);
                (12, 0)
            }
        };
        pairs.extend(super::compilers().into_iter().filter_map(|compiler| {
            let version = compiler.version().unwrap();
            let fits = version.major == newest.0 && version.minor <= newest.1;
            fits.then(|| (compiler, linker.clone()))
        }));
    }
    pairs
}

#[test]
fn programs_of_lto_ir_become_one() {
    let context = Driver::simulated()
        .unwrap()
        .device(0)
        .unwrap()
        .primary_context()
        .unwrap();
    let stream = context.create_stream().unwrap();
    let architecture = Architecture::new(8, 0);
    let options = CompileOptions::new()
        .output(Output::LtoIr)
        .architecture(architecture);
    for (compiler, linker) in pairs() {
        let helper = compiler.compile(HELPER, &options).unwrap();
        let kernel = compiler.compile(KERNEL, &options).unwrap();
        let error = kernel.clone().load(&context).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongOutput);
        let inputs = [LinkInput::compiled(&helper), LinkInput::compiled(&kernel)];
        let options = LinkOptions::new(architecture).link_time_optimization();
        let cubin = linker.link(&inputs, &options.clone()).unwrap();
        assert_eq!(cubin.image().get(..4), Some(&b"\x7fELF"[..]));
        let linked = linker.link(&inputs, &options.ptx()).unwrap();
        let ptx = linked.ptx().unwrap();
        assert!(
            ptx.contains(".entry apply") && !ptx.contains("call"),
            "{ptx}"
        );
        if super::runs_here(&compiler)
            && linker
                .version()
                .is_ok_and(|it| (it.major, it.minor) <= (13, 0))
        {
            let module = linked.load(&context).unwrap();
            let mut numbers = stream.upload(&[1, 2, 3_i32]).unwrap();
            // SAFETY: each of the three threads changes one of the three numbers.
            unsafe {
                module.function("apply").unwrap().launch(
                    &stream,
                    LaunchConfig::new(1, 3),
                    (&mut numbers,),
                )
            }
            .unwrap();
            assert_eq!(numbers.to_vec().unwrap(), [4, 7, 10]);
        }
    }
}

#[test]
fn relocatable_ptx_and_cubins_are_linked_too() {
    let architecture = Architecture::new(8, 0);
    for (compiler, linker) in pairs() {
        for output in [Output::Ptx, Output::Cubin] {
            let options = CompileOptions::new()
                .output(output)
                .architecture(architecture)
                .relocatable();
            let helper = compiler.compile(HELPER, &options).unwrap();
            let kernel = compiler.compile(KERNEL, &options).unwrap();
            let inputs = [LinkInput::compiled(&helper), LinkInput::compiled(&kernel)];
            let linked = linker
                .link(&inputs, &LinkOptions::new(architecture))
                .unwrap();
            assert_eq!(
                (linked.output(), linked.image().get(..4)),
                (Output::Cubin, Some(&b"\x7fELF"[..]))
            );
        }
    }
}

#[test]
fn what_cannot_be_linked_is_an_error_with_the_log() {
    let architecture = Architecture::new(8, 0);
    for (compiler, linker) in pairs() {
        let options = CompileOptions::new()
            .output(Output::LtoIr)
            .architecture(architecture);
        let kernel = compiler.compile(KERNEL, &options).unwrap();
        let options = LinkOptions::new(architecture).link_time_optimization();
        let error = linker
            .link(
                &[LinkInput::compiled(&kernel).named("kernel.ltoir")],
                &options,
            )
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Link);
        assert!(error.log().contains("helper"), "{error}");
        let error = linker
            .link(
                &[LinkInput::ptx("this is no PTX")],
                &LinkOptions::new(architecture),
            )
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let wrong = ".version 7.0
.target sm_80
.address_size 64
.visible .entry f() { foo; }";
        let error = linker
            .link(&[LinkInput::ptx(wrong)], &LinkOptions::new(architecture))
            .unwrap_err();
        assert!(
            error.kind() == ErrorKind::Link && error.log().contains("foo"),
            "{error}"
        );
        let error = linker
            .link(
                &[LinkInput::ptx(".version 7.0\n.target sm_80")],
                &LinkOptions::new(architecture).raw("-nonsense"),
            )
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.call()),
            (ErrorKind::InvalidOption, Some("nvJitLinkCreate")),
            "{error}"
        );
        assert_eq!(
            linker.link(&[], &options).unwrap_err().kind(),
            ErrorKind::InvalidArgument
        );
    }
}

#[test]
fn what_crashes_linkers_does_not_reach_them() {
    let architecture = Architecture::new(8, 0);
    let crashing = ".version 7.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[4];
.visible .func table; .b32 result) f() { ret; }";
    for (_, linker) in pairs() {
        let options = LinkOptions::new(architecture);
        let error = linker
            .link(&[LinkInput::ptx(crashing)], &options)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("line 5"), "{error}");
    }
}
