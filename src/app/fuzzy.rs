//! How well a name matches what the user typed: all letters in order, better at the beginnings of words and if
//! adjacent.

/// How well `name` matches `wanted`, greater is better; none if a letter of `wanted` is missing. Case does not matter;
/// spaces in `wanted` separate words that may come in any order. O(length of both, times words).
pub fn score(wanted: &str, name: &str) -> Option<i32> {
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let mut sum = 0;
    for word in wanted.split_whitespace() {
        let word: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        sum += word_score(&word, &name)?;
    }
    // Among equally good names, the shorter one wins.
    Some(sum - name.len() as i32 / 8)
}

/// [`score`] for a longer text: each word of `wanted` must occur in it as it is.
pub fn score_in_text(wanted: &str, text: &str) -> Option<i32> {
    let lower = text.to_lowercase();
    wanted
        .to_lowercase()
        .split_whitespace()
        .all(|word| lower.contains(word))
        .then(|| score(wanted, text))
        .flatten()
}

fn word_score(word: &[char], name: &[char]) -> Option<i32> {
    if let Some(at) = name
        .windows(word.len().max(1))
        .position(|part| part == word)
    {
        let start = begins_word(name, at);
        return Some(word.len() as i32 * 8 + if start { 12 } else { 0 } - (at as i32).min(10) / 2);
    }
    let (mut sum, mut from, mut last) = (0, 0, None);
    for letter in word {
        let at = from + name[from..].iter().position(|c| c == letter)?;
        sum += match last {
            Some(last) if last + 1 == at => 4,
            _ if begins_word(name, at) => 3,
            _ => 0,
        };
        (from, last) = (at + 1, Some(at));
    }
    Some(sum)
}

fn begins_word(name: &[char], at: usize) -> bool {
    at == 0
        || !name[at - 1].is_alphanumeric()
        || (name[at].is_ascii_digit() && !name[at - 1].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
        let scored = names
            .iter()
            .filter_map(|name| score(wanted, name).map(|score| (score, *name)));
        scored.max_by_key(|(score, _)| *score).map(|(_, name)| name)
    }

    #[test]
    fn the_name_that_is_meant_comes_first() {
        let names = [
            "Zoom in",
            "Next anomaly",
            "Next step",
            "Export…",
            "Expand evidence",
        ];
        assert_eq!(best("nan", &names), Some("Next anomaly"));
        assert_eq!(best("evid", &names), Some("Expand evidence"));
        assert_eq!(best("step next", &names), Some("Next step"));
        assert_eq!(best("ZOOM", &names), Some("Zoom in"));
        assert_eq!(best("xyz", &names), None);
        assert_eq!(best("T29", &["T1295", "T295"]), Some("T295"));
    }

    #[test]
    fn a_text_has_the_words_themselves() {
        assert!(
            score_in_text("sweep over", "Checkers: a sweep over generated histories").is_some()
        );
        assert_eq!(
            score_in_text("sweep", "Save what the page shows as a picture"),
            None
        );
    }

    #[test]
    fn nothing_typed_fits_everything() {
        assert!(score("", "anything").is_some());
    }
}
