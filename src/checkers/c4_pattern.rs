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

impl C4Pattern {
    /// All patterns, by letter.
    pub const ALL: [C4Pattern; 12] = [
        ThinAirRead,
        AbortedRead,
        FutureRead,
        NotMyOwnWrite,
        IntermediateRead,
        NonRepeatableRead,
        CyclicCO,
        FracturedReadCO,
        FracturedReadCM,
        WriteCOInitRead,
        COConflictCM,
        ConflictCM,
    ];

    /// C4's letter, a to l.
    pub fn letter(self) -> char {
        char::from(b'a' + self as u8)
    }

    /// Id in reports: `C4 TAP-k`.
    pub fn id(self) -> &'static str {
        match self {
            ThinAirRead => "C4 TAP-a",
            AbortedRead => "C4 TAP-b",
            FutureRead => "C4 TAP-c",
            NotMyOwnWrite => "C4 TAP-d",
            IntermediateRead => "C4 TAP-e",
            NonRepeatableRead => "C4 TAP-f",
            CyclicCO => "C4 TAP-g",
            FracturedReadCO => "C4 TAP-h",
            FracturedReadCM => "C4 TAP-i",
            WriteCOInitRead => "C4 TAP-j",
            COConflictCM => "C4 TAP-k",
            ConflictCM => "C4 TAP-l",
        }
    }

    /// What happened, in one plain sentence without a full stop.
    pub fn meaning(self) -> &'static str {
        match self {
            ThinAirRead => "a value was read that no transaction of the history wrote",
            AbortedRead => "a value was read that only an aborted transaction wrote",
            FutureRead => "a transaction read a value that it wrote itself only later",
            NotMyOwnWrite => "after its own write to the key, a transaction read another transaction's version",
            IntermediateRead => "a value was read that its writer had overwritten before it committed",
            NonRepeatableRead => "two reads of a key in one transaction returned different values",
            CyclicCO => "session order and write-read edges form a cycle",
            FracturedReadCO => "one write of a transaction was seen, another key was read in a causally older version",
            FracturedReadCM => {
                "one write of a transaction was seen, another key was read in a version forced to be older"
            }
            WriteCOInitRead => "the initial version was read although a write of the key was causally visible",
            COConflictCM => "a version was read although a causally newer one was visible",
            ConflictCM => "a version was read although one that must be newer was visible",
        }
    }
}

impl fmt::Display for C4Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
