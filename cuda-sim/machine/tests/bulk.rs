//! Bulk copies, asynchronous stores and reductions: what arrives, and that nothing arrives before it is waited for.

mod support;

use cuda_sim_machine::FaultKind;
use support::bulk::{INIT, Shape, correct, fault, kernel, run_text, source, wait};

/// A word of the source.
fn given(index: u32) -> u32 {
    index * 3 + 1
}

/// Words that lie one after the other.
fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|it| u32::from_le_bytes(it.try_into().unwrap()))
        .collect()
}

/// The thread's word of `cells`.
const OWN: &str = "mov.u32 %r1, cells; mad.lo.u32 %r1, %t, 4, %r1;";

#[test]
fn a_copy_to_shared_memory_has_arrived_when_the_phase_is_over() {
    let copy = "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%from], 256, [bar];
                @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;";
    let body = format!("{INIT} {copy} {} {OWN} ld.shared.u32 %r0, [%r1];", wait(0));
    let (out, memory) = correct(&body, Shape(2, 1, 64));
    assert_eq!(out, (0..128).map(|i| given(i % 64)).collect::<Vec<_>>());
    assert_eq!(memory, source());
}

#[test]
fn stages_follow_each_other_through_one_barrier() {
    // Four copies of 64 words, each of which all threads add up and then let go.
    let body = format!(
        "{INIT} mov.u32 %r0, 0; mov.u32 %r5, 0; mov.u64 %d5, %from;
         LOOP: @!%p0 bra ISSUED;
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [cells], [%d5], 256, [bar], %d9;
         ISSUED: and.b32 %r6, %r5, 1;
         {{ AGAIN: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p8, [bar], %r6, 1000; @!%p8 bra AGAIN; }}
         {OWN} ld.shared.u32 %r2, [%r1]; add.u32 %r0, %r0, %r2; bar.sync 0;
         add.u64 %d5, %d5, 256; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra LOOP;"
    );
    let (out, _) = correct(&body, Shape(1, 1, 64));
    let sum = |t: u32| (0..4).map(|k| given(t + 64 * k)).sum::<u32>();
    assert_eq!(out, (0..64).map(sum).collect::<Vec<_>>());
}

#[test]
fn a_copy_to_global_memory_is_there_when_its_group_is_over() {
    // The words of threads, doubled and copied over the source; thread 0 reads the last of them.
    let body = format!(
        "{OWN} shl.b32 %r2, %t, 1; st.shared.u32 [%r1], %r2; fence.proxy.async.shared::cta; bar.sync 0;
         mov.u32 %r0, 0; @!%p0 bra DONE;
         cp.async.bulk.global.shared::cta.bulk_group [%from], [cells], 256;
         cp.async.bulk.commit_group;
         cp.async.bulk.wait_group 0;
         ld.global.u32 %r0, [%from+252];
         DONE: bar.sync 0;"
    );
    let (out, memory) = correct(&body, Shape(1, 1, 64));
    assert_eq!(out[0], 126);
    assert_eq!(
        words(&memory)[..64],
        (0..64).map(|t| 2 * t).collect::<Vec<_>>()
    );
    assert_eq!(memory[256..], source()[256..]);
}

#[test]
fn a_source_may_change_once_it_has_been_read() {
    let body = format!(
        "{OWN} st.shared.u32 [%r1], %t; fence.proxy.async; bar.sync 0; @!%p0 bra READ;
         cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%from], [cells], 128, %d9;
         cp.async.bulk.commit_group;
         cp.async.bulk.wait_group.read 0;
         READ: bar.sync 0; st.shared.u32 [%r1], 77; ld.shared.u32 %r0, [%r1];"
    );
    let (out, memory) = correct(&body, Shape(1, 1, 32));
    assert_eq!(out, [77; 32]);
    assert_eq!(words(&memory)[..32], (0..32).collect::<Vec<_>>());
}

#[test]
fn some_bytes_of_each_sixteen_are_copied() {
    let body = "st.shared.u32 [cells], 0x01020304; st.shared.u32 [cells+20], 0x05060708; fence.proxy.async; mov.b16 %h1, 0x00f5;
        cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%from], [cells], 32, %h1;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; mov.u32 %r0, 0;";
    let (_, memory) = correct(body, Shape(1, 1, 1));
    let mut expected = source();
    expected[0] = 4;
    expected[2] = 2;
    expected[4..8].fill(0);
    (expected[16], expected[18]) = (0, 0);
    expected[20..24].copy_from_slice(&[8, 7, 6, 5]);
    assert_eq!(memory, expected);
}

#[test]
fn a_copy_reaches_all_blocks_of_a_set() {
    // Block 1 sends to blocks 0, 1 and 3; each of these counts the bytes at its own barrier.
    let body = format!(
        "{INIT} mov.u32 %r0, 0; setp.eq.u32 %p1, %rank, 2; setp.eq.and.u32 %p2, %rank, 1, %p0;
         mov.b16 %h1, 0xb;
         @!%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 0;
         @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [cells+128], [%from+16], 128, [bar], %h1;
         @%p1 bra DONE;
         @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
         {} {OWN} ld.shared.u32 %r0, [%r1+128]; DONE:",
        wait(0)
    );
    let (out, _) = correct(&body, Shape(4, 4, 32));
    for (rank, out) in out.chunks(32).enumerate() {
        let expected: Vec<u32> = (0..32)
            .map(|t| if rank == 2 { 0 } else { given(t + 4) })
            .collect();
        assert_eq!(out, expected, "block {rank}");
    }
}

#[test]
fn a_copy_goes_from_block_to_block() {
    let body = format!(
        "{OWN} mad.lo.u32 %r2, %rank, 100, %t; st.shared.u32 [%r1], %r2; fence.proxy.async; {INIT}
         xor.b32 %r3, %rank, 1; mov.u32 %r4, cells; mapa.shared::cluster.u32 %r5, %r4, %r3;
         mov.u32 %r4, bar; mapa.shared::cluster.u32 %r6, %r4, %r3;
         @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
         @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+512], [cells], 128, [%r6];
         {} ld.shared.u32 %r0, [%r1+512];",
        wait(0)
    );
    let (out, _) = correct(&body, Shape(2, 2, 32));
    assert_eq!(out, (100..132).chain(0..32).collect::<Vec<_>>());
}

#[test]
fn stores_and_reductions_reach_another_block_and_its_barrier() {
    // Each thread leaves two words with its neighbour, and adds its number to a sum there.
    let body = format!(
        "@%p0 st.shared.u32 [cells+1024], 1000; {INIT}
         xor.b32 %r3, %rank, 1; mov.u32 %r4, cells; mapa.shared::cluster.u32 %r5, %r4, %r3;
         mov.u32 %r4, bar; mapa.shared::cluster.u32 %r6, %r4, %r3; mad.lo.u32 %r7, %t, 8, %r5;
         @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 384;
         mad.lo.u32 %r2, %rank, 100, %t;
         st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r7], {{%r2, 5}}, [%r6];
         red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5+1024], %t, [%r6];
         {} {OWN} mad.lo.u32 %r1, %t, 4, %r1; ld.shared.v2.u32 {{%r8, %r9}}, [%r1]; ld.shared.u32 %r10, [cells+1024];
         mad.lo.u32 %r0, %r9, 10000, %r8; mad.lo.u32 %r0, %r10, 1000000, %r0;",
        wait(0)
    );
    let (out, _) = correct(&body, Shape(2, 2, 32));
    let each = |first: u32| move |t: u32| (1000 + 496) * 1_000_000 + 50_000 + first + t;
    let all = (0..32).map(each(100)).chain((0..32).map(each(0)));
    assert_eq!(out, all.collect::<Vec<_>>());
}

#[test]
fn reductions_of_many_words_change_memory_once_each() {
    // Eight blocks add what they hold to the source, and take the least of the words behind.
    let body = format!(
        "{OWN} mov.u32 %r2, %ctaid.x; add.u32 %r2, %r2, %t; st.shared.u32 [%r1], %r2; fence.proxy.async; bar.sync 0; mov.u32 %r0, 0;
         @!%p0 bra DONE;
         cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%from], [cells], 128;
         cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32 [%from+128], [cells], 128;
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE: bar.sync 0;"
    );
    let (_, memory) = correct(&body, Shape(8, 1, 32));
    let memory = words(&memory);
    for t in 0..32 {
        assert_eq!(memory[t as usize], given(t) + 8 * t + 28);
        assert_eq!(memory[32 + t as usize], given(32 + t).min(t));
    }
}

#[test]
fn reductions_know_their_types() {
    // One operation on a double word, whose values have been chosen to tell types apart.
    let cases: [(&str, [u64; 3]); 8] = [
        ("min.s64", [u64::MAX, 1, u64::MAX]),
        ("max.u64", [u64::MAX, 1, u64::MAX]),
        ("xor.b64", [12, 10, 6]),
        ("add.f64", [1.5f64, 2.25, 3.75].map(f64::to_bits)),
        ("inc.u32", [0x5_0000_0003, 0x3_0000_0004, 4]),
        // 1.0 and 2.0 beside 0.5 and -1.0.
        ("add.noftz.f16", [0x3800_3c00, 0xbc00_4000, 0xb800_4200]),
        ("max.bf16", [0x3f80, 0xbf80, 0x3f80]),
        (
            "add.f32",
            [1f32, 2.0, 3.0].map(|it| u64::from(it.to_bits())),
        ),
    ];
    for (operation, [old, operand, new]) in cases {
        let body = format!(
            "mov.b64 %d2, {old}; st.global.u64 [%from], %d2; mov.b64 %d3, {operand}; st.shared.u64 [cells], %d3; st.shared.u64 [cells+8], 0;
             fence.proxy.async; mov.u32 %r0, 0;
             cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%from], [cells], 16;
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        );
        let (_, memory) = correct(&body, Shape(1, 1, 1));
        assert_eq!(memory[..8], new.to_le_bytes(), "{operation}");
    }
}

#[test]
fn what_is_not_waited_for_may_not_have_arrived() {
    let body = format!(
        "{INIT} mov.u32 %r0, 0; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [cells], [%from+16], 16, [bar];
         ld.shared.u32 %r0, [cells]; {}",
        wait(0)
    );
    let text = kernel(&body);
    let arrived = |seed| {
        let ran = run_text(&text, Shape(1, 1, 1), seed, false);
        assert_eq!(ran.result, Ok(()));
        ran.out[0] == given(4)
    };
    let count = (0..40).filter(|&seed| arrived(seed)).count();
    assert!(!arrived(0));
    assert!((3..20).contains(&count), "{count}");
}

#[test]
fn a_phase_that_cannot_end_is_a_deadlock_which_says_what_is_missing() {
    let copy = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 272;
         @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%from], 256, [bar];";
    let body = format!("{INIT} {copy} {} mov.u32 %r0, 0;", wait(0));
    let fault = fault(&body, Shape(1, 1, 64));
    let text = fault.to_string();
    assert!(matches!(fault.kind, FaultKind::Deadlock { .. }), "{text}");
    assert!(
        text.contains("lacks 0 of 1 arrivals and 16 bytes"),
        "{text}"
    );
    assert!(text.contains("mbarrier.try_wait"), "{text}");
}

#[test]
fn operations_that_cannot_be_carried_out_are_faults() {
    let copy = |to: &str, from: &str, size: &str| {
        format!(
            "{INIT} mov.u32 %r0, 0; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{from}], {size}, [bar]; {}",
            wait(0)
        )
    };
    let say = |body: &str, part: &str| {
        let text = fault(body, Shape(2, 2, 1)).to_string();
        assert!(text.contains(part), "{text}");
        assert!(
            text.contains("`cp.") || text.contains("`mbarrier."),
            "{text}"
        );
    };
    say(
        &copy("cells+8", "%from", "16"),
        "is not a multiple of the access size, 16 bytes",
    );
    say(
        &copy("cells", "%from+4", "16"),
        "is not a multiple of the access size, 16 bytes",
    );
    say(
        &copy("cells", "%from", "24"),
        "the size of 24 bytes is not a multiple of 16",
    );
    say(
        &copy("cells+4080", "%from", "32"),
        "outside the 4224 bytes of shared memory",
    );
    say(&copy("cells", "%from+16384", "16"), "no allocation there");
    let multicast = format!(
        "{INIT} mov.u32 %r0, 0; mov.b16 %h1, 6;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [cells], [%from], 16, [bar], %h1;"
    );
    say(
        &multicast,
        "names blocks that the cluster of 2 does not have",
    );
    let expected = format!(
        "{INIT} mov.u32 %r0, 0; mov.u32 %r1, 1048575;
         mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1;"
    );
    say(&expected, "it can count 1048575 either way");
}

#[test]
fn what_is_in_flight_is_bounded() {
    // Each lane starts a thousand copies and waits for none of them: the first ones happen in spite of that, even where all are late.
    let body = "st.shared.u32 [cells], 77; fence.proxy.async; mov.u32 %r1, 0;
         MORE: cp.async.bulk.global.shared::cta.bulk_group [%from], [cells], 16;
         add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 1000; @%p1 bra MORE;
         ld.global.u32 %r0, [%from];";
    let ran = run_text(&kernel(body), Shape(1, 1, 32), 0, false);
    assert_eq!((ran.result, ran.out), (Ok(()), vec![77; 32]));
}
