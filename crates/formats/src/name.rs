//! Names in files: what is a number, and how values are written.

use super::error::WriteError;
use isoscope_model::history::{
    Builder, History, KeyId, Label, OperationId, OperationKind, SessionId, TransactionId, Value,
};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// The number whose usual decimal form is `text`: `7`, but not `07`, `+7` or numbers above `limit`.
///
/// Formats that have both numbers and names read such a name as the number, so that no two keys look alike.
#[inline]
pub(super) fn number(text: &str, limit: u64) -> Option<u64> {
    let canonical =
        text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if !canonical {
        return None;
    }
    text.parse().ok().filter(|&number| number <= limit)
}

/// The signed 64-bit number whose usual form is `text`.
#[inline]
pub(super) fn signed(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = number(digits, u64::MAX).is_some() && text != "-0";
    text.parse().ok().filter(|_| canonical)
}

/// Whether this is the usual form of a signed 64-bit number.
#[inline]
pub(super) fn is_signed(text: &str) -> bool {
    signed(text).is_some()
}

/// Whether a string looks like a number, or like the quoted form of such a string, so that its name needs quotes.
fn takes_quotes(string: &str) -> bool {
    let is_number = |text: &str| number(text, u64::MAX).is_some() || is_signed(text);
    // Unquoted as often as there are quotes: without recursion, since files may hold anything.
    let mut inner = Cow::Borrowed(string);
    while let Some(unquoted) = unquoted(&inner) {
        inner = Cow::Owned(unquoted);
    }
    is_number(&inner)
}

/// The string whose quoted form, as in JSON, is `text`; none where it is no such text.
fn unquoted(text: &str) -> Option<String> {
    if !(text.len() > 1 && text.starts_with('"') && text.ends_with('"')) {
        return None;
    }
    let string: String = serde_json::from_str(text).ok()?;
    (in_quotes(&string) == text).then_some(string)
}

/// A string as JSON writes it.
fn in_quotes(string: &str) -> String {
    // Encoding a string does not fail.
    serde_json::Value::from(string).to_string()
}

/// The name for this string in a format that has both numbers and strings: the string itself, but in quotes where it
/// looks like a number, so that `5` and `"5"` are two names. No two strings share a name.
pub(super) fn of_string(string: &str) -> Cow<'_, str> {
    if takes_quotes(string) {
        Cow::Owned(in_quotes(string))
    } else {
        Cow::Borrowed(string)
    }
}

/// What this name denotes in such a format: the inverse of [`of_string`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Called<'a> {
    /// A number, in its usual form.
    Number,
    /// A string.
    String(Cow<'a, str>),
}

impl Called<'_> {
    /// What this name denotes.
    pub(super) fn by(name: &str) -> Called<'_> {
        if number(name, u64::MAX).is_some() || is_signed(name) {
            return Called::Number;
        }
        match unquoted(name).filter(|string| takes_quotes(string)) {
            Some(string) => Called::String(Cow::Owned(string)),
            None => Called::String(Cow::Borrowed(name)),
        }
    }
}

/// The key called `text`.
pub(super) fn key(builder: &mut Builder, text: &str) -> KeyId {
    match number(text, u64::MAX) {
        Some(number) => builder.key_number(number),
        None => builder.key_name(text),
    }
}

/// The session called `text`.
pub(super) fn session(builder: &mut Builder, text: &str) -> SessionId {
    match number(text, u64::MAX) {
        Some(number) => builder.session_number(number),
        None => builder.session_name(text),
    }
}

/// The value called `text`.
pub(super) fn value(builder: &mut Builder, text: &str) -> Value {
    match number(text, Value::MAX_NUMBER) {
        Some(number) => builder.value_number(number),
        None => builder.value_name(text),
    }
}

/// The values with these names, in this order. A name that is no number may change what numbers represent, so values
/// must not be kept while others are looked up; this function ensures that.
pub(super) fn values(builder: &mut Builder, texts: &[impl AsRef<str>]) -> Vec<Value> {
    if let Some(text) = texts
        .iter()
        .find(|text| number(text.as_ref(), Value::MAX_NUMBER).is_none())
    {
        value(builder, text.as_ref());
    }
    texts
        .iter()
        .map(|text| value(builder, text.as_ref()))
        .collect()
}

/// The name of a value that is neither [`Value::INITIAL`] nor [`Value::UNRECORDED`].
pub(super) fn of_value(history: &History, value: Value) -> Cow<'_, str> {
    match history.value_names() {
        Some(names) => names.text(value.0 as usize),
        None => Cow::Owned(value.0.to_string()),
    }
}

/// The number that a value represents, if it is one.
pub(super) fn number_of_value(history: &History, value: Value) -> Option<u64> {
    match history.value_names() {
        Some(names) => number(&names.text(value.0 as usize), Value::MAX_NUMBER),
        None => Some(value.0),
    }
}

/// The numbers that transactions have themselves, 7 or the 7 of `T7`, by transaction; 0 for those that need none. None
/// unless every other one has its own, and one that is possible.
pub(super) fn own_numbers(
    history: &History,
    needs_one: impl Fn(TransactionId) -> bool,
    is_possible: impl Fn(i64) -> bool,
) -> Option<Vec<i64>> {
    let own = |t: TransactionId| match history.transaction_label(t)? {
        Label::Number(number) => i64::try_from(number).ok(),
        Label::Name(label) => signed(label.strip_prefix('T')?),
    };
    let mut seen = FxHashSet::default();
    let number = |t: TransactionId| {
        if needs_one(t) {
            own(t).filter(|&number| is_possible(number) && seen.insert(number))
        } else {
            Some(0)
        }
    };
    history.transactions().map(number).collect()
}

/// An error if some write or element of a list has no value: no format can express that.
pub(super) fn refuse_writes_of_nothing(
    history: &History,
    format: &'static str,
) -> Result<(), WriteError> {
    let nothing = |(&kind, &value): (&OperationKind, &Value)| {
        kind == OperationKind::Write && !value.is_known() && value != Value::ABSENT
    };
    if let Some(o) = history
        .kinds()
        .iter()
        .zip(history.values())
        .position(nothing)
    {
        let text = history.operation_text(OperationId::new(o));
        return Err(WriteError::CannotSay {
            format,
            what: format!("the write {text}, which has no value"),
        });
    }
    let has_hole =
        |elements: &[Value]| elements.iter().any(|element| element.0 > Value::MAX_NUMBER);
    if let Some((read, _)) = history
        .lists()
        .iter()
        .find(|(_, elements)| has_hole(elements))
    {
        let what = format!(
            "the read {}, with an element that has no value",
            history.operation_text(read)
        );
        return Err(WriteError::CannotSay { format, what });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_behind_numbers_makes_all_of_them_names() {
        let mut builder = Builder::default();
        let found = values(&mut builder, &["7", "x", "7", "0"]);
        assert_eq!(found[0], found[2]);
        assert_eq!(value(&mut builder, "7"), found[0]);
        assert_eq!(value(&mut builder, "0"), found[3]);
        assert_eq!(
            values(&mut Builder::default(), &["7", "0"]),
            [Value(7), Value(0)]
        );
    }

    #[test]
    fn strings_and_numbers_have_different_names() {
        let strings = [
            "5",
            "-5",
            "x",
            "\"5\"",
            "\"x\"",
            "\"\\\"5\\\"\"",
            "05",
            "",
            "\"",
            "\"5",
            "18446744073709551615",
        ];
        let mut names: Vec<String> = strings
            .iter()
            .map(|string| of_string(string).into_owned())
            .collect();
        for (name, string) in names.iter().zip(strings) {
            assert_eq!(Called::by(name), Called::String(string.into()), "{name}");
        }
        assert_eq!(
            names[..5],
            ["\"5\"", "\"-5\"", "x", "\"\\\"5\\\"\"", "\"x\""]
        );
        for number in ["5", "-5", "0", "18446744073709551615"] {
            assert_eq!(Called::by(number), Called::Number);
            names.push(number.to_owned());
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), strings.len() + 4);
    }

    #[test]
    fn only_the_usual_form_is_a_number() {
        assert_eq!(number("0", 10), Some(0));
        assert_eq!(number("10", 10), Some(10));
        for name in [
            "",
            "00",
            "07",
            "+7",
            "-7",
            "11",
            "x",
            "99999999999999999999999",
        ] {
            assert_eq!(number(name, 10), None, "{name}");
        }
        for (name, signed) in [
            ("7", true),
            ("-7", true),
            ("-0", false),
            ("-07", false),
            ("--7", false),
            ("", false),
        ] {
            assert_eq!(is_signed(name), signed, "{name}");
        }
        assert!(is_signed("-9223372036854775808") && !is_signed("9223372036854775808"));
    }
}
