//! The forms of asynchronous copies and of barriers in memory, as an assembler takes and refuses them.

use cuda_ptx::Module;

/// What is wrong with an instruction in a module of that version for that target.
fn wrong(version: &str, target: &str, instruction: &str) -> Option<String> {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.global .align 16 .b8 g[256];\n.visible .entry k()\n{{\n\
         .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;\n\
         .shared .align 16 .b8 sm[256]; .shared .align 8 .b64 mb;\n{instruction}\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    module.check().into_iter().next().map(|it| it.to_string())
}

fn legal(version: &str, target: &str, instructions: &[&str]) {
    for instruction in instructions {
        assert_eq!(wrong(version, target, instruction), None, "{instruction}");
    }
}

fn illegal(version: &str, target: &str, instructions: &[(&str, &str)]) {
    for (instruction, why) in instructions {
        let wrong = wrong(version, target, instruction);
        let wrong = wrong.unwrap_or_else(|| panic!("{instruction} is taken"));
        assert!(wrong.contains(why), "{instruction}: {wrong}");
        assert!(wrong.contains("line 9, column 1"), "{wrong}");
    }
}

const LOAD: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";

#[test]
fn bulk_copies() {
    let load = |operands: &str| format!("{LOAD} {operands};");
    let multicast = |operands: &str| format!("{LOAD}.multicast::cluster {operands};");
    legal(
        "8.0",
        "sm_90",
        &[
            &load("[sm], [g], 16, [mb]"),
            &load("[%r1], [%d2], %r1, [%r2]"),
            &multicast("[%d1], [%d2], 16, [mb], %h1"),
            "cp.async.bulk.mbarrier::complete_tx::bytes.shared::cluster.global [%d1], [%d2], 16, [mb];",
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%d1], [%d2], %r1, [mb];",
            "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d1], [%d2], %r1, %d3;",
            "cp.async.bulk.commit_group;",
            "cp.async.bulk.wait_group.read 0;",
            "cp.async.bulk.prefetch.L2.global [%d1], 16;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%d1], [%d2], %r1;",
            "cp.reduce.async.bulk.add.u32.global.shared::cta.bulk_group [%d1], [%d2], %r1;",
        ],
    );
    illegal(
        "9.0",
        "sm_90",
        &[
            (&load("[%d1], [%d2], 24, [mb]"), "24 bytes"),
            (&load("[%d1], [%d2], 1048576, [mb]"), "at most 1048560"),
            (&load("[%d1], [%d2], %d3, [mb]"), "`%d3`"),
            (&load("[g], [%d2], 16, [mb]"), "`g` lies in .global"),
            (&load("[%d1], [sm], 16, [mb]"), "`sm` lies in .shared"),
            (&load("[%d1], [%d2], 16"), "takes 4 operands"),
            (&multicast("[%d1], [%d2], 16, [mb], %r3"), "`%r3`"),
            (
                "cp.async.bulk.global.shared::cluster.mbarrier::complete_tx::bytes [%d1], [%d2], 16, [mb];",
                "no form",
            ),
            (
                "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [%d2], 16, %h1;",
                "sm_100",
            ),
            ("cp.async.bulk.wait_group.write 0;", "write"),
            (
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%d1], [%d2], %r1;",
                "no form",
            ),
            (
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d1], [%d2], %r1;",
                "no form",
            ),
            ("cp.async.ca.shared.global [%r1], [%d2], 12;", "4, 8 or 16"),
            (
                "cp.async.cg.shared.global [%r1], [%d2], 8;",
                "this copy has 16",
            ),
            (
                "cp.async.ca.shared.global [%r1], [%d2], 4, 5;",
                "5 bytes of 4",
            ),
            ("elect.sync %r1, %r2;", "predicate behind a bar"),
        ],
    );
    illegal(
        "7.8",
        "sm_90",
        &[("cp.async.bulk.commit_group;", ".version 8.0")],
    );
    illegal("8.0", "sm_80", &[("cp.async.bulk.commit_group;", "sm_90")]);
}

#[test]
fn asynchronous_stores_and_reductions() {
    legal(
        "8.1",
        "sm_90",
        &[
            "st.async.mbarrier::complete_tx::bytes.b32 [%d1], %r1, [%d2];",
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%d1], {%f1, %f1, %f1, %f1}, [mb];",
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%d1], {%d4, %d4}, [mb];",
            "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.inc.u32 [%d1], %r1, [mb];",
            "red.async.cluster.relaxed.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%d1], %d4, [mb];",
        ],
    );
    illegal(
        "9.0",
        "sm_90",
        &[
            (
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%d1], {%d1, %d1, %d1, %d1}, [mb];",
                "",
            ),
            (
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%d1], %d1, [mb];",
                "`%d1`",
            ),
            (
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.b16 [%d1], %h1, [mb];",
                "b16",
            ),
            (
                "st.async.global.mbarrier::complete_tx::bytes.b32 [%d1], %r1, [mb];",
                "global",
            ),
            (
                "red.async.relaxed.gpu.mbarrier::complete_tx::bytes.add.u32 [%d1], %r1, [mb];",
                "gpu",
            ),
            (
                "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.min.u64 [%d1], %d4, [mb];",
                "no form",
            ),
            (
                "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.exch.b32 [%d1], %r1, [mb];",
                "exch",
            ),
        ],
    );
}

#[test]
fn barriers_in_memory() {
    legal(
        "7.0",
        "sm_80",
        &[
            "mbarrier.init.shared.b64 [mb], 1;",
            "mbarrier.arrive.b64 %d1, [mb];",
        ],
    );
    legal(
        "7.1",
        "sm_80",
        &[
            "mbarrier.arrive.noComplete.shared.b64 _, [mb], 1;",
            "mbarrier.arrive.shared.b64 _, [mb];",
        ],
    );
    legal(
        "8.0",
        "sm_80",
        &["mbarrier.arrive.release.cta.shared::cta.b64 %d1, [mb];"],
    );
    legal(
        "8.0",
        "sm_90",
        &[
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [mb], 3;",
            "mbarrier.arrive_drop.expect_tx.shared::cluster.b64 _, [mb], 2;",
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [mb], %r1, %r2;",
            "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [mb], 16;",
        ],
    );
    illegal(
        "8.0",
        "sm_90",
        &[
            (
                "mbarrier.arrive.release.cluster.shared::cluster.b64 %d1, [mb];",
                "`_` is expected",
            ),
            (
                "mbarrier.arrive.relaxed.cta.shared::cta.b64 %d1, [mb];",
                ".version 8.6",
            ),
            (
                "mbarrier.arrive.acquire.cta.shared::cta.b64 %d1, [mb];",
                "acquire",
            ),
            ("mbarrier.arrive.release.shared.b64 %d1, [mb];", "no form"),
            (
                "mbarrier.arrive.noComplete.shared.b64 %d1, [mb];",
                "3 operands",
            ),
            (
                "mbarrier.try_wait.shared::cluster.b64 %p1, [mb], %d1;",
                "shared::cluster",
            ),
            (
                "mbarrier.test_wait.shared.b64 %p1, [mb], %d1, 5;",
                "3 operands",
            ),
            (
                "mbarrier.test_wait.parity.shared.b64 %p1, [mb], %d1;",
                "`%d1`",
            ),
            ("mbarrier.init.release.cta.shared.b64 [mb], 1;", "release"),
            ("mbarrier.init.shared.b32 [mb], 1;", "b32"),
            ("barrier.cluster.wait.relaxed;", "no "),
        ],
    );
    illegal(
        "8.0",
        "sm_80",
        &[
            ("mbarrier.try_wait.shared.b64 %p1, [mb], %d1;", "sm_90"),
            (
                "mbarrier.test_wait.acquire.cluster.shared.b64 %p1, [mb], %d1;",
                "sm_90",
            ),
            ("fence.acquire.cluster;", "sm_90"),
        ],
    );
    illegal(
        "7.1",
        "sm_80",
        &[("mbarrier.init.shared::cta.b64 [mb], 1;", ".version 7.8")],
    );
}
