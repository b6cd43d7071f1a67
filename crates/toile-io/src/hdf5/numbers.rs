//! Arrays and attributes: their shape, their type and where their bytes are.

use super::chunks::chunked;
use super::header::{DATASPACE, DATATYPE, FILTERS, Header, LAYOUT, Message};
use super::source::{Cursor, Source};
use super::{Array, Hdf5Error, Values, heap};

/// How an element is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Element {
    class: Class,
    pub(super) size: u64,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Signed,
    Unsigned,
    Real,
    Text,
    /// Text of any length, kept in a heap.
    Kept,
}

/// Most dimensions the format knows.
const RANKS: u8 = 32;

/// Reads the array an object header describes.
pub(super) fn array(source: &Source<'_>, header: &Header<'_>) -> Result<Array, Hdf5Error> {
    let part = |kind, what: &str| {
        let message: &Message<'_> = header.one(kind).ok_or_else(|| {
            source.damaged(header.address, format!("an array without its {what}"))
        })?;
        if message.shared {
            return Err(Hdf5Error::Unsupported(format!("a shared {what}")));
        }
        Ok(message.data.clone())
    };
    let element = element(&mut part(DATATYPE, "type")?)?;
    let shape = shape(&mut part(DATASPACE, "shape")?)?;
    let length = byte_length(source, header.address, &shape, element)?;
    let mut c = part(LAYOUT, "layout")?;
    let version = c.byte()?;
    if !(1..=5).contains(&version) {
        return Err(Hdf5Error::Unsupported(format!("layout version {version}")));
    }
    if version < 3 {
        return old_layout(source, c, element, shape, length);
    }
    match c.byte()? {
        0 => {
            let size = c.count()?;
            whole(source, &mut c.clone(), element, shape, size as u64, length)
        }
        1 => {
            let address = c.address()?;
            contiguous(source, address, element, shape, length)
        }
        2 => {
            let filters = header.one(FILTERS).map(|m| m.data.clone());
            let bytes = chunked(source, c, version, element, &shape, length, filters)?;
            values(source, &bytes, element, shape)
        }
        kind => Err(Hdf5Error::Unsupported(format!("an array of layout {kind}"))),
    }
}

/// An array whose layout was written before 2003.
fn old_layout(
    source: &Source<'_>,
    mut c: Cursor<'_>,
    element: Element,
    shape: Vec<u64>,
    length: u64,
) -> Result<Array, Hdf5Error> {
    let (rank, class) = (c.byte()?, c.byte()?);
    c.take(5)?;
    match class {
        0 => {
            c.take(4 * usize::from(rank))?;
            let size = c.uint(4)?;
            whole(source, &mut c, element, shape, size, length)
        }
        1 => {
            let address = c.address()?;
            contiguous(source, address, element, shape, length)
        }
        _ => Err(Hdf5Error::Unsupported("an array in chunks of the oldest kind".into())),
    }
}

/// The array of the next bytes.
fn whole(
    source: &Source<'_>,
    c: &mut Cursor<'_>,
    element: Element,
    shape: Vec<u64>,
    size: u64,
    length: u64,
) -> Result<Array, Hdf5Error> {
    if size < length {
        return Err(c.fail(format!("{size} bytes for an array of {length}")));
    }
    values(source, c.take(length as usize)?, element, shape)
}

fn contiguous(
    source: &Source<'_>,
    address: u64,
    element: Element,
    shape: Vec<u64>,
    length: u64,
) -> Result<Array, Hdf5Error> {
    if source.is_nowhere(address) && length > 0 {
        return Err(Hdf5Error::Unsupported("an array that was never written".into()));
    }
    let bytes = if length == 0 { &[][..] } else { source.bytes(address, length)? };
    values(source, bytes, element, shape)
}

/// Name and content of an attribute message.
pub(super) fn attribute(
    source: &Source<'_>,
    message: &Message<'_>,
) -> Result<(String, Array), Hdf5Error> {
    let mut c = message.data.clone();
    let (version, flags) = (c.byte()?, c.byte()?);
    if !(1..=3).contains(&version) || version > 1 && flags & 3 != 0 || message.shared {
        return Err(Hdf5Error::Unsupported("an attribute".into()));
    }
    let sizes = [c.count()?, c.count()?, c.count()?];
    c.take(usize::from(version == 3))?;
    let mut pieces = Vec::new();
    for size in sizes {
        let here = c.here();
        pieces.push(source.cursor(c.take(size)?, here));
        // Version 1 fills up to eight bytes.
        c.take(if version == 1 { size.next_multiple_of(8) - size } else { 0 })?;
    }
    let [mut name, mut kind, mut space] = match <[Cursor<'_>; 3]>::try_from(pieces) {
        Ok(pieces) => pieces,
        Err(_) => return Err(c.fail("an attribute in too few pieces")),
    };
    let name = text_of(name.take(sizes[0])?);
    let (element, shape) = (element(&mut kind)?, shape(&mut space)?);
    let length = byte_length(source, c.here(), &shape, element)?;
    Ok((name, values(source, c.take(length as usize)?, element, shape)?))
}

fn shape(c: &mut Cursor<'_>) -> Result<Vec<u64>, Hdf5Error> {
    let (version, rank) = (c.byte()?, c.byte()?);
    c.take(1)?; // flags: largest sizes follow, which are of no use here
    if rank > RANKS {
        return Err(c.fail(format!("an array of {rank} dimensions")));
    }
    match version {
        1 => {
            c.take(5)?;
        }
        2 if c.byte()? == 2 => return Ok(vec![0]),
        2 => {}
        _ => return Err(Hdf5Error::Unsupported(format!("dataspace version {version}"))),
    }
    (0..rank).map(|_| c.length()).collect()
}

fn element(c: &mut Cursor<'_>) -> Result<Element, Hdf5Error> {
    let kind = c.byte()?;
    let bits = c.uint(3)?;
    let size = c.uint(4)?;
    let big_endian = bits & 1 != 0;
    let class = match kind & 15 {
        0 => {
            let (offset, precision) = (c.uint(2)?, c.uint(2)?);
            if ![1, 2, 4, 8].contains(&size) || offset != 0 || precision != 8 * size {
                return Err(Hdf5Error::Unsupported(format!("an integer of {precision} bits")));
            }
            if bits & 8 != 0 { Class::Signed } else { Class::Unsigned }
        }
        1 => {
            let (offset, precision) = (c.uint(2)?, c.uint(2)?);
            c.take(1)?;
            let exponent = c.byte()?;
            c.take(1)?;
            let (mantissa, bias) = (c.byte()?, c.uint(4)?);
            let known = [(4, 8, 23, 127), (8, 11, 52, 1023)];
            let fits = known.contains(&(size, exponent, mantissa, bias));
            if !fits || offset != 0 || precision != 8 * size || bits & 0x40 != 0 {
                return Err(Hdf5Error::Unsupported(format!("a real number of {precision} bits")));
            }
            Class::Real
        }
        3 if size > 0 => Class::Text,
        9 if bits & 15 == 1 => Class::Kept,
        class => return Err(Hdf5Error::Unsupported(format!("data of class {class}"))),
    };
    Ok(Element { class, size, big_endian })
}

/// Bytes of an array, paid for: the decoded numbers take eight each.
fn byte_length(
    source: &Source<'_>,
    at: u64,
    shape: &[u64],
    element: Element,
) -> Result<u64, Hdf5Error> {
    let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    let length = count.and_then(|n| n.checked_mul(element.size.max(8)));
    let Some(length) = length else {
        return Err(source.damaged(at, format!("an array of shape {shape:?}")));
    };
    source.spend(at, length)?;
    Ok(length / element.size.max(8) * element.size)
}

/// Bytes as numbers.
fn values(
    source: &Source<'_>,
    bytes: &[u8],
    element: Element,
    shape: Vec<u64>,
) -> Result<Array, Hdf5Error> {
    let size = element.size as usize;
    let word = |piece: &[u8]| {
        let add = |n: u64, b: &u8| n << 8 | u64::from(*b);
        if element.big_endian { piece.iter().fold(0, add) } else { piece.iter().rev().fold(0, add) }
    };
    let words = bytes.chunks_exact(size.max(1)).map(word);
    let values = match element.class {
        Class::Text if bytes.len() == size => Values::Text(text_of(bytes)),
        Class::Kept if bytes.len() == size && size == 8 + source.sizes.0 => {
            Values::Text(text_of(heap::kept(source, bytes)?))
        }
        Class::Text | Class::Kept => {
            return Err(Hdf5Error::Unsupported("a list of texts".into()));
        }
        // What does not fit is no index and no count that could be meant.
        Class::Unsigned => {
            Values::Integers(words.map(|n| i64::try_from(n).unwrap_or(i64::MAX)).collect())
        }
        Class::Signed => {
            let spare = 64 - 8 * size as u32;
            Values::Integers(words.map(|n| (n << spare) as i64 >> spare).collect())
        }
        Class::Real if size == 4 => {
            Values::Reals(words.map(|n| f64::from(f32::from_bits(n as u32))).collect())
        }
        Class::Real => Values::Reals(words.map(f64::from_bits).collect()),
    };
    Ok(Array { shape, values })
}

fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim_end().to_string()
}
