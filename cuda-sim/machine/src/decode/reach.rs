//! Which functions a kernel can reach, and what follows from that.

use std::collections::HashMap;

use cuda_ptx::{Function, Module, Operand};

use super::{effect, pressure};
use crate::code::{Callee, Code};
use crate::ops::services::Service;
use crate::program::function_at;
use crate::{ClusterRules, Kernel, KernelParam, Program, RelocationTarget, Unsupported};

/// Bytes of local memory that a call takes beside the variables of the function.
pub(crate) const CALL_BYTES: u32 = 16;

/// Bytes of local memory that a call of the function takes, `alloca` excepted.
pub(crate) const fn frame_bytes(code: &Code) -> u32 {
    code.local_bytes
        .next_multiple_of(16)
        .saturating_add(CALL_BYTES)
}

/// Second names of functions: `.alias name, function;`.
pub(super) fn add_aliases<'a>(module: &Module<'a>, functions: &mut HashMap<&'a str, usize>) {
    for directive in module.directives().iter().filter(|it| it.name == ".alias") {
        if let [Operand::Name(alias), Operand::Name(function)] = *directive.arguments
            && let Some(&index) = functions.get(function)
        {
            functions.insert(alias, index);
        }
    }
}

pub(super) fn kernel(
    index: usize,
    function: &Function<'_>,
    program: &Program,
    problems: &[Option<Unsupported>],
) -> Kernel {
    let reachable = reachable(index, program);
    let params = function.params.iter().map(|param| KernelParam {
        offset: param.offset,
        size: param.size,
        align: param.align,
    });
    let code = &program.codes[index];
    let pressures = reachable.iter().map(|&it| program.codes[it].pressure);
    let frames = reachable.iter().map(|&it| frame_bytes(&program.codes[it]));
    let calls = reachable.iter().flat_map(|&it| &program.codes[it].services);
    let uses_heap = calls
        .clone()
        .any(|it| matches!(it.service, Service::Allocate | Service::Free));
    Kernel {
        name: function.name.to_owned(),
        params: params.collect(),
        static_shared_bytes: 0,
        local_bytes: code.local_bytes,
        uses_heap,
        frame_bytes: frames.fold(0, u32::saturating_add),
        cluster: ClusterRules {
            required: function.tuning.req_nctapercluster,
            explicit: function.tuning.explicit_cluster,
            max_blocks: function.tuning.max_cluster_rank,
        },
        max_ntid: function.tuning.max_ntid,
        req_ntid: function.tuning.req_ntid,
        registers: pressure::bounded(
            pressures.max().unwrap_or(0),
            function.tuning.req_ntid.or(function.tuning.max_ntid),
            function.tuning.max_nreg,
        ),
        bounds_registers: function.tuning.max_nreg.is_some()
            || function.tuning.max_ntid.is_some()
            || function.tuning.req_ntid.is_some(),
        unsupported: reachable
            .iter()
            .find_map(|&function| problems[function].clone()),
        interaction: effect::interaction(reachable.iter().map(|&it| &program.codes[it])),
        function: index,
        reachable,
    }
}

/// The functions that a kernel can reach, itself first.
///
/// A call through an address can reach each function of its signature whose address some code of the module takes or some variable
/// holds from the start: that is where all addresses come from.
fn reachable(kernel: usize, program: &Program) -> Vec<usize> {
    let codes = &program.codes;
    let mut reachable = vec![kernel];
    let mut seen = vec![false; codes.len()];
    seen[kernel] = true;
    let mut next = 0;
    while let Some(&function) = reachable.get(next) {
        next += 1;
        for call in &codes[function].calls {
            let mut reach = |function: usize| {
                if !std::mem::replace(&mut seen[function], true) {
                    reachable.push(function);
                }
            };
            match &call.callee {
                Callee::Direct(function) => reach(*function),
                Callee::Indirect(_, Some(targets)) => targets.iter().for_each(|it| reach(*it)),
                Callee::Indirect(signature, None) => addresses(program)
                    .filter(|&it| codes[it].signature.as_ref() == Some(signature))
                    .for_each(reach),
            }
        }
    }
    reachable
}

/// Functions whose address is taken somewhere.
fn addresses(program: &Program) -> impl Iterator<Item = usize> {
    let relocations = program.globals.iter().flat_map(|it| &it.relocations);
    let initial = relocations.filter_map(|it| match it.target {
        RelocationTarget::Function(offset) => function_at(offset),
        RelocationTarget::Variable(_) => None,
    });
    let taken = program.codes.iter().flat_map(|it| &it.taken);
    initial.chain(taken.copied())
}
