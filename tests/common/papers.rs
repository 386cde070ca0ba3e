//! What the papers' own algorithms must say of a history, against the fast engine and brute force.

use super::examine;
use super::oracle::{self, Observation};
use super::pattern_oracle;
use isoscope::checkers::{Cause, Checker, Findings, Level, LevelResult, Options, Pattern, Verdict};
use isoscope::control::Control;
use isoscope::history::History;
use isoscope::papers::{self, Choice, Counting, RcRule};
use std::collections::BTreeMap;

/// CI, RC, RA, TCC.
pub(crate) const WEAK: [Level; 4] = [
    Level::CutIsolation,
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::TransactionalCausalConsistency,
];

/// All but the fast engine.
pub(crate) const PAPERS: [Checker; 7] = [
    Checker::Plume,
    Checker::PlumeTreeClocks,
    Checker::PlumeSearch,
    Checker::C4,
    Checker::C4TreeClocks,
    Checker::C4Search,
    Checker::BiswasEneaSaturation,
];

/// The weak levels that a checker decides.
pub(crate) fn options(checker: Checker) -> Options {
    let levels = WEAK
        .into_iter()
        .filter(|level| checker.levels().contains(level))
        .collect();
    Options {
        levels,
        ..Options::default()
    }
}

/// Asks a checker for the weak levels that it decides.
pub(crate) fn ask(history: &History, checker: Checker) -> Findings {
    ask_with(history, checker, options(checker))
}

pub(crate) fn ask_with(history: &History, choice: impl Into<Choice>, options: Options) -> Findings {
    papers::check(history, choice, &options, &Control::new(), &|_| {})
}

/// Asks a variant of Plume's algorithm for one commit order at all levels, as published.
pub(crate) fn ask_one_cm(history: &History, checker: Checker) -> Findings {
    ask_with(
        history,
        Choice {
            one_commit_order: true,
            ..checker.into()
        },
        options(checker),
    )
}

/// Asks a variant of Plume's algorithm for its own read committed.
pub(crate) fn ask_plume_rc(history: &History, checker: Checker) -> Findings {
    ask_with(
        history,
        Choice {
            rc: RcRule::Plume,
            ..checker.into()
        },
        options(checker),
    )
}

/// Asks a variant of Plume's algorithm for the letters that these levels prohibit, as its published program counts them.
pub(crate) fn published(
    history: &History,
    checker: Checker,
    levels: &[Level],
) -> BTreeMap<char, u64> {
    let choice = Choice {
        counting: Counting::Published,
        ..checker.into()
    };
    let options = Options {
        levels: levels.to_vec(),
        max_instances: 0,
        ..Options::default()
    };
    let found = ask_with(history, choice, options)
        .published_patterns
        .expect("they were asked for");
    found
        .into_iter()
        .map(|(pattern, n)| (pattern.letter().expect("a letter"), n))
        .collect()
}

/// `+`, `-` or `?` for each level asked for.
pub(crate) fn signs(findings: &Findings) -> String {
    let sign = |result: &LevelResult| match result.verdict {
        Verdict::Satisfied(_) => '+',
        Verdict::Violated => '-',
        Verdict::Undecided(_) => '?',
    };
    findings.levels.iter().map(sign).collect()
}

/// Plume's letters with their counts; patterns of lists by name.
pub(crate) fn letters(findings: &Findings) -> BTreeMap<String, u64> {
    let weak = |pattern: &Pattern| pattern.letter().is_some() || pattern.is_of_lists();
    let counts = findings
        .patterns
        .iter()
        .filter(|(pattern, _)| weak(pattern));
    counts
        .map(|(pattern, &count)| {
            (
                pattern
                    .letter()
                    .map_or(pattern.id().to_owned(), String::from),
                count,
            )
        })
        .collect()
}

/// C4's letters with their counts.
pub(crate) fn c4_letters(findings: &Findings) -> BTreeMap<char, u64> {
    findings
        .c4_patterns
        .iter()
        .map(|(pattern, &count)| (pattern.letter(), count))
        .collect()
}

/// Only C4's letters without their counts.
pub(crate) fn c4_word(findings: &Findings) -> String {
    c4_letters(findings).into_keys().collect()
}

/// The signs of the levels a checker decides, from the signs at all weak levels.
fn part(signs: &str, checker: Checker) -> String {
    let decided = WEAK
        .iter()
        .zip(signs.chars())
        .filter(|(level, _)| checker.levels().contains(level));
    decided.map(|(_, sign)| sign).collect()
}

/// Compares all papers' algorithms with the fast engine: verdicts, counts, evidence.
pub(crate) fn compare(history: &History, papers: &[Checker]) -> Result<Findings, String> {
    let fast = ask(history, Checker::Fast);
    compare_with(history, &fast, papers)?;
    Ok(fast)
}

/// The same for what the fast engine said.
pub(crate) fn compare_with(
    history: &History,
    fast: &Findings,
    papers: &[Checker],
) -> Result<(), String> {
    for &checker in papers {
        let found = ask(history, checker);
        compare_one(history, fast, &found).map_err(|problem| format!("{checker}: {problem}"))?;
    }
    Ok(())
}

fn compare_one(history: &History, fast: &Findings, found: &Findings) -> Result<(), String> {
    let checker = found.checker;
    if found
        .levels
        .iter()
        .any(|result| result.checker != checker.name())
    {
        return Err("another name in the results".to_owned());
    }
    let ambiguous = |result: &LevelResult| {
        matches!(result.verdict, Verdict::Undecided(Cause::AmbiguousReads(_)))
    };
    if found.levels.iter().any(ambiguous) {
        return if found.levels.iter().all(ambiguous) && found.violations.is_empty() {
            Ok(())
        } else {
            Err("the papers exclude ambiguous reads".to_owned())
        };
    }
    let (found_signs, expected) = (signs(found), part(&signs(fast), checker));
    let only_e = checker.is_c4() && fast.patterns.contains_key(&Pattern::NotMyLastWrite);
    if found_signs != expected && !(only_e && found_signs == "+" && expected == "-") {
        return Err(format!(
            "verdicts {found_signs}, the fast engine says {expected}"
        ));
    }
    if checker.is_plume() && letters(found) != letters(fast) {
        return Err(format!(
            "patterns {:?}, the fast engine counts {:?}",
            letters(found),
            letters(fast)
        ));
    }
    if !checker.is_plume() && !found.patterns.is_empty() {
        return Err(format!("counts Plume's patterns: {:?}", found.patterns));
    }
    // What is wrong with lists only has no letter of C4's.
    let of_lists = fast.patterns.keys().any(|pattern| pattern.is_of_lists());
    let has_letters = !found.c4_patterns.is_empty();
    if has_letters != (checker.is_c4() && found_signs == "-") && !(checker.is_c4() && of_lists) {
        return Err(format!(
            "{found_signs} with C4's patterns {:?}",
            found.c4_patterns
        ));
    }
    match found_signs == expected {
        true => examine::evidence(history, found),
        // C4 calls a history satisfied that is not: its witness cannot hold, and it says so.
        false if found.assumptions.iter().any(|line| line.contains("TAP-e")) => Ok(()),
        false => Err("satisfied as published, and no word of it".to_owned()),
    }
}

/// Compares with brute force, too. For at most eight transactions.
pub(crate) fn compare_with_oracle(history: &History) -> Result<(), String> {
    let fast = compare(history, &PAPERS)?;
    let observation = Observation::of(history);
    if observation.n_ambiguous() > 0 {
        return Ok(());
    }
    let [choice] = observation
        .choices()
        .try_into()
        .map_err(|_| "several explanations")?;
    let expected = oracle::weak_verdicts(&observation, &choice);
    let expected: String = expected
        .iter()
        .map(|&satisfied| if satisfied { '+' } else { '-' })
        .collect();
    if signs(&fast) != expected {
        return Err(format!(
            "the fast engine says {}, brute force {expected}",
            signs(&fast)
        ));
    }
    let counts = pattern_oracle::count_c4(&observation, &choice);
    let found = c4_letters(&ask(history, Checker::C4));
    if found != counts {
        return Err(format!(
            "C4's patterns {found:?}, brute force counts {counts:?}"
        ));
    }
    let counts = pattern_oracle::count(&observation, &choice).letters;
    let counts: BTreeMap<String, u64> = counts
        .into_iter()
        .map(|(letter, count)| (letter.to_string(), count))
        .collect();
    let found = letters(&ask(history, Checker::Plume));
    if found != counts {
        return Err(format!(
            "Plume's patterns {found:?}, brute force counts {counts:?}"
        ));
    }
    Ok(())
}
