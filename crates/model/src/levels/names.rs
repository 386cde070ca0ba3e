//! Names of levels as people type them.

use super::lattice::levels;
use super::{CountedOrder as Order, Level};

/// The level with a name: a code (`SI`, `P-SI`, also `S-SI` and `R-SER`), a long name (`snapshot-isolation`), the same after
/// `plain-`, `session-` or `strong-`, or one of Elle's keywords after a colon. A name without prefix counts sessions.
/// Capitals do not matter.
///
/// # Errors
/// One line about the names that there are.
pub fn named(text: &str) -> Result<Level, String> {
    let wanted = text.trim().to_ascii_lowercase();
    let found = match wanted.strip_prefix(':') {
        Some(keyword) => {
            let has = |level: &Level| {
                level
                    .row()
                    .elle
                    .iter()
                    .any(|elle| elle.eq_ignore_ascii_case(keyword))
            };
            levels().iter().copied().find(has)
        }
        None => by_code(&wanted).or_else(|| by_name(&wanted)),
    };
    found.ok_or_else(|| {
        let codes: Vec<&str> = Level::ALL.into_iter().map(Level::code).collect();
        format!(
            "unknown level `{text}`, expected one of {} or another name from `isoscope levels`",
            codes.join(", ")
        )
    })
}

fn by_code(wanted: &str) -> Option<Level> {
    let is_called = |code: &str| {
        Level::EVERY
            .into_iter()
            .find(|level| level.code().eq_ignore_ascii_case(code))
    };
    match wanted {
        "r-ser" => is_called("SSER"),
        // What has sessions only, or none, has no other form.
        _ => is_called(wanted).or_else(|| {
            let level = is_called(wanted.strip_prefix("s-")?)?;
            (level.row().order == Order::Session).then_some(level)
        }),
    }
}

fn by_name(wanted: &str) -> Option<Level> {
    let levels = levels().iter().copied();
    if let Some(level) = levels.clone().find(|level| level.long_name() == wanted) {
        return Some(level);
    }
    let is_of =
        |level: &Level, name: &str| level.base().name == name || level.base().also.contains(&name);
    let prefixed = Order::ALL.into_iter().find_map(|order| {
        let name = wanted.strip_prefix(order.word())?.strip_prefix('-')?;
        levels
            .clone()
            .find(|level| level.row().order == order && is_of(level, name))
    });
    let unprefixed = || levels.clone().filter(|level| is_of(level, wanted));
    prefixed
        .or_else(|| unprefixed().find(|level| level.row().order == Order::Session))
        .or_else(|| match unprefixed().count() {
            1 => unprefixed().next(),
            _ => None,
        })
}
