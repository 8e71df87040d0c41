//! `cp.async`: copies from global to shared memory. The copy is made at once, which is one of the orders that the ISA allows.

use crate::code::Instr;
use crate::exec::{Env, LaneError, Scope, Space};
use crate::ops::memory::addresses;
use crate::registers::Lane;
use crate::{Lanes, WARP_SIZE};

/// Copies `SIZE` bytes for each lane. The destination's address is in `src[0]` and `src[1]`, the source's row is `dst[0]` and its offset
/// `target`, the number of bytes that are read is in row `src[3]`; zeros follow them.
pub(crate) fn copy<const SIZE: usize>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let to = addresses(i, scope);
    let offset = i64::from(i.target as i32);
    let from = u64::row(&scope.registers, i.dst[0]).map(|base| base.wrapping_add_signed(offset));
    let sizes = *u32::row(&scope.registers, i.src[3]);
    let mut bytes = [[0; SIZE]; WARP_SIZE];
    // Lanes that read nothing may name any source.
    let reading = (0..WARP_SIZE)
        .filter(|&lane| mask >> lane & 1 == 1 && sizes[lane] != 0)
        .fold(0, |all, lane| all | 1 << lane);
    if reading != 0 {
        let lanes = Lanes {
            mask: reading,
            size: SIZE,
            addresses: &from,
        };
        let all = (0..WARP_SIZE)
            .filter(|lane| reading >> lane & 1 == 1)
            .all(|lane| sizes[lane] as usize >= SIZE);
        if all {
            env.read(
                scope.site(i),
                Space::Global,
                &lanes,
                bytes.as_flattened_mut(),
                scope,
            )?;
        } else {
            read_parts(i, env, scope, &from, reading, &sizes, &mut bytes)?;
        }
    }
    let lanes = Lanes {
        mask,
        size: SIZE,
        addresses: &to,
    };
    env.write(Space::Shared, &lanes, bytes.as_flattened(), scope)
}

/// Reads as many bytes as each lane asks for, one after the other: no byte beyond them is touched.
fn read_parts<const SIZE: usize>(
    i: &Instr,
    env: &mut Env<'_>,
    scope: &Scope,
    from: &[u64; WARP_SIZE],
    mask: u32,
    sizes: &[u32; WARP_SIZE],
    bytes: &mut [[u8; SIZE]; WARP_SIZE],
) -> Result<(), LaneError> {
    for index in 0..SIZE {
        let mask = (0..WARP_SIZE)
            .filter(|&lane| mask >> lane & 1 == 1 && index < sizes[lane] as usize)
            .fold(0, |all, lane| all | 1 << lane);
        if mask == 0 {
            break;
        }
        let addresses = from.map(|address| address.wrapping_add(index as u64));
        let mut column = [0; WARP_SIZE];
        let lanes = Lanes {
            mask,
            size: 1,
            addresses: &addresses,
        };
        env.read(scope.site(i), Space::Global, &lanes, &mut column, scope)?;
        for (bytes, byte) in bytes.iter_mut().zip(column) {
            bytes[index] = byte;
        }
    }
    Ok(())
}
