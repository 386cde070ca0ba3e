//! The filter of the anomaly list: words that must all be found; some are fields that must match whole.

use crate::history::as_typed;

/// One word of the filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// `key:4`: the whole field.
    Field(String),
    /// `is:bookmarked`, `is:noted`, `tag:x`: what the user wrote about it.
    Own(String),
    /// Anywhere.
    Part(String),
}

/// The fields that a word may name.
const FIELDS: [&str; 6] = ["key", "session", "txn", "edge", "level", "pattern"];

impl Term {
    /// Parses one word.
    pub fn parse(word: &str) -> Term {
        let word = as_typed(word).to_lowercase();
        match word.split_once(':').filter(|(_, value)| !value.is_empty()) {
            Some((field, _)) if FIELDS.contains(&field) => Term::Field(format!("|{word}|")),
            Some(("is" | "tag", _)) => Term::Own(word),
            _ => Term::Part(word),
        }
    }

    /// Whether an anomaly with these fields passes; `own` decides the words about what the user wrote.
    pub fn matches(&self, search: &str, own: impl FnOnce(&str) -> bool) -> bool {
        match self {
            Term::Field(text) | Term::Part(text) => search.contains(text),
            Term::Own(word) => own(word),
        }
    }

    /// Whether it passes if a letter may be missing, extra or wrong; fields must still match whole.
    pub fn is_like(&self, search: &str, title: &str, own: impl FnOnce(&str) -> bool) -> bool {
        match self {
            Term::Part(word) => {
                search.contains(word) || (word.chars().count() >= 4 && is_nearly_in(word, title))
            }
            _ => self.matches(search, own),
        }
    }
}

/// Whether `word` is in `text` with at most one edit (Sellers' algorithm). O(length · length).
fn is_nearly_in(word: &str, text: &str) -> bool {
    let word: Vec<char> = word.chars().collect();
    let mut column: Vec<usize> = (0..=word.len()).collect();
    for letter in text.chars() {
        let mut diagonal = column[0];
        for (row, wanted) in word.iter().enumerate() {
            let here = (diagonal + usize::from(*wanted != letter))
                .min(column[row] + 1)
                .min(column[row + 1] + 1);
            diagonal = std::mem::replace(&mut column[row + 1], here);
        }
        if column[word.len()] <= 1 {
            return true;
        }
    }
    false
}

/// The words of a filter; one that is quoted, or has a quoted part, may contain blanks.
pub fn words(filter: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in filter.chars() {
        match letter {
            '"' => quoted = !quoted,
            blank if blank.is_whitespace() && !quoted => {
                words.extend(Some(std::mem::take(&mut word)))
            }
            other => word.push(other),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// A word as typed: quoted if it contains blanks.
fn typed(word: &str) -> String {
    match (word.contains(char::is_whitespace), word.split_once(':')) {
        (false, _) => word.to_owned(),
        (true, Some((field, value))) => format!("{field}:\"{value}\""),
        (true, None) => format!("\"{word}\""),
    }
}

/// Adds a word to a filter, or removes it if present.
pub fn toggle_word(filter: &str, word: &str) -> String {
    let mut words = words(filter);
    match words
        .iter()
        .position(|w| w.to_lowercase() == word.to_lowercase())
    {
        Some(at) => drop(words.remove(at)),
        None => words.push(word.to_owned()),
    }
    words
        .iter()
        .map(|word| typed(word))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_added_and_taken_away() {
        assert_eq!(toggle_word("tap-k", "key:4"), "tap-k key:4");
        assert_eq!(toggle_word("tap-k KEY:4", "key:4"), "tap-k");
        assert_eq!(toggle_word("a", "key:my key"), "a key:\"my key\"");
        assert_eq!(toggle_word("a key:\"my key\"", "key:my key"), "a");
    }

    #[test]
    fn one_wrong_letter_is_forgiven() {
        for word in ["fracturd", "frractured", "fraktured", "fractured"] {
            assert!(is_nearly_in(word, "fractured read"), "{word}");
        }
        assert!(!is_nearly_in("serial", "fractured read"));
    }

    #[test]
    fn fields_must_match_whole() {
        let search = "|tap-k|key:4|session:2|";
        assert!(Term::parse("key:4").matches(search, |_| false));
        assert!(!Term::parse("session:22").matches(search, |_| false));
        assert!(Term::parse("key:\u{2068}שלום\u{2069}").matches("|key:שלום|", |_| false));
        assert!(Term::parse("is:bookmarked").matches(search, |word| word == "is:bookmarked"));
    }
}
