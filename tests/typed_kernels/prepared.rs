//! Prepared launches of declared kernels: what is checked once, and what at each launch.

use cuda_driver::{Context, DeviceAllocation, ErrorKind, In, LaunchConfig, Out, Stream, kernels};

use crate::support::Test;
use crate::support::bench::Bench;

kernels! {
    /// Kernels of `vector_add.cu`.
    unsafe extern Add from ptx "../../examples/kernels/vector_add.ptx" {
        #[launch(for_len(sum), block <= 1024)]
        #[prepared(VectorAdd)]
        safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));

        /// # Safety
        /// `n` is not above the lengths.
        #[name = "vector_add"]
        #[prepared(AnyVectorAdd)]
        unsafe fn any_vector_add(a: &[f32], b: &[f32], sum: &mut [f32], n: u32);
    }
}

/// Records how it was launched: the grid, the block and the dynamic shared memory.
const PTX: &str = ".version 7.8 .target sm_90 .address_size 64
    .visible .entry record(.param .u64 out, .param .u32 rows, .param .u32 columns) {
        .reg .b32 %r<9>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;
        mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y;
        mov.u32 %r5, %dynamic_smem_size; mov.u32 %r6, %cluster_nctaid.x;
        st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u32 [%rd2+8], %r3; st.global.u32 [%rd2+12], %r4;
        st.global.u32 [%rd2+16], %r5; st.global.u32 [%rd2+20], %r6;
        ret;
    }";

kernels! {
    /// One kernel under many shapes.
    unsafe extern Shapes {
        #[name = "record"]
        #[launch(grid = (div_ceil(columns, 16), div_ceil(rows, 4)), block = (16, 4), shared = 8 * columns)]
        #[prepared(Tiled)]
        safe fn tiled(out: &mut [u32; 6], rows: u32, columns: u32);

        #[name = "record"]
        #[launch(for_len(rows * columns), block <= columns, grid <= rows)]
        #[prepared(Limited)]
        safe fn limited(out: &mut [u32; 6], rows: u32, columns: u32);

        #[name = "record"]
        #[launch(grid = 4, cluster = 2, block = 32)]
        #[prepared(Clustered)]
        safe fn clustered(out: &mut [u32; 6], rows: u32, columns: u32);

        #[name = "record"]
        #[launch(for_len(rows), cluster = columns, block <= 32)]
        #[prepared(ClusteredByArgument)]
        safe fn clustered_by_argument(out: &mut [u32; 6], rows: u32, columns: u32);

        #[name = "record"]
        #[launch(grid = 2, block = 32, cooperative)]
        #[prepared(Cooperative)]
        safe fn cooperative(out: &mut [u32; 6], rows: u32, columns: u32);
    }
}

/// What the launches of `vector_add` work with.
struct Work {
    stream: Stream,
    a: DeviceAllocation<f32>,
    sum: DeviceAllocation<f32>,
}

fn work(context: &Context, len: usize) -> cuda_driver::Result<Work> {
    let stream = context.create_stream()?;
    let (a, sum) = (stream.upload(&vec![1.0; len])?, stream.zeroed(len)?);
    Ok(Work { stream, a, sum })
}

fn shapes(context: &Context) -> cuda_driver::Result<Shapes> {
    // SAFETY: the kernel does as it is declared.
    unsafe { Shapes::from_module(&context.load_ptx(PTX)?) }
}

#[test]
fn a_prepared_launch_is_only_its_arguments_and_one_call() -> Test {
    let bench = Bench::new();
    let Work { stream, a, mut sum } = work(bench.context(), 1000)?;
    let config = LaunchConfig::for_len_with_block(1000, 128);
    let add: VectorAdd = Add::load(bench.context())?.vector_add_prepare(config)?;
    assert_eq!(add.config(), config.into());
    assert_eq!(add.function().name(), "vector_add");
    add.launch(&stream, &a, &a, &mut sum)?;
    assert_eq!(sum.to_vec()?, [2.0; 1000]);
    // On another stream, and with memory of the host.
    let other = bench.stream();
    add.clone()
        .launch(&other, &sum, &a, Out(&mut [0.0; 1000]))?;
    let mut host = [0.0; 1000];
    add.launch(&other, In(&[0.5; 1000]), &a, Out(&mut host))?;
    assert_eq!(host, [1.5; 1000]);
    if let Some(bench) = Bench::only_software() {
        let Work { stream, a, mut sum } = work(bench.context(), 10)?;
        let add = Add::load(bench.context())?.vector_add_prepare(LaunchConfig::for_len(10))?;
        let (result, calls) = bench.calls_of(|| add.launch(&stream, &a, &a, &mut sum));
        assert_eq!((result?, calls.as_str()), ((), "1 × cuLaunchKernel"));
    }
    Ok(())
}

#[test]
fn the_declaration_is_compared_with_the_configuration_when_it_is_prepared() -> Test {
    let bench = Bench::new();
    let kernels = Add::load(bench.context())?;
    let refused = [
        (
            LaunchConfig::new((4, 2), 256),
            "the grid is 4×2×1, and the declaration says blocks in 1 dimension",
        ),
        (
            LaunchConfig::new(4, (16, 16)),
            "the block is 16×16×1, and the declaration says up to 1024 threads in one dimension",
        ),
        (
            LaunchConfig::new(4, 256).with_dynamic_shared_bytes(4),
            "4 bytes of dynamic shared memory are asked for, and the declaration says 0",
        ),
        (LaunchConfig::new(4, 0), "which has no threads"),
    ];
    for (config, text) in refused {
        let error = kernels.vector_add_prepare(config).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::ArgumentMismatch, "{error}");
        let error = error.to_string();
        assert!(
            error.starts_with("cannot prepare a launch of `vector_add`: ") && error.contains(text),
            "{error}"
        );
    }
    let cooperative = LaunchConfig::new(4, 256).cooperative();
    assert!(kernels.vector_add_prepare(cooperative).is_err());
    // What the declaration lets through, but not the device.
    for config in [LaunchConfig::new(0, 256), LaunchConfig::new(u32::MAX, 256)] {
        let error = kernels
            .vector_add_prepare(config)
            .expect_err("no such grids");
        assert_eq!(error.kind(), ErrorKind::LaunchTooLarge, "{error}");
    }
    Ok(())
}

#[test]
fn lengths_are_compared_with_the_prepared_grid() -> Test {
    let bench = Bench::new();
    let kernels = Add::load(bench.context())?;
    for (blocks, threads, fewest, most) in [
        (1, 256, 0, 256),
        (4, 256, 769, 1024),
        (3, 1, 3, 3),
        (2, 1024, 1025, 2048),
    ] {
        let add = kernels.vector_add_prepare(LaunchConfig::new(blocks, threads))?;
        for len in [fewest, fewest + 1, most] {
            let Work { stream, a, mut sum } = work(bench.context(), len)?;
            let fits = add.launch(&stream, &a, &a, &mut sum);
            assert_eq!(fits.is_ok(), len <= most, "{len} by {blocks} of {threads}");
            // Just what the unprepared form says of this configuration.
            let with =
                kernels.vector_add_with(add.config(), &stream, &a, &a, &mut stream.zeroed(len)?);
            assert_eq!(fits.is_ok(), with.is_ok(), "{len} by {blocks} of {threads}");
        }
        for len in [fewest.wrapping_sub(1), most + 1] {
            if len == usize::MAX {
                continue;
            }
            let Work { stream, a, mut sum } = work(bench.context(), len)?;
            let error = add
                .launch(&stream, &a, &a, &mut sum)
                .expect_err("another grid");
            assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
            let expected = format!(
                "cannot launch `vector_add`: `len(sum)` is {len}, and it is prepared for {fewest} to {most}, which is a grid of \
                 {blocks}×1×1 with blocks of {threads}×1×1; prepare another launch for so many, or launch it unprepared"
            );
            assert_eq!(error.to_string(), expected);
            assert_eq!(sum.to_vec()?, vec![0.0; len], "it did not run");
        }
    }
    // The lengths among each other, by the parameter's name.
    let add = kernels.vector_add_prepare(LaunchConfig::new(1, 256))?;
    let Work { stream, a, mut sum } = work(bench.context(), 10)?;
    let short = stream.zeroed(9)?;
    let error = add
        .launch(&stream, &a, &short, &mut sum)
        .expect_err("too short");
    assert!(error.to_string().contains("`b` has 9 elements"), "{error}");
    Ok(())
}

#[test]
fn what_depends_on_arguments_is_compared_at_each_launch() -> Test {
    let bench = Bench::new();
    let (kernels, stream) = (shapes(bench.context())?, bench.stream());
    let mut out = stream.zeroed::<u32>(6)?;
    let config = LaunchConfig::new((3, 3), (16, 4)).with_dynamic_shared_bytes(264);
    let tiled: Tiled = kernels.tiled_prepare(config)?;
    tiled.launch(&stream, &mut out, 9, 33)?;
    assert_eq!(out.to_vec()?[..5], [3, 3, 16, 4, 264]);
    for (rows, columns, text) in [
        (
            13,
            33,
            "the grid is 3×3×1, and the declaration says 3×4×1 for blocks of 16×4×1",
        ),
        (
            9,
            34,
            "264 bytes of dynamic shared memory are asked for, and the declaration says 272",
        ),
        (9, u32::MAX, "`8 * columns` is not a number that fits"),
    ] {
        let error = tiled
            .launch(&stream, &mut out, rows, columns)
            .expect_err(text);
        assert!(error.to_string().contains(text), "{error}");
    }
    // The constant part is compared before.
    let error = kernels
        .tiled_prepare(LaunchConfig::new(3, 64))
        .expect_err("another block");
    assert!(error.to_string().contains("the block is 64×1×1"), "{error}");

    let limited: Limited = kernels.limited_prepare(LaunchConfig::new(4, 32))?;
    limited.launch(&stream, &mut out, 4, 32)?;
    assert_eq!(out.to_vec()?[..3], [4, 1, 32]);
    assert!(limited.launch(&stream, &mut out, 3, 32).is_err());
    assert!(limited.launch(&stream, &mut out, 4, 31).is_err());
    Ok(())
}

#[test]
fn clusters_and_cooperative_mode_come_from_the_declaration() -> Test {
    let bench = Bench::new();
    if !bench.context().device().supports_cluster_launch()? {
        return Ok(());
    }
    let (kernels, stream) = (shapes(bench.context())?, bench.stream());
    let mut out = stream.zeroed::<u32>(6)?;
    let clustered: Clustered = kernels.clustered_prepare(LaunchConfig::new(4, 32))?;
    clustered.launch(&stream, &mut out, 0, 0)?;
    assert_eq!(out.to_vec()?, [4, 1, 32, 1, 0, 2]);
    assert!(clustered.config().attributes.cluster.is_some());
    let other = LaunchConfig::new(4, 32).with_cluster(4);
    assert!(kernels.clustered_prepare(other).is_err());

    let cooperative: Cooperative = kernels.cooperative_prepare(LaunchConfig::new(2, 32))?;
    assert!(cooperative.config().attributes.cooperative);
    cooperative.launch(&stream, &mut out, 0, 0)?;
    assert_eq!(out.to_vec()?[..3], [2, 1, 32]);

    // Only the caller can say now what cluster the arguments will say.
    let config = LaunchConfig::new(4, 32);
    let without: ClusteredByArgument = kernels.clustered_by_argument_prepare(config)?;
    let error = without
        .launch(&stream, &mut out, 128, 2)
        .expect_err("a cluster");
    let text = "it is prepared without the declared cluster of 2×1×1";
    assert!(error.to_string().contains(text), "{error}");
    let with = kernels.clustered_by_argument_prepare(config.with_cluster(2))?;
    with.launch(&stream, &mut out, 128, 2)?;
    assert_eq!(out.to_vec()?, [4, 1, 32, 1, 0, 2]);
    assert!(with.launch(&stream, &mut out, 128, 4).is_err());
    Ok(())
}

#[test]
fn an_unsafe_kernel_without_a_shape_is_prepared_with_any_configuration() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let a = stream.upload(&[1.0; 64])?;
    let mut sum = stream.zeroed(64)?;
    let kernels = Add::load(bench.context())?;
    let config = LaunchConfig::new(2, 32).with_priority(0);
    let add: AnyVectorAdd = kernels.any_vector_add_prepare(config)?;
    drop(kernels);
    // SAFETY: all have 64 elements.
    unsafe { add.launch(&stream, &a, &a, &mut sum, 64) }?;
    assert_eq!(sum.to_vec()?, [2.0; 64]);
    assert!(
        format!("{add:?}").starts_with("AnyVectorAdd(PreparedLaunch { function: \"vector_add\"")
    );
    Ok(())
}

#[test]
fn a_stream_of_another_context_is_refused() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let other = Bench::only_software().expect("software");
    let add = Add::load(bench.context())?.vector_add_prepare(LaunchConfig::new(1, 32))?;
    let Work { stream, a, mut sum } = work(other.context(), 10)?;
    let error = add
        .launch(&stream, &a, &a, &mut sum)
        .expect_err("two drivers");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    Ok(())
}
