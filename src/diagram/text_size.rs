//! How much room text takes.
//!
//! Everything is set in Hack, whose glyphs all advance by 0.602 em, as DejaVu Sans Mono and Menlo do. So the width of a
//! text is a multiplication, and canvas, SVG and PNG agree without any font code here.

use crate::history::visible;

/// Advance of one glyph, in em.
pub const ADVANCE: f32 = 0.602;

/// Height of capital letters, in em; used to centre text on a line.
pub const CAP_HEIGHT: f32 = 0.73;

/// Whether a character takes two columns (East Asian wide forms and pictographs), approximately by Unicode block.
fn is_wide(c: char) -> bool {
    matches!(c as u32,
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

/// Columns that `text` takes in a monospaced font.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Width of `text` at font size `size`, in the unit of `size`.
pub fn width(text: &str, size: f32) -> f32 {
    columns(text) as f32 * ADVANCE * size
}

/// `text` cut to at most `max` columns, the last of which is `…` when something was cut. Keeps both ends when there is
/// room for it, because names often differ in their last characters.
pub fn elide(text: &str, max: usize) -> String {
    if columns(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(1);
    let tail = if room >= 12 { room / 3 } else { 0 };
    let mut result = take_columns(text.chars(), room - tail);
    result.push('…');
    let end: String = take_columns(text.chars().rev(), tail).chars().rev().collect();
    result + &end
}

fn take_columns(chars: impl Iterator<Item = char>, max: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += if is_wide(*c) { 2 } else { 1 };
        used <= max
    };
    chars.take_while(fits).collect()
}

/// `text` as a picture can show it: [`visible`], with the equal-looking `⟂` that Hack contains in place of ⊥.
pub fn printable(text: &str) -> String {
    visible(text).replace('⊥', "⟂")
}

/// Breaks `text` into lines of at most `max` columns at spaces, not at no-break spaces; a word longer than a line is
/// broken inside.
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_ascii_whitespace() {
        let mut rest = word;
        loop {
            let space = usize::from(used > 0);
            let length = columns(rest);
            let line = lines.last_mut().expect("there is always a line");
            if used + space + length <= max {
                if space > 0 {
                    line.push(' ');
                }
                line.push_str(rest);
                used += space + length;
                break;
            }
            if used > 0 {
                lines.push(String::new());
                used = 0;
                continue;
            }
            // A wide character in a line of one column still has to go somewhere.
            let head = take_columns(rest.chars(), max);
            let head = if head.is_empty() { rest.chars().take(1).collect() } else { head };
            line.push_str(&head);
            rest = &rest[head.len()..];
            lines.push(String::new());
            if rest.is_empty() {
                break;
            }
        }
    }
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eliding_keeps_both_ends_and_the_bound() {
        assert_eq!(elide("short", 8), "short");
        assert_eq!(elide("account:000000000001", 13), "account:…0001");
        assert_eq!(elide("abcdef", 4), "abc…");
        for max in 0..30 {
            assert!(columns(&elide("漢字漢字 and much more text", max)) <= max.max(1), "{max}");
        }
    }

    #[test]
    fn wrapping_loses_no_word_and_keeps_the_width() {
        let text = "Let T1 write x = 1, and averyveryverylongwordwithoutspaces then";
        for max in 1..40 {
            let lines = wrap(text, max);
            assert!(lines.iter().all(|line| columns(line) <= max), "{max}: {lines:?}");
            assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""), "{max}");
        }
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(printable("a\u{0}b\nc\u{202E}"), "a\\u{0}b\\nc\\u{202e}");
    }
}
