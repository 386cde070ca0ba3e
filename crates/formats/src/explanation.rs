//! The text by which Elle explains an anomaly, as it is pasted into reports.
//!
//! ```text
//! G-single #0
//! Let:
//!   T1 = {:index 31, :type :ok, :process 6, :f :txn, :value [[:r x [20 21]] [:r y nil]]}
//!   T2 = {:index 12, :type :ok, :process 1, :f :txn, :value [[:append y 7] [:append x 21]]}
//!
//! Then:
//!   - sentences on what follows
//! ```
//!
//! The maps are transactions; those of one process are a session, in the order of `:index`, else of `:time`. What Elle
//! concludes is not evidence, except for *T2 completed at index 12, 0.1 seconds before the invocation of T1, at index 20*,
//! which gives two moments.
//!
//! **It is an excerpt.** Whatever was read and no quoted transaction wrote, an element of a list or a value, gets a writer
//! of its own, such as `not quoted: append x 20`: a committed transaction of which nothing else is known. An order of the
//! whole history that explains all its transactions also explains these once the others are left out, and each of these
//! writers can take the place of the transaction that really wrote. So what the excerpt violates, the history violates;
//! but what the excerpt satisfies, the history may violate by what is not quoted ([`EXCERPT`]).

mod block;
mod micro;

use crate::elle::{Atom, Atoms};
use crate::{Format, Input, Likelihood, ReadError};
use block::{Block, Quoted};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, History, KeyId, OperationKind, Outcome, SessionId, Value,
};
use micro::{Access, Micro, Payload};
use rustc_hash::{FxHashMap, FxHashSet};

/// The row of the table.
pub const FORMAT: Format = Format {
    name: "elle-text",
    aliases: &["elle-explanation"],
    extensions: &["txt"],
    part_name: None,
    sniff,
    read,
    write: None,
};

/// What every history of this format assumes.
pub const EXCERPT: &str = "These transactions are an excerpt of a history: what they violate, it violates; what they satisfy, it may violate.";

fn sniff(input: &Input<'_>) -> Likelihood {
    let mut lines = input.head_lines().skip_while(|line| *line != block::LET);
    match lines.nth(1).and_then(block::definition) {
        Some(_) => Likelihood::Certain,
        None => Likelihood::No,
    }
}

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let mut atoms = Atoms::default();
    let block = block::read(input, &mut atoms, control)?;
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.assume(EXCERPT);
    if block.n_blocks > 1 {
        let n = block.n_blocks;
        builder.assume(format!(
            "The text explains {n} anomalies, each by transactions of its own; only the first is read."
        ));
    }
    let mut writing = Writing {
        lists: lists(&block.quoted)?,
        builder,
        atoms,
    };
    writing.quoted(&block);
    writing.not_quoted(&block);
    writing.times(&block);
    writing.builder.sort_sessions();
    let finished = writing.builder.finish();
    finished.map_err(|error| ReadError::whole(FORMAT.name, error))
}

/// Which keys hold lists. A key cannot also be a register.
fn lists(quoted: &[Quoted<'_>]) -> Result<FxHashMap<Atom, bool>, ReadError> {
    let mut kinds: FxHashMap<Atom, (bool, u32)> = FxHashMap::default();
    for Quoted { line, micros, .. } in quoted {
        for micro in micros {
            let Some(is_list) = micro.is_list() else {
                continue;
            };
            let (before, there) = *kinds.entry(micro.key).or_insert((is_list, *line));
            if before != is_list {
                let [here, before] = [is_list, before].map(|is_list| match is_list {
                    true => "a list",
                    false => "a register",
                });
                let message = format!("here a key is {here}, on line {there} it is {before}");
                return Err(block::refuse(*line, message));
            }
        }
    }
    let kinds = kinds.into_iter();
    Ok(kinds.map(|(key, (is_list, _))| (key, is_list)).collect())
}

/// A history while it is built. Drafts are first those that are quoted, then the others.
struct Writing<'a> {
    builder: Builder,
    atoms: Atoms<'a>,
    /// By key, as far as it is known.
    lists: FxHashMap<Atom, bool>,
}

impl Writing<'_> {
    /// Adds the transactions of the text.
    fn quoted(&mut self, block: &Block<'_>) {
        for micro in block.quoted.iter().flat_map(|quoted| &quoted.micros) {
            // The first name turns numbers into names as well: let them come before all values.
            self.atoms.intern_names(&mut self.builder, micro.values());
        }
        let mut has_alone = false;
        for &place in &block.order {
            let quoted = &block.quoted[place];
            let session = match quoted.process.filter(|_| block.is_ordered) {
                Some(process) => crate::operations::session(Some(process), &[], &mut self.builder),
                None => {
                    has_alone = true;
                    self.builder.session_name(quoted.name)
                }
            };
            let draft = self.begin(session, quoted.outcome, quoted.name);
            for micro in &quoted.micros {
                self.micro(draft, micro, quoted);
            }
        }
        if has_alone {
            self.builder.assume(
                "Transactions without a process, or whose order is not known since `:index` or `:time` is missing, are sessions of their own.",
            );
        }
    }

    fn begin(&mut self, session: SessionId, outcome: Outcome, name: &str) -> Draft {
        let draft = self.builder.transaction(session, outcome);
        self.builder.name_transaction(draft, name);
        draft
    }

    fn micro(&mut self, draft: Draft, micro: &Micro, quoted: &Quoted<'_>) {
        let key = self.key(micro.key);
        let (builder, line) = (&mut self.builder, quoted.line);
        let kind = match micro.access {
            Access::Read => OperationKind::Read,
            Access::Write | Access::Append => OperationKind::Write,
        };
        match &micro.payload {
            // Its result is not recorded.
            Payload::Nothing if quoted.outcome != Outcome::Committed => {}
            Payload::Nothing if self.lists.get(&micro.key) == Some(&true) => {
                builder.list_read(draft, key, &[], line);
            }
            Payload::Nothing => builder.operation(draft, kind, key, Value::INITIAL, line),
            Payload::One(one) => {
                let value = self.atoms.value(builder, *one);
                builder.operation(draft, kind, key, value, line);
            }
            Payload::List(all) => {
                let all: Vec<Value> = all
                    .iter()
                    .map(|&one| self.atoms.value(builder, one))
                    .collect();
                builder.list_read(draft, key, &all, line);
            }
        }
    }

    fn key(&mut self, key: Atom) -> KeyId {
        let id = self.atoms.key(&mut self.builder, key);
        if self.lists.get(&key) == Some(&true) {
            self.builder.list_key(id);
        }
        id
    }

    /// Adds a writer for each value that was read and that no transaction of the text wrote.
    fn not_quoted<'b>(&mut self, block: &'b Block<'_>) {
        let micros = || block.quoted.iter().flat_map(|quoted| &quoted.micros);
        let (reads, writes): (Vec<&'b Micro>, Vec<&'b Micro>) =
            micros().partition(|micro| micro.access == Access::Read);
        let pairs = |micro: &'b Micro| micro.values().iter().map(move |&value| (micro.key, value));
        let mut written: FxHashSet<(Atom, Atom)> =
            writes.iter().flat_map(|micro| pairs(micro)).collect();
        let mut n = 0;
        for (key, value) in reads.iter().flat_map(|micro| pairs(micro)) {
            if !written.insert((key, value)) {
                continue;
            }
            n += 1;
            let word = match self.lists.get(&key) {
                Some(true) => "append",
                _ => "write",
            };
            let (of, what) = (self.atoms.text(key), self.atoms.text(value));
            let name = format!("not quoted: {word} {of} {what}");
            let session = self.builder.session_name(&name);
            let draft = self.begin(session, Outcome::Committed, &name);
            let (key, value) = (self.key(key), self.atoms.value(&mut self.builder, value));
            self.builder
                .operation(draft, OperationKind::Write, key, value, 0);
        }
        if n > 0 {
            self.builder.assume(format!(
                "Values that were read and that no transaction of the text wrote: {n}. Each has a writer of its own, `not quoted`, of which nothing else is known."
            ));
        }
    }

    /// Adds the moments that sentences give.
    fn times(&mut self, block: &Block<'_>) {
        let Some(ran) = block.intervals() else {
            self.builder
                .assume("The text does not say when transactions ran.");
            return;
        };
        self.builder.times_are_events();
        self.builder.assume(
            "When transactions ended and began is known only where a sentence says that one completed before the invocation of another.",
        );
        for at in 0..self.builder.n_transactions() {
            let interval = match block.order.get(at) {
                Some(&place) => ran.of[place],
                None => ran.whole,
            };
            self.builder.set_interval(Draft(at as u32), interval);
        }
    }
}

#[cfg(test)]
mod tests;
