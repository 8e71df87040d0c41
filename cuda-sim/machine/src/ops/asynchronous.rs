//! Starts of asynchronous operations: `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async` and `red.async`; their groups and fences.

pub(crate) mod combine;

use crate::code::{Asynchronous, Given, Instr, Pointer};
use crate::exec::{
    Env, LaneError, Operation, Origin, RANK_SHIFT, Scope, Seen, SharedAt, Space, Target, resolve,
};
use crate::registers::Lane;
use crate::{FaultKind, WARP_SIZE};

/// Bytes by which the addresses and sizes of bulk copies are aligned.
const UNIT: usize = 16;

impl Pointer {
    fn of_lane(self, scope: &Scope, lane: usize) -> u64 {
        if self.narrow {
            let base = u32::row(&scope.registers, self.row)[lane];
            u64::from(base.wrapping_add(self.offset as u32))
        } else {
            u64::row(&scope.registers, self.row)[lane].wrapping_add_signed(self.offset)
        }
    }
}

/// One lane that starts an operation.
struct Starter<'a, 'e> {
    env: &'a mut Env<'e>,
    scope: &'a Scope,
    lane: usize,
}

impl Starter<'_, '_> {
    fn fault<T>(&self, kind: FaultKind) -> Result<T, LaneError> {
        let lane = self.lane;
        Err(LaneError { lane, kind })
    }

    fn bad<T>(&self, why: String) -> Result<T, LaneError> {
        self.fault(FaultKind::Asynchronous(why))
    }

    fn aligned(&self, pointer: Pointer, size: usize) -> Result<u64, LaneError> {
        let address = pointer.of_lane(self.scope, self.lane);
        if address.is_multiple_of(size as u64) {
            Ok(address)
        } else {
            self.fault(FaultKind::Misaligned { address, size })
        }
    }

    /// The place of so many bytes of shared memory.
    fn shared(
        &mut self,
        pointer: Pointer,
        align: usize,
        size: usize,
    ) -> Result<SharedAt, LaneError> {
        let address = self.aligned(pointer, align)?;
        let (space, address) = match resolve(pointer.space, address) {
            (space @ (Space::Shared | Space::Cluster), address) => (space, address),
            (_, address) => {
                return self.bad(format!(
                    "address {address:#x} does not lie in shared memory, where the operation needs it"
                ));
            }
        };
        self.env.shared_at(self.lane, space, address, size)?;
        Ok(SharedAt {
            rank: (address >> RANK_SHIFT) as u32,
            offset: (address & ((1 << RANK_SHIFT) - 1)) as usize,
        })
    }

    /// What the operation writes, and how many bytes that are.
    fn given(&mut self, given: &Given) -> Result<(Origin, usize), LaneError> {
        match given {
            Given::Registers(rows, size) => {
                let mut bytes = Vec::with_capacity(rows.len() * size);
                for &row in rows {
                    let value = if *size == 8 {
                        u64::row(&self.scope.registers, row)[self.lane]
                    } else {
                        u64::from(u32::row(&self.scope.registers, row)[self.lane])
                    };
                    bytes.extend_from_slice(&value.to_le_bytes()[..*size]);
                }
                let size = bytes.len();
                Ok((Origin::Taken(bytes), size))
            }
            Given::Memory(from, size) => {
                let size = u32::row(&self.scope.registers, *size)[self.lane] as usize;
                if !size.is_multiple_of(UNIT) {
                    return self.bad(format!(
                        "the size of {size} bytes is not a multiple of {UNIT}"
                    ));
                }
                let origin = match from.space {
                    Space::Global => Origin::Global(self.aligned(*from, UNIT)?),
                    _ => Origin::Shared(self.shared(*from, UNIT, size)?),
                };
                Ok((origin, size))
            }
        }
    }

    /// Where a copy goes that several blocks of the cluster receive.
    fn targets(
        &mut self,
        blocks: Option<u32>,
        to: SharedAt,
        size: usize,
    ) -> Result<Vec<u32>, LaneError> {
        let Some(row) = blocks else {
            return Ok(vec![to.rank]);
        };
        let mask = u32::row(&self.scope.registers, row)[self.lane] & 0xffff;
        let count = self.env.peers.blocks();
        if mask >> count != 0 {
            return self.bad(format!(
                "the set of blocks {mask:#06x} names blocks that the cluster of {count} does not have"
            ));
        }
        let ranks: Vec<u32> = (0..count).filter(|rank| mask >> rank & 1 == 1).collect();
        for &rank in &ranks {
            let address = u64::from(rank) << RANK_SHIFT | to.offset as u64;
            self.env
                .shared_at(self.lane, Space::Cluster, address, size)?;
        }
        Ok(ranks)
    }

    fn start(&mut self, form: &Asynchronous, seen: Seen) -> Result<(), LaneError> {
        let (origin, size) = self.given(&form.given)?;
        let by_proxy = matches!(form.given, Given::Memory(..));
        let align = match &form.given {
            Given::Memory(..) => UNIT,
            Given::Registers(_, each) => size.max(*each),
        };
        let bytes = form.bytes.map_or(u16::MAX, |row| {
            u32::row(&self.scope.registers, row)[self.lane] as u16
        });
        let mut operation = Operation {
            seen,
            origin,
            target: Target::Global(0),
            size,
            combine: form.combine,
            bytes,
            barrier: None,
            group: None,
            early: self.env.waited >> self.lane & 1 == 0,
            clock: self.env.clock,
            instance: 0,
            due: 0,
        };
        if form.to.space == Space::Global {
            operation.target = Target::Global(self.aligned(form.to, align)?);
            let thread = thread_of(self.env, self.lane);
            let flight = &self.env.common.flight;
            operation.group = Some(flight.open_group(thread));
            self.begin(operation, by_proxy);
            return Ok(());
        }
        let to = self.shared(form.to, align, size)?;
        let Some(barrier) = form.barrier else {
            return Ok(());
        };
        let barrier = self.shared(barrier, 8, 8)?;
        if barrier.rank != to.rank {
            return self.bad(format!(
                "the mbarrier lies in block {} of the cluster, and the destination in block {}; both must lie in the same",
                barrier.rank, to.rank
            ));
        }
        for rank in self.targets(form.blocks, to, size)? {
            let operation = Operation {
                origin: operation.origin.clone(),
                target: Target::Shared(SharedAt { rank, ..to }),
                barrier: Some(SharedAt { rank, ..barrier }),
                ..operation
            };
            self.begin(operation, by_proxy);
        }
        Ok(())
    }

    fn begin(&mut self, mut operation: Operation, by_proxy: bool) {
        if let Some(race) = &mut self.env.common.race {
            race.begin_operation(&mut operation, by_proxy, self.env.shape);
        }
        self.env
            .with_flight(|flight, reach| flight.start(operation, reach));
    }
}

/// The number of a lane's thread in its cluster.
fn thread_of(env: &Env<'_>, lane: usize) -> u32 {
    let threads = env.shape.launch.block.iter().product::<u32>();
    env.peers.rank() * threads + env.warp * WARP_SIZE as u32 + lane as u32
}

/// Starts the operation `target` of the function, for each lane.
pub(crate) fn start(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let program = env.shape.program;
    let form = &program.codes[scope.function].operations[i.target as usize];
    for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
        let seen = Seen {
            site: scope.site(i),
            block: env.block,
            thread: env.warp * WARP_SIZE as u32 + lane as u32,
        };
        let mut starter = Starter { env, scope, lane };
        starter.start(form, seen)?;
    }
    Ok(())
}

/// `cp.async.bulk.commit_group`
pub(crate) fn commit(
    _: &Instr,
    _: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
        let thread = thread_of(env, lane);
        env.common.flight.commit(thread);
    }
    Ok(())
}

/// `cp.async.bulk.wait_group`: for all groups but the last `imm`; `target` is 1 where it is enough that they have been read.
pub(crate) fn wait(
    i: &Instr,
    _: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
        let waiter = thread_of(env, lane);
        let (pending, only_reads) = (i.imm as u64, i.target == 1);
        env.with_flight(|flight, reach| flight.wait(waiter, pending, only_reads, reach));
    }
    Ok(())
}

/// `fence.proxy.async` of shared memory.
pub(crate) fn fence(
    _: &Instr,
    _: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let rank = env.peers.rank();
    if let Some(race) = &mut env.common.race {
        race.fence(rank, env.warp, mask);
    }
    Ok(())
}
