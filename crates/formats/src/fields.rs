//! What else operations of a log say: node, error, latency, a statement. It is read from the text of
//! an operation when it is looked at, so that keeping it costs nothing. And the command that opens the log of a server at the
//! moment of a transaction.

use crate::elle::Scanner;
use crate::operations::{Tree, is_shown_elsewhere, says_what_was_done};
use crate::raw::raw_spots;
use isoscope_model::control::Control;
use isoscope_model::history::{History, Outcome, Spot, TransactionId, cut, visible};
use std::collections::BTreeMap;
use std::path::Path;

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
    let is_operation = |fields: &[(Tree<'_>, Tree<'_>)]| {
        let mut names = fields.iter().filter_map(|(name, _)| name.word());
        names.any(says_what_was_done)
    };
    let fields = match tree {
        Some(Tree::Map(fields)) if is_operation(&fields) => fields,
        _ => return Vec::new(),
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

/// The name of the moment by the clock of the machine, which is no field of the log.
pub const WALL_CLOCK: &str = "wall clock";

/// Maximum number of fields of a transaction.
const MOST: usize = 10;

/// Other fields of a transaction, in the order of the log; with the moment by the clock of the machine first, where known.
pub type Fields = Vec<(String, String)>;

/// The other fields of transactions, in one pass over the file; without those of which nothing is known.
pub fn of(
    history: &History,
    transactions: &[TransactionId],
    control: &Control,
) -> BTreeMap<TransactionId, Fields> {
    let spot = |t: TransactionId| history.operations_of(t).find_map(|o| history.spot_of(o));
    let mut known: Vec<TransactionId> = transactions.to_vec();
    known.retain(|t| !t.is_initial());
    known.sort_unstable();
    known.dedup();
    let (at, spots): (Vec<TransactionId>, Vec<Spot>) =
        known.iter().filter_map(|&t| Some((t, spot(t)?))).unzip();
    let mut all: BTreeMap<TransactionId, Fields> = BTreeMap::new();
    for &t in &known {
        let wall = history.interval(t);
        let wall = wall.and_then(|interval| history.origin().wall(interval.start));
        all.entry(t)
            .or_default()
            .extend(wall.map(|wall| (WALL_CLOCK.to_owned(), wall)));
    }
    let path = Path::new(&history.origin().path);
    let texts = raw_spots(path, history.origin(), &spots, control).unwrap_or_default();
    for (t, text) in at.into_iter().zip(texts) {
        let fields = text.map_or_else(|_| Vec::new(), |text| fields_in(&text));
        all.entry(t)
            .or_default()
            .extend(fields.into_iter().take(MOST));
    }
    all.retain(|_, fields| !fields.is_empty());
    all
}

/// So many transactions show whether there are numbers at all.
const LOOKED_AT: usize = 100;

/// Most transactions whose fields are all read at once.
const MOST_FOR_NUMBERS: usize = 200_000;

/// The fields that are a number on every transaction that committed, with their numbers by place; none of a history with too
/// many transactions. One pass over the file.
pub fn numbers(history: &History, control: &Control) -> BTreeMap<String, Vec<Option<f64>>> {
    let n = history.n_transactions();
    let mut numbers: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    if n > MOST_FOR_NUMBERS {
        return numbers;
    }
    let all: Vec<TransactionId> = history.transactions().collect();
    // Most logs have none, which the first lines show.
    let is_number = |(_, value): &(String, String)| value.parse::<f64>().is_ok();
    let some = of(history, &all[..n.min(LOOKED_AT)], control);
    if !some.values().flatten().any(is_number) {
        return numbers;
    }
    for (t, fields) in of(history, &all, control) {
        for (name, value) in fields {
            let value = value.parse().ok().filter(|value: &f64| value.is_finite());
            let of_all = numbers.entry(name).or_insert_with(|| vec![None; n]);
            of_all[t.index()] = value;
        }
    }
    let did_commit = |t: &TransactionId| history.outcome(*t) == Outcome::Committed;
    let committed: Vec<usize> = all
        .into_iter()
        .filter(did_commit)
        .map(TransactionId::index)
        .collect();
    let is_on_all =
        |values: &mut Vec<Option<f64>>| committed.iter().all(|at| values[*at].is_some());
    numbers.retain(|_, values| !committed.is_empty() && is_on_all(values));
    numbers
}

/// A line of fields: `node n1 · error timeout`.
pub fn in_words(fields: &Fields) -> String {
    let words = fields.iter().map(|(name, value)| format!("{name} {value}"));
    words.collect::<Vec<_>>().join(" · ")
}

/// The command that opens the log of a server at the moment of a transaction, by the user's template: words separated by
/// blanks, in which `{wall}`, `{time}`, `{end}`, `{node}`, `{line}`, `{file}`, `{transaction}` and `{field:NAME}` are
/// filled in. The template is split before they are, and no shell sees them. A template never comes from a file that is read.
///
/// # Errors
/// A place that is not known of this transaction, or whose value could be taken for an option.
pub fn command(
    template: &str,
    history: &History,
    t: TransactionId,
    fields: &Fields,
) -> Result<Vec<String>, String> {
    let words = template.split_whitespace();
    let filled = words.map(|word| filled(word, history, t, fields));
    let command: Vec<String> = filled.collect::<Result<_, _>>()?;
    match command.is_empty() {
        true => Err("the command is empty".to_owned()),
        false => Ok(command),
    }
}

/// A word of a template with its places filled in.
fn filled(
    word: &str,
    history: &History,
    t: TransactionId,
    fields: &Fields,
) -> Result<String, String> {
    let (mut text, mut rest) = (String::new(), word);
    while let Some((before, (name, after))) = rest
        .split_once('{')
        .and_then(|(before, inside)| Some((before, inside.split_once('}')?)))
    {
        let value = place(name, history, t, fields).ok_or_else(|| {
            format!(
                "`{{{name}}}` is not known of {}",
                history.transaction_name(t)
            )
        })?;
        text.push_str(before);
        if text.is_empty() && value.starts_with('-') {
            return Err(format!(
                "`{{{name}}}` is `{}`, which could be taken for an option",
                visible(&value)
            ));
        }
        text.push_str(&value);
        rest = after;
    }
    Ok(text + rest)
}

/// What a place of a template says of a transaction.
fn place(name: &str, history: &History, t: TransactionId, fields: &Fields) -> Option<String> {
    let interval = || history.interval(t);
    let spot = || history.operations_of(t).find_map(|o| history.spot_of(o));
    let field = |name: &str| {
        let found = fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    match name {
        "wall" => history.origin().wall(interval()?.start),
        "time" => Some(interval()?.start.to_string()),
        "end" => Some(interval()?.end.to_string()),
        "node" => {
            let node = history.cluster().node_of(history.session_of(t));
            node.map(|node| node.to_string()).or_else(|| field("node"))
        }
        "line" => Some(spot()?.number.to_string()),
        "file" => Some(history.origin().path.clone()),
        "transaction" => Some(history.transaction_name(t)),
        _ => field(name.strip_prefix("field:")?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;

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
        assert!(
            shown(r#"{"id": "T1", "operations": []}"#).is_empty(),
            "no log"
        );
        assert!(shown("w(x) = 1").is_empty());
        assert!(shown("").is_empty());
    }

    #[test]
    fn a_template_is_filled_word_by_word() {
        let log = "{:type :ok, :process 0, :f :txn, :value [[:w :x 1]], :time 5, :node \"n1\"}\n";
        let input = Input::new("a b.edn", log.as_bytes());
        let history = crate::read(&input, None, &Control::new()).expect("a history");
        let t = history.transactions().next().expect("a transaction");
        let fields = vec![
            ("id".to_owned(), "7; rm -r /".to_owned()),
            ("flag".to_owned(), "--exec".to_owned()),
        ];
        let said = |template: &str| command(template, &history, t, &fields);
        assert_eq!(
            said("less +/{time} logs/{node}/{file}"),
            Ok(vec![
                "less".to_owned(),
                "+/5".to_owned(),
                "logs/n1/a b.edn".to_owned()
            ])
        );
        let one = said("grep {field:id}").expect("it is known");
        assert_eq!(one[1], "7; rm -r /", "one argument, and no shell");
        assert!(said("grep {field:flag}").is_err_and(|error| error.contains("option")));
        assert!(said("grep x{field:flag}").is_ok());
        assert!(said("less {wall}").is_err(), "nothing says when it began");
        assert!(said("less {nothing}").is_err());
        assert!(said("  ").is_err());
    }
}
