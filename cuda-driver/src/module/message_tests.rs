//! What is said of the failures that users meet most, one test for each text.

use cuda_sim::{DeviceConfig, Simulator};
use cuda_sys::CUresult;

use super::image::{sample_cubin, sample_fatbin};
use super::*;

const KERNEL: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing()
{
    ret;
}
";

fn context() -> Context {
    let simulator = Simulator::builder()
        .devices(vec![DeviceConfig::h200()])
        .build();
    let driver = Driver::simulated_by(&simulator.expect("a simulator"));
    let device = driver.and_then(|driver| driver.device(0));
    let context = device.and_then(|device| device.primary_context());
    context.expect("a context")
}

/// The text of the error of a load, which contains all parts.
fn says(result: Result<Module>, parts: &[&str]) {
    let text = result.expect_err("it does not load").to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

/// The same where the driver gives that status for a sound module.
fn says_of(status: CUresult, parts: &[&str]) {
    let context = context();
    let simulator = context.driver().simulator().expect("a simulator");
    simulator.fail("cuModuleLoadDataEx", 1, status);
    says(context.load_ptx(KERNEL), parts);
}

#[test]
fn ptx_of_a_newer_toolkit() {
    let newer = KERNEL.replace("7.0", "9.2");
    says(
        context().load_ptx(&newer),
        &[
            "cannot load a PTX module: the PTX is of version 9.2, which toolkits of CUDA 13.2 write, but this driver (CUDA \
             13.0) takes PTX up to 9.0 (cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION); update the driver, or emit \
             PTX with an older toolkit or with `.version 9.0` or lower",
        ],
    );
}

#[test]
fn ptx_for_a_newer_device() {
    let newer = KERNEL.replace("7.0\n.target sm_70", "8.8\n.target sm_120");
    says(
        context().load_ptx(&newer),
        &[
            "the device has compute capability 9.0, but the PTX is for `sm_120` (cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX); \
             emit PTX for `sm_90` or lower",
        ],
    );
}

#[test]
fn texts_that_are_no_ptx() {
    says(
        context().load_ptx("kernels/blend.ptx"),
        &[
            "cannot load a PTX module: the text is not PTX, which begins with `.version`",
            "; it looks like a path: use `include_str!`, `std::fs::read_to_string` or `load_file`",
        ],
    );
    says(
        context().load_ptx("// Nothing.\n__global__ void nothing() {}\n"),
        &["; it looks like CUDA C++: see cuda-build and cuda-nvrtc"],
    );
    let comment = format!("// __global__ void nothing() {{}} of nothing.cu\n{KERNEL}");
    assert!(context().load_ptx(&comment).is_ok());
}

#[test]
fn ptx_that_does_not_compile() {
    let wrong = KERNEL.replace("ret;", "frobnicate %r1;");
    says(
        context().load_ptx(&wrong),
        &["CUDA_ERROR_INVALID_PTX", ">     6 |     frobnicate %r1;"],
    );
}

#[test]
fn a_cubin_for_another_device() {
    let context = context();
    let simulator = context.driver().simulator().expect("a simulator");
    simulator.fail(
        "cuModuleLoadDataEx",
        1,
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
    );
    let mut cubin = sample_cubin();
    // The byte of the flags with the architecture.
    cubin[49] = 80;
    // SAFETY: the simulator refuses the call.
    let result = unsafe { context.load_cubin(&cubin) };
    says(
        result,
        &[
            "cannot load a cubin: the device has compute capability 9.0, but the cubin is for `sm_80` (",
            "`nvcc -gencode arch=compute_90,code=[sm_90,compute_90]`, or load PTX",
        ],
    );
}

#[test]
fn a_fat_binary_without_code_for_the_device() {
    let context = context();
    let simulator = context.driver().simulator().expect("a simulator");
    simulator.fail(
        "cuModuleLoadDataEx",
        1,
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
    );
    // SAFETY: the simulator refuses the call.
    let result = unsafe { context.load_fatbin(&sample_fatbin()) };
    says(
        result,
        &[
            "but the fat binary has `sm_90`, `compute_80`",
            "sm_90,compute_90",
        ],
    );
}

#[test]
fn a_driver_without_its_compiler() {
    says_of(
        CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
        &[
            "cannot load a PTX module: the driver's compiler of PTX (the library nvidia-ptxjitcompiler) is not found",
            "driver capability `compute`), or load a cubin",
        ],
    );
}

#[test]
fn a_driver_whose_compiler_is_switched_off() {
    says_of(
        CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED,
        &[
            "compiling PTX is switched off",
            "unset CUDA_DISABLE_PTX_JIT",
        ],
    );
}

#[test]
fn a_driver_of_parts_that_do_not_fit() {
    says_of(
        CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
        &[
            "lacks a function that the driver needs",
            "of different versions",
        ],
    );
    says_of(
        CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
        &["cannot be initialised", "LD_LIBRARY_PATH"],
    );
}
