//! Values that are no collections.

use crate::operations::Tree;
use std::borrow::Cow;

/// A text with its quotes.
pub(super) fn text(string: &str) -> Tree<'static> {
    Tree::Name(Cow::Owned(serde_json::Value::from(string).to_string()))
}

pub(super) fn integer(number: i64) -> Tree<'static> {
    match u64::try_from(number) {
        Ok(number) => Tree::Number(number),
        Err(_) => Tree::Name(Cow::Owned(number.to_string())),
    }
}

/// A number as Clojure prints it.
pub(super) fn float(number: f64) -> Tree<'static> {
    let is_plain = number == 0.0 || (1e-3..1e7).contains(&number.abs());
    Tree::Name(Cow::Owned(match number {
        _ if number.is_nan() => "##NaN".to_owned(),
        f64::INFINITY => "##Inf".to_owned(),
        f64::NEG_INFINITY => "##-Inf".to_owned(),
        _ if is_plain => format!("{number:?}"),
        _ => match format!("{number:E}") {
            text if text.contains('.') => text,
            text => text.replacen('E', ".0E", 1),
        },
    }))
}

/// Bytes in hexadecimal.
pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The identifier that these 16 bytes are.
pub(super) fn uuid(bytes: &[u8]) -> Tree<'static> {
    let mut name = digits(bytes);
    if bytes.len() == 16 {
        [20, 16, 12, 8]
            .into_iter()
            .for_each(|at| name.insert(at, '-'));
    }
    text(&name)
}

/// An integer of any size, the highest byte first. More than 128 bits are shown as they are.
pub(super) fn big(bytes: &[u8]) -> Tree<'static> {
    if bytes.len() > 16 {
        return Tree::Name(Cow::Owned(format!("0x{}", digits(bytes))));
    }
    let sign = bytes.first().map_or(0, |byte| i128::from(*byte as i8 >> 7));
    let add = |number, &byte: &u8| number << 8 | i128::from(byte);
    let number = bytes.iter().fold(sign, add);
    let small = u64::try_from(number).map(Tree::Number);
    small.unwrap_or_else(|_| Tree::Name(Cow::Owned(number.to_string())))
}

/// Text in units of UTF-16, each of one to three bytes; nothing if the last one is cut off.
pub(super) fn in_utf16(bytes: &[u8]) -> Option<String> {
    if bytes.is_ascii() {
        return Some(String::from_utf8_lossy(bytes).into_owned());
    }
    let (mut units, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    let low = |byte: &u8| u16::from(byte & 0x3F);
    while !rest.is_empty() {
        let (unit, left) = match rest {
            [one @ 0..=0x7F, left @ ..] => (u16::from(*one), left),
            [one @ 0x80..=0xDF, two, left @ ..] => (u16::from(one & 0x1F) << 6 | low(two), left),
            [one, two, three, left @ ..] => {
                let high = u16::from(one & 0x0F) << 12;
                (high | low(two) << 6 | low(three), left)
            }
            _ => return None,
        };
        units.push(unit);
        rest = left;
    }
    let mut text = String::with_capacity(bytes.len());
    for character in char::decode_utf16(units) {
        match character {
            Ok(character) => text.push(character),
            // Half of a character is kept, so that texts stay different.
            Err(half) => text += &format!("\\u{:x}", half.unpaired_surrogate()),
        }
    }
    Some(text)
}
