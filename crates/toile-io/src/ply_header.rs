//! The header of a PLY file: elements and their properties.

use crate::error::{MeshError, Place, excerpt};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn parse(word: &str) -> Option<Kind> {
        Some(match word {
            "char" | "int8" => Kind::I8,
            "uchar" | "uint8" => Kind::U8,
            "short" | "int16" => Kind::I16,
            "ushort" | "uint16" => Kind::U16,
            "int" | "int32" => Kind::I32,
            "uint" | "uint32" => Kind::U32,
            "float" | "float32" => Kind::F32,
            "double" | "float64" => Kind::F64,
            _ => return None,
        })
    }

    pub(crate) fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Encoding {
    Ascii,
    Little,
    Big,
}

pub(crate) struct Property {
    pub(crate) name: String,
    /// Type of the length, for lists.
    pub(crate) list: Option<Kind>,
    pub(crate) kind: Kind,
}

pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) properties: Vec<Property>,
    pub(crate) line: usize,
}

pub(crate) struct Header {
    pub(crate) encoding: Encoding,
    pub(crate) elements: Vec<Element>,
    /// Bytes and lines of the header.
    pub(crate) length: usize,
    pub(crate) lines: usize,
}

/// Elements and properties of a header; real files have a handful.
const MOST_PARTS: usize = 1024;

pub(crate) fn header(bytes: &[u8]) -> Result<Header, MeshError> {
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    let mut parts = 0;
    let (mut at, mut line) = (0, 0);
    loop {
        line += 1;
        let fail =
            |what: String, remedy: &str| Err(MeshError::invalid(Place::Line(line), what, remedy));
        // Old exporters end header lines with a carriage return alone; binary data may follow at once.
        let Some(end) = bytes[at..].iter().position(|&c| c == b'\n' || c == b'\r') else {
            return fail(
                "the header has no `end_header`".into(),
                "the file is cut short or not a PLY; export it again",
            );
        };
        let text = &bytes[at..at + end];
        at += end + 1;
        if bytes[at - 1] == b'\r' && bytes.get(at) == Some(&b'\n') {
            at += 1;
        }
        let Ok(text) = std::str::from_utf8(text) else {
            return fail(
                format!("`{}` is not text", excerpt(text)),
                "the header is damaged; export the file again",
            );
        };
        let words: Vec<&str> = text.split_ascii_whitespace().take(6).collect();
        if line == 1 && words != ["ply"] {
            return fail("the file does not begin with `ply`".into(), "it is not a PLY");
        }
        match words[..] {
            [] | ["ply"] => {}
            ["comment" | "obj_info", ..] => {}
            ["format", name, _version] => {
                encoding = Some(match name {
                    "ascii" => Encoding::Ascii,
                    "binary_little_endian" => Encoding::Little,
                    "binary_big_endian" => Encoding::Big,
                    _ => {
                        return fail(
                            format!("unknown format `{}`", excerpt(name.as_bytes())),
                            "known are ascii, binary_little_endian and binary_big_endian",
                        );
                    }
                });
            }
            ["element", name, count] => {
                let Ok(count) = count.parse() else {
                    return fail(
                        format!("`{}` is not a number of elements", excerpt(count.as_bytes())),
                        "the header is damaged; export the file again",
                    );
                };
                elements.push(Element { name: name.into(), count, properties: Vec::new(), line });
                parts += 1;
            }
            ["property", ref rest @ ..] => {
                let property = match *rest {
                    ["list", length, kind, name] => Kind::parse(length)
                        .filter(|k| !matches!(k, Kind::F32 | Kind::F64))
                        .zip(Kind::parse(kind))
                        .map(|(length, kind)| (Some(length), kind, name)),
                    [kind, name] => Kind::parse(kind).map(|kind| (None, kind, name)),
                    _ => None,
                };
                let (Some((list, kind, name)), Some(element)) = (property, elements.last_mut())
                else {
                    return fail(
                        format!("`{}` is not a property", excerpt(text.as_bytes())),
                        "properties are `property float x` or `property list uchar int name`, \
                         after an element",
                    );
                };
                if element.properties.iter().any(|p| p.name == name) {
                    return fail(
                        format!("property `{}` comes twice", excerpt(name.as_bytes())),
                        "the header is damaged; export the file again",
                    );
                }
                element.properties.push(Property { name: name.into(), list, kind });
                parts += 1;
            }
            ["end_header"] => {
                let Some(encoding) = encoding else {
                    return fail(
                        "the header has no `format` line".into(),
                        "add `format ascii 1.0` or what the data is",
                    );
                };
                return Ok(Header { encoding, elements, length: at, lines: line });
            }
            _ => {
                return fail(
                    format!("`{}` is not a header line", excerpt(text.as_bytes())),
                    "the header is damaged; export the file again",
                );
            }
        }
        if parts > MOST_PARTS {
            return fail(
                format!("more than {MOST_PARTS} elements and properties"),
                "the header is damaged; export the file again",
            );
        }
    }
}
