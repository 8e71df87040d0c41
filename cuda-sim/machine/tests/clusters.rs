//! Clusters: their registers, their barrier, and the shared memory of their blocks, which each block reaches.

mod support;

use cuda_sim_machine::{Fault, FaultKind, Launch, run};
use support::{Arena, program, thread_kernel};

/// What each thread leaves, in clusters of a line of blocks.
fn results(
    declared: &str,
    body: &str,
    [blocks, cluster, threads]: [u32; 3],
    seed: u64,
) -> Result<Vec<u32>, Fault> {
    let program = program(&thread_kernel(declared, body));
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let arena = Arena::new();
    let count = (blocks * threads) as usize;
    let out = arena.u32s(&vec![0xdead; count]);
    let params = out.to_le_bytes();
    let launch = Launch {
        cluster: Some([cluster, 1, 1]),
        seed,
        threads: 2,
        ..Launch::new([blocks, 1, 1], [threads, 1, 1], &params)
    };
    run(kernel, &program, &launch, &arena)?;
    Ok(arena.read_u32s(out, count))
}

/// The same in several orders.
fn in_any_order(declared: &str, body: &str, shape: [u32; 3]) -> Vec<u32> {
    let first = results(declared, body, shape, 0).unwrap();
    for seed in [1, 2, 77] {
        assert_eq!(results(declared, body, shape, seed).unwrap(), first);
    }
    first
}

fn fault(declared: &str, body: &str, shape: [u32; 3]) -> Fault {
    results(declared, body, shape, 0).unwrap_err()
}

const ARRIVE: &str = "barrier.cluster.arrive.release.aligned;";
const WAIT: &str = "barrier.cluster.wait.acquire.aligned;";
const CELL: &str = ".shared .align 8 .b32 cells[64];";

#[test]
fn each_block_knows_its_place() {
    let registers = [
        "%cluster_ctaid.x",
        "%cluster_ctaid.y",
        "%cluster_ctaid.z",
        "%cluster_nctaid.x",
        "%cluster_nctaid.y",
        "%cluster_nctaid.z",
        "%clusterid.x",
        "%clusterid.y",
        "%clusterid.z",
        "%nclusterid.x",
        "%nclusterid.y",
        "%nclusterid.z",
        "%cluster_ctarank",
        "%cluster_nctarank",
    ];
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
         .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>;\n\
         mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r1, %r1, %r2, %r3;\n\
         mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n\
         ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 60; add.u64 %d1, %d1, %d2;\n",
    );
    for (index, register) in registers.iter().enumerate() {
        text.push_str(&format!(
            "mov.u32 %r4, {register}; st.global.u32 [%d1+{}], %r4;\n",
            index * 4
        ));
    }
    text.push_str(
        "mov.pred %p, %is_explicit_cluster; selp.u32 %r4, 1, 0, %p; st.global.u32 [%d1+56], %r4; ret; }\n",
    );
    let program = program(&text);
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let run = |cluster: Option<[u32; 3]>| {
        let arena = Arena::new();
        let out = arena.u32s(&[0; 15 * 24]);
        let params = out.to_le_bytes();
        let launch = Launch {
            cluster,
            ..Launch::new([4, 3, 2], [1; 3], &params)
        };
        run(kernel, &program, &launch, &arena).unwrap();
        arena.read_u32s(out, 15 * 24)
    };
    let found = run(Some([2, 3, 1]));
    for (index, block) in found.chunks(15).enumerate() {
        let index = index as u32;
        let (x, y, z) = (index % 4, index / 4 % 3, index / 12);
        let rank = x % 2 + y * 2;
        let expected = [x % 2, y, 0, 2, 3, 1, x / 2, 0, z, 2, 1, 2, rank, 6, 1];
        assert_eq!(block, expected, "block ({x},{y},{z})");
    }
    let alone = run(None);
    assert_eq!(alone[..15], [0, 0, 0, 1, 1, 1, 0, 0, 0, 4, 3, 2, 0, 1, 0]);
}

/// Each thread leaves `100 * rank + t`, and takes what its neighbour left.
fn ring(take: &str) -> String {
    format!(
        "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
         mad.lo.u32 %r3, %r1, 100, %t; mov.u32 %r4, cells; mad.lo.u32 %r4, %t, 4, %r4; st.shared.u32 [%r4], %r3;
         {ARRIVE} {WAIT}
         add.u32 %r5, %r1, 1; rem.u32 %r5, %r5, %r2;
         {take}
         {ARRIVE} {WAIT}"
    )
}

#[test]
fn a_block_reads_what_its_neighbour_wrote() {
    let expected: Vec<u32> = (0..12 * 40)
        .map(|thread| (thread / 40 % 4 + 1) % 4 * 100 + thread % 40)
        .collect();
    for take in [
        "mapa.shared::cluster.u32 %r6, %r4, %r5; ld.shared::cluster.u32 %r0, [%r6];",
        "cvt.u64.u32 %d1, %r4; cvta.shared.u64 %d2, %d1; mapa.u64 %d3, %d2, %r5; ld.u32 %r0, [%d3];",
        "cvt.u64.u32 %d1, %r4; mapa.shared::cluster.u64 %d2, %d1, %r5; atom.shared::cluster.add.u32 %r0, [%d2], 0;",
    ] {
        assert_eq!(
            in_any_order(CELL, &ring(take), [12, 4, 40]),
            expected,
            "{take}"
        );
    }
}

#[test]
fn an_address_means_the_same_to_the_whole_cluster() {
    // Block 0 hands the generic address of its variable to the others, as it is.
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; add.u32 %r2, %r1, 7; st.shared.u32 [cells], %r2;
         mov.u64 %d1, cells; cvta.shared.u64 %d1, %d1; mapa.u64 %d2, %d1, 0; setp.ne.u64 %p1, %d1, %d2;
         setp.eq.u32 %p2, %r1, 3; @!%p2 bra HANDED;
         mov.u32 %r3, 0;
       NEXT: mov.u64 %d3, cells; cvta.shared.u64 %d3, %d3; mapa.u64 %d4, %d3, %r3; st.u64 [%d4+8], %d1;
         add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4; @%p3 bra NEXT;
       HANDED: {ARRIVE} {WAIT}
         ld.shared.u64 %d5, [cells+8]; ld.u32 %r0, [%d5]; getctarank.u64 %r4, %d5; mad.lo.u32 %r0, %r4, 1000, %r0;
         selp.u32 %r5, 100, 0, %p1; add.u32 %r0, %r0, %r5;
         {ARRIVE} {WAIT}"
    );
    assert_eq!(
        in_any_order(CELL, &body, [4, 4, 1]),
        [3010, 3110, 3110, 3110]
    );
}

#[test]
fn the_windows_are_told_apart() {
    // Bits: own address in cta, in cluster; the other block's in cta, in cluster; that of a block which is not there.
    let body = "mov.u64 %d1, cells; cvta.shared.u64 %d1, %d1; mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mapa.u64 %d2, %d1, %r2;
         mapa.u64 %d3, %d1, 2; mov.u32 %r0, 0;
         isspacep.shared::cta %p1, %d1; @%p1 or.b32 %r0, %r0, 1;
         isspacep.shared::cluster %p1, %d1; @%p1 or.b32 %r0, %r0, 2;
         isspacep.shared %p1, %d2; @%p1 or.b32 %r0, %r0, 4;
         isspacep.shared::cluster %p1, %d2; @%p1 or.b32 %r0, %r0, 8;
         isspacep.shared::cluster %p1, %d3; @%p1 or.b32 %r0, %r0, 16;
         getctarank.u64 %r3, %d2; setp.eq.u32 %p1, %r3, %r2; @%p1 or.b32 %r0, %r0, 32;";
    assert_eq!(in_any_order(CELL, body, [2, 2, 1]), [59, 59]);
}

#[test]
fn a_histogram_lies_across_the_cluster() {
    // 64 bins over four blocks; each thread counts its own number squared.
    let body = format!(
        "setp.lt.u32 %p1, %t, 16; mov.u32 %r1, cells; mad.lo.u32 %r2, %t, 4, %r1; @%p1 st.shared.u32 [%r2], 0;
         {ARRIVE} {WAIT}
         mul.lo.u32 %r3, %g, %g; and.b32 %r3, %r3, 63; shr.u32 %r4, %r3, 4; and.b32 %r5, %r3, 15;
         mad.lo.u32 %r6, %r5, 4, %r1; mapa.shared::cluster.u32 %r6, %r6, %r4; red.shared::cluster.add.u32 [%r6], 1;
         {ARRIVE} {WAIT}
         mov.u32 %r0, 0; @%p1 ld.shared.u32 %r0, [%r2];"
    );
    let found = in_any_order(CELL, &body, [8, 4, 50]);
    for cluster in 0..2 {
        let mut bins = [0; 64];
        for thread in cluster * 200..(cluster + 1) * 200u32 {
            bins[(thread * thread % 64) as usize] += 1;
        }
        for (bin, &count) in bins.iter().enumerate() {
            let block = cluster as usize * 4 + bin / 16;
            assert_eq!(found[block * 50 + bin % 16], count, "bin {bin}");
        }
    }
}

#[test]
fn between_arriving_and_waiting_a_thread_goes_on() {
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; add.u32 %r2, %r1, 5; st.shared.u32 [cells], %r2;
         {ARRIVE} mul.lo.u32 %r7, %r2, 10; {WAIT}
         xor.b32 %r3, %r1, 1; mov.u32 %r4, cells; mapa.shared::cluster.u32 %r4, %r4, %r3; ld.shared::cluster.u32 %r5, [%r4];
         barrier.cluster.arrive.relaxed; barrier.cluster.wait; add.u32 %r0, %r5, %r7;"
    );
    assert_eq!(in_any_order(CELL, &body, [2, 2, 1]), [56, 65]);
}

#[test]
fn threads_that_end_count_as_arrived() {
    // Block 1 ends at once, and so do the odd threads of block 0, some of them after they have arrived.
    let body = "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; mov.u32 %r0, 1; @%p1 bra FINISH;
         and.b32 %r2, %t, 1; setp.eq.u32 %p2, %r2, 1; setp.gt.u32 %p3, %t, 20; and.pred %p4, %p2, %p3;
         @%p2 bra ODD; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r0, 2; bra FINISH;
       ODD: @%p4 barrier.cluster.arrive; mov.u32 %r0, 3;";
    let found = in_any_order(CELL, body, [2, 2, 40]);
    let expected = (0..80).map(|thread| match (thread / 40, thread % 2) {
        (1, _) => 1,
        (_, 0) => 2,
        _ => 3,
    });
    assert_eq!(found, expected.collect::<Vec<u32>>());
}

#[test]
fn blocks_that_spin_for_each_other_make_progress() {
    // Each block waits until its neighbour has written to it, without a barrier; the flags are cleared before.
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; st.shared.u32 [cells], 0; {ARRIVE} {WAIT}
         add.u32 %r2, %r1, 1; and.b32 %r2, %r2, 3; mov.u32 %r3, cells; mapa.shared::cluster.u32 %r3, %r3, %r2;
         setp.eq.u32 %p1, %r1, 0; mov.u32 %r0, 0; @%p1 bra PASS;
       SPIN: ld.acquire.cluster.shared::cta.u32 %r0, [cells]; setp.eq.u32 %p2, %r0, 0; @%p2 bra SPIN;
       PASS: add.u32 %r4, %r0, 3; st.release.cluster.shared::cluster.u32 [%r3], %r4;
         {ARRIVE} {WAIT} ld.shared.u32 %r0, [cells];"
    );
    assert_eq!(in_any_order(CELL, &body, [4, 4, 1]), [12, 3, 6, 9]);
}

#[test]
fn other_blocks_arrive_at_a_barrier_in_memory() {
    // Block 0 waits for one arrival of each block, and then for bytes that the others announce.
    let body = format!(
        ".shared .align 8 .b64 gate;
         mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared::cta.b64 [gate], 4;
         {ARRIVE} {WAIT}
         mov.u32 %r2, gate; mapa.shared::cluster.u32 %r2, %r2, 0; mov.u32 %r0, 1;
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
         @%p1 bra LEAVE;
       SPIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [gate], 0; @!%p2 bra SPIN; mov.u32 %r0, 9;
       LEAVE: {ARRIVE} {WAIT}"
    );
    assert_eq!(in_any_order("", &body, [4, 4, 1]), [9, 1, 1, 1]);
}

#[test]
fn memory_that_cannot_be_reached_is_named() {
    let reach = |rank: u32, access: &str| {
        let body = format!(
            "mov.u32 %r1, cells; mapa.shared::cluster.u32 %r2, %r1, {rank}; mov.u32 %r0, 0; {access} {ARRIVE} {WAIT}"
        );
        fault(CELL, &body, [4, 2, 1])
    };
    let beyond = reach(1, "ld.shared::cluster.u32 %r0, [%r2+256];");
    assert!(
        matches!(beyond.kind, FaultKind::OutOfRange { limit: 256, .. }),
        "{beyond}"
    );
    let absent = reach(2, "st.shared::cluster.u32 [%r2], 1;").to_string();
    assert!(absent.contains("block 2 of a cluster of 2"), "{absent}");
    let narrow = reach(1, "red.shared::cta.add.u32 [%r2], 1;").to_string();
    assert!(narrow.contains("its own block only"), "{narrow}");
    let absent = reach(300, "ld.shared::cluster.u32 %r0, [%r2];").kind;
    assert!(matches!(absent, FaultKind::Misaligned { .. }), "{absent}");
}

#[test]
fn the_memory_of_a_block_goes_with_it() {
    // Block 1 ends; block 0 takes its time and reads what is no more.
    let body = "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; mov.u32 %r0, 0; @%p1 bra FINISH;
       SPIN: add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 5000; @%p2 bra SPIN;
         mov.u32 %r2, cells; mapa.shared::cluster.u32 %r2, %r2, 1; ld.shared::cluster.u32 %r0, [%r2];";
    let found = fault(CELL, body, [2, 2, 1]);
    assert!(
        matches!(
            found.kind,
            FaultKind::BlockEnded {
                block: 1,
                size: 4,
                ..
            }
        ),
        "{found}"
    );
    assert_eq!(found.place.as_ref().unwrap().block, [0, 0, 0]);
}

#[test]
fn a_barrier_that_cannot_open_is_a_deadlock() {
    // Thread 1 of block 0 waits for its own block, thread 0 for the cluster.
    let body = "setp.eq.u32 %p1, %g, 1; mov.u32 %r0, 0; @%p1 barrier.sync 1, 64; barrier.cluster.arrive; barrier.cluster.wait;";
    let found = fault(CELL, body, [2, 2, 2]);
    let FaultKind::Deadlock { waits_for } = &found.kind else {
        panic!("{found}");
    };
    assert!(
        waits_for.contains("cluster's barrier, at which 3 of 4 threads"),
        "{waits_for}"
    );
}

#[test]
fn arriving_and_waiting_take_turns() {
    let twice = fault(
        CELL,
        "mov.u32 %r0, 0; barrier.cluster.arrive; barrier.cluster.arrive;",
        [2, 2, 1],
    );
    assert!(
        twice.to_string().contains("again before it has waited"),
        "{twice}"
    );
    let never = fault(CELL, "mov.u32 %r0, 0; barrier.cluster.wait;", [2, 2, 1]);
    assert!(
        never.to_string().contains("without having arrived"),
        "{never}"
    );
}

#[test]
fn a_cluster_divides_the_grid() {
    for (blocks, cluster, why) in [
        (6, 4, "do not divide"),
        (34, 17, "1 to 16"),
        (4, 0, "1 to 16"),
    ] {
        let found = fault(CELL, "mov.u32 %r0, 0;", [blocks, cluster, 1]);
        assert!(
            matches!(&found.kind, FaultKind::InvalidLaunch(text) if text.contains(why)),
            "{found}"
        );
    }
    assert_eq!(in_any_order(CELL, "mov.u32 %r0, 4;", [32, 16, 1]), [4; 32]);
}
