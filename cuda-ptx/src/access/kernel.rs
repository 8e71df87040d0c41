//! What a kernel does, in terms of its parameters.

use crate::{Function, ScalarType};

use super::form::{Form, TAINTED, set_of};
use super::function::Analysed;
use super::{Access, AccessKind};

/// The accesses of a kernel and of the functions that it calls.
///
/// Which of two parameters in an address is the pointer, and which an offset, the caller may know: `is_memory` says for the number of a
/// parameter of 8 bytes whether it may be an address. Where it says yes to all, less is certain.
#[derive(Debug, Clone)]
pub struct KernelAccesses<'a> {
    list: Vec<Access<'a>>,
    /// Parameter and offset of each slot.
    slots: Vec<(u32, u32)>,
    /// Whether each parameter is of 8 bytes and no struct.
    is_number: Vec<bool>,
    pointers: u64,
    escaped: u64,
    waits: bool,
}

impl<'a> KernelAccesses<'a> {
    pub(super) fn new(kernel: &Function<'a>, found: Analysed<'a>) -> Self {
        let params = kernel.params.iter();
        let is_number = params.map(|it| it.size == 8 && it.len.is_none() && it.vector <= 1);
        let marked = (0u8..).zip(&found.slots).filter(|(_, (index, _))| {
            let param = kernel.params.get(*index as usize);
            param.is_some_and(|it| it.pointer.is_some())
        });
        Self {
            is_number: is_number.collect(),
            pointers: marked.fold(found.pointers, |all, (slot, _)| all | set_of(slot)),
            list: found.accesses,
            slots: found.slots,
            escaped: found.escaped,
            waits: found.waits,
        }
    }

    /// All accesses, in the order of the text.
    #[must_use]
    pub fn list(&self) -> &[Access<'a>] {
        &self.list
    }

    /// The parameter, by its number, whose address and an offset make the access's for certain.
    pub fn parameter_of(
        &self,
        access: &Access<'_>,
        is_memory: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        self.base(access.base, self.memory(is_memory))
    }

    fn base(&self, base: Form, memory: u64) -> Option<usize> {
        let slot = base.base_among(memory)?;
        let &(parameter, _) = self.slots.get(usize::from(slot))?;
        usize::try_from(parameter).ok()
    }

    /// The slots that may be addresses of declared memory: whole parameters only.
    fn memory(&self, is_memory: impl Fn(usize) -> bool) -> u64 {
        let all = (0u8..).zip(&self.slots);
        let all = all.filter(|(_, (parameter, _))| {
            let index = *parameter as usize;
            self.is_number.get(index).is_some_and(|it| *it) && is_memory(index)
        });
        all.fold(0, |all, (slot, _)| all | set_of(slot))
    }

    /// Whether an access may go through a parameter.
    #[must_use]
    pub fn may_be_of(&self, access: &Access<'_>, parameter: usize) -> bool {
        let mut set = access.base.all();
        if access.base.has(TAINTED) {
            set |= self.escaped;
        }
        let own = (0u8..)
            .zip(&self.slots)
            .filter(|(_, it)| it.0 as usize == parameter);
        // More parameters than are told apart count as one that is in every set of unknown values.
        own.into_iter().any(|(slot, _)| set & set_of(slot) != 0) || set & set_of(u8::MAX) != 0
    }

    /// The first access that certainly writes through a parameter.
    pub fn write_through(
        &self,
        parameter: usize,
        is_memory: impl Fn(usize) -> bool,
    ) -> Option<&Access<'a>> {
        let memory = self.memory(is_memory);
        let writes = |it: &&Access<'_>| matches!(it.kind, AccessKind::Write | AccessKind::Update);
        let mut all = self.list.iter().filter(writes);
        all.find(|it| self.base(it.base, memory) == Some(parameter))
    }

    /// Whether something may be written through a parameter.
    #[must_use]
    pub fn may_write(&self, parameter: usize) -> bool {
        let mut all = self.list.iter().filter(|it| it.kind != AccessKind::Read);
        all.any(|it| self.may_be_of(it, parameter))
    }

    /// Whether the kernel takes a parameter of 8 bytes for an address.
    #[must_use]
    pub fn is_pointer(&self, parameter: usize) -> bool {
        let mut slots = (0u8..).zip(&self.slots);
        let is_marked = slots.any(|(slot, it)| {
            *it == (u32::try_from(parameter).unwrap_or(u32::MAX), 0)
                && self.pointers & set_of(slot) != 0
        });
        is_marked
            || self
                .list
                .iter()
                .any(|it| self.base(it.base, u64::MAX) == Some(parameter))
    }

    /// The accesses through a parameter, if all that may go through it certainly do.
    fn all_of(&self, parameter: usize, memory: u64) -> Option<Vec<&Access<'a>>> {
        let all: Vec<&Access<'_>> = self
            .list
            .iter()
            .filter(|it| self.may_be_of(it, parameter))
            .collect();
        let is_certain = all
            .iter()
            .all(|it| self.base(it.base, memory) == Some(parameter));
        (is_certain && !all.is_empty()).then_some(all)
    }

    /// An access that shows with which floating-point numbers (`number`) the kernel computes behind a parameter; nothing where others
    /// contradict it, where accesses have elements of another size, and where some may go through other parameters too.
    pub fn number_behind(
        &self,
        parameter: usize,
        is_memory: impl Fn(usize) -> bool,
    ) -> Option<&Access<'a>> {
        let all = self.all_of(parameter, self.memory(is_memory))?;
        let (showing, number) = all.iter().find_map(|it| Some((*it, it.number?)))?;
        let is_same = |it: &&Access<'_>| {
            let size = it.ty.map_or(0, ScalarType::size);
            // Two halves are often moved together.
            let fits = size == number.size() || (number.size() == 2 && size == 4);
            fits && it.number.is_none_or(|it| it == number)
        };
        all.iter().all(is_same).then_some(showing)
    }

    /// The type of the elements that all accesses through a parameter agree on.
    pub fn element_behind(
        &self,
        parameter: usize,
        is_memory: impl Fn(usize) -> bool + Copy,
    ) -> Option<ScalarType> {
        if let Some(access) = self.number_behind(parameter, is_memory) {
            return access.number;
        }
        let all = self.all_of(parameter, self.memory(is_memory))?;
        let first = all.first()?.ty?;
        all.iter()
            .all(|it| it.ty == Some(first) && it.lanes == 1)
            .then_some(first)
    }

    /// The first access, or call of a function that nothing is known of, to which a thread may come before it has waited for the kernel
    /// in front (`griddepcontrol.wait`).
    #[must_use]
    pub fn before_wait(&self) -> Option<&Access<'a>> {
        self.list.iter().find(|it| it.is_before_wait)
    }

    /// The first read that the device may execute before a wait that is in front of it (`ld.global.nc`).
    #[must_use]
    pub fn noncoherent(&self) -> Option<&Access<'a>> {
        self.list.iter().find(|it| it.is_noncoherent)
    }

    /// Whether every thread that comes to an end by `ret` has waited.
    #[must_use]
    pub fn always_waits(&self) -> bool {
        self.waits
    }
}
