//! All levels, whatever the order that they count, where values repeat, results are missing, outcomes or times are unknown: what
//! is found has evidence that the verifier accepts.

use crate::common;

use crate::lattice::{ask, asked, compare};
use common::examine;

use common::lattice;
use common::mixed::{self, Mix};
use common::random::for_seeds;
use isoscope::audit;
use isoscope::checkers::{self, Cause, Level, Options, Verdict, Witness};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::history::History;
use isoscope::relations::resolve;
use isoscope::report::Settings;

/// The levels with these codes, separated by commas.
fn levels(codes: &str) -> Vec<Level> {
    codes
        .split(',')
        .map(|code| code.parse().unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

/// All levels but PL1, which is open where elements repeat.
fn all() -> Vec<Level> {
    asked()
        .into_iter()
        .filter(|level| !level.code().ends_with("PL1"))
        .collect()
}

/// The verdict of a level by brute force, which must also be the one with evidence where it is asked for with these others.
fn agreed(text: &str, codes: &str) -> Vec<Option<bool>> {
    let (history, levels) = (common::history(text), levels(codes));
    let codes: Vec<String> = levels.iter().map(|level| level.code().to_owned()).collect();
    let expected = lattice::verdicts(&history, &codes);
    let findings = ask(&history, &levels).unwrap_or_else(|problem| panic!("{text}{problem}"));
    compare(&findings, &expected).unwrap_or_else(|problem| panic!("{text}{problem}"));
    codes.iter().map(|code| expected[code]).collect()
}

/// A read without a result orders nothing, whichever session comes first.
#[test]
fn a_read_whose_result_is_unknown_uses_no_key() {
    for read in ["r y ?", "n y 3"] {
        let (writer, reader) = ("a: [w y 1]@1..2\n", format!("b: [{read}]@3..4\n"));
        for text in [format!("{writer}{reader}"), format!("{reader}{writer}")] {
            assert_eq!(agreed(&text, "K-SER,K-SI"), [Some(true), Some(true)]);
        }
        // What a reads was written after a had ended, which only real time by key could forbid.
        let text = format!("a: [w y 1, r x 2]@1..2\nb: [{read}, r z init]@3..4 [w x 2]@5..6\n");
        assert_eq!(agreed(&text, "K-SER"), [Some(false)]);
        let text = format!("a: [w y 1, r x 2]@1..2\nb: [{read}, w z 1]@3..4\nc: [r z 1, w x 2]\n");
        assert_eq!(agreed(&text, "K-SER,SSER"), [Some(true), Some(false)]);
    }
}

/// A level that counts no sessions is replayed without them only once.
#[test]
fn a_wrong_order_is_refused_where_real_time_counts_by_key() {
    let history = common::history("a: [w y 1]@1..2\nb: [w y 2]@3..4\n");
    let control = Control::new();
    for code in ["K-SER", "K-SI", "C-SI"] {
        let options = Options {
            levels: levels(code),
            ..Options::default()
        };
        let mut findings = checkers::check(&history, &options, &control, &|_| {});
        match &mut findings.levels[0].verdict {
            Verdict::Satisfied(Witness::CommitOrder(order)) => {
                std::sync::Arc::make_mut(order).reverse()
            }
            Verdict::Satisfied(Witness::Events(events)) => {
                std::sync::Arc::make_mut(events).rotate_left(2)
            }
            verdict => panic!("{code}: {verdict:?}"),
        }
        let resolution = resolve(&history, &control).expect("not interrupted");
        audit::review(&history, &resolution, &mut findings, &control);
        let is_refused =
            |verdict: &Verdict| matches!(verdict, Verdict::Undecided(Cause::Disagreement { .. }));
        assert!(is_refused(&findings.levels[0].verdict), "{code}");
    }
}

/// Writes of one value are told apart by the witness, in real time, too.
#[test]
fn an_order_in_real_time_says_who_wrote_what_several_may_have_written() {
    let text = "i: [w z 1]\ns0: [w y 1]\ns2: [w z 2, w y 1]\ns1: [r y 1, r z 1]@6..8\n";
    assert_eq!(agreed(text, "R-RC"), [Some(true)]);
    let text = "s0: [w x 1, w l 1]\ns1: [w x 1]\ns2: [r l [], r x 1]@0..2\n";
    for code in ["R-PSI", "R-RA", "R-UA", "R-TCC", "R-MV", "R-MSR"] {
        assert_eq!(agreed(text, code), [Some(true)]);
    }
}

/// Sessions rule out writers, so what violates a plain level may violate the level with sessions for another reason.
#[test]
fn plain_levels_and_others_keep_their_own_evidence() {
    let histories = [
        (
            "s0: [w l 1, a l 1] [r l [1], a l 1] [w l 1]\ns1: [r l [1 1], w l 1] [r l [1 1], a l 1]\n",
            "P-CS,RC",
        ),
        (
            "s0: [w l 2, w l 1] [w l 2, w l 2, w l 1] [r l 1, r l 2] [r l 1] [w l 2, w l 2]\n",
            "P-RA,RC",
        ),
        (
            "s1: [r x 7]\ns0: [r x init, r x init, w x 7] [w x 7, w x 4] [r x 4, r x 7]\n",
            "P-RA,RA",
        ),
        (
            "s0: [a l 1, a l 1, a l 1] [a l 1] [r l [1 1 1], r l [1 1 1 1 1], a l 1]\n",
            "P-CS,PL2",
        ),
    ];
    for (text, codes) in histories {
        let plain = levels(codes)[0];
        for levels in [levels(codes), all()] {
            let findings = ask(&common::history(text), &levels)
                .unwrap_or_else(|problem| panic!("{text}{problem}"));
            assert_eq!(
                findings.level(plain).map(|result| result.verdict.word()),
                Some("violated"),
                "{text}"
            );
        }
    }
}

/// Cases are named by what the first of them shows; not all of them take real time, or sessions.
#[test]
fn names_of_cases_are_those_that_the_verifier_finds() {
    let histories = [
        "s1: [a l 1]? [a l 2, a l 3, r l [2 3]]@3..3\ns0: [a l 1]@1..1 [r l [1]]\n",
        "s1: [a l 1]@0..1\ns2: [a l 1] [r l [1]]@2..3\n",
        "i: [a m 1]\ns1: [w m 1, a m 1] [r m [1], a m 1]\ns0: [r m [1 1 1]]@3..5\n",
        "s0: [a m 1] [r m [1], r m []] [a m 2, a m 1]\n",
        "s2: [w x 1, w y 1] [r x 1, r y init]\ns0: [r x 1, w x 1]\n",
    ];
    for text in histories {
        ask(&common::history(text), &all()).unwrap_or_else(|problem| panic!("{text}{problem}"));
    }
}

/// `s1#3` has only a read in common with `s0#1`, and its writer takes no part in the contradiction.
#[test]
fn a_read_by_which_real_time_counts_remains_in_the_evidence() {
    let text = "s0: [w x 2]@2..7\ns1: [r y init, r x 2] [w x 4] [w y 3, r x 4]@1..1\n";
    assert_eq!(agreed(text, "K-SER"), [Some(false)]);
    assert_eq!(agreed(text, "K-SI"), [Some(false)]);
}

/// Without sessions transactions keep their names, so a sentence about them is said once.
#[test]
fn nothing_is_assumed_twice() {
    let history = common::history("s0: [r m [1]]\ns1: [w m 1]? [r x 1]\n");
    let findings = ask(&history, &all()).unwrap_or_else(|problem| panic!("{problem}"));
    let (said, about) = (&findings.assumptions, "must have committed");
    assert_eq!(
        said.iter()
            .filter(|sentence| sentence.contains(about))
            .count(),
        1,
        "{said:?}"
    );
}

/// Two lists contradict each other whichever appends made their elements, which is not that there is one writer.
#[test]
fn elements_that_repeat_are_not_assumed_to_have_one_writer() {
    let text = "a: [a l 1, r l [1]] [a l 1]\nb: [a l 2]\nc: [r l [2 1]] [r l [1 2]]\n";
    let history = common::history(text);
    let options = Options {
        levels: levels("RC,SER"),
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &Control::new(), &|_| {});
    let mut n = 0;
    for violation in &findings.violations {
        let example = audit::minimize(&history, violation, &Control::new());
        let repeats = checkers::has_repeated_elements(&example.history);
        let said = counterexample::explain(&example).assumptions.join("; ");
        assert!(
            !(repeats && said.contains("has one possible writer")),
            "{said}"
        );
        n += usize::from(repeats);
    }
    assert!(n > 0, "no example has repeated elements");
}

/// At read atomic and update atomic single steps count, also in real time: of a session whose transactions overlap, what
/// precedes one that had ended need not have ended.
#[test]
fn real_time_after_session_order_is_two_steps() {
    let text = "s0: [r x init]@0..0 [r z init]@4..4\ns1: [w z 1]@0..5 [w y 1]@2..2\n";
    assert_eq!(
        agreed(text, "R-RA,R-UA,R-TCC,SSER"),
        [Some(true), Some(true), Some(false), Some(false)]
    );
}

/// A transaction of unknown outcome that was read from counts as committed at every level, at cut isolation, too.
#[test]
fn what_was_read_from_counts_as_committed_at_cut_isolation() {
    assert_eq!(
        agreed("a: [w x 1]?\nb: [r x init, r x 1]\n", "CI"),
        [Some(false)]
    );
    assert_eq!(
        agreed("a: [w x 1]!\nb: [r x init, r x 1]\n", "CI"),
        [Some(true)]
    );
}

/// Writers are tried where no stronger or weaker level says enough.
#[test]
fn short_histories_with_several_writers_are_decided_at_every_level() {
    let text = "s3: [w x 2] [r x 1]\ns0: [w x 1] [r x 2]\ni: [w x 1]\n";
    agreed(text, "CS,MV,MSR,UA,PSI,P-PL3U");
    let text = "i: [w x 1]*\ns3: [w x 2] [r x 1]\ns0: [w x 1] [r x 2]\n";
    ask(&common::history(text), &all()).unwrap_or_else(|problem| panic!("{problem}"));
}

/// Any levels together have evidence; where brute force can tell, they agree with it.
#[test]
fn any_levels_have_evidence_whatever_repeats() {
    for_seeds(1_000, |seed| {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mix = Mix {
            repeated: true,
            names: false,
            groups: 1,
            ..Mix::any(&mut rng)
        };
        let mix = Mix {
            vague: rng.u8(0..3) == 0,
            times: rng.u8(0..3) > 0,
            ..mix
        };
        let text = mixed::text(&mix, seed);
        let Ok(history) = isoscope::formats::text::parse(&text) else {
            return Ok(());
        };
        let one_of = [1, 8, 3, 3][(seed % 4) as usize];
        let levels: Vec<Level> = all()
            .into_iter()
            .filter(|_| rng.u8(0..one_of) == 0)
            .collect();
        with_evidence(&history, &levels).map_err(|problem| format!("{levels:?}\n{text}{problem}"))
    });
}

/// Decides levels, of which only what several may have written, or the lack of usable times, leaves some open.
fn with_evidence(history: &History, levels: &[Level]) -> Result<(), String> {
    let options = Options {
        levels: levels.to_vec(),
        ..Options::default()
    };
    let mut findings = audit::check(history, &options, &Control::new(), &|_| {});
    let report = isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    examine::believed(history, &report)?;
    if let Some(unproved) = findings
        .levels
        .iter()
        .find_map(|result| match &result.verdict {
            Verdict::Undecided(cause @ (Cause::Disagreement { .. } | Cause::Unproven)) => {
                Some((result.level, cause))
            }
            _ => None,
        })
    {
        return Err(format!("{} undecided: {}", unproved.0, unproved.1));
    }
    if !brute_force_knows(history) {
        return Ok(());
    }
    findings
        .levels
        .retain(|result| !matches!(result.verdict, Verdict::Undecided(Cause::AmbiguousReads(_))));
    let codes: Vec<String> = levels.iter().map(|level| level.code().to_owned()).collect();
    compare(&findings, &lattice::verdicts(history, &codes))
}

/// Brute force makes no choice of outcomes or of appends, and knows no set-up.
fn brute_force_knows(history: &History) -> bool {
    let resolution = resolve(history, &Control::new()).expect("no limit");
    let has_unknown = history
        .transactions()
        .any(|t| history.outcome(t) == isoscope::history::Outcome::Unknown);
    !(checkers::has_repeated_elements(history) || resolution.has_multiple_sources() && has_unknown)
        && isoscope::relations::set_up_transactions(history).is_empty()
        && history.transactions().len() <= 5
}
