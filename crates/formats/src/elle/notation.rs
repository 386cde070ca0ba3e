//! Names → the tokens that represent them in EDN and JSON.

use super::atom::is_wrapped;
use super::scan::{Scanner, Token, is_json_number, quoted};
use crate::WriteError;
use crate::error::escape;
use crate::operations::Tree;
use isoscope_model::history::Names;
use rustc_hash::FxHashMap;

/// The token for a key or a value of this name.
///
/// Names that came from this notation become what they were. Others become strings where they cannot be bare.
pub(crate) fn token<const JSON: bool>(name: &str) -> String {
    match JSON {
        true if is_json_number(name) => name.to_owned(),
        true if is_wrapped(name) => quoted(&name[1..name.len() - 1]),
        true => quoted(name),
        false if is_edn(name) => name.to_owned(),
        false => quoted(name),
    }
}

/// Whether EDN reads this name as itself.
fn is_edn(name: &str) -> bool {
    if ["[", "{", "#{"].iter().any(|begin| name.starts_with(begin)) {
        let mut scan = Scanner::<false>::new("", name.as_bytes());
        let is_same = |tree: Tree<'_>| tree.text() == name;
        return scan.tree().is_ok_and(is_same) && scan.at() == name.len();
    }
    let begins = |c: char| c.is_alphanumeric() || "*!_?$%&=<>+-./:\"\\".contains(c);
    let inside = |c: char| !c.is_control() && !c.is_whitespace();
    if !name.starts_with(begins) || !(name.starts_with('"') || name.chars().all(inside)) {
        return false;
    }
    let mut scan = Scanner::<false>::new("", name.as_bytes());
    let whole = match scan.token("") {
        Ok(Token::Number(number)) => number.to_string() == name,
        Ok(Token::Text(text)) => text == name && quoted(&super::content_of(text)) == name,
        Ok(Token::Keyword(text) | Token::Name(text)) => text == name,
        Ok(Token::Nil) | Err(_) => false,
    };
    whole && scan.at() == name.len()
}

/// The tokens of all names, or an error if two names would look alike.
pub(super) fn tokens<const JSON: bool>(
    names: &Names,
    format: &'static str,
    what: &str,
) -> Result<Vec<String>, WriteError> {
    let tokens: Vec<String> = (0..names.len())
        .map(|index| token::<JSON>(&names.text(index)))
        .collect();
    if matches!(names, Names::Strings(_)) {
        let mut first = FxHashMap::default();
        for (index, token) in tokens.iter().enumerate() {
            if let Some(before) = first.insert(token, index) {
                let (one, other) = (escape(&names.text(before)), escape(&names.text(index)));
                let what = format!("that the {what} `{one}` and `{other}` differ");
                return Err(WriteError::CannotSay { format, what });
            }
        }
    }
    Ok(tokens)
}
