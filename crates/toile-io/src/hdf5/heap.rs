//! Heaps: names of symbol tables, links of groups with many members.

use super::Hdf5Error;
use super::checksum::lookup3;
use super::header::verify;
use super::source::{Cursor, Source};

/// The bytes of a local heap.
pub(super) fn local<'a>(source: &Source<'a>, at: u64) -> Result<&'a [u8], Hdf5Error> {
    let mut c = source.at(at)?;
    c.expect(b"HEAP", "heap of names")?;
    c.take(4)?;
    let size = c.length()?;
    c.length()?;
    let data = c.address()?;
    source.bytes(data, size)
}

/// The bytes in a global heap that a reference (length, address of the collection, number) leads to.
pub(super) fn kept<'a>(source: &Source<'a>, reference: &[u8]) -> Result<&'a [u8], Hdf5Error> {
    let word = |range: std::ops::Range<usize>| {
        reference[range].iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b))
    };
    let end = 4 + source.sizes.0;
    let (length, at, number) = (word(0..4), word(4..end), word(end..end + 4));
    if length == 0 {
        return Ok(&[]);
    }
    let mut c = source.at(at)?;
    c.expect(b"GCOL", "collection of texts")?;
    c.take(4)?;
    c.length()?;
    loop {
        source.step(at)?;
        let found = c.uint(2)?;
        c.take(6)?;
        let size = c.length()?;
        if found == 0 {
            return Err(c.fail("a text that is not in its collection"));
        }
        if found == number && size >= length {
            return c.take(length as usize);
        }
        let whole = size.checked_next_multiple_of(8).and_then(|s| usize::try_from(s).ok());
        c.take(whole.unwrap_or(usize::MAX))?;
    }
}

/// What a fractal heap says of itself, as far as links need it.
struct Fractal {
    id: usize,
    offset: usize,
    width: u64,
    start: u64,
    most_direct: u64,
    root: u64,
    rows: u64,
}

/// The link messages kept in a fractal heap, in the order of the tree of their names.
pub(super) fn dense_links<'a>(
    source: &Source<'a>,
    heap: u64,
    tree: u64,
) -> Result<Vec<Cursor<'a>>, Hdf5Error> {
    let heap = fractal(source, heap)?;
    let mut c = source.at(tree)?;
    c.expect(b"BTHD", "tree of links")?;
    c.take(2)?;
    let (node, record, depth) = (c.uint(4)?, c.count()?, c.count()?);
    c.take(2)?;
    let (root, count) = (c.address()?, c.count()?);
    c.length()?;
    let passed = lookup3(c.passed());
    verify(&mut c, passed, "a tree of links")?;
    if depth > 0 {
        return Err(Hdf5Error::Unsupported("a group with very many members".into()));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    if record != 4 + heap.id || (10 + count * record) as u64 > node {
        return Err(c.fail("records of links that are none"));
    }
    let mut c = source.at(root)?;
    c.expect(b"BTLF", "leaf of a tree of links")?;
    c.take(2)?;
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        source.step(root)?;
        c.take(4)?; // hash of the name
        let here = c.here();
        let mut id = source.cursor(c.take(heap.id)?, here);
        if id.byte()? & 0x30 != 0 {
            return Err(Hdf5Error::Unsupported("a link with a very long name".into()));
        }
        let (offset, length) = (id.uint(heap.offset)?, id.uint(heap.id - 1 - heap.offset)?);
        let at = heap.place(source, offset)?;
        found.push(source.cursor(source.bytes(at, length)?, at));
    }
    Ok(found)
}

fn fractal(source: &Source<'_>, at: u64) -> Result<Fractal, Hdf5Error> {
    let mut c = source.at(at)?;
    c.expect(b"FRHP", "heap of links")?;
    c.take(1)?;
    let (id, filters) = (c.count()?, c.count()?);
    c.take(5)?;
    c.length()?;
    c.address()?;
    c.length()?;
    c.address()?;
    for _ in 0..8 {
        c.length()?;
    }
    let width = c.uint(2)?;
    let (start, most_direct) = (c.length()?, c.length()?);
    let bits = c.count()?;
    c.take(2)?;
    let (root, rows) = (c.address()?, c.uint(2)?);
    if filters > 0 {
        return Err(Hdf5Error::Unsupported("a packed heap of links".into()));
    }
    let passed = lookup3(c.passed());
    verify(&mut c, passed, "a heap of links")?;
    let offset = bits.div_ceil(8);
    let fine = id > 1 + offset && id <= 9 + offset && offset <= 8 && start > 0 && width > 0;
    if !fine {
        return Err(c.fail("a heap of links with impossible sizes"));
    }
    Ok(Fractal { id, offset, width, start, most_direct, root, rows })
}

impl Fractal {
    /// The address of a place in the heap.
    fn place(&self, source: &Source<'_>, offset: u64) -> Result<u64, Hdf5Error> {
        let wrong = || source.damaged(self.root, "a link outside of its heap");
        if self.rows == 0 {
            return self.root.checked_add(offset).ok_or_else(wrong);
        }
        // Rows of `width` blocks; from the second row on blocks double.
        let (mut begin, mut size, mut row) = (0u64, self.start, 0u64);
        loop {
            let length = size.checked_mul(self.width).ok_or_else(wrong)?;
            if offset - begin < length {
                break;
            }
            begin = begin.checked_add(length).ok_or_else(wrong)?;
            size = if row == 0 { size } else { size.checked_mul(2).ok_or_else(wrong)? };
            row += 1;
            if row >= self.rows {
                return Err(wrong());
            }
        }
        if size > self.most_direct {
            return Err(Hdf5Error::Unsupported("a group with very many members".into()));
        }
        let (column, inside) = ((offset - begin) / size, (offset - begin) % size);
        let mut c = source.at(self.root)?;
        c.expect(b"FHIB", "table of a heap")?;
        c.take(1)?;
        c.address()?;
        c.take(self.offset)?;
        c.take(((row * self.width + column) as usize).saturating_mul(source.sizes.0))?;
        c.address()?.checked_add(inside).ok_or_else(wrong)
    }
}
