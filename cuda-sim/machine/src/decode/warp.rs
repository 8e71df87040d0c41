//! Exchange between the lanes of a warp, and questions about them.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::{Access, Instr, NONE, Op};
use crate::ops::map::Ty;
use crate::ops::{spaces, warp};

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn warp(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        match (mnemonic, operands) {
            (["shfl", "sync", mode, "b32"], [destination, a, b, c, members]) => {
                let Some(run) = warp::shuffle(mode) else {
                    return Ok(false);
                };
                self.shuffle(run, destination, [a, b, c], Some(members))?;
            }
            // Without `.sync`, the lanes that happen to be there take part.
            (["shfl", mode, "b32"], [destination, a, b, c]) => {
                let Some(run) = warp::shuffle(mode) else {
                    return Ok(false);
                };
                self.shuffle(run, destination, [a, b, c], None)?;
            }
            (["vote", "sync", mode, ty], [destination, predicate, members]) => {
                let Some((run, ty)) = warp::vote(mode, ty) else {
                    return Ok(false);
                };
                let mut instr = self.instr(Op::Collective(run));
                instr.src[0] = self.source(predicate, Ty::Pred)?;
                instr.src[3] = self.source(members, Ty::B32)?;
                instr.dst[0] = self.destination(destination, ty)?;
                self.push(instr);
            }
            (["vote", mode, ty], [destination, predicate]) => {
                let Some((run, ty)) = warp::vote(mode, ty) else {
                    return Ok(false);
                };
                let mut instr = self.instr(Op::Access(run));
                instr.src[0] = self.source(predicate, Ty::Pred)?;
                instr.dst[0] = self.destination(destination, ty)?;
                self.push(instr);
            }
            (["match", mode, "sync", ty], [destination, a, members]) => {
                let Some((run, ty)) = warp::matching(mode, ty) else {
                    return Ok(false);
                };
                let mut instr = self.instr(Op::Collective(run));
                instr.src[0] = self.source(a, ty)?;
                instr.src[3] = self.source(members, Ty::B32)?;
                self.pair(&mut instr, destination)?;
                self.push(instr);
            }
            (["redux", "sync", operation, modifiers @ .., "f32"], [destination, a, members]) => {
                let Some((run, imm)) = warp::single_reduction(operation, modifiers) else {
                    return Ok(false);
                };
                let mut instr = self.instr(Op::Collective(run));
                instr.src[0] = self.source(a, Ty::F32)?;
                instr.src[3] = self.source(members, Ty::B32)?;
                instr.imm = imm;
                instr.dst[0] = self.destination(destination, Ty::F32)?;
                self.push(instr);
            }
            (["redux", "sync", operation, ty], [destination, a, members]) => {
                let Some(run) = warp::reduction(operation, ty) else {
                    return Ok(false);
                };
                let mut instr = self.instr(Op::Collective(run));
                instr.src[0] = self.source(a, Ty::B32)?;
                instr.src[3] = self.source(members, Ty::B32)?;
                instr.dst[0] = self.destination(destination, Ty::B32)?;
                self.push(instr);
            }
            (["activemask", "b32"], [destination]) => {
                let mut instr = self.instr(Op::Access(warp::active_mask));
                instr.dst[0] = self.destination(destination, Ty::B32)?;
                self.push(instr);
            }
            (["elect", "sync"], [destination, members]) => {
                let mut instr = self.instr(Op::Collective(warp::elect));
                instr.src[3] = self.source(members, Ty::B32)?;
                self.pair(&mut instr, destination)?;
                self.push(instr);
            }
            (["bar", "warp", "sync"], [members]) => {
                let mut instr = self.instr(Op::Collective(warp::nothing));
                instr.src[3] = self.source(members, Ty::B32)?;
                self.push(instr);
            }
            (["isspacep", space], [destination, address]) => {
                let Some(code) = spaces::space_code(space) else {
                    return Ok(false);
                };
                let mut instr = self.instr(Op::Access(spaces::is_in_space));
                instr.src[0] = self.source(address, Ty::B64)?;
                instr.imm = code;
                instr.dst[0] = self.destination(destination, Ty::Pred)?;
                self.push(instr);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn shuffle(
        &mut self,
        run: Access,
        destination: &Operand<'a>,
        sources: [&Operand<'a>; 3],
        members: Option<&Operand<'a>>,
    ) -> Result<(), Why> {
        let mut instr = self.instr(if members.is_some() {
            Op::Collective(run)
        } else {
            Op::Access(run)
        });
        for (row, operand) in instr.src.iter_mut().zip(sources) {
            *row = self.source(operand, Ty::B32)?;
        }
        if let Some(members) = members {
            instr.src[3] = self.source(members, Ty::B32)?;
        }
        self.pair(&mut instr, destination)?;
        self.push(instr);
        Ok(())
    }

    /// A word, and a predicate behind a bar.
    fn pair(&mut self, instr: &mut Instr, destination: &Operand<'a>) -> Result<(), Why> {
        let (word, predicate) = match destination {
            Operand::Name(name) => (*name, "_"),
            Operand::Pair(word, predicate) => (*word, *predicate),
            _ => return Err(String::from("the destination is not a register")),
        };
        instr.dst[0] = if word == "_" {
            self.destination(&Operand::Sink, Ty::B32)?
        } else {
            self.register(word, 32)?
        };
        instr.dst[1] = if predicate == "_" {
            NONE
        } else {
            self.register(predicate, 1)?
        };
        Ok(())
    }
}
