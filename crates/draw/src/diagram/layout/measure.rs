//! Font sizes and the sizes of cards and labels that follow from them.

use crate::diagram::text_size::{columns, elide, elide_list, width};
use crate::diagram::{Arrow, Card, Row};
use emath::{Vec2, vec2};

/// Font size of card titles.
pub const TITLE_FONT: f32 = 16.0;
/// Font size of operations and lane titles.
pub const ROW_FONT: f32 = 14.0;
/// Font size of status, place and fold line.
pub const SMALL_FONT: f32 = 12.5;
/// Font size of edge labels.
pub const LABEL_FONT: f32 = 13.0;

/// Ports are this far apart, and cards start at multiples of it.
pub(super) const UNIT: f32 = 12.0;
/// Height of a header with at most one port on a side.
pub(super) const HEADER_HEIGHT: f32 = 36.0;
/// Height of a row with at most one port on a side, and of the fold line.
pub(super) const ROW_HEIGHT: f32 = 24.0;
/// Space below the last row.
pub(super) const CARD_FOOT: f32 = 5.0;
/// Space left and right inside a card.
pub(crate) const CARD_PAD: f32 = 12.0;
/// Height of a label's background: less than the distance of two labelled ports.
pub(super) const LABEL_HEIGHT: f32 = 19.0;
/// Height of the disc of a number, and its width with one digit.
const DISC: f32 = 18.0;
/// Radius of rounded corners of edges.
pub(super) const CORNER: f32 = 7.0;

const CARD_MIN_WIDTH: f32 = 156.0;
/// Minimum width of cards without an outcome.
const SHORT_CARD_MIN_WIDTH: f32 = 112.0;
const MAX_OPERATION_COLUMNS: usize = 42;
/// Maximum columns of a card's title, and of a transaction's name if edges are named.
pub const MAX_TITLE_COLUMNS: usize = 22;
const MAX_LABEL_COLUMNS: usize = 22;
/// Maximum columns of a card's status and a row's place.
const MAX_NOTE_COLUMNS: usize = 26;

/// A card's title as shown.
pub fn title_text(card: &Card) -> String {
    elide(&card.title, MAX_TITLE_COLUMNS)
}

/// A row's operation as shown.
pub fn row_text(row: &Row) -> String {
    row_parts(row).0
}

/// A row's operation as shown, and where its value begins.
pub fn row_parts(row: &Row) -> (String, usize) {
    shortened(&row.text, row.value_at, MAX_OPERATION_COLUMNS)
}

/// An operation whose value begins at `value_at`, in at most `max` columns, and where its value begins then: key and
/// value are shortened separately, what is between them never.
pub fn shortened(text: &str, value_at: usize, max: usize) -> (String, usize) {
    if columns(text) <= max {
        return (text.to_owned(), value_at);
    }
    let (head, value) = text.split_at(value_at);
    let close = head.rfind(')').unwrap_or(head.len());
    let (key, between) = head.split_at(close);
    let room = max.saturating_sub(columns(between));
    // Each has half of the space and what the other does not need.
    let for_key = (room / 2).max(room.saturating_sub(columns(value)));
    let key = elide(key, for_key);
    let value = elide_list(value, room.saturating_sub(columns(&key)));
    (format!("{key}{between}{value}"), key.len() + between.len())
}

/// The text after a card's title as shown: its outcome or its session.
pub fn status_text(card: &Card) -> String {
    elide(&card.status, MAX_NOTE_COLUMNS)
}

/// Where a row is in its file, as shown.
pub fn place_text(row: &Row) -> String {
    elide(&row.place, MAX_NOTE_COLUMNS)
}

/// An arrow's label as shown.
pub fn label_text(arrow: &Arrow) -> String {
    elide(&arrow.text(), MAX_LABEL_COLUMNS)
}

/// The fold line's text.
pub(crate) fn folded_text(card: &Card) -> String {
    let plus = if card.rows.is_empty() { "" } else { "+ " };
    let other = if card.rows.is_empty() { "" } else { "other " };
    let plural = if card.folded == 1 { "" } else { "s" };
    format!("{plus}{} {other}operation{plural}", card.folded)
}

/// Width a card needs.
pub(super) fn card_width(card: &Card) -> f32 {
    let pair = |left: f32, right: f32| left + if right > 0.0 { 20.0 + right } else { 0.0 };
    // A title by itself, that of the initial state, is enlarged where the window shrinks the picture.
    let growth = if card.rows.is_empty() && card.folded == 0 {
        1.25
    } else {
        1.0
    };
    let header = pair(
        growth * width(&title_text(card), TITLE_FONT),
        width(&status_text(card), SMALL_FONT),
    );
    let right = |row: &Row| width(&place_text(row), SMALL_FONT) + proof_width(row);
    // The same goes for an operation without a place, as over time.
    let row = |row: &Row| match right(row) {
        0.0 => 1.14 * width(&row_text(row), ROW_FONT),
        right => pair(width(&row_text(row), ROW_FONT), right),
    };
    let rows = card.rows.iter().map(row).fold(0.0, f32::max);
    let folded = if card.folded > 0 {
        width(&folded_text(card), SMALL_FONT)
    } else {
        0.0
    };
    let least = if card.status.is_empty() {
        SHORT_CARD_MIN_WIDTH
    } else {
        CARD_MIN_WIDTH
    };
    (header.max(rows).max(folded) + 2.0 * CARD_PAD)
        .ceil()
        .max(least)
}

/// Space at the right end of a row for the numbers of what it proves.
pub fn proof_width(row: &Row) -> f32 {
    row.proves
        .as_ref()
        .map_or(0.0, |(numbers, _)| disc_size(numbers).x + 6.0)
}

/// Size of the disc that numbers are in.
pub fn disc_size(numbers: &[usize]) -> Vec2 {
    vec2(
        DISC + 7.0 * (columns(&number_text(numbers)) - 1) as f32,
        DISC,
    )
}

/// `16, 21`; the first two if there are more than three.
pub fn number_text(numbers: &[usize]) -> String {
    let shown = if numbers.len() > 3 { 2 } else { numbers.len() };
    let all: Vec<String> = numbers[..shown].iter().map(usize::to_string).collect();
    all.join(", ") + if shown < numbers.len() { ", …" } else { "" }
}

/// Size of an arrow's label, with its number.
pub(in crate::diagram) fn label_size(arrow: &Arrow) -> Vec2 {
    let number = if arrow.numbers.is_empty() {
        0.0
    } else {
        disc_size(&arrow.numbers).x
    };
    vec2(
        (width(&label_text(arrow), LABEL_FONT) + 12.0 + number).ceil(),
        LABEL_HEIGHT,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::RowRole;
    use isoscope_model::history::OperationId;

    #[test]
    fn keys_and_values_are_shortened_apart() {
        let shown = |head: &str, value: &str| {
            row_text(&Row {
                operation: OperationId::new(0),
                text: format!("{head}{value}"),
                value_at: head.len(),
                full: String::new(),
                place: String::new(),
                role: RowRole::Involved,
                proves: None,
            })
        };
        assert_eq!(shown("r(x) = ", "3"), "r(x) = 3");
        let long_key = format!("r({}) = ", "k".repeat(60));
        let long_value = "7".repeat(40);
        for (head, value) in [
            (long_key.as_str(), "3"),
            ("w(x) = ", long_value.as_str()),
            (&long_key, &long_value),
        ] {
            let text = shown(head, value);
            assert!(text.contains(") = ") && text.contains('…'), "{text}");
            assert!(columns(&text) <= MAX_OPERATION_COLUMNS, "{text}");
        }
        assert!(shown(&long_key, "3").ends_with(") = 3"));
        assert!(shown("w(x) = ", &long_value).starts_with("w(x) = 7777"));
        let list =
            "[10001 10002 10003 … 67 more … 10071 10072 10073 10074 10075 10076 10077 10078 10079]";
        assert_eq!(
            shown("r(x) = ", list),
            "r(x) = [10001 … 10076 10077 10078 10079]"
        );
        let kept = "[10001 … 3 more … 10005 … 9 more … 10015 10016 10017]";
        assert_eq!(
            shown("r(x) = ", kept),
            "r(x) = [10001 … 10005 … 10015 10016 10017]"
        );
    }
}
