//! `wmma`: matrices from memory, their product, and back to memory.

use crate::elements::{Kind, Matrix};
use crate::mma::extents;
use crate::support::{Arena, Params, launch, program};

/// The bytes of a matrix by rows or columns, whose lines begin `stride` elements after each other.
fn bytes(kind: Kind, matrix: &Matrix, by_rows: bool, stride: usize) -> Vec<u8> {
    let rows = matrix.values.len() / matrix.columns;
    let lines = if by_rows { rows } else { matrix.columns };
    let mut out = vec![0; lines * stride * kind.bits() / 8];
    for row in 0..rows {
        for column in 0..matrix.columns {
            let at = if by_rows {
                row * stride + column
            } else {
                column * stride + row
            };
            let bits = kind.encode(matrix.at(row, column)) << (at * kind.bits() % 8);
            let first = at * kind.bits() / 8;
            for (byte, value) in out[first..].iter_mut().zip(bits.to_le_bytes()) {
                *byte |= value;
            }
        }
    }
    out
}

/// What the registers of a fragment are, and their type.
fn registers(prefix: char, kind: Kind, factor: bool, elements: usize) -> (String, String) {
    let count = match (kind, factor) {
        (Kind::F16, true) => 8,
        _ => elements / 32 / kind.each(),
    };
    let class = match kind {
        Kind::F64 => "f64",
        Kind::F32 => "f32",
        _ => "b32",
    };
    let names: Vec<String> = (0..count)
        .map(|index| format!("%{prefix}{index}"))
        .collect();
    let list = format!("{{{}}}", names.join(", "));
    (list, format!(".reg .{class} %{prefix}<{count}>;"))
}

/// What a product is to be tried with.
#[derive(Clone, Copy)]
struct Trial<'t> {
    shape: &'t str,
    /// Of `D`, of the factors, and of `C`.
    types: [&'t str; 3],
    /// Of `A`, `B` and the sums.
    layouts: [&'t str; 3],
    /// Elements behind each line.
    gap: usize,
    space: &'t str,
    modifiers: [&'t str; 2],
}

fn check(trial: Trial<'_>) {
    let Trial {
        shape,
        types,
        layouts,
        gap,
        space,
        modifiers,
    } = trial;
    let [d, ab, c] = types.map(Kind::of);
    let [m, n, k] = extents(shape);
    let [a_layout, b_layout, sum_layout] = layouts;
    let stride = |layout, rows, columns| gap + if layout == "row" { columns } else { rows };
    let a = Matrix::random(m, k, ab, 50);
    let b = Matrix::random(k, n, ab, 60);
    let sum = Matrix::random(m, n, c, 70);
    let (a_stride, b_stride) = (stride(a_layout, m, k), stride(b_layout, k, n));
    let sum_stride = stride(sum_layout, m, n) - gap + gap.min(16);
    let (a_list, a_regs) = registers('a', ab, true, m * k);
    let (b_list, b_regs) = registers('b', ab, true, k * n);
    let (c_list, c_regs) = registers('c', c, false, m * n);
    let (d_list, d_regs) = registers('d', d, false, m * n);
    let [_, factor, _] = types;
    let named = match factor {
        "f16" => format!("{}.{}", types[0], types[2]),
        _ => format!("{0}.{1}.{1}.{2}", types[0], types[1], types[2]),
    };
    // Without a gap, the stride need not be given.
    let given = |stride| {
        if gap == 0 {
            String::new()
        } else {
            format!(", {stride}")
        }
    };
    let [before, behind] = modifiers;
    let mnemonic =
        format!("wmma.mma{before}.sync.aligned.{a_layout}.{b_layout}.{shape}.{named}{behind}");
    // Shared memory gets a copy of everything first.
    let (copy, back) = match space {
        ".shared" => (
            "mov.u32 %i, %laneid; COPY: mul.wide.u32 %x, %i, 4; add.u64 %y, %from, %x; ld.global.b32 %w, [%y]; mov.u64 %z, room;
             add.u64 %z, %z, %x; st.shared.b32 [%z], %w; add.u32 %i, %i, 32; setp.lt.u32 %p, %i, 4096; @%p bra COPY; bar.warp.sync -1;
             mov.u64 %from, room;",
            "bar.warp.sync -1; mov.u32 %i, %laneid; BACK: mul.wide.u32 %x, %i, 4; mov.u64 %z, room; add.u64 %z, %z, %x; \
             ld.shared.b32 %w, [%z+12288]; add.u64 %y, %to, %x; st.global.b32 [%y], %w; add.u32 %i, %i, 32; setp.lt.u32 %p, %i, 1024; \
             @%p bra BACK;",
        ),
        _ => ("", ""),
    };
    let (to, out) = if space == ".shared" {
        ("%from", 12288)
    } else {
        ("%to", 0)
    };
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to)\n{{\n\
         .reg .b64 %from, %to, %x, %y, %z; .reg .b32 %i, %w; .reg .pred %p; .shared .align 128 .b8 room[16384];\n{a_regs}{b_regs}{c_regs}{d_regs}\n\
         ld.param.u64 %from, [from]; ld.param.u64 %to, [to];\n{copy}\n\
         wmma.load.a.sync.aligned.{a_layout}.{shape}{space}.{factor} {a_list}, [%from]{};\n\
         wmma.load.b.sync.aligned.{b_layout}.{shape}{space}.{factor} {b_list}, [%from+4096]{};\n\
         wmma.load.c.sync.aligned.{sum_layout}.{shape}{space}.{} {c_list}, [%from+8192]{};\n\
         {mnemonic} {d_list}, {a_list}, {b_list}, {c_list};\n\
         wmma.store.d.sync.aligned.{sum_layout}.{shape}{space}.{} [{to}+{out}], {d_list}{};\n{back}\nret;\n}}\n",
        given(a_stride),
        given(b_stride),
        types[2],
        given(sum_stride),
        types[0],
        given(sum_stride)
    );
    let mut input = vec![0; 16384];
    for (start, part) in [
        (0, bytes(ab, &a, a_layout == "row", a_stride)),
        (4096, bytes(ab, &b, b_layout == "row", b_stride)),
        (8192, bytes(c, &sum, sum_layout == "row", sum_stride)),
    ] {
        input[start..][..part.len()].copy_from_slice(&part);
    }
    let program = program(&text);
    let arena = Arena::new();
    let (from, to) = (arena.place(&input), arena.place(&[0; 4096]));
    let params = Params::default().u64(from).u64(to);
    launch(&program, "k", 1, 32, &params, &arena).unwrap();
    let times: fn(f64, f64) -> f64 = match before {
        ".xor.popc" => |a, b| f64::from(u8::from(a != b)),
        _ => |a, b| a * b,
    };
    let expected = bytes(
        d,
        &a.product(&b, &sum, times),
        sum_layout == "row",
        sum_stride,
    );
    assert_eq!(
        arena.read(to, expected.len()),
        expected,
        "{mnemonic} {layouts:?} {gap} {space}"
    );
}

const LAYOUTS: [&str; 2] = ["row", "col"];

/// All layouts of one product.
fn check_layouts(shape: &str, types: [&str; 3], modifiers: [&str; 2]) {
    for a in LAYOUTS {
        for b in LAYOUTS {
            for sums in LAYOUTS {
                for (gap, space) in [(0, ""), (16, ".global"), (8, ".shared")] {
                    check(Trial {
                        shape,
                        types,
                        layouts: [a, b, sums],
                        gap,
                        space,
                        modifiers,
                    });
                }
            }
        }
    }
}

#[test]
fn halves() {
    for shape in ["m16n16k16", "m32n8k16", "m8n32k16"] {
        for [d, c] in [
            ["f16", "f16"],
            ["f16", "f32"],
            ["f32", "f16"],
            ["f32", "f32"],
        ] {
            check_layouts(shape, [d, "f16", c], ["", ""]);
        }
        check_layouts(shape, ["f32", "bf16", "f32"], ["", ""]);
    }
}

#[test]
fn bytes_as_integers() {
    for shape in ["m16n16k16", "m32n8k16", "m8n32k16"] {
        for factor in ["s8", "u8"] {
            check_layouts(shape, ["s32", factor, "s32"], ["", ""]);
        }
        check_layouts(shape, ["s32", "s8", "s32"], ["", ".satfinite"]);
    }
}

#[test]
fn singles_and_doubles() {
    check_layouts("m16n16k8", ["f32", "tf32", "f32"], ["", ""]);
    for rounding in ["", ".rn", ".rz"] {
        check_layouts("m8n8k4", ["f64", "f64", "f64"], [rounding, ""]);
    }
}

#[test]
fn parts_of_bytes() {
    for (shape, factor, operation) in [
        ("m8n8k32", "s4", ""),
        ("m8n8k32", "u4", ""),
        ("m8n8k128", "b1", ".xor.popc"),
        ("m8n8k128", "b1", ".and.popc"),
    ] {
        for sums in LAYOUTS {
            for (gap, space) in [(0, ""), (128, ".global"), (128, ".shared")] {
                let layouts = ["row", "col", sums];
                let types = ["s32", factor, "s32"];
                check(Trial {
                    shape,
                    types,
                    layouts,
                    gap,
                    space,
                    modifiers: [operation, ""],
                });
            }
        }
    }
}
