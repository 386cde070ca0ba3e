//! The patterns TAP-h to n: t3 reads a key from t1 although it sees t2, whose version is newer.

use super::Scene;
use super::cycle::Cycle;
use super::pattern::{GRID, cell};
use super::reads::{Case, Reads};
use isoscope_judge::report::{AxiomWord, ReasonEntry};
use isoscope_model::history::{KeyId, OperationId, OperationKind, TransactionId};

const MONO: usize = 0;
const FRACTURED: usize = 1;
const CAUSAL: usize = 2;

/// The roles of the transactions.
#[derive(Clone, Copy)]
struct Parts {
    t1: TransactionId,
    t2: TransactionId,
    t3: TransactionId,
    key: KeyId,
    /// The read of the key from t1.
    read: OperationId,
}

/// How t3 sees t2.
#[derive(Clone, Copy)]
struct Sight {
    row: usize,
    /// It reads another key from it.
    by_read: bool,
    in_session: bool,
}

/// A cycle that begins with the order of t2 before t1 and leads back from t1 to t2. Where t2 comes before ⊥, so does
/// everything before it: then whatever the commit order is said to put before something else is implied.
pub(super) fn of_cycle(
    cycle: &Cycle<'_>,
    pattern: &str,
    case: Option<&Case>,
) -> Result<Scene, String> {
    let Some((row, column)) = cell(pattern) else {
        return Err(format!("no cycle shows {pattern}"));
    };
    let parts = parts(cycle)?;
    let back = &cycle.edges[1..];
    let is_causal = |kind: &str| matches!(kind, "SO" | "WR" | "CO");
    let is_commit = |at: usize| {
        let edge = back[at];
        edge.kind == "CM" || edge.kind == "WW" && matches!(edge.reason, ReasonEntry::Listed { .. })
    };
    let shown = match back.iter().all(|edge| is_causal(edge.kind.code())) {
        true => 0,
        false if (0..back.len()).all(|at| is_causal(back[at].kind.code()) || is_commit(at)) => 1,
        false => return Err(format!("its cycle shows no {pattern}")),
    };
    if cycle.described.violation.implied && column == 1 && parts.t1.is_initial() && shown == 0 {
        return Ok(Scene {
            key: Some(parts.key),
            also: cells(row, column).map(str::to_owned).collect(),
            ..Scene::default()
        });
    }
    let sight = match case {
        Some(case) => sight(cycle.described.reads, case, parts)?,
        // An unknown case may be classified in any way that its edges allow.
        None => Sight {
            row,
            by_read: true,
            in_session: true,
        },
    };
    if (sight.row, shown) != (row, column) {
        return Err(format!(
            "it is an instance of {}, not of {pattern}",
            GRID[sight.row][shown]
        ));
    }
    let mut scene = scene(parts, (row, column), sight, cycle);
    scene.versions = Some((parts.t1, parts.t2));
    if case.is_none() {
        let any = ["h", "i", "k", "l"].map(|letter| format!("C4 TAP-{letter}"));
        scene.also.extend(any);
    }
    Ok(scene)
}

fn parts(cycle: &Cycle<'_>) -> Result<Parts, String> {
    let described = cycle.described;
    let first = cycle.edges[0];
    let (ReasonEntry::Visible { reader, read, .. }, "CM") = (&first.reason, first.kind.code())
    else {
        return Err("its cycle does not begin with the order that a read forces".to_owned());
    };
    let read = described.operation(*reader, *read)?;
    Ok(Parts {
        t1: described.transaction(first.to)?,
        t2: described.transaction(first.from)?,
        t3: described.transaction(*reader)?,
        key: described.history.operation(read).key,
        read,
    })
}

/// How t3 sees t2, in the most specific way. O(operations of t3).
fn sight(reads: &Reads<'_>, case: &Case, parts: Parts) -> Result<Sight, String> {
    let history = reads.history;
    let Parts {
        t1,
        t2,
        t3,
        key,
        read,
    } = parts;
    let mut last = read;
    let (mut first_of_other, mut of_key) = (None, false);
    for o in history
        .operations_of(t3)
        .filter(|&o| history.operation(o).kind == OperationKind::Read)
    {
        let Some(source) = reads.source(o, case) else {
            continue;
        };
        let writer = source.writer;
        let is_key = history.operation(o).key == key;
        if writer == t2 && is_key {
            of_key = true;
        } else if writer == t2 {
            first_of_other = first_of_other.or(Some(o));
        } else if writer == t1 && is_key {
            last = last.max(o);
        }
    }
    let in_session =
        !t2.is_initial() && history.session_of(t2) == history.session_of(t3) && t2 < t3;
    let row = match first_of_other {
        Some(first) if history.moment_of(first) <= history.moment_of(last) => MONO,
        Some(_) => FRACTURED,
        None if in_session => FRACTURED,
        None if of_key => {
            return Err("it sees the newer version by reading it, which is TAP-j".to_owned());
        }
        None => CAUSAL,
    };
    Ok(Sight {
        row,
        by_read: first_of_other.is_some(),
        in_session,
    })
}

/// The other patterns that an instance of one is: a fact at a weaker level, or by a stronger order, holds in all cells to the
/// right and below.
fn cells(row: usize, column: usize) -> impl Iterator<Item = &'static str> {
    let cells = (row..GRID.len()).flat_map(move |r| (column..2).map(move |c| (r, c)));
    cells
        .filter(move |cell| *cell != (row, column))
        .map(|(r, c)| GRID[r][c])
}

fn scene(parts: Parts, (row, column): (usize, usize), sight: Sight, cycle: &Cycle<'_>) -> Scene {
    let Parts {
        t1, t2, t3, key, ..
    } = parts;
    let mut also: Vec<String> = cells(row, column).map(str::to_owned).collect();
    let c4 = match (row, column, sight.by_read) {
        (MONO, 0, _) | (FRACTURED, 0, true) => "h",
        (MONO, _, _) | (FRACTURED, _, true) => "i",
        (FRACTURED, 0, false) | (CAUSAL, 0, _) => "k",
        _ => "l",
    };
    also.push(format!("C4 TAP-{c4}"));
    also.extend(t1.is_initial().then(|| "C4 TAP-j".to_owned()));
    if column == 0 {
        also.push(
            if cycle.rests_on("SO") {
                "G-single-session"
            } else {
                "G-single"
            }
            .to_owned(),
        );
        also.extend((row == MONO).then(|| "G-monotonic".to_owned()));
        also.extend(sight.in_session.then(|| "read-your-writes".to_owned()));
    }
    let identity = Some(format!("{key:?} {t1:?} {t2:?} {t3:?}"));
    Scene {
        key: Some(key),
        also,
        identity,
        ..Scene::default()
    }
}

/// TAP-j that also violates read committed: the second of two reads of a key returned an older version than the first.
pub(super) fn torn(cycle: &Cycle<'_>) -> Result<Scene, String> {
    let described = cycle.described;
    let Parts { key, read, .. } = parts(cycle)?;
    let ReasonEntry::Visible {
        axiom: AxiomWord::ReadCommitted,
        seen,
        ..
    } = &cycle.edges[0].reason
    else {
        return Err("it does not show two reads of a key".to_owned());
    };
    let [seen] = seen.as_slice() else {
        return Err("it does not show two reads of a key".to_owned());
    };
    let seen = described.edge(*seen)?;
    let first = seen
        .to_operation
        .ok_or("it does not show two reads of a key")?;
    let first = described.operation(seen.to, first)?;
    if described.history.operation(first).key != key || !described.is_read(first) {
        return Err("its reads are of different keys".to_owned());
    }
    let also = ["C4 TAP-f", "G-monotonic"].map(str::to_owned).to_vec();
    let reads = vec![first, read];
    Ok(Scene {
        key: Some(key),
        also,
        identity: Some(format!("{reads:?}")),
        reads,
        versions: None,
    })
}
