//! Calls and returns: a scope for each function that lanes call at once.

use crate::code::{Callee, Code, Signature, Transfer};
use crate::exec::env::LaneError;
use crate::exec::places::Places;
use crate::exec::scope::{Scope, enter_block, specialise};
use crate::exec::warp::{BlockParts, Warp};
use crate::program::function_at;
use crate::registers::write;
use crate::{FaultKind, Program, WARP_SIZE};

impl Warp {
    /// Lanes of a scope call what their call site says: one function, or those whose addresses they have.
    pub(super) fn call(
        &mut self,
        index: usize,
        pc: u32,
        lanes: u32,
        parts: &mut BlockParts<'_>,
    ) -> Result<(), LaneError> {
        let program = parts.shape.program;
        let caller = &mut self.scopes[index];
        let caller_code = &program.codes[caller.function];
        let instruction = &caller_code.instructions[pc as usize];
        let site = instruction.target;
        let (signature, listed) = match &caller_code.calls[site as usize].callee {
            Callee::Direct(function) => return self.enter(index, site, *function, lanes, parts),
            Callee::Indirect(signature, listed) => (signature, listed.as_deref()),
        };
        let addresses = caller.registers.doubles[instruction.src[0] as usize];
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let address = addresses[lane];
            let same = (0..WARP_SIZE).filter(|&it| addresses[it] == address);
            let together = same.fold(0, |mask, lane| mask | 1 << lane) & left;
            left &= !together;
            let offset = address.wrapping_sub(parts.shape.launch.code);
            let function = target(program, offset, signature, listed).map_err(|why| LaneError {
                lane,
                kind: FaultKind::BadCall { address, why },
            })?;
            self.enter(index, site, function, together, parts)?;
        }
        Ok(())
    }

    /// Lanes of a scope enter a function.
    fn enter(
        &mut self,
        index: usize,
        site: u32,
        function: usize,
        lanes: u32,
        parts: &mut BlockParts<'_>,
    ) -> Result<(), LaneError> {
        let code = &parts.shape.program.codes[function];
        let caller = &mut self.scopes[index];
        caller.runnable &= !lanes;
        caller.calling |= lanes;
        let local_base = caller.top_of(lanes);
        let needed = local_base.saturating_add(code.local_bytes);
        let limit = parts.shape.stack_limit;
        if needed > limit {
            return Err(LaneError {
                lane: lanes.trailing_zeros() as usize,
                kind: FaultKind::StackOverflow { limit },
            });
        }
        if code.local_bytes > 0 {
            self.local.grow(needed as usize);
        }
        let mut scope = new_scope(function, lanes, parts, self.index, local_base);
        scope.caller = Some((index, site));
        let caller = &self.scopes[index];
        let arguments = &parts.shape.program.codes[caller.function].calls[site as usize].arguments;
        for &transfer in arguments {
            transfer_lanes(transfer, caller, &mut scope, lanes);
        }
        self.scopes.push(scope);
        Ok(())
    }

    pub(super) fn return_from(&mut self, index: usize, lanes: u32, parts: &mut BlockParts<'_>) {
        let (before, after) = self.scopes.split_at_mut(index);
        let Some((scope, (caller, site))) = after
            .first_mut()
            .and_then(|scope| scope.caller.map(|caller| (scope, caller)))
        else {
            return self.exit(lanes, parts);
        };
        scope.remove(lanes);
        // A caller has a lower index than what it calls.
        let Some(caller) = before.get_mut(caller) else {
            return;
        };
        let calls = &parts.shape.program.codes[caller.function].calls;
        for &transfer in &calls[site as usize].results {
            transfer_lanes(transfer, scope, caller, lanes);
        }
        caller.calling &= !lanes;
        caller.runnable |= lanes;
        self.drop_finished();
    }
}

/// The function that a call reaches through an address, given as the offset from the module's first function; or why there is none.
fn target(
    program: &Program,
    offset: u64,
    signature: &Signature,
    listed: Option<&[usize]>,
) -> Result<usize, String> {
    let found = function_at(offset).and_then(|it| Some((it, program.codes.get(it)?)));
    let (function, code) =
        found.ok_or_else(|| String::from("no function of the kernel's module starts there"))?;
    let name = &code.name;
    if code.signature.as_ref() != Some(signature) {
        return Err(format!(
            "the function `{name}`, whose parameters are not those that the call passes"
        ));
    }
    if listed.is_some_and(|listed| !listed.contains(&function)) {
        return Err(format!(
            "the function `{name}`, which is not among the targets that the call lists"
        ));
    }
    Ok(function)
}

/// A call of a function by `lanes`, at its first instruction.
pub(crate) fn new_scope(
    function: usize,
    lanes: u32,
    parts: &BlockParts<'_>,
    warp: u32,
    local_base: u32,
) -> Scope {
    let code: &Code = &parts.shape.program.codes[function];
    let registers = match parts.templates.of_warp(warp).filter(|_| local_base == 0) {
        Some(template) => template.clone(),
        None => {
            let mut registers = parts.templates.registers(function);
            specialise(&mut registers, code, parts.shape, warp, local_base);
            enter_block(&mut registers, code, parts.shape, parts.block);
            registers
        }
    };
    let params_stride = code.param_bytes as usize;
    let mut scope = Scope {
        function,
        registers,
        places: Places::START,
        runnable: lanes,
        tired: 0,
        interrupted: (0, 0),
        parked: 0,
        waiting: 0,
        calling: 0,
        caller: None,
        local_base,
        tops: [0; WARP_SIZE],
        params: vec![0; params_stride * WARP_SIZE],
        params_stride,
    };
    scope.tops = scope.first_tops(parts.shape);
    scope
}

fn transfer_lanes(transfer: Transfer, from: &Scope, to: &mut Scope, lanes: u32) {
    match transfer {
        Transfer::Bytes(source, target, size) => {
            let (source, target, size) = (source as usize, target as usize, size as usize);
            for lane in (0..WARP_SIZE).filter(|lane| lanes >> lane & 1 == 1) {
                let (source, target) = (
                    lane * from.params_stride + source,
                    lane * to.params_stride + target,
                );
                to.params[target..target + size]
                    .copy_from_slice(&from.params[source..source + size]);
            }
        }
        Transfer::Row32(source, target) => write(
            &mut to.registers,
            target,
            &from.registers.words[source as usize],
            lanes,
        ),
        Transfer::Row64(source, target) => write(
            &mut to.registers,
            target,
            &from.registers.doubles[source as usize],
            lanes,
        ),
        Transfer::Predicate(source, target) => {
            to.registers
                .set_predicate(target, from.registers.predicate(source), lanes)
        }
    }
}
