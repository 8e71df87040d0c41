//! The checks: what each finds, how it is switched on, what it costs, and an example.
//!
//! What a check finds is a [`Report`](crate::Report), of which [`Simulator::reports`](crate::Simulator::reports) gives the list and
//! [`Builder::on_report`](crate::Builder::on_report) tells at once; [`Simulator::assert_clean`](crate::Simulator::assert_clean) demands that
//! there is none. Tools read them as JSON, a line each ([`Simulator::reports_json`](crate::Simulator::reports_json)). Programs that cannot call the [`Builder`](crate::Builder) switch checks by the environment
//! ([`Builder::from_environment`](crate::Builder::from_environment)).
//!
//! | check | finds | switched by | default | cost |
//! |---|---|---|---|---|
//! | [memory](#memory) | accesses that leave their allocation, come too late or too early, or are misaligned | | on | a part of every access |
//! | [initialisation](#initialisation) | reads of global memory that nothing had written | | on | a bit for each byte of device memory |
//! | | the same of shared and local memory | [`initcheck`](crate::Builder::initcheck) | off | kernels run many times slower, on one thread |
//! | [ordering](#ordering) | operations that touch the same bytes and that nothing orders | [`check_order`](crate::Builder::check_order) | on | less than executing the operation |
//! | [host memory](#host-memory) | changes of what an asynchronous copy has borrowed | [`watch_host`](crate::Builder::watch_host) | on | a second copy of at most a MiB |
//! | [shared memory](#shared-memory) | races of a block's threads | [`racecheck`](crate::Builder::racecheck) | off | kernels run many times slower, on one thread |
//! | [global memory](#global-memory) | races of a kernel's threads, also between blocks | [`global_races`](crate::Builder::global_races) | off | kernels run many times slower, on one thread |
//! | [synchronisation](#synchronisation) | divided barriers, wrong masks | [`synccheck`](crate::Builder::synccheck) | off | kernels run on one thread |
//! | [releases](#releases) | releases and handles that are wrong | | on | none |
//! | [leaks](#leaks) | what was never released | asking for [`leaks`](crate::Simulator::leaks) | | none until asked |
//! | [call sites](#call-sites) | the program's lines for all of these | [`call_sites`](crate::Builder::call_sites) | off | some microseconds for each call |
//! | [endless kernels](#endless-kernels) | kernels that run for very long | [`notice_after`](crate::Builder::notice_after), [`time_limit`](crate::Builder::time_limit), [`instruction_limit`](crate::Builder::instruction_limit) | a notice after 30 s, no limit | none |
//! | [faults](crate::Simulator::fail_when) | what a program does when a call fails | [`fail`](crate::Simulator::fail), [`lose_device`](crate::Simulator::lose_device), [`fault_kernel`](crate::Simulator::fault_kernel) … | none | none |
//! | [sweep](crate::sweep()) | the same for each call in turn | [`Sweep`](crate::Sweep) | | the program runs once for each of its calls and each way to fail |
//! | [trace](crate::Simulator::trace_json) | all calls, with arguments and results | [`set_trace`](crate::Simulator::set_trace) | off | a line of text for each call |
//!
//! `cargo run --release -p cuda-sim --example check_cost` measures what those of the order and of call sites cost.
//!
//! In the examples, `start` makes an instance and a context, `memory` allocates, and `run` runs 64 threads of a kernel with that body.
//!
//! # Memory
//! A kernel or copy that leaves its allocation, uses it after its release or before its stream-ordered allocation, or whose address is
//! not aligned. As on a GPU, a kernel's fault is an error of the device from then on.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder());
//! let word = memory(&cuda, 4);
//! let result = run(&cuda, "st.global.u32 [%rd1+4], 1;", word);
//! assert_eq!(result, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
//! let report = &simulator.reports()[0];
//! assert_eq!(report.kind, ReportKind::OutOfBounds);
//! assert_eq!(report.instruction.as_deref(), Some("st.global.u32 [%rd1+4], 1"));
//! assert_eq!(report.allocation.as_ref().unwrap().size, 4);
//! # }
//! ```
//!
//! # Initialisation
//! Bytes that are read and that neither a kernel nor a copy nor a fill had written. It is no fault: the program goes on.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder());
//! let word = memory(&cuda, 4);
//! run(&cuda, "ld.global.u32 %r2, [%rd1];", word);
//! assert!(kinds(&simulator).contains(&ReportKind::UninitialisedRead));
//! # }
//! ```
//!
//! Of shared and local memory, [`initcheck`](crate::Builder::initcheck) finds the same, and names the shared variable:
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder().initcheck(true));
//! run(&cuda, "ld.shared.u32 %r2, [words+8];", 0);
//! let report = &simulator.reports()[0];
//! assert_eq!(report.kind, ReportKind::UninitialisedRead);
//! assert!(report.message.contains("byte 0x8 of shared memory, in `words`"));
//! # }
//! ```
//!
//! # Ordering
//! Operations that touch the same bytes, one of them writing, although no stream, event or wait orders them; judged by what they
//! really touched, and found in every order of execution.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder());
//! let (word, first, second) = (memory(&cuda, 4), stream(&cuda), stream(&cuda));
//! ok!(cuda, cuMemsetD32Async(word, 1, 1, first));
//! ok!(cuda, cuMemsetD32Async(word, 2, 1, second)); // no event between them
//! ok!(cuda, cuCtxSynchronize());
//! assert_eq!(kinds(&simulator), [ReportKind::Race]);
//! # }
//! ```
//!
//! # Host memory
//! Pinned memory that an asynchronous copy has borrowed and that the program changes before the copy is executed.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder());
//! let (word, mut pinned) = (memory(&cuda, 4), std::ptr::null_mut());
//! ok!(cuda, cuMemHostAlloc(&raw mut pinned, 4, 0));
//! // SAFETY: the four bytes are this program's.
//! unsafe { pinned.cast::<u32>().write(1) };
//! let stream = stream(&cuda);
//! ok!(cuda, cuMemcpyHtoDAsync_v2(word, pinned, 4, stream));
//! // SAFETY: as above; but the copy may not have been executed.
//! unsafe { pinned.cast::<u32>().write(2) };
//! ok!(cuda, cuStreamSynchronize(stream));
//! assert_eq!(kinds(&simulator), [ReportKind::HostBufferChanged]);
//! # }
//! ```
//!
//! # Shared memory
//! Two threads of a block access the same bytes of shared memory, and no barrier stands between.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder().racecheck(true));
//! run(&cuda, "st.shared.u32 [words], %r1;", 0); // 64 threads, one word
//! assert!(kinds(&simulator).contains(&ReportKind::SharedRace));
//! # }
//! ```
//!
//! # Global memory
//! Two threads of one launch access the same bytes of global memory, at least one of them writes, not both are atomic or volatile, and nothing
//! orders the two: within a block no barrier, between blocks no fence with a flag, no barrier of the grid, no lock. Each report names both threads
//! with their lines, and what is missing: everything, only a fence behind the read of the flag, or the scope of an atomic operation. Writes
//! of what is there already are no race.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder().global_races(true));
//! let word = memory(&cuda, 4);
//! run(&cuda, "st.global.u32 [%rd1], %r1;", word); // two warps, one word
//! let report = &simulator.reports()[0];
//! assert_eq!(report.kind, ReportKind::GlobalRace);
//! let other = report.other.as_ref().unwrap();
//! assert_ne!(report.thread, Some(other.thread));
//! # }
//! ```
//!
//! # Synchronisation
//! Warps that come to a barrier divided, and `.sync` instructions with masks that name other lanes than those that execute them.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder().synccheck(true));
//! let body = "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN; bar.sync 0; ret; EVEN: bar.sync 0;";
//! run(&cuda, body, 0);
//! assert!(kinds(&simulator).contains(&ReportKind::Synchronisation));
//! # }
//! ```
//!
//! # Endless kernels
//! A kernel that never ends hangs the program, as on a GPU; but after 30 seconds, and at each doubling of that time, a line on standard error
//! says which kernel it is, the line of the PTX and of the source at which one of its threads is, and how to set a limit. Beyond the limit it is
//! given up and reported.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder().instruction_limit(1_000_000));
//! assert_eq!(run(&cuda, "L: bra L;", 0), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
//! let report = &simulator.reports()[0];
//! assert_eq!(report.kind, ReportKind::Timeout);
//! assert_eq!(report.instruction.as_deref(), Some("bra L"));
//! # }
//! ```
//!
//! # Releases
//! Memory that is released twice or never was allocated, and handles of streams and events that are gone.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder());
//! let word = memory(&cuda, 4);
//! ok!(cuda, cuMemFree_v2(word));
//! assert_eq!(call!(cuda, cuMemFree_v2(word)), CUresult::CUDA_ERROR_INVALID_VALUE);
//! assert_eq!(kinds(&simulator), [ReportKind::InvalidFree]);
//! # }
//! ```
//!
//! # Leaks
//! What was made and not released, with the call that made it.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! use cuda_sim::LeakKind;
//!
//! let (simulator, cuda) = start(Simulator::builder());
//! memory(&cuda, 40);
//! let leaks = simulator.leaks();
//! let leak = leaks.iter().find(|leak| leak.kind == LeakKind::Memory).unwrap();
//! assert_eq!(leak.size, 40);
//! # }
//! ```
//!
//! # Call sites
//! Reports and leaks name the place in the program that made the call.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs"));
//! # fn main() {
//! let (simulator, cuda) = start(Simulator::builder().call_sites(true));
//! memory(&cuda, 40);
//! assert!(simulator.leaks().iter().all(|leak| leak.site.is_some()));
//! # }
//! ```
