//! The requests of clients: a stream of transactions for each session.

use super::distribution::Distribution;
use isoscope_model::history::words;
use std::fmt;
use std::str::FromStr;

words! {
    /// A kind of workload.
    Kind by name of "workload" {
        /// Reads and writes of random keys (PolySI, section 5.1; Plume, section 6).
        General = "general",
        /// As general, but no two sessions write the same key (Biswas & Enea 2019, section 6): needs a key for each
        /// session.
        DisjointWrites = "disjoint-writes",
        /// One or two keys, each read and then perhaps written (MTC, section III).
        Mini = "mini",
        /// One read, write, compare-and-set or insert-if-not-exists (MTC, section IV-E).
        Lightweight = "lightweight",
        /// Reads of whole lists and appends (Elle, section 3).
        ListAppend = "list-append",
        /// C-Twitter: tweets, follows, timelines (Cobra, section 6).
        Twitter = "c-twitter",
        /// RUBiS: an auction site (Cobra, section 6).
        Rubis = "rubis",
        /// TPC-C: orders, payments and deliveries of a wholesale supplier (TPC-C 5.11, clause 2).
        Tpcc = "tpc-c",
    }
}

impl Kind {
    /// Whether [`Workload::operations`] says how long its transactions are.
    pub fn has_length(self) -> bool {
        matches!(
            self,
            Kind::General | Kind::DisjointWrites | Kind::ListAppend
        )
    }
}

/// How many operations a transaction has: a fixed number, or a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// The minimum.
    pub least: u32,
    /// The maximum.
    pub most: u32,
}

impl Length {
    /// Always this many.
    pub fn fixed(n: u32) -> Length {
        Length { least: n, most: n }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{}..{}", self.least, self.most)
        }
    }
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Length, String> {
        let number = |text: &str| text.parse().ok().filter(|n| (1..=100_000).contains(n));
        let length = match text.split_once("..") {
            Some((least, most)) => number(least)
                .zip(number(most))
                .map(|(least, most)| Length { least, most }),
            None => number(text).map(Length::fixed),
        };
        length
            .filter(|length| length.least <= length.most)
            .ok_or_else(|| {
                format!(
                    "`{text}` is no number of operations, expected one like 20 or two like 5..20"
                )
            })
    }
}

/// What clients do. The same workload gives the same transactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// What kind of transactions.
    pub kind: Kind,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Sessions, at least one.
    pub sessions: u32,
    /// Transactions of each session.
    pub transactions: u64,
    /// Operations of each transaction, for general and list-append workloads.
    pub operations: Length,
    /// Distinct keys, at least one; in applications users, items or warehouses.
    pub keys: u64,
    /// How often each key is accessed.
    pub distribution: Distribution,
    /// Share of reads among the operations, 0 to 1.
    pub read_share: f64,
    /// Share of the writes before which a general transaction reads the key, 0 to 1.
    pub update_share: f64,
}

impl Default for Workload {
    /// Small enough to inspect, busy enough that transactions interact.
    fn default() -> Workload {
        Workload {
            kind: Kind::General,
            seed: 1,
            sessions: 10,
            transactions: 100,
            operations: Length::fixed(8),
            keys: 100,
            distribution: Distribution::Uniform,
            read_share: 0.5,
            update_share: 0.0,
        }
    }
}

impl Workload {
    /// The number of transactions of all sessions together.
    pub fn n_transactions(&self) -> u64 {
        self.transactions.saturating_mul(u64::from(self.sessions))
    }

    /// Whether the names of all keys are numbers below [`Workload::keys`].
    pub fn has_number_keys(&self) -> bool {
        !matches!(self.kind, Kind::Twitter | Kind::Rubis | Kind::Tpcc)
    }

    /// Whether keys hold lists.
    pub fn has_lists(&self) -> bool {
        self.kind == Kind::ListAppend
    }
}

/// A seed for a part of the work, derived from the overall seed.
pub(super) fn mixed(seed: u64, part: u64) -> u64 {
    // Odd multipliers of SplitMix64 (Steele, Lea, Flood 2014); neighbouring parts get unrelated seeds.
    let mut z = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(part.wrapping_mul(0xBF58_476D_1CE4_E5B9));
    z = (z ^ (z >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
