//! Arrays stored in chunks: where they are, and how they are unpacked.

use super::Hdf5Error;
use super::checksum::lookup3;
use super::header::verify;
use super::numbers::Element;
use super::source::{Cursor, Source};

/// A chunk of an array: the number of its first element, its bytes in the file, and which filters it was spared.
struct Chunk {
    first: u64,
    address: u64,
    size: u64,
    spared: u32,
}

/// How chunks were packed.
enum Filter {
    Deflate,
    Shuffle,
    Fletcher,
}

/// Depth of trees at most.
const LEVELS: u8 = 8;

/// The bytes of an array in chunks; `c` stands after the class of its layout.
pub(super) fn chunked(
    source: &Source<'_>,
    mut c: Cursor<'_>,
    version: u8,
    element: Element,
    shape: &[u64],
    length: u64,
    filters: Option<Cursor<'_>>,
) -> Result<Vec<u8>, Hdf5Error> {
    let filters = filters.map_or(Ok(Vec::new()), |mut c| pipeline(&mut c))?;
    let flags = if version > 3 { c.byte()? } else { 0 };
    let rank = c.byte()?;
    let [count] = *shape else {
        return Err(Hdf5Error::Unsupported(format!(
            "an array in chunks of {} dimensions",
            shape.len()
        )));
    };
    if rank != 2 {
        return Err(c.fail(format!("chunks of {rank} dimensions less one for an array of one")));
    }
    let tree = if version > 3 { 0 } else { c.address()? };
    let digits = if version > 3 { usize::from(c.byte()?) } else { 4 };
    let (per_chunk, size) = (c.uint(digits)?, c.uint(digits)?);
    if size != element.size || per_chunk == 0 {
        return Err(c.fail(format!("chunks of {per_chunk} elements of {size} bytes")));
    }
    let Some(chunk_bytes) = per_chunk.checked_mul(size) else {
        return Err(c.fail(format!("chunks of {per_chunk} elements")));
    };
    source.spend(c.here(), chunk_bytes)?;
    let chunks = if version > 3 {
        indexed(source, &mut c, flags, count.div_ceil(per_chunk), per_chunk, chunk_bytes)?
    } else if source.is_nowhere(tree) {
        Vec::new()
    } else {
        let mut chunks = Vec::new();
        // No more chunks than the array has room for: the tree may name one twice.
        below(source, tree, count.div_ceil(per_chunk), LEVELS, &mut chunks)?;
        chunks
    };
    if (chunks.len() as u64) < count.div_ceil(per_chunk) {
        return Err(Hdf5Error::Unsupported("an array that was written in part".into()));
    }
    let mut bytes = vec![0; length as usize];
    for chunk in chunks {
        let start = chunk.first.checked_mul(size).filter(|s| *s < length);
        let Some(start) = start.filter(|_| chunk.first.is_multiple_of(per_chunk)) else {
            return Err(source.damaged(chunk.address, "a chunk outside of its array"));
        };
        let raw = source.bytes(chunk.address, chunk.size)?;
        let plain = unpacked(source, raw, &chunk, &filters, chunk_bytes, size)?;
        let end = length.min(start + chunk_bytes);
        bytes[start as usize..end as usize].copy_from_slice(&plain[..(end - start) as usize]);
    }
    Ok(bytes)
}

/// Chunks below a node of the older tree.
fn below(
    source: &Source<'_>,
    at: u64,
    most: u64,
    levels: u8,
    chunks: &mut Vec<Chunk>,
) -> Result<(), Hdf5Error> {
    source.step(at)?;
    let mut c = source.at(at)?;
    c.expect(b"TREE", "tree of chunks")?;
    let (kind, level, count) = (c.byte()?, c.byte()?, c.count()?);
    if kind != 1 || level >= levels {
        return Err(c.fail("a tree of chunks that is none"));
    }
    c.address()?;
    c.address()?;
    for _ in 0..count {
        let (size, spared) = (c.uint(4)?, c.uint(4)? as u32);
        let first = c.uint(8)?;
        c.take(8)?;
        let address = c.address()?;
        if level > 0 {
            below(source, address, most, level, chunks)?;
        } else {
            chunks.push(Chunk { first, address, size, spared });
        }
        if chunks.len() as u64 > most {
            return Err(c.fail(format!("more than {most} chunks")));
        }
    }
    Ok(())
}

/// Chunks by the newer ways of finding them.
fn indexed(
    source: &Source<'_>,
    c: &mut Cursor<'_>,
    flags: u8,
    count: u64,
    per_chunk: u64,
    chunk_bytes: u64,
) -> Result<Vec<Chunk>, Hdf5Error> {
    let plain = |k: u64, address: u64| Chunk {
        first: k.saturating_mul(per_chunk),
        address,
        size: chunk_bytes,
        spared: 0,
    };
    match c.byte()? {
        1 => {
            let packed = flags & 2 != 0;
            let (size, spared) =
                if packed { (c.length()?, c.uint(4)? as u32) } else { (chunk_bytes, 0) };
            let address = c.address()?;
            Ok(vec![Chunk { size, spared, ..plain(0, address) }])
        }
        2 => {
            let address = c.address()?;
            // Chunk after chunk: they must all be there before any is counted.
            let total = count.saturating_mul(chunk_bytes);
            source.bytes(address, total)?;
            Ok((0..count).map(|k| plain(k, address + k * chunk_bytes)).collect())
        }
        3 => {
            c.take(1)?;
            let address = c.address()?;
            fixed(source, address, count, plain)
        }
        _ => Err(Hdf5Error::Unsupported("an array that can grow".into())),
    }
}

/// Chunks of a fixed array, in pages where there are many.
fn fixed(
    source: &Source<'_>,
    at: u64,
    count: u64,
    plain: impl Fn(u64, u64) -> Chunk,
) -> Result<Vec<Chunk>, Hdf5Error> {
    let mut c = source.at(at)?;
    c.expect(b"FAHD", "list of chunks")?;
    c.take(1)?;
    let (packed, width, page) = (c.byte()? == 1, usize::from(c.byte()?), c.byte()?);
    let (held, data) = (c.length()?, c.address()?);
    let passed = lookup3(c.passed());
    verify(&mut c, passed, "a list of chunks")?;
    if held != count {
        return Err(c.fail(format!("{held} chunks for an array of {count}")));
    }
    let per_page = 1u64.checked_shl(page.into()).unwrap_or(u64::MAX);
    let mut c = source.at(data)?;
    c.expect(b"FADB", "chunks of a list")?;
    c.take(2)?;
    c.address()?;
    let paged = count > per_page;
    if paged {
        // Which pages were written, first page in the highest bit, and a checksum.
        let pages = count.div_ceil(per_page);
        let written = c.take(usize::try_from(pages.div_ceil(8)).unwrap_or(usize::MAX))?;
        if (0..pages).any(|p| written[p as usize / 8] & (0x80 >> (p % 8)) == 0) {
            return Err(Hdf5Error::Unsupported("an array that was written in part".into()));
        }
        c.take(4)?;
    }
    let mut chunks = Vec::new();
    for k in 0..count {
        if paged && k > 0 && k % per_page == 0 {
            c.take(4)?; // the checksum of a page
        }
        let address = c.address()?;
        let mut chunk = plain(k, address);
        if packed {
            let Some(digits) = width.checked_sub(source.sizes.0 + 4) else {
                return Err(c.fail("entries of a list of chunks that are too short"));
            };
            chunk.size = c.uint(digits)?;
            chunk.spared = c.uint(4)? as u32;
        }
        chunks.push(chunk);
    }
    Ok(chunks)
}

/// The filters in the order of writing.
fn pipeline(c: &mut Cursor<'_>) -> Result<Vec<Filter>, Hdf5Error> {
    let (version, count) = (c.byte()?, c.byte()?);
    if !(1..=2).contains(&version) {
        return Err(Hdf5Error::Unsupported(format!("filters of version {version}")));
    }
    c.take(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let id = c.uint(2)?;
        let name = if version == 1 || id >= 256 { c.count()? } else { 0 };
        c.take(2)?;
        let numbers = c.count()?;
        c.take(if version == 1 { name.next_multiple_of(8) } else { name })?;
        c.take(4 * numbers + if version == 1 { 4 * (numbers % 2) } else { 0 })?;
        filters.push(match id {
            1 => Filter::Deflate,
            2 => Filter::Shuffle,
            3 => Filter::Fletcher,
            _ => return Err(Hdf5Error::Unsupported(format!("data packed by filter {id}"))),
        });
    }
    Ok(filters)
}

/// A chunk as it was before the filters, of `length` bytes.
fn unpacked(
    source: &Source<'_>,
    raw: &[u8],
    chunk: &Chunk,
    filters: &[Filter],
    length: u64,
    element: u64,
) -> Result<Vec<u8>, Hdf5Error> {
    let mut bytes = raw.to_vec();
    // Room for the checksum that may come out of deflate.
    let most = length as usize + 4;
    for (k, filter) in filters.iter().enumerate().rev() {
        if k < 32 && chunk.spared >> k & 1 == 1 {
            continue;
        }
        match filter {
            Filter::Deflate => {
                bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&bytes, most)
                    .map_err(|e| {
                        source.damaged(chunk.address, format!("a chunk does not unpack: {e}"))
                    })?;
            }
            Filter::Shuffle => bytes = unshuffled(&bytes, element as usize),
            Filter::Fletcher => bytes.truncate(bytes.len().saturating_sub(4)),
        }
    }
    if bytes.len() as u64 != length {
        let what = format!("a chunk of {} bytes instead of {length}", bytes.len());
        return Err(source.damaged(chunk.address, what));
    }
    Ok(bytes)
}

/// First bytes of all elements, second bytes, … put back together.
fn unshuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size.max(1);
    let mut out = vec![0; bytes.len()];
    for (k, byte) in bytes.iter().enumerate().take(count * size) {
        out[(k % count) * size + k / count] = *byte;
    }
    // What is no whole element stays where it is.
    out[count * size..].copy_from_slice(&bytes[count * size..]);
    out
}
