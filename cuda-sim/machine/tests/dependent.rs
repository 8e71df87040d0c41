//! Kernels that begin before the launch before them has ended: what they do ahead of `griddepcontrol.wait` is told apart.

mod support;

use std::sync::Mutex;

use cuda_sim_machine::{
    Abandoned, Contents, FaultKind, Launch, Memory, MemoryFault, Prerequisite, run,
};
use support::{Arena, program, thread_kernel};

/// The launch before: it writes 42 to a word when somebody waits for it.
struct Before<'a> {
    arena: &'a Arena,
    word: u64,
    fails: bool,
    waits: Mutex<u32>,
    /// Addresses that were read or written by threads that had not waited.
    early: Mutex<Vec<u64>>,
}

impl std::fmt::Debug for Before<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Before")
    }
}

impl Memory for Before<'_> {
    fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault> {
        self.early.lock().unwrap().push(address);
        self.arena.load(address, into)
    }

    fn store(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        self.early.lock().unwrap().push(address);
        self.arena.store(address, bytes)
    }

    fn atomic(
        &self,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<(u64, Contents), MemoryFault> {
        self.early.lock().unwrap().push(address);
        self.arena.atomic(address, size, update)
    }
}

impl Prerequisite for Before<'_> {
    fn memory(&self) -> &dyn Memory {
        self
    }

    fn wait(&self) -> Result<(), Abandoned> {
        *self.waits.lock().unwrap() += 1;
        if self.fails {
            return Err(Abandoned);
        }
        self.arena.store_all(self.word, &42_u32.to_le_bytes());
        Ok(())
    }
}

/// The kernel's results, the addresses of early accesses as offsets from the word, and how it ended. `%d9` is the word's address.
fn outcome(body: &str, fails: bool) -> (Vec<u32>, Vec<u64>, Result<(), FaultKind>) {
    let body = format!("ld.param.u64 %d9, [out]; add.u64 %d9, %d9, 4096;\n{body}");
    let program = program(&thread_kernel(".shared .align 8 .b32 cells[64];", &body));
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let arena = Arena::new();
    let out = arena.u32s(&[0; 2048]);
    let before = Before {
        arena: &arena,
        word: out + 4096,
        fails,
        waits: Mutex::new(0),
        early: Mutex::default(),
    };
    let params = out.to_le_bytes();
    let launch = Launch {
        prerequisite: Some(&before),
        threads: 4,
        ..Launch::new([2, 1, 1], [64, 1, 1], &params)
    };
    let ended = run(kernel, &program, &launch, &arena).map(|_| ());
    let early = before.early.into_inner().unwrap();
    let offsets = early.into_iter().map(|it| it.wrapping_sub(out + 4096));
    (
        arena.read_u32s(out, 128),
        offsets.collect(),
        ended.map_err(|fault| fault.kind),
    )
}

#[test]
fn after_waiting_everything_is_there() {
    let body = "griddepcontrol.launch_dependents; griddepcontrol.wait; ld.global.u32 %r0, [%d9];";
    assert_eq!(outcome(body, false), (vec![42; 128], vec![], Ok(())));
}

#[test]
fn what_comes_before_waiting_is_early() {
    let (found, early, ended) = outcome("ld.global.u32 %r0, [%d9]; griddepcontrol.wait;", false);
    // The first block reads before anybody has waited.
    assert_eq!((found[0], ended), (0, Ok(())));
    assert!(
        early.contains(&0) && early.iter().all(|it| *it < 4),
        "{early:?}"
    );
    let (found, early, ended) = outcome("ld.global.u32 %r0, [%d9];", false);
    assert_eq!((found, ended), (vec![0; 128], Ok(())));
    // The results are written early too.
    assert!(early.len() > 2);
}

#[test]
fn one_thread_waits_for_those_that_it_meets() {
    let one = "setp.ne.u32 %p1, %t, 0; @!%p1 griddepcontrol.wait;";
    let read = "ld.global.u32 %r0, [%d9];";
    for meet in [
        "bar.sync 0;",
        "barrier.cluster.arrive; barrier.cluster.wait;",
    ] {
        let body = format!("{one} {meet} {read}");
        assert_eq!(
            outcome(&body, false),
            (vec![42; 128], vec![], Ok(())),
            "{meet}"
        );
    }
    // In its warp alone.
    let (_, early, _) = outcome(&format!("{one} bar.warp.sync -1; {read}"), false);
    assert!(early.contains(&0));
    let own = "setp.ne.u32 %p1, %t, 0; @%p1 bra ON; griddepcontrol.wait; ld.global.u32 %r7, [%d9]; st.shared.u32 [cells], %r7;
       ON: bar.sync 0; ld.shared.u32 %r0, [cells];";
    assert_eq!(outcome(own, false), (vec![42; 128], vec![], Ok(())));
    let relaxed = format!("{one} barrier.cluster.arrive.relaxed; barrier.cluster.wait; {read}");
    assert!(outcome(&relaxed, false).1.contains(&0));
}

#[test]
fn a_launch_goes_with_the_one_that_it_waited_for() {
    let (_, _, ended) = outcome("mov.u32 %r0, 1; griddepcontrol.wait;", true);
    assert_eq!(ended, Err(FaultKind::Abandoned));
    let (found, _, ended) = outcome("mov.u32 %r0, 1;", true);
    assert_eq!((found, ended), (vec![1; 128], Ok(())));
}
