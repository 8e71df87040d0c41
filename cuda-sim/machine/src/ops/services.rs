//! The functions of the device runtime that compilers call by name: `vprintf`, `__assertfail`, `malloc` and `free`.

mod float;
mod format;

use crate::code::{Access, Instr, ServiceCall};
use crate::exec::{Env, LaneError, Scope, Site, Space};
use crate::services::Output;
use crate::{FaultKind, Lanes, WARP_SIZE};

/// A function of the device runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Print,
    AssertFail,
    Allocate,
    Free,
}

impl Service {
    /// The function of that name, with the bytes of its returned value and of its parameters.
    pub(crate) fn from_name(name: &str) -> Option<(Self, &'static [u32], &'static [u32])> {
        Some(match name {
            "vprintf" => (Self::Print, &[4], &[8, 8]),
            "__assertfail" => (Self::AssertFail, &[], &[8, 8, 4, 8, 8]),
            "malloc" => (Self::Allocate, &[8], &[8]),
            "free" => (Self::Free, &[], &[8]),
            _ => return None,
        })
    }

    /// What the call does.
    pub(crate) fn run(self) -> Access {
        match self {
            Self::Print => print,
            Self::AssertFail => assert_fail,
            Self::Allocate => allocate,
            Self::Free => free,
        }
    }
}

fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP_SIZE).filter(move |lane| mask >> lane & 1 == 1)
}

/// A call by one lane.
struct Caller<'c, 'e> {
    call: &'c ServiceCall,
    site: Site,
    scope: &'c mut Scope,
    env: &'c mut Env<'e>,
    lane: usize,
}

impl Caller<'_, '_> {
    /// The value of an argument.
    fn argument(&self, number: usize) -> u64 {
        let (offset, size) = self.call.arguments[number];
        let start = self.lane * self.scope.params_stride + offset as usize;
        let mut bytes = [0; 8];
        let size = size as usize;
        bytes[..size].copy_from_slice(&self.scope.params[start..start + size]);
        u64::from_le_bytes(bytes)
    }

    fn give(&mut self, value: u64) {
        if let Some((offset, size)) = self.call.result {
            let start = self.lane * self.scope.params_stride + offset as usize;
            let size = size as usize;
            self.scope.params[start..start + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// Bytes at a generic address.
    fn load<const SIZE: usize>(&mut self, address: u64) -> Result<[u8; SIZE], LaneError> {
        let mut addresses = [0; WARP_SIZE];
        addresses[self.lane] = address;
        let lanes = Lanes {
            mask: 1 << self.lane,
            size: SIZE,
            addresses: &addresses,
        };
        let mut buffer = [[0; SIZE]; WARP_SIZE];
        let into = buffer.as_flattened_mut();
        self.env
            .read(self.site, Space::Generic, &lanes, into, self.scope)?;
        Ok(buffer[self.lane])
    }

    /// The text at a generic address, up to the zero that ends it.
    fn text(&mut self, address: u64) -> Result<Vec<u8>, LaneError> {
        let mut text = Vec::new();
        let mut at = address;
        loop {
            match self.load::<1>(at)? {
                [0] => return Ok(text),
                [byte] => text.push(byte),
            }
            at = at.wrapping_add(1);
        }
    }

    fn fault(&self, kind: FaultKind) -> LaneError {
        LaneError {
            lane: self.lane,
            kind,
        }
    }
}

/// Does something for each lane, the lowest first.
fn each(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    mut act: impl FnMut(&mut Caller<'_, '_>) -> Result<(), LaneError>,
) -> Result<(), LaneError> {
    let call = &env.shape.program.codes[scope.function].services[i.target as usize];
    let site = scope.site(i);
    for lane in lanes_of(mask) {
        act(&mut Caller {
            call,
            site,
            scope,
            env,
            lane,
        })?;
    }
    Ok(())
}

/// `int vprintf(const char *format, void *arguments)`: gives the number of arguments, or -1 without a format.
fn print(i: &Instr, scope: &mut Scope, env: &mut Env<'_>, mask: u32) -> Result<(), LaneError> {
    each(i, scope, env, mask, |caller| {
        let (format, arguments) = (caller.argument(0), caller.argument(1));
        if format == 0 {
            caller.give(u64::MAX);
            return Ok(());
        }
        let format = caller.text(format)?;
        let mut arguments = format::Arguments::new(arguments, caller);
        let text = format::format(&format, &mut arguments)?;
        let taken = arguments.taken();
        caller
            .env
            .shape
            .launch
            .services
            .print(Output::Standard, &text);
        caller.give(taken);
        Ok(())
    })
}

/// `void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t character)`
fn assert_fail(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let mut first = None;
    let (block, [x, y, _]) = (env.block, env.shape.launch.block);
    let warp = env.warp * WARP_SIZE as u32;
    each(i, scope, env, mask, |caller| {
        let mut text = |number| {
            let address = caller.argument(number);
            let text = if address == 0 {
                Vec::new()
            } else {
                caller.text(address)?
            };
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        let (message, file, function) = (text(0)?, text(1)?, text(3)?);
        let line = caller.argument(2);
        let thread = warp + caller.lane as u32;
        let said = format!(
            "{file}:{line}: {function}: block: [{},{},{}], thread: [{},{},{}] Assertion `{message}` failed.\n",
            block[0],
            block[1],
            block[2],
            thread % x,
            thread / x % y,
            thread / x / y,
        );
        let services = caller.env.shape.launch.services;
        services.print(Output::Error, said.as_bytes());
        let line = line as u32;
        let kind = FaultKind::Assert {
            message,
            file,
            line,
        };
        let fault = caller.fault(kind);
        first.get_or_insert(fault);
        Ok(())
    })?;
    first.map_or(Ok(()), Err)
}

/// `void *malloc(size_t size)`
fn allocate(i: &Instr, scope: &mut Scope, env: &mut Env<'_>, mask: u32) -> Result<(), LaneError> {
    each(i, scope, env, mask, |caller| {
        let size = caller.argument(0);
        let shape = caller.env.shape;
        let address = shape.launch.services.allocate(size);
        if let Some(mut races) = shape.global_races() {
            races.forget(address, size);
        }
        caller.give(address);
        Ok(())
    })
}

/// `void free(void *address)`
fn free(i: &Instr, scope: &mut Scope, env: &mut Env<'_>, mask: u32) -> Result<(), LaneError> {
    each(i, scope, env, mask, |caller| {
        let address = caller.argument(0);
        if address == 0 {
            return Ok(());
        }
        let freed = caller.env.shape.launch.services.free(address);
        freed.map_err(|why| caller.fault(FaultKind::BadFree { address, why }))
    })
}
