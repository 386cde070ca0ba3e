//! Two updates of one version: Divergence (MTC, Def. 10), the common case of a lost update.
//!
//! ```text
//!        t1 writes x
//!     WR /         \ WR
//!       t2 ─ RW ──→ t3      both write x
//!          ←─ RW ──
//! ```

use super::Listing;
use super::argument::Argument;
use crate::checkers::place::{Place, Window};
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, TransactionId};
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node};
use rustc_hash::FxHashSet;

/// A transaction that read a version of a key and overwrote it: key, place of the version in the order of slots with ⊥ first,
/// node and read.
type Update = (u32, u32, Node, u32);

/// Counts the pairs of all versions and lists at most `most` of them, version by version; two transactions that both
/// read several versions of a key are listed for the first. O(reads log + pairs listed).
pub(super) fn find(
    history: &History,
    index: &Index,
    most: usize,
    listing: &mut Listing<'_>,
    control: &Control,
) -> Result<(), Interrupt> {
    let updates = updates(index, control)?;
    let mut listed: FxHashSet<(u32, Node, Node)> = FxHashSet::default();
    for version in versions(&updates) {
        let n = pairs(version.len());
        listing.count(Pattern::Divergence, n);
        listing.count(Pattern::LostUpdate, n);
        let group = listing.new_group();
        for (place, &first) in version.iter().enumerate() {
            for &second in &version[place + 1..] {
                if listed.len() == most {
                    break;
                }
                if !listed.insert((first.0, first.2, second.2)) {
                    continue;
                }
                for pattern in [Pattern::Divergence, Pattern::LostUpdate] {
                    listing.add(instance(history, index, pattern, first, second), group);
                }
            }
        }
    }
    Ok(())
}

/// The counted instances of Divergence or LostUpdate that `window` wants, in order of key, version, and transactions.
pub(super) fn unlisted(
    history: &History,
    index: &Index,
    pattern: Pattern,
    window: &mut Window,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    let updates = updates(index, control)?;
    let mut found = Vec::new();
    for version in versions(&updates) {
        let (key, slot, ..) = version[0];
        if window.skips(
            pairs(version.len()),
            Place([key, slot, 0, 0])..=Place([key, slot, NONE, NONE]),
        ) {
            continue;
        }
        for (place, &first) in version.iter().enumerate() {
            let of_first =
                Place([first.0, first.1, first.2, 0])..=Place([first.0, first.1, first.2, NONE]);
            let others = &version[place + 1..];
            if window.skips(others.len() as u64, of_first) {
                continue;
            }
            control.check()?;
            for &second in others {
                let Some(ordinal) = window.admits(place_of(first, second)) else {
                    continue;
                };
                let mut violation = instance(history, index, pattern, first, second);
                violation.id.ordinal = ordinal as u32;
                found.push(violation);
            }
        }
    }
    Ok(found)
}

fn place_of(first: Update, second: Update) -> Place {
    Place([first.0, first.1, first.2, second.2])
}

/// All updates, by key, version and node.
fn updates(index: &Index, control: &Control) -> Result<Vec<Update>, Interrupt> {
    let mut updates: Vec<Update> = Vec::new();
    for t in 0..index.n_nodes() as Node {
        if t % 65536 == 0 {
            control.check()?;
        }
        for read in index.reads_of(t) {
            let (key, slot) = (index.read_key[read], index.read_slot[read]);
            let own = slot != INITIAL_SLOT && index.slot_node[slot as usize] == t;
            if !own && index.slot_of(t, key).is_some() {
                updates.push((key, slot.wrapping_add(1), t, read as u32));
            }
        }
    }
    updates.sort_unstable_by_key(|&(key, slot, t, read)| {
        (key, slot, t, !index.is_item(read as usize), read)
    });
    // One transaction may read the version twice.
    updates.dedup_by_key(|&mut (key, slot, t, _)| (key, slot, t));
    Ok(updates)
}

/// The updates of each version that has several.
fn versions(updates: &[Update]) -> impl Iterator<Item = &[Update]> {
    updates
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .filter(|version| version.len() > 1)
}

fn pairs(n: usize) -> u64 {
    n as u64 * (n as u64 - 1) / 2
}

/// t2 and t3 each miss the other's version. At CS, UA and PSI one of two writers of a key sees the other, and at SI two writers
/// of a key may not overlap, so t3, which starts before t2 commits, would have to come before t2, which it does not observe
/// either.
fn instance(
    history: &History,
    index: &Index,
    pattern: Pattern,
    first: Update,
    second: Update,
) -> Violation {
    let mut argument = Argument::new(history, index);
    let (t2, read2) = (first.2, first.3 as usize);
    let (t3, read3) = (second.2, second.3 as usize);
    let key = index.read_key[read2];
    let writer = index.writer_of_read(read2);
    let (second_is_newer, first_is_newer) = match writer {
        NONE => (Vec::new(), Vec::new()),
        _ => (
            vec![argument.read(t3, read3)],
            vec![argument.read(t2, read2)],
        ),
    };
    let t2_misses_t3 = argument.overwrites(t2, read2, t3, second_is_newer);
    let t3_misses_t2 = argument.overwrites(t3, read3, t2, first_is_newer);
    let t3_first = argument.conflict(t3, t2, key, vec![t3_misses_t2]);
    let t1 = if writer == NONE {
        TransactionId::INITIAL
    } else {
        index.transaction[writer as usize]
    };
    let order = [
        t1,
        index.transaction[t2 as usize],
        index.transaction[t3 as usize],
    ];
    let other = if pattern == Pattern::Divergence {
        Pattern::LostUpdate
    } else {
        Pattern::Divergence
    };
    // Cursor stability protects no row of which a scan did not return the content.
    let weakest = match index.is_item(read2) && index.is_item(read3) {
        true => Level::CursorStability,
        false => Level::UpdateAtomic,
    };
    let violation = argument.violation(
        pattern,
        vec![other.id().to_owned(), "G-single".to_owned()],
        LevelSet::upward(weakest),
        Some(key),
        &order,
        Proof::Cycle(vec![t2_misses_t3, t3_first]),
    );
    Violation {
        place: Some(place_of(first, second)),
        ..violation
    }
}
