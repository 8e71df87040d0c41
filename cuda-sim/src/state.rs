//! The state of an instance: what a real driver keeps in its process and on its devices.

pub(crate) mod access;
pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod execute;
pub(crate) mod found;
pub(crate) mod handle;
pub(crate) mod heap;
pub(crate) mod host;
pub(crate) mod host_function;
pub(crate) mod kernel;
pub(crate) mod library;
pub(crate) mod linker;
pub(crate) mod location;
pub(crate) mod managed;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod old_launch;
pub(crate) mod order;
pub(crate) mod pool;
pub(crate) mod queue;
pub(crate) mod reach;
pub(crate) mod schedule;
pub(crate) mod services;
pub(crate) mod space;
pub(crate) mod storage;
pub(crate) mod stream;
pub(crate) mod transfer;
pub(crate) mod virtual_memory;
pub(crate) mod watch;
pub(crate) mod word;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuda_sys::CUresult;

use crate::builder::Settings;
use crate::device::DeviceConfig;
use crate::listener::Listener;
use crate::options::Options;
use crate::random::Random;
use crate::report::{AllocationInfo, Report};
use crate::site::Sites;
use array::Array;
use capture::Capture;
use context::{Contexts, Thread};
use event::Event;
use handle::{Kind, Table};
use library::{Library, LibraryKernel};
use linker::LinkState;
use managed::AdviceMap;
use module::{Function, Module};
use order::Order;
use pool::Pool;
use queue::{Operation, OperationId, Queue, StreamId};
use space::Space;
use stream::Stream;
use virtual_memory::{Physical, VirtualMemory};

/// Bytes between an address and an allocation that it may have been meant for: null pointers, and addresses in shared or local memory,
/// are further from all.
const NEAR: u64 = 1 << 36;

/// Reports that are kept; a kernel in error can make many.
const KEPT_REPORTS: usize = 10_000;

/// A device.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) config: DeviceConfig,
    pub(crate) primary: Option<u64>,
    /// Flags for the primary context's next life.
    pub(crate) primary_flags: u32,
    pub(crate) primary_references: u64,
    pub(crate) default_pool: u64,
    pub(crate) current_pool: u64,
    /// Bytes of memory in use.
    pub(crate) used: usize,
    /// The error that a kernel's fault left: it stays until the process ends, in all contexts of the device.
    pub(crate) poison: Option<CUresult>,
}

/// Everything behind the instance's lock.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) slot: usize,
    pub(crate) driver_version: i32,
    pub(crate) options: Options,
    pub(crate) initialised: bool,
    pub(crate) devices: Vec<Device>,
    pub(crate) contexts: Contexts,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) libraries: Table<Library>,
    pub(crate) linkers: Table<LinkState>,
    pub(crate) kernels: Table<LibraryKernel>,
    pub(crate) pools: Table<Pool>,
    pub(crate) arrays: Table<Array>,
    pub(crate) physical: Table<Physical>,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) graphs: Table<()>,
    pub(crate) threads: BTreeMap<u64, Thread>,
    pub(crate) space: Space,
    /// Bytes of managed memory.
    pub(crate) managed_used: usize,
    /// What was advised about managed memory, by the address of the allocation.
    pub(crate) advice: BTreeMap<u64, AdviceMap>,
    pub(crate) queues: BTreeMap<StreamId, Queue>,
    pub(crate) operations: BTreeMap<OperationId, Operation>,
    /// Those of the operations that the host takes part in: host functions, and waits for words.
    pub(crate) with_host: BTreeSet<OperationId>,
    pub(crate) captures: BTreeMap<u64, Capture>,
    pub(crate) random: Random,
    /// The virtual clock as the host sees it, in nanoseconds.
    pub(crate) clock: u64,
    pub(crate) lives: u64,
    pub(crate) stream_ids: u64,
    pub(crate) operation_ids: u64,
    pub(crate) capture_ids: u64,
    pub(crate) grids: u64,
    /// Bytes of addresses that functions of modules have taken.
    pub(crate) code_bytes: u64,
    /// Who has to come before whom.
    pub(crate) order: Order,
    /// Where calls were made.
    pub(crate) sites: Arc<Sites>,
    /// Launches that are made to fail when they are executed: the kernel's name, how many launches until then, and the code.
    pub(crate) kernel_faults: Vec<(String, u64, CUresult)>,
    pub(crate) reports: Vec<Report>,
    /// What kernels printed.
    pub(crate) printed: Vec<u8>,
    pub(crate) listener: Option<Listener>,
    pub(crate) last_fault: Option<cuda_sim_machine::Fault>,
}

impl State {
    pub(crate) fn new(slot: usize, settings: Settings) -> Self {
        let mut pools = Table::new(slot, Kind::Pool);
        let devices: Vec<Device> = settings
            .devices
            .into_iter()
            .enumerate()
            .map(|(number, config)| {
                let pool = pools.insert(Pool::new(number, true, 0));
                Device {
                    config,
                    primary: None,
                    primary_flags: 0,
                    primary_references: 0,
                    default_pool: pool,
                    current_pool: pool,
                    used: 0,
                    poison: None,
                }
            })
            .collect();
        Self {
            slot,
            driver_version: settings.driver_version,
            options: settings.options,
            initialised: false,
            contexts: Table::new(slot, Kind::Context),
            streams: Table::new(slot, Kind::Stream),
            events: Table::new(slot, Kind::Event),
            modules: Table::new(slot, Kind::Module),
            functions: Table::new(slot, Kind::Function),
            libraries: Table::new(slot, Kind::Library),
            linkers: Table::new(slot, Kind::Linker),
            kernels: Table::new(slot, Kind::Kernel),
            pools,
            arrays: Table::new(slot, Kind::Array),
            physical: Table::new(slot, Kind::Physical),
            virtual_memory: VirtualMemory::default(),
            graphs: Table::new(slot, Kind::Graph),
            threads: BTreeMap::new(),
            space: Space::new(slot, devices.len()),
            managed_used: 0,
            advice: BTreeMap::new(),
            devices,
            queues: BTreeMap::new(),
            operations: BTreeMap::new(),
            with_host: BTreeSet::new(),
            captures: BTreeMap::new(),
            random: Random::new(settings.seed),
            clock: 1_000,
            lives: 0,
            stream_ids: 0,
            operation_ids: 0,
            capture_ids: 0,
            grids: 0,
            code_bytes: 0,
            order: Order::new(settings.options.check_order),
            sites: Arc::new(Sites::new(settings.options.call_sites)),
            kernel_faults: Vec::new(),
            reports: Vec::new(),
            printed: Vec::new(),
            listener: settings.listener,
            last_fault: None,
        }
    }

    /// Adds a report, unless there are too many.
    pub(crate) fn add_report(&mut self, mut report: Report) {
        if self.reports.len() < KEPT_REPORTS {
            if report.site.is_none() {
                report.site = self.sites.of(report.call);
            }
            if let (None, Some(address)) = (&report.allocation, report.address)
                && address >= cuda_sim_machine::WINDOW_SIZE
            {
                report.allocation = self.describe_allocation(address);
            }
            if let Some(listener) = &self.listener {
                listener.tell(&report);
            }
            self.reports.push(report);
        }
    }

    /// The allocation at an address or, where there is none, the one that was, or the nearest.
    pub(crate) fn describe_allocation(&self, address: u64) -> Option<AllocationInfo> {
        let block = self.space.covering(address);
        if let (None, Some(former)) = (block, self.space.former(address)) {
            return Some(AllocationInfo {
                address: former.address,
                size: former.size,
                made: former.made,
                made_at: self.sites.of(former.made),
                freed: Some(former.freed),
                freed_at: self.sites.of(former.freed),
            });
        }
        let near = |block: &&space::Block| block.address.abs_diff(address) < NEAR;
        let block = block.or_else(|| self.space.nearest(address).filter(near))?;
        let allocation = block.allocation.as_ref();
        let made = allocation.map_or(0, |allocation| allocation.call);
        Some(AllocationInfo {
            address: block.address,
            size: allocation.map_or(block.capacity, |allocation| allocation.size),
            made,
            made_at: self.sites.of(made),
            freed: None,
            freed_at: None,
        })
    }
}
