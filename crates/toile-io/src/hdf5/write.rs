//! A tree of groups and arrays as the bytes of a file.

use super::checksum::lookup3;
use super::header::{
    ATTRIBUTE, DATASPACE, DATATYPE, FILL_VALUE, GROUP_INFO, LAYOUT, LINK, LINK_INFO,
};
use super::{Array, Group, Node, SIGNATURE, Values};

const NOWHERE: [u8; 8] = [0xff; 8];
const SUPERBLOCK: usize = 48;

/// The whole file: superblock 2, addresses and lengths of eight bytes. What was not read is left out.
pub(crate) fn hdf5_bytes(root: &Group) -> Vec<u8> {
    let mut out = vec![0; SUPERBLOCK];
    let root = group(&mut out, root);
    let mut block = SIGNATURE.to_vec();
    block.extend([2, 8, 8, 0]);
    block.extend([0; 8]);
    block.extend(NOWHERE);
    block.extend((out.len() as u64).to_le_bytes());
    block.extend(root.to_le_bytes());
    block.extend(lookup3(&block).to_le_bytes());
    out[..SUPERBLOCK].copy_from_slice(&block);
    out
}

/// Appends a group after its members; gives the address of its header.
fn group(out: &mut Vec<u8>, group: &Group) -> u64 {
    let mut messages = Vec::new();
    let mut info = vec![0, 0];
    info.extend(NOWHERE);
    info.extend(NOWHERE);
    messages.push((LINK_INFO, info));
    messages.push((GROUP_INFO, vec![0, 0]));
    for (name, node) in &group.members {
        let address = match node {
            Node::Group(inner) => self::group(out, inner),
            Node::Array(array) => self::array(out, array),
            Node::Unread(_) => continue,
        };
        // Two bytes for the length of the name, UTF-8.
        let mut link = vec![1, 0x11, 1];
        link.extend((name.len() as u16).to_le_bytes());
        link.extend(name.as_bytes());
        link.extend(address.to_le_bytes());
        messages.push((LINK, link));
    }
    for (name, value) in &group.attributes {
        messages.push((ATTRIBUTE, attribute(name, value)));
    }
    // Nothing longer has a place in a header; FCLib has no such names and attributes.
    messages.retain(|(_, message)| u16::try_from(message.len()).is_ok());
    header(out, &messages)
}

fn array(out: &mut Vec<u8>, array: &Array) -> u64 {
    let data = data(&array.values);
    align(out);
    let address = (out.len() as u64).to_le_bytes();
    out.extend(&data);
    let mut layout = vec![3, 1];
    layout.extend(if data.is_empty() { NOWHERE } else { address });
    layout.extend((data.len() as u64).to_le_bytes());
    let messages = [
        (DATASPACE, shape(array)),
        (DATATYPE, datatype(&array.values)),
        (FILL_VALUE, vec![3, 0x0a]),
        (LAYOUT, layout),
    ];
    header(out, &messages)
}

fn attribute(name: &str, value: &Array) -> Vec<u8> {
    let (kind, space) = (datatype(&value.values), shape(value));
    let mut out = vec![3, 0];
    for size in [name.len() + 1, kind.len(), space.len()] {
        out.extend((size as u16).to_le_bytes());
    }
    out.push(1);
    out.extend(name.as_bytes());
    out.push(0);
    out.extend(kind);
    out.extend(space);
    out.extend(data(&value.values));
    out
}

/// Appends an object header of messages.
fn header(out: &mut Vec<u8>, messages: &[(u16, Vec<u8>)]) -> u64 {
    align(out);
    let address = out.len();
    let size: usize = messages.iter().map(|(_, m)| 4 + m.len()).sum();
    out.extend(b"OHDR");
    out.extend([2, 2]);
    out.extend((size as u32).to_le_bytes());
    for (kind, message) in messages {
        out.push(*kind as u8);
        out.extend((message.len() as u16).to_le_bytes());
        out.push(u8::from(*kind == DATATYPE));
        out.extend(message);
    }
    let sum = lookup3(&out[address..]);
    out.extend(sum.to_le_bytes());
    address as u64
}

fn align(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

fn shape(array: &Array) -> Vec<u8> {
    let mut out = vec![2, array.shape.len() as u8, 0, u8::from(!array.shape.is_empty())];
    out.extend(array.shape.iter().flat_map(|d| d.to_le_bytes()));
    out
}

/// Integers are four bytes wide where that is enough, as other programs expect them.
fn is_narrow(values: &[i64]) -> bool {
    values.iter().all(|v| i32::try_from(*v).is_ok())
}

fn datatype(values: &Values) -> Vec<u8> {
    let (head, size, rest): ([u8; 4], u32, Vec<u8>) = match values {
        Values::Integers(v) => {
            let size = if is_narrow(v) { 4 } else { 8 };
            ([0x10, 0x08, 0, 0], size, vec![0, 0, 8 * size as u8, 0])
        }
        // Sign at bit 63, exponent of 11 bits at 52, mantissa of 52 with its first bit implied.
        Values::Reals(_) => {
            ([0x11, 0x20, 0x3f, 0], 8, vec![0, 0, 64, 0, 52, 11, 0, 52, 0xff, 0x03, 0, 0])
        }
        // Ended by a zero, UTF-8.
        Values::Text(words) => ([0x13, 0x10, 0, 0], words.len() as u32 + 1, Vec::new()),
    };
    let mut out = head.to_vec();
    out.extend(size.to_le_bytes());
    out.extend(rest);
    out
}

fn data(values: &Values) -> Vec<u8> {
    match values {
        Values::Integers(v) if is_narrow(v) => {
            v.iter().flat_map(|n| (*n as i32).to_le_bytes()).collect()
        }
        Values::Integers(v) => v.iter().flat_map(|n| n.to_le_bytes()).collect(),
        Values::Reals(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::Text(words) => words.bytes().chain([0]).collect(),
    }
}
