//! Parameters of every kind reach the kernel as what they are, through methods that were generated.

mod support;

use cuda_driver::{Context, LaunchConfig, Stream};
use with_cuda_build::Types;

type Done = Result<(), Box<dyn std::error::Error>>;

fn one() -> LaunchConfig {
    LaunchConfig::new(1, 1)
}

fn loaded() -> Result<(Context, Stream, Types), cuda_driver::Error> {
    let (context, stream) = support::stream()?;
    let kernels = Types::load(&context)?.strict()?;
    Ok((context, stream, kernels))
}

#[test]
fn numbers() -> Done {
    let (_context, stream, kernels) = loaded()?;
    let mut out = stream.zeroed::<f64>(1)?;
    // SAFETY: the kernel writes one element.
    unsafe {
        kernels.numbers(
            one(),
            &stream,
            &mut out,
            true,
            -2,
            -3,
            4,
            -5,
            6,
            -7,
            8,
            -9,
            10,
            -11,
            12,
            0.5,
            0.25,
            1000,
        )
    }?;
    let expected = 1 - 2 - 3 + 4 - 5 + 6 - 7 + 8 - 9 + 10 - 11 + 12 + 1000;
    assert_eq!(out.to_vec()?, [f64::from(expected) + 0.75]);
    Ok(())
}

/// `1.5` as a half.
const HALF: u16 = 0x3e00;

#[test]
fn blocks_of_bytes() -> Done {
    let (_context, stream, kernels) = loaded()?;
    let mut out = stream.zeroed::<f32>(1)?;
    let mut all = [0_u64; 50];
    all[49] = 1000.0_f64.to_bits();
    let (wind, size, color) = ([0.0, 0.0, 0.0, 4.0], [0, 20], [0, 0, 200, 0]);
    // SAFETY: the kernel writes one element.
    unsafe {
        kernels.blocks(
            one(),
            &stream,
            &mut out,
            wind,
            size,
            color,
            HALF,
            all,
            [0, 0, 7],
        )
    }?;
    assert_eq!(out.to_vec()?, [4.0 + 20.0 + 200.0 + 1.5 + 1000.0 + 7.0]);
    Ok(())
}

#[test]
fn memory() -> Done {
    let (_context, stream, kernels) = loaded()?;
    let flags = stream.upload(&[0_u8, 1])?;
    let text = stream.upload(&[0_i8, 20])?;
    let longs = stream.upload(&[0_i64, 300])?;
    let vectors = stream.upload(&[[0.0_f32; 4], [0.0, 4000.0, 0.0, 0.0]])?;
    let halves = stream.upload(&[0, HALF])?;
    let odd = stream.upload(&[0_u8, 0, 0, 5, 0, 0])?;
    let raw = stream.upload(&[0_u8, 0, 0, 0, 44, 1, 0, 0])?;
    let row = stream.upload(&[0.0_f32, 6.0])?;
    let rows = stream.upload(&[row.as_raw()])?;
    let mut out = stream.zeroed::<u32>(2)?;
    // SAFETY: every buffer has two elements, `rows` holds the address of one, and the row is not written.
    unsafe {
        kernels.memory(
            one(),
            &stream,
            &flags,
            &text,
            &longs,
            &vectors,
            &halves,
            &odd,
            &raw,
            &rows,
            &mut out,
        )
    }?;
    assert_eq!(out.to_vec()?, [1 + 20 + 300 + 4000 + 1 + 5, 300 + 6]);
    Ok(())
}

#[test]
fn names_and_addresses() -> Done {
    let (_context, stream, kernels) = loaded()?;
    let mut out = stream.zeroed::<u32>(1)?;
    // SAFETY: the kernel writes one element.
    unsafe { kernels.names(one(), &stream, &mut out, 1, 2, 4, 8, 16, 32, 64, 128) }?;
    assert_eq!(out.to_vec()?, [127]);
    // What no name tells, its instructions do.
    // SAFETY: the kernel writes one element.
    unsafe { kernels.untold(one(), &stream, &mut out, 9) }?;
    assert_eq!(out.to_vec()?, [9]);
    // SAFETY: the kernel does nothing.
    unsafe { kernels.nothing(one(), &stream) }?;
    Ok(())
}
