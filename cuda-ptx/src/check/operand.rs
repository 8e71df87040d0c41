//! Whether operands are what an instruction wants.

use super::forms::{Role, Slot, Type};
use super::scope::Symbol;
use super::types::fits;
use super::{Checker, special};
use crate::{Operand, ScalarType, Space};

/// What the modifiers say about all operands.
#[derive(Debug)]
pub(super) struct Context<'t> {
    pub(super) opcode: &'t str,
    pub(super) types: &'t [Type],
    /// The space that a memory instruction names; generic where it names none.
    pub(super) space: Option<Space>,
    /// Elements that a vector operand has.
    pub(super) elements: usize,
}

/// What is wrong with an operand.
pub(super) type Wrong = String;

impl<'m, 'a> Checker<'m, 'a> {
    /// Whether the operands fit the slots of a form.
    pub(super) fn operands(
        &mut self,
        slots: &[Slot],
        operands: &'m [Operand<'a>],
        context: &Context<'_>,
    ) -> Result<(), Wrong> {
        let open = slots.iter().any(|slot| slot.role == Role::Rest);
        let least = slots.iter().filter(|slot| !slot.optional).count();
        if !open && (operands.len() < least || operands.len() > slots.len()) {
            return Err(format!(
                "`{}` takes {} here, {} given",
                context.opcode,
                counted(least, slots.len()),
                match operands.len() {
                    1 => String::from("1 is"),
                    count => format!("{count} are"),
                }
            ));
        }
        for (slot, operand) in slots.iter().zip(operands) {
            self.operand(slot, operand, context)?;
        }
        Ok(())
    }

    fn operand(
        &mut self,
        slot: &Slot,
        operand: &'m Operand<'a>,
        context: &Context<'_>,
    ) -> Result<(), Wrong> {
        let Some(ty) = slot.ty(context.types) else {
            return Ok(());
        };
        // A single element can stand in braces where several could.
        let operand = match operand {
            Operand::Vector(parts) if matches!(context.opcode, "ld" | "ldu" | "st") => {
                match &**parts {
                    [single] if context.elements == 1 && *single != Operand::Sink => single,
                    _ => operand,
                }
            }
            _ => operand,
        };
        match (slot.role, operand) {
            (Role::Fragment { count, written }, _) => self.fragment(operand, ty, count, written),
            (Role::Destination { vector: true } | Role::Source { vector: true }, _)
                if context.elements > 1 =>
            {
                self.vector(slot, operand, ty, context.elements)
            }
            (Role::Destination { .. }, Operand::Sink)
                if !matches!(context.opcode, "atom" | "lop3" | "setp") =>
            {
                Err(String::from("the result cannot be dropped with `_` here"))
            }
            (Role::Destination { .. }, _) => self.destination(operand, ty, slot.wider),
            (Role::DestinationAndPredicate, Operand::Pair(_, "_") | Operand::Name(_))
                if context.opcode == "elect" =>
            {
                Err(String::from("a predicate behind a bar is expected"))
            }
            (Role::DestinationAndPredicate, Operand::Pair(first, second)) => {
                self.written(first, ty, false)?;
                self.written(second, Type::Scalar(ScalarType::Pred), false)
            }
            (Role::Predicates, Operand::Pair(first, second)) => {
                self.written(first, Type::Scalar(ScalarType::Pred), false)?;
                self.written(second, Type::Scalar(ScalarType::Pred), false)
            }
            (Role::DestinationAndPredicate, _) => self.destination(operand, ty, false),
            (Role::Predicates, _) => {
                self.destination(operand, Type::Scalar(ScalarType::Pred), false)
            }
            (Role::MoveDestination | Role::MoveSource, Operand::Vector(parts)) => {
                self.parts(parts, slot.role == Role::MoveDestination)
            }
            (Role::IntegerRegister, Operand::Name(name)) => match self.find(name)? {
                Symbol::Register(register, 1) if Type::Scalar(register).is_integral() => Ok(()),
                _ => Err(format!("`{name}` is not a register with an address")),
            },
            (Role::IntegerRegister, _) => Err(String::from("a register is expected")),
            (Role::MoveDestination, _) => self.destination(operand, ty, false),
            (Role::Source { .. }, _) => self.source(operand, ty, slot.wider, false),
            (Role::FreeSource | Role::MoveSource, _) => self.source(operand, ty, slot.wider, true),
            (Role::Address, _) => self.address(operand, context),
            (Role::AddressIn(space), _) => self.address_in(operand, space, context),
            (Role::Sink, Operand::Sink) => Ok(()),
            (Role::Sink, _) => Err(String::from("`_` is expected: the result is not to be had")),
            (Role::Constant, Operand::Integer(_)) => Ok(()),
            (Role::Constant, _) => Err(String::from("a constant is expected")),
            (Role::Label, Operand::Name(name)) => {
                if let Some(Symbol::Register(..)) = self.scope.find(name) {
                    return Err(format!("`{name}` is a register where a label is expected"));
                }
                self.scope.await_label(name);
                Ok(())
            }
            (Role::Label, _) => Err(String::from("a label is expected")),
            (Role::BranchTable, Operand::Name(name)) => match self.scope.find(name) {
                Some(Symbol::Label(true)) => Ok(()),
                _ => Err(format!(
                    "`{name}` is no label with `.branchtargets` above this instruction"
                )),
            },
            (Role::BranchTable, _) => {
                Err(String::from("the label of a `.branchtargets` is expected"))
            }
            (Role::Call | Role::Anything | Role::Rest, _) => Ok(()),
        }
    }

    fn destination(&mut self, operand: &Operand<'a>, ty: Type, wider: bool) -> Result<(), Wrong> {
        match operand {
            Operand::Name(name) => self.written(name, ty, wider),
            Operand::Sink => Ok(()),
            Operand::Vector(_) => Err(String::from("the destination is a vector")),
            Operand::Pair(..) => Err(String::from("a second destination is not possible here")),
            _ => Err(String::from("the destination is not a register")),
        }
    }

    fn written(&mut self, name: &'a str, ty: Type, wider: bool) -> Result<(), Wrong> {
        if name == "_" {
            return Ok(());
        }
        match self.find(name)? {
            Symbol::Register(register, vector) => fits(name, register, vector, ty, wider),
            _ => Err(format!("`{name}` is not a register")),
        }
    }

    /// A value; `free` sources may also be special registers and addresses.
    fn source(
        &mut self,
        operand: &Operand<'a>,
        ty: Type,
        wider: bool,
        free: bool,
    ) -> Result<(), Wrong> {
        let integral = !matches!(
            ty,
            Type::Scalar(ScalarType::F16 | ScalarType::F16x2 | ScalarType::F32 | ScalarType::F64)
        );
        match operand {
            Operand::Name(name) => self.read(name, ty, wider, free),
            Operand::Integer(_) if integral => Ok(()),
            Operand::Integer(value) => Err(format!(
                "the integer {value} where {} is expected",
                ty.shown()
            )),
            Operand::Float32(_) | Operand::Float64(_) => match ty {
                Type::Scalar(
                    ScalarType::F32 | ScalarType::F64 | ScalarType::B32 | ScalarType::B64,
                ) => Ok(()),
                _ => Err(format!(
                    "a floating-point constant where {} is expected",
                    ty.shown()
                )),
            },
            Operand::Not(name) if ty == Type::Scalar(ScalarType::Pred) => {
                self.read(name, ty, false, false)
            }
            Operand::Not(name) => Err(format!("`!{name}`: only predicates can be negated")),
            Operand::Offset(name, _) if free => self.read(name, ty, wider, true),
            Operand::Element(name, _) if free => {
                self.array(name)?;
                self.read(name, ty, wider, true)
            }
            Operand::Address { .. } | Operand::Brackets(_) if !free => Err(String::from(
                "an address in brackets where a value is expected",
            )),
            Operand::Vector(_) => Err(String::from("a vector where a single value is expected")),
            Operand::Sink => Err(String::from("`_` has no value")),
            _ if free => Ok(()),
            _ => Err(String::from("a register or constant is expected")),
        }
    }

    fn read(&mut self, name: &'a str, ty: Type, wider: bool, free: bool) -> Result<(), Wrong> {
        if name == "WARP_SZ" && self.scope.find(name).is_none() {
            return Ok(());
        }
        if let (None, Some(special)) = (self.scope.find(name), special::find(name)) {
            return special.read(name, ty, wider, free);
        }
        match self.find(name)? {
            Symbol::Register(register, vector) => fits(name, register, vector, ty, wider),
            Symbol::Label(_) => Err(format!("`{name}` is a label")),
            Symbol::Param(..) | Symbol::Variable(_) | Symbol::Function(_) if free => {
                let address = ty.is_integral() && matches!(ty.bits(), 32 | 64);
                let narrow = ty.bits() == 32 && !wider && self.module.address_size() == 64;
                if let (true, Symbol::Variable(variable)) = (narrow, self.find(name)?)
                    && matches!(variable.space, Space::Global)
                {
                    return Err(format!("the address of `{name}` has 64 bits"));
                }
                if address || wider {
                    Ok(())
                } else {
                    Err(format!("the address of `{name}` is no {}", ty.shown()))
                }
            }
            _ => Err(format!("`{name}` is not a register")),
        }
    }

    /// The registers that a `mov` takes apart or puts together.
    fn parts(&mut self, parts: &[Operand<'a>], written: bool) -> Result<(), Wrong> {
        let mut bits = None;
        for part in parts {
            let Operand::Name(name) = part else { continue };
            if special::find(name).is_some() && self.scope.find(name).is_none() {
                continue;
            }
            match self.find(name)? {
                Symbol::Register(register, _) => {
                    let size = register.size();
                    if *bits.get_or_insert(size) != size {
                        return Err(String::from(
                            "the registers of the vector have different sizes",
                        ));
                    }
                }
                _ if written => return Err(format!("`{name}` is not a register")),
                _ => {}
            }
        }
        Ok(())
    }

    /// The registers that a vector access reads or writes.
    fn vector(
        &mut self,
        slot: &Slot,
        operand: &Operand<'a>,
        ty: Type,
        elements: usize,
    ) -> Result<(), Wrong> {
        let parts = match operand {
            Operand::Vector(parts) => parts,
            // A vector register.
            Operand::Name(name) => {
                return match self.find(name)? {
                    Symbol::Register(_, vector) if usize::from(vector) == elements => Ok(()),
                    _ => Err(format!("`{name}` is no vector of {elements} elements")),
                };
            }
            _ => return Err(format!("a vector of {elements} elements is expected")),
        };
        if parts.len() != elements {
            return Err(format!(
                "the vector has {} elements where {elements} are expected",
                parts.len()
            ));
        }
        for part in parts {
            match slot.role {
                Role::Source { .. } => self.source(part, ty, slot.wider, false)?,
                _ => self.destination(part, ty, slot.wider)?,
            }
        }
        self.parts(parts, false)
    }

    /// What a name stands for; an unknown name is wrong.
    pub(super) fn find(&self, name: &'a str) -> Result<Symbol<'m, 'a>, Wrong> {
        if let Some(symbol) = self.scope.find(name) {
            return Ok(symbol);
        }
        // An element of a vector register: `%v.x`.
        if let Some((base, element)) = name.rsplit_once('.') {
            let element = matches!(element, "x" | "y" | "z" | "w" | "r" | "g" | "b" | "a");
            if let (true, Some(Symbol::Register(ty, 2..))) = (element, self.scope.find(base)) {
                return Ok(Symbol::Register(ty, 1));
            }
        }
        Err(if special::find(name).is_some() {
            format!("the special register `{name}` is not possible here")
        } else {
            format!("the name `{name}` is not known here")
        })
    }
}

fn counted(least: usize, most: usize) -> String {
    match (least, most) {
        (0, 0) => String::from("no operands"),
        (1, 1) => String::from("1 operand"),
        _ if least == most => format!("{most} operands"),
        _ => format!("{least} to {most} operands"),
    }
}
