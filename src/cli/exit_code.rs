//! The meaning of the exit code.

use crate::checkers::Findings;
use crate::history::{Answer, History};
use crate::report::VerdictWord;

/// The program's exit codes. If there are several, the worst counts: unreadable, then violated, then undecided, then
/// satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitCode {
    /// Every requested level is satisfied, or the requested work is done.
    Satisfied,
    /// Nothing violated, but at least one level is undecided, or nothing was tested.
    Undecided,
    /// At least one level is violated, or the evidence in a report does not hold.
    Violated,
    /// Bad usage, or an input that cannot be read.
    Unusable,
    /// An input that cannot be read, for callers of elle-cli.
    Unread,
}

impl ExitCode {
    /// That of the verdicts on a history.
    pub(super) fn of(findings: &Findings) -> ExitCode {
        ExitCode::worst(
            findings
                .levels
                .iter()
                .map(|result| VerdictWord::from(&result.verdict)),
        )
    }

    /// That of several verdicts.
    pub(super) fn worst(verdicts: impl Iterator<Item = VerdictWord>) -> ExitCode {
        verdicts
            .map(ExitCode::from)
            .max()
            .unwrap_or(ExitCode::Satisfied)
    }

    /// This code, but that a history in which nothing was tested satisfies nothing.
    pub(super) fn where_tested(self, tested: bool) -> ExitCode {
        if tested {
            self
        } else {
            self.max(ExitCode::Undecided)
        }
    }

    /// This code, but that of a workload whose own rules are broken; where they alone say something, theirs.
    pub(super) fn of_workload(self, history: &History, asks_for_levels: bool) -> ExitCode {
        let Some(workload) = history.workload() else {
            return self;
        };
        let unknown = workload
            .like_jepsen
            .iter()
            .all(|(_, answer)| *answer == Answer::Unknown);
        let only_rules_say = !workload.has_items() && !asks_for_levels;
        match self {
            _ if workload.is_broken() => self.max(ExitCode::Violated),
            ExitCode::Undecided if only_rules_say && !unknown => ExitCode::Satisfied,
            _ => self,
        }
    }

    /// The exit code of the process.
    pub fn number(self) -> u8 {
        match self {
            ExitCode::Satisfied => 0,
            ExitCode::Violated => 1,
            ExitCode::Unusable => 2,
            ExitCode::Undecided => 3,
            ExitCode::Unread => 255,
        }
    }
}

impl From<VerdictWord> for ExitCode {
    fn from(verdict: VerdictWord) -> ExitCode {
        match verdict {
            VerdictWord::Satisfied => ExitCode::Satisfied,
            VerdictWord::Violated => ExitCode::Violated,
            VerdictWord::Undecided => ExitCode::Undecided,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_several_codes_counts() {
        use ExitCode::*;
        assert_eq!(
            [Undecided, Satisfied]
                .into_iter()
                .max()
                .map(ExitCode::number),
            Some(3)
        );
        assert_eq!(
            [Undecided, Violated, Satisfied]
                .into_iter()
                .max()
                .map(ExitCode::number),
            Some(1)
        );
        assert_eq!(
            [Unusable, Violated].into_iter().max().map(ExitCode::number),
            Some(2)
        );
    }
}
