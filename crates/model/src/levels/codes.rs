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

/// Compares with the text by which it is known in data.
macro_rules! compares_by {
    ($($name:ident by $text:ident),*) => {
        $(impl PartialEq<str> for $name {
            fn eq(&self, text: &str) -> bool {
                self.$text() == text
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, text: &&str) -> bool {
                self == *text
            }
        })*
    };
}

compares_by!(Level by code, Pattern by id);
