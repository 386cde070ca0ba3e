//! What the rules of a workload see, in words: a headline, a sentence, and the calls that show it.

use crate::document::{self, Block, Document, Inline, Reader, markdown, strong};
use isoscope_model::history::{History, Outcome, Shown, Workload, visible, visible_line};

/// A finding of the rules of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Workload, finding and number: `set/lost/1`.
    pub id: String,
    /// What was found: "Lost".
    pub title: String,
    /// Whether it counts, in words.
    pub rule: &'static str,
    /// A sentence, with the key where each key is by itself.
    pub statement: String,
    /// The calls that show it, a line each.
    pub calls: Vec<String>,
    /// What the rules say of the history.
    pub facts: Vec<String>,
}

/// What the rules of a workload say of a history, in sentences.
fn facts(workload: &Workload) -> Vec<String> {
    let answers = workload.like_jepsen.iter();
    let answers: Vec<String> = answers
        .map(|(rule, answer)| format!("{rule} {}", answer.word()))
        .collect();
    let by_jepsen = format!(
        "By the rules of Jepsen's checkers the whole log is: {}.",
        answers.join(", ")
    );
    let by_jepsen = Some(by_jepsen).filter(|_| !answers.is_empty());
    by_jepsen.into_iter().chain(workload.undecided()).collect()
}

/// The finding at a place, if the history has so many. O(findings).
pub fn told(history: &History, place: usize) -> Option<Told> {
    let workload = history.workload()?;
    let fact = workload.facts.get(place)?;
    let key = fact.key.as_ref();
    let key = key.map_or_else(String::new, |key| format!("Key {}: ", visible(key)));
    Some(Told {
        id: workload.ids().swap_remove(place),
        title: capitalized(fact.name),
        rule: match fact.counts {
            true => "counts as a violation",
            false => "does not count as a violation",
        },
        statement: visible_line(&capitalized(&format!("{key}{}.", fact.statement))),
        calls: fact.calls.iter().map(|call| line(history, call)).collect(),
        facts: facts(workload),
    })
}

/// Findings of a history as text or Markdown, each below its id, and at last what the rules say of the history.
pub fn text(history: &History, places: impl IntoIterator<Item = usize>, plain: bool) -> String {
    let told = places.into_iter().filter_map(|place| told(history, place));
    let texts = told.map(|told| Told {
        facts: Vec::new(),
        ..told
    });
    let write = |told: Told| match plain {
        true => told.plain_text(),
        false => told.markdown(),
    };
    let mut texts: Vec<String> = texts.map(write).collect();
    if texts.is_empty() {
        return String::new();
    }
    let facts = history.workload().map_or_else(Vec::new, facts);
    texts.push(facts.join("\n\n") + "\n");
    texts.join("\n")
}

/// "S0#1 (session 0 on n1, line 2): add 1", with how it ended if it did not succeed.
fn line(history: &History, call: &Shown) -> String {
    let t = call.transaction;
    let first = history.operations_of(t).next();
    let spot = first.and_then(|first| history.spot_of(first));
    let spot = spot.map_or_else(String::new, |spot| {
        format!(", {}", spot.text(history.origin()))
    });
    let ended = match history.outcome(t) {
        Outcome::Committed => String::new(),
        other => format!(" ({})", other.words()),
    };
    format!(
        "{} (session {}{spot}): {}{ended}",
        history.transaction_name(t),
        history.session_and_node(history.session_of(t)),
        visible_line(&call.said)
    )
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

impl Told {
    /// All of it as Markdown, below a heading of level 1 with its id.
    pub fn markdown(&self) -> String {
        let line = |line: &String| -> Vec<Inline> { vec![document::text(line)] };
        let mut document = Document::default();
        document.heading(1, &self.id);
        document.paragraph(vec![
            strong(&self.title),
            document::text(format!(" ({}). {}", self.rule, self.statement)),
        ]);
        document
            .blocks
            .push(Block::List(self.calls.iter().map(line).collect()));
        for fact in &self.facts {
            document.paragraph(vec![document::text(fact)]);
        }
        markdown(&document, Reader::Anyone)
    }

    /// All of it as plain text, below its id.
    pub fn plain_text(&self) -> String {
        let mut out = format!(
            "{}\n{} ({}). {}\n",
            self.id, self.title, self.rule, self.statement
        );
        for line in self
            .calls
            .iter()
            .map(|call| format!("  {call}"))
            .chain(self.facts.clone())
        {
            out += &line;
            out.push('\n');
        }
        out
    }
}
