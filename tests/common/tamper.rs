//! Ways to change a report so that something in it is no longer what the checkers said.

use fastrand::Rng;
use isoscope::checkers::{Level, Pattern};
use isoscope::history::History;
use isoscope::relations::Relation;
use isoscope::report::{
    AxiomWord, ClaimKind, EdgeEntry, LevelEntry, MissedEntry, OperationEntry, ProofEntry,
    ReasonEntry, Report, SightWord, TransactionEntry, VerdictWord, ViolationEntry,
};

/// All patterns with their plain names.
pub(crate) const NAMES: [(&str, &str); 25] = [
    ("TAP-a", "ThinAirRead"),
    ("TAP-b", "AbortedRead"),
    ("TAP-c", "FutureRead"),
    ("TAP-d", "NotMyOwnWrite"),
    ("TAP-e", "NotMyLastWrite"),
    ("TAP-f", "IntermediateRead"),
    ("IncompatibleOrder", "IncompatibleOrder"),
    ("DuplicateElement", "DuplicateElement"),
    ("TAP-g", "CyclicCO"),
    ("VersionOrderCycle", "VersionOrderCycle"),
    ("TAP-h", "NonMonoReadCO"),
    ("TAP-i", "NonMonoReadCM"),
    ("TAP-j", "NonRepeatableRead"),
    ("TAP-k", "FracturedReadCO"),
    ("TAP-l", "FracturedReadCM"),
    ("TAP-m", "COConflictCM"),
    ("TAP-n", "ConflictCM"),
    ("Divergence", "Divergence"),
    ("LostUpdate", "LostUpdate"),
    ("LongFork", "LongFork"),
    ("WriteSkew", "WriteSkew"),
    ("SICycle", "SICycle"),
    ("SERCycle", "SERCycle"),
    ("RealTimeCycle", "RealTimeCycle"),
    ("NoLinearOrder", "NoLinearOrder"),
];

const LEVELS: [&str; 9] = ["CI", "RC", "RA", "TCC", "PC", "SI", "SER", "SSER", "LIN"];

/// What was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Verdict,
    VerdictWithoutEvidence,
    ViolationsDeleted,
    OneViolationDeleted,
    Pattern,
    Names,
    Also,
    EdgeKind,
    EdgeKey,
    EdgeOperation,
    EdgeDirection,
    EdgeDropped,
    Reason,
    Operation,
    OperationText,
    Transaction,
    TransactionAdded,
    ViolationLevels,
    ViolationKey,
    Claim,
    Statement,
    Proof,
    Flags,
    WitnessOfAnother,
    WitnessDamaged,
    WitnessPermuted,
    Snapshots,
    Figures,
}

impl Change {
    pub(crate) const ALL: [Change; 28] = [
        Change::Verdict,
        Change::VerdictWithoutEvidence,
        Change::ViolationsDeleted,
        Change::OneViolationDeleted,
        Change::Pattern,
        Change::Names,
        Change::Also,
        Change::EdgeKind,
        Change::EdgeKey,
        Change::EdgeOperation,
        Change::EdgeDirection,
        Change::EdgeDropped,
        Change::Reason,
        Change::Operation,
        Change::OperationText,
        Change::Transaction,
        Change::TransactionAdded,
        Change::ViolationLevels,
        Change::ViolationKey,
        Change::Claim,
        Change::Statement,
        Change::Proof,
        Change::Flags,
        Change::WitnessOfAnother,
        Change::WitnessDamaged,
        Change::WitnessPermuted,
        Change::Snapshots,
        Change::Figures,
    ];
}

/// The report with one thing changed; none where there is nothing of this kind, or nothing came of it.
pub(crate) fn tamper(
    history: &History,
    report: &Report,
    change: Change,
    rng: &mut Rng,
) -> Option<Report> {
    let mut tampered = report.clone();
    apply(history, &mut tampered, change, rng)?;
    (tampered != *report).then_some(tampered)
}

fn any<'a, T>(list: &'a mut [T], rng: &mut Rng) -> Option<&'a mut T> {
    if list.is_empty() {
        None
    } else {
        Some(&mut list[rng.usize(0..list.len())])
    }
}

fn one_of<T: Copy>(list: &[T], rng: &mut Rng) -> T {
    list[rng.usize(0..list.len())]
}

fn apply(history: &History, report: &mut Report, change: Change, rng: &mut Rng) -> Option<()> {
    match change {
        Change::Verdict => swap_verdict(report, rng, false)?,
        Change::VerdictWithoutEvidence => swap_verdict(report, rng, true)?,
        Change::ViolationsDeleted => report.violations.clear(),
        Change::OneViolationDeleted => {
            let n = report.violations.len();
            drop(report.violations.remove((n > 0).then(|| rng.usize(0..n))?));
        }
        Change::WitnessOfAnother
        | Change::WitnessDamaged
        | Change::WitnessPermuted
        | Change::Snapshots => {
            witness(history, report, change, rng)?;
        }
        Change::Figures => figures(report, rng),
        _ => {
            let violation = any(&mut report.violations, rng)?;
            of_violation(history, violation, change, rng)?;
        }
    }
    Some(())
}

/// Satisfied becomes violated and the other way round. Without evidence the violations at the level, or all witnesses,
/// go, too; else the level may get the witness of another one.
fn swap_verdict(report: &mut Report, rng: &mut Rng, bare: bool) -> Option<()> {
    let place = (!report.levels.is_empty()).then(|| rng.usize(0..report.levels.len()))?;
    let donor = report
        .levels
        .iter()
        .rfind(|level| level.witness.is_some())
        .cloned();
    let level = &mut report.levels[place];
    let was = level.verdict;
    level.verdict = if was == VerdictWord::Violated {
        VerdictWord::Satisfied
    } else {
        VerdictWord::Violated
    };
    if was == VerdictWord::Undecided && rng.bool() {
        level.verdict = VerdictWord::Satisfied;
    }
    level.reason = None;
    if bare {
        report
            .levels
            .iter_mut()
            .for_each(|level| level.witness = None);
        let code = report.levels[place].level;
        report
            .violations
            .retain(|violation| !violation.levels.contains(&code));
    } else if let (VerdictWord::Satisfied, Some(donor)) = (report.levels[place].verdict, donor) {
        lend(&donor, &mut report.levels[place]);
    }
    Some(())
}

fn lend(donor: &LevelEntry, level: &mut LevelEntry) {
    level.witness.clone_from(&donor.witness);
    level.sources.clone_from(&donor.sources);
    level.snapshots.clone_from(&donor.snapshots);
    if matches!(level.level.code(), "PC" | "SI") && level.snapshots.is_none() {
        level.snapshots = level
            .witness
            .as_ref()
            .map(|witness| (0..witness.len() as u32).collect());
    }
}

fn witness(history: &History, report: &mut Report, change: Change, rng: &mut Rng) -> Option<()> {
    let with: Vec<usize> = (0..report.levels.len())
        .filter(|&at| report.levels[at].witness.is_some())
        .collect();
    let place = *any(&mut with.clone(), rng)?;
    let donor = report.levels[one_of(&with, rng)].clone();
    let level = &mut report.levels[place];
    if change == Change::WitnessOfAnother {
        lend(&donor, level);
        return Some(());
    }
    if change == Change::Snapshots {
        let snapshot = any(level.snapshots.as_mut()?, rng)?;
        *snapshot = one_of(
            &[0, *snapshot + 1, snapshot.saturating_sub(1), u32::MAX],
            rng,
        );
        return Some(());
    }
    let witness = level.witness.as_mut()?;
    if change == Change::WitnessPermuted {
        rng.shuffle(witness);
        return Some(());
    }
    let n = witness.len();
    match rng.u8(0..4) {
        0 => witness.clear(),
        1 if n > 0 => drop(witness.remove(rng.usize(0..n))),
        2 if n > 0 => {
            let copy = witness[rng.usize(0..n)].clone();
            witness.insert(rng.usize(0..=n), copy);
        }
        _ if n > 0 => witness[rng.usize(0..n)] = another_transaction(history, rng),
        _ => return None,
    }
    if let Some(snapshots) = &mut level.snapshots {
        snapshots.resize(witness.len(), 0);
    }
    Some(())
}

fn figures(report: &mut Report, rng: &mut Rng) {
    let facts = &mut report.history;
    match rng.u8(0..8) {
        0 => facts.sessions += 1,
        1 => facts.transactions += 1,
        2 => facts.committed += 1,
        3 => facts.aborted += 1,
        4 => facts.unknown += 1,
        5 => facts.operations += 1,
        6 => facts.keys += 1,
        _ => facts.format = "another".to_owned(),
    }
}

fn of_violation(
    history: &History,
    violation: &mut ViolationEntry,
    change: Change,
    rng: &mut Rng,
) -> Option<()> {
    let n_transactions = violation.transactions.len();
    match change {
        Change::Pattern => {
            let (pattern, name) = one_of(&NAMES, rng);
            if violation.pattern == pattern {
                return None;
            }
            let number = violation
                .id
                .rsplit_once('/')
                .map_or("1", |(_, number)| number)
                .to_owned();
            violation.pattern = Pattern::parse(pattern)?;
            violation.id = format!("{pattern}/{number}");
            violation.name = name.to_owned();
            if let (ProofEntry::Reads { pattern, .. }, true) = (&mut violation.proof, rng.bool()) {
                pattern.clone_from(&violation.pattern);
            }
        }
        Change::Names => {
            let (pattern, name) = one_of(&NAMES, rng);
            match rng.u8(0..3) {
                0 => violation.pattern = Pattern::parse(pattern)?,
                1 => violation.name = name.to_owned(),
                _ => violation.id = format!("{pattern}/1"),
            }
        }
        Change::Also => {
            let new = if rng.bool() {
                one_of(&NAMES, rng).0.to_owned()
            } else {
                one_of(
                    &[
                        "G0", "G1a", "G1b", "G1c", "G-single", "G2-item", "C4 TAP-a", "nonsense",
                    ],
                    rng,
                )
                .into()
            };
            match any(&mut violation.also, rng) {
                Some(name) if rng.bool() => *name = new,
                _ => violation.also.push(new),
            }
        }
        Change::Operation | Change::OperationText => operation(history, violation, change, rng)?,
        Change::Transaction => {
            let place = rng.usize(0..n_transactions);
            let entry = &mut violation.transactions[place];
            match rng.u8(0..3) {
                0 => *entry = another_transaction(history, rng),
                1 => entry.index = entry.index.map(|index| index + 1),
                _ => entry.id += "x",
            }
        }
        Change::TransactionAdded => violation
            .transactions
            .push(another_transaction(history, rng)),
        Change::ViolationLevels => {
            if rng.bool() {
                violation
                    .levels
                    .insert(0, Level::with_code(one_of(&LEVELS, rng))?)
            } else {
                *any(&mut violation.levels, rng)? = Level::with_code(one_of(&LEVELS, rng))?
            }
        }
        Change::ViolationKey => violation.key = another_key(history, &violation.key, rng),
        Change::Claim => {
            let places = n_transactions;
            claim(&mut violation.claim.as_mut()?.says, places, rng)?;
        }
        Change::Statement => {
            let statement = any(&mut violation.statements, rng)?;
            match rng.u8(0..5) {
                0 => statement.number += 1,
                1 => statement.premises.push(statement.number),
                2 => statement.edges.push(violation.edges.len()),
                3 => statement.transactions.push(n_transactions),
                _ => any(&mut statement.operations, rng)?.text += " ",
            }
        }
        Change::Proof => proof(violation, rng)?,
        Change::Flags => match rng.u8(0..2) {
            0 => violation.implied = !violation.implied,
            _ => violation.component = one_of(&[1, 2, 3, 7], rng),
        },
        _ => {
            let n_edges = violation.edges.len();
            let place = (n_edges > 0).then(|| rng.usize(0..n_edges))?;
            if change == Change::EdgeDropped {
                violation.edges.remove(place);
                return Some(());
            }
            edge(
                history,
                &mut violation.edges[place],
                (n_transactions, n_edges),
                change,
                rng,
            )?;
        }
    }
    Some(())
}

/// Says something else of the same transactions.
fn claim(claim: &mut ClaimKind, n_transactions: usize, rng: &mut Rng) -> Option<()> {
    if rng.u8(0..4) == 0 {
        *claim = match rng.u8(0..4) {
            0 => ClaimKind::Observed,
            1 => ClaimKind::Cases,
            2 => ClaimKind::Ring {
                missing: vec![rng.usize(0..n_transactions)],
            },
            _ => ClaimKind::TwoReads { reads: Vec::new() },
        };
        return Some(());
    }
    let missed = |missed: &mut MissedEntry, rng: &mut Rng| {
        if rng.bool() {
            std::mem::swap(&mut missed.reader, &mut missed.writer)
        } else {
            missed.read = None
        }
    };
    match claim {
        ClaimKind::WrongValue { pattern, reads } => {
            if rng.bool() {
                *pattern = one_of(&NAMES, rng).0.to_owned()
            } else {
                any(reads, rng)?.index += 1
            }
        }
        ClaimKind::StaleRead {
            read,
            older,
            newer,
            write,
            sight,
            seen,
        } => match rng.u8(0..6) {
            0 => std::mem::swap(older, newer),
            1 => *older = rng.usize(0..n_transactions),
            2 => *newer = rng.usize(0..n_transactions),
            3 => read.index += 1,
            4 => *write = None,
            _ => {
                *sight = one_of(
                    &[SightWord::OwnSession, SightWord::Read, SightWord::Order],
                    rng,
                );
                *seen = if rng.bool() { Some(read.clone()) } else { None };
            }
        },
        ClaimKind::OverwrittenBefore { read, write } => {
            if rng.bool() {
                std::mem::swap(read, write)
            } else {
                write.transaction = rng.usize(0..n_transactions)
            }
        }
        ClaimKind::TwoReads { reads } => drop(reads.pop()),
        ClaimKind::LostWrite {
            key,
            writer,
            readers,
        } => match rng.u8(0..3) {
            0 => key.push('x'),
            1 => *writer = rng.usize(0..n_transactions),
            _ => readers.push(*writer),
        },
        ClaimKind::Overlap {
            key,
            writers,
            is_open,
        } => match rng.u8(0..3) {
            0 => key.push('x'),
            1 => writers.reverse(),
            _ => *is_open = !*is_open,
        },
        ClaimKind::ReadersDisagree { missed: both }
        | ClaimKind::MissedEachOther { missed: both } => {
            missed(any(both, rng)?, rng);
        }
        ClaimKind::Ring { missing } => {
            if rng.bool() {
                missing.pop();
            } else {
                missing.push(rng.usize(0..n_transactions));
            }
        }
        ClaimKind::AgainstTheClock { ended, began, .. } => std::mem::swap(ended, began),
        ClaimKind::Observed => *claim = ClaimKind::Cases,
        ClaimKind::Cases => *claim = ClaimKind::Observed,
    }
    Some(())
}

fn edge(
    history: &History,
    edge: &mut EdgeEntry,
    (n_transactions, n_edges): (usize, usize),
    change: Change,
    rng: &mut Rng,
) -> Option<()> {
    match change {
        Change::EdgeKind => edge.kind = one_of(&Relation::ALL, rng),
        Change::EdgeKey => edge.key = another_key(history, &edge.key, rng),
        Change::EdgeOperation => {
            let end = if rng.bool() {
                &mut edge.from_operation
            } else {
                &mut edge.to_operation
            };
            *end = match *end {
                Some(index) => one_of(
                    &[None, Some(index + 1), index.checked_sub(1), Some(99)],
                    rng,
                ),
                None => Some(rng.usize(0..3)),
            };
        }
        Change::EdgeDirection => match rng.u8(0..3) {
            0 => std::mem::swap(&mut edge.from, &mut edge.to),
            1 => edge.from = rng.usize(0..n_transactions),
            _ => edge.to = rng.usize(0..n_transactions),
        },
        Change::Reason => reason(&mut edge.reason, (n_transactions, n_edges), rng),
        _ => return None,
    }
    Some(())
}

fn reason(reason: &mut ReasonEntry, (n_transactions, n_edges): (usize, usize), rng: &mut Rng) {
    let path = |path: &mut Vec<usize>, rng: &mut Rng| match rng.u8(0..3) {
        0 => drop(path.pop()),
        1 => path.push(rng.usize(0..n_edges)),
        _ => path
            .iter_mut()
            .for_each(|premise| *premise = rng.usize(0..n_edges)),
    };
    match reason {
        ReasonEntry::Visible {
            axiom,
            reader,
            read,
            seen,
        } => match rng.u8(0..4) {
            0 => {
                *axiom = one_of(
                    &[
                        AxiomWord::ReadCommitted,
                        AxiomWord::ReadAtomic,
                        AxiomWord::CommitOrder,
                    ],
                    rng,
                )
            }
            1 => *reader = rng.usize(0..n_transactions),
            2 => *read += 1,
            _ => path(seen, rng),
        },
        ReasonEntry::Overwrites { writer, .. } if rng.bool() => {
            *writer = rng.usize(0..n_transactions)
        }
        ReasonEntry::Path { through: list } => path(list, rng),
        ReasonEntry::Overwrites { order: list, .. } | ReasonEntry::Conflict { order: list } => {
            path(list, rng)
        }
        ReasonEntry::ReadModifyWrite { read } => *read = rng.usize(0..n_edges),
        ReasonEntry::Listed { read, .. } => *read += 1,
        other => {
            let to = [
                ReasonEntry::Assumed,
                ReasonEntry::Reads,
                ReasonEntry::SessionOrder,
            ];
            *other = to[rng.usize(0..3)].clone();
        }
    }
}

fn operation(
    history: &History,
    violation: &mut ViolationEntry,
    change: Change,
    rng: &mut Rng,
) -> Option<()> {
    let places: Vec<Option<usize>> = violation
        .transactions
        .iter()
        .map(|entry| place_of(history, entry))
        .collect();
    let mut entries: Vec<&mut OperationEntry> = violation.operations.iter_mut().collect();
    match &mut violation.proof {
        ProofEntry::Reads { reads, .. } => entries.extend(reads),
        ProofEntry::Writers { read, .. } | ProofEntry::Appends { read, .. } => entries.push(read),
        _ => {}
    }
    let entry = &mut **any(&mut entries, rng)?;
    if change == Change::OperationText {
        match rng.u8(0..3) {
            0 => entry.text += " ",
            1 => entry.line = Some(entry.line.unwrap_or(0) + 1),
            _ => entry.index += 1,
        }
        return Some(());
    }
    // Another operation of the history, with the words that belong to it.
    entry.transaction = rng.usize(0..places.len());
    let t = isoscope::history::TransactionId::new(places[entry.transaction]?);
    let operations: Vec<_> = history.operations_of(t).collect();
    entry.index = rng.usize(0..operations.len().max(1));
    let o = *operations.get(entry.index)?;
    entry.text = history.operation_text(o);
    entry.line = Some(history.line_of(o)).filter(|&line| line > 0);
    entry.place = history.spot_of(o).map(|spot| spot.text(history.origin()));
    Some(())
}

/// The place of a transaction among those of the history.
fn place_of(history: &History, entry: &TransactionEntry) -> Option<usize> {
    history
        .transactions()
        .position(|t| history.exact_transaction_name(t) == entry.id)
}

/// An entry for some transaction of the history.
fn another_transaction(history: &History, rng: &mut Rng) -> TransactionEntry {
    let t = isoscope::history::TransactionId::new(rng.usize(0..history.n_transactions()));
    let name = history.session_name(history.session_of(t));
    let session = match name.parse::<u64>() {
        Ok(number) => isoscope::report::SessionName::Number(number),
        Err(_) => isoscope::report::SessionName::Name(name),
    };
    let id = history.exact_transaction_name(t);
    let name = Some(history.transaction_name(t)).filter(|name| *name != id);
    TransactionEntry {
        session: Some(session),
        index: Some(history.position_of(t)),
        id,
        name,
    }
}

fn another_key(history: &History, key: &Option<String>, rng: &mut Rng) -> Option<String> {
    let other = isoscope::history::KeyId::new(rng.usize(0..history.n_keys()));
    let other = history.key_name(other);
    if key.as_ref() == Some(&other) {
        None
    } else {
        Some(other)
    }
}

fn proof(violation: &mut ViolationEntry, rng: &mut Rng) -> Option<()> {
    let (n_edges, n_transactions) = (violation.edges.len(), violation.transactions.len());
    match &mut violation.proof {
        ProofEntry::Read => {
            violation.proof = ProofEntry::Cycle {
                edges: (0..n_edges).collect(),
            }
        }
        ProofEntry::Reads { reads, .. } => drop(reads.pop()),
        ProofEntry::Cycle { edges } => match rng.u8(0..4) {
            0 => drop(edges.pop()),
            1 => edges.reverse(),
            2 => *any(edges, rng)? = rng.usize(0..n_edges),
            _ => violation.proof = ProofEntry::Read,
        },
        ProofEntry::Split { first, second, key } => match rng.u8(0..4) {
            0 => std::mem::swap(&mut first.assume, &mut second.assume),
            1 => second.proof = first.proof.clone(),
            2 => key.push('x'),
            _ => violation.proof = (*first.proof).clone(),
        },
        ProofEntry::Clauses { lemmas, clauses } => {
            if rng.bool() {
                drop(lemmas.pop())
            } else {
                clauses.push(vec![rng.usize(0..n_edges)])
            }
        }
        ProofEntry::Writers { cases, .. } => match rng.u8(0..3) {
            0 => drop(cases.pop()),
            1 => any(cases, rng)?.writer = rng.usize(0..n_transactions),
            _ => violation.proof = cases.first()?.proof.clone(),
        },
        ProofEntry::Appends { cases, place, .. } => {
            if rng.bool() {
                *place += 1
            } else {
                drop(cases.pop())
            }
        }
        ProofEntry::Outcomes { cases, .. } => {
            if rng.bool() {
                drop(cases.pop())
            } else {
                any(cases, rng)?.committed ^= true
            }
        }
        ProofEntry::Combinations {
            options, excluded, ..
        } => {
            if rng.bool() {
                drop(options.pop())
            } else {
                drop(excluded.pop())
            }
        }
    }
    Some(())
}
