//! Verdicts and listings of small histories, and what must hold of all findings.

use super::super::ambiguity::{AmbiguousAnswer, Chooser, Means, Why};
use super::*;

use crate::checkers::{Pattern, Proof, refutation};
use isoscope_model::relations::Choice;
use isoscope_testing::{history, random::anything};
use std::sync::Mutex;

fn checked(history: &History) -> Findings {
    check(history, &Options::default(), &Control::new(), &|_| {})
}

/// A sign per level: `+` satisfied, `-` violated, `?` undecided.
fn signs(findings: &Findings) -> String {
    let sign = |result: &LevelResult| match result.verdict {
        Verdict::Satisfied(_) => '+',
        Verdict::Violated => '-',
        Verdict::Undecided(_) => '?',
    };
    findings.levels.iter().map(sign).collect()
}

#[test]
fn small_histories_have_the_verdicts_of_the_definitions() {
    for (text, expected, pattern) in [
        ("a: [r x 0]", "+++++++", None),
        ("a: [w x 1]!", "+++++++", None),
        ("a: [r x 7]", "+------", Some(Pattern::ThinAirRead)),
        ("a: [r x 1] [w x 1]", "+------", Some(Pattern::CyclicCO)),
        (
            "a: [w x 1]\nb: [w x 2]\nc: [r x 1, r x 2]",
            "-+-----",
            Some(Pattern::NonRepeatableRead),
        ),
        (
            "a: [w x 1] [w x 2]\nb: [r x 2, r x 1]",
            "-------",
            Some(Pattern::NonRepeatableRead),
        ),
        (
            "a: [w x 1] [w x 2, w y 2]\nb: [r y 2, r x 1]",
            "+------",
            Some(Pattern::NonMonoReadCO),
        ),
        (
            "a: [w x 1] [r x 0]",
            "++-----",
            Some(Pattern::FracturedReadCO),
        ),
        (
            "a: [w x 1]\nb: [r x 1, w y 1]\nc: [r y 1] [r x 0]",
            "+++----",
            Some(Pattern::COConflictCM),
        ),
        (
            "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1, r x 0]",
            "++++---",
            Some(Pattern::LongFork),
        ),
        (
            "a: [r x 0, w x 1]\nb: [r x 0, w x 2]",
            "+++++--",
            Some(Pattern::LostUpdate),
        ),
        (
            "a: [r x 0, w y 1]\nb: [r y 0, w x 1]",
            "++++++-",
            Some(Pattern::WriteSkew),
        ),
        // Values written twice, and explicit writes of the initial value.
        ("a: [w x 1]\nb: [w x 1]\nc: [r x 1]", "+++++++", None),
        ("a: [w x 1] [w x 2] [r x 1]\nb: [w x 1]", "+++++++", None),
        (
            "a: [w x 1] [w x 1] [w x 2] [r x 1]",
            "++-----",
            Some(Pattern::FracturedReadCO),
        ),
        (
            "a: [w x 0, w y 0] [r x 0, w x 1]\nb: [r y 0, r x 1]",
            "+++++++",
            None,
        ),
        // What looks like a set-up transaction counts as one, even if it may have been a late reset.
        (
            "a: [w x 1]\nb: [w x 0]\nc: [r x 1] [r x 0]",
            "+++----",
            Some(Pattern::COConflictCM),
        ),
        // An unknown transaction is needed, or is not.
        ("a: [w x 1]?\nb: [r x 1]", "+++++++", None),
        ("a: [r x 7, w x 1]?", "+++++++", None),
        (
            "a: [r x 7, w x 1]?\nb: [r x 1]",
            "+------",
            Some(Pattern::ThinAirRead),
        ),
        // A read after an own write does not prove that an unknown transaction committed.
        (
            "a: [w x 1, w x 2] [w x 4, r x 1]\nb: [r x 0, r x 2, w x 1]?",
            "+------",
            Some(Pattern::NotMyOwnWrite),
        ),
        // Either of two unknown writers may have committed.
        ("a: [w x 1]?\nb: [w x 1]?\nc: [r x 1]", "+++++++", None),
        ("", "+++++++", None),
    ] {
        let findings = checked(&history(text));
        assert_eq!(signs(&findings), expected, "{text} {findings:?}");
        match pattern {
            Some(pattern) => assert!(
                findings.patterns.contains_key(&pattern),
                "{text} {:?}",
                findings.patterns
            ),
            None => assert!(
                findings.violations.is_empty() && findings.patterns.is_empty(),
                "{text} {findings:?}"
            ),
        }
    }
}

#[test]
fn findings_are_consistent_in_themselves() {
    let mut random = fastrand::Rng::with_seed(41);
    let mut listed = 0;
    for _ in 0..1500 {
        let history = anything(&mut random);
        let told = Mutex::new(Vec::new());
        let observe = |result: &LevelResult| {
            told.lock()
                .unwrap()
                .push((result.level, result.verdict.word()))
        };
        let findings = check(&history, &Options::default(), &Control::new(), &observe);
        let mut told = told.into_inner().unwrap();
        told.sort_unstable();
        let levels: Vec<(Level, &str)> = findings
            .levels
            .iter()
            .map(|r| (r.level, r.verdict.word()))
            .collect();
        assert_eq!(told, levels, "each level is told once, as it is in the end");
        for stronger in &findings.levels {
            for weaker in &findings.levels {
                if stronger.level.implies(weaker.level)
                    && matches!(stronger.verdict, Verdict::Satisfied(_))
                {
                    assert!(
                        matches!(weaker.verdict, Verdict::Satisfied(_)),
                        "{findings:?}"
                    );
                }
            }
            let named = findings
                .violations
                .iter()
                .any(|violation| violation.levels.contains(stronger.level));
            assert_eq!(
                named,
                stronger.verdict == Verdict::Violated,
                "{:?} {findings:?}",
                stronger.level
            );
        }
        let keys: Vec<_> = findings.violations.iter().map(|v| v.id).collect();
        assert!(keys.is_sorted() && keys.windows(2).all(|two| two[0] != two[1]));
        for violation in &findings.violations {
            listed += 1;
            assert!(findings.patterns[&violation.id.pattern] >= u64::from(violation.id.ordinal));
            if let Proof::Cycle(cycle) = &violation.proof {
                assert!(
                    !cycle.is_empty() && cycle.iter().all(|&edge| edge < violation.edges.len())
                );
            }
        }
    }
    assert!(listed > 500);
}

#[test]
fn findings_do_not_depend_on_the_number_of_threads() {
    let mut random = fastrand::Rng::with_seed(42);
    let histories: Vec<History> = (0..150).map(|_| anything(&mut random)).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let text = |history: &History| {
            let mut findings = checked(history);
            findings
                .levels
                .iter_mut()
                .for_each(|result| result.seconds = 0.0);
            findings.index_seconds = 0.0;
            findings.check_seconds = 0.0;
            format!("{findings:?}")
        };
        pool.install(|| histories.iter().map(text).collect::<Vec<_>>())
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn stopped_work_leaves_levels_undecided() {
    let control = Control::new();
    control.stop();
    let findings = check(
        &history("a: [r x 7]"),
        &Options::default(),
        &control,
        &|_| {},
    );
    assert_eq!(signs(&findings), "???????");
    let cause = Verdict::Undecided(Cause::Interrupted(Interrupt::Cancelled));
    assert!(findings.levels.iter().all(|result| result.verdict == cause));
}

#[test]
fn levels_are_answered_in_the_order_asked_and_once() {
    let options = Options {
        levels: vec![
            Level::Serializability,
            Level::CutIsolation,
            Level::Serializability,
        ],
        ..Options::default()
    };
    let findings = check(&history("a: [w x 1]"), &options, &Control::new(), &|_| {});
    let levels: Vec<Level> = findings.levels.iter().map(|result| result.level).collect();
    assert_eq!(levels, [Level::Serializability, Level::CutIsolation]);
}

#[test]
fn counts_stay_exact_when_lists_are_short() {
    let transactions: String = (0..30).map(|t| format!(" [r x {}]", t + 7)).collect();
    let text = format!("a:{transactions}");
    for max_instances in [0, 2] {
        let options = Options {
            max_instances,
            ..Options::default()
        };
        let findings = check(&history(&text), &options, &Control::new(), &|_| {});
        assert_eq!(findings.patterns[&Pattern::ThinAirRead], 30);
        assert_eq!(findings.violations.len(), max_instances);
    }
}

#[test]
fn choices_without_number_are_decided_by_what_contradicts() {
    // Each of the first reads has two writers that are both possible. The last two reads are possible with any writer,
    // but not together: whichever transaction wrote x = 1 had overwritten y = 1.
    let mut text = String::new();
    for key in 10..16 {
        text += &format!("{key}: [w {key} 1]\n{key}1: [w {key} 1]\n{key}2: [r {key} 1]\n");
    }
    text += "a: [w y 1] [w y 1] [w x 1, w y 8] [w x 1, w y 9]\nb: [r y 1, r x 1]";
    let history = history(&text);
    let control = Control::new();
    let resolution = resolve(&history, &control).unwrap();
    assert_eq!(resolution.n_ambiguous(), 8);
    let search_limits = (Effort::Any, Budget::UntilDecided);
    let index = Index::build_with(
        &history,
        &resolution,
        &resolution.choice_of_none(),
        &control,
    )
    .unwrap();
    let mut chooser = Chooser::new(&history, &resolution, &index, search_limits, &control);
    assert!(matches!(
        chooser.search(Level::ReadCommitted),
        Ok(AmbiguousAnswer::Satisfied(..))
    ));
    let by_answers = |most| chooser.by(Means::Answers(most), Level::ReadAtomic);
    assert!(matches!(
        by_answers(usize::MAX),
        Ok(AmbiguousAnswer::Violated(Why::Combinations(..)))
    ));
    assert!(matches!(by_answers(1), Ok(AmbiguousAnswer::TooMany)));
    // A few of the 256 choices show which two reads are incompatible.
    chooser.most_attempts = 10;
    assert!(matches!(
        chooser.search(Level::ReadAtomic),
        Ok(AmbiguousAnswer::Violated(Why::Told(_)))
    ));
    chooser.most_attempts = 1;
    assert!(matches!(
        chooser.search(Level::ReadAtomic),
        Ok(AmbiguousAnswer::TooMany)
    ));
    let findings = checked(&history);
    assert_eq!(signs(&findings), "++-----");
    assert!(findings.patterns.contains_key(&Pattern::FracturedReadCO));
    assert_eq!(findings.assumptions.len(), 1);
}

/// All choices of writers for the ambiguous reads, if they are few.
fn all_choices(resolution: &Resolution) -> Option<Vec<Choice>> {
    let mut all = vec![Choice::new()];
    for (_, candidates) in resolution.ambiguous() {
        if all.len() * candidates.len() > 200 {
            return None;
        }
        let with =
            |choice: &Choice, place: u32| choice.iter().copied().chain([Some(place)]).collect();
        all = all
            .iter()
            .flat_map(|one| (0..candidates.len() as u32).map(|place| with(one, place)))
            .collect();
    }
    (all.len() > 1).then_some(all)
}

#[test]
fn each_of_the_means_says_what_all_choices_say() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut decided, mut turns, mut alone) = ([0; 2], 0, 0);
    for _ in 0..12_000 {
        let history = anything(&mut random);
        let control = Control::new();
        let resolution = resolve(&history, &control).unwrap();
        let Some(choices) = all_choices(&resolution) else {
            continue;
        };
        let none = resolution.choice_of_none();
        let index = Index::build_with(&history, &resolution, &none, &control).unwrap();
        let search_limits = (Effort::Any, Budget::UntilDecided);
        let chooser = Chooser::new(&history, &resolution, &index, search_limits, &control);
        let holds =
            |level, choice: &Choice| chooser.attempt(level, choice.clone()).unwrap().is_some();
        for level in Level::WITHOUT_TIMES
            .into_iter()
            .skip(1)
            .filter(|&level| holds(level, &none))
        {
            let expected = choices.iter().any(|choice| holds(level, choice));
            for means in chooser
                .means()
                .into_iter()
                .filter(|means| means.is_for(level))
            {
                match chooser.by(means, level).unwrap() {
                    AmbiguousAnswer::Satisfied(solution) => {
                        assert!(expected, "{means:?} satisfies {level}: {history:?}");
                        assert!(
                            holds(level, &solution.choice),
                            "{means:?} {level}: {history:?}"
                        );
                        turns += usize::from(means == Means::Turns);
                    }
                    AmbiguousAnswer::Violated(why) => {
                        assert!(!expected, "{means:?} violates {level}: {history:?}");
                        if let Why::Combinations(level, lists) = why {
                            let told = refutation::refute_by(
                                &history,
                                &resolution,
                                level,
                                &lists,
                                &control,
                            );
                            alone += usize::from(told.unwrap().is_some());
                        }
                    }
                    AmbiguousAnswer::TooMany => {
                        let is_limited =
                            matches!(means, Means::Bridge(_) | Means::Engine(Effort::Times(_)));
                        let may_give_up =
                            is_limited || matches!(means, Means::Turns | Means::Guesses);
                        assert!(may_give_up, "{means:?} {level}: {history:?}");
                    }
                }
            }
            decided[usize::from(expected)] += 1;
        }
    }
    assert!(
        decided[0] > 100 && decided[1] > 900 && turns > 400 && alone > 60,
        "{decided:?} {turns} {alone}"
    );
}

#[test]
fn strict_serializability_respects_real_time() {
    let options = Options {
        levels: vec![Level::StrictSerializability],
        ..Options::default()
    };
    let verdict = |history: &History| {
        check(history, &options, &Control::new(), &|_| {}).levels[0]
            .verdict
            .clone()
    };
    assert_eq!(
        verdict(&history("a: [r x 0]")),
        Verdict::Undecided(Cause::NoTimestamps)
    );
    assert!(matches!(
        verdict(&history("a: [w x 1]@0..1\nb: [r x 1]@2..3")),
        Verdict::Satisfied(_)
    ));
    assert_eq!(
        verdict(&history("a: [w x 1]@0..1\nb: [r x 0]@2..3")),
        Verdict::Violated
    );
    assert!(matches!(
        verdict(&history("a: [w x 1]@0..2\nb: [r x 0]@2..3")),
        Verdict::Satisfied(_)
    ));
    assert_eq!(
        verdict(&history("a: [w x 1]@0..1\nb: [r x 7]@2..3")),
        Verdict::Violated
    );
}
