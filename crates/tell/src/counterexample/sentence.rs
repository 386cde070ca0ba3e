//! Words that know what they mention, so that what shows them can colour and link without reading them again.

use isoscope_model::history::{KeyId, OperationId, TransactionId};
use std::cell::Cell;
use std::fmt::{self, Write};
use std::ops::{Deref, Range};

/// What a piece of a sentence mentions. Ids are those of the history that the sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// A transaction, by name.
    Transaction(TransactionId),
    /// A key, by name.
    Key(KeyId),
    /// The value that this operation read or wrote.
    Value(OperationId),
    /// The list that this operation read.
    List(OperationId),
    /// The place of an operation in the file: "line 40".
    Place(OperationId),
    /// A step of the argument, by its number from 1.
    Step(usize),
}

/// A sentence, or a part of one: text, and what pieces of it mention. Displayed and compared as its text.
///
/// Inside this crate `say!` makes one as `format!` makes a `String`; what the arguments mention is kept.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    text: String,
    /// Places in the text, ascending and apart from each other.
    mentions: Vec<(Range<usize>, Mention)>,
}

/// A [`Sentence`] from a format string and its arguments.
macro_rules! say {
    ($($format:tt)*) => {
        $crate::counterexample::Sentence::of(format_args!($($format)*))
    };
}
pub(in crate::counterexample) use say;

thread_local! {
    /// What the words mention that are being written: a formatter hands on nothing but text.
    static MENTIONED: Cell<Option<Mention>> = const { Cell::new(None) };
}

impl Sentence {
    /// The words of `arguments`, with what they mention.
    pub fn of(arguments: fmt::Arguments<'_>) -> Sentence {
        let mut sentence = Sentence::default();
        // Writing to memory does not fail.
        let _ = fmt::write(&mut sentence, arguments);
        sentence
    }

    /// A name, which mentions what it names.
    pub(super) fn name(text: String, mention: Mention) -> Sentence {
        let mentions = vec![(0..text.len(), mention)];
        Sentence { text, mentions }
    }

    /// All of these with `between` between them.
    pub(super) fn join(
        parts: impl IntoIterator<Item = impl fmt::Display>,
        between: &str,
    ) -> Sentence {
        let mut all = Sentence::default();
        for part in parts {
            let between = if all.is_empty() { "" } else { between };
            let _ = write!(all, "{between}{part}");
        }
        all
    }

    /// The pieces in order, each with what it mentions.
    pub fn spans(&self) -> impl Iterator<Item = (&str, Option<Mention>)> {
        let begins = std::iter::once(0).chain(self.mentions.iter().map(|(range, _)| range.end));
        let words = begins.zip(self.mentions.iter().map(Some).chain([None]));
        words
            .flat_map(|(begin, named)| match named {
                Some((range, mention)) => [
                    (&self.text[begin..range.start], None),
                    (&self.text[range.clone()], Some(*mention)),
                ],
                None => [(&self.text[begin..], None), ("", None)],
            })
            .filter(|(text, _)| !text.is_empty())
    }

    /// With a capital letter, unless it begins with a name, which stays as in the file.
    pub(super) fn begun(mut self) -> Sentence {
        let is_name = self.mentions.first().is_some_and(|(at, _)| at.start == 0);
        if let Some(first) = self.text.get_mut(..1).filter(|_| !is_name) {
            first.make_ascii_uppercase();
        }
        self
    }
}

impl Write for Sentence {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let begin = self.text.len();
        self.text.push_str(text);
        if let Some(mention) = MENTIONED.take() {
            self.mentions.push((begin..self.text.len(), mention));
        }
        Ok(())
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spans().try_for_each(|(text, mention)| {
            MENTIONED.set(mention);
            let written = f.write_str(text);
            MENTIONED.set(None);
            written
        })
    }
}

impl Deref for Sentence {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Sentence {
        let mentions = Vec::new();
        Sentence { text, mentions }
    }
}

impl From<&str> for Sentence {
    fn from(text: &str) -> Sentence {
        text.to_owned().into()
    }
}

impl From<Sentence> for String {
    fn from(sentence: Sentence) -> String {
        sentence.text
    }
}

impl PartialEq for Sentence {
    fn eq(&self, other: &Sentence) -> bool {
        self.text == other.text
    }
}

impl Eq for Sentence {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_they_mention() {
        let t =
            |n: usize| Sentence::name(format!("T{n}"), Mention::Transaction(TransactionId::new(n)));
        let inner = say!("{} read from {}", t(3), t(1));
        let both = Sentence::join([inner, say!("and {} did not", t(2))], "; ");
        assert_eq!(both.to_string(), "T3 read from T1; and T2 did not");
        let named = |text: &'static str, n: usize| {
            (text, Some(Mention::Transaction(TransactionId::new(n))))
        };
        let spans: Vec<_> = both.spans().collect();
        let words = |text: &'static str| (text, None);
        assert_eq!(
            spans,
            [
                named("T3", 3),
                words(" read from "),
                named("T1", 1),
                words("; and "),
                named("T2", 2),
                words(" did not")
            ]
        );
        assert_eq!(both.begun().to_string(), "T3 read from T1; and T2 did not");
        assert_eq!(
            say!("in this case {}", t(1)).begun().to_string(),
            "In this case T1"
        );
    }
}
