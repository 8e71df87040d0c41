//! Launching: the forms, the checks, the configuration.

use cuda_driver::{Dim3, DynamicArgument, ErrorKind, LaunchConfig, Null, launch};

use crate::support::bench::Bench;
use crate::support::kernels::{SHARED_DYNAMIC, SPIN, VECTOR_ADD, load};
use crate::support::{Test, numbers};

const NOTHING: &str =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }";

#[test]
fn the_three_forms_of_a_launch_do_the_same() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let (a, b) = (
        stream.upload(&[1.0_f32; 1000])?,
        stream.upload(&[2.0_f32; 1000])?,
    );
    let n = 1000_u32;
    let config = LaunchConfig::for_len(1000);
    let mut sums = [
        stream.zeroed::<f32>(1000)?,
        stream.zeroed(1000)?,
        stream.zeroed(1000)?,
        stream.zeroed(1000)?,
    ];
    let [one, two, three, four] = &mut sums;
    // SAFETY: the kernel reads `a` and `b` and writes the sum, a thousand elements each; so do the next three.
    unsafe { add.launch(&stream, config, (&a, &b, &mut *one, n)) }?;
    // SAFETY: as above.
    unsafe { launch!(stream, add<<<4, 256>>>(&a, &b, &mut *two, n)) }?;
    // SAFETY: as above.
    unsafe { launch!(stream, add<<<(4, 1), (256, 1, 1), 0>>>(&a, &b, &mut *three, n)) }?;
    let arguments = [
        DynamicArgument::read(&a),
        DynamicArgument::read(&b),
        DynamicArgument::write(four),
        DynamicArgument::value(&n),
    ];
    // SAFETY: as above.
    unsafe { add.launch_dynamic(&stream, config, &arguments) }?;
    for sum in &sums {
        assert_eq!(sum.to_vec()?, [3.0; 1000]);
    }
    Ok(())
}

#[test]
fn slices_are_arguments_like_the_allocation_itself() -> Test {
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = stream.upload(&(0..100_u8).map(f32::from).collect::<Vec<_>>())?;
    let mut sum = stream.zeroed::<f32>(100)?;
    let config = LaunchConfig::for_len(10);
    let (from, mut to) = (a.slice(20..30)?, sum.slice_mut(50..60)?);
    for stream in [&stream, &other] {
        // SAFETY: the kernel reads and writes ten elements of each slice.
        unsafe { add.launch(stream, config, (&from, a.slice(..10)?, &mut to, 10_u32)) }?;
    }
    // SAFETY: as above.
    unsafe { add.launch(&other, config, (from, &a, to.reborrow(), 10_u32)) }?;
    let expected: Vec<f32> = (0..10_u8).map(|it| f32::from(20 + 2 * it)).collect();
    assert_eq!(sum.to_vec()?[50..60], expected);
    assert_eq!(sum.to_vec()?[60], 0.0);
    Ok(())
}

#[test]
fn a_wrong_number_of_arguments_is_refused_before_any_call() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = stream.zeroed::<f32>(1)?;
    let config = LaunchConfig::for_len(1);
    // SAFETY: the launch must be refused; so must the next ones.
    let few = unsafe { add.launch(&stream, config, (&a, &a)) }.expect_err("two are too few");
    // SAFETY: as above.
    let many = unsafe { add.launch(&stream, config, (&a, &a, &a, 1_u32, 1_u32)) }
        .expect_err("five are too many");
    // SAFETY: as above.
    let none = unsafe { add.launch_dynamic(&stream, config, &[]) }.expect_err("none are too few");
    for (error, given) in [(few, 2), (many, 5), (none, 0)] {
        assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
        assert_eq!(error.call(), None);
        let expected = format!(
            "cannot launch `vector_add`: it has 4 parameters, and {given} arguments were given"
        );
        assert_eq!(error.to_string(), expected);
    }
    Ok(())
}

#[test]
fn an_argument_of_a_wrong_size_is_refused_before_any_call() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let mut a = stream.zeroed::<f32>(1)?;
    let config = LaunchConfig::for_len(1);
    // SAFETY: the launch must be refused.
    let error =
        unsafe { add.launch(&stream, config, (&a, 1_u16, Null, 1_u64)) }.expect_err("sizes differ");
    assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
    assert_eq!(
        error.to_string(),
        "cannot launch `vector_add`: argument 2 of 4 has 2 bytes where the kernel takes 8; argument 4 of 4 has 8 bytes where \
         the kernel takes 4; a plain number is an i32 or an f64, so write its type: `1_u32`, `0.5_f32`"
    );
    // SAFETY: the launch must be refused.
    let error = unsafe { add.launch(&stream, config, (&a, [0_u8; 16], Null, 1_u32)) };
    assert_eq!(error.expect_err("sizes differ").remedy(), None);
    let arguments = [
        DynamicArgument::write(&mut a),
        DynamicArgument::value(&1_u8),
    ];
    // SAFETY: the launch must be refused.
    let error =
        unsafe { add.launch_dynamic(&stream, config, &arguments) }.expect_err("two are too few");
    assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
    Ok(())
}

#[test]
fn a_kernel_without_parameters_takes_no_arguments() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let nothing = load(bench.context(), NOTHING, "nothing");
    assert_eq!(nothing.parameters(), Some(&[][..]));
    // SAFETY: the kernel does nothing; so below.
    unsafe { nothing.launch(&stream, LaunchConfig::new(1, 1), ()) }?;
    // SAFETY: as above.
    unsafe { launch!(stream, nothing<<<(2, 2, 2), [1, 2, 3]>>>()) }?;
    // SAFETY: as above.
    unsafe { nothing.launch_dynamic(&stream, LaunchConfig::new(1, 1), &[]) }?;
    // SAFETY: the launch must be refused.
    assert!(unsafe { nothing.launch(&stream, LaunchConfig::new(1, 1), (1_u32,)) }.is_err());
    stream.synchronize()?;
    Ok(())
}

#[test]
fn for_len_covers_every_element_and_none_too() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    for len in [0, 1, 255, 256, 257, 1000] {
        let config = LaunchConfig::for_len(len);
        let a = stream.upload(&vec![1.0_f32; len])?;
        let mut sum = stream.zeroed::<f32>(len + 1)?;
        // SAFETY: the kernel reads and writes `len` elements.
        unsafe { add.launch(&stream, config, (&a, &a, &mut sum, u32::try_from(len)?)) }?;
        let sum = sum.to_vec()?;
        assert!(
            sum[..len].iter().all(|&it| it == 2.0) && sum[len] == 0.0,
            "{len}"
        );
    }
    assert_eq!(LaunchConfig::for_len(0).grid, Dim3::new(1, 1, 1));
    assert_eq!(
        LaunchConfig::for_len_with_block(1000, 100).grid,
        Dim3::new(10, 1, 1)
    );
    Ok(())
}

#[test]
fn dynamic_shared_memory_is_given_to_the_kernel() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let mut data = stream.upload(&numbers(512))?;
    // SAFETY: each of two blocks reverses its 256 elements, in as many words of shared memory.
    unsafe { launch!(stream, reverse<<<2, 256, 1024>>>(&mut data)) }?;
    let expected: Vec<u32> = (0..256).rev().chain((256..512).rev()).collect();
    assert_eq!(data.to_vec()?, expected);
    Ok(())
}

#[test]
fn a_launch_on_every_kind_of_stream() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let slow = load(bench.context(), SPIN, "delay_then_add");
    let mut data = home.zeroed::<f32>(100)?;
    let config = LaunchConfig::for_len(100);
    let per_thread = bench.context().per_thread_stream();
    // SAFETY: the kernel changes a hundred elements; so in the next launches.
    unsafe { slow.launch(&per_thread, config, (&mut data, 100_u32, 1.0_f32, 1_u32)) }?;
    let legacy = bench.context().legacy_stream();
    // SAFETY: as above.
    unsafe { slow.launch(&legacy, config, (&mut data, 100_u32, 2.0_f32, 1_u32)) }?;
    // SAFETY: as above.
    unsafe { slow.launch(&home, config, (&mut data, 100_u32, 4.0_f32, 1_u32)) }?;
    assert_eq!(data.to_vec()?, [7.0; 100]);
    Ok(())
}

#[test]
fn more_launches_than_the_queue_holds_all_run() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), SPIN, "delay_then_add");
    let mut data = stream.zeroed::<f32>(32)?;
    let count = 1500_u16;
    for _ in 0..count {
        // SAFETY: the kernel changes 32 elements.
        unsafe {
            add.launch(
                &stream,
                LaunchConfig::new(1, 32),
                (&mut data, 32_u32, 1.0_f32, 1_u32),
            )
        }?;
    }
    assert_eq!(data.to_vec()?, [f32::from(count); 32]);
    Ok(())
}

#[test]
fn dimensions_come_in_many_forms() {
    let all = [
        Dim3::from(5),
        (5, 1).into(),
        (5, 1, 1).into(),
        [5, 1, 1].into(),
    ];
    assert!(all.iter().all(|it| *it == Dim3::new(5, 1, 1)));
    assert_eq!(Dim3::new(2, 3, 4).to_string(), "2×3×4");
    assert_eq!(
        Dim3::new(u32::MAX, u32::MAX, u32::MAX).volume(),
        u128::from(u32::MAX).pow(3)
    );
}
