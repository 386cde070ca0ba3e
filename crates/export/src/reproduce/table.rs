//! Keys and values as a table `kv`, operations as statements on it.
//!
//! Numbers stay numbers if all names are numbers; else keys and values are texts. A list is a text of its elements
//! separated by blanks, since that is what every dialect can append to. PostgreSQL, its relatives, MySQL and MariaDB
//! understand what is written, except texts with characters that need `U&'…'`, which only the former read.

use isoscope_model::history::{History, KeyId, OperationId, OperationKind, Value, is_hidden};
use std::fmt::Write;

/// Maximum length of a text that every dialect accepts as a primary key.
const KEY_LENGTH: usize = 255;

/// How the names of a history become SQL.
pub(super) struct Table<'a> {
    history: &'a History,
    numbered_keys: bool,
    numbered_values: bool,
}

impl<'a> Table<'a> {
    pub(super) fn new(history: &'a History) -> Table<'a> {
        let is_number = |name: &str| {
            name.parse::<i64>()
                .is_ok_and(|number| number.to_string() == name)
        };
        let keys = || (0..history.n_keys()).map(KeyId::new);
        let values = history
            .values()
            .iter()
            .chain(history.lists().iter().flat_map(|(_, elements)| elements));
        let mut named = values
            .copied()
            .chain(history.initial_value())
            .filter(|&value| !is_open(value));
        Table {
            numbered_keys: keys().all(|key| is_number(&history.key_names().text(key.index()))),
            numbered_values: !keys().any(|key| history.lists().is_list(key))
                && named.all(|value| is_number(&history.exact_value_name(value))),
            history,
        }
    }

    /// Creates the table.
    pub(super) fn create(&self) -> String {
        let longest = (0..self.history.n_keys())
            .map(|key| self.history.key_names().text(key).chars().count());
        let length = longest.max().unwrap_or(0).max(KEY_LENGTH);
        let key = if self.numbered_keys {
            "bigint".to_owned()
        } else {
            format!("varchar({length})")
        };
        let value = if self.numbered_values {
            "bigint"
        } else {
            "text"
        };
        format!("CREATE TABLE kv (k {key} PRIMARY KEY, v {value});")
    }

    /// Removes it.
    pub(super) fn drop(&self) -> &'static str {
        "DROP TABLE kv;"
    }

    /// Inserts the initial versions of all keys; none without keys.
    pub(super) fn fill(&self) -> Option<String> {
        let mut keys: Vec<KeyId> = (0..self.history.n_keys()).map(KeyId::new).collect();
        let name = |key: &KeyId| self.history.key_names().get(key.index());
        keys.sort_by_cached_key(|key| (name(key).parse::<i64>().ok(), name(key)));
        let rows: Vec<String> = keys
            .into_iter()
            .map(|key| format!("({}, {})", self.key(key), self.initial(key)))
            .collect();
        (!rows.is_empty()).then(|| format!("INSERT INTO kv (k, v) VALUES {};", rows.join(", ")))
    }

    /// An operation.
    pub(super) fn statement(&self, operation: OperationId) -> String {
        let object = self.history.operation(operation);
        let key = self.key(object.key);
        match object.kind {
            OperationKind::Read => format!("SELECT v FROM kv WHERE k = {key};"),
            OperationKind::Write if self.history.lists().is_list(object.key) => {
                let element = literal(&format!(" {}", self.history.exact_value_name(object.value)));
                format!("UPDATE kv SET v = trim(concat(v, {element})) WHERE k = {key};")
            }
            OperationKind::Write => format!(
                "UPDATE kv SET v = {} WHERE k = {key};",
                self.value(object.value)
            ),
        }
    }

    /// The result of a read, as a client shows it; none for writes.
    pub(super) fn observed(&self, operation: OperationId) -> Option<String> {
        let object = self.history.operation(operation);
        if object.kind == OperationKind::Write {
            return None;
        }
        if let Some(elements) = self.history.lists().read_by(operation) {
            let text = |elements: &[Value]| match elements {
                [] => "an empty text".to_owned(),
                _ => elements
                    .iter()
                    .map(|&value| self.history.value_name(value))
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            // What was observed is what the file says, even where the script can show only a part of it.
            return Some(
                match self
                    .history
                    .lists()
                    .recorded_by(operation)
                    .filter(|&all| all != elements)
                {
                    Some(all) => format!(
                        "{} (here {}, without what nothing here appends)",
                        text(all),
                        text(elements)
                    ),
                    None => text(elements),
                },
            );
        }
        Some(match (self.history.differs_from(operation), object.value) {
            (Some(other), _) => format!("anything but {}", self.history.value_name(other)),
            (None, Value::UNRECORDED) => "not recorded".to_owned(),
            (None, Value::INITIAL) => self.initial(object.key).trim_matches('\'').to_owned(),
            (None, value) => self.history.value_name(value),
        })
    }

    fn key(&self, key: KeyId) -> String {
        let name = self.history.key_names().get(key.index());
        if self.numbered_keys {
            name
        } else {
            literal(&name)
        }
    }

    fn value(&self, value: Value) -> String {
        match is_open(value) {
            true => "NULL".to_owned(),
            false if self.numbered_values => self.history.exact_value_name(value),
            false => literal(&self.history.exact_value_name(value)),
        }
    }

    /// The initial version of a key.
    fn initial(&self, key: KeyId) -> String {
        if self.history.lists().is_list(key) {
            return "''".to_owned();
        }
        let last_of_set_up = self
            .history
            .set_up()
            .iter()
            .flat_map(|&t| self.history.operations_of(t));
        let written = last_of_set_up
            .map(|o| self.history.operation(o))
            .filter(|operation| operation.kind == OperationKind::Write && operation.key == key)
            .last()
            .map(|operation| operation.value);
        // Some formats have several names for the initial version; the one that was read is the one to insert.
        let read = || {
            let reads = (0..self.history.n_operations())
                .map(|o| self.history.operation(OperationId::new(o)));
            let mut values = reads
                .filter(|operation| operation.kind == OperationKind::Read && operation.key == key)
                .map(|operation| operation.value)
                .filter(|&value| self.history.may_be_initial(key, value));
            values.next()
        };
        let value = written
            .or_else(read)
            .or(self.history.initial_value())
            .unwrap_or(Value::INITIAL);
        self.value(value)
    }
}

/// Whether a value represents no value.
fn is_open(value: Value) -> bool {
    value == Value::INITIAL || value == Value::UNRECORDED
}

/// A text as SQL. Characters that are invisible, or that a tool on the way might interpret itself (a closing brace ends
/// a step of the isolation tester), are written as numeric codes.
fn literal(text: &str) -> String {
    let is_plain = |c: char| !is_hidden(c) && !matches!(c, '\\' | '{' | '}');
    let mut out = String::with_capacity(text.len() + 2);
    if text.chars().all(is_plain) {
        let _ = write!(out, "'{}'", text.replace('\'', "''"));
        return out;
    }
    out.push_str("U&'");
    for c in text.chars() {
        match c {
            // PostgreSQL texts cannot contain it.
            '\0' => out.push('\u{FFFD}'),
            '\'' => out.push_str("''"),
            c if is_plain(c) => out.push(c),
            c => {
                let _ = write!(out, "\\+{:06X}", c as u32);
            }
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_formats::text;
    use isoscope_model::history::{TransactionId, TransactionSet};

    #[test]
    fn a_longer_list_is_quoted_as_it_was_observed() {
        let whole = text::parse("a: [a x 1]\nb: [a x 2]\nc: [r x [1 2]]").expect("right");
        let keep = TransactionSet::of(&whole, [1, 2].map(TransactionId::new));
        let (part, renaming) = whole.restrict(&keep, |_| true);
        let part = part.with_lists_as_recorded(&whole, &renaming);
        let observed = Table::new(&part).observed(OperationId::new(1));
        assert_eq!(
            observed.as_deref(),
            Some("1 2 (here 2, without what nothing here appends)")
        );
    }

    #[test]
    fn texts_are_quoted_whatever_they_hold() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a}b\\\n"), "U&'a\\+00007Db\\+00005C\\+00000A'");
        assert_eq!(literal("a\u{202e}b"), "U&'a\\+00202Eb'");
    }

    #[test]
    fn numbers_stay_numbers_and_lists_are_texts() {
        let history = text::parse("a: [r 1 0, w 2 -5]").expect("right");
        let table = Table::new(&history);
        assert_eq!(
            table.create(),
            "CREATE TABLE kv (k bigint PRIMARY KEY, v bigint);"
        );
        assert_eq!(
            table.fill().as_deref(),
            Some("INSERT INTO kv (k, v) VALUES (1, 0), (2, 0);")
        );
        let history = text::parse("a: [a x 3, r x [1 2]]\nb: [r y init]").expect("right");
        let table = Table::new(&history);
        assert_eq!(
            table.fill().as_deref(),
            Some("INSERT INTO kv (k, v) VALUES ('x', ''), ('y', NULL);")
        );
        assert_eq!(
            table.statement(OperationId::new(0)),
            "UPDATE kv SET v = trim(concat(v, ' 3')) WHERE k = 'x';"
        );
        assert_eq!(table.observed(OperationId::new(1)).as_deref(), Some("1 2"));
        assert_eq!(table.observed(OperationId::new(2)).as_deref(), Some("NULL"));
    }
}
