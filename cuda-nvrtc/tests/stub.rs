//! Libraries that the tests build themselves: versions, missing functions, errors, the search and the cache, everywhere.
#![cfg(all(unix, not(target_vendor = "apple")))]

#[path = "stub/build.rs"]
mod build;
#[path = "stub/cache.rs"]
mod cache;
#[path = "stub/hostile_cache.rs"]
mod hostile_cache;
#[path = "stub/library.rs"]
mod library;
#[path = "stub/link.rs"]
mod link;
#[path = "stub/search.rs"]
mod search;
