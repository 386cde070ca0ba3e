//! Calls as transactions on items.

use super::Exchange;
use crate::Problem;
use crate::elle::{Atom, Atoms};
use crate::operations::{self, Call, Clock, Operations, Tree};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, History, Interval, NilRule, OperationKind, Outcome, Workload,
};

/// A register that is read or written.
#[derive(Clone, Copy)]
struct Item {
    access: Access,
    key: Atom,
    value: Atom,
    line: u32,
}

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
    /// A read of any value but this one.
    ReadOther,
}

/// A transaction.
struct Step {
    call: usize,
    /// Where its items begin.
    begin: usize,
    /// Its session, if it is not that of the client.
    session: Option<Atom>,
}

/// Transactions that are added before the control is asked again.
const ASK_EVERY: usize = 1 << 12;

/// Transactions on items, in any order: those of one call are in the order in which they were begun.
#[derive(Default)]
pub(super) struct Items {
    atoms: Atoms<'static>,
    steps: Vec<Step>,
    items: Vec<Item>,
    /// What registers hold at first.
    first: Vec<(Atom, Atom)>,
    /// What a register holds that was read as nil.
    pub(super) nil: NilRule,
    /// Whether the user has named the workload.
    pub(super) is_named: bool,
    /// Why the transactions say nothing about levels, if not all of their items are here.
    pub(super) is_incomplete: Option<&'static str>,
    line: u32,
}

impl Items {
    /// For about as many transactions.
    pub(super) fn for_calls(n: usize, operations: &Operations<'_>) -> Items {
        Items {
            nil: operations.nil(),
            is_named: operations.workload().is_some(),
            steps: Vec::with_capacity(n),
            items: Vec::with_capacity(n),
            ..Items::default()
        }
    }

    /// Begins a transaction of this call. A call may have several.
    pub(super) fn begin(&mut self, exchange: &Exchange<'_, '_>) {
        self.line = exchange.line;
        self.steps.push(Step {
            call: exchange.call,
            begin: self.items.len(),
            session: None,
        });
    }

    /// Says that the last transaction is of this session, not of that of its client.
    pub(super) fn in_session(&mut self, session: &Tree<'_>) {
        let session = self.atoms.of_tree(session);
        if let Some(step) = self.steps.last_mut() {
            step.session = Some(session);
        }
    }

    /// Says what a register holds before the log.
    pub(super) fn at_first(&mut self, key: &Tree<'_>, value: &Tree<'_>) {
        let (key, value) = (self.atoms.of_tree(key), self.atoms.of_tree(value));
        if !self.first.iter().any(|(known, _)| *known == key) {
            self.first.push((key, value));
        }
    }

    /// Forgets what registers hold at first.
    pub(super) fn without_beginning(&mut self) {
        self.first.clear();
    }

    /// Says that the transactions that are here say nothing about levels where an operation of these words has no answer: what
    /// it made is not known, and may be what was read.
    pub(super) fn lack_answers(
        &mut self,
        exchanges: &[Exchange<'_, '_>],
        word: impl Fn(&str) -> bool,
    ) {
        let is_open = |exchange: &Exchange<'_, '_>| {
            exchange.outcome == Outcome::Unknown && word(exchange.word)
        };
        if exchanges.iter().any(is_open) {
            self.is_incomplete =
                Some("an operation without an answer may have made a value that was read");
        }
    }

    /// The last transaction reads a value; nothing is the value from before the log.
    pub(super) fn read(&mut self, key: &Tree<'_>, value: &Tree<'_>) {
        self.access(Access::Read, key, value);
    }

    /// The last transaction writes a value.
    pub(super) fn write(&mut self, key: &Tree<'_>, value: &Tree<'_>) {
        self.access(Access::Write, key, value);
    }

    /// The last transaction reads a value that is another than this one.
    pub(super) fn read_other(&mut self, key: &Tree<'_>, value: &Tree<'_>) {
        self.access(Access::ReadOther, key, value);
    }

    fn access(&mut self, access: Access, key: &Tree<'_>, value: &Tree<'_>) {
        let (key, value) = (self.atoms.of_tree(key), self.atoms.of_tree(value));
        self.items.push(Item {
            access,
            key,
            value,
            line: self.line,
        });
    }

    /// The history of these transactions.
    pub(super) fn history(
        mut self,
        mut operations: Operations<'_>,
        calls: &[Call],
        mut builder: Builder,
        control: &Control,
        workload: impl FnOnce(&[Option<Draft>]) -> Workload<Draft>,
    ) -> Result<History, Problem> {
        let clock = operations.around.clock(&operations.events);
        operations.around.remark(&mut builder, calls, &clock);
        let intervals = match clock {
            Clock::Unknown => Vec::new(),
            _ => operations::intervals(&operations.events, calls, &clock),
        };
        let outcome = |call: &Call| call.outcome(&operations.events);
        let outcomes: Vec<Outcome> = calls.iter().map(outcome).collect();
        // They are larger than the file.
        operations.events = Vec::new();
        let ends = self.steps.iter().skip(1).map(|step| step.begin);
        let ends: Vec<usize> = ends.chain([self.items.len()]).collect();
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        order.sort_by_key(|&step| self.steps[step].call);
        builder.reserve_operations(self.items.len());
        let mut drafts: Vec<Option<Draft>> = vec![None; calls.len()];
        for (n, step) in order.into_iter().enumerate() {
            if n % ASK_EVERY == 0 {
                control.check()?;
            }
            let Step {
                call,
                begin,
                session,
            } = self.steps[step];
            let session = match session {
                Some(name) => {
                    let name = self.atoms.text(name);
                    builder.session_name(&name)
                }
                None => operations::session(
                    calls[call].process,
                    &operations.around.client_names,
                    &mut builder,
                ),
            };
            let draft = builder.transaction(session, outcomes[call]);
            drafts[call].get_or_insert(draft);
            if let Some(interval) = intervals.get(call) {
                builder.set_interval(draft, *interval);
            }
            for at in begin..ends[step] {
                self.add(at, draft, &mut builder);
            }
        }
        self.set_up(&intervals, &mut builder);
        operations.around.add_nodes(&mut builder);
        builder.workload(workload(&drafts));
        builder.sort_sessions();
        Ok(builder.finish()?)
    }

    /// Adds a transaction from before the log for each register that holds something at first.
    fn set_up(&mut self, intervals: &[Interval], builder: &mut Builder) {
        let starts = intervals.iter().map(|interval| interval.start);
        let first = starts.min().unwrap_or_default();
        let n = self.first.len() as i64;
        for (place, (key, value)) in std::mem::take(&mut self.first).into_iter().enumerate() {
            let at = first.saturating_sub(n - place as i64);
            let session = builder.session_name("before the log");
            let draft = builder.transaction(session, Outcome::Committed);
            if !intervals.is_empty() {
                builder.set_interval(draft, Interval { start: at, end: at });
            }
            let key = self.atoms.key(builder, key);
            let value = self.atoms.value(builder, value);
            builder.operation(draft, OperationKind::Write, key, value, 0);
            builder.set_up(draft);
        }
    }

    fn add(&mut self, at: usize, draft: Draft, builder: &mut Builder) {
        let Item {
            access,
            key,
            value,
            line,
        } = self.items[at];
        let key = self.atoms.key(builder, key);
        let value = self.atoms.value(builder, value);
        match access {
            Access::Read => builder.operation(draft, OperationKind::Read, key, value, line),
            Access::Write => builder.operation(draft, OperationKind::Write, key, value, line),
            Access::ReadOther => builder.read_of_other(draft, key, value, line),
        }
    }
}
