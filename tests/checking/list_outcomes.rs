//! Lists in which elements repeat, read by transactions of unknown outcome, and values that several transactions wrote, so that
//! it is open at once who committed, who wrote what was read, and which append made an element: the engines against brute
//! force, with evidence that the verifier accepts.

use crate::common;

use common::examine;
use common::forgeries;
use common::oracle;
use common::random::for_seeds;
use isoscope::checkers::{Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::history::History;
use std::fmt::Write;

/// Histories of each kind in the ordinary run.
const HISTORIES: u64 = 4_000;

/// Most choices of writers that brute force is asked to go through.
const MOST_COMBINATIONS: usize = 100;

/// Verdicts at all levels as brute force has them, and evidence for each that the verifier accepts, also alone.
fn look_at(text: &str) -> Result<String, String> {
    let history = common::history(text);
    if oracle::Observation::of(&history).n_combinations() > MOST_COMBINATIONS {
        return Ok(String::new());
    }
    let findings = examine::check(&history);
    let verdicts = examine::engine_verdicts(&findings);
    let mut expected = oracle::verdicts(&history).map(Some);
    // At cut isolation an element counts as that of everybody who appended it.
    expected[0] = verdicts[0];
    let signs = examine::signs(verdicts);
    if verdicts != expected {
        return Err(format!(
            "engine {signs}\noracle {}",
            examine::signs(expected)
        ));
    }
    examine::hierarchy(verdicts)?;
    examine::evidence(&history, &findings)?;
    let options = Options {
        levels: Level::of(&history),
        ..Options::default()
    };
    let audited = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
    if examine::engine_verdicts(&audited) != verdicts {
        return Err(format!(
            "audited {}",
            examine::signs(examine::engine_verdicts(&audited))
        ));
    }
    forgeries::refused(&history, &findings, verdicts)?;
    for violation in findings.violations.iter().take(2) {
        is_told(&history, violation).map_err(|problem| format!("{}: {problem}", violation.id))?;
    }
    Ok(signs)
}

/// The counterexample to a violation violates its level, too, its evidence holds, and its story has an end.
fn is_told(history: &History, violation: &isoscope::checkers::Violation) -> Result<(), String> {
    let example = isoscope::audit::minimize(history, violation, &Control::new());
    let small = examine::check(&example.history);
    if small
        .level(example.level)
        .is_none_or(|result| result.verdict != Verdict::Violated)
    {
        return Err(format!(
            "its counterexample does not violate {}",
            example.level
        ));
    }
    examine::evidence(&example.history, &small)?;
    let explanation = counterexample::explain(&example);
    let told = counterexample::narrate::plain_text(&example, &explanation, history);
    if !told.contains("impossible") && !told.contains("must abort one") {
        return Err(format!("the story has no end\n{told}"));
    }
    examine::alone(&example.history, small.levels, &example.violation)
        .map_err(|problem| format!("{problem}\n{told}"))
}

#[track_caller]
fn expect(text: &str, signs: &str) {
    assert_eq!(
        look_at(text).unwrap_or_else(|problem| panic!("{problem}\n{text}")),
        signs,
        "{text}"
    );
    let by_force = oracle::verdicts(&common::history(text)).map(Some);
    assert_eq!(examine::signs(by_force), signs, "brute force\n{text}");
}

/// If the second transaction of session b committed, the one after it reads x = init although an x was written before it in
/// its session: read atomic is violated. If it did not, the third one did, for a read x = 1; but
/// then l = [1 1] needs two appends before it, and only that of the committed transaction is left. Read committed holds if
/// both committed.
#[test]
fn a_list_needs_an_append_of_one_who_cannot_have_committed() {
    expect(
        "a: [r x 1]\nb: [a l 1, w x 1]? [a l 1, r x init] [r l [1 1], w x 1]?\n",
        "++-----",
    );
}

/// The y = 1 that b read is c's, which wrote z, too, and then b read z = init: read committed is violated. Or it is a's. Then
/// a saw c's second append, for it read q = 1, and its l = [1] has one element: the first append (then it read the one key
/// from before a transaction and another key from it, and read atomic is violated), or the second one (then the first comes
/// later, against session order). Read committed holds then: a read l before q.
#[test]
fn a_list_is_too_short_for_what_its_reader_saw() {
    let reader = "[r l [1], r q 1, w y 1]";
    let others = "b: [r y 1, r z init]\nc: [a l 1] [a l 1, w q 1] [w y 1, w z 1]\n";
    expect(&format!("a: {reader}?\n{others}"), "++-----");
    expect(&format!("a: {reader}\n{others}"), "++-----");
    // If it aborted, only the first case is left.
    expect(&format!("a: {reader}!\n{others}"), "+------");
}

/// The x = 1 that b read is c's, and then c read x = init after it had written x. Or it is a's. Then a committed, and
/// before its own append it found two elements in l: one of them b appended after it had read from a, and the two read from
/// each other. Either way read committed is violated.
#[test]
fn a_list_has_an_element_of_one_who_read_from_its_reader() {
    expect(
        "a: [w x 1, a l 2, r l [1 1 2]]?\nb: [a l 1] [r x 1, a l 1]\nc: [w x 1, r x init]?\n",
        "+------",
    );
}

/// Of the two appends of 1 that a's third transaction read, one is not a's second: a's fourth, which comes later in the
/// session, or b's. Then b committed, so the transaction that wrote the x = 2 that b read did, too: neither of a's last two, of which
/// one read from b, and the other comes after it. And if a's first committed, its l = 2 was missed.
#[test]
fn who_appended_within_a_list_committed_and_so_did_its_writers() {
    let reader = "[r l [1 1], w x 2, a m 1]";
    expect(
        &format!(
            "a: [a l 2, w x 2]? [a l 1, a m 2] {reader} [a l 1, w x 2]?\nb: [r x 2, a m 2, a l 1]?\n"
        ),
        "+------",
    );
}

/// Everything is satisfied if b read from c and a did not commit, and also if a committed and c's first append was the only
/// one that it saw: then a comes between c's first and second transaction, before c's third wrote y.
#[test]
fn a_witness_places_a_list_among_equal_elements() {
    expect(
        "a: [r l [1], w y 1]?\nb: [r y 1]\nc: [a l 1, r y init] [a l 1] [w y 1]\n",
        "+++++++",
    );
}

/// What is left of an anomaly of this history says that a transaction committed of which the verifier knows that it did not,
/// since a list has one of its three appends only. The whole, which the verifier accepts, is shown instead.
#[test]
fn a_part_that_the_verifier_refuses_is_not_shown() {
    let readers = "a: [r z 1, r l [1]] [w z 1]? [r l [], w y 1] [r y 1, a l 1, w z 1]?";
    let history = common::history(&format!(
        "initial: none\n{readers}\nb: [a l 1, a l 1, a l 1]?\n"
    ));
    let findings = examine::check(&history);
    let control = Control::new();
    let minimizer = counterexample::Minimizer::new(&history, &control);
    let minimizer = minimizer.unwrap_or_else(|_| panic!("nothing stops it"));
    let refused = |v: &&isoscope::checkers::Violation| {
        let parts = [
            minimizer.minimize(v, &control),
            minimizer.itself(v, &control),
        ];
        parts.iter().any(|part| !isoscope::audit::holds(part))
    };
    assert!(
        findings
            .violations
            .iter()
            .any(|violation| refused(&violation))
    );
    for violation in &findings.violations {
        let shown = isoscope::audit::minimize(&history, violation, &Control::new());
        assert!(isoscope::audit::holds(&shown), "{}", violation.id);
        let shown = isoscope::audit::Examples::new(&history, &findings);
        let shown = shown.itself(violation, &Control::new());
        assert!(
            isoscope::audit::holds(&shown.counterexample),
            "{}",
            violation.id
        );
    }
}

/// Sessions of transactions as text, one operation a string; the mark of the outcome after each.
struct Script {
    sessions: Vec<Vec<(Vec<Step>, char)>>,
}

/// An operation. Keys are x, y, z, or the lists l, m.
#[derive(Clone, Debug)]
enum Step {
    Read(usize, Option<u64>),
    Write(usize, u64),
    List(usize, Vec<u64>),
    Append(usize, u64),
}

const REGISTERS: [&str; 3] = ["x", "y", "z"];
const LISTS: [&str; 2] = ["l", "m"];

impl Script {
    fn text(&self) -> String {
        let mut text = "initial: none\n".to_owned();
        for (transactions, name) in self.sessions.iter().zip(["a", "b", "c", "d"]) {
            write!(text, "{name}:").expect("memory takes everything");
            for (steps, mark) in transactions {
                let steps: Vec<String> = steps.iter().map(Step::text).collect();
                write!(text, " [{}]{}", steps.join(", "), mark.to_string().trim())
                    .expect("memory takes everything");
            }
            text.push('\n');
        }
        text
    }

    fn steps_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        self.sessions
            .iter_mut()
            .flatten()
            .flat_map(|(steps, _)| steps)
    }
}

impl Step {
    fn text(&self) -> String {
        match self {
            Step::Read(key, None) => format!("r {} init", REGISTERS[*key]),
            Step::Read(key, Some(value)) => format!("r {} {value}", REGISTERS[*key]),
            Step::Write(key, value) => format!("w {} {value}", REGISTERS[*key]),
            Step::Append(key, value) => format!("a {} {value}", LISTS[*key]),
            Step::List(key, elements) => {
                let elements: Vec<String> = elements.iter().map(u64::to_string).collect();
                format!("r {} [{}]", LISTS[*key], elements.join(" "))
            }
        }
    }
}

/// What a store holds, or what a transaction sees of it.
#[derive(Clone, Default)]
struct State {
    registers: [Option<u64>; 3],
    lists: [Vec<u64>; 2],
}

/// Few values and elements, written by few transactions one after the other in a store in which half of those of unknown
/// outcome took effect; some see an older state. Then a few reads change, so that what explains one of them excludes what
/// explains another.
fn script(rng: &mut fastrand::Rng, n_transactions: usize) -> Script {
    let n_sessions = rng.usize(2..=4);
    let (n_registers, n_lists) = (rng.usize(1..=3), rng.usize(1..=2));
    let n_values = rng.u64(1..=2);
    let unknown_of_eight = rng.usize(2..=5);
    let stale = rng.bool();
    let mut sessions: Vec<Vec<(Vec<Step>, char)>> = vec![Vec::new(); n_sessions];
    let mut states = vec![State::default()];
    for _ in 0..n_transactions {
        let back = if stale && rng.u8(0..3) == 0 {
            rng.usize(0..=1)
        } else {
            0
        };
        let mut seen = states[states.len() - 1 - back.min(states.len() - 1)].clone();
        let mut after = states[states.len() - 1].clone();
        let mut steps = Vec::new();
        for _ in 0..rng.usize(1..=3) {
            let (register, list) = (rng.usize(0..n_registers), rng.usize(0..n_lists));
            let value = rng.u64(1..=n_values);
            steps.push(match rng.u8(0..8) {
                0..2 => Step::Read(register, seen.registers[register]),
                2..4 => {
                    seen.registers[register] = Some(value);
                    after.registers[register] = Some(value);
                    Step::Write(register, value)
                }
                4..6 => Step::List(list, seen.lists[list].clone()),
                _ => {
                    seen.lists[list].push(value);
                    after.lists[list].push(value);
                    Step::Append(list, value)
                }
            });
        }
        let is_unknown = rng.usize(0..8) < unknown_of_eight;
        if !is_unknown || rng.bool() {
            states.push(after);
        }
        let session = rng.usize(0..n_sessions);
        sessions[session].push((steps, if is_unknown { '?' } else { ' ' }));
    }
    let mut script = Script { sessions };
    for _ in 0..[0, 1, 1, 2, 3][rng.usize(0..5)] {
        change(&mut script, rng, n_values);
    }
    script
}

/// A read returns something else, or a transaction moves.
fn change(script: &mut Script, rng: &mut fastrand::Rng, n_values: u64) {
    let mut reads: Vec<&mut Step> = script
        .steps_mut()
        .filter(|step| matches!(step, Step::Read(..) | Step::List(..)))
        .collect();
    if reads.is_empty() || rng.u8(0..6) == 0 {
        let (from, to) = (
            rng.usize(0..script.sessions.len()),
            rng.usize(0..script.sessions.len()),
        );
        if let Some(moved) = script.sessions[from].pop() {
            let place = rng.usize(0..=script.sessions[to].len());
            script.sessions[to].insert(place, moved);
        }
        return;
    }
    let place = rng.usize(0..reads.len());
    match &mut *reads[place] {
        Step::Read(_, value) => *value = Some(rng.u64(0..=n_values)).filter(|value| *value > 0),
        Step::List(_, elements) => match rng.u8(0..4) {
            0 => drop(elements.pop()),
            1 if !elements.is_empty() => drop(elements.remove(rng.usize(0..elements.len()))),
            _ => elements.insert(rng.usize(0..=elements.len()), rng.u64(1..=n_values)),
        },
        Step::Write(..) | Step::Append(..) => {}
    }
}

fn look_at_seed(seed: u64, n_transactions: usize) -> Result<(), String> {
    let text = script(&mut fastrand::Rng::with_seed(seed), n_transactions).text();
    look_at(&text)
        .map(drop)
        .map_err(|problem| format!("{text}{problem}"))
}

#[test]
fn a_counterexample_keeps_what_rules_a_writer_out() {
    // b1 overwrote its x = 1, so b4 read that of b2; without what b1 wrote over it, either may be meant.
    let text = "a: [r l [], r x 2, w x 2]?\n\
                b: [w x 1, w x 2]? [w x 1]? [w x 2, r x init] [r l [], r x 1, w x 2]\n";
    look_at(text).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn who_appended_the_end_of_a_list_that_lacks_own_appends_is_not_said_where_it_is_open() {
    // The last 1 of a1's list may be that of a2 or of b1.
    let text = "a: [a l 1, a l 2, r l [1 1]]? [a l 1]? [a l 2, r l [1 2 1 2]]\nb: [a l 1]\n";
    expect(text, "+------");
    let findings = examine::check(&common::history(text));
    let of_reads = |v: &&isoscope::checkers::Violation| v.id.pattern.id() == "TAP-d";
    let violation = findings
        .violations
        .iter()
        .find(of_reads)
        .expect("it lacks own appends");
    assert!(violation.edges.is_empty(), "{violation:?}");
}

#[test]
fn a_read_is_told_of_who_would_have_committed_in_a_case_that_cannot_be() {
    // c2 commits only where its 1 is the first of a2's list, which a3's own list excludes.
    let text = "a: [a l 1, w x 1, r l [1]]? [r l [1 1 1], r x 1] [r l [1 1 1], a l 1, r y init]?\n\
                c: [w y 1, r l [1]]? [r x 1, a l 1, r y 1]?\n";
    look_at(text).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn a_part_is_named_by_what_it_shows_without_the_reads_that_are_left_out() {
    // Without its list c2 saw a1 only by reading x twice, which is another anomaly than the one that is chosen.
    let text = "a: [r l [], w x 2, a l 2]\n\
                b: [r x init]? [r x init, r l [], r x init] [r x 2, r l [2], r x 2]\n\
                c: [w x 1] [r x 2, r x 1, r l [2]]\n";
    look_at(text).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn what_is_drawn_of_a_list_that_no_appends_make_holds() {
    // No 1 but a1's can be the last element of a2's list, which has two.
    let text = "a: [a l 2, w x 1, a l 1] [w x 2, r l [2 1 1]]?\n\
                c: [w x 2, a l 2]? [r l [2 1], w y 2]? [r x 2, r l [2 1], r l [2 1]]\n";
    look_at(text).unwrap_or_else(|problem| panic!("{problem}"));
    let text = "a: [a l 1, a l 2, r x init]? [a l 2, w x 2, w x 2]? [r l [1 2], r x 2] [w x 2, r l [1 2 2]]?\n\
                b: [r x init, w x 2, r l [1 2 1]]?\n";
    look_at(text).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn a_part_has_the_other_names_that_it_shows() {
    let text = "initial: none\n\
                a: [r x 1, r l []]? [w x 1, r x 1]\n\
                b: [r l [], r l []]?\n\
                d: [w x 1]? [a l 2, w x 1, r l [2]]? [r x init, r l [2 2], a l 2]\n";
    look_at(text).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn engine_and_oracle_agree_where_outcomes_elements_and_writers_are_open() {
    for_seeds(HISTORIES, |seed| look_at_seed(seed, 5));
}

#[test]
fn engine_and_oracle_agree_on_a_few_more_transactions() {
    for_seeds(HISTORIES / 4, |seed| look_at_seed(seed, 6));
}
