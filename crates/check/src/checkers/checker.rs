//! Names of what decides: the fast engines, or a published algorithm.

use super::{Engine, Level, Pattern};
use isoscope_model::history::words;
use isoscope_model::relations::Axiom;

words! {
    /// A checker that can be asked for.
    #[derive(Default, PartialOrd, Ord)]
    Checker by name of "checker" {
        /// The engines of this program.
        #[default]
        Fast = "fast",
        /// Plume, Algorithm 1, with vector clocks.
        Plume = "plume",
        /// Plume, Algorithm 1, with tree clocks.
        PlumeTreeClocks = "plume-tc",
        /// Plume, Algorithm 1, with depth-first searches in place of clocks.
        PlumeSearch = "plume-dfs",
        /// C4, Algorithm 2, with vector clocks.
        C4 = "c4",
        /// C4, Algorithm 2, with tree clocks.
        C4TreeClocks = "c4-tc",
        /// C4, Algorithm 2, with depth-first searches in place of clocks.
        C4Search = "c4-dfs",
        /// Biswas and Enea 2019, Algorithm 1: saturation.
        BiswasEneaSaturation = "be-sat",
        /// Biswas and Enea 2019, Algorithm 2: search for a serial order.
        BiswasEneaSearch = "be-search",
        /// PolySI, Algorithm 1: polygraph and solver.
        PolySi = "polysi",
        /// PolySI without pruning.
        PolySiUnpruned = "polysi-np",
        /// PolySI without pruning and with a constraint for each reader.
        PolySiPlain = "polysi-ncp",
        /// MTC, Algorithm 1: mini-transactions.
        MiniTransactions = "mtc",
        /// MTC, Algorithm 2: linearizability of lightweight transactions.
        VlLwt = "vl-lwt",
    }
}

use Checker::*;

impl Checker {
    /// The algorithm, and by whom.
    pub fn about(self) -> &'static str {
        match self {
            Fast => "the engines of this program",
            Plume => "Plume, Algorithm 1, with vector clocks",
            PlumeTreeClocks => "Plume, Algorithm 1, with tree clocks",
            PlumeSearch => "Plume, Algorithm 1, with depth-first searches in place of clocks",
            C4 => "C4, Algorithm 2, with vector clocks",
            C4TreeClocks => "C4, Algorithm 2, with tree clocks",
            C4Search => "C4, Algorithm 2, with depth-first searches in place of clocks",
            BiswasEneaSaturation => "Biswas and Enea 2019, Algorithm 1: saturation",
            BiswasEneaSearch => "Biswas and Enea 2019, Algorithm 2: search for a serial order",
            PolySi => "PolySI, Algorithm 1: polygraph and solver",
            PolySiUnpruned => "PolySI without pruning",
            PolySiPlain => "PolySI without pruning and with a constraint for each reader",
            MiniTransactions => "MTC, Algorithm 1: mini-transactions",
            VlLwt => "MTC, Algorithm 2: linearizability of lightweight transactions",
        }
    }

    /// What it requires of a history, in a few words.
    pub fn needs(self) -> &'static str {
        match self {
            Fast => "nothing in particular",
            MiniTransactions => "values written once; a key is read before it is written; no lists",
            VlLwt => "each key inserted once, then compare-and-sets; times",
            _ => "values written once",
        }
    }

    /// The levels it can decide, weakest first; SSER takes a history with times, LIN one of lightweight
    /// transactions with times.
    pub fn levels(self) -> Vec<Level> {
        Level::ALL
            .into_iter()
            .filter(|level| self.decides(*level))
            .collect()
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
            PolySi | PolySiUnpruned | PolySiPlain => {
                level.is_strong_on_conflicts() && !level.counts_real_time()
            }
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
