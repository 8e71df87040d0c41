//! What a committed file says of itself, and when it fits.

use super::*;
use crate::scratch::Scratch;

const PTX: &str =
    "//\n// Made by some compiler\n//\n\n.version 7.0\n.target sm_52\n.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u32 n) { ret; }
.visible .entry _Z5scalePff(.param .u64 a, .param .f32 b) { ret; }\n";

const OPTIONS: Fingerprint = Fingerprint::EMPTY;

fn new(folder: &Scratch) -> String {
    folder.write("kernels/a.cu", "#include \"a.h\"\n__global__ kernels\n");
    folder.write("kernels/a.h", "// nothing\n");
    let probe = Probe::from_symbols([("add", "_Z16cuda_build_typesILi0EJPKfPfiEEvDpT0_")]);
    let mut interface = Interface::read(PTX, "test").unwrap();
    interface.take_types(&probe);
    let mut names = Names::default();
    names.read("__global__ void add(const float *from, float *to, int n); __global__ void scale(float *, float by);");
    interface.take_names(&names);
    let new = New {
        source: "kernels/a.cu",
        compiler: "12.4.131",
        ptx: PTX,
        inputs: &["kernels/a.cu".into(), "kernels/a.h".into()],
        interface: &interface,
        probe: &probe,
    };
    new.text(folder.path(), OPTIONS).unwrap()
}

#[test]
fn the_same_declarations_are_made_from_what_is_committed() {
    let folder = Scratch::new();
    let text = new(&folder);
    assert!(text.starts_with("// Made from kernels/a.cu by cuda-build. To make it anew: CUDA_BUILD_COMMITTED=update cargo build\n"));
    assert!(text.ends_with(body(PTX)) && body(PTX).starts_with(".version"));
    assert!(!text.contains("some compiler"));
    let committed = Committed::read_text(text);
    assert_eq!(
        committed.inputs,
        [Path::new("kernels/a.cu"), Path::new("kernels/a.h")]
    );
    let mut interface = Interface::read(&committed.text, "test").unwrap();
    interface.take_types(&committed.probe);
    interface.take_names(&committed.names);
    let of = |kernel: usize| {
        let parameters = interface.kernels[kernel].parameters.iter();
        parameters
            .map(|one| format!("{}{}", one.ty, one.name.as_deref().unwrap_or("-")))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(0), ["const float *from", "float *to", "intn"]);
    assert_eq!(of(1), ["float *-", "floatby"]);
}

#[test]
fn it_fits_until_something_changes() {
    let folder = Scratch::new();
    let text = new(&folder);
    let fits = |text: &str| Committed::read_text(text.to_owned()).fits(folder.path(), OPTIONS);
    assert!(fits(&text));
    assert!(
        fits(&text.replace('\n', "\r\n")),
        "git may change ends of lines"
    );
    folder.write("kernels/a.h", "// nothing\r\n");
    assert!(fits(&text));
    assert!(!Committed::read_text(text.clone()).fits(folder.path(), OPTIONS.with(b"-DX")));
    assert!(
        !fits(&text.replace("ret;", "trap; ret;")),
        "changed by hand"
    );
    assert!(!fits(body(PTX)), "not made by this crate");
    folder.write("kernels/a.h", "// something\n");
    assert!(!fits(&text));
    std::fs::remove_file(folder.join("kernels/a.h")).unwrap();
    assert!(!fits(&text));
}

#[test]
fn heads_that_make_no_sense_are_passed_over() {
    for line in [
        "made-of x",
        "made-of",
        "types",
        "types a",
        "types a b",
        "names",
        "names a",
        "long x",
        "input",
        "other 1",
        "",
    ] {
        let committed = Committed::read_text(format!("{PREFIX}{line}\n{PTX}"));
        assert!(!committed.fits(Path::new("/nowhere"), OPTIONS), "{line}");
        let mut interface = Interface::read(&committed.text, "test").unwrap();
        interface.take_types(&committed.probe);
        interface.take_names(&committed.names);
    }
}

#[test]
fn own_files_are_told_from_those_of_the_toolkit_and_of_the_build() {
    let inputs: Vec<PathBuf> = [
        "kernels/a.cu",
        "../common/b.h",
        "/package/kernels/c.h",
        "/usr/include/d.h",
        "/package/target/out/e.h",
        "kernels/a.cu",
    ]
    .map(PathBuf::from)
    .into();
    let own = own_inputs(
        Path::new("/package"),
        Path::new("/package/target/out"),
        &inputs,
    );
    let expected: Vec<PathBuf> = ["../common/b.h", "kernels/a.cu", "kernels/c.h"]
        .map(PathBuf::from)
        .into();
    assert_eq!(own, expected);
}

#[test]
fn the_variable_is_read() {
    let mode = |value: &str| Mode::of(&Environment::of(Path::new("/"), [(VARIABLE, value)]));
    assert_eq!(mode("").unwrap(), Mode::Take);
    assert_eq!(mode("update").unwrap(), Mode::Update);
    assert_eq!(mode("check").unwrap(), Mode::Check);
    assert_eq!(mode("ignore").unwrap(), Mode::Ignore);
    let error = mode("1").unwrap_err().to_string();
    assert_eq!(
        error,
        "CUDA_BUILD_COMMITTED is \"1\"; it can be `update`, `check` or `ignore`, or not be set"
    );
}
