//! How far a command distrusts the checkers.

use super::CheckArguments;
use crate::checkers::Checker;

/// Which evidence the verifier checks before a verdict counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelfCheck {
    /// Evidence of every verdict.
    OfVerdicts,
    /// Every witness, because they are written out.
    OfWitnesses,
    Off,
}

impl SelfCheck {
    pub(super) fn of(arguments: &CheckArguments) -> SelfCheck {
        // The papers' algorithms produce no evidence.
        match (
            arguments.no_self_check || arguments.checker != Checker::Fast,
            arguments.witness,
        ) {
            (true, _) => SelfCheck::Off,
            (false, false) => SelfCheck::OfVerdicts,
            (false, true) => SelfCheck::OfWitnesses,
        }
    }
}
