//! Addresses of databases and the passwords in them, which are kept separately and never shown.

use crate::collect::without_password;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A text that is not shown, kept only while the window is open.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text`.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text, for code that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// An address as typed: the part that may be shown, and all of it if there is more. It is kept without its password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Address {
    shown: String,
    whole: Option<Secret>,
}

impl Address {
    /// As the user types it.
    pub fn typed(text: impl Into<String>) -> Address {
        Address {
            shown: text.into(),
            whole: None,
        }
    }

    /// The text shown in the field.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Hides the password, if one was typed.
    pub fn hide(&mut self) {
        let shown = without_password(&self.shown);
        if shown != self.shown {
            self.whole = Some(Secret(std::mem::replace(&mut self.shown, shown)));
        }
    }

    /// Whether a password was typed into it and is hidden.
    pub fn hides(&self) -> bool {
        self.whole.is_some()
    }

    /// The whole address, with `password` filled in if none was typed.
    pub fn with(&self, password: &Secret) -> String {
        match &self.whole {
            Some(whole) => whole.0.clone(),
            None if password.is_empty() => self.shown.clone(),
            None => with_password(&self.shown, &password.0),
        }
    }
}

impl From<String> for Address {
    fn from(text: String) -> Address {
        Address::typed(text)
    }
}

impl From<Address> for String {
    /// Without the password.
    fn from(address: Address) -> String {
        without_password(&address.shown)
    }
}

/// An address with a password where its kind has one.
fn with_password(address: &str, password: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        // Settings like those of libpq, whose values are quoted like this.
        let quoted = password.replace('\\', "\\\\").replace('\'', "\\'");
        return format!("{address} password='{quoted}'");
    };
    let password = encoded(password);
    match rest.rsplit_once('@') {
        Some((user, host)) => format!("{scheme}://{user}:{password}@{host}"),
        None => format!("{scheme}://:{password}@{rest}"),
    }
}

/// A text as encoded in addresses: all but letters, digits and four marks as bytes (RFC 3986, section 2).
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_and_still_used() {
        let none = Secret::default();
        for (typed, shown) in [
            ("postgres://me:secret@h:5432/d", "postgres://me@h:5432/d"),
            ("redis://:secret@h", "redis://@h"),
            (
                "postgres:host=h password=secret user=u",
                "postgres:host=h password=… user=u",
            ),
            (
                "postgres://h/d?user=u&password=secret",
                "postgres://h/d?user=u&password=…",
            ),
        ] {
            let mut address = Address::typed(typed);
            address.hide();
            assert_eq!(address.shown(), shown);
            assert!(address.hides() && !format!("{address:?}").contains("secret"));
            assert_eq!(address.with(&none), typed);
        }
        let mut plain = Address::typed("sqlite:file.db");
        plain.hide();
        assert!(!plain.hides());
        assert_eq!(plain.with(&none), "sqlite:file.db");
    }

    #[test]
    fn a_password_typed_apart_is_put_in() {
        let with = |address: &str| Address::typed(address).with(&Secret::new("a/b@c'"));
        assert_eq!(
            with("mysql://me@h:3306/d"),
            "mysql://me:a%2Fb%40c%27@h:3306/d"
        );
        assert_eq!(with("redis://h:6379"), "redis://:a%2Fb%40c%27@h:6379");
        assert_eq!(
            with("postgres:host=h user=u"),
            "postgres:host=h user=u password='a/b@c\\''"
        );
        assert_eq!(without_password(&with("mysql://me@h/d")), "mysql://me@h/d");
        assert_eq!(
            without_password(&with("postgres:host=h user=u")),
            "postgres:host=h user=u password=…"
        );
    }
}
