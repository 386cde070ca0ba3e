//! The lattice of levels that a history of items can decide: data, no algorithm.
//!
//! A level is a [base](Base), what a transaction may see, on an [order](Order), what it must have seen because it came
//! earlier. Every base is one definition with the order as a parameter; nothing else distinguishes snapshot isolation
//! from strong snapshot isolation. [`levels`] has a row for each level, made of its own and that of its base.
//!
//! Sources: Adya 1999 (PL-1 to PL-3U), Biswas & Enea 2019 (RC, RA, TCC, PC, SI, SER with sessions), Cerone, Bernardi &
//! Gotsman 2015 (RA, UA, PSI, PC), Daudjee & Salem 2006 (sessions and real time), Terry et al. 1994 (session
//! guarantees), and the consistency models of Jepsen and Elle for their keywords.

mod bases;
mod names;
mod promises;
mod strongest;

pub use names::named;
pub use promises::{Claim, ClaimedLevel, PROMISES, Promise, claimed, strongest, strongest_satisfied};
pub use strongest::{StrongestOrder, holds};

pub use super::CountedOrder as Order;
use super::Level;
use bases::BASES;
use std::sync::LazyLock;

impl Order {
    /// All orders.
    pub const ALL: [Order; 5] =
        [Order::Plain, Order::Session, Order::RealTime, Order::KeyRealTime, Order::CommitRealTime];

    /// Its word in long names: `plain-snapshot-isolation`.
    pub fn word(self) -> &'static str {
        match self {
            Order::Plain => "plain",
            Order::Session => "session",
            Order::RealTime => "strong",
            Order::KeyRealTime => "per-key",
            Order::CommitRealTime => "commit-time",
        }
    }

    /// What it adds to the promise of a base, as a clause.
    pub fn adds(self) -> &'static str {
        match self {
            Order::Plain => "session order and times are ignored",
            Order::Session => "the earlier transactions of a session count as seen by the later ones",
            Order::RealTime => {
                "what ended before a transaction began comes before it, as do the earlier transactions of its session, and counts as seen by it where stale reads are forbidden"
            }
            Order::KeyRealTime => {
                "what ended before a transaction began counts as seen by it if they touch a common key; session order is ignored"
            }
            Order::CommitRealTime => {
                "a transaction that ended before another began commits before it, but snapshots may be old; session order is ignored"
            }
        }
    }
}

/// What a transaction may see, whatever the order.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// Short code, of which the codes of its levels are made.
    pub code: &'static str,
    /// Long name, lower case with hyphens.
    pub name: &'static str,
    /// Further long names.
    pub also: &'static [&'static str],
    /// Names by Adya and others.
    pub known_as: &'static str,
    /// What it promises, in one plain sentence without a full stop.
    pub promise: &'static str,
    /// The patterns, or in words the anomalies, that break it though not necessarily what it implies.
    pub broken_by: &'static str,
}

/// A level of the lattice.
#[derive(Clone, Debug)]
pub struct LatticeLevel {
    /// Code, as in reports.
    pub code: String,
    /// Long name: `plain-snapshot-isolation`; with sessions it is that of the base.
    pub name: String,
    /// Its base.
    pub base: &'static Base,
    /// Its order.
    pub order: Order,
    /// Elle's keywords, without their colons.
    pub elle: &'static [&'static str],
    /// The same level, as it is asked for.
    pub level: Level,
    /// The strongest levels that it implies, as places in [`levels`].
    pub arrows: Vec<usize>,
}

impl LatticeLevel {
    /// Whether every history that satisfies this level satisfies the other.
    pub fn implies(&self, other: &LatticeLevel) -> bool {
        self.level.implies(other.level)
    }

    /// What it promises, in sentences.
    pub fn promise(&self) -> String {
        let is_alone = levels().iter().filter(|level| level.base.code == self.base.code).count() == 1;
        let order = match self.base.code {
            // Cut isolation and linearizability say themselves what counts.
            "CI" => String::new(),
            _ if is_alone && self.order != Order::Plain => String::new(),
            // They say nothing of what is seen, only of one order.
            _ if self.order == Order::RealTime && matches!(self.base.code, "PL1" | "PL2" | "RC" | "CS") => {
                " The order of transactions agrees with real time and with sessions; stale reads are allowed."
                    .to_owned()
            }
            _ => format!(" {}.", upper(self.order.adds())),
        };
        format!("{}.{order}", upper(self.base.promise))
    }

    /// The products and settings that promise it.
    pub fn promised_by(&self) -> impl Iterator<Item = &'static Promise> + '_ {
        PROMISES.iter().filter(|promise| promise.level() == Some(self.code.as_str()))
    }
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// All levels: bases from weakest to strongest, each on its orders.
pub fn levels() -> &'static [LatticeLevel] {
    static LEVELS: LazyLock<Vec<LatticeLevel>> = LazyLock::new(build);
    &LEVELS
}

/// The level with this code, exactly as in reports.
pub fn level(code: &str) -> Option<&'static LatticeLevel> {
    levels().iter().find(|level| level.code == code)
}

/// The code of a level's base.
fn base_of(level: Level) -> &'static str {
    match level.code() {
        "SSER" => "SER",
        code => code.split_once('-').map_or(code, |(_, base)| base),
    }
}

fn build() -> Vec<LatticeLevel> {
    let on_orders = |base: &'static Base| {
        let mut levels: Vec<Level> = Level::EVERY.into_iter().filter(|level| base_of(*level) == base.code).collect();
        levels.sort_by_key(|level| level.row().order);
        levels.into_iter().map(move |level| (base, level))
    };
    let all: Vec<(&'static Base, Level)> = BASES.iter().flat_map(on_orders).collect();
    let place = |weaker: &Level| all.iter().position(|(_, level)| level == weaker);
    let row = |&(base, level): &(&'static Base, Level)| LatticeLevel {
        code: level.code().to_owned(),
        name: level.long_name().to_owned(),
        base,
        order: level.row().order,
        elle: level.row().elle,
        level,
        arrows: level.row().implies.iter().filter_map(place).collect(),
    };
    all.iter().map(row).collect()
}

#[cfg(test)]
mod tests;
