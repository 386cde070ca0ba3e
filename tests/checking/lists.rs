//! Histories of lists: the engines against brute force, with evidence that the verifier accepts.

use crate::common;

use common::examine;
use common::forgeries;
use common::instances::all_listed;
use common::lists::{history_of_elements, history_of_lists};
use common::oracle::{self, LEVELS};
use common::papers;
use common::random::{Shape, for_histories};
use common::sketch::Sketch;
use isoscope::checkers::{Level, Pattern, Proof, Verdict};
use isoscope::control::Control;
use isoscope::counterexample::{self, case_tree, narrate};
use isoscope::formats;
use isoscope::history::{Builder, OperationKind, Origin, Outcome, Value};
use isoscope::relations::Relation;

/// Histories per shape in the ordinary run.
const LISTS: u64 = 12_000;

/// Most choices of writers that brute force is asked to go through where elements repeat.
const MOST_COMBINATIONS: usize = 300;

/// Few enough writers of each element for the oracle.
const REPEATING: Shape = Shape {
    transactions: 5,
    operations: 4,
    keys: 2,
    sessions: 4,
    repeated_values: false,
    clean: false,
};

fn look_at(sketch: &Sketch) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(
        sketch.fresh_value() ^ (sketch.transactions().count() as u64) << 8,
    );
    let history = history_of_lists(sketch, &mut rng);
    let text = || {
        let line = |t| {
            let operations: Vec<String> = history
                .operations_of(t)
                .map(|o| history.operation_text(o))
                .collect();
            format!(
                "  {} {:?}: {}\n",
                history.transaction_name(t),
                history.outcome(t),
                operations.join(", ")
            )
        };
        history.transactions().map(line).collect::<String>()
    };
    let findings = examine::check(&history);
    let expected = oracle::verdicts(&history).map(Some);
    let verdicts = examine::engine_verdicts(&findings);
    let ambiguous = findings
        .levels
        .iter()
        .any(|r| matches!(r.verdict, Verdict::Undecided(_)));
    if verdicts != expected && !ambiguous {
        let (engine, oracle) = (examine::signs(verdicts), examine::signs(expected));
        return Err(format!("engine {engine}\noracle {oracle}\n{}", text()));
    }
    examine::hierarchy(verdicts)?;
    examine::evidence(&history, &findings).map_err(|problem| format!("{problem}\n{}", text()))?;
    papers::compare(&history, &papers::PAPERS)
        .map_err(|problem| format!("{problem}\n{}", text()))?;
    Ok(())
}

#[test]
fn engine_and_oracle_agree_on_lists() {
    for_histories(Shape::SMALL, LISTS, look_at);
}

#[test]
fn engine_and_oracle_agree_on_lists_of_almost_valid_stores() {
    for_histories(Shape::CLEAN, LISTS, look_at);
}

#[test]
fn counterexamples_of_lists_violate_their_level_with_evidence() {
    for_histories(Shape::SMALL, LISTS / 8, |sketch| {
        let mut rng = fastrand::Rng::with_seed(sketch.fresh_value());
        let history = history_of_lists(sketch, &mut rng);
        let findings = examine::check(&history);
        for violation in findings.violations.iter().take(4) {
            let example = isoscope::audit::minimize(&history, violation, &Control::new());
            let operations = |t| {
                example
                    .history
                    .operations_of(t)
                    .map(|o| example.history.operation_text(o))
            };
            let problem = |what: String| {
                let line = |t| format!("  {:?}\n", operations(t).collect::<Vec<_>>());
                let text: String = example.history.transactions().map(line).collect();
                Err(format!(
                    "{}: counterexample to {} {what}\n{text}",
                    violation.id, example.level
                ))
            };
            let place = LEVELS
                .iter()
                .position(|level| *level == example.level)
                .ok_or("a level without times")?;
            if oracle::verdicts(&example.history)[place] {
                return problem("violates nothing".to_owned());
            }
            if let Err(what) =
                examine::evidence(&example.history, &examine::check(&example.history))
            {
                return problem(what);
            }
        }
        Ok(())
    });
}

#[test]
fn of_two_longest_lists_that_differ_the_one_that_most_others_agree_with_counts() {
    let writers =
        "d: [a x 1, a x 2, a x 3] [r x [1 2 3], a x 4, r x [1 2 3 4]]\nw: [a x 5, a x 6]\n";
    let readers = ["c: [r x [1 3 2 4 5 6]]\n", "e: [r x [1 2 3 4 5 6]]\n"];
    for [first, then] in [readers, [readers[1], readers[0]]] {
        let history = formats::text::parse(&format!("{first}{writers}{then}")).expect("right");
        let found = examine::check(&history).patterns;
        assert_eq!(
            found.get(&Pattern::IncompatibleOrder),
            Some(&1),
            "{first}{then}{found:?}"
        );
    }
}

#[test]
fn what_is_counted_of_lists_is_listed() {
    for_histories(REPEATING, LISTS / 20, |sketch| {
        let mut rng = fastrand::Rng::with_seed(sketch.fresh_value());
        let several = rng.u64(2..9);
        let plain = history_of_lists(sketch, &mut rng);
        let repeating = history_of_elements(
            sketch,
            &mut rng,
            &|number| Value(1 + number % several),
            false,
        );
        // Where elements repeat, what is told of cut isolation and of the levels above it is two lists.
        [(&plain, 1), (&plain, 1000), (&repeating, 1000)]
            .into_iter()
            .try_for_each(|(history, most)| {
                all_listed(history, most).map_err(|problem| format!("{most}: {problem}"))
            })
    });
}

/// A history in which elements repeat: verdicts at RC and up against brute force, evidence, counterexamples.
fn look_at_repeated(sketch: &Sketch) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(
        sketch.fresh_value() ^ (sketch.transactions().count() as u64) << 8,
    );
    let n_elements = rng.u64(1..5);
    let with_times = rng.bool();
    let element = |number: u64| Value(1 + number % n_elements);
    let history = history_of_elements(sketch, &mut rng, &element, with_times);
    let mut bytes = Vec::new();
    formats::write(&history, "text", &mut bytes).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    if oracle::Observation::of(&history).n_combinations() > MOST_COMBINATIONS {
        return Ok(());
    }
    let findings = examine::check(&history);
    let mut expected = oracle::verdicts(&history).map(Some);
    let verdicts = examine::engine_verdicts(&findings);
    expected[0] = verdicts[0];
    if verdicts != expected {
        let (engine, oracle) = (examine::signs(verdicts), examine::signs(expected));
        return Err(format!(
            "engine {engine}\noracle {oracle}\n{}{text}",
            examine::undecided(&findings)
        ));
    }
    if let Some(result) = findings.level(Level::StrictSerializability) {
        let expected = oracle::strictly_serializable(&history);
        let fits = match result.verdict {
            Verdict::Satisfied(_) => expected,
            Verdict::Violated => !expected,
            // Nothing is said where the clock contradicts the sessions.
            Verdict::Undecided(_) => false,
        };
        if !fits {
            return Err(format!(
                "engine {:?}\noracle {expected}\n{text}",
                result.verdict
            ));
        }
    }
    examine::hierarchy(verdicts)?;
    examine::evidence(&history, &findings).map_err(|problem| format!("{problem}\n{text}"))?;
    forgeries::refused(&history, &findings, verdicts)
        .map_err(|problem| format!("{problem}\n{text}"))?;
    if rng.u8(0..8) > 0 {
        return Ok(());
    }
    for violation in findings.violations.iter().take(2) {
        let example = isoscope::audit::minimize(&history, violation, &Control::new());
        let small = examine::check(&example.history);
        let about = |problem: String| {
            format!(
                "{}: counterexample to {}: {problem}\n{text}",
                violation.id, example.level
            )
        };
        if small
            .level(example.level)
            .is_none_or(|result| result.verdict != Verdict::Violated)
        {
            return Err(about("does not violate it".to_owned()));
        }
        examine::evidence(&example.history, &small).map_err(about)?;
        let explanation = counterexample::explain(&example);
        let told = counterexample::narrate::plain_text(&example, &explanation, &history);
        if !told.contains("impossible") && !told.contains("must abort one") {
            return Err(about(format!("the story has no end\n{told}")));
        }
        examine::alone(&example.history, small.levels.clone(), &example.violation)
            .map_err(|problem| about(format!("{problem}\n{told}")))?;
        let tree = case_tree(&example.history, &example.violation);
        let is_divided =
            matches!(&example.violation.proof, Proof::Cases { cases, .. } if !cases.is_empty());
        if is_divided && tree.is_none_or(|tree| tree.leaves().count() == 0) {
            return Err(about("its cases are not told".to_owned()));
        }
    }
    Ok(())
}

#[test]
fn engine_and_oracle_agree_on_lists_with_repeated_elements() {
    for_histories(REPEATING, LISTS / 2, look_at_repeated);
}

#[test]
fn engine_and_oracle_agree_on_lists_with_repeated_elements_of_almost_valid_stores() {
    for_histories(
        Shape {
            transactions: 6,
            ..Shape::CLEAN
        },
        LISTS / 2,
        look_at_repeated,
    );
}

/// `a key` with an element, or `r key` with a list.
type Step<'a> = (&'a str, &'a [u64]);

/// A history of lists, a transaction a session, with the verdicts and patterns expected of it.
fn expect(operations: &[(&str, &[Step<'_>])], verdicts: &str, patterns: &[Pattern]) {
    let mut builder = Builder::new(Origin::default());
    for (session, transactions) in operations {
        let session = builder.session_name(session);
        let draft = builder.transaction(session, Outcome::Committed);
        for (what, numbers) in *transactions {
            let (letter, key) = what.split_once(' ').expect("a letter and a key");
            let key = builder.key_name(key);
            let values: Vec<Value> = numbers.iter().copied().map(Value).collect();
            match letter {
                "a" => builder.operation(draft, OperationKind::Write, key, values[0], 0),
                _ => builder.list_read(draft, key, &values, 0),
            }
        }
    }
    let history = builder.finish().expect("small");
    let findings = examine::check(&history);
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        verdicts
    );
    assert_eq!(
        findings.patterns.keys().copied().collect::<Vec<_>>(),
        patterns
    );
    assert_eq!(LEVELS.len(), verdicts.len());
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn a_cycle_of_versions_alone_violates_read_committed() {
    expect(
        &[
            ("a", &[("a x", &[1]), ("a y", &[1])]),
            ("b", &[("a x", &[2]), ("a y", &[2])]),
            ("c", &[("r x", &[1, 2])]),
            ("d", &[("r y", &[2, 1])]),
        ],
        "+------",
        &[Pattern::VersionOrderCycle],
    );
}

#[test]
fn lists_that_are_no_prefixes_of_each_other_violate_read_committed() {
    expect(
        &[
            ("a", &[("a x", &[1])]),
            ("b", &[("a x", &[2])]),
            ("c", &[("r x", &[1, 2])]),
            ("d", &[("r x", &[2])]),
        ],
        "+------",
        &[Pattern::IncompatibleOrder],
    );
}

#[test]
fn own_appends_are_the_tail_of_what_is_read() {
    expect(
        &[
            ("a", &[("a x", &[1])]),
            (
                "b",
                &[
                    ("a x", &[2]),
                    ("r x", &[1, 2]),
                    ("a x", &[3]),
                    ("r x", &[1, 2, 3]),
                ],
            ),
        ],
        "+++++++",
        &[],
    );
    // Without the other transaction's element b did not see it, and both appended: a lost update.
    expect(
        &[
            ("a", &[("r x", &[]), ("a x", &[1])]),
            ("b", &[("a x", &[2]), ("r x", &[2])]),
            ("c", &[("r x", &[1, 2])]),
        ],
        "+++++--",
        &[Pattern::Divergence, Pattern::LostUpdate],
    );
}

#[test]
fn whose_append_stands_in_a_wrong_list_took_part_too() {
    // The own append of a is not the end of what it read, which violates read committed. But b's appends stand in that list,
    // so b committed, and its reads are torn: that violates cut isolation. A list without them says nothing of b.
    for (list, expected) in [("[1 2 3 6 1]", "-------"), ("[1 6 1]", "+------")] {
        let text =
            format!("c: [a x 1]\na: [a x 6, r x {list}]\nb: [r x [], a x 2, r x [1 2], a x 3]?\n");
        let history = formats::text::parse(&text).expect("a history in our notation");
        let findings = examine::check(&history);
        assert_eq!(
            examine::signs(examine::engine_verdicts(&findings)),
            expected,
            "{text}"
        );
        assert_eq!(
            examine::signs(oracle::verdicts(&history).map(Some)),
            expected,
            "{text}"
        );
        examine::evidence(&history, &findings).expect("evidence holds");
    }
}

#[test]
fn own_appends_of_elements_that_others_appended_too_say_where_they_belong() {
    // Case by case: whichever transaction appended the first 1, a's and c's own come third, each in its own list of three.
    let text =
        "initial: none\na: [a x 1, r x [1 1 1]] [a x 1]\nb: [a x 1]\nc: [a x 1, r x [1 1 1]]\n";
    let history = formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+------"
    );
    assert_eq!(
        examine::signs(oracle::verdicts(&history).map(Some)),
        "+------"
    );
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn an_element_twice_in_a_list_violates_read_committed() {
    expect(
        &[("a", &[("a x", &[1])]), ("b", &[("r x", &[1, 1])])],
        "+------",
        &[Pattern::DuplicateElement],
    );
    // What is next to the second one is no intermediate read of its writer.
    let writers = [("a x", &[1][..]), ("a x", &[2])];
    expect(
        &[
            ("a", &writers),
            ("b", &[("a x", &[3])]),
            ("c", &[("r x", &[1, 2, 1, 3])]),
        ],
        "+------",
        &[Pattern::DuplicateElement],
    );
}

#[test]
fn own_appends_do_not_say_which_append_of_another_was_read() {
    // Before its own appends each reader found the element 2 in the end, or 1. Whichever transaction appended that appended the
    // reader's last own element, too. All of them overwrote it, or come later in the session.
    let refuted = [
        "a: [a x 2, a x 1] [a x 1, r x [2 1]] [a x 2]\n",
        "a: [a x 2, a x 3, a x 1] [r x [2 3], a x 2, r x [2 3 1 3 2], a x 3]? \
            [a x 1, r x [2 3 1 1], r x [2 3 1 2 1], a x 2]\n",
        "a: [a y 2, a y 3, r y [1 1 2 2 3], a y 1] [a y 2, r y [2 3 1 3 2], a y 3, r y [2 3 1 2 3]]? [a y 1, a y 2]\n",
    ];
    for text in refuted {
        let history = formats::text::parse(&format!("initial: none\n{text}"))
            .expect("a history in our notation");
        let findings = examine::check(&history);
        assert_eq!(
            examine::signs(examine::engine_verdicts(&findings)),
            "+------",
            "{text}"
        );
        assert_eq!(
            examine::signs(oracle::verdicts(&history).map(Some))[1..],
            *"------",
            "{text}"
        );
        examine::evidence(&history, &findings)
            .unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    }
    let history = formats::text::parse(refuted[0]).expect("a history in our notation");
    let findings = examine::check(&history);
    let example = counterexample::minimize(&history, &findings.violations[0], &Control::new());
    let explanation = counterexample::explain(&example);
    let told = counterexample::narrate::markdown(&example, &explanation, &history);
    for sentence in [
        "Only a1 and a3 may have written the 2 that a2 read of key x before its own elements: one of them did",
        "whose last element before a2's own a3 appended.",
    ] {
        assert!(told.contains(sentence), "{sentence}\n{told}");
    }
    // b found a's second append and missed its y. What c read violates read committed whichever appends made the elements,
    // so they are not distinguished.
    let text = "a: [a x 1, a x 2, w y 5]\nb: [a x 1, r x [1 2 1], r y init]\nc: [r z 9]\n";
    let history = formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+------",
        "{text}"
    );
    let edges = findings
        .violations
        .iter()
        .flat_map(|violation| &violation.edges);
    let of_lists = edges.filter(|edge| {
        edge.relation == Relation::WriteRead
            && edge.key.is_some_and(|key| history.lists().is_list(key))
    });
    let read: Vec<String> = of_lists
        .filter_map(|edge| edge.from_operation)
        .map(|write| history.operation_text(write))
        .collect();
    assert!(
        !read.is_empty() && read.iter().all(|write| write == "append(x) 2"),
        "{read:?}"
    );
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn an_element_that_a_transaction_appended_twice_has_no_neighbours_of_its_own() {
    // What is next to the second 1 is not what is next to the first.
    for list in [
        "a: [a x 1, a x 2, a x 1]\nb: [r x [1 2 1]]\n",
        "a: [a x 3, a x 1, a x 2, a x 1]\nb: [r x [3 1 2 1]]\n",
    ] {
        let history = formats::text::parse(list).expect("a history in our notation");
        assert_eq!(
            forgeries::accepted_reads(&history, &[Level::ReadCommitted]),
            [""; 0],
            "{list}"
        );
    }
    // Of elements that were appended once the neighbours are known.
    let history = formats::text::parse("a: [a x 1, a x 2, a x 3]\nb: [r x [1 3]]\n")
        .expect("a history in our notation");
    let accepted = forgeries::accepted_reads(&history, &[Level::ReadCommitted]);
    let expected =
        ["TAP-f RC r(x) = [1 3]", "IncompatibleOrder RC r(x) = [1 3]"].map(|claim| [claim; 2]);
    assert_eq!(accepted, expected.concat());
}

/// Serial histories in which an element is appended more than once: which append made it is not said, so nothing may be
/// called violated.
const REPEATED: [&str; 7] = [
    "a: [a x 1] [a x 2] [a x 1]\nb: [r x [1 2]]\n",
    "a: [r x [1], a x 4]\nb: [a x 1] [r x [1 4], a x 1]\n",
    "a: [a x 1]\nb: [r x [1], a x 2] [r x [1 2]]\nc: [a x 1]?\n",
    "a: [a x 1]?\nb: [a x 1] [a x 2]\nc: [r x [1 2]]\n",
    "a: [a x 2, r x [2]] [a x 2, r x [2 2]]\n",
    "a: [r x [], a x 1] [r x [1], a x 1] [r x [1 1]]\n",
    "a: [a x 3, a x 4, a x 3] [r x [3 4 3]]\n",
];

#[test]
fn elements_that_were_appended_more_than_once_are_no_fault() {
    for text in REPEATED {
        let history = isoscope::formats::text::parse(text).expect("a history in our notation");
        let findings = examine::check(&history);
        let violated = findings
            .levels
            .iter()
            .filter(|result| result.verdict == Verdict::Violated);
        assert_eq!(
            violated.map(|result| result.level).collect::<Vec<_>>(),
            Vec::<Level>::new(),
            "{text}"
        );
        assert!(findings.violations.is_empty(), "{text}");
    }
    let text = "a: [a x 1] [a x 1]\nb: [r x [1 1 1]]\n";
    let history = isoscope::formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    let patterns: Vec<Pattern> = findings.patterns.keys().copied().collect();
    assert_eq!(
        patterns,
        [Pattern::DuplicateElement],
        "three times, though appended twice"
    );
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn appends_that_exclude_each_other_end_a_case() {
    // Supposed that b appended what a's first transaction found first, two lists each leave the next place to the other's
    // reader: which of the two is told first makes no difference.
    let by_reads = "initial: none\na: [r x [1 1]] [r x [1 1], r x [], a x 1, r x [1 1]]? [r x [1 1], a x 1] \
        [r x [1 1], r x [1]]\nb: [a x 1, r x [1]]\n";
    // Here an edge belongs to such a case only.
    let by_edges = "initial: none\na: [a x 1, r x [1 1], r y [1 1 1 1], a y 1]\n\
        b: [a y 1, a x 1, a y 1] [r x [1], r y [1 1 1], r y [1 1]]\nc: [a y 1, r y [1 1 1], a y 1]\n";
    for text in [by_reads, by_edges] {
        let history = formats::text::parse(text).expect("a history in our notation");
        let findings = examine::check(&history);
        assert_eq!(
            examine::signs(examine::engine_verdicts(&findings))[1..],
            *"------",
            "{text}"
        );
        examine::evidence(&history, &findings).expect("evidence holds");
    }
}

#[test]
fn who_certainly_took_part_distinguishes_elements_next_to_a_read_that_no_transaction_answered() {
    // The transaction that appended the 1 that a's first transaction read from y overwrote it or came later. In the case in which that
    // transaction appended the first element of x it took part, so that its two lists tell who appended to y.
    let text = "initial: none\na: [r y [1], r y [1 1 1], a x 1]? [a x 1, a y 1, a y 1]? \
        [r y [1], r x [1 1 1 1], a x 1, r y [1 1]]? [a x 1, a y 1, r x [1 1 1 1], a x 1]\n";
    let history = formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+------"
    );
    assert_eq!(
        examine::signs(oracle::verdicts(&history).map(Some))[1..],
        *"------"
    );
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn a_counterexample_says_no_more_of_repeated_elements_than_the_whole_does() {
    // A lost update; read committed is not violated by it or by any part of it.
    let text = "a: [a x 1]\nc: [r x [1], a x 2]\nb: [r x [1 2], a x 1]\nd: [r x [1 2], a x 3]\n";
    let history = isoscope::formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    for violation in &findings.violations {
        let example = isoscope::audit::minimize(&history, violation, &Control::new());
        let small = examine::check(&example.history);
        for level in [Level::CutIsolation, Level::ReadCommitted] {
            let verdict = small.level(level).map(|result| &result.verdict);
            assert_ne!(
                verdict,
                Some(&Verdict::Violated),
                "{} at {level}",
                violation.id
            );
        }
    }
}

#[test]
fn a_counterexample_shows_lists_as_they_were_recorded() {
    // Only the aborted append matters, yet the read returned two elements.
    let text = "a: [a x 1]\nb: [a x 5]!\nc: [r x [1 5]]\n";
    let history = formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    let violation = findings
        .violations
        .iter()
        .find(|v| v.id.pattern == Pattern::AbortedRead)
        .expect("an aborted read");
    let example = counterexample::minimize(&history, violation, &Control::new());
    assert_eq!(example.history.n_transactions(), 2);
    let text = narrate::plain_text(&example, &counterexample::explain(&example), &history);
    assert!(text.contains("[1 5]") && !text.contains("[5]"), "{text}");
    // What it means is what is left of it.
    let small = examine::check(&example.history);
    assert_eq!(
        small.patterns.get(&Pattern::AbortedRead),
        Some(&1),
        "{:?}",
        small.patterns
    );

    let appended: Vec<String> = (1..=60).map(|n| format!("[a x {n}]")).collect();
    let read: Vec<String> = (1..=60).map(|n| n.to_string()).collect();
    let text = format!(
        "a: {}\nb: [a x 61]!\nc: [r x [{} 61]]\n",
        appended.join(" "),
        read.join(" ")
    );
    let history = formats::text::parse(&text).expect("a history in our notation");
    let findings = examine::check(&history);
    let violation = findings
        .violations
        .iter()
        .find(|v| v.id.pattern == Pattern::AbortedRead)
        .expect("an aborted read");
    let example = counterexample::minimize(&history, violation, &Control::new());
    let text = narrate::plain_text(&example, &counterexample::explain(&example), &history);
    assert!(text.contains("[1 … 59 more … 61]"), "{text}");
}

#[test]
fn what_is_removed_with_an_append_is_said_of_lists_that_end_with_own_appends_too() {
    let said = |text: &str| {
        let history = formats::text::parse(text).expect("a history in our notation");
        let findings = examine::check(&history);
        let violation = findings
            .violations
            .iter()
            .find(|v| v.id.pattern == Pattern::LostUpdate)
            .expect("a lost update");
        counterexample::size(&counterexample::minimize(
            &history,
            violation,
            &Control::new(),
        ))
    };
    let own = said("c: [a l 1]\na: [a l 5, r l [1 5]]\nb: [a l 8, r l [1 8]]\n");
    let rule = "lists that end with it go, and so do those in which only their reader's own appends follow it)";
    assert!(
        own.contains("fewer than these 3 transactions") && own.contains(rule),
        "{own}"
    );
    let others = said("c: [a l 1]\na: [r l [1], a l 5]\nb: [r l [1], a l 8]\n");
    assert!(
        others.contains("a removed append leaves every list; lists that end with it go)"),
        "{others}"
    );
}
