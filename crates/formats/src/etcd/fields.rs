//! Fields of the maps that a request consists of. An error says what was expected and what was found.

use crate::operations::{Tree, shown};

/// A number above 0.
pub(super) fn positive(number: i64) -> Option<u64> {
    u64::try_from(number).ok().filter(|number| *number > 0)
}

/// A map that is a field.
pub(super) fn part<'t, 'a>(of: &'t Tree<'a>, name: &str) -> Result<&'t Tree<'a>, String> {
    let part = of.field(name).unwrap_or(&Tree::Nil);
    match part.fields() {
        Some(_) => Ok(part),
        None => Err(format!(
            "expected `{name}` with fields, found `{}`",
            shown(part)
        )),
    }
}

/// The elements of a field; none where it is nothing.
pub(super) fn list<'t, 'a>(of: &'t Tree<'a>, name: &str) -> Result<&'t [Tree<'a>], String> {
    match of.field(name) {
        None | Some(Tree::Nil) => Ok(&[]),
        Some(tree) => {
            let found = || format!("expected the list `{name}`, found `{}`", shown(tree));
            tree.elements().ok_or_else(found)
        }
    }
}

/// An integer, or nothing.
pub(super) fn int(of: &Tree<'_>, name: &str) -> Result<Option<i64>, String> {
    match of.field(name) {
        None | Some(Tree::Nil) => Ok(None),
        Some(tree) => {
            let found = || format!("expected the integer `{name}`, found `{}`", shown(tree));
            tree.integer().map(Some).ok_or_else(found)
        }
    }
}

/// Whether a field is true.
pub(super) fn flag(of: &Tree<'_>, name: &str) -> Result<bool, String> {
    match of.field(name) {
        None | Some(Tree::Nil) => Ok(false),
        Some(tree) => match tree.word() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => Err(format!(
                "expected true or false as `{name}`, found `{}`",
                shown(tree)
            )),
        },
    }
}

/// A string that is not empty.
pub(super) fn text(of: &Tree<'_>, name: &str) -> Result<String, String> {
    let text = match of.field(name) {
        Some(tree @ Tree::Name(_)) => tree.word().unwrap_or_default(),
        _ => "",
    };
    match text {
        "" => Err(format!("expected the string `{name}`, found none")),
        text => Ok(text.to_owned()),
    }
}

/// The text of a value, a string or its hash.
pub(super) fn value(of: &Tree<'_>) -> String {
    of.field("Value")
        .map_or_else(String::new, |value| value.text().into_owned())
}
