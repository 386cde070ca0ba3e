//! Resolution of reads: a join of reads with writes on (key, value).
//!
//! If values are dense numbers, such as counters, a table finds most sources ([`direct`]). All rules concern one key,
//! so for the remaining keys the operations are grouped by key ([`grouped`]) and the keys are processed in parallel:
//! for each key a small hash table from values to writes is filled and then queried in program order ([`join`]).

mod direct;
mod grouped;
mod join;
mod rows;

use super::initial_state::set_up_transactions;
use super::resolution::{
    AMBIGUOUS, INITIAL, MultipleSources, OUTSIDE, OWN, Resolution, SharedSources, Source,
    SourceList, Standing, THIN_AIR, UNRECORDED, names,
};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId, OperationId, Outcome, TransactionId, Value};
use direct::Direct;
use grouped::GroupedByKey;
use join::Join;
use rayon::prelude::*;
use std::sync::atomic::AtomicU32;

/// Finds the source of every read of committed and unknown transactions.
///
/// The first matching rule decides (Plume, Table 1, with the additions named in [`Source`]): the latest own write of
/// the key wrote the value; an older own write did; another transaction that committed or may have committed did, or
/// the value is the initial one; a later own write did; an aborted transaction did; no transaction did. If the third
/// rule offers several transactions, those that by themselves violate read committed (a version its writer overwrote, a
/// writer later in the same session) are ruled out first; if several remain, the read is ambiguous. After an own write
/// only TAP-d follows from such a read, see [`Resolution::is_open_after_own_write`].
///
/// A transaction of unknown outcome counts as committed exactly if a committed transaction reads from it; that is exact
/// for all levels, since they are closed under removing transactions.
///
/// Transactions that set up the initial state count as part of ⊥, see [`Resolution::merged_into_initial`].
///
/// O(operations) expected time, in parallel by keys in the current rayon pool; the result is the same for any number of
/// threads. About 12 bytes per operation while it runs (up to 16 per write if values are dense), 4 after. Errors: only
/// if `control` says to stop.
pub fn resolve(history: &History, control: &Control) -> Result<Resolution, Interrupt> {
    resolve_by(history, direct::resolve, control)
}

/// [`resolve`] with a table, or without one if `table` returns `None`.
fn resolve_by(
    history: &History,
    table: impl Fn(&History, &[Standing], &Control) -> Result<Option<Direct>, Interrupt>,
    control: &Control,
) -> Result<Resolution, Interrupt> {
    if history.n_operations() >= super::resolution::FIRST_SPECIAL as usize {
        return Err(Interrupt::MemoryLimit);
    }
    // What is known of each transaction and operation.
    control.needs(history.n_transactions() * 5 + history.n_operations() * 4)?;
    let set_up = set_up_transactions(history);
    let mut standing: Vec<Standing> = history
        .transactions()
        .map(|t| match history.outcome(t) {
            Outcome::Committed => Standing::Committed,
            Outcome::Aborted => Standing::Aborted,
            Outcome::Unknown => Standing::Dropped,
        })
        .collect();
    set_up
        .iter()
        .for_each(|t| standing[t.index()] = Standing::Initial);
    let direct = table(history, &standing, control)?;
    let Sources { code, exceptions } = join_rest(history, &standing, direct, control)?;
    let operation_begins = history
        .transactions()
        .map(|t| history.operation_range(t).start as u32);
    let mut resolution = Resolution {
        code,
        standing,
        operation_begin: operation_begins
            .chain([history.n_operations() as u32])
            .collect(),
        ..Resolution::default()
    };
    resolution.after_own_write = exceptions.after_own_write;
    resolution.intermediate = exceptions.intermediate;
    resolution.multiple = exceptions.multiple;
    resolution.demands = exceptions.demands;
    resolution.listed = exceptions.listed;
    resolution.repeated = exceptions.repeated;
    resolution.after_own_write.par_sort_unstable();
    resolution.intermediate.par_sort_unstable();
    resolution
        .multiple
        .par_sort_unstable_by_key(|multiple| multiple.read);
    resolution.repeated.par_sort_unstable();
    resolution.demands.sort_unstable();
    resolution.demands.dedup();
    resolution.listed.sort_unstable();
    resolution.listed.dedup();
    settle_unknown(&mut resolution);
    resolution.assumptions = assumptions(history, &resolution, &set_up);
    Ok(resolution)
}

/// The result of the join.
struct Sources {
    /// By operation: the write that was read, or a special code.
    code: Vec<u32>,
    exceptions: Exceptions,
}

/// Properties too rare to be kept for every operation.
#[derive(Default)]
struct Exceptions {
    after_own_write: Vec<u32>,
    intermediate: Vec<u32>,
    multiple: Vec<MultipleSources>,
    demands: Vec<(TransactionId, TransactionId)>,
    listed: Vec<(TransactionId, TransactionId)>,
    repeated: Vec<(OperationId, OperationId)>,
}

impl Exceptions {
    fn append(&mut self, mut other: Exceptions) {
        self.after_own_write.append(&mut other.after_own_write);
        self.intermediate.append(&mut other.intermediate);
        self.multiple.append(&mut other.multiple);
        self.demands.append(&mut other.demands);
        self.listed.append(&mut other.listed);
        self.repeated.append(&mut other.repeated);
    }
}

/// Resolves, key by key, what a table of values did not.
fn join_rest(
    history: &History,
    standing: &[Standing],
    direct: Option<Direct>,
    control: &Control,
) -> Result<Sources, Interrupt> {
    let (code, intricate, mut exceptions) = match direct {
        Some(Direct {
            code,
            intricate,
            exceptions,
        }) if !intricate.contains(&true) => {
            return Ok(Sources { code, exceptions });
        }
        Some(Direct {
            code,
            intricate,
            exceptions,
        }) => (code, Some(intricate), exceptions),
        None => (
            vec![OUTSIDE; history.n_operations()],
            None,
            Exceptions::default(),
        ),
    };
    let is_left = |key: KeyId| {
        intricate
            .as_ref()
            .is_none_or(|intricate| intricate[key.index()])
    };
    let grouped = GroupedByKey::new(history, is_left);
    control.check()?;
    let code: Vec<AtomicU32> = code.into_iter().map(AtomicU32::new).collect();
    let parts: Vec<Exceptions> = grouped
        .parts()
        .into_par_iter()
        .map(|keys| {
            let mut join = Join::new(history, standing, &code);
            for (done, key) in keys.enumerate() {
                if done % 1024 == 0 {
                    control.check()?;
                }
                join.key(grouped.of(key));
            }
            Ok(join.exceptions)
        })
        .collect::<Result<_, Interrupt>>()?;
    parts.into_iter().for_each(|part| exceptions.append(part));
    Ok(Sources {
        code: code.into_iter().map(AtomicU32::into_inner).collect(),
        exceptions,
    })
}

/// Decides which unknown transactions count as committed, and which reads are ambiguous.
fn settle_unknown(resolution: &mut Resolution) {
    let sure = resolution.demands.clone();
    spread(&mut resolution.standing, &sure, Standing::Promoted);
    let mut all = sure;
    if resolution.standing.contains(&Standing::Dropped) {
        for read in resolution.multiple.iter().filter(|read| read.kept > 1) {
            all.extend(
                read.unsettled_candidates(&resolution.standing)
                    .map(|writer| (read.reader, writer)),
            );
        }
    }
    all.sort_unstable();
    spread(&mut resolution.standing, &all, Standing::Possible);
    let stays = |multiple: &MultipleSources| {
        multiple.kept > 1
            && !matches!(
                resolution.standing[multiple.reader.index()],
                Standing::Dropped
            )
    };
    let places = 0..resolution.multiple.len() as u32;
    resolution.ambiguous = places
        .filter(|&at| stays(&resolution.multiple[at as usize]))
        .collect();
}

/// Gives `standing` to every dropped transaction that is reached from a committed one by (reader, writer) pairs, which
/// are sorted.
fn spread(
    standings: &mut [Standing],
    pairs: &[(TransactionId, TransactionId)],
    standing: Standing,
) {
    let takes_part = |t: TransactionId, standings: &[Standing]| {
        matches!(
            standings[t.index()],
            Standing::Committed | Standing::Promoted
        )
    };
    let mut reached: Vec<TransactionId> = Vec::new();
    for &(reader, writer) in pairs {
        if takes_part(reader, standings) && standings[writer.index()] == Standing::Dropped {
            standings[writer.index()] = standing;
            reached.push(writer);
        }
    }
    while let Some(reader) = reached.pop() {
        let first = pairs.partition_point(|pair| pair.0 < reader);
        for &(_, writer) in pairs[first..].iter().take_while(|pair| pair.0 == reader) {
            if standings[writer.index()] == Standing::Dropped {
                standings[writer.index()] = standing;
                reached.push(writer);
            }
        }
    }
}

/// One sentence for each kind of assumption made.
fn assumptions(
    history: &History,
    resolution: &Resolution,
    set_up: &[TransactionId],
) -> Vec<String> {
    let mut sentences = history.assumptions().to_vec();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    if !set_up.is_empty() && history.set_up().is_empty() {
        sentences.push(format!(
            "The set-up transaction{} {} counted as part of the initial state: only initial values are written there, \
             before anything else in the session, and no other session writes them.",
            plural(set_up.len()),
            names(history, set_up) + if set_up.len() == 1 { " is" } else { " are" },
        ));
    }
    let promoted: Vec<TransactionId> = resolution.promoted().collect();
    if !promoted.is_empty() {
        sentences.push(format!(
            "{} transaction{} of unknown outcome must have committed, because others read from {}: {}.",
            promoted.len(),
            plural(promoted.len()),
            if promoted.len() == 1 { "it" } else { "them" },
            names(history, &promoted),
        ));
    }
    let dropped = resolution.dropped().count();
    if dropped > 0 {
        sentences.push(format!(
            "{dropped} transaction{} of unknown outcome {} left out: no transaction read from {}, so no verdict depends on {}.",
            plural(dropped),
            if dropped == 1 { "is" } else { "are" },
            if dropped == 1 { "it" } else { "them" },
            if dropped == 1 { "it" } else { "them" },
        ));
    }
    let ambiguous = resolution.n_ambiguous();
    if ambiguous > 0 {
        sentences.push(format!(
            "{ambiguous} read{} several possible writers, because {}; a level counts \
             as satisfied if one choice of writers satisfies it.",
            if ambiguous == 1 { " has" } else { "s have" },
            match resolution.ambiguous_reads().any(|multiple| {
                let value = history.values()[multiple.read.index()];
                value.is_of_scan() || value == Value::ABSENT
            }) {
                true =>
                    "nothing tells which version a row had that was absent or not listed by a scan",
                false => "values were written more than once",
            },
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Builder, OperationKind, Origin, Value};

    /// Values are counters, per history or per key, with few exceptions; most reads return one of the last values.
    fn counters(random: &mut fastrand::Rng) -> History {
        let mut builder = Builder::new(Origin::default());
        builder.initial_value(Value(0));
        let (n_keys, per_key, exceptions) = (random.u64(1..6), random.bool(), random.u8(1..40));
        let mut last = vec![random.u64(0..2); n_keys as usize];
        for _ in 0..random.usize(1..12) {
            let session = builder.session_number(random.u64(0..3));
            let outcome = match random.u8(0..16) {
                0 => Outcome::Aborted,
                1 => Outcome::Unknown,
                _ => Outcome::Committed,
            };
            let draft = builder.transaction(session, outcome);
            for _ in 0..random.usize(0..7) {
                let at = random.usize(0..last.len());
                let key = builder.key_number(at as u64);
                let is_exception = random.u8(0..exceptions) == 0;
                let (kind, value) = match (random.bool(), is_exception) {
                    (true, false) => {
                        let next = if per_key {
                            last[at]
                        } else {
                            last.iter().copied().max().unwrap_or(0)
                        } + 1;
                        last[at] = next;
                        (OperationKind::Write, next)
                    }
                    (true, true) => (OperationKind::Write, random.u64(0..6)),
                    (false, false) => (
                        OperationKind::Read,
                        last[at].saturating_sub(random.u64(0..2)),
                    ),
                    (false, true) => (OperationKind::Read, random.u64(0..30)),
                };
                builder.operation(draft, kind, key, Value(value), 0);
            }
        }
        builder.finish().expect("small")
    }

    #[test]
    fn the_table_and_the_join_find_the_same() {
        let control = Control::new();
        let mut random = fastrand::Rng::with_seed(77);
        let (mut simple, mut mixed) = (0, 0);
        for round in 0..20_000 {
            let history = counters(&mut random);
            let standing = vec![Standing::Committed; history.n_transactions()];
            if let Some(direct) =
                direct::resolve(&history, &standing, &control).expect("not stopped")
            {
                let n_intricate = direct.intricate.iter().filter(|&&is| is).count();
                simple += usize::from(n_intricate == 0);
                mixed += usize::from(n_intricate > 0 && n_intricate < history.n_keys());
            }
            let by_table = resolve(&history, &control).expect("not stopped");
            let by_join = resolve_by(&history, |_, _, _| Ok(None), &control).expect("not stopped");
            let all = |r: &Resolution| {
                let exceptions = (
                    r.after_own_write.clone(),
                    r.intermediate.clone(),
                    r.multiple.clone(),
                );
                (
                    r.code.clone(),
                    exceptions,
                    r.demands.clone(),
                    r.repeated.clone(),
                    r.standing.clone(),
                )
            };
            assert_eq!(all(&by_table), all(&by_join), "round {round}: {history:?}");
        }
        assert!(simple > 3_000 && mixed > 3_000, "{simple} {mixed}");
    }
}
