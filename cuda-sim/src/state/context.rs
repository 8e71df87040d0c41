//! Contexts, and each thread's stack of current ones.

use std::collections::{BTreeMap, BTreeSet};

use cuda_sys::CUresult;

use crate::code;
use crate::state::State;
use crate::state::handle::Table;
use crate::state::queue::StreamId;

/// A context's handle together with its life: a primary context keeps its handle through release and retain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContextRef {
    /// `CUcontext` as a number.
    pub(crate) handle: u64,
    /// Number of the life.
    pub(crate) life: u64,
}

/// A `CUcontext`.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) device: usize,
    pub(crate) primary: bool,
    /// Changes each time the context is made anew.
    pub(crate) life: u64,
    /// Whether it can be used: a destroyed context, or a primary one that nobody retains, cannot.
    pub(crate) alive: bool,
    /// How often a created context has to be detached from before it ends.
    pub(crate) uses: u32,
    pub(crate) flags: u32,
    pub(crate) limits: BTreeMap<u32, usize>,
    pub(crate) cache_config: u32,
    /// Address of the memory that kernels allocate from.
    pub(crate) heap: Option<u64>,
    /// Address of the words that cooperative launches use.
    pub(crate) workspace: Option<u64>,
    /// Contexts whose memory this one may access.
    pub(crate) peers: BTreeSet<u64>,
    pub(crate) legacy: Option<StreamId>,
    pub(crate) per_thread: BTreeMap<u64, StreamId>,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

impl Context {
    /// A context that nobody has used.
    pub(crate) fn new(device: usize, primary: bool, flags: u32, life: u64, call: u64) -> Self {
        Self {
            device,
            primary,
            life,
            alive: true,
            uses: 1,
            flags,
            limits: BTreeMap::new(),
            cache_config: 0,
            heap: None,
            workspace: None,
            peers: BTreeSet::new(),
            legacy: None,
            per_thread: BTreeMap::new(),
            call,
        }
    }
}

/// What the instance knows of a thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// Handles of contexts; the last is current.
    pub(crate) stack: Vec<u64>,
    /// `CUstreamCaptureMode` of the thread: global (0) until exchanged.
    pub(crate) capture_mode: u32,
}

impl State {
    /// The context of a handle, dead or alive.
    ///
    /// # Errors
    /// `INVALID_CONTEXT`
    pub(crate) fn context_entry(&self, handle: u64) -> Result<&Context, CUresult> {
        self.contexts.get(handle)
    }

    /// The context of a handle that a caller passed.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` for no context of this instance, `CONTEXT_IS_DESTROYED` for one that is no more.
    pub(crate) fn living(&self, handle: u64) -> Result<ContextRef, CUresult> {
        let context = self.contexts.get(handle)?;
        if context.alive {
            Ok(ContextRef {
                handle,
                life: context.life,
            })
        } else {
            Err(code::CONTEXT_IS_DESTROYED)
        }
    }

    /// The context that an object belongs to.
    ///
    /// # Errors
    /// `CONTEXT_IS_DESTROYED`, or the error that poisons it.
    pub(crate) fn healthy(&self, context: ContextRef) -> Result<&Context, CUresult> {
        let entry = self
            .contexts
            .get(context.handle)
            .ok()
            .filter(|entry| entry.alive && entry.life == context.life);
        let entry = entry.ok_or(code::CONTEXT_IS_DESTROYED)?;
        let poison = self
            .devices
            .get(entry.device)
            .and_then(|device| device.poison);
        poison.map_or(Ok(entry), Err)
    }

    /// Whether the device can be used.
    ///
    /// # Errors
    /// The error that poisons it.
    pub(crate) fn healthy_device(&self, device: usize) -> Result<(), CUresult> {
        self.devices
            .get(device)
            .and_then(|device| device.poison)
            .map_or(Ok(()), Err)
    }

    /// The context that an object belongs to, to be changed; nothing where it is no more.
    pub(crate) fn context_mut(&mut self, context: ContextRef) -> Option<&mut Context> {
        self.contexts
            .get_mut(context.handle)
            .ok()
            .filter(|entry| entry.alive && entry.life == context.life)
    }

    /// Whether the context is still the one that it was.
    pub(crate) fn is_alive(&self, context: ContextRef) -> bool {
        self.contexts
            .get(context.handle)
            .is_ok_and(|entry| entry.alive && entry.life == context.life)
    }

    /// The handle of the thread's current context, 0 for none.
    pub(crate) fn current_handle(&self, thread: u64) -> u64 {
        self.threads
            .get(&thread)
            .and_then(|thread| thread.stack.last())
            .copied()
            .unwrap_or(0)
    }

    /// The thread's current context.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` for none, `CONTEXT_IS_DESTROYED`, or the error that poisons it.
    pub(crate) fn current(&self, thread: u64) -> Result<ContextRef, CUresult> {
        let current = self.current_unchecked(thread)?;
        self.healthy(current)?;
        Ok(current)
    }

    /// The thread's current context, poisoned or not.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` for none, `CONTEXT_IS_DESTROYED`.
    pub(crate) fn current_unchecked(&self, thread: u64) -> Result<ContextRef, CUresult> {
        match self.current_handle(thread) {
            0 => Err(code::INVALID_CONTEXT),
            handle => self.living(handle),
        }
    }

    /// The device of a context.
    pub(crate) fn device_of(&self, context: ContextRef) -> usize {
        self.contexts
            .get(context.handle)
            .map_or(0, |context| context.device)
    }

    /// The primary context of a device, made (but not alive) when first asked for.
    pub(crate) fn primary(&mut self, device: usize) -> u64 {
        if let Some(handle) = self.devices.get(device).and_then(|device| device.primary) {
            return handle;
        }
        let mut context = Context::new(device, true, 0, 0, 0);
        context.alive = false;
        let handle = self.contexts.insert(context);
        if let Some(device) = self.devices.get_mut(device) {
            device.primary = Some(handle);
        }
        handle
    }

    /// Ends a context: what it owns goes with it. Its work must be done or discarded.
    pub(crate) fn end_context(&mut self, context: ContextRef, call: u64) {
        let owned = |space: &super::space::Space| {
            space.select(|block| {
                let pool = matches!(block.origin, super::space::Origin::Pool(_));
                !pool
                    && block
                        .allocation
                        .as_ref()
                        .is_some_and(|allocation| allocation.context == context)
            })
        };
        for address in owned(&self.space) {
            self.note_release(address, call);
            self.release_block(address, call);
        }
        let entry = self.contexts.get_mut(context.handle).ok();
        let own = entry.map(|entry| [entry.heap.take(), entry.workspace.take()]);
        for address in own.into_iter().flatten().flatten() {
            drop(self.space.heaps.remove(&address));
            self.release_block(address, call);
        }
        let modules = self
            .modules
            .iter()
            .filter(|(_, module)| module.context == context);
        let modules: Vec<u64> = modules.map(|(handle, _)| handle).collect();
        for module in modules {
            self.unload_module(module, call);
        }
        let arrays = self.arrays.iter();
        let arrays: Vec<u64> = arrays
            .filter(|(_, array)| array.context == context)
            .map(|(handle, _)| handle)
            .collect();
        for array in arrays {
            let _ = self.destroy_array(array, call);
        }
        self.discard_work(context);
        if let Ok(entry) = self.contexts.get_mut(context.handle) {
            entry.alive = false;
            entry.legacy = None;
            entry.per_thread.clear();
            entry.peers.clear();
            entry.limits.clear();
        }
    }

    /// A number that no other context life has.
    pub(crate) fn new_life(&mut self) -> u64 {
        self.lives += 1;
        self.lives
    }
}

/// The table of an instance's contexts.
pub(crate) type Contexts = Table<Context>;
