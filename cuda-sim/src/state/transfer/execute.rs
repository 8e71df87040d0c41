//! Executes copies and fills.

use std::ops::Range;

use super::{Copy, Fill, Place};
use crate::code;
use crate::report::{Report, ReportKind};
use crate::state::State;
use crate::state::access::explain;
use crate::state::context::ContextRef;
use crate::state::space::{Block, Data, Presence};

/// Bytes that are moved at a time.
const PIECE: usize = 1 << 16;

impl State {
    /// Executes a copy, and returns how many nanoseconds it took by the virtual clock.
    pub(crate) fn execute_copy(&mut self, context: ContextRef, copy: &Copy, call: u64) -> u64 {
        let on_device = |place: &Place| matches!(place, Place::Device(_));
        for (end, ranges) in [
            (&copy.from, copy.reads().collect::<Vec<_>>()),
            (&copy.to, copy.writes().collect()),
        ] {
            if on_device(&end.place) && !self.check_live(context, ranges, "copy", call) {
                return 0;
            }
        }
        let mut unwritten = None;
        for (to, from, len) in copy.pieces() {
            self.move_piece(copy, to, from, len, &mut unwritten);
        }
        if let (Some(address), Place::Host(_)) = (unwritten, &copy.to.place) {
            let message =
                format!("a copy to the host read at {address:#x} what nothing had written");
            let mut report = Report::new(ReportKind::UninitialisedRead, message, call);
            report.address = Some(address);
            self.add_report(report);
        }
        let bytes_per_nanosecond = match (&copy.to.place, &copy.from.place) {
            (Place::Device(_), Place::Device(_)) => 2_000,
            _ => 55,
        };
        copy.extent.bytes().unwrap_or(0) as u64 / bytes_per_nanosecond
    }

    /// Copies a piece without gaps; notes the first byte that nothing had written.
    fn move_piece(
        &self,
        copy: &Copy,
        to: usize,
        from: usize,
        len: usize,
        unwritten: &mut Option<u64>,
    ) {
        let mut buffer = vec![0; len.min(PIECE)];
        let mut done = 0;
        while done < len {
            let (to, from) = (to + done, from + done);
            let target = self.stretch(&copy.to.place, to, len - done);
            let source = self.stretch(&copy.from.place, from, len - done);
            let (mut take, blocks) = match (&target, &source) {
                (Stretch::Nothing, _) | (_, Stretch::Nothing) => return,
                (Stretch::Block(a), Stretch::Block(b)) => (a.len.min(b.len), Some((a, b))),
                (Stretch::Block(a), Stretch::Host) | (Stretch::Host, Stretch::Block(a)) => {
                    (a.len, None)
                }
                (Stretch::Host, Stretch::Host) => (len - done, None),
            };
            if let Some((target, source)) = blocks
                && let (Data::Device(into), Data::Device(out_of)) =
                    (&target.block.data, &source.block.data)
            {
                into.copy_from(target.offset, out_of, source.offset, take);
                done += take;
                continue;
            }
            take = take.min(PIECE);
            let Some(bytes) = buffer.get_mut(..take) else {
                return;
            };
            match (&source, &copy.from.place) {
                (Stretch::Block(source), _) => {
                    if let Some(first) = source.block.read(source.offset, bytes) {
                        unwritten.get_or_insert(source.block.address + first as u64);
                    }
                }
                (_, Place::Host(range)) => {
                    if let Some(part) = range.part(from, take) {
                        part.read(bytes);
                    }
                }
                (_, Place::Bytes(taken)) => {
                    if let Some(part) = taken.get(from..from + take) {
                        bytes.copy_from_slice(part);
                    }
                }
                (_, Place::Device(_)) => {}
            }
            match (&target, &copy.to.place) {
                (Stretch::Block(target), _) => target.block.write(target.offset, bytes),
                (_, Place::Host(range)) => {
                    if let Some(part) = range.part(to, take) {
                        part.write(bytes);
                    }
                }
                (_, Place::Device(_) | Place::Bytes(_)) => {}
            }
            done += take;
        }
    }

    /// What lies `offset` bytes from the start of a place, up to `len` bytes.
    fn stretch(&self, place: &Place, offset: usize, len: usize) -> Stretch<'_> {
        match place {
            Place::Device(start) => self.block_stretch(start + offset as u64, len),
            Place::Host(_) | Place::Bytes(_) => Stretch::Host,
        }
    }

    fn block_stretch(&self, address: u64, len: usize) -> Stretch<'_> {
        let Some(block) = self.space.covering(address) else {
            return Stretch::Nothing;
        };
        let offset = (address - block.address) as usize;
        Stretch::Block(InBlock {
            block,
            offset,
            len: len.min(block.capacity - offset),
        })
    }

    /// Executes a fill, and returns how many nanoseconds it took by the virtual clock.
    pub(crate) fn execute_fill(&mut self, context: ContextRef, fill: &Fill, call: u64) -> u64 {
        if !self.check_live(context, fill.writes().collect(), "fill", call) {
            return 0;
        }
        let pattern = fill.pattern.get(..fill.width).unwrap_or(&[0]);
        for range in fill.writes() {
            let mut address = range.start;
            while let Stretch::Block(part) =
                self.block_stretch(address, (range.end - address) as usize)
                && part.len > 0
            {
                let count = part.len / pattern.len();
                match &part.block.data {
                    Data::Device(storage) => storage.fill(part.offset, pattern, count),
                    Data::Host(_) => part.block.write(part.offset, &pattern.repeat(count)),
                }
                address += part.len as u64;
            }
        }
        fill.extent.bytes().unwrap_or(0) as u64 / 2_000
    }

    /// Whether the device may touch all of the bytes now; if not, the context is poisoned and the access reported.
    pub(crate) fn check_live(
        &mut self,
        context: ContextRef,
        ranges: Vec<Range<u64>>,
        what: &str,
        call: u64,
    ) -> bool {
        let Some(range) = ranges.into_iter().find(|range| !self.is_live(range)) else {
            return true;
        };
        let (address, len) = (range.start, (range.end - range.start) as usize);
        let message = format!(
            "a {what} of {len} bytes at {address:#x}: {}",
            explain(&self.space, address, len)
        );
        let kind = ReportKind::of_access(&self.space, address, len);
        let mut report = Report::new(kind, message, call);
        report.address = Some(address);
        report.size = Some(len);
        self.add_report(report);
        self.poison(context, code::ILLEGAL_ADDRESS);
        false
    }

    /// Whether all bytes of a range, which may go on from one block to the next, are there.
    fn is_live(&self, range: &Range<u64>) -> bool {
        let mut address = range.start;
        while address < range.end {
            let end = self
                .space
                .covering(address)
                .and_then(|block| match block.presence {
                    Presence::Live(size) => Some(block.address + size as u64),
                    _ => None,
                });
            match end {
                Some(end) if end > address => address = end,
                _ => return false,
            }
        }
        true
    }
}

/// What a piece of a copy meets.
enum Stretch<'a> {
    Block(InBlock<'a>),
    Host,
    Nothing,
}

/// Bytes of a block.
struct InBlock<'a> {
    block: &'a Block,
    offset: usize,
    len: usize,
}
