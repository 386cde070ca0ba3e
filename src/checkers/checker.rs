//! Names of what decides: the fast engines, or a published algorithm.

use super::{Engine, Level, Pattern};
use crate::relations::Axiom;
use std::fmt;
use std::str::FromStr;

/// The checkers, a row each: variant, name, and which algorithm it is, by whom.
macro_rules! checkers {
    ($($checker:ident $name:literal $about:literal)*) => {
        /// A checker that can be asked for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Checker {
            $(#[doc = $about] $checker),*
        }

        use Checker::*;

        impl Checker {
            /// All checkers, the default first.
            pub const ALL: [Checker; [$($name),*].len()] = [$($checker),*];

            /// Its name on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self { $($checker => $name),* }
            }

            /// The algorithm, and by whom.
            pub fn about(self) -> &'static str {
                match self { $($checker => $about),* }
            }
        }
    };
}

checkers! {
    Fast "fast" "the engines of this program"
    Plume "plume" "Plume, Algorithm 1, with vector clocks"
    PlumeTreeClocks "plume-tc" "Plume, Algorithm 1, with tree clocks"
    PlumeSearch "plume-dfs" "Plume, Algorithm 1, with depth-first searches in place of clocks"
    C4 "c4" "C4, Algorithm 2, with vector clocks"
    C4TreeClocks "c4-tc" "C4, Algorithm 2, with tree clocks"
    C4Search "c4-dfs" "C4, Algorithm 2, with depth-first searches in place of clocks"
    BiswasEneaSaturation "be-sat" "Biswas and Enea 2019, Algorithm 1: saturation"
    BiswasEneaSearch "be-search" "Biswas and Enea 2019, Algorithm 2: search for a serial order"
    PolySi "polysi" "PolySI, Algorithm 1: polygraph and solver"
    PolySiUnpruned "polysi-np" "PolySI without pruning"
    PolySiPlain "polysi-ncp" "PolySI without pruning and with a constraint for each reader"
    MiniTransactions "mtc" "MTC, Algorithm 1: mini-transactions"
    VlLwt "vl-lwt" "MTC, Algorithm 2: linearizability of lightweight transactions"
}

impl Default for Checker {
    fn default() -> Checker {
        Checker::ALL[0]
    }
}

impl Checker {
    /// The levels it can decide, weakest first; SSER takes a history with times, LIN one of lightweight
    /// transactions with times.
    pub fn levels(self) -> Vec<Level> {
        Level::ALL.into_iter().filter(|level| self.decides(*level)).collect()
    }

    /// Whether it can decide a level.
    pub fn decides(self, level: Level) -> bool {
        let engine = level.row().engine;
        match self {
            Fast => true,
            // The published ones count sessions.
            _ if level.plain_of().is_some() => false,
            Plume | PlumeTreeClocks | PlumeSearch => level.is_of_reads() || level.is_weak(),
            BiswasEneaSaturation => level.is_weak(),
            C4 | C4TreeClocks | C4Search => engine == Engine::Weak(Axiom::Causal),
            VlLwt => engine == Engine::Linear,
            BiswasEneaSearch => level.is_strong() && !level.counts_real_time(),
            PolySi | PolySiUnpruned | PolySiPlain => level.is_strong_on_conflicts() && !level.counts_real_time(),
            MiniTransactions => level.is_strong_on_conflicts(),
        }
    }

    /// Whether it counts the instances of a pattern, apart from letters of its own.
    pub fn counts(self, pattern: Pattern) -> bool {
        match self {
            Fast | Plume | PlumeTreeClocks | PlumeSearch => true,
            MiniTransactions => pattern == Pattern::Divergence,
            _ => false,
        }
    }

    /// Whether it is a variant of Plume's algorithm.
    pub fn is_plume(self) -> bool {
        matches!(self, Plume | PlumeTreeClocks | PlumeSearch)
    }

    /// Whether it decides levels above TCC only.
    pub fn is_strong(self) -> bool {
        matches!(self, BiswasEneaSearch | MiniTransactions) || self.is_polysi()
    }

    /// Whether it is a variant of C4's algorithm, which has letters of its own.
    pub fn is_c4(self) -> bool {
        matches!(self, C4 | C4TreeClocks | C4Search)
    }

    /// Whether it is a variant of PolySI's algorithm.
    pub fn is_polysi(self) -> bool {
        matches!(self, PolySi | PolySiUnpruned | PolySiPlain)
    }
}

impl fmt::Display for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Checker {
    type Err = String;

    fn from_str(text: &str) -> Result<Checker, String> {
        let found = Checker::ALL.into_iter().find(|checker| checker.name().eq_ignore_ascii_case(text.trim()));
        found.ok_or_else(|| {
            let names: Vec<&str> = Checker::ALL.into_iter().map(Checker::name).collect();
            format!("unknown checker `{text}`, expected one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for checker in Checker::ALL {
            assert_eq!(checker.name().to_uppercase().parse(), Ok(checker));
        }
        assert!("cobra".parse::<Checker>().is_err());
    }
}
