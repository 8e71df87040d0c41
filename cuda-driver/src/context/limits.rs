//! Limits and preferences of a context.

use std::ops::RangeInclusive;

use cuda_sys::{CUfunc_cache, CUlimit};

use super::Context;
use crate::call;
use crate::error::{Doing, Result};

/// A resource limit of a context, in bytes unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Stack of each thread.
    #[doc(alias = "CU_LIMIT_STACK_SIZE")]
    StackSize,
    /// Buffer that `printf` in kernels writes into.
    #[doc(alias = "CU_LIMIT_PRINTF_FIFO_SIZE")]
    PrintfBufferSize,
    /// Heap that `malloc` in kernels takes from.
    #[doc(alias = "CU_LIMIT_MALLOC_HEAP_SIZE")]
    MallocHeapSize,
    /// Depth to which a kernel may wait for kernels that it launched; a count.
    #[doc(alias = "CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH")]
    DeviceRuntimeSyncDepth,
    /// Launches that kernels may have pending; a count.
    #[doc(alias = "CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT")]
    DeviceRuntimePendingLaunchCount,
    /// Bytes that the L2 cache fetches at most for one miss.
    #[doc(alias = "CU_LIMIT_MAX_L2_FETCH_GRANULARITY")]
    MaxL2FetchGranularity,
    /// Part of the L2 cache that is set aside for persisting accesses.
    #[doc(alias = "CU_LIMIT_PERSISTING_L2_CACHE_SIZE")]
    PersistingL2CacheSize,
}

impl Limit {
    fn as_raw(self) -> CUlimit {
        match self {
            Self::StackSize => CUlimit::CU_LIMIT_STACK_SIZE,
            Self::PrintfBufferSize => CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE,
            Self::MallocHeapSize => CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE,
            Self::DeviceRuntimeSyncDepth => CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
            Self::DeviceRuntimePendingLaunchCount => {
                CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
            }
            Self::MaxL2FetchGranularity => CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
            Self::PersistingL2CacheSize => CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
        }
    }
}

/// How the memory that L1 cache and shared memory have in common should be divided, where it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum CacheConfig {
    /// No preference.
    #[default]
    PreferNone,
    /// More shared memory.
    PreferShared,
    /// More L1 cache.
    PreferL1,
    /// As much of one as of the other.
    PreferEqual,
}

impl CacheConfig {
    pub(crate) fn as_raw(self) -> CUfunc_cache {
        match self {
            Self::PreferNone => CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
            Self::PreferShared => CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
            Self::PreferL1 => CUfunc_cache::CU_FUNC_CACHE_PREFER_L1,
            Self::PreferEqual => CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL,
        }
    }

    fn from_raw(raw: CUfunc_cache) -> Self {
        match raw {
            CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED => Self::PreferShared,
            CUfunc_cache::CU_FUNC_CACHE_PREFER_L1 => Self::PreferL1,
            CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL => Self::PreferEqual,
            _ => Self::PreferNone,
        }
    }
}

impl Context {
    /// The value of a limit.
    ///
    /// # Errors
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) or
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) if the device does not have that limit.
    #[doc(alias = "cuCtxGetLimit")]
    pub fn limit(&self, limit: Limit) -> Result<usize> {
        let _current = self.push()?;
        let mut value = 0;
        // SAFETY: the pointer is to a live integer, and the context is current.
        unsafe { call!(self.driver(), cuCtxGetLimit(&raw mut value, limit.as_raw())) }
            .doing(|| format!("read the limit {limit:?}"))?;
        Ok(value)
    }

    /// Asks for a new value of a limit; the driver may round it.
    ///
    /// # Errors
    /// As [`Context::limit`], and if the value is out of range.
    #[doc(alias = "cuCtxSetLimit")]
    pub fn set_limit(&self, limit: Limit, value: usize) -> Result<()> {
        let _current = self.push()?;
        // SAFETY: the context is current.
        unsafe { call!(self.driver(), cuCtxSetLimit(limit.as_raw(), value)) }
            .doing(|| format!("set the limit {limit:?} to {value}"))
    }

    /// The preferred division between L1 cache and shared memory.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuCtxGetCacheConfig")]
    pub fn cache_config(&self) -> Result<CacheConfig> {
        let _current = self.push()?;
        let mut raw = CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE;
        // SAFETY: the pointer is to a live value, and the context is current.
        unsafe { call!(self.driver(), cuCtxGetCacheConfig(&raw mut raw)) }
            .doing(|| "read the cache configuration")?;
        Ok(CacheConfig::from_raw(raw))
    }

    /// Sets the preferred division between L1 cache and shared memory.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuCtxSetCacheConfig")]
    pub fn set_cache_config(&self, config: CacheConfig) -> Result<()> {
        let _current = self.push()?;
        // SAFETY: the context is current.
        unsafe { call!(self.driver(), cuCtxSetCacheConfig(config.as_raw())) }
            .doing(|| "set the cache configuration")
    }

    /// The priorities that streams can have, from the greatest (the smallest number) to the least.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuCtxGetStreamPriorityRange")]
    pub fn stream_priority_range(&self) -> Result<RangeInclusive<i32>> {
        let _current = self.push()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both pointers are to live integers, and the context is current.
        unsafe {
            call!(
                self.driver(),
                cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)
            )
        }
        .doing(|| "read the range of stream priorities")?;
        Ok(greatest..=least)
    }
}
