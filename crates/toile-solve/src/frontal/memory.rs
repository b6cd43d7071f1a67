//! Numbers that start on a cache line.

use crate::SolveError;

/// Bytes of a cache line, and of the widest register.
const LINE: usize = 64;

/// Zeros to begin with, the first at the start of a cache line: registers are then read from one line,
/// not from two.
pub(super) struct Memory {
    numbers: Vec<f64>,
    skip: usize,
    len: usize,
}

impl Memory {
    /// That many zeros, or an error instead of an abort.
    pub(super) fn new(len: usize) -> Result<Self, SolveError> {
        let numbers = crate::backend::zeros(len + LINE / size_of::<f64>())?;
        // Counted in numbers; a number of any alignment is accepted, only slower.
        let skip = match numbers.as_ptr().align_offset(LINE) {
            skip if skip < LINE / size_of::<f64>() => skip,
            _ => 0,
        };
        Ok(Self { numbers, skip, len })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl std::ops::Deref for Memory {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.numbers[self.skip..self.skip + self.len]
    }
}

impl std::ops::DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.skip..self.skip + self.len]
    }
}
