//! What operations of a log say beside what is read of them: node, error, latency, a statement. It is read from the text of
//! an operation when it is looked at, so that keeping it costs nothing.

use crate::elle::Scanner;
use crate::operations::{Tree, is_shown_elsewhere};
use isoscope_model::history::{cut, visible};

/// Longest value that is shown, in characters.
const LONGEST: usize = 120;

/// Names and values of the fields of the operation that this text holds, in its order, without those that every picture
/// shows; none where the text is no single map. O(text).
pub fn fields_in(text: &str) -> Vec<(String, String)> {
    let text = text.trim().trim_end_matches(',');
    let at = text.find('{').unwrap_or(0);
    let is_json = text[at..]
        .trim_start_matches('{')
        .trim_start()
        .starts_with('"');
    let tree = match is_json {
        true => whole::<true>(&text[at..]),
        false => whole::<false>(&text[at..]),
    };
    let Some(Tree::Map(fields)) = tree else {
        return Vec::new();
    };
    let shown = |(name, value): (Tree<'_>, Tree<'_>)| {
        let name = name.word()?.to_owned();
        let is_told = is_shown_elsewhere(&name) || value.is_nil();
        (!is_told).then(|| {
            (
                visible(&name),
                visible(&cut(value.in_words().trim_matches('"'), LONGEST)),
            )
        })
    };
    fields.into_iter().filter_map(shown).collect()
}

/// The only value of a text, perhaps before a bracket that closes a list.
fn whole<const JSON: bool>(text: &str) -> Option<Tree<'_>> {
    let mut scan = Scanner::<JSON>::new("", text.as_bytes());
    let tree = scan.tree().ok()?;
    scan.blanks().ok()?;
    let is_last = scan
        .rest()
        .iter()
        .all(|byte| b")],".contains(byte) || byte.is_ascii_whitespace());
    is_last.then_some(tree)
}

#[cfg(test)]
mod tests {
    use super::fields_in;

    fn shown(text: &str) -> Vec<String> {
        let fields = fields_in(text).into_iter();
        fields
            .map(|(name, value)| format!("{name} {value}"))
            .collect()
    }

    #[test]
    fn fields_that_are_not_read_are_known() {
        let edn = "{:type :fail, :process 3, :f :txn, :value [[:r 1 nil]], :time 9, :node \"n1\", :error [:timeout {:ms 5}]}";
        assert_eq!(shown(edn), ["node n1", "error [timeout {ms 5}]"]);
        assert_eq!(
            shown(&format!("[{edn},")),
            ["node n1", "error [timeout {ms 5}]"]
        );
        let json =
            r#"{"type":"ok","process":1,"f":"read","value":4,"latency":0.5,"sql":"SELECT 1"}"#;
        assert_eq!(shown(json), ["latency 0.5", "sql SELECT 1"]);
        assert!(shown(&format!("{edn} {edn}")).is_empty(), "two operations");
        assert!(shown("w(x) = 1").is_empty());
        assert!(shown("").is_empty());
    }
}
