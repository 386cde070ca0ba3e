//! Histories in which very many choices are open: who wrote what was read, which append made an element. No number of
//! choices makes a level undecided, and where a tree of cases would be too large the evidence consists of combinations that
//! contradict. It passes the independent verifier, and what is changed about it does not.

use crate::common;

use common::examine;
use isoscope::checkers::{Findings, Level, Proof};
use isoscope::counterexample;
use isoscope::history::History;
use isoscope::report::{Document, ProofEntry, Report, Settings, ViolationEntry};
use isoscope::verify::verify;

/// Checks a history, compares the verdicts and has all evidence verified.
#[track_caller]
fn checked(history: &History, expected: &str) -> Findings {
    let findings = examine::check(history);
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        expected
    );
    examine::evidence(history, &findings).expect("evidence holds");
    findings
}

/// Of the evidence for a level the proof by combinations: how many there are.
fn n_combinations(findings: &Findings, level: Level) -> Option<usize> {
    let of_level = findings
        .violations
        .iter()
        .filter(|violation| violation.levels.contains(level));
    of_level
        .map(|violation| &violation.proof)
        .find_map(|proof| match proof {
            Proof::Log { excluded, .. } if !proof.is_log_of_orders() => Some(excluded.len()),
            _ => None,
        })
}

/// A read of each of these keys, each written by two transactions.
fn free(keys: std::ops::Range<usize>) -> (String, String) {
    let writers = keys
        .clone()
        .map(|key| format!("a{key}: [w f{key} 1]\nb{key}: [w f{key} 1]\n"));
    (
        writers.collect(),
        keys.map(|key| format!("r f{key} 1, ")).collect(),
    )
}

/// If the value of one key was written by one of two transactions, that of the next one was, too, and so on: of the
/// first key it was, of the last one it was not. No two reads further apart contradict, so everything is needed.
fn chain(n: usize) -> String {
    let mut text = String::new();
    for key in 0..n {
        // Who reads the next key from b has seen another version of this key that comes after that of a.
        let next = key + 1;
        text += &format!("s{key}: [w x{key} 1] [w x{next} 1, w x{key} 9]\n");
    }
    text +=
        &format!("first: [w x0 1] [w x0 8, w z 1]\nlast: [w x{n} 1] [w x{n} 8, w z 2, w y 1]\n");
    let reads: Vec<String> = (0..=n).map(|key| format!("r x{key} 1")).collect();
    text + &format!("reader: [{}, r z 1, r y 1]\n", reads.join(", "))
}

#[test]
fn reads_that_contradict_are_found_among_many_that_do_not() {
    let (writers, reads) = free(0..24);
    // Whichever transaction wrote x = 1 had overwritten y = 1.
    let text = format!(
        "{writers}s: [w y 1] [w y 1] [w x 1, w y 8] [w x 1, w y 9]\nreader: [{reads}r y 1, r x 1]\n"
    );
    checked(&common::history(&text), "++-----");
}

#[test]
fn many_free_reads_leave_a_level_satisfied() {
    let (writers, reads) = free(0..24);
    // Serializability is violated by a write skew, and nothing else is.
    let text = format!("{writers}reader: [{reads}r y 0]\np: [r x 0, w y 1]\nq: [r y 0, w x 1]\n");
    checked(&common::history(&text), "++++++-");
}

#[test]
fn a_chain_of_reads_is_shown_by_its_links() {
    let text = chain(40);
    let history = common::history(&text);
    let findings = checked(&history, "++-----");
    let n = n_combinations(&findings, Level::ReadAtomic).expect("a tree would be too deep");
    assert!((40..=44).contains(&n), "{n} combinations");
}

/// Transactions of unknown outcome, each of which found two elements in a list: one that a committed transaction appended,
/// and one of the next. So if one of them committed, the next did, too, and the first did, for it alone wrote what was read;
/// `last` is what the last one did, too. For each the values that it wrote another may have written, too.
fn chain_of_outcomes(n: usize, last: &str) -> String {
    let mut text = format!(
        "p0: [w x0 1, r l0 [1 1]]?\nb0: [a l0 1]\np{n}: [w x{n} 1, a l{} 1, {last}]?\n",
        n - 1
    );
    for p in 1..n {
        text += &format!(
            "p{p}: [w x{p} 1, a l{} 1, r l{p} [1 1]]?\nb{p}: [a l{p} 1]\n",
            p - 1
        );
    }
    let others: String = (1..=n).map(|p| format!("c{p}: [w x{p} 1]\n")).collect();
    let reads: Vec<String> = (0..=n).map(|p| format!("r x{p} 1")).collect();
    format!("{text}{others}reader: [{}]\n", reads.join(", "))
}

#[test]
fn outcomes_that_follow_from_each_other_are_shown_by_combinations() {
    checked(
        &common::history(&chain_of_outcomes(22, "r z init")),
        "+++++++",
    );
    let history = common::history(&chain_of_outcomes(22, "r z 5"));
    let findings = checked(&history, "+------");
    let n = n_combinations(&findings, Level::ReadCommitted).expect("a tree would be too large");
    assert!(n <= 100, "{n} combinations");
}

#[test]
fn evidence_by_combinations_survives_json_and_is_told() {
    let history = common::history(&chain(33));
    let findings = checked(&history, "++-----");
    let report = isoscope::report::of_findings(&history, &findings, Settings::default());
    let mut line = Vec::new();
    let document = Document::Report(Box::new(report));
    isoscope::report::to_line(&document, &mut line).expect("memory takes everything");
    let text = String::from_utf8(line).expect("JSON is text");
    let Document::Report(read) = text.parse().expect("what was written can be read") else {
        panic!("no report")
    };
    assert!(verify(&history, &read).is_ok());
    let violation = findings
        .violations
        .iter()
        .find(|v| matches!(v.proof, Proof::Log { .. }) && !v.proof.is_log_of_orders());
    let violation = violation.expect("a tree would be too deep");
    let example = counterexample::minimize(&history, violation, &isoscope::control::Control::new());
    let explanation = counterexample::explain(&example);
    let told = counterexample::narrate::plain_text(&example, &explanation, &history);
    assert!(
        told.contains("combination") && told.contains("impossible"),
        "{told}"
    );
}

#[test]
fn nothing_can_be_left_out_of_the_combinations() {
    let history = common::history(&chain(33));
    let findings = checked(&history, "++-----");
    let report = isoscope::report::of_findings(&history, &findings, Settings::default());
    let is_by_combinations =
        |v: &&ViolationEntry| matches!(v.proof, ProofEntry::Combinations { .. });
    let violation = report
        .violations
        .iter()
        .find(is_by_combinations)
        .expect("a tree would be too deep")
        .clone();
    let bare = Report {
        levels: Vec::new(),
        violations: Vec::new(),
        ..report.clone()
    };
    let is_accepted = |proof: ProofEntry| {
        let violation = ViolationEntry {
            proof,
            ..violation.clone()
        };
        let forged = Report {
            violations: vec![violation],
            ..bare.clone()
        };
        verify(&history, &forged).is_ok()
    };
    let ProofEntry::Combinations {
        options,
        excluded,
        clauses,
    } = violation.proof.clone()
    else {
        panic!("no such proof")
    };
    assert!(is_accepted(violation.proof.clone()));
    let with = |options: &[_], excluded: &[_], clauses: &[_]| ProofEntry::Combinations {
        options: options.to_vec(),
        excluded: excluded.to_vec(),
        clauses: clauses.to_vec(),
    };
    for at in 0..excluded.len() {
        let mut fewer = excluded.clone();
        fewer.remove(at);
        assert!(
            !is_accepted(with(&options, &fewer, &clauses)),
            "combination {at} is needed"
        );
        let mut another = excluded.clone();
        // The other writer of the last read that it names: together they contradict nothing.
        let last = another[at]
            .options
            .last_mut()
            .expect("none contradicts by itself");
        *last = if *last % 2 == 0 { *last - 1 } else { *last + 1 };
        assert!(
            !is_accepted(with(&options, &another, &clauses)),
            "combination {at} is another one"
        );
    }
    for at in 0..options.len() {
        let mut fewer = options.clone();
        fewer.remove(at);
        assert!(
            !is_accepted(with(&fewer, &excluded, &clauses)),
            "option {at} is needed"
        );
    }
    let wrong = [vec![vec![0]], vec![vec![i64::MAX]], vec![Vec::new()]];
    for clauses in wrong.into_iter().take(2) {
        assert!(
            !is_accepted(with(&options, &excluded, &clauses)),
            "{clauses:?}"
        );
    }
}

/// The same with lists: an element of each key was appended twice and found once. If one append made that of a key, the
/// corresponding one made that of the next key.
fn chain_of_lists(n: usize) -> String {
    let mut text = String::new();
    // b's appends are in one session, and so is a read of the first list that cannot have been after them.
    let appends: Vec<String> = (0..=n).map(|key| format!("[a x{key} 1]")).collect();
    text += &format!("b: [r x0 [1]] {}\n", appends.join(" "));
    for key in 0..n {
        let next = key + 1;
        text += &format!("a{key}: [a x{key} 1]\n");
        // Who saw b's append to the next key has seen b's append to this key.
        text += &format!("link{key}: [r x{next} [1]] [r x{key} [1]]\n");
    }
    text + &format!("a{n}: [r x{n} [1]] [a x{n} 1]\n")
}

#[test]
fn a_chain_of_lists_is_shown_by_its_links() {
    let history = common::history(&chain_of_lists(22));
    let findings = checked(&history, "+++----");
    let n = n_combinations(&findings, Level::TransactionalCausalConsistency)
        .expect("a tree would be too deep");
    assert!((22..=26).contains(&n), "{n} combinations");
    // Without the end of the chain there is a choice.
    let open = chain_of_lists(22).replace("a22: [r x22 [1]] [a x22 1]", "a22: [a x22 1]");
    checked(&common::history(&open), "+++++++");
}

/// Every transaction of unknown outcome reads from one of the next two, and the last two are torn.
fn torn_at_the_end(n: usize) -> String {
    let mut text = "w: [w z 1]\nv: [w z 2]\nreader: [r x0 1]\n".to_owned();
    for key in 0..n {
        let next = key + 1;
        text +=
            &format!("a{key}: [w x{key} 1, r x{next} 1]?\nb{key}: [w x{key} 1, r x{next} 1]?\n");
    }
    text + &format!("a{n}: [w x{n} 1, r z 1, r z 2]?\nb{n}: [w x{n} 1, r z 1, r z 2]?\n")
}

#[test]
fn cut_isolation_is_shown_to_be_violated_however_many_cases_there_are() {
    let findings = checked(&common::history(&torn_at_the_end(40)), "-+-----");
    assert!(
        findings
            .violations
            .iter()
            .all(|violation| violation.levels.contains(Level::CutIsolation))
    );
}
