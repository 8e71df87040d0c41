//! Kernels of one matrix instruction, whose registers come from and go to memory.

use crate::elements::Kind;
use crate::support::{Arena, Params, launch, program};

/// Registers of one operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registers {
    pub(crate) kind: Kind,
    pub(crate) count: usize,
}

impl Registers {
    fn name(self, first: usize, index: usize) -> String {
        let class = match self.kind {
            Kind::F64 => "%d",
            Kind::F32 => "%f",
            _ => "%r",
        };
        format!("{class}{}", first + index)
    }

    fn size(self) -> usize {
        if self.kind == Kind::F64 { 8 } else { 4 }
    }

    fn ty(self) -> &'static str {
        match self.kind {
            Kind::F64 => "f64",
            Kind::F32 => "f32",
            _ => "b32",
        }
    }

    fn list(self, first: usize) -> String {
        let names: Vec<String> = (0..self.count)
            .map(|index| self.name(first, index))
            .collect();
        format!("{{{}}}", names.join(", "))
    }
}

/// Runs an instruction of a destination and sources in registers for one warp. Each register of each lane is one of 32 values in a row of `values`; gives
/// those of the destination.
pub(crate) fn run(
    mnemonic: &str,
    destination: Registers,
    sources: &[(Registers, Vec<[u64; 32]>)],
) -> Vec<[u64; 32]> {
    let mut body = String::new();
    let mut operands = vec![destination.list(100)];
    let mut input = Vec::new();
    let mut first = 0;
    for (registers, values) in sources {
        assert_eq!(values.len(), registers.count);
        for (index, lanes) in values.iter().enumerate() {
            let offset = input.len();
            body += &format!(
                "mad.wide.u32 %a, %lane, {}, %in; ld.global.{} {}, [%a+{offset}];\n",
                registers.size(),
                registers.ty(),
                registers.name(first, index)
            );
            for value in lanes {
                input.extend_from_slice(&value.to_le_bytes()[..registers.size()]);
            }
        }
        operands.push(registers.list(first));
        first += registers.count;
    }
    body += &format!("{mnemonic} {};\n", operands.join(", "));
    for index in 0..destination.count {
        body += &format!(
            "mad.wide.u32 %a, %lane, {0}, %out; st.global.{1} [%a+{2}], {3};\n",
            destination.size(),
            destination.ty(),
            index * 32 * destination.size(),
            destination.name(100, index)
        );
    }
    let text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %r<120>; .reg .f32 %f<120>; .reg .f64 %d<120>; .reg .b64 %in, %out, %a; .reg .b32 %lane;\n\
         ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %lane, %laneid;\n{body}ret;\n}}\n"
    );
    let program = program(&text);
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None, "{mnemonic}");
    let arena = Arena::new();
    let bytes = destination.count * 32 * destination.size();
    let (from, to) = (arena.place(&input), arena.place(&vec![0xee; bytes]));
    let params = Params::default().u64(from).u64(to);
    launch(&program, "k", 1, 32, &params, &arena).unwrap();
    let results = arena.read(to, bytes);
    results
        .chunks(32 * destination.size())
        .map(|row| {
            let mut lanes = [0; 32];
            for (lane, bytes) in lanes.iter_mut().zip(row.chunks(destination.size())) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                *lane = u64::from_le_bytes(word);
            }
            lanes
        })
        .collect()
}
