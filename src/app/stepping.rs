//! Stepping: to the next anomaly, the next step of the argument, a transaction of the history.

use super::App;
use super::page::Page;
use super::picture::{self};
use super::raw;
use super::state::Browser;
use super::tree::Branch;
use super::versions::Wanted;
use super::vocabulary::Attention;
use crate::checkers::ViolationId;
use crate::history::{OperationId, TransactionId};
use crate::relations::EdgeIndex;
use std::sync::Arc;

impl App {
    pub(super) fn step_anomaly(&mut self, step: isize) {
        let Some(document) = &self.state.document else {
            return;
        };
        if let Some(next) = document.tree.neighbour(document.selected, step) {
            self.go_to(next);
        }
    }

    /// The first anomaly of the next class in the list, or of the one before.
    pub(super) fn step_class(&mut self, step: isize) {
        let Some(document) = &self.state.document else {
            return;
        };
        if let Some(next) = document.tree.neighbouring_class(document.selected, step) {
            self.go_to(next);
        }
    }

    /// Selects an anomaly. The History page follows it, other pages about the whole history give way to its graph.
    fn go_to(&mut self, id: ViolationId) {
        let page = self.state.page;
        self.select(id, true);
        if page == Page::Browser {
            self.state.page = page;
        }
    }

    /// Selects the first anomaly of a class, or folds the class of the selected one; opens or folds any other line.
    pub(super) fn toggle_branch(&mut self, branch: Branch) {
        let document = self.state.document.as_ref();
        let first = document.and_then(|document| document.tree.first_of(branch, document.selected));
        match first {
            // Selecting opens the line.
            Some(first) => self.select(first, true),
            None => self.with_document(|document| document.tree.toggle(branch)),
        }
    }

    /// One step of whatever is being stepped through.
    pub(super) fn step(&mut self, step: isize) {
        if self.state.show_batch {
            self.with_batch(|batch| {
                let last = batch.order.len().saturating_sub(1);
                batch.chosen = batch.chosen.saturating_add_signed(step).min(last);
            });
            return;
        }
        if self.step_replay(step) {
            return;
        }
        let order = self
            .state
            .document
            .as_ref()
            .and_then(|document| document.order.as_ref());
        match (self.state.page, order) {
            (Page::Order, Some(order)) => {
                self.go_to_step(order.step.saturating_add_signed(step), true)
            }
            (Page::Order, None) => {}
            _ => self.step_argument(step),
        }
    }

    pub(super) fn step_argument(&mut self, step: isize) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(n) = document
            .current_picture()
            .map(|picture| picture.argument.explanation.steps.len() as isize)
        else {
            return;
        };
        if n == 0 {
            return;
        }
        let next = match document.argument.pinned {
            Some(Attention::Step(now)) => (now as isize + step).clamp(0, n - 1),
            _ if step > 0 => 0,
            _ => n - 1,
        };
        document.argument.pinned = Some(Attention::Step(next as usize));
        document.reveal.step = true;
        self.show_edges_of_step(next as usize);
    }

    /// A step about folded evidence unfolds it.
    pub(super) fn show_edges_of_step(&mut self, step: usize) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Some(picture) = document.current_picture() else {
            return;
        };
        let steps = &picture.argument.explanation.steps;
        let is_drawn = |edge: &EdgeIndex| picture.drawn.contains(edge);
        if !steps
            .get(step)
            .is_none_or(|step| step.edges.iter().all(is_drawn))
        {
            self.redraw(Some(picture::expandable(
                &picture.argument.counterexample.violation.edges,
            )));
        }
    }

    pub(super) fn browse(&mut self, transaction: TransactionId) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(history) = &document.history else {
            return;
        };
        if transaction.index() < history.n_transactions() {
            let session = history.session_of(transaction);
            let (mut wanted, listing) = (
                document.browser.wanted.clone(),
                document.browser.listing.clone(),
            );
            if listing
                .as_ref()
                .is_none_or(|listing| !listing.transactions.contains(&transaction))
            {
                // Something that the search does not list was chosen elsewhere.
                wanted.text.clear();
            }
            let (transaction, of) = (Some(transaction), document.selected);
            document.browser = Browser {
                session,
                transaction,
                scroll: true,
                operation: None,
                wanted,
                listing,
                of,
            };
            self.state.page = Page::Browser;
        }
    }

    pub(super) fn handle_operation(&mut self, operation: OperationId) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let Some(history) = &document.history else {
            return;
        };
        if operation.index() >= history.n_operations() {
            return;
        }
        let history = Arc::clone(history);
        let transaction = history.transaction_of(operation);
        if self.state.page != Page::Browser {
            document.browser.session = history.session_of(transaction);
            document.browser.transaction = Some(transaction);
            document.browser.of = document.selected;
        }
        document.browser.operation = Some((operation, None));
        self.ask_for_key(Wanted::Key(history.operation(operation).key));
        let Some(document) = &self.state.document else {
            return;
        };
        if history.spot_of(operation).is_some() {
            let source = document.source.clone();
            self.ask(&raw::LINE, move |control| {
                raw::line(&history, &source, operation, control)
            });
        }
    }
}
