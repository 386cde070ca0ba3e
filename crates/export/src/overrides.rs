//! What is kept in a picture, and what is left out of it, by choice.

use isoscope_draw::diagram::layout::{Layout, LayoutStyle, lanes_moved};
use isoscope_draw::diagram::{Card, Diagram};
use isoscope_model::history::{OperationId, SessionId, TransactionId};
use isoscope_model::relations::EdgeIndex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// A part of a counterexample, in terms of its own history. Written `t3`, `o7` or `e2`: kind and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Part {
    /// A transaction: its card.
    Transaction(TransactionId),
    /// An operation: its row.
    Operation(OperationId),
    /// An edge of the violation: its arrow.
    Edge(EdgeIndex),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Transaction(t) => write!(f, "t{}", t.index()),
            Part::Operation(o) => write!(f, "o{}", o.index()),
            Part::Edge(e) => write!(f, "e{e}"),
        }
    }
}

impl From<Part> for String {
    fn from(part: Part) -> String {
        part.to_string()
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Part, String> {
        let unknown =
            || format!("`{text}` names no part of a picture, expected for example t3, o7 or e2");
        let kind = text.chars().next().ok_or_else(unknown)?;
        let place: u32 = text[kind.len_utf8()..].parse().map_err(|_| unknown())?;
        match kind {
            't' => Ok(Part::Transaction(TransactionId::new(place as usize))),
            'o' => Ok(Part::Operation(OperationId::new(place as usize))),
            'e' => Ok(Part::Edge(place as usize)),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Part {
    type Error = String;

    fn try_from(text: String) -> Result<Part, String> {
        text.parse()
    }
}

/// What is kept in a picture, and what is left out of it, whatever the other options. Nothing is both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overrides {
    /// Drawn although the evidence that it belongs to is folded.
    pub kept: BTreeSet<Part>,
    /// Not drawn; the picture says how many are missing.
    pub left_out: BTreeSet<Part>,
    /// Sessions of the counterexample whose transactions are drawn as one card.
    pub folded: BTreeSet<SessionId>,
    /// Every transaction of a long cycle is drawn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole_cycle: bool,
    /// Cards moved from where the layout put them: upper left corners, in whole units of the picture.
    pub moved: BTreeMap<LayoutStyle, BTreeMap<TransactionId, (i32, i32)>>,
}

impl Overrides {
    /// Keeps a part, or gives it free again.
    pub fn keep(&mut self, part: Part) {
        self.left_out.remove(&part);
        if !self.kept.remove(&part) {
            self.kept.insert(part);
        }
    }

    /// Leaves a part out, or puts it back.
    pub fn leave_out(&mut self, part: Part) {
        self.kept.remove(&part);
        if !self.left_out.remove(&part) {
            self.left_out.insert(part);
        }
    }

    /// Folds a session into one card, or unfolds it.
    pub fn fold(&mut self, session: SessionId) {
        if !self.folded.remove(&session) {
            self.folded.insert(session);
        }
    }

    /// Moves the card of a transaction.
    pub fn put(&mut self, style: LayoutStyle, transaction: TransactionId, at: (f32, f32)) {
        let at = (at.0.round() as i32, at.1.round() as i32);
        self.moved.entry(style).or_default().insert(transaction, at);
    }

    /// A layout of this style with the cards where they were put. O(cards + edges of moved cards · edges).
    pub fn moved(&self, style: LayoutStyle, diagram: &Diagram, layout: Layout) -> Layout {
        let Some(moved) = self.moved.get(&style) else {
            return layout;
        };
        let place = |(place, card): (usize, &Card)| {
            moved
                .get(&card.transaction)
                .map(|&(x, y)| (place, emath::pos2(x as f32, y as f32)))
        };
        let places: Vec<_> = diagram.cards.iter().enumerate().filter_map(place).collect();
        if places.is_empty() {
            layout
        } else {
            lanes_moved(diagram, &layout, &places)
        }
    }

    /// Whether nothing is chosen.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
            && self.left_out.is_empty()
            && self.folded.is_empty()
            && !self.whole_cycle
            && self.moved.is_empty()
    }

    /// Whether an edge between these transactions is left out, itself or with one of its ends.
    pub(super) fn omits(&self, edge: EdgeIndex, ends: [TransactionId; 2]) -> bool {
        self.left_out.contains(&Part::Edge(edge))
            || ends
                .iter()
                .any(|&t| self.left_out.contains(&Part::Transaction(t)))
    }

    /// How much is left out, in words: `+ 2 other edges`.
    pub fn others(&self) -> Vec<String> {
        let count = |is_one: fn(&Part) -> bool, what: &str| {
            let n = self.left_out.iter().filter(|part| is_one(part)).count();
            (n > 0).then(|| format!("+ {n} other {what}{}", if n == 1 { "" } else { "s" }))
        };
        let counts = [
            count(|part| matches!(part, Part::Transaction(_)), "transaction"),
            count(|part| matches!(part, Part::Operation(_)), "operation"),
            count(|part| matches!(part, Part::Edge(_)), "edge"),
        ];
        counts.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_as_they_are_read() {
        for part in [
            Part::Transaction(TransactionId::new(3)),
            Part::Operation(OperationId::new(0)),
            Part::Edge(12),
        ] {
            assert_eq!(part.to_string().parse(), Ok(part));
        }
        for text in ["", "t", "x3", "e-1", "⊥1"] {
            assert!(
                text.parse::<Part>()
                    .is_err_and(|problem| problem.contains("expected")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_kept_is_not_left_out() {
        let mut overrides = Overrides::default();
        overrides.keep(Part::Edge(1));
        overrides.leave_out(Part::Edge(1));
        overrides.leave_out(Part::Edge(2));
        assert!(overrides.kept.is_empty());
        assert_eq!(overrides.others(), ["+ 2 other edges"]);
        overrides.leave_out(Part::Edge(2));
        overrides.keep(Part::Edge(1));
        assert_eq!((overrides.others(), overrides.kept.len()), (Vec::new(), 1));
    }
}
