//! Writes files as Jepsen does.

use crate::elle::{Scanner, content_of};
use crate::operations::Tree;

/// A value in EDN. The map `{:block 3}` becomes a reference to that block.
pub(crate) fn edn(text: &str) -> Tree<'static> {
    let tree = Scanner::<false>::new("", text.as_bytes()).tree();
    tree.expect("EDN").into_owned()
}

/// The same operation with a pair of a key and a value as its value, as jepsen.independent has it.
pub(crate) fn keyed(operation: Tree<'static>) -> Tree<'static> {
    let Tree::Map(mut fields) = operation else {
        panic!("no map")
    };
    for (name, value) in &mut fields {
        if let (Some("value"), Some([key, inside])) = (name.word(), value.elements()) {
            *value = Tree::Pair(Box::new((key.clone(), inside.clone())));
        }
    }
    Tree::Map(fields)
}

#[derive(Default)]
pub(crate) struct Encoder {
    pub(crate) bytes: Vec<u8>,
    cache: Vec<Tree<'static>>,
    structs: Vec<&'static str>,
}

impl Encoder {
    pub(crate) fn number(&mut self, number: i64) {
        if (-1..64).contains(&number) {
            return self.bytes.push(number as u8);
        }
        let forms = [
            (0x50, 4),
            (0x68, 3),
            (0x72, 1),
            (0x76, 1),
            (0x7A, 1),
            (0x7E, 1),
        ];
        for (n, (zero, bits)) in (1..).zip(forms) {
            let high = number >> (8 * n);
            if (-(1 << bits)..1 << bits).contains(&high) {
                self.bytes.push((zero + high) as u8);
                return self.bytes.extend(&number.to_be_bytes()[8 - n..]);
            }
        }
        self.bytes.push(0xF8);
        self.bytes.extend(number.to_be_bytes());
    }

    pub(crate) fn string(&mut self, text: &str) {
        let mut bytes = Vec::new();
        for unit in text.encode_utf16() {
            match unit {
                0..=0x7F => bytes.push(unit as u8),
                0x80..=0x7FF => {
                    bytes.extend([0xC0 | (unit >> 6) as u8, 0x80 | (unit & 0x3F) as u8])
                }
                _ => bytes.extend([
                    0xE0 | (unit >> 12) as u8,
                    0x80 | (unit >> 6 & 0x3F) as u8,
                    0x80 | (unit & 0x3F) as u8,
                ]),
            }
        }
        let parts: Vec<&[u8]> = bytes.chunks(65_535).collect();
        for (n, part) in parts.iter().enumerate() {
            match part.len() {
                short @ 0..8 => self.bytes.push(0xDA + short as u8),
                long => {
                    self.bytes
                        .push(if n + 1 < parts.len() { 0xE2 } else { 0xE3 });
                    self.number(long as i64);
                }
            }
            self.bytes.extend(*part);
        }
        if parts.is_empty() {
            self.bytes.push(0xDA);
        }
    }

    pub(crate) fn tag(&mut self, tag: &'static str, n: u8) {
        match self.structs.iter().position(|known| *known == tag) {
            Some(place @ 0..16) => self.bytes.push(0xA0 + place as u8),
            Some(place) => {
                self.bytes.push(0xF0);
                self.number(place as i64);
            }
            None => {
                self.bytes.push(0xEF);
                self.string(tag);
                self.bytes.push(n);
                self.structs.push(tag);
            }
        }
    }

    /// A value that goes into the cache.
    fn cached(&mut self, tree: &Tree<'_>) {
        match self.cache.iter().position(|known| known == tree) {
            _ if *tree == Tree::Nil => self.bytes.push(0xF7),
            Some(place @ 0..32) => self.bytes.push(0x80 + place as u8),
            Some(place) => {
                self.bytes.push(0xCC);
                self.number(place as i64);
            }
            None => {
                self.bytes.push(0xCD);
                self.cache.push(tree.clone().into_owned());
                self.value(tree);
            }
        }
    }

    fn list(&mut self, trees: &[Tree<'_>]) {
        match trees.len() {
            short @ 0..8 => self.bytes.push(0xE4 + short as u8),
            long => {
                self.bytes.push(0xEC);
                self.number(long as i64);
            }
        }
        trees.iter().for_each(|tree| self.value(tree));
    }

    pub(crate) fn value(&mut self, tree: &Tree<'_>) {
        match tree {
            Tree::Nil => self.bytes.push(0xF7),
            Tree::Number(number) => self.number(*number as i64),
            Tree::Name(name) => match (&**name, name.strip_prefix(':')) {
                (_, Some(keyword)) => {
                    self.bytes.push(0xCA);
                    self.bytes.push(0xF7);
                    self.cached(&Tree::Name(format!("\"{keyword}\"").into()));
                }
                ("true", _) => self.bytes.push(0xF5),
                ("false", _) => self.bytes.push(0xF6),
                (text, _) if text.starts_with('"') => self.string(&content_of(text)),
                (number, _) => match number.parse() {
                    Ok(number) => self.number(number),
                    Err(_) => {
                        self.bytes.push(0xFA);
                        let number: f64 = number.parse().expect("a number");
                        self.bytes.extend(number.to_be_bytes());
                    }
                },
            },
            Tree::List(trees) => {
                self.tag("vec", 1);
                self.list(trees);
            }
            Tree::Set(trees) => {
                self.tag("persistent-hash-set", 1);
                self.list(trees);
            }
            Tree::Map(fields) if fields.len() == 1 && fields[0].0.word() == Some("block") => {
                self.tag("block-ref", 1);
                self.value(&fields[0].1);
            }
            Tree::Map(fields) => {
                self.bytes.extend([0xC0, 0xED]);
                for (name, value) in fields {
                    self.cached(name);
                    self.value(value);
                }
                self.bytes.push(0xFD);
            }
            Tree::Pair(both) => {
                self.tag("map-entry", 2);
                self.value(&both.0);
                self.value(&both.1);
            }
        }
    }

    pub(crate) fn operation(&mut self, operation: &Tree<'_>) {
        self.tag("jepsen.history.Op", 7);
        let mut others = operation.fields().expect("a map").to_vec();
        for name in ["index", "time", "type", "process", "f", "value"] {
            let place = others
                .iter()
                .position(|(field, _)| field.word() == Some(name));
            let value = place.map_or(Tree::Nil, |place| others.remove(place).1);
            match name {
                "type" | "f" => self.cached(&value),
                _ => self.value(&value),
            }
        }
        match others.is_empty() {
            true => self.bytes.push(0xF7),
            false => self.value(&Tree::Map(others.into())),
        }
    }
}

/// A file that is written block by block.
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) places: Vec<(u32, u64)>,
}

impl File {
    pub(crate) fn new(version: u32) -> File {
        let mut bytes = b"JEPSEN".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend([0; 8]);
        File {
            bytes,
            places: Vec::new(),
        }
    }

    /// Appends a block; number 0 is none of the index.
    pub(crate) fn block(&mut self, id: u32, kind: u16, data: &[u8]) {
        let place = self.bytes.len();
        self.places.retain(|(known, _)| *known != id);
        self.places.push((id, place as u64));
        self.bytes.extend((data.len() as u64 + 28).to_be_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(kind.to_be_bytes());
        self.bytes.extend([0; 14]);
        self.bytes.extend(data);
        sign(&mut self.bytes[place..]);
    }

    pub(crate) fn map(&mut self, id: u32, rest: u32, fields: &str) {
        let mut encoder = Encoder::default();
        encoder.bytes.extend(rest.to_be_bytes());
        encoder.value(&edn(fields));
        self.block(id, 3, &encoder.bytes);
    }

    /// Appends the index.
    pub(crate) fn index(&mut self, root: u32) {
        let mut data = root.to_be_bytes().to_vec();
        for (id, place) in &self.places {
            data.extend(id.to_be_bytes());
            data.extend(place.to_be_bytes());
        }
        data.extend([0; 12]);
        let place = self.bytes.len() as u64;
        self.bytes[10..18].copy_from_slice(&place.to_be_bytes());
        self.block(0, 1, &data);
        self.places.retain(|(id, _)| *id != 0);
    }
}

/// Makes the checksum of a block right.
pub(crate) fn sign(block: &mut [u8]) {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&block[28..]);
    hasher.update(&block[..8]);
    hasher.update(&[0; 4]);
    hasher.update(&block[12..28]);
    block[8..12].copy_from_slice(&hasher.finalize().to_be_bytes());
}
