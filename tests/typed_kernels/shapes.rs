//! Launch shapes and lengths: what is computed, what is left open, and what does not fit.

use cuda_driver::{ErrorKind, LaunchConfig, kernels};

use crate::support::bench::Bench;

/// Three parameters that only lengths and shapes are about.
const PTX: &str = ".version 7.0 .target sm_52 .address_size 64
    .visible .entry record(.param .u64 out, .param .u32 rows, .param .u32 columns, .param .u32 both) {
        .reg .b32 %r<9>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;
        mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y;
        mov.u32 %r5, %dynamic_smem_size; ld.param.u32 %r6, [both];
        st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u32 [%rd2+8], %r3; st.global.u32 [%rd2+12], %r4;
        st.global.u32 [%rd2+16], %r5; st.global.u32 [%rd2+20], %r6;
        ret;
    }";

kernels! {
    /// One kernel, which records how it was launched, under many shapes.
    unsafe extern Shapes {
        #[name = "record"]
        #[launch(grid = (div_ceil(columns, 16), div_ceil(rows, 4)), block = (16, 4), shared = 8 * columns)]
        safe fn tiled(out: &mut [u32; 6], rows: u32, columns: u32, both: u32 = rows * columns);

        #[name = "record"]
        #[launch(for_len(rows), block <= min(64, columns * 8))]
        safe fn limited(out: &mut [u32; 6..], rows: u32, columns: u32, both: u32 = rows % 7 + max(columns, 2) - 1);

        #[name = "record"]
        #[launch(for_len(1000 * both), grid <= 4, shared <= 1024)]
        safe fn strided(out: &mut [u32; 2 * 3], rows: i32, columns: u32 = 2 * both, both: u32 = 10 / rows);
    }
}

fn shapes(bench: &Bench) -> Shapes {
    let module = bench.context().load_ptx(PTX).expect("it loads");
    // SAFETY: the kernel does as it is declared.
    unsafe { Shapes::from_module(&module) }.expect("it is as declared")
}

#[test]
fn shapes_are_computed_of_arguments() {
    let bench = Bench::new();
    let (kernels, stream) = (shapes(&bench), bench.stream());
    let mut out = stream.zeroed::<u32>(6).expect("memory");
    kernels
        .tiled(&stream, &mut out, 9, 33)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [3, 3, 16, 4, 264, 297]);
    kernels
        .limited(&stream, &mut out, 100, 3)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [5, 1, 24, 1, 0, 4]);
    kernels
        .limited(&stream, &mut out, 100, 1)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [13, 1, 8, 1, 0, 3]);
    kernels
        .strided(&stream, &mut out, 1)
        .expect("it is enqueued");
    assert_eq!(
        out.to_vec().expect("it ran"),
        [4, 1, 256, 1, 0, 10],
        "up to four blocks"
    );
    kernels
        .strided(&stream, &mut out, 10)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [4, 1, 256, 1, 0, 1]);
}

#[test]
fn what_is_open_can_be_chosen() {
    let bench = Bench::new();
    let (kernels, stream) = (shapes(&bench), bench.stream());
    let mut out = stream.zeroed::<u32>(6).expect("memory");
    let config = LaunchConfig::new(2, 256).with_dynamic_shared_bytes(1024);
    kernels
        .strided_with(config, &stream, &mut out, 2)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [2, 1, 256, 1, 1024, 5]);
    let refused = [
        (
            LaunchConfig::new(5, 256),
            "the grid is 5×1×1, and the declaration says up to 4 blocks",
        ),
        (
            LaunchConfig::new((1, 2), 256),
            "the grid is 1×2×1, and the declaration says blocks in 1 dimension",
        ),
        (
            LaunchConfig::new(2, 255),
            "the block is 255×1×1, and the declaration says 256×1×1",
        ),
        (
            config.with_dynamic_shared_bytes(1025),
            "1025 bytes of dynamic shared memory are asked for, and the declaration says up to 1024",
        ),
    ];
    for (config, text) in refused {
        let error = kernels
            .strided_with(config, &stream, &mut out, 2)
            .expect_err(text);
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn what_cannot_be_computed_is_an_error_that_says_what() {
    let bench = Bench::new();
    let (kernels, stream) = (shapes(&bench), bench.stream());
    let mut out = stream.zeroed::<u32>(6).expect("memory");
    let error = kernels
        .tiled(&stream, &mut out, u32::MAX, 2)
        .expect_err("a product of 33 bits");
    assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
    assert_eq!(
        error.to_string(),
        "cannot launch `tiled`: `rows * columns` is not a number that fits `both: u32`"
    );
    let error = kernels
        .tiled(&stream, &mut out, 1, u32::MAX)
        .expect_err("too much shared memory");
    assert_eq!(
        error.to_string(),
        "cannot launch `tiled`: `8 * columns` is not a number that fits shared memory"
    );
    for rows in [0, -1] {
        let error = kernels
            .strided(&stream, &mut out, rows)
            .expect_err("by nothing, or negative");
        assert_eq!(
            error.to_string(),
            "cannot launch `strided`: `10 / rows` is not a number that fits `both: u32`"
        );
    }
}

#[test]
fn a_slice_of_at_least_so_many_elements() {
    let bench = Bench::new();
    let (kernels, stream) = (shapes(&bench), bench.stream());
    let mut long = stream.zeroed::<u32>(7).expect("memory");
    kernels
        .limited(&stream, &mut long, 1, 1)
        .expect("more is enough");
    let error = kernels
        .tiled(&stream, &mut long, 1, 1)
        .expect_err("more is not exactly");
    assert_eq!(
        error.to_string(),
        "cannot launch `tiled`: `out` has 7 elements where the kernel wants 6"
    );
    let error = kernels
        .strided(&stream, &mut long, 1)
        .expect_err("more is not exactly");
    assert_eq!(
        error.to_string(),
        "cannot launch `strided`: `out` has 7 elements where the kernel wants 2 * 3 = 6"
    );
}
