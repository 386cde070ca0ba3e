//! Marking transactions and stretches of the history, and going back to them.

use super::App;
use super::marks::Ask;
use super::page::Page;
use super::state::Document;
use super::vocabulary::Tone;
use crate::history::{MarkPlace, Named, TransactionId};

impl App {
    /// Carries out what is asked about marks.
    pub(super) fn marks(&mut self, ask: Ask) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let marks = &mut document.marks;
        match ask {
            Ask::Open(at) => marks.open(at),
            Ask::Write(text) => {
                if let Some(mark) = marks.open.and_then(|at| marks.all.get_mut(at)) {
                    mark.text = text;
                }
            }
            Ask::Close => marks.open = None,
            Ask::Remove(at) => marks.remove(at),
            Ask::GoTo(at) => self.go_to_mark(at),
            Ask::Add(place) => marks.add(place),
        }
    }

    /// Marks what has attention: the transactions chosen, else a single one, else the stretch in view.
    pub(super) fn mark(&mut self) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(history) = document.history.clone() else {
            return;
        };
        let named = |t| Named::new(&history, t);
        let single = match self.state.page {
            Page::Browser => document.browser.transaction,
            _ => document.attended().into_iter().find(|t| !t.is_initial()),
        };
        let is_all = self.state.page == Page::Lanes;
        let place = match (ends(document), single) {
            (Some((from, to)), _) => Some(MarkPlace::Between(named(from), named(to))),
            (None, Some(t)) => Some(MarkPlace::Transaction(named(t))),
            (None, None) if is_all => self
                .lanes
                .stretch(document, self.state.preferences.true_time),
            (None, None) => None,
        };
        match place {
            Some(place) => document.marks.add(place),
            None => self.state.tell(
                Tone::Note,
                "Select a transaction first, or show the timeline to mark what is in view",
            ),
        }
    }

    /// Goes to the mark so many further than the last one gone to.
    pub(super) fn step_mark(&mut self, step: isize) {
        let Some(document) = &self.state.document else {
            return;
        };
        match document.marks.further(step) {
            Some(at) => self.go_to_mark(at),
            None => self
                .state
                .tell(Tone::Note, "Nothing is marked in this history yet"),
        }
    }

    /// Shows a marked transaction in the history or among all sessions, a marked stretch always there.
    fn go_to_mark(&mut self, at: usize) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let (Some(mark), Some(history)) = (document.marks.all.get(at), &document.history) else {
            return;
        };
        document.marks.at = Some(at);
        if !mark.place.is_in(history) {
            let place = mark.place.describe(history);
            self.state.tell(
                Tone::Problem,
                format!("{place}: this place is not in the history any more"),
            );
            return;
        }
        match mark.place.transaction(history) {
            Some(transaction) if self.state.page != Page::Lanes => self.browse(transaction),
            transaction => {
                self.lanes.go_to(mark.place.clone());
                self.state.page = Page::Lanes;
                document.argument.pinned = transaction.map(|t| document.attention_of(t));
            }
        }
    }
}

/// The first and the last of several chosen transactions, by time where it is known.
fn ends(document: &Document) -> Option<(TransactionId, TransactionId)> {
    let span = |t: &TransactionId| {
        document
            .timeline
            .as_ref()
            .and_then(|timeline| timeline.steps.span(*t))
    };
    let by = |end: fn(&crate::diagram::timeline::Span) -> f64| {
        move |a: &&TransactionId, b: &&TransactionId| {
            let of = |t| span(t).map_or(0.0, |span| end(&span));
            of(a).total_cmp(&of(b)).then(a.cmp(b))
        }
    };
    let chosen = &document.parts.chosen;
    let (first, last) = (
        chosen.iter().min_by(by(|span| span.from))?,
        chosen.iter().max_by(by(|span| span.to))?,
    );
    (chosen.len() > 1).then_some((*first, *last))
}
