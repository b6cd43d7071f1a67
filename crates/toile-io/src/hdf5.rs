//! HDF5 files as far as tables of numbers need them: a tree of groups, arrays and attributes.
//!
//! Read from memory: superblocks 0 to 3; groups with symbol tables, link messages or a small heap of links; arrays of
//! integers and reals or a text, stored whole, inside their header or in chunks of one dimension (deflated, shuffled, with
//! checksums). Anything else is named and left unread ([`Node::Unread`]), so that a file is refused only for what is needed of it.
//! Written: superblock 2 and whole arrays, which libraries since 2008 read.
//!
//! Every address is compared with the bytes present; depth, objects and decoded bytes are limited, so damaged files are
//! refused in time. Reference: HDF5 File Format Specification, version 3.0.

mod checksum;
mod chunks;
mod header;
mod heap;
mod links;
mod numbers;
mod source;
mod write;

pub(crate) use write::hdf5_bytes;

use header::{object_header, superblock};
use source::Source;

/// The first eight bytes of every HDF5 file without a block of its user.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// What stands in the way of reading.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Hdf5Error {
    /// The bytes contradict the format.
    #[error("damaged at byte {at}: {what}")]
    Damaged { at: u64, what: String },
    /// The format allows it, this reader does not.
    #[error("{0} is not read here")]
    Unsupported(String),
}

/// A named thing of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Group(Group),
    Array(Array),
    /// What it is, for whoever needs it.
    Unread(String),
}

/// Members and attributes by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Group {
    pub(crate) members: Vec<(String, Node)>,
    pub(crate) attributes: Vec<(String, Array)>,
}

/// Numbers in row order; an empty shape is a single one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<u64>,
    pub(crate) values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Text(String),
}

impl Array {
    /// A vector of integers.
    pub(crate) fn integers(values: Vec<i64>) -> Node {
        let shape = vec![values.len() as u64];
        Node::Array(Array { shape, values: Values::Integers(values) })
    }

    /// A vector of reals.
    pub(crate) fn reals(values: Vec<f64>) -> Node {
        let shape = vec![values.len() as u64];
        Node::Array(Array { shape, values: Values::Reals(values) })
    }

    /// Words.
    pub(crate) fn text(words: &str) -> Node {
        Node::Array(Array { shape: Vec::new(), values: Values::Text(words.into()) })
    }
}

impl Group {
    /// The member at a path of names parted by `/`.
    pub(crate) fn find(&self, path: &str) -> Option<&Node> {
        let (first, rest) = path.split_once('/').map_or((path, None), |(f, r)| (f, Some(r)));
        let node = self.members.iter().find(|(name, _)| name == first).map(|(_, node)| node)?;
        match (rest, node) {
            (None, node) => Some(node),
            (Some(rest), Node::Group(group)) => group.find(rest),
            _ => None,
        }
    }

    /// Paths of what was not read, with the reasons.
    pub(crate) fn unread(&self, at: &str, found: &mut Vec<String>) {
        for (name, node) in &self.members {
            match node {
                Node::Group(group) => group.unread(&format!("{at}{name}/"), found),
                Node::Unread(what) => found.push(format!("{at}{name} ({what})")),
                Node::Array(_) => {}
            }
        }
    }

    /// Puts a member in, in the place of another of that name.
    pub(crate) fn put(&mut self, name: &str, node: Node) {
        match self.members.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = node,
            None => self.members.push((name.into(), node)),
        }
    }
}

/// Groups inside groups at most.
const DEPTH: usize = 12;

/// Reads a whole file from memory.
pub(crate) fn parse_hdf5(bytes: &[u8]) -> Result<Group, Hdf5Error> {
    let (source, root) = superblock(bytes)?;
    match node(&source, root, 0)? {
        Node::Group(group) => Ok(group),
        Node::Unread(what) => Err(Hdf5Error::Unsupported(what)),
        Node::Array(_) => Err(source.damaged(root, "the first object is no group")),
    }
}

/// The object whose header is at an address.
fn node(source: &Source<'_>, address: u64, depth: usize) -> Result<Node, Hdf5Error> {
    source.step(address)?;
    if depth > DEPTH {
        return Err(source.damaged(address, "groups lie too deep inside each other"));
    }
    let header = object_header(source, address)?;
    if !header.is_group() {
        return Ok(match numbers::array(source, &header) {
            Ok(array) => Node::Array(array),
            Err(Hdf5Error::Unsupported(what)) => Node::Unread(what),
            Err(damaged) => return Err(damaged),
        });
    }
    let mut group = Group::default();
    let links = match links::links(source, &header) {
        Err(Hdf5Error::Unsupported(what)) => return Ok(Node::Unread(what)),
        other => other?,
    };
    for (name, link) in links {
        let member = match link {
            links::Link::To(address) => node(source, address, depth + 1)?,
            links::Link::Elsewhere => Node::Unread("a link by name".into()),
        };
        group.members.push((name, member));
    }
    for message in header.of(header::ATTRIBUTE) {
        match numbers::attribute(source, message) {
            Ok(attribute) => group.attributes.push(attribute),
            Err(Hdf5Error::Unsupported(_)) => {}
            Err(damaged) => return Err(damaged),
        }
    }
    Ok(Node::Group(group))
}
