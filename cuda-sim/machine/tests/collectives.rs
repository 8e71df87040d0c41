//! Lanes that come together under masks of their own, from different places.

mod support;

use support::thread_results;

/// What each thread should get.
type Expected = Box<dyn Fn(u32) -> u32>;

/// The mask of the half, quarter … of the warp, of `2^log` lanes, that a thread is in, as `%r1`.
fn tile(log: u32) -> String {
    let lanes = 1u32 << log;
    let ones = u32::MAX >> (32 - lanes);
    format!(
        "shr.u32 %r1, %t, {log}; shl.b32 %r1, %r1, {log}; mov.u32 %r2, {ones}; shl.b32 %r1, %r2, %r1; "
    )
}

#[test]
fn tiles_of_a_warp_do_not_see_each_other() {
    for log in 1..5 {
        let lanes = 1 << log;
        let first = move |t: u32| t >> log << log;
        let ones = u32::MAX >> (32 - lanes);
        let cases: [(&str, Expected); 6] = [
            (
                "redux.sync.add.u32 %r0, %t, %r1;",
                Box::new(move |t| (first(t)..first(t) + lanes).sum()),
            ),
            (
                "setp.ne.u32 %p1, %t, 0xffff; vote.sync.ballot.b32 %r0, %p1, %r1;",
                Box::new(move |t| ones << first(t)),
            ),
            (
                "setp.eq.u32 %p1, %t, 0; vote.sync.any.pred %p2, %p1, %r1; selp.u32 %r0, 1, 0, %p2;",
                Box::new(move |t| u32::from(first(t) == 0)),
            ),
            (
                "setp.ne.u32 %p1, %t, 0; vote.sync.all.pred %p2, %p1, %r1; selp.u32 %r0, 1, 0, %p2;",
                Box::new(move |t| u32::from(first(t) != 0)),
            ),
            (
                "mov.u32 %r3, 7; match.any.sync.b32 %r0, %r3, %r1;",
                Box::new(move |t| ones << first(t)),
            ),
            (
                "elect.sync %r0|%p1, %r1; @%p1 add.u32 %r0, %r0, 100;",
                Box::new(move |t| first(t) + if t == first(t) { 100 } else { 0 }),
            ),
        ];
        for (body, expected) in cases {
            let got = thread_results("", &(tile(log) + body), 1, 32);
            let expected: Vec<u32> = (0..32).map(expected).collect();
            assert_eq!(got, expected, "{body} in tiles of {lanes}");
        }
    }
}

#[test]
fn a_tile_does_not_wait_for_lanes_of_others() {
    // The upper half comes later, by the same instruction, with its own mask.
    let body = tile(4)
        + "mov.u32 %r3, 0; setp.lt.u32 %p1, %t, 16; @%p1 bra MEET; mov.u32 %r3, 5;
    MEET: add.u32 %r3, %r3, 1; redux.sync.add.u32 %r0, %r3, %r1;";
    let got = thread_results("", &body, 1, 32);
    assert_eq!(got[..16], [16; 16]);
    assert_eq!(got[16..], [96; 16]);
}

#[test]
fn warp_barriers_meet_from_different_places() {
    let body = "setp.lt.u32 %p1, %t, 16; mov.u32 %r0, 1; @%p1 bra LOW;
        bar.warp.sync -1; add.u32 %r0, %r0, 2; bra.uni END;
    LOW: bar.warp.sync -1; add.u32 %r0, %r0, 4;
    END: add.u32 %r0, %r0, 8;";
    let got = thread_results("", body, 1, 64);
    let expected: Vec<u32> = (0..64).map(|t| if t < 16 { 13 } else { 11 }).collect();
    assert_eq!(got, expected);
}
