//! The levels as bases on orders.
//!
//! A level is a [base](Base), what a transaction may see, on an [order](CountedOrder), what it must have seen because it came
//! earlier. Every base is one definition with the order as a parameter; nothing else distinguishes snapshot isolation
//! from strong snapshot isolation. The rest of a level is in [its row](Level::row).
//!
//! Sources: Adya 1999 (PL-1 to PL-3U), Biswas & Enea 2019 (RC, RA, TCC, PC, SI, SER with sessions), Cerone, Bernardi &
//! Gotsman 2015 (RA, UA, PSI, PC), Daudjee & Salem 2006 (sessions and real time), Terry et al. 1994 (session
//! guarantees), and the consistency models of Jepsen and Elle for their keywords.

use super::bases::BASES;
use super::{CountedOrder, Level};
use std::sync::LazyLock;

impl CountedOrder {
    /// All orders.
    pub const ALL: [CountedOrder; 5] = [
        CountedOrder::Plain,
        CountedOrder::Session,
        CountedOrder::RealTime,
        CountedOrder::KeyRealTime,
        CountedOrder::CommitRealTime,
    ];

    /// Its word in long names: `plain-snapshot-isolation`.
    pub fn word(self) -> &'static str {
        match self {
            CountedOrder::Plain => "plain",
            CountedOrder::Session => "session",
            CountedOrder::RealTime => "strong",
            CountedOrder::KeyRealTime => "per-key",
            CountedOrder::CommitRealTime => "commit-time",
        }
    }

    /// What it adds to the promise of a base, as a clause.
    pub fn adds(self) -> &'static str {
        match self {
            CountedOrder::Plain => "session order and times are ignored",
            CountedOrder::Session => {
                "the earlier transactions of a session count as seen by the later ones"
            }
            CountedOrder::RealTime => {
                "what ended before a transaction began comes before it, as do the earlier transactions of its session, and counts as seen by it where stale reads are forbidden"
            }
            CountedOrder::KeyRealTime => {
                "what ended before a transaction began counts as seen by it if they touch a common key; session order is ignored"
            }
            CountedOrder::CommitRealTime => {
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

impl Level {
    /// What it lets a transaction see, whatever the order.
    pub fn base(self) -> &'static Base {
        let code = match self.code() {
            "SSER" => "SER",
            "I-CI" => "I-CI",
            code => code.split_once('-').map_or(code, |(_, base)| base),
        };
        BASES
            .iter()
            .find(|base| base.code == code)
            .expect("every level has a base")
    }
}

/// What a level promises, in sentences.
pub fn promise(level: Level) -> String {
    let (base, order) = (level.base(), level.row().order);
    let is_alone = levels()
        .iter()
        .filter(|level| level.base().code == base.code)
        .count()
        == 1;
    let of_order = match base.code {
        // Cut isolation and linearizability say themselves what counts.
        "CI" | "I-CI" => String::new(),
        _ if is_alone && order != CountedOrder::Plain => String::new(),
        // They say nothing of what is seen, only of one order.
        _ if order == CountedOrder::RealTime && matches!(base.code, "PL1" | "PL2" | "RC" | "CS") => {
            " The order of transactions agrees with real time and with sessions; stale reads are allowed.".to_owned()
        }
        _ => format!(" {}.", upper(order.adds())),
    };
    format!("{}.{of_order}", upper(base.promise))
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// All levels: bases from weakest to strongest, each on its orders.
pub fn levels() -> &'static [Level] {
    static LEVELS: LazyLock<Vec<Level>> = LazyLock::new(|| {
        let place = |level: &Level| BASES.iter().position(|base| base.code == level.base().code);
        let mut levels = Level::EVERY.to_vec();
        levels.sort_by_key(|level| (place(level), level.row().order));
        levels
    });
    &LEVELS
}
