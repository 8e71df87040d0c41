//! Element types: what memory of the device can hold.

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use cuda_driver::DeviceAllocation;

use crate::support::Test;
use crate::support::bench::Bench;

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    charge: i16,
    spin: u16,
}

/// May be uploaded, and not be downloaded: not all bits are a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NoUninit, Zeroable)]
#[repr(u8)]
enum Switch {
    Off = 0,
    On = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, packed)]
struct Odd {
    tag: u8,
    value: u32,
    code: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Aligned([u32; 16]);

#[derive(Clone, Copy, Debug, PartialEq, AnyBitPattern)]
#[repr(C)]
struct WithPadding {
    small: u8,
    large: u32,
}

fn round_trip<T: NoUninit + AnyBitPattern + PartialEq + std::fmt::Debug>(
    bench: &Bench,
    values: &[T],
) -> Test {
    let stream = bench.stream();
    let memory = stream.upload(values)?;
    assert_eq!(memory.len(), values.len());
    assert_eq!(memory.size_in_bytes(), size_of_val(values));
    assert_eq!(memory.to_vec()?, values);
    let mut copy = stream.zeroed::<T>(values.len())?;
    stream.copy(&memory, &mut copy)?;
    let mut host = vec![T::zeroed(); values.len()];
    copy.copy_to(&mut host)?;
    assert_eq!(host, values);
    Ok(())
}

#[test]
fn numbers_of_every_size_go_there_and_back() -> Test {
    let bench = Bench::new();
    round_trip(&bench, &[1_u8, 2, 255])?;
    round_trip(&bench, &[-1_i8, 0, 1])?;
    round_trip(&bench, &[1_u16, 65_535, 3])?;
    round_trip(&bench, &[-5_i32, i32::MIN, i32::MAX])?;
    round_trip(&bench, &[u64::MAX, 1, 2, 3, 4])?;
    round_trip(&bench, &[u128::MAX, 1 << 100, 7])?;
    round_trip(&bench, &[i128::MIN])?;
    round_trip(&bench, &[1.5_f32, -0.0, f32::INFINITY])?;
    round_trip(&bench, &[f64::MIN_POSITIVE, 1e300])?;
    round_trip(&bench, &[usize::MAX, 0])
}

#[test]
fn structs_and_arrays_go_there_and_back() -> Test {
    let bench = Bench::new();
    let particle = Particle {
        position: [1.0, 2.0, 3.0],
        charge: -1,
        spin: 2,
    };
    round_trip(&bench, &[particle; 17])?;
    round_trip(
        &bench,
        &[Odd {
            tag: 1,
            value: 2,
            code: 3,
        }; 5],
    )?;
    round_trip(&bench, &[[1_u32, 2, 3], [4, 5, 6]])?;
    round_trip(&bench, &[[[1.0_f64; 3]; 3]; 2])?;
    round_trip(&bench, &[Aligned([7; 16]), Aligned([8; 16])])
}

#[test]
fn aligned_elements_are_aligned_on_the_device() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let _odd = stream.zeroed::<u8>(1)?;
    let memory = stream.zeroed::<Aligned>(3)?;
    assert!(memory.as_raw().is_multiple_of(64));
    Ok(())
}

#[test]
fn what_is_only_uploadable_can_be_uploaded_filled_and_copied() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let switches = stream.upload(&[Switch::On, Switch::Off])?;
    let mut copy = stream.zeroed::<Switch>(2)?;
    stream.copy(&switches, &mut copy)?;
    stream.fill(&mut copy, Switch::On)?;
    let flags = stream.upload(&[true, false, true])?;
    let letters = stream.upload(&['a', 'ß', '✓'])?;
    assert_eq!((flags.len(), letters.size_in_bytes()), (3, 12));
    Ok(())
}

#[test]
fn what_is_only_downloadable_can_be_zeroed_and_downloaded() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let memory: DeviceAllocation<WithPadding> = stream.zeroed(4)?;
    let expected = WithPadding { small: 0, large: 0 };
    assert_eq!(memory.to_vec()?, [expected; 4]);
    Ok(())
}

#[test]
fn any_type_can_be_in_uninitialised_memory() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut strings = stream.uninitialized::<String>(10)?;
    assert_eq!(strings.size_in_bytes(), 10 * size_of::<String>());
    assert_eq!(strings.split_off(4)?.len(), 6);
    Ok(())
}
