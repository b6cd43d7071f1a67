//! Where a file begins, and the headers of its objects.

use super::checksum::lookup3;
use super::source::{Cursor, Source};
use super::{Hdf5Error, SIGNATURE};

pub(super) const DATASPACE: u16 = 0x01;
pub(super) const LINK_INFO: u16 = 0x02;
pub(super) const DATATYPE: u16 = 0x03;
pub(super) const FILL_VALUE: u16 = 0x05;
pub(super) const LINK: u16 = 0x06;
pub(super) const LAYOUT: u16 = 0x08;
pub(super) const GROUP_INFO: u16 = 0x0a;
pub(super) const FILTERS: u16 = 0x0b;
pub(super) const ATTRIBUTE: u16 = 0x0c;
const CONTINUATION: u16 = 0x10;
pub(super) const SYMBOL_TABLE: u16 = 0x11;

/// A piece of an object header.
pub(super) struct Message<'a> {
    pub(super) kind: u16,
    /// Whether the content stands elsewhere.
    pub(super) shared: bool,
    pub(super) data: Cursor<'a>,
}

/// All messages of an object.
pub(super) struct Header<'a> {
    pub(super) address: u64,
    messages: Vec<Message<'a>>,
}

impl<'a> Header<'a> {
    pub(super) fn of(&self, kind: u16) -> impl Iterator<Item = &Message<'a>> {
        self.messages.iter().filter(move |m| m.kind == kind)
    }

    /// Its one message of a kind.
    pub(super) fn one(&self, kind: u16) -> Option<&Message<'a>> {
        self.of(kind).next()
    }

    pub(super) fn is_group(&self) -> bool {
        self.messages.iter().any(|m| [SYMBOL_TABLE, LINK_INFO, LINK].contains(&m.kind))
            || self.one(LAYOUT).is_none() && self.one(DATASPACE).is_none()
    }
}

/// Reads the superblock; gives the file and the address of its first group.
pub(super) fn superblock(bytes: &[u8]) -> Result<(Source<'_>, u64), Hdf5Error> {
    // A block of the user may stand before: 512 bytes or a power of two times that.
    let begins = |at: u64| bytes.get(at as usize..).is_some_and(|b| b.starts_with(&SIGNATURE));
    let places = std::iter::once(0).chain((9..40).map(|p| 1u64 << p));
    let Some(start) = places.take_while(|at| *at < bytes.len() as u64).find(|at| begins(*at))
    else {
        let what = "no HDF5 signature".to_string();
        return Err(Hdf5Error::Damaged { at: 0, what });
    };
    let first = Source::new(bytes, 0, (8, 8));
    let mut c = first.at(start)?;
    c.take(8)?;
    let version = c.byte()?;
    let sizes = if version < 2 {
        c.take(4)?;
        let sizes = (c.byte()?, c.byte()?);
        c.take(if version == 0 { 9 } else { 13 })?;
        sizes
    } else {
        let sizes = (c.byte()?, c.byte()?);
        c.take(1)?;
        sizes
    };
    if version > 3 {
        return Err(Hdf5Error::Unsupported(format!("superblock version {version}")));
    }
    if ![2, 4, 8].contains(&sizes.0) || ![2, 4, 8].contains(&sizes.1) {
        return Err(c.fail(format!("addresses of {} and lengths of {} bytes", sizes.0, sizes.1)));
    }
    let sizes = (usize::from(sizes.0), usize::from(sizes.1));
    let base = c.uint(sizes.0)?;
    c.take(sizes.0)?; // free space, or the extension
    let end = c.uint(sizes.0)?;
    if end.saturating_sub(base).saturating_add(start) > bytes.len() as u64 {
        return Err(c.fail(format!(
            "it ends at byte {end}, the file has {} bytes; it was cut short or not closed",
            bytes.len()
        )));
    }
    if version < 2 {
        c.take(2 * sizes.0)?; // drivers; the name of the first group
    }
    let root = c.uint(sizes.0)?;
    if version >= 2 {
        let passed = lookup3(c.passed());
        verify(&mut c, passed, "the superblock")?;
    }
    // Addresses count from the superblock when a user's block was put before it afterwards.
    Ok((Source::new(bytes, base.max(start), sizes), root))
}

/// Compares the checksum that comes next.
pub(super) fn verify(c: &mut Cursor<'_>, found: u32, what: &str) -> Result<(), Hdf5Error> {
    if c.uint(4)? != u64::from(found) {
        return Err(c.fail(format!("the checksum of {what} is wrong")));
    }
    Ok(())
}

/// Reads the header of an object with all its continuations.
pub(super) fn object_header<'a>(
    source: &Source<'a>,
    address: u64,
) -> Result<Header<'a>, Hdf5Error> {
    let mut header = Header { address, messages: Vec::new() };
    let mut c = source.at(address)?;
    let newer = source.bytes(address, 4)? == b"OHDR";
    let mut ordered = false;
    // Pieces still to be read: where, how long.
    let mut pieces = Vec::new();
    if newer {
        c.take(4)?;
        let (version, flags) = (c.byte()?, c.byte()?);
        if version != 2 {
            return Err(Hdf5Error::Unsupported(format!("object header version {version}")));
        }
        c.take(if flags & 0x20 != 0 { 16 } else { 0 })?;
        c.take(if flags & 0x10 != 0 { 4 } else { 0 })?;
        let size = c.uint(1 << (flags & 3))?;
        ordered = flags & 4 != 0;
        let data = c.here();
        c.take(usize::try_from(size).unwrap_or(usize::MAX))?;
        let passed = lookup3(c.passed());
        verify(&mut c, passed, "an object header")?;
        pieces.push((data, size));
    } else {
        if c.byte()? != 1 {
            return Err(source.damaged(address, "no object header where one should be"));
        }
        c.take(7)?;
        let size = c.uint(4)?;
        pieces.push((address + 16, size));
    }
    while let Some((at, size)) = pieces.pop() {
        source.step(at)?;
        let mut c = source.cursor(source.bytes(at, size)?, at);
        let smallest = if newer { 4 + 2 * usize::from(ordered) } else { 8 };
        // Less than that is a gap.
        while c.left() >= smallest {
            let (kind, size, flags);
            if newer {
                (kind, size, flags) = (u16::from(c.byte()?), c.count()?, c.byte()?);
                c.take(2 * usize::from(ordered))?;
            } else {
                (kind, size, flags) = (c.uint(2)? as u16, c.count()?, c.byte()?);
                c.take(3)?;
            }
            source.step(at)?;
            let here = c.here();
            let mut data = source.cursor(c.take(size)?, here);
            if kind == CONTINUATION {
                let (next, length) = (data.address()?, data.length()?);
                pieces.push(if newer { continued(source, next, length)? } else { (next, length) });
            } else {
                header.messages.push(Message { kind, shared: flags & 2 != 0, data });
            }
        }
    }
    Ok(header)
}

/// The messages of a newer continuation, between its letters and its checksum.
fn continued(source: &Source<'_>, at: u64, length: u64) -> Result<(u64, u64), Hdf5Error> {
    let mut c = source.cursor(source.bytes(at, length)?, at);
    c.expect(b"OCHK", "continuation of an object header")?;
    let Some(inside) = length.checked_sub(8) else {
        return Err(c.fail("a continuation that is too short"));
    };
    c.take(inside as usize)?;
    let passed = lookup3(c.passed());
    verify(&mut c, passed, "an object header")?;
    Ok((at + 4, inside))
}
