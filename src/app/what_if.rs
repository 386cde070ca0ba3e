//! What if only these transactions had run, or all but these? The part is checked by a background job.
//!
//! A read whose writer is left out is left out too: otherwise it would be a thin-air read, and the answer would say
//! nothing about the levels.

use super::App;
use super::tasks::{Failure, Task};
use super::vocabulary::Tone;
use crate::audit;
use crate::checkers::{Level, LevelResult, Options, Verdict};
use crate::control::{Control, Interrupt};
use crate::history::{History, OperationId, TransactionId, TransactionSet};
use crate::jobs::{self, Outbox};
use crate::relations::{Resolution, Source};
use std::collections::BTreeSet;
use std::time::Instant;

/// Maximum number of answers kept.
const KEPT: usize = 5;

/// A question and as much of its answer as is known.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// Only these, or all but these.
    pub only: bool,
    /// These, in the whole history.
    pub transactions: Vec<TransactionId>,
    /// By level: the verdict about the part, once it is known.
    pub levels: Vec<(Level, Option<Verdict>)>,
    /// The totals, once everything is known.
    pub sum: Option<Sum>,
}

/// Questions about parts of the history.
#[derive(Clone, Debug, Default)]
pub struct PartQuestions {
    /// Transactions of the whole history selected for the next one.
    pub chosen: BTreeSet<TransactionId>,
    /// What was asked, newest first.
    pub asked: Vec<WhatIf>,
}

/// The totals at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// Number of anomalies in the part.
    pub anomalies: u64,
    /// Number of reads that were left out because their writer is missing.
    pub reads_left_out: usize,
    /// Wall time, seconds.
    pub seconds: f64,
}

/// Messages sent while a part is checked.
#[derive(Debug)]
pub enum Message {
    /// A level is decided.
    Level(Box<LevelResult>),
    /// The check has finished.
    Done(Sum),
}

pub(super) static CHECK_PART: Task<Message> = Task::new(
    "what if",
    Failure::Message("The part could not be checked"),
    |app, message| {
        let what_if = app
            .state
            .document
            .as_mut()
            .and_then(|document| document.parts.asked.first_mut());
        let Some(what_if) = what_if else { return };
        match message {
            Message::Level(result) => {
                let slot = what_if
                    .levels
                    .iter_mut()
                    .find(|(level, _)| *level == result.level);
                if let Some((_, slot)) = slot {
                    *slot = Some(result.verdict);
                }
            }
            Message::Done(sum) => what_if.sum = Some(sum),
        }
    },
);

fn check(
    history: &History,
    resolution: &Resolution,
    keep: &TransactionSet,
    levels: Vec<Level>,
    control: &Control,
    outbox: &Outbox<Message>,
) -> Result<(), Interrupt> {
    let started = Instant::now();
    let part = part(history, resolution, keep);
    control.check()?;
    let kept: usize = keep.iter().map(|t| history.operation_range(t).len()).sum();
    let observe = |result: &LevelResult| outbox.send(Message::Level(Box::new(result.clone())));
    let options = Options {
        levels,
        ..Options::default()
    };
    let findings = audit::check(&part, &options, control, &observe);
    control.check()?;
    outbox.send(Message::Done(Sum {
        anomalies: findings.patterns.values().sum(),
        reads_left_out: kept - part.n_operations(),
        seconds: started.elapsed().as_secs_f64(),
    }));
    Ok(())
}

/// The sub-history of `keep`, without reads from outside.
pub fn part(history: &History, resolution: &Resolution, keep: &TransactionSet) -> History {
    let there = |source: &Source| match source {
        Source::Transaction { writer, .. } | Source::Aborted { writer, .. } => {
            keep.contains(*writer)
        }
        _ => true,
    };
    let keeps = |operation: OperationId| match resolution.source(operation) {
        Source::Ambiguous => resolution.candidates(operation).iter().all(there),
        source => there(&source),
    };
    history.restrict(keep, keeps).0
}

impl App {
    /// Checks only the selected transactions, or all others. Without a selection it uses what is pinned, else the
    /// anomaly.
    pub(super) fn what_if(&mut self, only: bool) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        let (Some(history), Some(resolution)) = (
            document.history.clone(),
            document.results.resolution.clone(),
        ) else {
            return;
        };
        let mut transactions: Vec<TransactionId> = document.parts.chosen.iter().copied().collect();
        if transactions.is_empty() {
            transactions = document.attended();
        }
        if transactions.is_empty()
            && let Some(picture) = document.current_picture()
        {
            transactions = picture
                .argument
                .counterexample
                .renaming
                .transactions
                .clone();
        }
        transactions.retain(|t| !t.is_initial());
        transactions.sort_unstable();
        transactions.dedup();
        if transactions.is_empty() {
            self.state.tell(
                Tone::Note,
                "Choose transactions first: click a card with Shift held, or drag a box with Shift held",
            );
            return;
        }
        let mut keep = if only {
            TransactionSet::empty(&history)
        } else {
            TransactionSet::full(&history)
        };
        for &t in &transactions {
            if only {
                keep.insert(t)
            } else {
                keep.remove(t)
            };
        }
        let levels: Vec<Level> = document
            .results
            .levels
            .iter()
            .map(|(level, _)| *level)
            .collect();
        let asked = levels.iter().map(|level| (*level, None)).collect();
        document.reveal.answer = true;
        document.parts.asked.insert(
            0,
            WhatIf {
                only,
                transactions,
                levels: asked,
                sum: None,
            },
        );
        // An unfinished question would stay open forever.
        let mut first = true;
        let stays = |what_if: &WhatIf| std::mem::take(&mut first) || what_if.sum.is_some();
        let all = std::mem::take(&mut document.parts.asked).into_iter();
        let (mut kept, mut gone): (Vec<WhatIf>, Vec<WhatIf>) = all.partition(stays);
        gone.extend(kept.drain(KEPT.min(kept.len())..));
        document.parts.asked = kept;
        jobs::discard(gone);
        let pool = self.pool.clone();
        self.start(&CHECK_PART, move |control, outbox| {
            // An interrupt means that the answer is no longer wanted.
            let _ = pool.install(|| check(&history, &resolution, &keep, levels, control, outbox));
        });
    }

    /// Stops checking a part; returns whether there was one.
    pub(super) fn stop_asking(&mut self) -> bool {
        let any = self.tasks.cancel(&CHECK_PART);
        if let Some(document) = self.state.document.as_mut().filter(|_| any) {
            document.parts.asked.retain(|what_if| what_if.sum.is_some());
        }
        any
    }

    /// Adds transactions of the whole history to the selection, or removes them.
    pub(super) fn choose(&mut self, transactions: Vec<TransactionId>, toggle: bool) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        for t in transactions.into_iter().filter(|t| !t.is_initial()) {
            if !(toggle && document.parts.chosen.remove(&t)) {
                document.parts.chosen.insert(t);
            }
        }
    }

    /// Leaves transactions out of the picture, or puts all of them back.
    pub(super) fn hide(&mut self, transactions: Option<Vec<TransactionId>>) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        match transactions {
            Some(transactions) => {
                document.hide(transactions.into_iter().filter(|t| !t.is_initial()))
            }
            None => {
                document.visibility.hidden.clear();
                if let Some(overrides) = document.overrides_mut() {
                    overrides.left_out.clear();
                }
            }
        }
        document.argument.pinned = None;
        let expanded = document.argument.evidence.clone();
        self.redraw(expanded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relations;

    fn word(text: &str, only: &[usize], level: Level) -> &'static str {
        let history = crate::formats::text::parse(text).expect("a history in our notation");
        let control = Control::new();
        let resolution = relations::resolve(&history, &control).expect("nothing stops it");
        let keep = TransactionSet::of(&history, only.iter().map(|&t| TransactionId::new(t)));
        let part = part(&history, &resolution, &keep);
        let options = Options {
            levels: vec![level],
            ..Options::default()
        };
        let findings = audit::check(&part, &options, &control, &|_| ());
        findings
            .level(level)
            .map_or("", |result| result.verdict.word())
    }

    const FRACTURED: &str = "a: [w x 1] [w x 2, w y 1]\nb: [r y 1, r x 1] [r x 2]\n";

    #[test]
    fn without_a_part_of_the_anomaly_the_rest_holds() {
        assert_eq!(
            word(FRACTURED, &[0, 1, 2, 3], Level::ReadAtomic),
            "violated"
        );
        assert_eq!(word(FRACTURED, &[0, 1, 2], Level::ReadAtomic), "violated");
        assert_eq!(word(FRACTURED, &[0, 1, 3], Level::ReadAtomic), "satisfied");
        assert_eq!(
            word(FRACTURED, &[2, 3], Level::ReadAtomic),
            "satisfied",
            "reads from outside are left out"
        );
    }
}
