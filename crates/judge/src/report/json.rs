//! JSON form of reports: one object per history, one history per line.

use super::{Counts, Document};
use isoscope_model::history::is_hidden;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::io;

/// Writes one document as one line, newline included.
pub fn to_line(document: &Document, out: &mut dyn io::Write) -> io::Result<()> {
    write_line(document, out)
}

/// Writes a value as one line of JSON, newline included. Characters that would act on a terminal are escaped by number,
/// which JSON parsers read as the character itself.
pub fn write_line(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    value
        .serialize(&mut serde_json::Serializer::with_formatter(&mut *out, Seen))
        .map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Compact JSON in which every character is visible.
struct Seen;

impl serde_json::ser::Formatter for Seen {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut from = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| is_hidden(*c)) {
            out.write_all(&fragment.as_bytes()[from..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            from = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[from..])
    }
}

impl std::str::FromStr for Document {
    type Err = String;

    /// Reads one document. The error says what was expected, with line and column.
    fn from_str(text: &str) -> Result<Document, String> {
        // An untagged enum loses the place of an error, so the kind is decided first.
        let value: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        match value.get("schema").and_then(|schema| schema.as_str()) {
            Some(super::SCHEMA) => {}
            Some(other) => return Err(format!("schema `{other}`, expected `{}`", super::SCHEMA)),
            None => return Err(format!("no `schema`, expected `{}`", super::SCHEMA)),
        }
        if value.get("error").is_some() {
            return serde_json::from_value(value)
                .map(Document::Failure)
                .map_err(|e| e.to_string());
        }
        if value
            .get("history")
            .is_some_and(|history| history.get("format").is_none())
            && value.get("part").is_some()
        {
            return serde_json::from_value(value)
                .map(Document::Elsewhere)
                .map_err(|e| e.to_string());
        }
        serde_json::from_str(text)
            .map(|report| Document::Report(Box::new(report)))
            .map_err(|e| e.to_string())
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (pattern, count) in &self.0 {
            map.serialize_entry(pattern, count)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Counts, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Counts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of counts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counts, A::Error> {
                let mut counts = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    counts.push(entry);
                }
                Ok(Counts(counts))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}
