//! The members of a group: symbol tables, link messages, heaps of links.

use super::header::{Header, LINK, LINK_INFO, SYMBOL_TABLE};
use super::heap::dense_links;
use super::source::{Cursor, Source};
use super::{Hdf5Error, heap};

/// Where a name leads.
pub(super) enum Link {
    /// To the object header at an address.
    To(u64),
    /// By a path, perhaps in another file.
    Elsewhere,
}

/// Depth of trees at most.
const LEVELS: u8 = 8;

/// All links of a group, in the order of the file.
pub(super) fn links(
    source: &Source<'_>,
    header: &Header<'_>,
) -> Result<Vec<(String, Link)>, Hdf5Error> {
    let mut found = Vec::new();
    if let Some(message) = header.one(SYMBOL_TABLE) {
        let mut c = message.data.clone();
        let (tree, names) = (c.address()?, c.address()?);
        let names = heap::local(source, names)?;
        symbols(source, tree, names, LEVELS, &mut found)?;
    }
    for message in header.of(LINK) {
        found.push(link(&mut message.data.clone())?);
    }
    if let Some(message) = header.one(LINK_INFO) {
        let mut c = message.data.clone();
        c.take(1)?;
        let flags = c.byte()?;
        c.take(if flags & 1 != 0 { 8 } else { 0 })?;
        let (heap, tree) = (c.address()?, c.address()?);
        if !source.is_nowhere(heap) && !source.is_nowhere(tree) {
            for mut piece in dense_links(source, heap, tree)? {
                found.push(link(&mut piece)?);
            }
        }
    }
    Ok(found)
}

/// The names and addresses below a node of the tree of a symbol table.
fn symbols(
    source: &Source<'_>,
    at: u64,
    names: &[u8],
    levels: u8,
    found: &mut Vec<(String, Link)>,
) -> Result<(), Hdf5Error> {
    source.step(at)?;
    let mut c = source.at(at)?;
    c.expect(b"TREE", "tree of names")?;
    let (kind, level, count) = (c.byte()?, c.byte()?, c.count()?);
    if kind != 0 || level >= levels {
        return Err(c.fail("a tree of names that is none"));
    }
    c.address()?;
    c.address()?;
    for _ in 0..count {
        c.length()?;
        let child = c.address()?;
        if level > 0 {
            symbols(source, child, names, level, found)?;
        } else {
            leaf(source, child, names, found)?;
        }
    }
    Ok(())
}

fn leaf(
    source: &Source<'_>,
    at: u64,
    names: &[u8],
    found: &mut Vec<(String, Link)>,
) -> Result<(), Hdf5Error> {
    source.step(at)?;
    let mut c = source.at(at)?;
    c.expect(b"SNOD", "table of names")?;
    c.take(2)?;
    for _ in 0..c.count()? {
        source.step(at)?;
        let (name, address) = (c.address()?, c.address()?);
        let cached = c.uint(4)?;
        c.take(20)?;
        let rest = usize::try_from(name).ok().and_then(|n| names.get(n..)).unwrap_or_default();
        let Some(end) = rest.iter().position(|b| *b == 0) else {
            return Err(c.fail("a name outside of its heap"));
        };
        let link = if cached == 2 { Link::Elsewhere } else { Link::To(address) };
        found.push((name_of(&rest[..end]), link));
    }
    Ok(())
}

/// A link message.
fn link(c: &mut Cursor<'_>) -> Result<(String, Link), Hdf5Error> {
    if c.byte()? != 1 {
        return Err(c.fail("a link of unknown version"));
    }
    let flags = c.byte()?;
    let kind = if flags & 8 != 0 { c.byte()? } else { 0 };
    c.take(if flags & 4 != 0 { 8 } else { 0 })?;
    c.take(usize::from(flags & 0x10 != 0))?;
    let length = c.uint(1 << (flags & 3))?;
    let name = name_of(c.take(usize::try_from(length).unwrap_or(usize::MAX))?);
    Ok((name, if kind == 0 { Link::To(c.address()?) } else { Link::Elsewhere }))
}

fn name_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
