//! What the rows that a scan looked for have in common.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A condition on a row that is there: a key and its value. Keys and values are given by their exact names
/// ([`Names::text`](super::Names::text)), in which a number is written without quotes and a string that looks like one
/// with them.
///
/// A comparison that makes no sense, such as "less than 3" of a string, is unknown, as in SQL: neither the condition nor
/// its negation holds. A row that is absent never matches, whatever the condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Predicate {
    /// Every row.
    Every,
    /// The value is this one.
    Equals(Box<str>),
    /// The value is an integer below this one.
    Less(i64),
    /// The value is an integer with this remainder, which is never negative.
    Remainder {
        /// What it is divided by, above 0.
        divisor: u32,
        /// What is left.
        remainder: u32,
    },
    /// The key is not before the first and not after the last of these, as far as they are given: integers by their values,
    /// before all strings, which are compared byte by byte.
    Between(Option<Box<str>>, Option<Box<str>>),
    /// The key is one of these.
    KeyIn(BTreeSet<Box<str>>),
    /// Both hold.
    And(Arc<Predicate>, Arc<Predicate>),
    /// The other does not hold.
    Not(Arc<Predicate>),
    /// The row is one of those that a file lists under a name.
    Named(Box<str>, Arc<NamedRows>),
}

/// Rows that a file lists under a name, each a key and a value.
pub type NamedRows = BTreeSet<(Box<str>, Box<str>)>;

impl Predicate {
    /// Whether a row that is there matches.
    pub fn matches(&self, key: &str, value: &str) -> bool {
        self.holds(key, Some(value)) == Some(true)
    }

    /// Whether a row with this key matches for some value, as far as the key alone tells.
    pub fn may_concern(&self, key: &str) -> bool {
        self.holds(key, None) != Some(false)
    }

    /// Whether a row matches whatever its value is, as long as its key does.
    pub fn is_of_keys(&self) -> bool {
        match self {
            Predicate::Every | Predicate::Between(..) | Predicate::KeyIn(_) => true,
            Predicate::And(one, other) => one.is_of_keys() && other.is_of_keys(),
            Predicate::Not(other) => other.is_of_keys(),
            _ => false,
        }
    }

    /// This, without what it says about some keys.
    pub fn without_keys(self: &Arc<Predicate>, keys: BTreeSet<Box<str>>) -> Arc<Predicate> {
        let others = Arc::new(Predicate::Not(Arc::new(Predicate::KeyIn(keys))));
        match **self {
            Predicate::Every => others,
            _ => Arc::new(Predicate::And(self.clone(), others)),
        }
    }

    /// Whether it holds; `None` where that is unknown, also because no value is given.
    fn holds(&self, key: &str, value: Option<&str>) -> Option<bool> {
        let integer = || integer(value?);
        match self {
            Predicate::Every => Some(true),
            Predicate::Equals(other) => value.map(|value| *value == **other),
            Predicate::Less(bound) => integer().map(|integer| integer < i128::from(*bound)),
            Predicate::Remainder { divisor, remainder } => integer()
                .map(|integer| integer.rem_euclid(i128::from(*divisor)) == i128::from(*remainder)),
            Predicate::Between(first, last) => {
                let is_after = |bound: &str| compare(bound, key) != Ordering::Greater;
                let is_before = |bound: &str| compare(key, bound) != Ordering::Greater;
                Some(first.as_deref().is_none_or(is_after) && last.as_deref().is_none_or(is_before))
            }
            Predicate::KeyIn(keys) => Some(keys.contains(key)),
            Predicate::And(one, other) => match (one.holds(key, value), other.holds(key, value)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Predicate::Not(other) => other.holds(key, value).map(|holds| !holds),
            Predicate::Named(_, rows) => match value {
                Some(value) => Some(rows.contains(&(key.into(), value.into()))),
                None => (!rows.iter().any(|(listed, _)| **listed == *key)).then_some(false),
            },
        }
    }

    /// In the notation of texts, `v mod 3 = 1 and not key in x`, with keys and values as `name` writes them, and the names of
    /// predicates as `called` does. Empty for every row.
    pub fn text(&self, name: &impl Fn(&str) -> String, called: &impl Fn(&str) -> String) -> String {
        match self {
            Predicate::Every => String::new(),
            _ => self.part_text(name, called),
        }
    }

    fn part_text(
        &self,
        name: &impl Fn(&str) -> String,
        called: &impl Fn(&str) -> String,
    ) -> String {
        let bound = |bound: &Option<Box<str>>| bound.as_deref().map_or(String::new(), name);
        match self {
            Predicate::Every => "true".to_owned(),
            Predicate::Equals(value) => format!("v = {}", name(value)),
            Predicate::Less(bound) => format!("v < {bound}"),
            Predicate::Remainder { divisor, remainder } => {
                format!("v mod {divisor} = {remainder}")
            }
            Predicate::Between(first, last) => format!("key {} .. {}", bound(first), bound(last)),
            Predicate::KeyIn(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| name(key)).collect();
                format!("key in {}", keys.join(" "))
            }
            Predicate::And(one, other) => {
                format!(
                    "{} and {}",
                    one.part_text(name, called),
                    other.part(name, called)
                )
            }
            Predicate::Not(other) => format!("not {}", other.part(name, called)),
            Predicate::Named(own, _) => called(own),
        }
    }

    /// The text of a part, in brackets where it has parts itself.
    fn part(&self, name: &impl Fn(&str) -> String, called: &impl Fn(&str) -> String) -> String {
        match self {
            Predicate::And(..) => format!("({})", self.part_text(name, called)),
            _ => self.part_text(name, called),
        }
    }

    /// The named sets of rows in it.
    pub fn named(&self) -> Vec<(&str, &NamedRows)> {
        match self {
            Predicate::And(one, other) => [one.named(), other.named()].concat(),
            Predicate::Not(other) => other.named(),
            Predicate::Named(name, rows) => vec![(name, rows)],
            _ => Vec::new(),
        }
    }
}

/// The order of keys: integers by their values, then strings byte by byte.
pub fn compare(one: &str, other: &str) -> Ordering {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => string(one).as_bytes().cmp(string(other).as_bytes()),
    }
}

/// The integer with this exact name, which is its usual form: neither `07` nor `+7`.
fn integer(name: &str) -> Option<i128> {
    let digits = name.strip_prefix('-').unwrap_or(name);
    let is_usual = name == "0" || !digits.is_empty() && !digits.starts_with('0');
    let is_number = is_usual && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| name.parse().ok()).flatten()
}

/// The string with this exact name, which is in quotes where it looks like a number.
fn string(name: &str) -> &str {
    let inner = name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner
        .filter(|inner| integer(inner).is_some())
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not(predicate: Predicate) -> Predicate {
        Predicate::Not(Arc::new(predicate))
    }

    #[test]
    fn what_makes_no_sense_is_unknown_either_way() {
        let small = Predicate::Less(3);
        assert!(small.matches("x", "-5") && !small.matches("x", "3"));
        assert!(!not(small.clone()).matches("x", "2") && not(small.clone()).matches("x", "3"));
        assert!(not(small.clone()).matches("x", "18446744073709551615"));
        for value in ["red", "\"2\"", "", "007", "+1", "-0", "-"] {
            assert!(!small.matches("x", value) && !not(small.clone()).matches("x", value));
        }
        let odd = Predicate::Remainder {
            divisor: 2,
            remainder: 1,
        };
        assert!(odd.matches("x", "-3") && !odd.matches("x", "-4"));
    }

    #[test]
    fn a_key_alone_excludes_a_row_where_it_can() {
        let range = Predicate::Between(Some("2".into()), Some("b".into()));
        let both = Predicate::And(Arc::new(range), Arc::new(Predicate::Equals("7".into())));
        assert!(
            ["2", "10", "a", "b"]
                .iter()
                .all(|key| both.may_concern(key))
        );
        assert!(!["1", "ba", "c"].iter().any(|key| both.may_concern(key)));
        assert!(not(both.clone()).may_concern("a"));
        let rest = Arc::new(Predicate::Every).without_keys(BTreeSet::from(["x".into()]));
        assert!(!rest.may_concern("x") && rest.matches("y", "1"));
        let rows = BTreeSet::from([("x".into(), "1".into())]);
        let named = Predicate::Named("p".into(), Arc::new(rows));
        let range = Predicate::Between(Some("\"4\"".into()), Some("\"6\"".into()));
        assert!(range.may_concern("4x") && !range.may_concern("5") && range.may_concern("\"5\""));
        assert!(named.may_concern("x") && !named.may_concern("y"));
        assert!(named.matches("x", "1") && !named.matches("x", "2"));
    }

    #[test]
    fn texts_are_those_of_the_notation() {
        let quoted = |name: &str| format!("`{name}`");
        let both = Predicate::And(
            Arc::new(Predicate::Equals("1".into())),
            Arc::new(not(Predicate::And(
                Arc::new(Predicate::Less(2)),
                Arc::new(Predicate::Between(None, Some("z".into()))),
            ))),
        );
        assert_eq!(
            both.text(&quoted, &quoted),
            "v = `1` and not (v < 2 and key  .. `z`)"
        );
    }
}
