//! Logs of tests that are about more than reads and writes: what they are taken for, which levels hold, and what their own
//! rules say.

use crate::common;

use fastrand::Rng;
use isoscope::audit;
use isoscope::checkers::lattice::named;
use isoscope::checkers::{Options, Verdict};
use isoscope::control::Control;
use isoscope::diagram::timeline::Timeline;
use isoscope::formats::{self, Input, Request};
use isoscope::generate::{Object, ObjectLog};
use isoscope::history::{Answer, Fact, History, NilRule, Rules, TimeoutRule, Vocabulary};
use isoscope::report::{self, Settings};
use isoscope::verify;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// A log of operations `process stage word value`, one a line.
fn log(lines: &[&str]) -> String {
    let line = |line: &&str| {
        let mut words = line.splitn(4, ' ');
        let mut next = || words.next().unwrap_or("nil");
        let (process, stage, word, value) = (next(), next(), next(), next());
        format!("{{:process {process}, :type :{stage}, :f :{word}, :value {value}}}\n")
    };
    lines.iter().map(line).collect()
}

fn read(text: &str, rules: &Rules) -> Result<History, String> {
    let request = Request {
        format: Some("elle-edn"),
        rules: Some(rules),
    };
    let input = Input::new("log.edn", text.as_bytes());
    formats::read(&input, request, &Control::new()).map_err(|error| error.to_string())
}

fn opened(lines: &[&str]) -> History {
    read(&log(lines), &Rules::default()).expect("a workload")
}

/// The verdicts `SER+ LIN-`, each with evidence that the verifier accepts.
fn verdicts(history: &History, levels: &[&str]) -> String {
    let levels = levels.iter().map(|code| named(code).expect("a level"));
    let options = Options {
        levels: levels.collect(),
        ..Options::default()
    };
    let findings = audit::check(history, &options, &Control::new(), &|_| {});
    let settings = Settings {
        witness: true,
        ..Settings::default()
    };
    let report = report::of_findings(history, &findings, settings);
    assert!(verify::verify(history, &report).is_ok(), "{report:?}");
    let sign = |verdict: &Verdict| match verdict {
        Verdict::Satisfied(_) => '+',
        Verdict::Violated => '-',
        Verdict::Undecided(_) => '?',
    };
    let results = findings.levels.iter();
    let shown: Vec<String> = results
        .map(|result| format!("{}{}", result.level, sign(&result.verdict)))
        .collect();
    shown.join(" ")
}

fn facts(history: &History) -> Vec<(&str, Vec<&str>)> {
    let facts = history
        .workload()
        .map_or(&[][..], |workload| &workload.facts);
    facts
        .iter()
        .map(|fact| (fact.name, fact.about.iter().map(String::as_str).collect()))
        .collect()
}

fn answers(history: &History) -> Vec<(&'static str, Answer)> {
    history
        .workload()
        .map_or_else(Vec::new, |workload| workload.like_jepsen.clone())
}

#[test]
fn elements_of_a_set_are_items_and_have_a_fate() {
    let history = opened(&[
        "0 invoke add 1",
        "0 ok add 1",
        "0 invoke add 2",
        "0 ok add 2",
        "1 invoke add 3",
        "1 info add 3",
        "0 invoke read nil",
        "0 ok read #{2 3 9}",
    ]);
    assert_eq!(
        facts(&history),
        [
            ("lost", vec!["1"]),
            ("unexpected", vec!["9"]),
            ("recovered", vec!["3"])
        ]
    );
    assert_eq!(answers(&history)[0], ("set", Answer::Invalid));
    assert_eq!(
        verdicts(&history, &["PL1", "PL2", "SSER"]),
        "PL1+ PL2- SSER-"
    );
    let stale = opened(&[
        "0 invoke add 1",
        "0 ok add 1",
        "1 invoke read nil",
        "1 ok read #{}",
        "1 invoke read nil",
        "1 ok read #{1}",
    ]);
    assert_eq!(facts(&stale), [("stale", vec!["1"])]);
    assert_eq!(
        answers(&stale),
        [("set", Answer::Valid), ("set-full", Answer::Valid)]
    );
    assert_eq!(verdicts(&stale, &["SER", "SSER"]), "SER+ SSER-");
}

#[test]
fn keys_around_a_workload_are_taken_off() {
    let history = opened(&[
        "0 invoke add [0 1]",
        "0 ok add [0 1]",
        "1 invoke add [1 7]",
        "1 ok add [1 7]",
        "1 invoke read [1 nil]",
        "1 ok read [1 #{}]",
        "0 invoke read [0 nil]",
        "0 ok read [0 #{1}]",
    ]);
    let workload = history.workload().expect("a set");
    assert_eq!(workload.facts[0].key.as_deref(), Some("1"));
    assert_eq!(facts(&history), [("lost", vec!["7"])]);
    assert_eq!(verdicts(&history, &["RYW", "P-SER"]), "RYW- P-SER+");
    let registers = opened(&[
        "0 invoke write [\"a\" 1]",
        "0 ok write [\"a\" 1]",
        "0 invoke cas [\"a\" [1 2]]",
        "0 ok cas [\"a\" [1 2]]",
        "1 invoke read [\"a\" nil]",
        "1 ok read [\"a\" 2]",
    ]);
    assert_eq!(verdicts(&registers, &["LIN", "SER"]), "LIN+ SER+");
    assert_eq!(registers.n_keys(), 1);
}

#[test]
fn a_lock_is_linearizable_or_not() {
    let two = [
        "0 invoke acquire nil",
        "0 ok acquire nil",
        "1 invoke acquire nil",
        "1 ok acquire nil",
    ];
    assert_eq!(verdicts(&opened(&two), &["LIN"]), "LIN-");
    assert_eq!(facts(&opened(&two)), [("two holders", vec![])]);
    let released = [
        "0 invoke acquire nil",
        "0 ok acquire nil",
        "0 invoke release nil",
        "0 info release nil",
        "1 invoke acquire nil",
        "1 ok acquire nil",
        "2 invoke acquire nil",
        "2 fail acquire nil",
    ];
    assert_eq!(verdicts(&opened(&released), &["LIN"]), "LIN+");
}

#[test]
fn what_no_items_are_is_undecided_and_has_its_rules() {
    let bank = opened(&[
        "0 ok read {0 5, 1 5}",
        "0 ok transfer {:from 0, :to 1, :amount 2}",
        "1 ok read {0 3, 1 5}",
    ]);
    assert_eq!(facts(&bank), [("wrong total", vec!["8"])]);
    assert_eq!(verdicts(&bank, &["P-PSI", "SER", "RC"]), "P-PSI- SER- RC?");
    // As reads and writes it would mean something else.
    let written = formats::write(&bank, "text", &mut Vec::new()).map_err(|error| error.to_string());
    let message = "the format text cannot express the operations of the workload `bank`";
    assert_eq!(written, Err(message.to_owned()));
    let counter = opened(&[
        "0 ok add 1",
        "0 ok add 1",
        "1 invoke read nil",
        "1 ok read 1",
    ]);
    assert_eq!(facts(&counter), [("too low", vec!["1"])]);
    let queue = opened(&[
        "0 ok enqueue 1",
        "0 ok enqueue 2",
        "1 ok dequeue 1",
        "1 ok dequeue 1",
    ]);
    assert_eq!(facts(&queue), [("lost", vec!["2"]), ("twice", vec!["1"])]);
    let ids = opened(&["0 ok generate 10", "1 ok generate 11", "0 ok generate 10"]);
    assert_eq!(facts(&ids), [("twice", vec!["10"])]);
}

#[test]
fn words_and_fields_can_be_named() {
    let text = log(&["0 ok push 1", "1 ok pop 1"]);
    let refused = read(&text, &Rules::default()).map(|_| ());
    let message = "line 2: operations `pop`, `push`: no workload has these words; nearest: queue, --word pop=dequeue --word push=enqueue";
    assert_eq!(refused, Err(message.to_owned()));
    let word = |word: &str, known: &str| (word.to_owned(), known.to_owned());
    let rules = Rules {
        vocabulary: Vocabulary {
            words: vec![word("push", "enqueue"), word("pop", "dequeue")],
            ..Vocabulary::default()
        },
        ..Rules::default()
    };
    let history = read(&text, &rules).expect("a queue");
    assert_eq!(
        history.workload().map(|workload| workload.name),
        Some("queue")
    );
}

#[test]
fn lists_that_were_there_before_the_log_are_initial_if_asked_for() {
    let lines = [
        "0 ok txn [[:r 7 [5 6]]]",
        "0 ok txn [[:append 7 31]]",
        "1 ok txn [[:r 7 [5 6 31]]]",
    ];
    let levels = ["PL1", "PL2", "SER"];
    assert_eq!(verdicts(&opened(&lines), &levels), "PL1+ PL2- SER-");
    let mut rules = Rules::default();
    rules.set("initial", "any-unwritten").expect("a rule");
    let history = read(&log(&lines), &rules).expect("lists");
    assert_eq!(verdicts(&history, &levels), "PL1+ PL2+ SER+");
    let shorter = [&lines[..], &["2 ok txn [[:r 7 [31]]]"]].concat();
    let history = read(&log(&shorter), &rules).expect("lists");
    assert_eq!(verdicts(&history, &["PL2"]), "PL2-");
}

/// All numbers and texts within a value.
fn scalars(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::Array(all) => all.iter().for_each(|one| scalars(one, found)),
        Json::Object(fields) => fields.values().for_each(|one| scalars(one, found)),
        Json::Number(number) => found.push(number.to_string()),
        Json::String(text) => found.push(text.clone()),
        Json::Null | Json::Bool(_) => {}
    }
}

/// Whether a fact of this name names all of these.
fn has_fact(history: &History, key: Option<&str>, name: &str, value: &Json) -> bool {
    let mut wanted = Vec::new();
    scalars(value, &mut wanted);
    let says = |fact: &Fact, wanted: &String| {
        fact.about.contains(wanted)
            || fact.key.as_ref() == Some(wanted)
            || fact.statement.contains(wanted.as_str())
    };
    let facts = history
        .workload()
        .map_or(&[][..], |workload| &workload.facts);
    let mut of_name = facts
        .iter()
        .filter(|fact| fact.name == name && (key.is_none() || fact.key.as_deref() == key));
    of_name.any(|fact| wanted.iter().all(|wanted| says(fact, wanted)))
}

/// A log of three clients who use a counter, a bank or a queue. Most answers are what it holds when they are given.
fn of_object(object: &str, rng: &mut Rng) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut held, mut next) = (vec![5, 5], 1);
    if object != "bank" {
        held.clear();
    }
    // So many at once that no search is needed, or ends.
    let n_clients = if object == "ones" { 12 } else { 3 };
    let mut waiting: Vec<Option<(String, String)>> = vec![None; n_clients];
    for _ in 0..rng.usize(6..16) * n_clients / 3 {
        let client = rng.usize(0..n_clients);
        let Some((word, value)) = waiting[client].take() else {
            let changes = rng.bool();
            let amount = rng.i64(1..4);
            next += 1;
            let (word, value) = match (object, changes) {
                ("counter", true) => ("add", amount.to_string()),
                ("ones", true) => ("add", "1".to_owned()),
                ("set", true) => ("add", next.to_string()),
                ("bank", true) => ("transfer", format!("{{:from 0, :to 1, :amount {amount}}}")),
                ("queue", true) => ("enqueue", next.to_string()),
                ("queue", false) => ("dequeue", "nil".to_owned()),
                _ => ("read", "nil".to_owned()),
            };
            match (word, value.as_str()) {
                ("add", _) if object == "set" => held.push(next),
                ("add", _) if object == "ones" => held.push(1),
                ("add", _) => held.push(amount),
                ("transfer", _) => held = vec![held[0] - amount, held[1] + amount],
                ("enqueue", _) => held.push(next),
                _ => {}
            }
            if rng.u8(0..8) > 0 {
                lines.push(format!("{client} invoke {word} {value}"));
            }
            waiting[client] = Some((word.to_owned(), value));
            continue;
        };
        let wrong = i64::from(rng.u8(0..8) == 0);
        let value = match (object, word.as_str()) {
            ("set", "read") => {
                let mut seen = held.clone();
                if rng.u8(0..3) == 0 && !seen.is_empty() {
                    seen.remove(rng.usize(0..seen.len()));
                }
                format!("{seen:?}").replace('[', "#{").replace(']', "}")
            }
            ("counter" | "ones", "read") => (held.iter().sum::<i64>() - wrong).to_string(),
            ("bank", "read") => format!("{{0 {}, 1 {}}}", held[0], held[1] - wrong),
            ("queue", "dequeue") if held.is_empty() => "nil".to_owned(),
            ("queue", "dequeue") if wrong == 1 => held[0].to_string(),
            ("queue", "dequeue") => held.remove(rng.usize(0..held.len())).to_string(),
            _ => value,
        };
        let stage = if rng.u8(0..10) == 0 { "info" } else { "ok" };
        lines.push(format!("{client} {stage} {word} {value}"));
    }
    lines
}

#[test]
fn what_failed_for_want_of_time_may_have_happened_if_that_is_said() {
    let write = |error: &str| {
        let begin = "{:process 0, :type :invoke, :f :txn, :value [[:w :x 1]]}\n";
        let end =
            format!("{{:process 0, :type :fail, :f :txn, :value [[:w :x 1]], :error {error}}}\n");
        let read = "{:process 1, :type :invoke, :f :txn, :value [[:r :x nil]]}\n\
            {:process 1, :type :ok, :f :txn, :value [[:r :x 1]]}\n";
        format!("{begin}{end}{read}")
    };
    let mut rules = Rules::default();
    let said = |text: &str, rules: &Rules| verdicts(&read(text, rules).expect("a log"), &["PL2"]);
    let (late, refused) = (write("[:read-timed-out]"), write(":conflict"));
    assert_eq!(said(&late, &rules), "PL2-");
    rules.vocabulary.failed_timeouts = TimeoutRule::Unknown;
    assert_eq!(said(&late, &rules), "PL2+");
    assert_eq!(said(&refused, &rules), "PL2-");
}

#[test]
fn what_only_readers_show_has_writers_outside_of_the_log() {
    let read = |process: u8, one: &str, other: &str| {
        let value = format!("[[:r 1 {one}] [:r 2 {other}]]");
        format!("{{:process {process}, :type :ok, :f :read, :value {value}}}\n")
    };
    let fork = read(0, "1", "nil") + &read(1, "nil", "1");
    let opened = |input: Input<'_>| {
        let history = formats::read(&input, None, &Control::new());
        verdicts(&history.expect("reads"), &["PL2", "P-PSI", "P-PC"])
    };
    let input = Input::new("", fork.as_bytes());
    assert_eq!(opened(input), "PL2+ P-PSI+ P-PC-");
    assert_eq!(opened(input.as_part()), "PL2- P-PSI- P-PC-");
    // A name after numbers.
    let named = read(0, "10", "nil") + &read(1, "0", ":x");
    assert_eq!(
        opened(Input::new("", named.as_bytes())),
        "PL2+ P-PSI+ P-PC+"
    );
}

#[test]
fn numbers_of_a_log_can_be_axes() {
    let line = |n: usize, lsn: &str| {
        format!(
            "{{:process {n}, :type :ok, :f :txn, :value [[:w {n} 1]], :lsn {lsn}, :node \"n1\"}}\n"
        )
    };
    let text = line(0, "5") + &line(1, "2.25") + &line(2, "40");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("history.edn");
    std::fs::write(&path, text).expect("a file");
    let history = formats::open(&path, None, &Control::new()).expect("a history");
    let numbers = formats::fields::numbers(&history, &Control::new());
    assert_eq!(numbers.keys().collect::<Vec<_>>(), ["lsn"]);
    let axis = Timeline::of_numbers(&history, "lsn", &numbers["lsn"], &Control::new());
    let axis = axis.expect("an axis");
    let at: Vec<String> = history
        .transactions()
        .filter_map(|t| axis.number_of(t))
        .collect();
    assert_eq!(at, ["lsn 5.00", "lsn 2.25", "lsn 40.00"]);
}

#[test]
fn nil_is_absent_or_not_known() {
    let lines = [
        "0 invoke write 1",
        "0 ok write 1",
        "1 invoke read nil",
        "1 ok read nil",
    ];
    assert_eq!(verdicts(&opened(&lines), &["LIN"]), "LIN-");
    let mut rules = Rules::default();
    rules.vocabulary.nil = NilRule::Unknown;
    let history = read(&log(&lines), &rules).expect("a register");
    assert_eq!(verdicts(&history, &["LIN"]), "LIN+");
}

#[test]
fn an_answer_follows_the_one_before_to_its_client() {
    let late = opened(&["0 ok add 1", "0 ok read 0"]);
    assert_eq!(verdicts(&late, &["SSER"]), "SSER-");
    let overlap = |lines: &[&str]| {
        let line = |line: &&str| {
            format!(
                "{{:type :{}}}\n",
                line.replacen(' ', ", :f :", 1)
                    .replacen(" =", ", :value ", 1)
            )
        };
        let text: String = lines.iter().map(line).collect();
        read(&text, &Rules::default())
    };
    let fits = overlap(&[
        "invoke add =1",
        "invoke add =2",
        "ok add =1",
        "ok add =2",
        "invoke read =nil",
        "ok read =3",
    ]);
    assert_eq!(
        verdicts(&fits.expect("answers that fit"), &["SSER"]),
        "SSER+"
    );
    let either = overlap(&[
        "invoke read =nil",
        "invoke add =1",
        "ok add =1",
        "invoke read =nil",
        "ok read =0",
        "ok read =1",
    ]);
    let message = "operations without a `process` overlap, and this answer fits several of them";
    assert!(either.is_err_and(|error| error.contains(message)));
}

#[test]
fn a_queue_is_in_order_if_that_is_said() {
    let begin = [
        "0 invoke enqueue 1",
        "0 ok enqueue 1",
        "0 invoke enqueue 2",
        "0 ok enqueue 2",
    ];
    let one = ["1 invoke dequeue nil", "1 ok dequeue 1"];
    let two = ["1 invoke dequeue nil", "1 ok dequeue 2"];
    let swapped = [&begin[..], &two, &one].concat();
    assert_eq!(verdicts(&opened(&swapped), &["LIN"]), "LIN+");
    let rules = Rules {
        vocabulary: Vocabulary {
            workload: Some("fifo-queue".to_owned()),
            ..Vocabulary::default()
        },
        ..Rules::default()
    };
    let history = read(&log(&swapped), &rules).expect("a queue");
    assert_eq!(verdicts(&history, &["LIN"]), "LIN-");
    assert_eq!(facts(&history), [("no order", vec![])]);
    let history = read(&log(&[&begin[..], &one, &two].concat()), &rules).expect("a queue");
    assert_eq!(verdicts(&history, &["LIN"]), "LIN+");
}

/// What is decided while a log is read is decided again by the verifier: it finds or replays an order, or finds none.
#[test]
fn both_searches_for_an_order_agree() {
    let mut rng = Rng::with_seed(60);
    for object in ["counter", "ones", "bank", "queue"] {
        let mut found = [0, 0];
        for _ in 0..400 {
            let lines = of_object(object, &mut rng);
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let Ok(history) = read(&log(&lines), &Rules::default()) else {
                continue;
            };
            let is_it = history
                .workload()
                .is_some_and(|workload| workload.name == object.replace("ones", "counter"));
            if !is_it {
                continue;
            }
            match verdicts(&history, &["SER", "SSER"]).as_str() {
                "SER+ SSER+" => found[0] += 1,
                "SER? SSER-" | "SER- SSER-" => found[1] += 1,
                // A bank whose accounts no read shows.
                "SER? SSER?" if object == "bank" || object == "queue" => {}
                other => panic!("{other}: {lines:?}"),
            }
        }
        assert!(found[0] > 50 && found[1] > 15, "{object}: {found:?}");
    }
}

/// Generated logs have an order, those with something planted are seen to be wrong, and a copy in any notation says the same.
#[test]
fn generated_logs_are_what_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    for (object, seed) in Object::ALL
        .iter()
        .flat_map(|object| (0..12).map(move |n| (*object, n)))
    {
        for is_faulty in [false, true] {
            let log = ObjectLog {
                object,
                seed,
                clients: 4,
                operations: 60,
                is_faulty,
            };
            let edn = log.edn();
            let history = read(&edn, &Rules::default()).expect("a log");
            let workload = history.workload().expect("its own rules");
            let context = format!("{object} {seed} {is_faulty}");
            assert_eq!(workload.name, object.name(), "{context}");
            assert_eq!(
                workload.is_broken(),
                is_faulty,
                "{context}: {:?}",
                facts(&history)
            );
            if !is_faulty {
                assert_eq!(verdicts(&history, &["SSER"]), "SSER+", "{context}");
            }
            let path = folder.path().join("history.edn");
            std::fs::write(&path, &edn).expect("a file");
            for notation in ["elle-edn", "elle-json", "csv"] {
                let request = || Request::from(None);
                let copied = formats::copy(&path, request(), &history, notation, &Control::new());
                let copied = copied.expect(&context).expect("a log");
                let text = copied.bytes().expect("a file").to_vec();
                let again = Input::new("", &text);
                let again = formats::read(&again, Some(notation), &Control::new());
                assert_eq!(facts(&again.expect("a log")), facts(&history), "{context}");
            }
        }
    }
}

/// Where a set has more reads and elements than items are made of, the reads have to be a chain, and say the same.
#[test]
fn large_sets_are_decided_like_small_ones() {
    const MANY: usize = 2_900;
    let mut rng = Rng::with_seed(63);
    let mut found = BTreeSet::new();
    for _ in 0..60 {
        let lines = of_object("set", &mut rng);
        let element = |line: &String| line.rsplit(' ').next().map(str::to_owned);
        let adds = lines.iter().filter(|line| line.contains(" add "));
        let all: BTreeSet<String> = adds.filter_map(element).collect();
        let all: Vec<String> = all.into_iter().collect();
        if all.is_empty() {
            continue;
        }
        // The log may lack an addition altogether, which no order explains.
        let reads = lines.iter().filter_map(|line| line.split_once('{'));
        let mut seen = reads.flat_map(|(_, seen)| seen.trim_end_matches('}').split(", "));
        if !seen.all(|one| one.is_empty() || all.iter().any(|added| added == one)) {
            continue;
        }
        let read = [
            "9 invoke read nil".to_owned(),
            format!("9 ok read #{{{}}}", all.join(" ")),
        ];
        let of = |n: usize| {
            let reads = (0..n).flat_map(|_| read.clone());
            let more = (0..n - 1).map(|at| format!("8 ok add {}", 1_000 + at));
            let lines: Vec<String> = lines.iter().cloned().chain(reads).chain(more).collect();
            opened(&lines.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let levels = ["P-PC", "SSER"];
        let (small, large) = (verdicts(&of(1), &levels), verdicts(&of(MANY), &levels));
        let expected = match small.as_str() {
            "P-PC+ SSER-" => "P-PC? SSER-",
            same => same,
        };
        assert_eq!(large, expected, "{lines:?}");
        found.insert(large);
    }
    assert_eq!(found.len(), 3, "{found:?}");
}

/// Small files in the words of public test suites, each with what is right.
#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn what_testers_bring_is_understood() {
    let folder = common::corpus().with_file_name("workloads");
    let expected = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    let expected: serde_json::Map<String, Json> = serde_json::from_str(&expected).expect("JSON");
    assert!(expected.len() > 50);
    let mut n_copies = 0;
    for (file, wanted) in &expected {
        let opened = formats::open(&folder.join(file), None, &Control::new());
        if let Some(refused) = wanted["refused"].as_str() {
            let message = opened.map(|_| ()).expect_err(file).to_string();
            let beginning: String = refused.chars().take(40).collect();
            assert!(message.contains(&beginning), "{file}: {message}");
            continue;
        }
        let history = opened.unwrap_or_else(|error| panic!("{file}: {error}"));
        let decides_levels = history
            .workload()
            .is_none_or(|workload| workload.no_levels.is_none());
        for (sign, field) in [('-', "V"), ('+', "S")] {
            let codes = wanted["levels"][field].as_str().unwrap_or_default();
            for code in codes
                .split_whitespace()
                .filter(|code| decides_levels || *code == "LIN")
            {
                assert_eq!(
                    verdicts(&history, &[code]),
                    format!("{code}{sign}"),
                    "{file}"
                );
            }
        }
        let has_level = |field: &str| {
            let codes = wanted["levels"][field].as_str().unwrap_or_default();
            let mut codes = codes.split_whitespace();
            codes.any(|code| matches!(code, "LIN" | "LIN_as_a_bag" | "SSER"))
        };
        if let Some(workload) = history.workload()
            && workload.no_levels.is_some()
            // Maelstrom looks at final sums only.
            && workload.name != "pn-counter"
            && (has_level("V") || has_level("S"))
        {
            assert_eq!(
                workload.is_broken(),
                has_level("V"),
                "{file}: {:?}",
                facts(&history)
            );
        }
        for (name, value) in wanted["own"].as_object().into_iter().flatten() {
            let is_found = match value.as_object() {
                _ if name == "there before the log" => continue,
                Some(of_key) if name.chars().all(|c| c.is_ascii_digit()) => of_key
                    .iter()
                    .all(|(inner, value)| has_fact(&history, Some(name), inner, value)),
                _ => has_fact(&history, None, name, value),
            };
            assert!(is_found, "{file}: {name} {value}: {:?}", facts(&history));
        }
        for (rule, answer) in answers(&history) {
            let wanted = match &wanted["jepsen"] {
                Json::Object(rules) => rules.get(rule).and_then(Json::as_bool),
                wanted => wanted.as_bool(),
            };
            if let Some(valid) = wanted {
                assert_eq!(answer, Answer::valid_if(valid), "{file}: {rule}");
            }
        }
        // A copy means the same, or there is none: some notations cannot say it.
        for notation in ["elle-edn", "elle-json", "csv"] {
            let path = folder.join(file);
            let copied = formats::copy(
                &path,
                Request::from(None),
                &history,
                notation,
                &Control::new(),
            );
            n_copies += usize::from(matches!(copied, Ok(Some(_))));
        }
    }
    assert!(n_copies > 100, "{n_copies}");
}
