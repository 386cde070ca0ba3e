//! The lattice of levels, as far as the window shows it: what is known of each level, what was promised, and checking the
//! open history against all of them.

use super::App;
use super::load::{Check, LOAD};
use super::vocabulary::Phase;
use crate::checkers::lattice::{self, PROMISES, Promise};
use crate::checkers::{Findings, Level, LevelResult, LevelSet, Pattern, Verdict};
use std::time::Instant;

/// How the lattice is shown.
#[derive(Clone, Debug, Default)]
pub struct LatticeView {
    /// It is open below the strip.
    pub open: bool,
    /// What was promised, as a place among [`PROMISES`].
    pub promise: Option<usize>,
    /// The level that is explained.
    pub chosen: Option<Level>,
}

impl LatticeView {
    /// What was promised.
    pub fn promise(&self) -> Option<&'static Promise> {
        PROMISES.get(self.promise?)
    }
}

/// What is known of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It holds; if it was not checked itself, because this one does.
    Holds(Option<Level>),
    /// It is violated; if it was not checked itself, because this one is.
    Broken(Option<Level>),
    /// It was not decided, but an instance of this pattern, which violates it by itself, was found.
    BrokenBy(Pattern),
    /// It was not decided, but the transactions of the selected anomaly violate it by themselves.
    BrokenHere,
    /// It was checked and left open.
    Open,
    /// Nothing yet.
    Nothing,
}

/// What the results say about a level, by itself or by what it implies and what implies it. O(levels).
pub(super) fn known(results: &[&LevelResult], level: Level) -> Known {
    let own = results
        .iter()
        .find(|result| result.level == level)
        .map(|result| &result.verdict);
    match own {
        Some(Verdict::Satisfied(_)) => return Known::Holds(None),
        Some(Verdict::Violated) => return Known::Broken(None),
        Some(Verdict::Undecided(_)) | None => {}
    }
    let otherwise = match own {
        Some(_) => Known::Open,
        None => Known::Nothing,
    };
    let follows = |result: &&LevelResult| match result.verdict {
        Verdict::Satisfied(_) if result.level.implies(level) => {
            Some(Known::Holds(Some(result.level)))
        }
        Verdict::Violated if level.implies(result.level) => Some(Known::Broken(Some(result.level))),
        _ => None,
    };
    results.iter().find_map(follows).unwrap_or(otherwise)
}

/// A pattern that was found and violates PL2 by itself, on every order and without sessions: at PL2 a read returns its
/// transaction's own latest write, else the final version of another committed transaction, and one read did not. So it
/// violates all that implies PL2, too. O(patterns).
pub(super) fn wrong_read(findings: &Findings) -> Option<Pattern> {
    let found = findings.patterns.iter().filter(|(_, count)| **count > 0);
    found
        .map(|(pattern, _)| *pattern)
        .find(|pattern| pattern.is_wrong_read())
}

/// What anomalies show about levels that were not decided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AnomalyEvidence {
    /// The levels that the selected one violates by itself.
    pub broken: LevelSet,
    /// What [`wrong_read`] says.
    pub wrong_read: Option<Pattern>,
}

/// What is known of a level, where nothing else is by what anomalies show. O(levels).
pub(super) fn known_here(
    results: &[&LevelResult],
    evidence: AnomalyEvidence,
    level: Level,
) -> Known {
    let implies_pl2 = || level.implies(Level::PlainAdyaReadCommitted);
    let is_broken = || {
        Level::EVERY
            .into_iter()
            .any(|weaker| evidence.broken.contains(weaker) && level.implies(weaker))
    };
    let own = known(results, level);
    if !matches!(own, Known::Nothing | Known::Open) {
        return own;
    }
    let by_itself = evidence
        .wrong_read
        .filter(|_| implies_pl2())
        .map(Known::BrokenBy);
    by_itself
        .or_else(|| is_broken().then_some(Known::BrokenHere))
        .unwrap_or(own)
}

/// The strongest levels known to hold: no other one known to hold implies them.
pub(super) fn strongest(results: &[&LevelResult]) -> Vec<&'static str> {
    let holds = lattice::levels()
        .iter()
        .copied()
        .filter(|level| matches!(known(results, *level), Known::Holds(_)));
    lattice::strongest(holds)
        .into_iter()
        .map(Level::code)
        .collect()
}

impl App {
    /// Checks the open history against every level that can be decided.
    pub(super) fn check_every_level(&mut self) {
        let Some(document) = self
            .state
            .document
            .as_mut()
            .filter(|document| !document.is_busy())
        else {
            return;
        };
        let Some(history) = document.history.clone() else {
            return;
        };
        document.results.expect(Level::EVERY.to_vec());
        document.phase = Phase::Checking;
        let (resolution, pool) = (document.results.resolution.clone(), self.pool.clone());
        self.start(&LOAD, move |control, outbox| {
            let check = Check {
                history: &history,
                resolution,
                started: Instant::now(),
                control,
                outbox,
            };
            pool.install(|| drop(check.run(Level::EVERY.to_vec())));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_anomaly_violates_violates_all_that_implies_it() {
        let mut broken = LevelSet::default();
        broken.insert(Level::ReadYourWrites);
        let evidence = AnomalyEvidence {
            broken,
            wrong_read: None,
        };
        let here = |code: &str| {
            known_here(&[], evidence, Level::with_code(code).expect("a level")) == Known::BrokenHere
        };
        assert!(["RYW", "MV", "R-MV", "SER"].into_iter().all(here));
        assert!(!["P-MV", "PL2", "MW"].into_iter().any(here));
    }

    #[test]
    fn a_wrong_read_violates_pl2_and_all_that_implies_it() {
        let evidence = AnomalyEvidence {
            wrong_read: Some(Pattern::IntermediateRead),
            ..AnomalyEvidence::default()
        };
        let known =
            |code: &str| known_here(&[], evidence, Level::with_code(code).expect("a level"));
        for code in ["P-PL2", "PL2", "R-PL2", "P-CS", "PRAM", "C-PC", "SER"] {
            assert_eq!(
                known(code),
                Known::BrokenBy(Pattern::IntermediateRead),
                "{code}"
            );
        }
        assert!(
            ["PL1", "R-PL1", "CI"]
                .into_iter()
                .all(|code| known(code) == Known::Nothing)
        );
    }

    #[test]
    fn the_checkers_agree_that_each_wrong_read_violates_pl2() {
        use crate::checkers::{Options, check};
        use crate::control::Control;
        let texts = [
            "a: [r x 7]",
            "a: [w x 1]!\nb: [r x 1]",
            "a: [w x 1, w x 2]\nb: [r x 1]",
            "a: [w x 1, r x 0]",
        ];
        for text in texts {
            let history = crate::formats::text::parse(text).expect("a history in our notation");
            let levels = vec![Level::PlainAdyaReadCommitted];
            let findings = check(
                &history,
                &Options {
                    levels,
                    ..Options::default()
                },
                &Control::new(),
                &|_| {},
            );
            assert_eq!(findings.levels[0].verdict, Verdict::Violated, "{text}");
            assert!(wrong_read(&findings).is_some(), "{text}");
        }
    }
}
