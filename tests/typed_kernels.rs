//! Declared kernels: what their methods do, and what they refuse.

mod behaviour;
mod blame;
mod globals;
mod load;
mod names;
mod prepared;
mod shapes;

use bytemuck::{Pod, Zeroable};
use cuda_driver::kernels::{ElementType, KernelType};
use cuda_driver::{ContextFlags, ErrorKind, In, InOut, LaunchConfig, Null, Out, kernels};

use crate::support::bench::Bench;

/// The struct of `typed_kernels.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Window {
    low: f32,
    high: f32,
}

impl KernelType for Window {
    const TYPE: ElementType = ElementType::named("Window");
}

kernels! {
    /// Kernels of `typed_kernels.cu`.
    pub(crate) unsafe extern Typed from ptx env!("TYPED_KERNELS_PTX") {
        /// `y[i] += a * x[i]`
        #[doc(alias = "saxpy")]
        #[launch(for_len(y), block <= 1024)]
        pub(crate) safe fn axpy(a: f32, x: &[f32], y: &mut [f32; len(x)], n: u32 = len(y));

        #[name = "fill<float>"]
        #[launch(for_len(out))]
        pub(crate) safe fn fill(out: &mut [f32], value: f32, n: u32 = len(out));

        /// Fills a part.
        ///
        /// # Safety
        /// `n` is not above the length of `out`.
        #[name = "_Z4fillIjEvPT_S0_j"]
        pub(crate) unsafe fn fill_words(out: &mut [u32; n..], value: u32, n: u32);

        #[launch(for_len(data), block = 2 * 64)]
        pub(crate) safe fn clamp(window: Window, data: &mut [f32], outside: Option<&mut [u32; 1]>, n: u32 = len(data));
    }
}

#[test]
fn a_call_is_only_its_arguments() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let x = stream.upload(&[1.0, 2.0, 3.0_f32]).expect("memory");
    let mut y = stream.zeroed::<f32>(3).expect("memory");
    kernels.fill(&stream, &mut y, 0.5).expect("it is enqueued");
    kernels
        .axpy(&stream, 2.0, &x, &mut y)
        .expect("it is enqueued");
    assert_eq!(y.to_vec().expect("it ran"), [2.5, 4.5, 6.5]);
}

#[test]
fn slices_and_parts_of_them_are_arguments() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let x = stream.upload(&[1.0, 2.0, 3.0, 4.0_f32]).expect("memory");
    let mut y = stream.zeroed::<f32>(4).expect("memory");
    let from = x.slice(2..).expect("in range");
    let mut to = y.slice_mut(..2).expect("in range");
    kernels
        .axpy(&stream, 1.0, from, &mut to)
        .expect("it is enqueued");
    let by_reference = &from;
    kernels
        .axpy(&stream, 1.0, by_reference, to)
        .expect("it is enqueued");
    assert_eq!(y.to_vec().expect("it ran"), [6.0, 8.0, 0.0, 0.0]);
}

#[test]
fn structs_by_value_and_nullable_pointers() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let window = Window {
        low: -1.0,
        high: 1.0,
    };
    let mut data = stream.upload(&[-2.0, 0.5, 3.0_f32]).expect("memory");
    let mut outside = stream.zeroed::<u32>(1).expect("memory");
    kernels
        .clamp(&stream, window, &mut data, Some(&mut outside))
        .expect("it is enqueued");
    assert_eq!(data.to_vec().expect("it ran"), [-1.0, 0.5, 1.0]);
    kernels
        .clamp(
            &stream,
            Window {
                low: 0.0,
                high: 0.6,
            },
            &mut data,
            &mut outside,
        )
        .expect("it is enqueued");
    kernels
        .clamp(
            &stream,
            Window {
                low: 0.1,
                high: 0.2,
            },
            &mut data,
            Null,
        )
        .expect("it is enqueued");
    let nothing: Option<&mut cuda_driver::DeviceAllocation<u32>> = None;
    kernels
        .clamp(&stream, window, &mut data, nothing)
        .expect("it is enqueued");
    assert_eq!(outside.to_vec().expect("it ran"), [4]);
    let mut two = stream.zeroed::<u32>(2).expect("memory");
    let error = kernels
        .clamp(&stream, window, &mut data, &mut two)
        .expect_err("two counters");
    assert_eq!(
        error.to_string(),
        "cannot launch `clamp`: `outside` has 2 elements where the kernel wants 1"
    );
}

#[test]
fn host_memory_is_an_argument_too() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let (x, mut y, mut outside) = ([1.0, 2.0, 3.0_f32], [0.5_f32; 3], [0_u32]);
    kernels
        .axpy(&stream, 2.0, In(&x), InOut(&mut y))
        .expect("it runs");
    assert_eq!(y, [2.5, 4.5, 6.5]);
    kernels.fill(&stream, Out(&mut y), 7.0).expect("it runs");
    assert_eq!(y, [7.0; 3]);
    let window = Window {
        low: 0.0,
        high: 1.0,
    };
    kernels
        .clamp(&stream, window, InOut(&mut y), Some(Out(&mut outside)))
        .expect("it runs");
    let nothing: Option<Out<'_, u32>> = None;
    kernels
        .clamp(&stream, window, InOut(&mut y), nothing)
        .expect("it runs");
    assert_eq!((y, outside), ([1.0; 3], [3]));
    let error = kernels
        .axpy(&stream, 2.0, In(&x), InOut(&mut y[..2]))
        .expect_err("too short");
    assert_eq!(
        error.to_string(),
        "cannot launch `axpy`: `y` has 2 elements where the kernel wants len(x) = 3"
    );
}

#[test]
fn unsafe_kernels_take_their_configuration() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let mut out = stream.zeroed::<u32>(4).expect("memory");
    // SAFETY: there are that many elements.
    unsafe { kernels.fill_words(LaunchConfig::for_len(3), &stream, &mut out, 7, 3) }
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [7, 7, 7, 0]);
    // SAFETY: it is refused.
    let error = unsafe { kernels.fill_words(LaunchConfig::for_len(5), &stream, &mut out, 7, 5) }
        .expect_err("too short");
    assert_eq!(
        error.to_string(),
        "cannot launch `fill_words`: `out` has 4 elements where the kernel wants at least n = 5"
    );
}

#[test]
fn a_wrong_length_names_the_parameter() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let x = stream.zeroed::<f32>(3).expect("memory");
    for len in [0, 2, 4] {
        let mut y = stream.zeroed::<f32>(len).expect("memory");
        let error = kernels
            .axpy(&stream, 1.0, &x, &mut y)
            .expect_err("another length");
        assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
        assert_eq!(
            error.to_string(),
            format!(
                "cannot launch `axpy`: `y` has {len} elements where the kernel wants len(x) = 3"
            )
        );
    }
}

#[test]
fn nothing_is_launched_for_nothing_but_one_block() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let x = stream.zeroed::<f32>(0).expect("memory");
    let mut y = stream.zeroed::<f32>(0).expect("memory");
    kernels
        .axpy(&stream, 1.0, &x, &mut y)
        .expect("no thread has anything to do");
    stream.synchronize().expect("nothing was touched");
}

#[test]
fn a_block_can_be_chosen_within_the_declaration() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let x = stream.upload(&[1.0_f32; 1000]).expect("memory");
    let mut y = stream.zeroed::<f32>(1000).expect("memory");
    let config = LaunchConfig::for_len_with_block(1000, 96);
    kernels
        .axpy_with(config, &stream, 1.0, &x, &mut y)
        .expect("it is enqueued");
    kernels
        .axpy_with(config.with_priority(0), &stream, 1.0, &x, &mut y)
        .expect("a priority harms nothing");
    assert_eq!(y.to_vec().expect("it ran"), [2.0; 1000]);
    let refusals = [
        (
            LaunchConfig::new(1, 1000),
            "the grid is 1×1×1, and the declaration says 1×1×1",
        ),
        (
            LaunchConfig::new(2, 96),
            "the grid is 2×1×1, and the declaration says 11×1×1 for blocks of 96×1×1",
        ),
        (
            LaunchConfig::new(1, 1025),
            "the block is 1025×1×1, and the declaration says up to 1024 threads in one dimension",
        ),
        (
            LaunchConfig::new(4, (128, 2)),
            "the block is 128×2×1, and the declaration says up to 1024 threads in one dimension",
        ),
        (
            config.with_dynamic_shared_bytes(8),
            "8 bytes of dynamic shared memory are asked for, and the declaration says 0",
        ),
    ];
    let (allowed, refused) = refusals.split_at(1);
    kernels
        .axpy_with(allowed[0].0, &stream, 1.0, &x, &mut y)
        .expect("one block of 1000");
    for (config, text) in refused {
        let error = kernels
            .axpy_with(*config, &stream, 1.0, &x, &mut y)
            .expect_err(text);
        assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
        let whole = format!(
            "cannot launch `axpy`: {text}; stay within what the kernel's declaration leaves open"
        );
        assert_eq!(error.to_string(), whole);
    }
    for (config, text) in [
        (
            config.with_cluster(2),
            "a cluster is asked for that is not the declared one",
        ),
        (
            config.with_preferred_cluster(2),
            "a preferred cluster is asked for, which is not declared",
        ),
        (
            config.cooperative(),
            "a cooperative launch is asked for, which is not declared",
        ),
        (
            config.programmatic_dependent(),
            "does not say that the kernel `waits`",
        ),
    ] {
        let error = kernels
            .axpy_with(config, &stream, 1.0, &x, &mut y)
            .expect_err(text);
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn memory_of_other_streams_is_waited_for() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let (home, other) = (bench.stream(), bench.stream());
    let mut y = home.zeroed::<f32>(100_000).expect("memory");
    let x = other.upload(&vec![1.0_f32; 100_000]).expect("memory");
    for _ in 0..10 {
        kernels
            .axpy(&home, 1.0, &x, &mut y)
            .expect("it is enqueued");
        kernels
            .axpy(&other, 1.0, &x, &mut y)
            .expect("it is enqueued");
    }
    assert_eq!(y.to_vec().expect("it ran"), vec![20.0; 100_000]);
}

#[test]
fn another_contexts_stream_is_refused() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let stream = bench.stream();
    let mut y = stream.zeroed::<f32>(3).expect("memory");
    let foreign = bench
        .context()
        .device()
        .create_context(ContextFlags::default())
        .expect("a second context");
    let elsewhere = foreign.create_stream().expect("a stream");
    let error = kernels
        .fill(&elsewhere, &mut y, 1.0)
        .expect_err("two contexts");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
}

#[test]
fn kernels_are_cheap_to_clone_and_say_what_they_are() {
    let bench = Bench::new();
    let kernels = Typed::load(bench.context()).expect("the kernels are as declared");
    let text = format!("{:?}", kernels.clone());
    assert!(
        text.starts_with("Typed { axpy: Function { name: \"_Z4axpyfPKfPfj\", parameters: ["),
        "{text}"
    );
    assert_eq!(kernels.axpy_function().name(), "_Z4axpyfPKfPfj");
    kernels.strict().expect("everything was compared");
}
