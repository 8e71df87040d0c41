//! Ranges of device memory: slicing, splitting, bounds.

use cuda_driver::ErrorKind;

use crate::support::bench::Bench;
use crate::support::{Test, numbers};

#[test]
fn ranges_of_every_form_are_taken() -> Test {
    let bench = Bench::new();
    let memory = bench.stream().upload(&numbers(10))?;
    assert_eq!(memory.slice(..)?.to_vec()?, numbers(10));
    assert_eq!(memory.slice(2..5)?.to_vec()?, [2, 3, 4]);
    assert_eq!(memory.slice(2..=5)?.to_vec()?, [2, 3, 4, 5]);
    assert_eq!(memory.slice(8..)?.to_vec()?, [8, 9]);
    assert_eq!(memory.slice(..2)?.to_vec()?, [0, 1]);
    assert_eq!(memory.slice(3..3)?.to_vec()?, [0_u32; 0]);
    assert_eq!(memory.slice(10..)?.len(), 0);
    let excluded = (std::ops::Bound::Excluded(7), std::ops::Bound::Unbounded);
    assert_eq!(memory.slice(excluded)?.to_vec()?, [8, 9]);
    Ok(())
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "they must be refused")]
fn ranges_beyond_the_elements_are_errors_and_no_panics() -> Test {
    let bench = Bench::new();
    let mut memory = bench.stream().upload(&numbers(10))?;
    for range in [0..11, 11..11, 5..4, 11..12, usize::MAX - 1..usize::MAX] {
        let error = memory
            .slice(range.clone())
            .map(drop)
            .expect_err("out of bounds");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(
            error.to_string().contains("not within the 10 elements"),
            "{error}"
        );
        assert!(memory.slice_mut(range).is_err());
    }
    let error = memory
        .slice(0..=usize::MAX)
        .map(drop)
        .expect_err("the end wraps");
    assert!(error.to_string().contains("greatest number"), "{error}");
    let wrapping = (
        std::ops::Bound::Excluded(usize::MAX),
        std::ops::Bound::Unbounded,
    );
    assert!(memory.slice(wrapping).is_err());
    Ok(())
}

#[test]
fn slices_of_slices_keep_their_place() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut memory = stream.upload(&numbers(100))?;
    let inner = memory.slice(10..90)?.into_slice(10..20)?;
    assert_eq!(inner.as_raw(), memory.as_raw() + 80);
    assert_eq!(inner.to_vec()?, numbers(30)[20..]);
    let (left, right) = memory.as_slice().split_at(40)?;
    assert_eq!((left.len(), right.len()), (40, 60));
    assert_eq!(right.to_vec()?[0], 40);
    assert!(memory.as_slice().split_at(101).is_err());
    let mut whole = memory.as_mut_slice();
    whole.reborrow().into_slice(0..1)?.fill(77)?;
    assert_eq!(whole.as_slice().into_slice(0..2)?.to_vec()?, [77, 1]);
    Ok(())
}

#[test]
fn what_is_written_to_a_range_stays_within_it() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut memory = stream.zeroed::<u16>(100)?;
    memory.slice_mut(10..13)?.copy_from(&[1, 2, 3])?;
    memory.slice_mut(20..25)?.fill(9)?;
    memory.slice_mut(22..23)?.zero()?;
    let mut expected = vec![0_u16; 100];
    expected[10..13].copy_from_slice(&[1, 2, 3]);
    expected[20..25].copy_from_slice(&[9, 9, 0, 9, 9]);
    assert_eq!(memory.to_vec()?, expected);
    let mut part = [0_u16; 3];
    memory.slice(10..13)?.copy_to(&mut part)?;
    assert_eq!(part, [1, 2, 3]);
    Ok(())
}

#[test]
fn both_halves_of_a_split_can_be_written_at_once() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let mut memory = home.zeroed::<u32>(1000)?;
    let (mut left, mut right) = memory.as_mut_slice().split_at_mut(400)?;
    home.fill(&mut left, 1)?;
    other.fill(&mut right, 2)?;
    home.fill(&mut left, 3)?;
    let mut expected = vec![3; 400];
    expected.resize(1000, 2);
    assert_eq!(memory.to_vec()?, expected);
    assert!(memory.as_mut_slice().split_at_mut(1001).is_err());
    Ok(())
}

#[test]
fn split_off_makes_two_owners_of_one_block() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut front = stream.upload(&numbers(10))?;
    let mut back = front.split_off(6)?;
    assert_eq!((front.len(), back.len()), (6, 4));
    assert_eq!(back.as_raw(), front.as_raw() + 24);
    let end = back.split_off(4)?;
    assert!(end.is_empty());
    back.fill(99)?;
    assert_eq!(front.to_vec()?, numbers(6));
    assert_eq!(back.to_vec()?, [99; 4]);
    assert_eq!(
        front.split_off(7).expect_err("too far").kind(),
        ErrorKind::InvalidArgument
    );
    assert_eq!(front.len(), 6);
    drop(front);
    assert_eq!(back.to_vec()?, [99; 4]);
    Ok(())
}

#[test]
fn parts_on_several_threads_share_one_order() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let mut rest = home.zeroed::<u32>(4000)?;
    let parts: Vec<_> = (0..3)
        .map(|_| rest.split_off(rest.len() - 1000))
        .collect::<Result<_, _>>()?;
    std::thread::scope(|scope| {
        let work = |mut part: cuda_driver::DeviceAllocation<u32>, value| {
            let stream = bench.stream();
            stream.fill(&mut part, value)?;
            let values = stream.download(&part)?;
            // The part ends here, on a thread without a context.
            drop(part);
            Ok::<_, cuda_driver::Error>(values)
        };
        let handles: Vec<_> = parts
            .into_iter()
            .zip(1..)
            .map(|(part, value)| scope.spawn(move || work(part, value)))
            .collect();
        for (handle, value) in handles.into_iter().zip(1..) {
            assert_eq!(handle.join().expect("no panic")?, [value; 1000]);
        }
        Ok::<_, cuda_driver::Error>(())
    })?;
    assert_eq!(rest.to_vec()?, [0; 1000]);
    rest.home_stream().ok_or("a home")?.synchronize()?;
    Ok(())
}
