//! A text with headings, lists and tables as data, independent of its markup.

mod markdown;

pub use markdown::{Reader, markdown};

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Words.
    Text(String),
    /// Emphasized words; no blanks at the ends, which some dialects take for the end of the emphasis.
    Strong(String),
    /// Something typed or read by programs.
    Code(String),
    /// The next line of the same cell or paragraph.
    Break,
}

/// Words of a line or a cell.
pub type InlineText = Vec<Inline>;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading; 1 is the title of the whole.
    Heading(u8, String),
    /// A paragraph.
    Paragraph(InlineText),
    /// An unordered list.
    List(Vec<InlineText>),
    /// A list with numbers, the first of which is this one.
    Numbered(usize, Vec<InlineText>),
    /// A table; every row has as many cells as the header.
    Table {
        /// Names of the columns.
        header: Vec<InlineText>,
        /// The rows.
        rows: Vec<Vec<InlineText>>,
    },
    /// Lines for programs.
    Code {
        /// The language, as trackers name it: `sql`, `sh`, `none`.
        language: &'static str,
        /// The lines.
        text: String,
    },
    /// The picture.
    Picture,
    /// Something long that need not be visible at once. Omitted in dialects that cannot fold.
    Folded {
        /// Its title.
        title: String,
        /// The language.
        language: &'static str,
        /// The lines.
        text: String,
    },
}

/// A whole text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

/// Words.
pub fn text(words: impl Into<String>) -> Inline {
    Inline::Text(words.into())
}

/// Emphasized words.
pub fn strong(words: impl Into<String>) -> Inline {
    Inline::Strong(words.into())
}

/// Something typed or read by programs.
pub fn code(words: impl Into<String>) -> Inline {
    Inline::Code(words.into())
}

impl Document {
    /// Adds a heading; 1 is the title of the whole.
    pub fn heading(&mut self, level: u8, words: impl Into<String>) {
        self.blocks.push(Block::Heading(level, words.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, line: InlineText) {
        self.blocks.push(Block::Paragraph(line));
    }
}
