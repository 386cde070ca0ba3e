//! The wiki markup of Jira.

use isoscope_model::history::acts_in_line;
use isoscope_tell::document::{Block, Document, Inline, InlineText};
use std::fmt::Write;

/// The document; `picture` is the name of the attachment.
pub(super) fn jira(document: &Document, picture: &str) -> String {
    let mut out = String::new();
    for block in &document.blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = match block {
            Block::Heading(level, words) => writeln!(out, "h{level}. {}", escape(words)),
            Block::Paragraph(words) => writeln!(out, "{}", line(words)),
            Block::List(items) => items
                .iter()
                .try_for_each(|item| writeln!(out, "* {}", line(item))),
            Block::Numbered(first, items) => (*first..)
                .zip(items)
                .try_for_each(|(number, item)| writeln!(out, "{number}. {}", line(item))),
            Block::Table { header, rows } => {
                let cells = |cells: &[InlineText], bar: &str| {
                    cells.iter().map(cell).collect::<Vec<_>>().join(bar)
                };
                let head = writeln!(out, "||{}||", cells(header, "||"));
                rows.iter()
                    .try_fold((), |(), row| writeln!(out, "|{}|", cells(row, "|")))
                    .and(head)
            }
            Block::Code { language, text } => writeln!(out, "{}", preformatted(language, text)),
            Block::Picture => writeln!(out, "!{picture}|width=800!"),
            // Jira cannot fold, and the same is in a separate file.
            Block::Folded { .. } => continue,
        };
    }
    out
}

/// The markers end at their own name, so the text must not contain it.
fn preformatted(language: &str, text: &str) -> String {
    let text = text.trim_end_matches('\n');
    let is_known = matches!(language, "sql" | "sh");
    if is_known {
        format!(
            "{{code:{language}}}\n{}\n{{code}}",
            text.replace("{code}", "{ code }")
        )
    } else {
        format!(
            "{{noformat}}\n{}\n{{noformat}}",
            text.replace("{noformat}", "{ noformat }")
        )
    }
}

/// A cell must not be empty.
fn cell(words: &InlineText) -> String {
    let text = line(words);
    if text.is_empty() {
        " ".to_owned()
    } else {
        text
    }
}

fn line(words: &InlineText) -> String {
    let piece = |inline: &Inline| match inline {
        Inline::Text(words) => escape(words),
        Inline::Strong(words) => format!("*{}*", escape(words)),
        Inline::Code(words) => format!("{{{{{}}}}}", escape(words)),
        Inline::Break => "\\\\ ".to_owned(),
    };
    words.iter().map(piece).collect()
}

/// Prevents names from acting as markup.
fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '{' | '}' | '[' | ']' | '|' | '*' | '_' | '!' | '^' | '~' | '\\' | '#' | '@' => {
                out.extend(['\\', c])
            }
            '-' | '+' | '?' if out.is_empty() || out.ends_with(' ') => out.extend(['\\', c]),
            c if acts_in_line(c) => out.extend(c.escape_default()),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_tell::document::text;

    #[test]
    fn names_do_not_act_and_no_cell_is_empty() {
        let mut document = Document::default();
        document.blocks.push(Block::Table {
            header: vec![vec![text("a")], vec![text("b")]],
            rows: vec![vec![vec![text("x|{y}")], Vec::new()]],
        });
        document.blocks.push(Block::Code {
            language: "sql",
            text: "-- {code}\n".into(),
        });
        let expected = "||a||b||\n|x\\|\\{y\\}| |\n\n{code:sql}\n-- { code }\n{code}\n";
        assert_eq!(jira(&document, "p.png"), expected);
    }
}
