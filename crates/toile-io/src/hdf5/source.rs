//! Bytes with checked addresses, and what a file may cost.

use std::cell::Cell;

use super::Hdf5Error;

/// Deflate makes at most that many bytes of one.
const EXPANSION: u64 = 1032;
/// Decoded bytes at most, whatever the size of the file.
const MOST_BYTES: u64 = 4 << 30;
/// Objects and nodes of trees at most.
const MOST_STEPS: u32 = 200_000;

/// A file in memory.
pub(super) struct Source<'a> {
    bytes: &'a [u8],
    /// Where address 0 is.
    base: u64,
    /// Bytes of an address, of a length.
    pub(super) sizes: (usize, usize),
    steps: Cell<u32>,
    budget: Cell<u64>,
}

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8], base: u64, sizes: (usize, usize)) -> Self {
        let budget = (bytes.len() as u64).saturating_mul(EXPANSION).saturating_add(1 << 16);
        Source {
            bytes,
            base,
            sizes,
            steps: Cell::new(0),
            budget: Cell::new(budget.min(MOST_BYTES)),
        }
    }

    pub(super) fn damaged(&self, at: u64, what: impl Into<String>) -> Hdf5Error {
        Hdf5Error::Damaged { at, what: what.into() }
    }

    /// Counts an object or a node, so that loops of addresses end.
    pub(super) fn step(&self, at: u64) -> Result<(), Hdf5Error> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MOST_STEPS {
            return Err(self.damaged(at, format!("more than {MOST_STEPS} objects, or a loop")));
        }
        Ok(())
    }

    /// Asks for memory before anything is reserved.
    pub(super) fn spend(&self, at: u64, bytes: u64) -> Result<(), Hdf5Error> {
        let left = self.budget.get();
        if bytes > left {
            let what = format!(
                "an array of {bytes} bytes, more than a file of {} bytes can hold",
                self.bytes.len()
            );
            return Err(self.damaged(at, what));
        }
        self.budget.set(left - bytes);
        Ok(())
    }

    /// `length` bytes from an address.
    pub(super) fn bytes(&self, address: u64, length: u64) -> Result<&'a [u8], Hdf5Error> {
        let start = address.checked_add(self.base);
        let range = start
            .and_then(|s| {
                Some((usize::try_from(s).ok()?, usize::try_from(s.checked_add(length)?).ok()?))
            })
            .and_then(|(s, e)| self.bytes.get(s..e));
        range.ok_or_else(|| {
            let what = format!(
                "{length} bytes are expected there, the file has {}; it may be cut short",
                self.bytes.len()
            );
            self.damaged(address, what)
        })
    }

    /// Reads on from an address, to the end of the file at most.
    pub(super) fn at(&self, address: u64) -> Result<Cursor<'a>, Hdf5Error> {
        let rest = (self.bytes.len() as u64).saturating_sub(self.base.saturating_add(address));
        Ok(self.cursor(self.bytes(address, rest)?, address))
    }

    /// Reads on in a piece that begins at an address.
    pub(super) fn cursor(&self, bytes: &'a [u8], address: u64) -> Cursor<'a> {
        Cursor { bytes, place: 0, address, sizes: self.sizes }
    }

    /// Whether an address says that there is nothing.
    pub(super) fn is_nowhere(&self, address: u64) -> bool {
        address == u64::MAX >> (64 - 8 * self.sizes.0)
    }
}

/// A place in a piece of the file.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    place: usize,
    address: u64,
    sizes: (usize, usize),
}

impl<'a> Cursor<'a> {
    /// Where it stands in the file.
    pub(super) fn here(&self) -> u64 {
        self.address + self.place as u64
    }

    /// What was read since the beginning of the piece.
    pub(super) fn passed(&self) -> &'a [u8] {
        &self.bytes[..self.place]
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.place
    }

    pub(super) fn fail(&self, what: impl Into<String>) -> Hdf5Error {
        Hdf5Error::Damaged { at: self.here(), what: what.into() }
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Hdf5Error> {
        let end = self.place.checked_add(count).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            let left = self.left();
            return Err(self.fail(format!("{count} bytes are expected there, {left} are left")));
        };
        let piece = &self.bytes[self.place..end];
        self.place = end;
        Ok(piece)
    }

    /// A little-endian number of up to eight bytes.
    pub(super) fn uint(&mut self, count: usize) -> Result<u64, Hdf5Error> {
        if count > 8 {
            return Err(self.fail(format!("a number of {count} bytes")));
        }
        Ok(self.take(count)?.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    pub(super) fn byte(&mut self) -> Result<u8, Hdf5Error> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn count(&mut self) -> Result<usize, Hdf5Error> {
        Ok(self.uint(2)? as usize)
    }

    pub(super) fn address(&mut self) -> Result<u64, Hdf5Error> {
        self.uint(self.sizes.0)
    }

    pub(super) fn length(&mut self) -> Result<u64, Hdf5Error> {
        self.uint(self.sizes.1)
    }

    /// Passes over the four letters that a structure begins with.
    pub(super) fn expect(&mut self, letters: &[u8; 4], what: &str) -> Result<(), Hdf5Error> {
        if self.take(4)? != letters {
            self.place -= 4;
            return Err(self.fail(format!("no {what} where one should be")));
        }
        Ok(())
    }
}
