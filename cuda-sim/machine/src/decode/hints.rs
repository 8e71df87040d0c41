//! Instructions that ask for nothing beyond what the machine does anyway: fences, hints to caches, pauses, performance counters.
//!
//! Lanes run one after the other and what they store is seen at once, so that everything is ordered already.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::Op;
use crate::exec::{Space, fence, wait_for_prerequisite};
use crate::ops::map::Ty;
use crate::ops::{asynchronous, moves};

/// `fence` without operands.
fn is_fence(modifiers: &[&str]) -> bool {
    matches!(
        modifiers,
        ["cta" | "cluster" | "gpu" | "sys"]
            | [
                "sc" | "acq_rel" | "acquire" | "release",
                "cta" | "cluster" | "gpu" | "sys"
            ]
            | ["acquire", "sync_restrict::shared::cluster", "cluster"]
            | ["release", "sync_restrict::shared::cta", "cluster"]
            | ["mbarrier_init", "release", "cluster"]
            | ["release", "mbarrier_init", "cluster"]
            | ["proxy", "alias"]
            | ["proxy", "async", "global"]
            | [
                "proxy",
                "tensormap::generic",
                "release",
                "cta" | "cluster" | "gpu" | "sys"
            ]
    )
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn hint(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        match (mnemonic, operands) {
            (["membar", "cta"], []) => {}
            (["membar", "gl" | "sys"], []) => self.push(self.instr(Op::Access(fence))),
            (["membar", "proxy", "alias"], []) => {}
            (
                ["fence", "proxy", "tensormap::generic", "acquire", "cta" | "cluster" | "gpu" | "sys"],
                [map, Operand::Integer(128)],
            )
            | (["prefetch", "tensormap"], [map]) => {
                self.address(map, Space::Generic)?;
            }
            (["fence", "proxy", "async::generic", "acquire", "sync_restrict::shared::cluster", "cluster"]
            | ["fence", "proxy", "async::generic", "release", "sync_restrict::shared::cta", "cluster"], []) => {
                self.push(self.instr(Op::Access(asynchronous::fence)));
            }
            (["fence", "proxy", "async"] | ["fence", "proxy", "async", "shared::cta" | "shared::cluster"], []) => {
                self.push(self.instr(Op::Access(asynchronous::fence)));
            }
            (["fence", modifiers @ ..], []) if is_fence(modifiers) => {
                if let ["gpu" | "sys"] | [_, "gpu" | "sys"] = modifiers {
                    self.push(self.instr(Op::Access(fence)));
                }
            }
            (["nanosleep", "u32"], [time]) => {
                self.source(time, Ty::B32)?;
            }
            (["pmevent"], [Operand::Integer(0..=15)])
            | (["pmevent", "mask"], [Operand::Integer(0..=0xffff)])
            // Those that may begin now begin at the start already, or at the end.
            | (["griddepcontrol", "launch_dependents"], []) => {}
            (["griddepcontrol", "wait"], []) => {
                self.push(self.instr(Op::Access(wait_for_prerequisite)));
            }
            // Registers of the machine are not counted.
            (["setmaxnreg", "inc" | "dec", "sync", "aligned", "u32"], [Operand::Integer(count)])
                if (24..=256).contains(count) && count % 8 == 0 => {}
            (
                ["prefetch", "L1" | "L2" | "L2::evict_last" | "L2::evict_normal"]
                | ["prefetchu", "L1"],
                [address],
            ) => {
                self.address(address, Space::Generic)?;
            }
            (["prefetch", "global", "L1" | "L2" | "L2::evict_last" | "L2::evict_normal"], [address]) => {
                self.address(address, Space::Global)?;
            }
            (["prefetch", "local", "L1" | "L2"], [address]) => {
                self.address(address, Space::Local)?;
            }
            (["applypriority", "L2::evict_normal"] | ["discard", "L2"], [address, Operand::Integer(128)]) => {
                self.address(address, Space::Generic)?;
            }
            (
                ["applypriority", "global", "L2::evict_normal"] | ["discard", "global", "L2"],
                [address, Operand::Integer(128)],
            ) => {
                self.address(address, Space::Global)?;
            }
            (["createpolicy", rest @ ..], [destination, sources @ ..]) => {
                return self.create_policy(rest, destination, sources);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A cache policy is a number that means nothing to the machine: it is always 0.
    fn create_policy(
        &mut self,
        modifiers: &[&'a str],
        destination: &Operand<'a>,
        sources: &[Operand<'a>],
    ) -> Result<bool, Why> {
        const FIRST: [&str; 4] = [
            "L2::evict_last",
            "L2::evict_normal",
            "L2::evict_first",
            "L2::evict_unchanged",
        ];
        let is_priority = |parts: &[&str]| match parts {
            [first] => FIRST.contains(first),
            [first, second] => {
                FIRST.contains(first)
                    && matches!(*second, "L2::evict_first" | "L2::evict_unchanged")
            }
            _ => false,
        };
        match (modifiers, sources) {
            (["fractional", priorities @ .., "b64"], [] | [_]) if is_priority(priorities) => {
                if let [fraction] = sources {
                    self.source(fraction, Ty::F32)?;
                }
            }
            (
                ["range", "global", priorities @ .., "b64"] | ["range", priorities @ .., "b64"],
                [address, first, second],
            ) if is_priority(priorities) => {
                self.address(address, Space::Global)?;
                self.source(first, Ty::B32)?;
                self.source(second, Ty::B32)?;
            }
            (["cvt", "L2", "b64"], [property]) => {
                self.source(property, Ty::B64)?;
            }
            _ => return Ok(false),
        }
        let mut instr = self.instr(Op::Alu(moves::double));
        instr.src[0] = self.source(&Operand::Integer(0), Ty::B64)?;
        instr.dst[0] = self.destination(destination, Ty::B64)?;
        self.push(instr);
        Ok(true)
    }
}
