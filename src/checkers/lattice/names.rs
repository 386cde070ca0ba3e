//! Names of levels as people type them.

use super::{LatticeLevel, Order, levels};
use crate::checkers::Level;

/// The level with a name: a code (`SI`, `P-SI`, also `S-SI` and `R-SER`), a long name (`snapshot-isolation`), the same after
/// `plain-`, `session-` or `strong-`, or one of Elle's keywords after a colon. A name without prefix counts sessions.
/// Capitals do not matter.
///
/// # Errors
/// One line about the names that there are.
pub fn named(text: &str) -> Result<&'static LatticeLevel, String> {
    let wanted = text.trim().to_ascii_lowercase();
    let found = match wanted.strip_prefix(':') {
        Some(keyword) => {
            let has = |level: &&LatticeLevel| level.elle.iter().any(|elle| elle.eq_ignore_ascii_case(keyword));
            levels().iter().find(has)
        }
        None => by_code(&wanted).or_else(|| by_name(&wanted)),
    };
    found.ok_or_else(|| {
        let codes: Vec<&str> = Level::ALL.into_iter().map(Level::code).collect();
        format!("unknown level `{text}`, expected one of {} or another name from `isoscope levels`", codes.join(", "))
    })
}

fn by_code(wanted: &str) -> Option<&'static LatticeLevel> {
    let is_called = |code: &str| levels().iter().find(|level| level.code.eq_ignore_ascii_case(code));
    match wanted {
        "r-ser" => is_called("SSER"),
        // What has sessions only, or none, has no other form.
        _ => is_called(wanted).or_else(|| {
            let level = is_called(wanted.strip_prefix("s-")?)?;
            (level.order == Order::Session).then_some(level)
        }),
    }
}

fn by_name(wanted: &str) -> Option<&'static LatticeLevel> {
    if let Some(level) = levels().iter().find(|level| level.name == wanted) {
        return Some(level);
    }
    let is_of = |level: &&LatticeLevel, name: &str| level.base.name == name || level.base.also.contains(&name);
    let prefixed = Order::ALL.into_iter().find_map(|order| {
        let name = wanted.strip_prefix(order.word())?.strip_prefix('-')?;
        levels().iter().find(|level| level.order == order && is_of(level, name))
    });
    let unprefixed = || levels().iter().filter(|level| is_of(level, wanted));
    prefixed.or_else(|| unprefixed().find(|level| level.order == Order::Session)).or_else(|| {
        match unprefixed().count() {
            1 => unprefixed().next(),
            _ => None,
        }
    })
}
