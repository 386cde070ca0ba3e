//! The papers' own algorithms, honest to the page: differential partners of the fast engines ([`weak`](super::weak),
//! [`strong`](super::strong), `linearizability`), with which they share the index of a history and nothing that decides.
//!
//! | checker | algorithm | levels |
//! |---|---|---|
//! | `plume`, `plume-tc`, `plume-dfs` | Plume, Algorithm 1, with vectors, tree clocks, or neither | CI, RC, RA, TCC |
//! | `c4`, `c4-tc` | C4, Algorithm 2, with its own twelve letters | TCC |
//! | `be-sat` | Biswas & Enea 2019, Algorithm 1 | RC, RA, TCC |
//! | `be-search` | Biswas & Enea 2019, Algorithm 2, with both reductions, by biconnected components | PC, SI, SER |
//! | `polysi` | PolySI, Algorithm 1; for SER as IsoVista has it | SI, SER |
//! | `mtc` | MTC, Algorithm 1, in [`mini_transactions`](super::mini_transactions) | SI, SER, SSER |
//! | `vl-lwt` | MTC, Algorithm 2 | LIN |
//!
//! Every level is asked for on its own: nothing is concluded from one level for another. The papers take it that each
//! value is written once, so where reads have several possible writers all levels are undecided. Where a paper's text is
//! known to be wrong it is corrected and the correction stands above the code; where an option or a checker's own
//! definitions keep the published answer, [`ask`] says so among the assumptions.

mod ask;
mod be_sat;
mod be_search;
mod c4;
mod c4_pattern;
mod commit;
mod order;
mod plume;
mod polysi;
mod search;
mod strong;
mod tree_clock;
mod vectors;
mod view;
mod vl_lwt;

pub use c4_pattern::C4Pattern;

pub(super) use ask::{Input, ask};

use super::{Cause, RcRule};
use crate::control::Interrupt;

/// Why an algorithm ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Interrupted(Interrupt),
    TooLarge { what: &'static str, megabytes: u64, allowed: u64 },
}

impl Stop {
    /// `what` would take more than the allowed number of bytes.
    fn too_large(what: &'static str, bytes: u64, allowed: u64) -> Stop {
        Stop::TooLarge { what, megabytes: bytes >> 20, allowed: allowed >> 20 }
    }
}

impl From<Interrupt> for Stop {
    fn from(interrupt: Interrupt) -> Stop {
        Stop::Interrupted(interrupt)
    }
}

impl From<Stop> for Cause {
    fn from(stop: Stop) -> Cause {
        match stop {
            Stop::Interrupted(interrupt) => Cause::Interrupted(interrupt),
            Stop::TooLarge { what, megabytes, allowed } => Cause::TooLarge { what, megabytes, allowed },
        }
    }
}
