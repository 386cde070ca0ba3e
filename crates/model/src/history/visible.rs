//! Makes arbitrary text fit to be displayed.
//!
//! Names and values come from files of any origin, and paths from any file system. Displayed verbatim, they could move
//! the cursor of a terminal, recolour it, reverse the writing direction, forge a line of a report, or look like another
//! name. Here they get a visible form; everything that is printed or drawn for people goes through it. A name written
//! from right to left is isolated from the direction of the text around it, so that `x = 3` keeps its order whatever
//! `x` is. Files of histories and JSON are not for people and keep names verbatim.

/// Begins text that has a direction of its own (FSI). Only [`visible`] writes it.
pub const ISOLATE: char = '\u{2068}';
/// Ends it (PDI).
pub const END_OF_ISOLATE: char = '\u{2069}';

/// Whether a character is one of the two that [`visible`] puts around names written from right to left.
pub fn is_isolate(c: char) -> bool {
    matches!(c, ISOLATE | END_OF_ISOLATE)
}

/// Whether a character [acts](is_hidden) in a line where names have been made [visible], so that it must be escaped.
pub fn acts_in_line(c: char) -> bool {
    is_hidden(c) && !is_isolate(c)
}

/// Whether a character belongs to a script written from right to left, by Unicode block.
fn is_right_to_left(c: char) -> bool {
    matches!(c as u32, 0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE | 0x1_0800..=0x1_0FFF | 0x1_E800..=0x1_EFFF)
}

/// Whether a character acts instead of being displayed: control characters (C0, DEL, C1), line and paragraph
/// separators, marks that change the writing direction, characters without width, and noncharacters that XML forbids.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A name, value or path with each [hidden](is_hidden) character, including line breaks and tabs, escaped as in Rust
/// and in JSON with braces: `\n`, `\t`, `\u{1b}`. Always one line; what is written from right to left is
/// [isolated](ISOLATE), from its first such character to its last, so that a number behind it stays behind it. O(length).
pub fn visible(text: &str) -> String {
    let shown = written_out(text, is_hidden);
    let (Some(from), Some(last)) = (shown.find(is_right_to_left), shown.rfind(is_right_to_left))
    else {
        return shown;
    };
    let to = last + shown[last..].chars().next().map_or(0, char::len_utf8);
    format!(
        "{}{ISOLATE}{}{END_OF_ISOLATE}{}",
        &shown[..from],
        &shown[from..to],
        &shown[to..]
    )
}

/// As `visible`, for a line that holds [visible] names, whose isolates it keeps.
pub fn visible_line(text: &str) -> String {
    written_out(text, acts_in_line)
}

/// The first `most` characters of a text, with an ellipsis if there are more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Displayed text, as people type it: without isolates.
pub fn as_typed(shown: &str) -> String {
    shown.replace(is_isolate, "")
}

fn written_out(text: &str, which: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if which(c) {
            shown.extend(c.escape_default())
        } else {
            shown.push(c)
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out_and_all_else_stays() {
        assert_eq!(
            visible("a\u{1b}[31m\u{7}\r\n\t"),
            "a\\u{1b}[31m\\u{7}\\r\\n\\t"
        );
        assert_eq!(visible("\u{9b}x\u{7f}\u{0}"), "\\u{9b}x\\u{7f}\\u{0}");
        for hidden in [
            '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200b}', '\u{feff}', '\u{2028}',
            '\u{ffff}',
        ] {
            assert_eq!(
                visible(&hidden.to_string()),
                format!("\\u{{{:x}}}", u32::from(hidden))
            );
        }
        let plain = "漢字 é ⊥ → ≠ \u{a0} 🦀 \\ \" <b>";
        assert_eq!(visible(plain), plain);
    }

    #[test]
    fn a_name_from_right_to_left_does_not_turn_what_is_around_it() {
        for (before, name, after) in [
            ("", "שלום", ""),
            ("", "مفتاح", "#1"),
            ("a ", "שלום 5 אב", " 5"),
            ("(", "אב", ")"),
        ] {
            let shown = visible(&format!("{before}{name}{after}"));
            assert_eq!(shown, format!("{before}\u{2068}{name}\u{2069}{after}"));
            assert_eq!(
                visible_line(&format!("{shown} = 3\u{202e}")),
                format!("{shown} = 3\\u{{202e}}")
            );
        }
        // A name cannot bring an isolate of its own.
        assert_eq!(visible("\u{2068}אב"), "\\u{2068}\u{2068}אב\u{2069}");
    }
}
