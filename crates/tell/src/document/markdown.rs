//! Markdown as GitHub and GitLab read it.

use super::{Block, Document, Inline, InlineText};
use isoscope_model::history::visible_line;
use std::fmt::Write;

/// Who is shown the Markdown.
#[derive(Clone, Copy, Debug)]
pub enum Reader<'a> {
    /// A person, with the text as it is or rendered.
    Anyone,
    /// A tracker, where names could also mention people and issues.
    Tracker {
        /// The file with the picture.
        picture: &'a str,
        /// What the picture shows, in words.
        alt: &'a str,
    },
}

/// The document as Markdown, ending with a newline. Pictures are for trackers only.
pub fn markdown(document: &Document, reader: Reader<'_>) -> String {
    let escape = |words: &str| escape(words, reader);
    let line = |words: &InlineText| line(words, reader);
    let mut out = String::new();
    for block in &document.blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = match block {
            Block::Heading(level, words) => {
                writeln!(out, "{} {}", "#".repeat(usize::from(*level)), escape(words))
            }
            Block::Paragraph(words) => writeln!(out, "{}", line(words)),
            Block::List(items) => items
                .iter()
                .try_for_each(|item| writeln!(out, "- {}", line(item))),
            Block::Numbered(first, items) => (*first..)
                .zip(items)
                .try_for_each(|(number, item)| writeln!(out, "{number}. {}", line(item))),
            Block::Table { header, rows } => {
                let row =
                    |cells: &[InlineText]| cells.iter().map(line).collect::<Vec<_>>().join(" | ");
                let head = writeln!(out, "| {} |\n|{}", row(header), "---|".repeat(header.len()));
                rows.iter()
                    .try_fold((), |(), cells| writeln!(out, "| {} |", row(cells)))
                    .and(head)
            }
            Block::Code { language, text } => writeln!(out, "{}", fenced(language, text)),
            Block::Picture => match reader {
                Reader::Tracker { picture, alt } => {
                    writeln!(out, "![{}]({picture})", escape(alt))
                }
                Reader::Anyone => Ok(()),
            },
            Block::Folded {
                title,
                language,
                text,
            } => writeln!(
                out,
                "<details><summary>{}</summary>\n\n{}\n\n</details>",
                escape(title),
                fenced(language, text)
            ),
        };
    }
    out
}

/// A fence longer than any inside.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    let language = if language == "none" { "" } else { language };
    format!(
        "{fence}{language}\n{}\n{fence}",
        text.trim_end_matches('\n')
    )
}

fn line(words: &InlineText, reader: Reader<'_>) -> String {
    let piece = |inline: &Inline| match inline {
        Inline::Text(words) => escape(words, reader),
        Inline::Strong(words) => format!("**{}**", escape(words, reader)),
        Inline::Code(words) => code(words),
        Inline::Break => "<br>".to_owned(),
    };
    words.iter().map(piece).collect()
}

/// Inline code, also in tables: a bar must be escaped there even in code.
fn code(words: &str) -> String {
    let words = visible_line(words).replace('|', "\\|");
    let longest = words.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let tick = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{tick}{pad}{words}{pad}{tick}")
}

/// Prevents names from acting as Markdown or HTML, in trackers also as mentions or references to issues: there the name of
/// a transaction such as `web03#34` is in code marks, which anyone can read unrendered, too.
fn escape(words: &str, reader: Reader<'_>) -> String {
    let words = visible_line(words);
    if !matches!(reader, Reader::Tracker { .. }) {
        return escaped(&words, false);
    }
    let is_of_name = |c: char| c.is_alphanumeric() || "#_-.:/".contains(c);
    let mut out = String::with_capacity(words.len());
    let mut rest = words.as_str();
    while let Some(first) = rest.chars().next() {
        let n = rest.find(|c| is_of_name(c) != is_of_name(first));
        let (run, after) = rest.split_at(n.unwrap_or(rest.len()));
        let name = run.trim_end_matches(['.', ':', '-']);
        match name.find('#') {
            Some(at) if at > 0 && at + 1 < name.len() => {
                out += &code(name);
                out += &escaped(&run[name.len()..], true);
            }
            _ => out += &escaped(run, true),
        }
        rest = after;
    }
    out
}

fn escaped(words: &str, is_tracker: bool) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '~' if is_tracker => out.extend(['\\', c]),
            '#' if is_tracker => out.push_str("&#35;"),
            '@' if is_tracker => out.push_str("&#64;"),
            '&' if is_tracker => out.push_str("&amp;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{strong, text};

    #[test]
    fn names_do_not_act() {
        let mut document = Document::default();
        document.heading(2, "a*b @c #1");
        document.paragraph(vec![
            text("<i>|"),
            strong("x_y"),
            Inline::Code("a`|b".into()),
        ]);
        let tracker = Reader::Tracker {
            picture: "p.svg",
            alt: "",
        };
        assert_eq!(
            markdown(&document, tracker),
            "## a\\*b &#64;c &#35;1\n\n&lt;i&gt;\\|**x\\_y**`` a`\\|b ``\n"
        );
        let mut named = Document::default();
        named.paragraph(vec![text("web03#34's read, after web19#25.")]);
        assert_eq!(
            markdown(&named, tracker),
            "`web03#34`'s read, after `web19#25`.\n"
        );
        assert_eq!(
            markdown(&document, Reader::Anyone),
            "## a\\*b @c #1\n\n&lt;i&gt;\\|**x\\_y**`` a`\\|b ``\n"
        );
        assert!(fenced("none", "a\n```\n").starts_with("````\n"));
    }
}
