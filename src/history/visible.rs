//! Text that may hold anything, made fit to be shown.
//!
//! Names and values come from files of any origin, and paths from any file system. Shown as they are,
//! they could move the cursor of a terminal, recolour it, turn the direction of writing, forge a line of a report, or
//! look like another name. Here they get a visible form; everything that is printed or drawn for people goes through it.
//! Files of histories and JSON are not for people and keep names as they are.

/// Whether a character acts instead of being seen: control characters (C0, DEL, C1), line and paragraph separators,
/// marks that turn the direction of writing, characters without width, and noncharacters that XML forbids.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// `text` with each [hidden](is_hidden) character, line breaks and tabs included, written as Rust and JSON with braces
/// write it: `\n`, `\t`, `\u{1b}`. One line whatever it was. O(length).
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out_and_all_else_stays() {
        assert_eq!(visible("a\u{1b}[31m\u{7}\r\n\t"), "a\\u{1b}[31m\\u{7}\\r\\n\\t");
        assert_eq!(visible("\u{9b}x\u{7f}\u{0}"), "\\u{9b}x\\u{7f}\\u{0}");
        for hidden in ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200b}', '\u{feff}', '\u{2028}', '\u{ffff}'] {
            assert_eq!(visible(&hidden.to_string()), format!("\\u{{{:x}}}", u32::from(hidden)));
        }
        let plain = "漢字 é ⊥ → ≠ \u{a0} 🦀 \\ \" <b>";
        assert_eq!(visible(plain), plain);
    }
}
