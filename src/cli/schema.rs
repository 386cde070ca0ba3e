//! `isoscope schema`: the JSON that this program writes and reads, described by a JSON Schema.

use super::output::Output;
use super::values::Described;
use super::{ExitCode, SchemaArguments};
use crate::collect::protocol::Line;
use crate::formats::json::HistoryFile;
use crate::report::{Document, Followed};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RestrictFormats};
use schemars::{JsonSchema, Schema};
use serde_json::Value as Json;

pub(super) fn run(arguments: &SchemaArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let draft = SchemaSettings::draft2020_12();
    let schema = match arguments.of {
        Described::Report => schema_of::<Document>(draft.for_serialize()),
        Described::Followed => schema_of::<Followed>(draft.for_serialize()),
        Described::History => schema_of::<HistoryFile>(draft.for_deserialize()),
        Described::Driver => schema_of::<Line<'_>>(draft.for_deserialize()),
    };
    out.text(&format!("{:#}\n", schema.as_value()));
    Ok(ExitCode::Satisfied)
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    settings
        // "uint64" and the like are no formats of the draft, and some validators refuse what they do not know.
        .with_transform(RestrictFormats::default())
        .with_transform(RecursiveTransform(absent_is_not_null))
        .with_transform(RecursiveTransform(unwrap_lines))
        .into_generator()
        .into_root_schema_for::<T>()
}

/// A field that may be absent is not null instead, unless null is its default.
fn absent_is_not_null(schema: &mut Schema) {
    let required = schema
        .get("required")
        .and_then(Json::as_array)
        .cloned()
        .unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) else {
        return;
    };
    for (name, property) in properties {
        let Some(property) = property
            .as_object_mut()
            .filter(|property| property.get("default") != Some(&Json::Null))
        else {
            continue;
        };
        if required.iter().any(|required| required == name) {
            continue;
        }
        if let Some(types) = property.get_mut("type").and_then(Json::as_array_mut) {
            types.retain(|one| one != "null");
            if let [only] = &types[..] {
                let only = only.clone();
                property.insert("type".to_owned(), only);
            }
        }
        if let Some(Json::Array(mut choices)) = property.remove("anyOf") {
            choices.retain(|choice| choice.get("type").is_none_or(|one| one != "null"));
            match (choices.len(), choices.pop()) {
                (1, Some(Json::Object(only))) => property.extend(only),
                (_, last) => {
                    choices.extend(last);
                    property.insert("anyOf".to_owned(), Json::Array(choices));
                }
            }
        }
    }
}

/// Descriptions come from comments, which are broken into lines.
fn unwrap_lines(schema: &mut Schema) {
    if let Some(Json::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}
