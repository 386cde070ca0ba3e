//! Reading and checking a history off the frame, with results as they come.

use super::App;
use super::page::Page;
use super::samples;
use super::tasks::{End, Failure, Task};
use super::tree::Catalogue;
use super::unreadable::Unreadable;
use super::vocabulary::{Phase, Source, Tone};
use super::watch::{WATCH, WatchedFile};
use crate::audit;
use crate::checkers::{self, Findings, Level, LevelResult, Options};
use crate::control::Control;
use crate::fonts::{self, Fallback};
use crate::formats::{self, Input, Request};
use crate::health::{self, Health};
use crate::history::{Figures, History, Rules, TransactionId};
use crate::jobs::{Outbox, Pool};
use crate::relations::{self, Resolution};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// Below this number of operations the weak levels are first checked separately: that takes negligible time and puts
/// the first anomaly on the screen while the strong levels are still being checked.
const QUICK_LOOK_OPERATIONS: usize = 300_000;

/// By name: the transactions of that name.
pub type Named = BTreeMap<String, BTreeSet<TransactionId>>;

/// The finding that is shown at once: one that its rules call invalid, else any where levels say nothing about the history.
fn first_finding(history: &History) -> Option<usize> {
    let workload = history.workload()?;
    let mut facts = workload.facts.iter();
    let invalid = facts.position(|fact| fact.counts);
    invalid.or((!workload.has_items() && !workload.facts.is_empty()).then_some(0))
}

/// What to read and check.
pub struct Load {
    /// Where it is.
    pub source: Source,
    /// The rules by which it is read.
    pub rules: Rules,
    /// Names of transactions to find.
    pub names: BTreeSet<String>,
}

/// Messages sent while a history is read and checked.
#[derive(Debug)]
pub enum Message {
    /// The file is about to be read.
    Begins(WatchedFile),
    /// The file has been read.
    Read {
        /// What was observed.
        history: Arc<History>,
        /// How much was recorded.
        recorded: Figures,
        /// The levels it can be checked against.
        levels: Vec<Level>,
        /// The transactions of the requested names.
        named: Named,
        /// Wall time.
        seconds: f64,
    },
    /// Fonts of this machine for names that the bundled fonts cannot show.
    Fonts(Fallback),
    /// Whether it can be trusted.
    Health {
        /// The findings.
        health: Arc<Health>,
        /// The writer of what each read returned.
        resolution: Arc<Resolution>,
    },
    /// A level has been decided.
    Level(Arc<LevelResult>),
    /// Violations have been found.
    Found {
        /// Everything found so far.
        catalogue: Arc<Catalogue>,
        /// The result for each known level.
        levels: Vec<Arc<LevelResult>>,
        /// Whether the findings are complete.
        complete: bool,
        /// Wall time of checking so far.
        seconds: f64,
    },
    /// More levels have been decided, about PSI and about other orders.
    Others(Vec<LevelResult>),
    /// It could not be read.
    Failed(Unreadable),
}

/// Reading and checking. The phase of the history says whether that goes on.
pub(super) static LOAD: Task<Message> = Task {
    shows_progress: false,
    end: |app, end| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        match end {
            End::Finished if document.is_busy() => document.phase = Phase::Done,
            End::Stopped if document.is_busy() => document.phase = Phase::Cancelled,
            End::Finished | End::Stopped => {}
            End::Failed(_) => document.phase = Phase::Failed,
        }
    },
    ..Task::new(
        "read and check",
        Failure::Message("The check ended unexpectedly"),
        receive,
    )
};

impl Load {
    /// Reads and checks.
    pub(super) fn run(self, pool: &Pool, control: &Control, outbox: &Outbox<Message>) {
        let started = Instant::now();
        // As it was before it is read: whatever is added from here on is noticed.
        if let Source::File(path) = &self.source {
            WatchedFile::now(path)
                .into_iter()
                .for_each(|file| outbox.send(Message::Begins(file)));
        }
        match read(&self.source, &self.rules, control) {
            Ok(history) => {
                let recorded = history.recorded();
                let levels = Level::of(&history);
                let named = find_named(&history, &self.names, control);
                let seconds = started.elapsed().as_secs_f64();
                outbox.send(Message::Read {
                    history: Arc::clone(&history),
                    recorded,
                    levels,
                    named,
                    seconds,
                });
                let lacking = fonts::lacking(history.texts());
                if !lacking.is_empty() {
                    outbox.send(Message::Fonts(fonts::fallback(lacking)));
                }
                pool.install(|| check(&history, control, outbox));
            }
            Err(why) => outbox.send(Message::Failed(why)),
        }
    }
}

/// Takes in what is known of the history.
fn receive(app: &mut App, message: Message) {
    let cancelled = app.tasks.is_stopped(&LOAD);
    let Some(document) = &mut app.state.document else {
        return;
    };
    match message {
        Message::Begins(file) => {
            app.start(&WATCH, move |control, outbox| file.watch(control, outbox))
        }
        Message::Read {
            history,
            recorded,
            levels,
            named,
            seconds,
        } => {
            document.browser.transaction = history.transactions().next();
            document.browser.session = history
                .transactions()
                .next()
                .map(|t| history.session_of(t))
                .unwrap_or_default();
            document.results.expect(levels);
            document.recorded = Some(recorded);
            document.visibility.hidden_names.clear();
            document.visibility.hidden.extend(named.values().flatten());
            document.visibility.named = named;
            let first = first_finding(&history);
            document.history = Some(history);
            document.results.seconds.0 = seconds;
            if !cancelled {
                document.phase = Phase::Checking;
            }
            if let Some(place) = first {
                app.show_finding(place);
            }
        }
        Message::Fonts(found) => {
            app.new_fonts.extend(found.faces);
            if let Some(advice) = fonts::advice(&found.missing) {
                app.state.tell(Tone::Problem, advice);
            }
        }
        Message::Health { health, resolution } => {
            document.trust.health = Some(health);
            document.results.resolution = Some(resolution);
            document.failed.remove(&Page::Lanes);
        }
        Message::Level(result) => document.results.take_in(result),
        Message::Found {
            catalogue,
            levels,
            complete,
            seconds,
        } => {
            document.results.seconds.1 = seconds;
            if complete {
                levels
                    .into_iter()
                    .for_each(|result| document.results.take_in(result));
                document.phase = if cancelled {
                    Phase::Cancelled
                } else {
                    Phase::Done
                };
            }
            let holds = document
                .results
                .strongest_satisfied()
                .filter(|_| complete && document.results.all_hold());
            app.show_catalogue(catalogue, complete);
            // A history without an anomaly opens on the order that explains it.
            let is_free = app.state.page == Page::Graph && !app.shows_finding();
            if let Some(level) = holds.filter(|_| is_free) {
                app.show_order(level);
            }
        }
        Message::Others(others) => {
            document.results.others = others.into_iter().map(Arc::new).collect()
        }
        Message::Failed(why) => {
            document.phase = if cancelled {
                Phase::Cancelled
            } else {
                Phase::Failed
            };
            if !cancelled {
                let text = why.text.clone();
                document.unreadable = Some(why);
                app.state.tell(Tone::Problem, text);
            }
        }
    }
}

/// The transactions of these names. O(transactions), unless there are no names.
fn find_named(history: &History, names: &BTreeSet<String>, control: &Control) -> Named {
    let mut named = Named::new();
    if names.is_empty() {
        return named;
    }
    let going = |t: &TransactionId| !t.index().is_multiple_of(4096) || control.check().is_ok();
    for transaction in history.transactions().take_while(going) {
        let name = history.transaction_name(transaction);
        if names.contains(&name) {
            named.entry(name).or_default().insert(transaction);
        }
    }
    named
}

fn read(source: &Source, rules: &Rules, control: &Control) -> Result<Arc<History>, Unreadable> {
    control.phase("reading", 0);
    let request = Request {
        format: None,
        rules: Some(rules),
    };
    let read = match source {
        Source::Part(part) => return Ok(Arc::clone(&part.history)),
        Source::File(path) => {
            formats::open(path, request, control).map_err(|error| Unreadable::of(&error))
        }
        Source::Sample(place) => {
            let none = || Unreadable::new("there is no such sample".to_owned());
            let sample = samples::ALL.get(*place).ok_or_else(none)?;
            let input = Input::new(sample.file, sample.text.as_bytes());
            formats::read(&input, request, control)
                .map_err(|error| Unreadable::new(format!("{}: {error}", sample.file)))
        }
        Source::Bytes { name, bytes } => formats::open_bytes(name, bytes, request, control)
            .map_err(|error| Unreadable::new(error.to_string())),
    };
    read.map(Arc::new)
}

/// Assesses whether the history can be trusted, then checks it. The reads are resolved once for everything.
fn check(history: &History, control: &Control, outbox: &Outbox<Message>) {
    let started = Instant::now();
    control.phase("resolving reads", 0);
    let resolution = relations::resolve(history, control).map(Arc::new).ok();
    if let Some(resolution) = &resolution {
        control.phase("looking at the history", 0);
        if let Ok(health) = health::examine(history, resolution, control) {
            outbox.send(Message::Health {
                health: Arc::new(health),
                resolution: Arc::clone(resolution),
            });
        }
    }
    // If reads are ambiguous, a strong level finds their writers at once, while a weak one alone must try them.
    let is_ambiguous = resolution
        .as_ref()
        .is_some_and(|resolution| resolution.n_ambiguous() > 0);
    let check = Check {
        history,
        resolution,
        started,
        control,
        outbox,
    };
    if history.n_operations() <= QUICK_LOOK_OPERATIONS && !is_ambiguous {
        let levels = Level::ALL
            .into_iter()
            .filter(|level| level.is_of_reads() || level.is_weak())
            .collect();
        check.found(
            check.against(&Options {
                levels,
                ..Options::default()
            }),
            false,
        );
    }
    if control.check().is_ok() {
        let (known, seconds) = check.run(Level::of(history));
        if let Some(resolution) = check
            .resolution
            .as_ref()
            .filter(|_| control.check().is_ok())
        {
            outbox.send(Message::Others(audit::on_other_orders(
                history, resolution, &known, seconds, control,
            )));
        }
    }
}

/// Checking a history whose reads are resolved, if that was possible, and sending what is found.
pub(super) struct Check<'c> {
    pub(super) history: &'c History,
    pub(super) resolution: Option<Arc<Resolution>>,
    pub(super) started: Instant,
    pub(super) control: &'c Control,
    pub(super) outbox: &'c Outbox<Message>,
}

impl Check<'_> {
    /// Checks some levels; of large histories everything is counted after the verdicts. Returns these, and the seconds that
    /// they took.
    pub(super) fn run(&self, levels: Vec<Level>) -> (Vec<LevelResult>, f64) {
        let is_small = self.history.n_operations() <= QUICK_LOOK_OPERATIONS;
        let counts = is_small || checkers::has_repeated_elements(self.history);
        let options = Options {
            levels,
            counts,
            ..Options::default()
        };
        let first = self.against(&options);
        let verdicts = (first.levels.clone(), first.check_seconds);
        if let Some(resolution) = self.resolution.clone().filter(|_| first.can_be_counted()) {
            // The evidence of violated levels can be viewed while everything else is counted.
            self.found(first.clone(), false);
            self.found(
                audit::count(self.history, resolution, first, &options, self.control),
                true,
            );
        } else {
            self.found(first, true);
        }
        verdicts
    }

    fn against(&self, options: &Options) -> Findings {
        let observe =
            |result: &LevelResult| self.outbox.send(Message::Level(Arc::new(result.clone())));
        match &self.resolution {
            Some(resolution) => audit::check_resolved(
                self.history,
                Arc::clone(resolution),
                options,
                self.control,
                &observe,
            ),
            None => audit::check(self.history, options, self.control, &observe),
        }
    }

    fn found(&self, findings: Findings, complete: bool) {
        let levels = findings.levels.iter().cloned().map(Arc::new).collect();
        let catalogue = Arc::new(Catalogue::new(self.history, findings));
        let seconds = self.started.elapsed().as_secs_f64();
        self.outbox.send(Message::Found {
            catalogue,
            levels,
            complete,
            seconds,
        });
    }
}
