//! `alloca` and its companions: each lane takes room in local memory behind the variables of its call.

use crate::code::{Access, Instr};
use crate::exec::{Env, LaneError, Scope};
use crate::registers::{Lane, write};
use crate::{FaultKind, WARP_SIZE};

fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP_SIZE).filter(move |lane| mask >> lane & 1 == 1)
}

/// Takes `src[0]` bytes, aligned to `imm`.
fn take<T: Lane>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let sizes = *T::row(&scope.registers, i.src[0]);
    let limit = env.shape.stack_limit;
    let align = i.imm as u32;
    let mut out = [T::default(); WARP_SIZE];
    for lane in lanes_of(mask) {
        let size = u32::try_from(sizes[lane].bits()).ok();
        let start = scope.tops[lane].checked_next_multiple_of(align);
        let end = start
            .zip(size)
            .and_then(|(start, size)| start.checked_add(size));
        let (Some(start), Some(end)) = (start, end.filter(|&end| end <= limit)) else {
            let kind = FaultKind::StackOverflow { limit };
            return Err(LaneError { lane, kind });
        };
        env.local.grow(end as usize);
        scope.tops[lane] = end;
        out[lane] = T::from_bits(u64::from(start));
    }
    write(&mut scope.registers, i.dst[0], &out, mask);
    Ok(())
}

fn read_top<T: Lane>(
    i: &Instr,
    scope: &mut Scope,
    _: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let tops = scope.tops.map(|top| T::from_bits(u64::from(top)));
    write(&mut scope.registers, i.dst[0], &tops, mask);
    Ok(())
}

/// Gives back what was taken since the top was read.
fn give_back<T: Lane>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let tops = *T::row(&scope.registers, i.src[0]);
    let first = scope.first_tops(env.shape);
    for lane in lanes_of(mask) {
        let top = tops[lane].bits();
        let valid = u64::from(first[lane])..=u64::from(scope.tops[lane]);
        if !valid.contains(&top) {
            let (start, end) = valid.into_inner();
            let why = format!(
                "stackrestore to {top:#x}, which no stacksave of this call gave: its part of the stack is {start:#x} to {end:#x}"
            );
            let kind = FaultKind::Stack(why);
            return Err(LaneError { lane, kind });
        }
        scope.tops[lane] = top as u32;
    }
    Ok(())
}

/// `alloca` with sizes and addresses of 64 or 32 bits.
pub(crate) fn allocate(wide: bool) -> Access {
    if wide { take::<u64> } else { take::<u32> }
}

/// `stacksave`
pub(crate) fn save(wide: bool) -> Access {
    if wide {
        read_top::<u64>
    } else {
        read_top::<u32>
    }
}

/// `stackrestore`
pub(crate) fn restore(wide: bool) -> Access {
    if wide {
        give_back::<u64>
    } else {
        give_back::<u32>
    }
}
