//! The lattice of levels that a history of items can decide, decided here or not: data, no algorithm.
//!
//! A level is a [base](Base), what a transaction may see, on an [order](Order), what it must have seen because it came
//! earlier. Every base is one definition with the order as a parameter; nothing else distinguishes snapshot isolation
//! from strong snapshot isolation. [`levels`] has a row for each level, made of the row of its base and the keywords of
//! its order; what a level implies is computed from the arrows between bases and between orders.
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

use super::Level;
use bases::BASES;
use std::sync::LazyLock;

/// What a transaction must respect because it came earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Nothing: each transaction might have a session of its own.
    Plain,
    /// The earlier transactions of its session.
    Session,
    /// Those, and all that ended before it began.
    RealTime,
    /// Those that ended before it began and touch a key that it touches.
    KeyRealTime,
    /// Nothing; but transactions committed in an order that agrees with real time.
    CommitRealTime,
}

impl Order {
    /// All orders.
    pub const ALL: [Order; 5] =
        [Order::Plain, Order::Session, Order::RealTime, Order::KeyRealTime, Order::CommitRealTime];

    /// What precedes the code of a base.
    pub fn prefix(self) -> &'static str {
        match self {
            Order::Plain => "P-",
            Order::Session => "",
            Order::RealTime => "R-",
            Order::KeyRealTime => "K-",
            Order::CommitRealTime => "C-",
        }
    }

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
    /// The strongest bases that it implies on the same order.
    pub implies: &'static [&'static str],
    /// The orders on which it is a level, each with Elle's keywords for that level, without their colons.
    pub on: &'static [(Order, &'static [&'static str])],
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
    /// The same level as one that can be asked for; none if it is not decided.
    pub decided: Option<Level>,
    /// The strongest levels that it implies, as places in [`levels`].
    pub arrows: Vec<usize>,
    /// Its place in [`levels`].
    place: usize,
    /// All that it implies, itself included, as bits by place.
    implied: u64,
}

impl LatticeLevel {
    /// Whether every history that satisfies this level satisfies the other.
    pub fn implies(&self, other: &LatticeLevel) -> bool {
        self.implied & (1 << other.place) != 0
    }

    /// What it promises, in sentences.
    pub fn promise(&self) -> String {
        let order = match self.base.on {
            // Cut isolation and linearizability say themselves what counts.
            [_] if self.order != Order::Plain => String::new(),
            [_] if self.base.code == "CI" => String::new(),
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
    place(code).map(|place| &levels()[place])
}

fn place(code: &str) -> Option<usize> {
    levels().iter().position(|level| level.code == code)
}

/// The code of a base on an order.
fn code_of(base: &str, order: Order) -> String {
    match (base, order) {
        ("SER", Order::RealTime) => "SSER".to_owned(),
        ("CI" | "PL3U" | "LIN", _) if order != Order::Plain || base == "CI" => base.to_owned(),
        _ => format!("{}{base}", order.prefix()),
    }
}

fn name_of(base: &Base, order: Order) -> String {
    match (base.code, order) {
        ("SER", Order::RealTime) => "strict-serializability".to_owned(),
        (_, Order::Session) | ("CI" | "LIN", _) => base.name.to_owned(),
        _ => format!("{}-{}", order.word(), base.name),
    }
}

/// O(levels²).
fn build() -> Vec<LatticeLevel> {
    let row = |base: &'static Base, &(order, elle): &(Order, &'static [&'static str])| LatticeLevel {
        code: code_of(base.code, order),
        name: name_of(base, order),
        base,
        order,
        elle,
        decided: Level::with_code(&code_of(base.code, order)),
        arrows: Vec::new(),
        place: 0,
        implied: 0,
    };
    let mut levels: Vec<LatticeLevel> =
        BASES.iter().flat_map(|base| base.on.iter().map(move |on| row(base, on))).collect();
    let at = |levels: &[LatticeLevel], base: &str, order: Order| {
        levels.iter().position(|level| level.base.code == base && level.order == order)
    };
    for place in 0..levels.len() {
        let (base, order) = (levels[place].base, levels[place].order);
        let weaker = base.implies.iter().filter_map(|weaker| match *weaker {
            // One level for all orders.
            "CI" => at(&levels, "CI", Order::Plain),
            _ => at(&levels, weaker, order),
        });
        let arrows: Vec<usize> = weaker.chain(weaker_orders(order).filter_map(|o| at(&levels, base.code, o))).collect();
        levels[place].arrows = arrows;
    }
    // Arrows lead back to weaker bases and weaker orders, so a level's own closure takes at most as many rounds as levels.
    for (place, level) in levels.iter_mut().enumerate() {
        (level.place, level.implied) = (place, 1 << place);
    }
    loop {
        let before: Vec<u64> = levels.iter().map(|level| level.implied).collect();
        for level in &mut levels {
            level.implied = level.arrows.iter().fold(level.implied, |implied, &weaker| implied | before[weaker]);
        }
        if levels.iter().zip(&before).all(|(level, before)| level.implied == *before) {
            return levels;
        }
    }
}

/// The strongest orders weaker than one.
fn weaker_orders(order: Order) -> impl Iterator<Item = Order> {
    let weaker: &[Order] = match order {
        Order::Plain => &[],
        Order::Session | Order::KeyRealTime | Order::CommitRealTime => &[Order::Plain],
        Order::RealTime => &[Order::Session, Order::KeyRealTime, Order::CommitRealTime],
    };
    weaker.iter().copied()
}

#[cfg(test)]
mod tests;
