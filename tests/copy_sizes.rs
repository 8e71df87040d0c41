//! Copies of the sizes at which the way of a copy changes: 64 KiB, 256 KiB, 4 MiB, and beyond.

use crate::support::Test;
use crate::support::bench::Bench;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Bytes that do not repeat with a power of two.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|it| (it % 251) as u8).collect()
}

fn there_and_back(sizes: &[usize]) -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    for &size in sizes {
        let host = bytes(size);
        let mut memory = stream.zeroed::<u8>(size)?;
        stream.copy(&host, &mut memory)?;
        let back = memory.to_vec()?;
        assert!(
            back == host,
            "{size} bytes, first wrong at {:?}",
            (0..size).find(|&it| back[it] != host[it])
        );
        let mut pinned = stream.pinned_zeroed::<u8>(size)?;
        stream.copy(&memory, &mut pinned)?;
        let mut again = stream.zeroed::<u8>(size)?;
        stream.copy(&pinned, &mut again)?;
        assert!(pinned.as_slice()? == host, "{size} bytes, pinned");
        assert!(again.to_vec()? == host, "{size} bytes, from pinned");
    }
    Ok(())
}

#[test]
fn small_sizes() -> Test {
    there_and_back(&[1, 2, 3, 63, 64, 65, 4095, 4096, 4097])
}

#[test]
fn around_64_kib() -> Test {
    there_and_back(&[
        64 * KIB - 1,
        64 * KIB,
        64 * KIB + 1,
        256 * KIB - 1,
        256 * KIB + 1,
    ])
}

#[test]
fn around_4_mib() -> Test {
    there_and_back(&[4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 8 * MIB, 8 * MIB + 1])
}

#[test]
fn more_than_all_staging_buffers() -> Test {
    there_and_back(&[17 * MIB + 12_345])
}

#[test]
fn many_small_copies_in_flight_reuse_no_staging_buffer_too_early() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = crate::support::kernels::SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    slow.occupy(&stream, &mut scratch)?;
    let size = 48 * KIB;
    let mut memory = Vec::new();
    for round in 0..40_u8 {
        let mut host = vec![round; size];
        memory.push(stream.upload(&host)?);
        host.fill(255);
    }
    for (round, memory) in memory.iter().enumerate() {
        let values = memory.to_vec()?;
        assert!(
            values.iter().all(|&it| usize::from(it) == round),
            "copy {round}"
        );
    }
    Ok(())
}

#[test]
fn small_copies_of_mixed_sizes_do_not_overlap_in_the_staging_buffer() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut all = Vec::new();
    for size in (1..200).chain([5000, 64 * KIB, 1, 64 * KIB, 63, 64, 65]) {
        let host = bytes(size);
        all.push((stream.upload(&host)?, host));
    }
    for (memory, host) in &all {
        assert!(memory.to_vec()? == *host, "{} bytes", host.len());
    }
    Ok(())
}

#[test]
fn staging_buffers_outlive_their_stream() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let slow = crate::support::kernels::SlowAdd::load(bench.context(), bench.slow());
    for round in 0..8_u8 {
        let mut scratch = home.zeroed::<f32>(256)?;
        let mut memory = home.zeroed::<u8>(1000)?;
        let short_lived = bench.stream();
        slow.occupy(&short_lived, &mut scratch)?;
        short_lived.copy(&[round; 1000], &mut memory)?;
        drop(short_lived);
        // The next stream takes the staging buffer over, while the copy may still be in flight.
        let next = bench.stream();
        let other = next.upload(&[100 + round; 1000])?;
        assert_eq!(memory.to_vec()?, [round; 1000]);
        assert_eq!(other.to_vec()?, [100 + round; 1000]);
        next.synchronize()?;
    }
    Ok(())
}

#[test]
fn copies_on_many_threads_share_the_staging_buffers_of_the_context() -> Test {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        let work = |seed: u8| {
            let stream = bench.stream();
            for round in 0..6_u8 {
                let host = vec![seed ^ round; 70 * KIB * usize::from(round + 1)];
                let memory = stream.upload(&host)?;
                assert!(memory.to_vec()? == host);
            }
            Ok::<(), cuda_driver::Error>(())
        };
        let handles: Vec<_> = (0..4)
            .map(|it| scope.spawn(move || work(it * 16)))
            .collect();
        for handle in handles {
            handle.join().expect("no panic")?;
        }
        Ok(())
    })
}
