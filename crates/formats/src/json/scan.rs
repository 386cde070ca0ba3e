//! Scans and predicates in JSON.

use super::read::{Name, Placed, values};
use crate::name;
use isoscope_model::history::{
    Asked, Builder, Draft, History, KeyId, NamedRows, OperationId, Predicate, Returned, Scan, Value,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rows that match each named predicate.
pub(super) type Predicates = BTreeMap<String, Arc<NamedRows>>;

/// What a scan asked for, its second element.
#[derive(Deserialize)]
pub(super) struct AskedFields {
    table: Option<String>,
    r#where: Option<Json>,
}

/// What it returned, its third element.
#[derive(Deserialize)]
pub(super) struct ReturnedFields {
    rows: Option<Vec<(Name, Name)>>,
    keys: Option<Vec<Name>>,
}

/// Adds a scan.
///
/// # Errors
/// What was expected.
pub(super) fn add(
    builder: &mut Builder,
    named: &Predicates,
    Placed(draft, line): Placed<Draft>,
    AskedFields { table, r#where }: AskedFields,
    ReturnedFields { rows, keys }: ReturnedFields,
) -> Result<(), String> {
    let predicate = match r#where {
        None => Predicate::Every,
        Some(json) => predicate(&json, named)?,
    };
    let mut key = |row: Name| match &table {
        Some(table) => name::key(builder, &format!("{table}/{}", row.name())),
        None => name::key(builder, &row.name()),
    };
    let (returned, keys, of_rows): (_, Vec<KeyId>, Option<Vec<Name>>) = match (rows, keys) {
        (Some(rows), None) => {
            let (rows, values): (Vec<Name>, Vec<Name>) = rows.into_iter().unzip();
            (
                Returned::Rows,
                rows.into_iter().map(key).collect(),
                Some(values),
            )
        }
        (None, Some(keys)) => (
            Returned::Keys,
            keys.into_iter().map(&mut key).collect(),
            None,
        ),
        _ => return Err("expected what a scan returned: `rows` or `keys`".to_owned()),
    };
    let values = match of_rows {
        Some(of_rows) => values(builder, of_rows),
        None => vec![Value::LISTED; keys.len()],
    };
    let rows: Vec<(KeyId, Value)> = keys.into_iter().zip(values).collect();
    let asked = Asked {
        table: table.map(Into::into),
        predicate: Arc::new(predicate),
        returned,
    };
    builder.scan(draft, asked, &rows, line);
    Ok(())
}

/// The name of a key or a value.
fn name_of(json: &Json) -> Result<Box<str>, String> {
    let name: Name = serde_json::from_value(json.clone()).map_err(|error| error.to_string())?;
    Ok(name.name().into())
}

/// The predicate of an array like `["mod", 3, 1]`.
fn predicate(json: &Json, named: &Predicates) -> Result<Predicate, String> {
    let unknown = || {
        format!(
            "expected a predicate like [\"=\", 1], [\"<\", 1], [\"mod\", 3, 1], [\"key\", \"a\", \"b\"], [\"key in\", \"a\"], \
             [\"and\", p, p], [\"not\", p] or [\"named\", \"p\"], found `{json}`"
        )
    };
    let parts = json.as_array().ok_or_else(unknown)?;
    let (word, rest) = parts.split_first().ok_or_else(unknown)?;
    let part = |json| predicate(json, named).map(Arc::new);
    let small = |json: &Json| json.as_u64().and_then(|number| u32::try_from(number).ok());
    let bound = |json: &Json| match json {
        Json::Null => Ok(None),
        key => name_of(key).map(Some),
    };
    match (word.as_str().ok_or_else(unknown)?, rest) {
        ("true", []) => Ok(Predicate::Every),
        ("=", [value]) => Ok(Predicate::Equals(name_of(value)?)),
        ("<", [bound]) => bound.as_i64().map(Predicate::Less).ok_or_else(unknown),
        ("mod", [divisor, remainder]) => {
            let pair = small(divisor).zip(small(remainder));
            let pair = pair.filter(|(divisor, remainder)| remainder < divisor);
            let (divisor, remainder) = pair.ok_or_else(unknown)?;
            Ok(Predicate::Remainder { divisor, remainder })
        }
        ("key", [first, last]) => Ok(Predicate::Between(bound(first)?, bound(last)?)),
        ("key in", keys) => Ok(Predicate::KeyIn(
            keys.iter().map(name_of).collect::<Result<_, _>>()?,
        )),
        ("and", [one, other]) => Ok(Predicate::And(part(one)?, part(other)?)),
        ("not", [other]) => Ok(Predicate::Not(part(other)?)),
        ("named", [name]) => {
            let name = name.as_str().ok_or_else(unknown)?;
            match named.get(name) {
                Some(rows) => Ok(Predicate::Named(name.into(), rows.clone())),
                None => Err(format!(
                    "expected a predicate of the field `predicates`, before `sessions`, found `{name}`"
                )),
            }
        }
        _ => Err(unknown()),
    }
}

/// A scan as an operation. Its three elements.
pub(super) fn operation(history: &History, scan: &Scan) -> Json {
    let mut asked = serde_json::Map::new();
    if let Some(table) = &scan.asked.table {
        asked.insert("table".to_owned(), json!(table));
    }
    let predicate = scan.predicate();
    if *predicate != Predicate::Every {
        asked.insert("where".to_owned(), of_predicate(&predicate));
    }
    let row = |o: OperationId| {
        let key = history.key_names().text(history.keys()[o.index()].index());
        of_name(scan.asked.row(&key).unwrap_or(&key))
    };
    let value = |o: OperationId| {
        let value = history
            .listed_again(o)
            .unwrap_or(history.values()[o.index()]);
        of_name(&name::of_value(history, value))
    };
    let returned = match scan.asked.returned {
        Returned::Rows => {
            let rows: Vec<Json> = scan.listed().map(|o| json!([row(o), value(o)])).collect();
            json!({ "rows": rows })
        }
        Returned::Keys => {
            let keys: Vec<Json> = scan.listed().map(row).collect();
            json!({ "keys": keys })
        }
    };
    json!(["s", asked, returned])
}

/// The rows that match the named predicates of a history, by name.
pub(super) fn predicates(history: &History) -> BTreeMap<&str, Vec<Json>> {
    let scans = history.scans().iter();
    let named = scans.flat_map(|scan| scan.asked.predicate.named());
    let row = |(key, value): &(Box<str>, Box<str>)| json!([of_name(key), of_name(value)]);
    named
        .map(|(name, rows)| (name, rows.iter().map(row).collect()))
        .collect()
}

fn of_predicate(predicate: &Predicate) -> Json {
    let bound = |bound: &Option<Box<str>>| bound.as_deref().map_or(Json::Null, of_name);
    match predicate {
        Predicate::Every => json!(["true"]),
        Predicate::Equals(value) => json!(["=", of_name(value)]),
        Predicate::Less(bound) => json!(["<", bound]),
        Predicate::Remainder { divisor, remainder } => json!(["mod", divisor, remainder]),
        Predicate::Between(first, last) => json!(["key", bound(first), bound(last)]),
        Predicate::KeyIn(keys) => {
            let keys = keys.iter().map(|key| of_name(key));
            Json::Array(std::iter::once(json!("key in")).chain(keys).collect())
        }
        Predicate::And(one, other) => json!(["and", of_predicate(one), of_predicate(other)]),
        Predicate::Not(other) => json!(["not", of_predicate(other)]),
        Predicate::Named(name, _) => json!(["named", name]),
    }
}

/// A key or a value as it is in a file.
fn of_name(text: &str) -> Json {
    match name::Called::by(text) {
        // What is called a number is one in JSON.
        name::Called::Number => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        name::Called::String(string) => json!(string),
    }
}
