//! Calls of functions that the device runtime has, and no module.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::{Op, ServiceCall, Signature, Slot, Transfer};
use crate::ops::services::Service;

/// The bytes of each slot, where all lie in parameter memory.
fn sizes(slots: &[Slot]) -> Option<Vec<u32>> {
    let size = |slot: &Slot| match slot {
        Slot::Bytes(_, size) => Some(*size),
        Slot::Row { .. } => None,
    };
    slots.iter().map(size).collect()
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the call of a function without a body, if it is one of these.
    pub(super) fn service(
        &mut self,
        name: &str,
        signature: &Signature,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let Some((service, returned, taken)) = Service::from_name(name) else {
            return Ok(false);
        };
        let declared = sizes(&signature.returns).zip(sizes(&signature.params));
        if declared.is_none_or(|(returns, params)| returns != returned || params != taken) {
            return Err(format!(
                "`{name}` is declared with other parameters than the function of the device runtime has"
            ));
        }
        let mut places = Vec::new();
        for (slot, operand) in signature.params.iter().zip(arguments) {
            if let Transfer::Bytes(from, _, size) = self.argument(*slot, operand)? {
                places.push((from, size));
            }
        }
        let mut result = None;
        if let (Some(slot), Some(operand)) = (signature.returns.first(), results.first())
            && !matches!(operand, Operand::Sink)
            && let Transfer::Bytes(place, _, size) = self.argument(*slot, operand)?
        {
            result = Some((place, size));
        }
        let mut instr = self.instr(Op::Access(service.run()));
        instr.target = self.code.services.len() as u32;
        self.code.services.push(ServiceCall {
            service,
            arguments: places,
            result,
        });
        self.push(instr);
        Ok(true)
    }
}
