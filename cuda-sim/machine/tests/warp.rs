//! What the lanes of a warp do together.

mod support;

use support::{each, thread_results};

#[test]
fn shuffles() {
    for (mode, b, c, expected) in [
        (
            "up",
            "3",
            "0",
            Box::new(|lane: u32| if lane >= 3 { lane - 3 } else { lane })
                as Box<dyn Fn(u32) -> u32>,
        ),
        (
            "down",
            "5",
            "31",
            Box::new(|lane| if lane + 5 <= 31 { lane + 5 } else { lane }),
        ),
        ("bfly", "9", "31", Box::new(|lane| lane ^ 9)),
        ("idx", "7", "31", Box::new(|_| 7)),
        // Segments of eight lanes.
        ("idx", "3", "0x181f", Box::new(|lane| (lane & 24) + 3)),
        (
            "down",
            "2",
            "0x181f",
            Box::new(|lane| if lane % 8 + 2 <= 7 { lane + 2 } else { lane }),
        ),
        (
            "up",
            "2",
            "0x1800",
            Box::new(|lane| if lane % 8 >= 2 { lane - 2 } else { lane }),
        ),
    ] {
        let body = format!(
            "add.u32 %r1, %t, 100; shfl.sync.{mode}.b32 %r0|%p1, %r1, {b}, {c}, -1; @!%p1 add.u32 %r0, %r0, 1000;"
        );
        let got = thread_results("", &body, 1, 32);
        for lane in 0..32 {
            let from = expected(lane);
            let outside = mode != "idx" && mode != "bfly" && from == lane;
            assert_eq!(
                got[lane as usize],
                from + 100 + if outside { 1000 } else { 0 },
                "{mode} {b} {c}, lane {lane}"
            );
        }
    }
}

#[test]
fn votes_matches_and_reductions() {
    let odd = 0xaaaa_aaaa;
    let odd_lanes = "and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; and.b32 %r2, %t, 3; ";
    for (instructions, expected) in [
        ("vote.sync.ballot.b32 %r0, %p1, -1;", each(32, |_| odd)),
        (
            "vote.sync.any.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, %p2;",
            each(32, |_| 1),
        ),
        (
            "vote.sync.all.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, %p2;",
            each(32, |_| 0),
        ),
        (
            "vote.sync.all.pred %p2, !%p1, 0x55555555; selp.u32 %r0, 1, 0, %p2;",
            each(32, |_| 0),
        ),
        (
            "@%p1 bra A; vote.sync.all.pred %p2, !%p1, 0x55555555; A: selp.u32 %r0, 1, 0, %p2;",
            each(32, |t| 1 - (t & 1)),
        ),
        (
            "@%p1 activemask.b32 %r0; @!%p1 activemask.b32 %r0;",
            each(32, |t| if t & 1 == 1 { odd } else { !odd }),
        ),
        (
            "match.any.sync.b32 %r0, %r2, -1;",
            each(32, |t| 0x1111_1111 << (t & 3)),
        ),
        (
            "match.all.sync.b32 %r0|%p2, %r2, -1; @%p2 mov.u32 %r0, 5;",
            each(32, |_| 0),
        ),
        (
            "match.all.sync.b32 %r0|%p2, 3, -1; @!%p2 mov.u32 %r0, 5;",
            each(32, |_| u32::MAX),
        ),
        ("redux.sync.add.s32 %r0, %t, -1;", each(32, |_| 496)),
        (
            "sub.s32 %r3, 3, %t; redux.sync.min.s32 %r0, %r3, -1;",
            each(32, |_| -28i32 as u32),
        ),
        ("redux.sync.or.b32 %r0, %r2, -1;", each(32, |_| 3)),
        (
            "mov.u32 %r3, %lanemask_lt; mov.u32 %r4, %lanemask_ge; xor.b32 %r0, %r3, %r4;",
            each(32, |_| u32::MAX),
        ),
        (
            "mov.u32 %r3, %lanemask_le; popc.b32 %r0, %r3;",
            each(32, |t| t + 1),
        ),
    ] {
        assert_eq!(
            thread_results("", &format!("{odd_lanes}{instructions}"), 1, 32),
            expected,
            "{instructions}"
        );
    }
}

#[test]
fn lanes_that_come_late_are_waited_for() {
    // The odd lanes run a loop first; all meet at the shuffle.
    let body = "
        and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, %t; @%p1 bra MEET;
        mov.u32 %r3, 0; L: add.u32 %r2, %r2, 10; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %t; @%p2 bra L;
        MEET: shfl.sync.bfly.b32 %r0, %r2, 1, 31, -1;";
    assert_eq!(
        thread_results("", body, 1, 32),
        each(32, |t| if t & 1 == 0 {
            t + 1 + 10 * (t + 1)
        } else {
            t - 1
        })
    );
}
