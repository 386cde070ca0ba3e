//! One history, everything that can be said about it, and whether it all fits together: engines against oracles, stronger
//! levels against weaker ones, evidence against the independent verifier.

use super::oracle::{self, LEVELS, Observation};
use super::pattern_oracle::{self, Counts};
use isoscope::audit;
use isoscope::checkers::{
    Findings, Level, LevelResult, LevelSet, Options, Pattern, Proof, Verdict, Violation,
    ViolationId,
};
use isoscope::control::Control;
use isoscope::history::{History, TransactionId};
use isoscope::relations::{Edge, Reason};
use isoscope::report::{Report, Settings};
use isoscope::verify::{self, Verified};
use isoscope_testing::described;
use std::collections::BTreeMap;

/// Decides all levels with the engines.
pub(crate) fn check(history: &History) -> Findings {
    let options = Options {
        levels: Level::of(history),
        ..Options::default()
    };
    audit::check(history, &options, &Control::new(), &|_| {})
}

/// Verdict of the engines at each of [`LEVELS`]; `None` where undecided.
pub(crate) fn engine_verdicts(findings: &Findings) -> [Option<bool>; 7] {
    LEVELS.map(
        |level| match findings.level(level).map(|result| &result.verdict) {
            Some(Verdict::Satisfied(_)) => Some(true),
            Some(Verdict::Violated) => Some(false),
            _ => None,
        },
    )
}

/// `+` satisfied, `-` violated, `?` undecided, in the order of [`LEVELS`].
pub(crate) fn signs(verdicts: [Option<bool>; 7]) -> String {
    verdicts
        .map(|verdict| verdict.map_or('?', |satisfied| if satisfied { '+' } else { '-' }))
        .iter()
        .collect()
}

/// Compares the engines with the brute force of the oracles and looks at the evidence. For at most eight transactions.
pub(crate) fn examine(history: &History) -> Result<Findings, String> {
    let findings = check(history);
    let observation = Observation::of(history);
    let expected = oracle::verdicts(history).map(Some);
    let verdicts = engine_verdicts(&findings);
    if verdicts != expected {
        return Err(format!(
            "verdicts at CI RC RA TCC PC SI SER\n  engine {}\n  oracle {}\n  {}",
            signs(verdicts),
            signs(expected),
            undecided(&findings)
        ));
    }
    hierarchy(verdicts)?;
    for violation in &findings.violations {
        for level in violation
            .levels
            .iter()
            .filter(|level| LEVELS.contains(level))
        {
            if findings
                .level(level)
                .is_some_and(|result| result.verdict != Verdict::Violated)
            {
                return Err(format!(
                    "{} names {level}, which is satisfied",
                    violation.id
                ));
            }
        }
    }
    evidence(history, &findings)?;
    if observation.n_ambiguous() == 0
        && let [choice] = observation.choices().as_slice()
    {
        counts(&findings, &pattern_oracle::count(&observation, choice))?;
    }
    Ok(findings)
}

/// Why a level is undecided, one line for each.
pub(crate) fn undecided(findings: &Findings) -> String {
    let line = |result: &LevelResult| match &result.verdict {
        Verdict::Undecided(cause) => Some(format!("{} undecided: {cause}\n", result.level)),
        _ => None,
    };
    findings.levels.iter().filter_map(line).collect()
}

/// A stronger level never accepts what a weaker one rejects.
pub(crate) fn hierarchy(verdicts: [Option<bool>; 7]) -> Result<(), String> {
    for (s, stronger) in LEVELS.iter().enumerate() {
        for (w, weaker) in LEVELS.iter().enumerate() {
            if stronger.implies(*weaker) && verdicts[s] == Some(true) && verdicts[w] == Some(false)
            {
                return Err(format!("{stronger} is satisfied, {weaker} is not"));
            }
        }
    }
    Ok(())
}

/// Whether the verifier accepts one violation of a history, with all that it is called, whatever else may be found in it.
pub(crate) fn alone(
    history: &History,
    levels: Vec<LevelResult>,
    violation: &Violation,
) -> Result<(), String> {
    let findings = Findings {
        levels,
        patterns: BTreeMap::from([(violation.id.pattern, 1)]),
        violations: vec![violation.clone()],
        ..Findings::default()
    };
    let report = isoscope::report::of_findings(history, &findings, Settings::default());
    let violation = &report.violations[0];
    verify::verify_example(history, violation).map_err(|problem| problem.to_string())?;
    match described::problems_of_example(history, violation) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(problems.join("\n  ")),
    }
}

/// Whether the verifier accepts the evidence of a report, which shows every verdict, and what the report says besides is
/// true.
pub(crate) fn believed(history: &History, report: &Report) -> Result<Verified, String> {
    let verified = verify::verify(history, report).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        format!("verification failed\n  {}", problems.join("\n  "))
    })?;
    if !verified.without_evidence.is_empty() {
        return Err(format!("without evidence: {:?}", verified.without_evidence));
    }
    match described::problems(history, report) {
        problems if problems.is_empty() => Ok(verified),
        problems => Err(format!("described wrongly\n  {}", problems.join("\n  "))),
    }
}

/// The proof as the only violation of a report.
pub(crate) fn report_of(history: &History, edges: Vec<Edge>, proof: Proof, level: Level) -> Report {
    let named = |edge: &Edge| match edge.because {
        Reason::Visible { reader, .. } | Reason::Listed { reader, .. } => {
            vec![edge.from, edge.to, reader]
        }
        Reason::Overwrites { writer, .. } => vec![edge.from, edge.to, writer],
        _ => vec![edge.from, edge.to],
    };
    let mut transactions: Vec<TransactionId> = edges.iter().flat_map(named).collect();
    transactions.sort_unstable();
    transactions.dedup();
    let violation = Violation {
        id: ViolationId {
            pattern: Pattern::SERCycle,
            ordinal: 1,
        },
        also: Vec::new(),
        levels: LevelSet::upward(level)
            .iter()
            .filter(|level| *level != Level::StrictSerializability)
            .collect(),
        key: None,
        transactions,
        operations: Vec::new(),
        edges,
        proof,
        implied: false,
        group: 1,
        place: None,
    };
    let findings = Findings {
        violations: vec![violation],
        ..Findings::default()
    };
    isoscope::report::of_findings(history, &findings, Settings::default())
}

/// Whether the verifier accepts the only violation of a report.
pub(crate) fn is_accepted(history: &History, report: &Report) -> Result<bool, String> {
    match verify::verify(history, report) {
        Ok(verified) => Ok(verified.violations == 1),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

/// Everything claimed must pass the verifier, and nothing may be claimed without evidence.
pub(crate) fn evidence(history: &History, findings: &Findings) -> Result<(), String> {
    let report = isoscope::report::of_findings(
        history,
        findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    let verified = believed(history, &report)?;
    // Those of C4 are counted by other rules.
    let counts = report.patterns.0.iter();
    for (id, count) in counts.filter(|(id, _)| !id.starts_with("C4 ")) {
        let mut counts = findings.patterns.iter();
        let found = counts.find(|(pattern, _)| pattern.to_string() == *id);
        if found.map_or(0, |(_, n)| *n) != *count {
            return Err(format!("the report counts {count} of {id}"));
        }
    }
    let decided = findings
        .levels
        .iter()
        .filter(|r| !matches!(r.verdict, Verdict::Undecided(_)))
        .count();
    let shown = verified.satisfied.len() + verified.violated.len();
    if shown != decided {
        return Err(format!(
            "{decided} levels decided, {shown} looked at by the verifier"
        ));
    }
    Ok(())
}

/// Exact numbers of instances.
fn counts(findings: &Findings, expected: &Counts) -> Result<(), String> {
    for pattern in Pattern::all() {
        let wanted = match (pattern.letter(), pattern) {
            (Some(letter), _) => expected.letters.get(&letter).copied().unwrap_or(0),
            (None, Pattern::Divergence) => expected.divergence,
            _ => continue,
        };
        let found = findings.patterns.get(&pattern).copied().unwrap_or(0);
        if found != wanted {
            return Err(format!("{found} instances of {pattern}, expected {wanted}"));
        }
    }
    for (pattern, count) in &findings.patterns {
        let listed = findings
            .violations
            .iter()
            .filter(|violation| violation.id.pattern == *pattern)
            .count() as u64;
        if (listed == 0) != (*count == 0) || listed > *count {
            return Err(format!("{count} instances of {pattern}, {listed} listed"));
        }
    }
    Ok(())
}
