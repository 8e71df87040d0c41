//! Launches that ask for too much: the message names the limit.

use cuda_driver::{Error, ErrorKind, Function, LaunchConfig, SharedCarveout, Stream};
use cuda_sys::CUresult;

use crate::support::bench::Bench;
use crate::support::kernels::{SHARED_DYNAMIC, load};
use crate::support::{Test, numbers};

const NOTHING: &str =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }";

fn refused(function: &Function, stream: &Stream, config: LaunchConfig) -> Error {
    // SAFETY: the kernel does nothing, and the launch must be refused.
    unsafe { function.launch(stream, config, ()) }.expect_err("it is too much")
}

#[test]
fn too_many_threads_per_block_name_the_limit() {
    let bench = Bench::new();
    let stream = bench.stream();
    let nothing = load(bench.context(), NOTHING, "nothing");
    let error = refused(&nothing, &stream, LaunchConfig::new(1, 2048));
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(
        error.to_string(),
        "cannot launch `nothing`: 2048 threads per block exceed the device's limit of 1024 \
         (cuLaunchKernel: CUDA_ERROR_INVALID_VALUE); use smaller blocks and more of them"
    );
    assert!(!bench.context().is_poisoned());
}

#[test]
fn a_dimension_of_zero_is_named() {
    let bench = Bench::new();
    let stream = bench.stream();
    let nothing = load(bench.context(), NOTHING, "nothing");
    for config in [
        LaunchConfig::new(0, 1),
        LaunchConfig::new(1, (1, 0)),
        LaunchConfig::new((1, 1, 0), 1),
    ] {
        let error = refused(&nothing, &stream, config);
        assert!(
            error.to_string().contains("has a dimension of zero"),
            "{error}"
        );
    }
}

#[test]
fn too_long_a_dimension_is_named_with_its_limit() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let nothing = load(bench.context(), NOTHING, "nothing");
    let device = bench.driver().device(0)?;
    let [_, _, most] = device.max_block_dim()?;
    let error = refused(&nothing, &stream, LaunchConfig::new(1, (1, 1, most + 1)));
    let text = format!(
        "{} in the block's z dimension exceed the device's limit of {most}",
        most + 1
    );
    assert!(error.to_string().contains(&text), "{error}");
    let [_, most, _] = device.max_grid_dim()?;
    let error = refused(&nothing, &stream, LaunchConfig::new((1, most + 1), 1));
    let text = format!(
        "{} in the grid's y dimension exceed the device's limit of {most}",
        most + 1
    );
    assert!(error.to_string().contains(&text), "{error}");
    Ok(())
}

#[test]
fn too_many_blocks_are_an_error_and_do_not_wrap() {
    let bench = Bench::new();
    let stream = bench.stream();
    let nothing = load(bench.context(), NOTHING, "nothing");
    let error = refused(&nothing, &stream, LaunchConfig::for_len(usize::MAX));
    assert!(error.to_string().contains("grid's x dimension"), "{error}");
}

#[test]
fn shared_memory_beyond_48_kib_must_be_allowed_first() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let mut data = stream.upload(&numbers(256))?;
    let asked = 64 << 10;
    let config = LaunchConfig::new(1, 256).with_dynamic_shared_bytes(asked);
    // SAFETY: one block reverses its 256 elements; so below.
    let error =
        unsafe { reverse.launch(&stream, config, (&mut data,)) }.expect_err("it is not allowed");
    assert!(
        error
            .to_string()
            .contains("65536 bytes of dynamic shared memory exceed the 49152 bytes"),
        "{error}"
    );
    assert!(
        error
            .remedy()
            .is_some_and(|it| it.contains("set_max_dynamic_shared_bytes(65536)")),
        "{error}"
    );
    assert_eq!(reverse.attributes()?.max_dynamic_shared_bytes, 49152);
    reverse.set_max_dynamic_shared_bytes(asked)?;
    assert_eq!(reverse.attributes()?.max_dynamic_shared_bytes, asked);
    // SAFETY: as above.
    unsafe { reverse.launch(&stream, config, (&mut data,)) }?;
    assert_eq!(data.to_vec()?, (0..256).rev().collect::<Vec<_>>());
    Ok(())
}

#[test]
fn more_shared_memory_than_the_device_has_cannot_be_allowed() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    for bytes in [1 << 20, u32::MAX] {
        let error = reverse
            .set_max_dynamic_shared_bytes(bytes)
            .expect_err("no device has that");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(
            error.subject().contains("allow `reverse_blocks`"),
            "{error}"
        );
    }
    let mut data = stream.upload(&numbers(32))?;
    let config = LaunchConfig::new(1, 32).with_dynamic_shared_bytes(1 << 20);
    // SAFETY: the launch must be refused.
    let error =
        unsafe { reverse.launch(&stream, config, (&mut data,)) }.expect_err("no device has that");
    assert!(
        error
            .to_string()
            .contains("this device can give the kernel"),
        "{error}"
    );
    assert_eq!(data.to_vec()?, numbers(32));
    Ok(())
}

#[test]
fn carve_outs_and_cache_preferences_are_taken() -> Test {
    let bench = Bench::new();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    for carveout in [
        SharedCarveout::Default,
        SharedCarveout::MaxL1,
        SharedCarveout::MaxShared,
        SharedCarveout::Percent(50),
    ] {
        reverse.set_preferred_shared_carveout(carveout)?;
    }
    assert!(
        reverse
            .set_preferred_shared_carveout(SharedCarveout::Percent(101))
            .is_err()
    );
    reverse.set_cache_config(cuda_driver::CacheConfig::PreferShared)?;
    Ok(())
}

#[test]
fn a_refused_launch_leaves_the_memory_usable_and_ordered() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let mut data = home.upload(&numbers(32))?;
    for stream in [&home, &other] {
        // SAFETY: the launch must be refused.
        let result = unsafe { reverse.launch(stream, LaunchConfig::new(1, 4096), (&mut data,)) };
        assert!(result.is_err());
        assert_eq!(stream.download(&data)?, numbers(32));
        stream.fill(&mut data.slice_mut(31..)?, 31)?;
    }
    assert_eq!(data.to_vec()?, numbers(32));
    Ok(())
}
