//! Levels and patterns in data: by the code and the id of their rows.

use super::{Level, Pattern};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Level, D::Error> {
        let code = String::deserialize(deserializer)?;
        Level::with_code(&code).ok_or_else(|| D::Error::custom(format!("unknown level `{code}`")))
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pattern, D::Error> {
        let id = String::deserialize(deserializer)?;
        let mut all = Pattern::all();
        all.find(|pattern| pattern.id() == id)
            .ok_or_else(|| D::Error::custom(format!("unknown pattern `{id}`")))
    }
}

/// Compares with its code.
impl PartialEq<str> for Level {
    fn eq(&self, code: &str) -> bool {
        self.code() == code
    }
}

/// Compares with its code.
impl PartialEq<&str> for Level {
    fn eq(&self, code: &&str) -> bool {
        self.code() == *code
    }
}

/// Compares with its id.
impl PartialEq<str> for Pattern {
    fn eq(&self, id: &str) -> bool {
        self.id() == id
    }
}

/// Compares with its id.
impl PartialEq<&str> for Pattern {
    fn eq(&self, id: &&str) -> bool {
        self.id() == *id
    }
}
