//! What the pictures of listed anomalies show, so that the list names what is drawn. Computed off the frame.

use super::App;
use super::catalogue::{AllDrawn, Catalogue, Drawn};
use super::tasks::{Failure, Task};
use crate::audit::Examples;
use crate::checkers::ViolationId;
use crate::control::Control;
use crate::history::{History, TransactionId};
use crate::jobs::Outbox;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Duration;

/// Of larger histories only the selected anomaly is minimized: what all of them need would take too much memory.
const MOST_OPERATIONS: usize = 2_000_000;

/// Maximum number of anomalies minimized without being selected.
const MOST: usize = 500;

/// How long they may be minimized.
const TIME: Duration = Duration::from_secs(10);

/// How many of them are sent at once.
const AT_ONCE: usize = 16;

/// Minimizing the listed anomalies. Each message comes with the catalogue that lists them.
static DRAWN: Task<(Arc<Catalogue>, AllDrawn)> = Task {
    shows_progress: false,
    ..Task::new("naming", Failure::Silent, |app: &mut App, (of, drawn)| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        if document
            .catalogue
            .as_ref()
            .is_some_and(|current| Arc::ptr_eq(current, &of))
        {
            document.drawn.extend(drawn);
            let others = document
                .drawn
                .iter()
                .filter(|(id, drawn)| **id != drawn.shown);
            document
                .tree
                .shown_as(&others.map(|(id, drawn)| (*id, drawn.shown)).collect());
        }
    })
};

impl App {
    /// Finds out what the pictures of the listed anomalies show, for those that contain no simpler one.
    pub(super) fn name_what_is_drawn(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let Some((history, catalogue)) = document.history.clone().zip(document.catalogue.clone())
        else {
            return;
        };
        if history.n_operations() <= MOST_OPERATIONS && !catalogue.entries.is_empty() {
            self.start(&DRAWN, move |control, outbox| {
                minimize_all(&history, &catalogue, control, outbox)
            });
        }
    }
}

fn minimize_all(
    history: &History,
    catalogue: &Arc<Catalogue>,
    control: &Control,
    outbox: &Outbox<(Arc<Catalogue>, AllDrawn)>,
) {
    let control = control.with_time_limit(TIME);
    let examples = Examples::new(history, &catalogue.findings);
    let roots = catalogue
        .entries
        .iter()
        .filter(|entry| entry.simpler.is_none())
        .take(MOST);
    let roots: Vec<ViolationId> = roots.map(|entry| entry.id).collect();
    let mut first: FxHashMap<(Vec<TransactionId>, String), ViolationId> = FxHashMap::default();
    for some in roots.chunks(AT_ONCE) {
        let mut drawn = AllDrawn::new();
        for violation in some.iter().filter_map(|&id| catalogue.violation(id)) {
            let example = examples.of(violation, &control);
            // What was not minimized to the end is not what a picture shows.
            if control.check().is_err() {
                break;
            }
            let what = (
                example.counterexample.renaming.transactions.clone(),
                example.explanation.summary.to_string(),
            );
            let shown = *first.entry(what).or_insert(example.violation.id);
            drawn.insert(
                violation.id,
                Drawn::of(shown, &example.counterexample, &example.explanation),
            );
        }
        outbox.send((Arc::clone(catalogue), drawn));
        if control.check().is_err() {
            return;
        }
    }
}
