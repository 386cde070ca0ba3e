//! C4's twelve patterns, which share letters with Plume's but not their meaning: they are always called `C4 TAP-k`.

use std::fmt;

/// A pattern of C4, Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum C4Pattern {
    /// C4 TAP-a: no transaction wrote the value (Plume's a).
    ThinAirRead,
    /// C4 TAP-b: only aborted transactions wrote the value (Plume's b).
    AbortedRead,
    /// C4 TAP-c: the transaction itself wrote the value later (Plume's c).
    FutureRead,
    /// C4 TAP-d: another transaction's version after an own write (Plume's d).
    NotMyOwnWrite,
    /// C4 TAP-e: a version that its writer overwrote (Plume's f, without those that are d).
    IntermediateRead,
    /// C4 TAP-f: two reads of a key before any own write of it return different values (Plume's j compares writers).
    NonRepeatableRead,
    /// C4 TAP-g: a cycle of SO ∪ WR (Plume's g).
    CyclicCO,
    /// C4 TAP-h: t1 CO t2, and t3 reads another key from t2 (Plume's h, and k without session order alone).
    FracturedReadCO,
    /// C4 TAP-i: the same with the commit order (Plume's i, and l without session order alone).
    FracturedReadCM,
    /// C4 TAP-j: the initial version is read though a writer of the key precedes causally (t1 = ⊥ of h or k).
    WriteCOInitRead,
    /// C4 TAP-k: t1 CO t2 CO t3 otherwise (Plume's m, k by session order alone, and if t3 reads the key from both).
    COConflictCM,
    /// C4 TAP-l: the same with the commit order (Plume's n, l by session order alone, and if t3 reads the key from
    /// both).
    ConflictCM,
}

use C4Pattern::*;

/// By letter: the id in reports, and what happened.
#[rustfmt::skip]
const ROWS: [(C4Pattern, &str, &str); 12] = [
    (ThinAirRead, "C4 TAP-a", "a value was read that no transaction of the history wrote"),
    (AbortedRead, "C4 TAP-b", "a value was read that only an aborted transaction wrote"),
    (FutureRead, "C4 TAP-c", "a transaction read a value that it wrote itself only later"),
    (NotMyOwnWrite, "C4 TAP-d", "after its own write to the key, a transaction read another transaction's version"),
    (IntermediateRead, "C4 TAP-e", "a value was read that its writer had overwritten before it committed"),
    (NonRepeatableRead, "C4 TAP-f", "two reads of a key in one transaction returned different values"),
    (CyclicCO, "C4 TAP-g", "session order and write-read edges form a cycle"),
    (FracturedReadCO, "C4 TAP-h", "one write of a transaction was seen, another key was read in a causally older version"),
    (FracturedReadCM, "C4 TAP-i", "one write of a transaction was seen, another key was read in a version forced to be older"),
    (WriteCOInitRead, "C4 TAP-j", "the initial version was read although a write of the key was causally visible"),
    (COConflictCM, "C4 TAP-k", "a version was read although a causally newer one was visible"),
    (ConflictCM, "C4 TAP-l", "a version was read although one that must be newer was visible"),
];

impl C4Pattern {
    /// All patterns, by letter.
    pub fn all() -> impl Iterator<Item = C4Pattern> {
        ROWS.iter().map(|(pattern, ..)| *pattern)
    }

    /// C4's letter, a to l.
    pub fn letter(self) -> char {
        char::from(b'a' + self as u8)
    }

    /// Id in reports: `C4 TAP-k`.
    pub fn id(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// What happened, in one plain sentence without a full stop.
    pub fn meaning(self) -> &'static str {
        ROWS[self as usize].2
    }
}

impl fmt::Display for C4Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_letters() {
        for (place, pattern) in C4Pattern::all().enumerate() {
            assert_eq!(pattern as usize, place, "{pattern}");
            assert!(pattern.id().ends_with(pattern.letter()));
        }
    }
}
