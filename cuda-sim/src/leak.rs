//! What was made and never released.

use std::fmt;

use crate::report::call_at;
use crate::site::CallSite;
use crate::state::State;
use crate::state::space::Origin;

/// The kind of a thing that has to be released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LeakKind {
    /// A created context.
    Context,
    /// Retains of a primary context.
    PrimaryContext,
    /// Memory from `cuMemAlloc`.
    Memory,
    /// Managed memory.
    ManagedMemory,
    /// Stream-ordered memory.
    StreamOrderedMemory,
    /// Pinned host memory.
    PinnedMemory,
    /// A registration of host memory.
    RegisteredMemory,
    /// A stream.
    Stream,
    /// An event.
    Event,
    /// A module.
    Module,
    /// A library.
    Library,
    /// A linker.
    Linker,
    /// A memory pool.
    MemoryPool,
    /// A graph.
    Graph,
    /// A CUDA array.
    Array,
    /// Physical memory whose handle was not released.
    PhysicalMemory,
    /// Reserved addresses.
    AddressReservation,
}

/// A thing that was made and not released.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leak {
    /// What it is.
    pub kind: LeakKind,
    /// Its handle or address.
    pub handle: u64,
    /// Bytes of memory; for a primary context the number of retains.
    pub size: u64,
    /// Number of the call that made it, as the trace counts calls.
    pub call: u64,
    /// Where that call was made, if [`Builder::call_sites`](crate::Builder::call_sites) asked for it.
    pub site: Option<CallSite>,
    /// Whether its device is in error since a fault: then it cannot be released, and whether the program tried to is not known.
    pub is_lost: bool,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} {:#x} (size {}), made by {}, is not released",
            self.kind,
            self.handle,
            self.size,
            call_at(self.call, self.site.as_ref())
        )
    }
}

/// All of them. What belongs to a context that was destroyed went with it.
pub(crate) fn list(state: &State) -> Vec<Leak> {
    let mut leaks = Vec::new();
    for (handle, context) in state
        .contexts
        .iter()
        .filter(|(_, context)| context.alive && !context.primary)
    {
        leaks.push(Leak {
            kind: LeakKind::Context,
            handle,
            size: 0,
            call: context.call,
            site: None,
            is_lost: false,
        });
    }
    for device in &state.devices {
        if let Some(handle) = device.primary.filter(|_| device.primary_references > 0) {
            let call = state.contexts.get(handle).map_or(0, |context| context.call);
            leaks.push(Leak {
                kind: LeakKind::PrimaryContext,
                handle,
                size: device.primary_references,
                call,
                site: None,
                is_lost: false,
            });
        }
    }
    for block in state.space.blocks() {
        let Some(allocation) = &block.allocation else {
            continue;
        };
        let kind = match block.origin {
            Origin::Allocated => LeakKind::Memory,
            Origin::Managed => LeakKind::ManagedMemory,
            Origin::Pool(_) => LeakKind::StreamOrderedMemory,
            Origin::Host(_) => LeakKind::PinnedMemory,
            Origin::Registered(_) => LeakKind::RegisteredMemory,
            Origin::Mapped
            | Origin::Module(_)
            | Origin::ManagedModule(_)
            | Origin::Graph
            | Origin::Heap
            | Origin::Workspace
            | Origin::Array => {
                continue;
            }
        };
        leaks.push(Leak {
            kind,
            handle: block.address,
            size: allocation.size as u64,
            call: allocation.call,
            site: None,
            is_lost: false,
        });
    }
    let streams = state
        .streams
        .iter()
        .filter(|(_, stream)| state.is_alive(stream.context));
    leaks.extend(streams.map(|(handle, stream)| Leak {
        kind: LeakKind::Stream,
        handle,
        size: 0,
        call: stream.call,
        site: None,
        is_lost: false,
    }));
    let events = state
        .events
        .iter()
        .filter(|(_, event)| state.is_alive(event.context));
    leaks.extend(events.map(|(handle, event)| Leak {
        kind: LeakKind::Event,
        handle,
        size: 0,
        call: event.call,
        site: None,
        is_lost: false,
    }));
    let modules = state
        .modules
        .iter()
        .filter(|(_, module)| module.library.is_none() && state.is_alive(module.context));
    leaks.extend(modules.map(|(handle, module)| Leak {
        kind: LeakKind::Module,
        handle,
        size: 0,
        call: module.call,
        site: None,
        is_lost: false,
    }));
    leaks.extend(state.libraries.iter().map(|(handle, library)| Leak {
        kind: LeakKind::Library,
        handle,
        size: 0,
        call: library.call,
        site: None,
        is_lost: false,
    }));
    leaks.extend(state.linkers.iter().map(|(handle, linker)| Leak {
        kind: LeakKind::Linker,
        handle,
        size: 0,
        call: linker.call,
        site: None,
        is_lost: false,
    }));
    let pools = state
        .pools
        .iter()
        .filter(|(_, pool)| !pool.default && !pool.closing);
    leaks.extend(pools.map(|(handle, pool)| Leak {
        kind: LeakKind::MemoryPool,
        handle,
        size: 0,
        call: pool.call,
        site: None,
        is_lost: false,
    }));
    leaks.extend(state.arrays.iter().map(|(handle, array)| Leak {
        kind: LeakKind::Array,
        handle,
        size: array.size() as u64,
        call: array.call,
        site: None,
        is_lost: false,
    }));
    let physical = state.physical.iter();
    let held = physical.filter(|(_, physical)| physical.references > 0);
    leaks.extend(held.map(|(handle, physical)| Leak {
        kind: LeakKind::PhysicalMemory,
        handle,
        size: physical.size as u64,
        call: physical.call,
        site: None,
        is_lost: false,
    }));
    let reserved = state.virtual_memory.reserved.iter();
    leaks.extend(reserved.map(|(address, (size, call))| Leak {
        kind: LeakKind::AddressReservation,
        handle: *address,
        size: *size as u64,
        call: *call,
        site: None,
        is_lost: false,
    }));
    leaks.extend(state.graphs.iter().map(|(handle, ())| Leak {
        kind: LeakKind::Graph,
        handle,
        size: 0,
        call: 0,
        site: None,
        is_lost: false,
    }));
    leaks.sort_by_key(|leak| leak.call);
    for leak in &mut leaks {
        leak.site = state.sites.of(leak.call);
        leak.is_lost = is_lost(state, leak);
    }
    leaks
}

/// Whether the device that it is on is in error; of what is on no device, whether any is.
fn is_lost(state: &State, leak: &Leak) -> bool {
    let handle = leak.handle;
    let device_of = |context: u64| Some(state.contexts.get(context).ok()?.device);
    let device = match leak.kind {
        LeakKind::Context | LeakKind::PrimaryContext => device_of(handle),
        LeakKind::Memory
        | LeakKind::ManagedMemory
        | LeakKind::StreamOrderedMemory
        | LeakKind::PinnedMemory
        | LeakKind::RegisteredMemory => state.space.covering(handle).map(|it| it.device),
        LeakKind::Stream => {
            let stream = state.streams.get(handle).ok();
            stream.and_then(|it| device_of(it.context.handle))
        }
        LeakKind::Event => {
            let event = state.events.get(handle).ok();
            event.and_then(|it| device_of(it.context.handle))
        }
        LeakKind::Module => {
            let module = state.modules.get(handle).ok();
            module.and_then(|it| device_of(it.context.handle))
        }
        LeakKind::Array => {
            let array = state.arrays.get(handle).ok();
            array.and_then(|it| device_of(it.context.handle))
        }
        LeakKind::MemoryPool => state.pools.get(handle).ok().map(|it| it.device),
        LeakKind::PhysicalMemory => state.physical.get(handle).ok().map(|it| it.device),
        LeakKind::Library | LeakKind::Linker | LeakKind::Graph | LeakKind::AddressReservation => {
            None
        }
    };
    match device {
        Some(device) => state.healthy_device(device).is_err(),
        None => state.devices.iter().any(|it| it.poison.is_some()),
    }
}
