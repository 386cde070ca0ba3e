//! How the user has arranged things: what undo reverts and what a project file stores.

use super::App;
use super::grouping::GroupBy;
use super::notes::Notes;
use super::picture::LayoutKind;
use crate::checkers::ViolationId;
use crate::export::Overrides;
use crate::history::{Annotation, TransactionId};
use crate::relations::{EdgeIndex, Relation};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of changes that can be undone.
const MAX: usize = 200;

/// Everything the user arranges around a history. The selection and the current page are not part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// What the anomaly list is filtered by.
    pub filter: String,
    /// What the list is grouped by: a word of [`GroupBy`].
    pub group_by: String,
    /// Codes of the relations whose edges are not drawn.
    pub hidden_relations: BTreeSet<String>,
    /// Names of the transactions that are not drawn.
    pub hidden_transactions: BTreeSet<String>,
    /// `sessions` or `layers`.
    pub layout: String,
    /// What stays in a picture and what is left out of it by choice, by identity of the anomaly.
    #[serde(rename = "picks")]
    pub overrides: BTreeMap<String, Overrides>,
    /// What was tested, where the user says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tested: String,
    /// Bookmarks, notes and tags.
    pub notes: Notes,
    /// What is marked in the history.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Annotation>,
    /// Transactions chosen for a what-if. Undone, but not stored.
    #[serde(skip)]
    pub chosen: BTreeSet<TransactionId>,
    /// The inferred edges whose evidence is drawn, of which anomaly. Undone, but stored with the view.
    #[serde(skip)]
    pub evidence: (Option<ViolationId>, Option<BTreeSet<EdgeIndex>>),
}

/// Changes that can be undone, and those that were.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    past: Vec<Arrangement>,
    future: Vec<Arrangement>,
    now: Option<Arrangement>,
    /// The last change was typing in the filter or a note.
    typing: bool,
}

impl Undo {
    /// Records the current arrangement. Typing is one change, however many letters.
    pub fn note(&mut self, arrangement: Arrangement) {
        let Some(mut before) = self.now.take() else {
            self.now = Some(arrangement);
            return;
        };
        if before.evidence.0 != arrangement.evidence.0 {
            // Another anomaly has other evidence.
            before.evidence = arrangement.evidence.clone();
        }
        if before != arrangement {
            let typing = is_typing(&before, &arrangement);
            if !(typing && self.typing) {
                self.past.push(before);
                self.past.drain(..self.past.len().saturating_sub(MAX));
            }
            self.typing = typing;
            self.future.clear();
        }
        self.now = Some(arrangement);
    }

    /// Records an arrangement that the user did not make and cannot undo.
    pub fn settle(&mut self, arrangement: Arrangement) {
        self.now = Some(arrangement);
    }

    /// The next change is not merged with the last one.
    pub fn pause(&mut self) {
        self.typing = false;
    }

    /// The arrangement before the last change, if there was one.
    pub fn undo(&mut self) -> Option<Arrangement> {
        let before = self.past.pop()?;
        self.future.extend(self.now.replace(before.clone()));
        self.typing = false;
        Some(before)
    }

    /// The arrangement that was undone last.
    pub fn redo(&mut self) -> Option<Arrangement> {
        let after = self.future.pop()?;
        self.past.extend(self.now.replace(after.clone()));
        self.typing = false;
        Some(after)
    }

    /// Another history is open.
    pub fn clear(&mut self) {
        *self = Undo::default();
    }
}

/// Whether only the text of the filter, of one note or of one mark differs.
fn is_typing(before: &Arrangement, after: &Arrangement) -> bool {
    let same_but_filter = Arrangement {
        filter: after.filter.clone(),
        ..before.clone()
    } == *after;
    // A word that a click adds or removes is not typing.
    let letters = before.filter.len().abs_diff(after.filter.len()) <= 1;
    let texts = |arrangement: &Arrangement| {
        let mut without = arrangement.clone();
        without
            .notes
            .values_mut()
            .for_each(|note| note.text.clear());
        without.notes.retain(|_, note| !note.is_empty());
        without.marks.iter_mut().for_each(|mark| mark.text.clear());
        without
    };
    (same_but_filter && letters) || (before.filter == after.filter && texts(before) == texts(after))
}

impl App {
    /// The current arrangement.
    pub(super) fn arrangement(&self) -> Option<Arrangement> {
        let document = self.state.document.as_ref()?;
        let name = |t: &TransactionId| {
            document
                .history
                .as_ref()
                .map(|history| history.transaction_name(*t))
        };
        let named = document.visibility.hidden.iter().filter_map(name);
        Some(Arrangement {
            filter: document.tree.filter().to_owned(),
            group_by: document.tree.by().word().to_owned(),
            hidden_relations: self
                .state
                .hidden
                .iter()
                .map(|relation| relation.code().to_owned())
                .collect(),
            hidden_transactions: named
                .chain(document.visibility.hidden_names.iter().cloned())
                .collect(),
            layout: layout_word(self.state.layout).to_owned(),
            overrides: document
                .visibility
                .overrides
                .iter()
                .filter(|(_, p)| !p.is_empty())
                .map(|(i, p)| (i.clone(), p.clone()))
                .collect(),
            tested: document.tested.clone(),
            notes: document.notes.clone(),
            marks: document.marks.all.clone(),
            chosen: document.parts.chosen.clone(),
            evidence: (document.selected, document.argument.evidence.clone()),
        })
    }

    /// Restores this arrangement.
    pub(super) fn arrange(&mut self, arrangement: Arrangement) {
        let hidden = |relation: &Relation| arrangement.hidden_relations.contains(relation.code());
        self.state.hidden = Relation::ALL.into_iter().filter(hidden).collect();
        let Some(document) = &mut self.state.document else {
            return;
        };
        let by = GroupBy::parse(&arrangement.group_by).unwrap_or_default();
        document.notes = arrangement.notes;
        let is_told_again = document.tested != arrangement.tested;
        document.tested = arrangement.tested;
        document.marks.replace(arrangement.marks);
        document.tree.prepare(arrangement.filter, by);
        // Every name in an arrangement was hidden once, so its transactions are known as soon as the history is.
        let names = arrangement.hidden_transactions;
        let transactions: BTreeSet<TransactionId> = names
            .iter()
            .filter_map(|name| document.visibility.named.get(name))
            .flatten()
            .copied()
            .collect();
        if document.history.is_none() {
            document.visibility.hidden_names = names;
        }
        document.parts.chosen = arrangement.chosen;
        let (of, evidence) = arrangement.evidence;
        let unfolded =
            of == document.selected && evidence.is_some() && evidence != document.argument.evidence;
        if unfolded {
            document.argument.evidence = evidence;
        }
        let redraw = unfolded
            || transactions != document.visibility.hidden
            || arrangement.overrides != document.visibility.overrides;
        document.visibility.hidden = transactions;
        document.visibility.overrides = arrangement.overrides;
        let kind = layout_of(&arrangement.layout);
        if self.state.layout != kind || redraw {
            self.state.layout = kind;
            self.redraw_as_unfolded();
        }
        if is_told_again {
            self.tell_again();
        }
    }

    /// Records the arrangement before requests are carried out.
    pub(super) fn note_arrangement(&mut self) {
        if let Some(arrangement) = self.arrangement() {
            self.state.undo.settle(arrangement);
        }
    }

    /// Records what requests have changed.
    pub(super) fn note_changes(&mut self, typing: bool) {
        if !typing {
            self.state.undo.pause();
        }
        if let Some(arrangement) = self.arrangement() {
            self.state.undo.note(arrangement);
        }
    }

    /// Undoes the last change, or redoes it.
    pub(super) fn undo(&mut self, forward: bool) {
        let arrangement = if forward {
            self.state.undo.redo()
        } else {
            self.state.undo.undo()
        };
        if let Some(arrangement) = arrangement {
            self.arrange(arrangement);
        }
    }
}

/// The name of a layout in project files and settings.
pub fn layout_word(kind: LayoutKind) -> &'static str {
    match kind {
        LayoutKind::Auto => "auto",
        LayoutKind::Lanes => "sessions",
        LayoutKind::Layered => "layers",
    }
}

/// The layout of this name; the default one for any other name.
pub fn layout_of(word: &str) -> LayoutKind {
    let all = [LayoutKind::Auto, LayoutKind::Lanes, LayoutKind::Layered];
    all.into_iter()
        .find(|kind| layout_word(*kind) == word)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(filter: &str) -> Arrangement {
        Arrangement {
            filter: filter.to_owned(),
            ..Arrangement::default()
        }
    }

    #[test]
    fn typing_is_one_change_and_a_word_another() {
        let mut undo = Undo::default();
        ["", "a", "ab", "abc"]
            .into_iter()
            .for_each(|text| undo.note(filtered(text)));
        undo.pause();
        undo.note(filtered("abc key:4"));
        assert_eq!(undo.undo(), Some(filtered("abc")));
        assert_eq!(undo.undo(), Some(filtered("")));
        assert_eq!(undo.undo(), None);
        assert_eq!(undo.redo(), Some(filtered("abc")));
        undo.note(filtered("abcd"));
        assert_eq!(undo.redo(), None, "a new change forgets those taken back");
        assert_eq!(
            undo.undo(),
            Some(filtered("abc")),
            "and can be taken back itself"
        );
    }
}
