//! The size of text.
//!
//! Names, values and operations are set in Hack, whose glyphs all advance by 0.602 em, as DejaVu Sans Mono and Menlo
//! do, so that canvas, SVG and PNG agree. Sentences are set in a proportional font: the bundled one in PNG, whatever
//! the viewer has in SVG. They get the space that the widest of the usual ones needs. No font code is needed for
//! either.

use isoscope_model::history::{END_OF_ISOLATE, ISOLATE, is_isolate, visible_line};

/// Advance of one glyph of the monospaced font, in em.
pub const ADVANCE: f32 = 0.602;

/// Between texts of one line that follow each other, in em.
pub const GAP: f32 = 0.7;

/// Height of capital letters, in em; used to centre text on a line.
pub const CAP_HEIGHT: f32 = 0.73;

/// Advances of U+0020 to U+007E in DejaVu Sans, in thousandths of an em. Verdana is as wide, other common fonts are narrower.
const PROSE_ADVANCES: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// How much wider a bold face of a proportional font is.
const BOLD: f32 = 1.16;

/// Whether a character takes two columns (East Asian wide forms and pictographs), approximately by Unicode block.
fn is_wide(c: char) -> bool {
    matches!(c as u32,
        0x1100..=0x115F | 0x231A..=0x231B | 0x23E9..=0x23F3 | 0x25FD..=0x25FE | 0x2614..=0x2615 | 0x2648..=0x2653
        | 0x267F | 0x2693 | 0x26A1 | 0x26AA..=0x26AB | 0x26BD..=0x26BE | 0x26C4..=0x26C5 | 0x26CE | 0x26D4 | 0x26EA
        | 0x26F2..=0x26F5 | 0x26FA..=0x26FD | 0x2705 | 0x270A..=0x270B | 0x2728 | 0x274C..=0x274E | 0x2753..=0x2757
        | 0x2795..=0x2797 | 0x27B0 | 0x27BF | 0x2B1B..=0x2B1C | 0x2B50 | 0x2B55 | 0x2E80..=0x303E | 0x3041..=0xA4CF
        | 0xA960..=0xA97F | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6
        | 0x16FE0..=0x18DFF | 0x1AFF0..=0x1B2FF | 0x1F004 | 0x1F0CF | 0x1F18E | 0x1F191..=0x1F19A | 0x1F1E6..=0x1F265
        | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

/// Tenths of a column that a character takes. Scripts whose letters join or stack are never monospaced; on average
/// theirs are a little wider.
fn tenths(c: char) -> usize {
    match c {
        c if is_isolate(c) => 0,
        c if is_wide(c) => 20,
        '\u{600}'..='\u{10FF}' => 12,
        _ => 10,
    }
}

/// Columns that `text` takes in a monospaced font.
pub fn columns(text: &str) -> usize {
    text.chars().map(tenths).sum::<usize>().div_ceil(10)
}

/// The maximum advance of a character of a sentence, in em.
fn prose_advance(c: char, bold: bool) -> f32 {
    let regular = match c {
        ' '..='~' => f32::from(PROSE_ADVANCES[c as usize - ' ' as usize]) / 1000.0,
        '\u{a0}' => return prose_advance(' ', bold),
        '…' => 1.0,
        '→' | '≠' | '≤' | '≥' | '⟂' => 0.84,
        // Letters of other scripts, and what falls back to the monospaced font.
        _ => tenths(c) as f32 * 0.065,
    };
    regular * if bold { BOLD } else { 1.0 }
}

/// The maximum width of a sentence at font size `size`, whichever proportional font the viewer has.
pub fn prose_width(text: &str, size: f32, bold: bool) -> f32 {
    text.chars().map(|c| prose_advance(c, bold)).sum::<f32>() * size
}

/// Width of `text` at font size `size`, in the unit of `size`.
pub fn width(text: &str, size: f32) -> f32 {
    columns(text) as f32 * ADVANCE * size
}

/// `text` cut to at most `max` columns, the last of which is `…` if something was cut. Keeps both ends if there is
/// space, because names often differ in their last characters.
pub fn elide(text: &str, max: usize) -> String {
    if columns(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(1);
    let tail = match room {
        0..6 => 0,
        6..12 => room / 2,
        12.. => room / 3,
    };
    let mut result = take_columns(text.chars(), room - tail);
    result.push('…');
    let end: String = take_columns(text.chars().rev(), tail)
        .chars()
        .rev()
        .collect();
    // An isolate may begin in one part and end in the other, or in what was cut.
    match (
        is_open(&result),
        end.chars().find(|c| is_isolate(*c)) == Some(END_OF_ISOLATE),
    ) {
        (true, false) => result.push(END_OF_ISOLATE),
        (false, true) => result.push(ISOLATE),
        _ => {}
    }
    result + &end
}

/// A list such as `[1 2 3]` cut to at most `max` columns, between elements only: half a number is another number. First
/// its gaps, `… 67 more …`, become `…`. Cut as other texts are if its ends do not fit.
pub fn elide_list(list: &str, max: usize) -> String {
    const GAP: &str = "…";
    let inner = list
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'))
        .filter(|_| columns(list) > max);
    let Some(inner) = inner else {
        return elide(list, max);
    };
    let mut elements: Vec<&str> = Vec::new();
    let mut is_in_gap = false;
    for word in inner.split(' ') {
        if word == GAP {
            is_in_gap = !is_in_gap;
        }
        if !is_in_gap {
            elements.push(word);
        }
    }
    let whole = format!("[{}]", elements.join(" "));
    if columns(&whole) <= max {
        return whole;
    }
    // Brackets, and the gap between blanks.
    let mut room = max.saturating_sub(4);
    let mut fits = |element: &&&str| {
        let wanted = columns(element) + 1;
        let fits = wanted <= room;
        room -= if fits { wanted } else { 0 };
        fits
    };
    let n_first = elements.iter().take(1).take_while(&mut fits).count();
    let n_last = elements[n_first..]
        .iter()
        .rev()
        .take_while(&mut fits)
        .count();
    let n_more = elements[n_first..elements.len() - n_last]
        .iter()
        .take_while(&mut fits)
        .count();
    let (first, last) = (
        &elements[..n_first + n_more],
        &elements[elements.len() - n_last..],
    );
    if first.is_empty() || last.is_empty() {
        return elide(list, max);
    }
    let first: Vec<&str> = first
        .iter()
        .rev()
        .skip_while(|element| **element == GAP)
        .copied()
        .collect();
    let first: Vec<&str> = first.into_iter().rev().collect();
    let last: Vec<&str> = last
        .iter()
        .skip_while(|element| **element == GAP)
        .copied()
        .collect();
    format!("[{} {GAP} {}]", first.join(" "), last.join(" "))
}

fn take_columns(chars: impl Iterator<Item = char>, max: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += tenths(*c);
        used <= 10 * max
    };
    chars.take_while(fits).collect()
}

/// A line as a picture can show it: [`visible_line`], with the similar-looking `⟂` that Hack contains instead of ⊥.
pub fn printable(text: &str) -> String {
    visible_line(text).replace('⊥', "⟂")
}

/// Breaks a sentence into lines of at most `max` (in the unit of `size`) at spaces, not at no-break spaces; a word longer
/// than a line is broken inside. What is isolated from the direction of the text around it stays so on both lines.
pub fn wrap(text: &str, size: f32, bold: bool, max: f32) -> Vec<String> {
    let width = |text: &str| prose_width(text, size, bold);
    let mut lines = vec![String::new()];
    for word in text.split_ascii_whitespace() {
        let mut rest = word;
        loop {
            let line = lines.last_mut().expect("there is always a line");
            let space = if line.is_empty() { "" } else { " " };
            if width(line) + width(space) + width(rest) <= max {
                line.push_str(space);
                line.push_str(rest);
                break;
            }
            if !line.is_empty() {
                lines.push(String::new());
                continue;
            }
            // A character wider than a line still has to go somewhere.
            let fits = rest
                .char_indices()
                .map(|(at, c)| at + c.len_utf8())
                .take_while(|end| width(&rest[..*end]) <= max);
            let cut = fits
                .last()
                .or_else(|| rest.chars().next().map(char::len_utf8))
                .unwrap_or(0);
            line.push_str(&rest[..cut]);
            rest = &rest[cut..];
            if rest.is_empty() {
                break;
            }
            lines.push(String::new());
        }
    }
    close_isolates(&mut lines);
    lines
}

/// Ends on each line what begins on it, and begins it again on the next.
fn close_isolates(lines: &mut [String]) {
    let mut open = false;
    for line in lines {
        if open {
            line.insert(0, ISOLATE);
        }
        open = is_open(line);
        if open {
            line.push(END_OF_ISOLATE);
        }
    }
}

/// Whether an isolate of a line lacks its end.
fn is_open(line: &str) -> bool {
    line.chars().rfind(|c| is_isolate(*c)) == Some(ISOLATE)
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
            assert!(
                columns(&elide("漢字漢字 and much more text", max)) <= max.max(1),
                "{max}"
            );
        }
    }

    #[test]
    fn wrapping_loses_no_word_and_keeps_the_width() {
        let text = "Let T1 write x = 1, and averyveryverylongwordwithoutspaces 漢字漢字 then";
        for max in 24..400 {
            for bold in [false, true] {
                let lines = wrap(text, 14.0, bold, max as f32);
                assert!(
                    lines
                        .iter()
                        .all(|line| prose_width(line, 14.0, bold) <= max as f32),
                    "{max}: {lines:?}"
                );
                assert_eq!(
                    lines.concat().replace(' ', ""),
                    text.replace(' ', ""),
                    "{max}"
                );
            }
        }
        assert_eq!(wrap("", 14.0, false, 10.0), [""]);
    }

    #[test]
    fn what_is_cut_or_broken_stays_isolated() {
        let name = isoscope_model::history::visible("מפתח אחד שתיים שלוש");
        let text = format!("T1 read {name} = 3");
        for line in (4..30)
            .map(|max| elide(&text, max))
            .chain(wrap(&text, 14.0, false, 150.0))
        {
            let n = |wanted| line.chars().filter(|c| *c == wanted).count();
            assert_eq!(n(ISOLATE), n(END_OF_ISOLATE), "{line:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(printable("a\u{0}b\nc\u{202E}"), "a\\u{0}b\\nc\\u{202e}");
    }
}
