//! Faults: small groups of transactions that show one anomaly, inserted into an otherwise unchanged history.
//!
//! The transactions of a fault run at one place of the log, each in its own session unless they need one session, on
//! keys that no other transaction accesses. Their sessions have seen everything before and afterwards continue from
//! them, so no edge between them and the rest points backwards: nothing else becomes an anomaly. Where times are
//! recorded they overlap.

use super::plan::Key;
use isoscope_model::history::Outcome;
use std::fmt;
use std::str::FromStr;

/// An operation of a sketch: a key and the number of a version; 0 is the initial one, others are written in the sketch
/// or, in [`THIN_AIR`], nowhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    R(u8, u8),
    W(u8, u8),
}

/// A version that no transaction writes.
const THIN_AIR: u8 = 255;

/// A transaction of a sketch: the session (places among those of the fault), the outcome and the operations.
pub(super) type Sketched = (u8, Outcome, &'static [Act]);

/// A fault that can be injected into a history.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Its name on the command line.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// The patterns as reports call them and how many instances of each one fault makes, at any level above it.
    pub patterns: &'static [(&'static str, u64)],
    /// What happens, in one sentence.
    pub about: &'static str,
    pub(super) transactions: &'static [Sketched],
    /// Whether the transactions run one after the other and the anomaly only shows with times.
    pub in_real_time: bool,
}

use Act::{R, W};
use Outcome::{Aborted as NO, Committed as OK};

const X: u8 = 0;
const Y: u8 = 1;
const Z: u8 = 2;

const fn fault(
    names: &'static [&'static str],
    patterns: &'static [(&'static str, u64)],
    about: &'static str,
    transactions: &'static [Sketched],
) -> Fault {
    let [name, aliases @ ..] = names else {
        panic!("a fault has a name")
    };
    Fault {
        name,
        aliases,
        patterns,
        about,
        transactions,
        in_real_time: false,
    }
}

/// All faults: Plume's patterns a to n, then those of stronger levels, weakest first.
#[rustfmt::skip]
pub const FAULTS: &[Fault] = &[
    fault(&["thin-air-read", "TAP-a", "a"], &[("TAP-a", 1)], "a value is read that no transaction wrote",
        &[(0, OK, &[R(X, THIN_AIR)])]),
    fault(&["aborted-read", "TAP-b", "b"], &[("TAP-b", 1)], "a value is read whose writer rolled back",
        &[(0, NO, &[W(X, 1)]), (1, OK, &[R(X, 1)])]),
    fault(&["future-read", "TAP-c", "c"], &[("TAP-c", 1)], "a transaction reads what it writes later",
        &[(0, OK, &[R(X, 1), W(X, 1)])]),
    fault(&["not-my-own-write", "TAP-d", "d"], &[("TAP-d", 1)], "behind its own write a transaction reads another's",
        &[(0, OK, &[W(X, 1)]), (1, OK, &[W(X, 2), R(X, 1)])]),
    fault(&["not-my-last-write", "TAP-e", "e"], &[("TAP-e", 1)], "a transaction reads what it has itself overwritten",
        &[(0, OK, &[W(X, 1), W(X, 2), R(X, 1)])]),
    fault(&["intermediate-read", "TAP-f", "f"], &[("TAP-f", 1)], "a value is read that its writer overwrote before it committed",
        &[(0, OK, &[W(X, 1), W(X, 2)]), (1, OK, &[R(X, 1)])]),
    fault(&["cyclic-causality", "TAP-g", "g"], &[("TAP-g", 1)], "two transactions read from each other",
        &[(0, OK, &[R(X, 1), W(Y, 1)]), (1, OK, &[R(Y, 1), W(X, 1)])]),
    fault(&["non-monotonic-read", "TAP-h", "h"], &[("TAP-h", 1)], "a new version of one key is read, then an old one of another",
        &[(0, OK, &[W(X, 1)]), (0, OK, &[W(X, 2), W(Y, 2)]), (1, OK, &[R(Y, 2), R(X, 1)])]),
    fault(&["non-monotonic-order", "TAP-i", "i"], &[("TAP-i", 2)], "two readers, each going backwards, force two writers into opposite orders",
        &[(0, OK, &[W(X, 1), W(Z, 1)]), (1, OK, &[W(X, 2), W(Y, 2)]), (2, OK, &[R(Y, 2), R(X, 1)]), (3, OK, &[R(Z, 1), R(X, 2)])]),
    fault(&["non-repeatable-read", "TAP-j", "j"], &[("TAP-j", 1)], "two reads of a key return different versions",
        &[(0, OK, &[W(X, 1)]), (1, OK, &[W(X, 2)]), (2, OK, &[R(X, 1), R(X, 2)])]),
    fault(&["fractured-read", "TAP-k", "k"], &[("TAP-k", 1)], "one write of a transaction is seen and the other is not",
        &[(0, OK, &[W(X, 1)]), (0, OK, &[W(X, 2), W(Y, 2)]), (1, OK, &[R(X, 1), R(Y, 2)])]),
    fault(&["fractured-order", "TAP-l", "l"], &[("TAP-l", 2)], "two readers of torn transactions force two writers into opposite orders",
        &[(0, OK, &[W(X, 1), W(Z, 1)]), (1, OK, &[W(X, 2), W(Y, 2)]), (2, OK, &[R(X, 1), R(Y, 2)]), (3, OK, &[R(X, 2), R(Z, 1)])]),
    fault(&["causality-violation", "TAP-m", "m"], &[("TAP-m", 1)], "what was written last is seen, and then a version older than what was written before it",
        &[(0, OK, &[W(X, 1)]), (0, OK, &[W(X, 2)]), (0, OK, &[W(Y, 1)]), (1, OK, &[R(Y, 1)]), (1, OK, &[R(X, 1)])]),
    fault(&["version-conflict", "TAP-n", "n"], &[("TAP-n", 2)], "two sessions see two writes in opposite orders",
        &[(0, OK, &[W(X, 1)]), (1, OK, &[W(X, 2)]), (2, OK, &[R(X, 1)]), (2, OK, &[R(X, 2)]), (3, OK, &[R(X, 2)]), (3, OK, &[R(X, 1)])]),
    fault(&["long-fork", "LongFork"], &[("LongFork", 1)], "two readers see two independent writes in opposite orders",
        &[(0, OK, &[W(X, 1)]), (1, OK, &[W(Y, 1)]), (2, OK, &[R(X, 1), R(Y, 0)]), (3, OK, &[R(Y, 1), R(X, 0)])]),
    fault(&["lost-update", "LostUpdate", "divergence"], &[("Divergence", 1), ("LostUpdate", 1)], "two transactions update the same version",
        &[(0, OK, &[R(X, 0), W(X, 1)]), (1, OK, &[R(X, 0), W(X, 2)])]),
    fault(&["snapshot-cycle", "SICycle"], &[("SICycle", 1)], "a conflict with a blind write goes unnoticed",
        &[(0, OK, &[W(X, 1), W(Y, 1)]), (1, OK, &[R(Y, 0), W(X, 2)]), (2, OK, &[R(X, 2), R(Y, 1)])]),
    fault(&["write-skew", "WriteSkew"], &[("WriteSkew", 1)], "two transactions each read a version that the other overwrites",
        &[(0, OK, &[R(X, 0), R(Y, 0), W(X, 1)]), (1, OK, &[R(X, 0), R(Y, 0), W(Y, 1)])]),
    fault(&["serialization-cycle", "SERCycle"], &[("SERCycle", 1)], "each of three transactions reads a version that the next one overwrites",
        &[(0, OK, &[R(X, 0), W(Y, 1)]), (1, OK, &[R(Y, 0), W(Z, 1)]), (2, OK, &[R(Z, 0), W(X, 1)])]),
    Fault { in_real_time: true, ..fault(&["real-time-cycle", "RealTimeCycle"], &[("RealTimeCycle", 1)], "a transaction does not see what had ended before it began",
        &[(0, OK, &[W(X, 1)]), (1, OK, &[R(X, 0)])]) },
];

impl Fault {
    /// The fault of this name, any case.
    pub fn parse(text: &str) -> Option<&'static Fault> {
        let called = |name: &&str| name.eq_ignore_ascii_case(text);
        FAULTS
            .iter()
            .find(|fault| called(&fault.name) || fault.aliases.iter().any(called))
    }

    /// The number of sessions it needs.
    pub fn n_sessions(&self) -> u32 {
        self.transactions
            .iter()
            .map(|(session, ..)| u32::from(*session) + 1)
            .max()
            .unwrap_or(0)
    }

    /// How many keys it accesses.
    pub(super) fn n_keys(&self) -> u64 {
        let key = |act: &Act| match *act {
            R(key, _) | W(key, _) => u64::from(key) + 1,
        };
        self.transactions
            .iter()
            .flat_map(|(.., acts)| *acts)
            .map(key)
            .max()
            .unwrap_or(0)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A fault and how often it happens: `lost-update` or `lost-update=3`.
#[derive(Clone, Copy, Debug)]
pub struct Injection {
    /// The fault.
    pub fault: &'static Fault,
    /// How often.
    pub times: u32,
}

impl FromStr for Injection {
    type Err = String;

    fn from_str(text: &str) -> Result<Injection, String> {
        let (name, times) = text.split_once('=').unwrap_or((text, "1"));
        let times = times
            .parse()
            .map_err(|_| format!("`{times}` is not how often a fault can happen"))?;
        let fault = Fault::parse(name).ok_or_else(|| {
            let names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
            format!(
                "unknown fault `{name}`, expected one of {} or the name of its pattern",
                names.join(", ")
            )
        })?;
        Ok(Injection { fault, times })
    }
}

/// Gives the versions of a sketch, by key and number, their values: `fresh` makes one for a session of the sketch.
pub(super) fn values_of(fault: &Fault, mut fresh: impl FnMut(u8) -> u64) -> Vec<((u8, u8), u64)> {
    let mut values: Vec<((u8, u8), u64)> = Vec::new();
    for (session, _, acts) in fault.transactions {
        for act in *acts {
            match *act {
                W(key, version) => values.push(((key, version), fresh(*session))),
                R(key, THIN_AIR) => values.push(((key, THIN_AIR), fresh(*session))),
                R(..) => {}
            }
        }
    }
    values
}

/// The keys of the fault with this number: after the workload's own where those are numbers.
pub(super) fn keys_of(first: u64, are_numbers: bool, n: u64) -> Vec<Key> {
    let key = |number| {
        if are_numbers {
            Key::number(number)
        } else {
            Key::of("fault", number)
        }
    };
    (first..first + n).map(key).collect()
}
