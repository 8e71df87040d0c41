//! `ldmatrix`, `stmatrix` and `movmatrix`.

use crate::support::{Arena, Params, launch, program};

/// 1024 bytes of shared memory are filled from memory; the body works on them, with the lane's number and the address of its row in registers; then they
/// go back, and so do four registers of each lane.
fn run(body: &str, input: &[u16]) -> (Vec<u16>, Vec<[u32; 4]>) {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to, .param .u64 out)\n{{\n\
         .reg .b64 %from, %to, %out, %x, %y, %room, %generic; .reg .b32 %r<9>, %lane, %row, %q<4>; .shared .align 128 .b8 room[1024];\n\
         ld.param.u64 %from, [from]; ld.param.u64 %to, [to]; ld.param.u64 %out, [out]; mov.u32 %lane, %laneid;\n\
         mul.wide.u32 %x, %lane, 32; mov.u64 %room, room; add.u64 %room, %room, %x; add.u64 %from, %from, %x; add.u64 %to, %to, %x;\n\
         ld.global.v4.b32 {{%q0, %q1, %q2, %q3}}, [%from]; st.shared.v4.b32 [%room], {{%q0, %q1, %q2, %q3}};\n\
         ld.global.v4.b32 {{%q0, %q1, %q2, %q3}}, [%from+16]; st.shared.v4.b32 [%room+16], {{%q0, %q1, %q2, %q3}}; bar.warp.sync -1;\n\
         mov.u64 %y, room; cvt.u32.u64 %row, %y; mad.lo.u32 %row, %lane, 16, %row; cvt.u64.u32 %y, %row; cvta.shared.u64 %generic, %y;\n\
         mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n{body}\nbar.warp.sync -1;\n\
         ld.shared.v4.b32 {{%q0, %q1, %q2, %q3}}, [%room]; st.global.v4.b32 [%to], {{%q0, %q1, %q2, %q3}};\n\
         ld.shared.v4.b32 {{%q0, %q1, %q2, %q3}}, [%room+16]; st.global.v4.b32 [%to+16], {{%q0, %q1, %q2, %q3}};\n\
         mul.wide.u32 %x, %lane, 16; add.u64 %out, %out, %x; st.global.v4.b32 [%out], {{%r0, %r1, %r2, %r3}}; ret;\n}}\n"
    );
    let program = program(&text);
    let arena = Arena::new();
    let from = arena.place_words(input, u16::to_le_bytes);
    let (to, out) = (arena.place(&[0; 1024]), arena.u32s(&[0; 128]));
    let params = Params::default().u64(from).u64(to).u64(out);
    launch(&program, "k", 1, 32, &params, &arena).unwrap();
    let shared = arena.read(to, 1024);
    let shared = shared
        .chunks(2)
        .map(|it| u16::from_le_bytes(it.try_into().unwrap()));
    let registers = arena.read_u32s(out, 128);
    let registers = registers.chunks(4).map(|it| it.try_into().unwrap());
    (shared.collect(), registers.collect())
}

/// Elements that tell where they are.
fn numbered() -> Vec<u16> {
    (0..512).map(|index| index * 3 + 1000).collect()
}

/// The element of a matrix that is loaded row after row from the start.
fn element(matrix: usize, row: usize, column: usize) -> u32 {
    u32::from(numbered()[matrix * 64 + row * 8 + column])
}

#[test]
fn loads_of_one_two_and_four_matrices() {
    for (count, list) in [
        (1_usize, "{%r0}"),
        (2, "{%r0, %r1}"),
        (4, "{%r0, %r1, %r2, %r3}"),
    ] {
        for (space, address) in [
            (".shared", "%row"),
            (".shared::cta", "%y"),
            ("", "%generic"),
        ] {
            for transposed in ["", ".trans"] {
                let body = format!(
                    "ldmatrix.sync.aligned.m8n8.x{count}{transposed}{space}.b16 {list}, [{address}];"
                );
                let (_, registers) = run(&body, &numbered());
                for (lane, registers) in registers.iter().enumerate() {
                    for (matrix, &word) in registers.iter().enumerate() {
                        let (line, pair) = (lane / 4, lane % 4 * 2);
                        let expected = match (matrix < count, transposed) {
                            (false, _) => 0,
                            (true, "") => {
                                element(matrix, line, pair) | element(matrix, line, pair + 1) << 16
                            }
                            (true, _) => {
                                element(matrix, pair, line) | element(matrix, pair + 1, line) << 16
                            }
                        };
                        assert_eq!(word, expected, "{body} lane {lane} matrix {matrix}");
                    }
                }
            }
        }
    }
}

#[test]
fn stores_undo_loads() {
    for (count, list) in [
        (1_usize, "{%r0}"),
        (2, "{%r0, %r1}"),
        (4, "{%r0, %r1, %r2, %r3}"),
    ] {
        for (load, store) in [
            ("", ""),
            (".trans", ".trans"),
            ("", ".trans"),
            (".trans", ""),
        ] {
            // To another place, of which the rows lie in reverse order.
            let body = format!(
                "ldmatrix.sync.aligned.m8n8.x{count}{load}.shared.b16 {list}, [%row]; mov.u32 %r4, {}; sub.u32 %r4, %r4, %lane;
                 mov.u64 %y, room; cvt.u32.u64 %r5, %y; mad.lo.u32 %r4, %r4, 16, %r5;
                 stmatrix.sync.aligned.m8n8.x{count}{store}.shared.b16 [%r4+512], {list};",
                8 * count - 1
            );
            let (shared, _) = run(&body, &numbered());
            assert_eq!(shared[..256], numbered()[..256]);
            for row in 0..32 {
                let matrix = row / 8;
                let got = &shared[256 + row * 8..][..8];
                let expected: Vec<u16> = (0..8)
                    .map(|column| {
                        // Which row of which matrix is stored there.
                        let Some(stored) = (8 * count).checked_sub(row + 1) else {
                            return numbered()[256 + row * 8 + column];
                        };
                        let (matrix, line) = (stored / 8, stored % 8);
                        let turned = load != store;
                        let (from, to) = if turned {
                            (column, line)
                        } else {
                            (line, column)
                        };
                        element(matrix, from, to) as u16
                    })
                    .collect();
                assert_eq!(got, expected, "{body} row {row} of matrix {matrix}");
            }
        }
    }
}

#[test]
fn a_matrix_is_transposed() {
    let body = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%row]; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;
        ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r2}, [%row]; movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;";
    let (_, registers) = run(body, &numbered());
    for [plain, moved, loaded, back] in registers {
        assert_eq!((moved, back), (loaded, plain));
    }
}
