//! Which checker is asked, and by which of its rules.

use isoscope_check::checkers::Checker;
use std::str::FromStr;

/// The choice of a checker; the rules are for the variants of Plume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The checker. Levels that it cannot decide are undecided.
    pub checker: Checker,
    /// One commit order, built with the causal axiom, for all levels, as published.
    pub one_commit_order: bool,
    /// What read committed means.
    pub rc: RcRule,
    /// Whether to count as the published program does, in addition.
    pub counting: Counting,
}

impl From<Checker> for Choice {
    fn from(checker: Checker) -> Choice {
        Choice {
            checker,
            ..Choice::default()
        }
    }
}

/// What read committed requires if two reads of a transaction are of the same key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RcRule {
    /// The same as if they are of different keys (Biswas & Enea 2019, Fig. 2a).
    #[default]
    BiswasEnea,
    /// Nothing (Plume, Definition 4: y ≠ x).
    Plume,
}

impl FromStr for RcRule {
    type Err = String;

    fn from_str(text: &str) -> Result<RcRule, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "be" => Ok(RcRule::BiswasEnea),
            "plume" => Ok(RcRule::Plume),
            _ => Err(format!("unknown rule `{text}`, expected be or plume")),
        }
    }
}

/// The rule by which a variant of Plume counts its letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Counting {
    /// Like the program's own engines: by Table 1, each (key, t1, t2, t3) under its most specific letter.
    #[default]
    Own,
    /// In addition, like Plume's published program: see
    /// [`Findings::published_patterns`](isoscope_check::checkers::Findings::published_patterns).
    Published,
}

impl FromStr for Counting {
    type Err = String;

    fn from_str(text: &str) -> Result<Counting, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "own" => Ok(Counting::Own),
            "published" => Ok(Counting::Published),
            _ => Err(format!("unknown rule `{text}`, expected own or published")),
        }
    }
}
