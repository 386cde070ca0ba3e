//! What operations mean in whatever format they come: failed compare-and-sets, keys in fields of their own, reads that ended before
//! the writers of their values began, logs in which nothing was tested, numbers that are read as text.

use crate::common::examine;
use isoscope::audit;
use isoscope::checkers::{Findings, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats::{self, Input, Request};
use isoscope::health::{self, Health, Kind};
use isoscope::history::{History, Rules};
use isoscope::relations::resolve;
use isoscope::report::Settings;
use std::io::Write;
use std::process::{Command, Stdio};

/// Reads a file of this name by these choices, each as the name of a rule and a word.
fn read(name: &str, text: &str, choices: &[(&str, &str)]) -> Result<History, String> {
    let mut rules = Rules::default();
    choices
        .iter()
        .try_for_each(|(rule, word)| rules.set(rule, word))?;
    let request = Request {
        format: None,
        rules: Some(&rules),
    };
    let history = formats::read(&Input::new(name, text.as_bytes()), request, &Control::new());
    history.map_err(|error| error.to_string())
}

fn opened(name: &str, text: &str, choices: &[(&str, &str)]) -> History {
    read(name, text, choices).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Decides these levels; the verifier accepts the evidence.
fn checked(history: &History, levels: &[Level]) -> Findings {
    let options = Options {
        levels: levels.to_vec(),
        ..Options::default()
    };
    let findings = audit::check(history, &options, &Control::new(), &|_| {});
    let report = isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    examine::believed(history, &report).unwrap_or_else(|problem| panic!("{problem}"));
    findings
}

fn holds(findings: &Findings, level: Level) -> bool {
    matches!(
        findings.level(level).expect("it was asked for").verdict,
        Verdict::Satisfied(_)
    )
}

fn examined(history: &History) -> Health {
    let resolution = resolve(history, &Control::new()).expect("no limit was set");
    health::examine(history, &resolution, &Control::new()).expect("no limit was set")
}

/// The exit code and the output of the program that is given this file.
fn isoscope(arguments: &[&str], text: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut program = command.spawn().expect("the program starts");
    program
        .stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("it reads its input");
    let output = program.wait_with_output().expect("the program ends");
    let said = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8(bytes).expect("text"))
        .concat();
    (output.status.code().expect("an exit code"), said)
}

const LIN: Level = Level::Linearizability;

/// A register that is 3 when a compare-and-set from 3 fails.
const FAILED_CAS: &str = "\
{:process 0, :type :invoke, :f :write, :value 3}
{:process 0, :type :ok, :f :write, :value 3}
{:process 1, :type :invoke, :f :cas, :value [3 4]}
{:process 1, :type :fail, :f :cas, :value [3 4]}
{:process 0, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :read, :value 3}
";

#[test]
fn a_failed_compare_and_set_did_not_happen_unless_it_is_an_observation() {
    let said = |history: &History, words: &str| {
        history
            .assumptions()
            .iter()
            .any(|sentence| sentence.contains(words))
    };
    let condition = |history: &History| {
        let findings = checked(history, &[LIN]);
        (
            holds(&findings, LIN),
            findings
                .level(LIN)
                .and_then(|result| result.condition(history)),
        )
    };
    let dropped = opened("a.edn", FAILED_CAS, &[]);
    assert!(
        said(&dropped, "failed and did not happen") && dropped.figures().aborted == 1,
        "{:?}",
        dropped.assumptions()
    );
    let (is_satisfied, rests_on) = condition(&dropped);
    assert!(is_satisfied && rests_on.is_some_and(|it| it.contains("--failed-cas observed")));

    let observed = opened("a.edn", FAILED_CAS, &[("failed-cas", "observed")]);
    assert!(said(&observed, "observed another value") && observed.figures().aborted == 0);
    let (is_satisfied, rests_on) = condition(&observed);
    assert!(!is_satisfied && rests_on.is_some_and(|it| it.contains("--failed-cas dropped")));

    // The same words in an etcd log of Porcupine are an observation.
    let lines = FAILED_CAS.lines().map(|line| {
        let words: Vec<&str> = line.trim_matches(['{', '}']).splitn(4, ", ").collect();
        let word = |place: usize| {
            words[place]
                .split_once(' ')
                .expect("a field and its value")
                .1
        };
        format!(
            "INFO  jepsen.util - {}\t{}\t{}\t{}\n",
            word(0),
            word(1),
            word(2),
            word(3)
        )
    });
    let log: String = lines.collect();
    let (is_satisfied, rests_on) = condition(&opened("a.log", &log, &[]));
    assert!(!is_satisfied && rests_on.is_some());
    assert!(condition(&opened("a.log", &log, &[("failed-cas", "dropped")])).0);

    // Nothing hangs on one that failed while the register had another value, nor where the rest is violated anyway.
    let other = FAILED_CAS.replace("[3 4]", "[5 4]");
    assert_eq!(condition(&opened("a.edn", &other, &[])), (true, None));
    let stale = FAILED_CAS.replace(":ok, :f :read, :value 3", ":ok, :f :read, :value nil");
    assert_eq!(
        condition(&opened("a.edn", &stale, &[("failed-cas", "observed")])),
        (false, None)
    );
    let (code, output) = isoscope(&["check", "-", "--level", "LIN"], FAILED_CAS);
    assert!(
        code == 0 && output.contains("(if failed compare-and-sets did not happen;"),
        "{output}"
    );
}

/// Two registers, each named in a field, and three clients.
const KEYS: &str = r#"
[{"type":"invoke","f":"write","key":"register-8","value":83,"client":3,"time":10},
 {"type":"ok","f":"write","key":"register-8","value":83,"client":3,"time":20},
 {"type":"invoke","f":"write","key":"register-2","value":47,"client":2,"time":30},
 {"type":"ok","f":"write","key":"register-2","value":47,"client":2,"time":40},
 {"type":"invoke","f":"read","key":"register-8","client":4,"time":50},
 {"type":"ok","f":"read","key":"register-8","value":83,"client":4,"time":60}]"#;

#[test]
fn the_key_and_the_client_of_an_operation_may_have_fields_of_their_own() {
    let history = opened("a.json", KEYS, &[]);
    assert_eq!((history.n_keys(), history.n_sessions()), (2, 3));
    let findings = checked(&history, &Level::ALL);
    assert!(Level::ALL.into_iter().all(|level| holds(&findings, level)));
    // The answer need not repeat the key; it may not name another one; and none may lack it where others have it.
    let silent = KEYS.replace(
        r#""ok","f":"read","key":"register-8","#,
        r#""ok","f":"read","#,
    );
    assert_eq!(opened("a.json", &silent, &[]).n_keys(), 2);
    let other = KEYS.replace(
        r#""ok","f":"read","key":"register-8","#,
        r#""ok","f":"read","key":"register-2","#,
    );
    assert!(
        read("a.json", &other, &[])
            .is_err_and(|error| error.starts_with("line 7: this operation has another `key`"))
    );
    let none = silent.replace(
        r#""f":"read","key":"register-8","client""#,
        r#""f":"read","client""#,
    );
    assert!(
        read("a.json", &none, &[]).is_err_and(|error| error.contains("has no `key`")),
        "{none}"
    );
    // What is not understood is named.
    let table = KEYS.replace(r#""time""#, r#""index":1,"table":"t","time""#);
    let history = opened("a.json", &table, &[]);
    let unread = history
        .assumptions()
        .iter()
        .find(|sentence| sentence.starts_with("Fields of operations"));
    assert!(
        unread.is_some_and(|it| it.contains("`table`") && !it.contains("index")),
        "{:?}",
        history.assumptions()
    );
    // EDN has the same fields; a process goes before a client.
    let edn = "{:type :ok :f :write :key [:a 1] :value 1 :client 7}\n{:type :ok :f :write :key :b :value 1 :client 7 :process 8}";
    let history = opened("a.edn", edn, &[]);
    assert_eq!((history.n_keys(), history.n_sessions()), (2, 2));
}

/// The first read returns 0, the only write of which begins much later and fails.
const EARLY_READ: &str = "\
{:process 0, :type :invoke, :f :read, :value nil, :time 1}
{:process 0, :type :ok, :f :read, :value 0, :time 2}
{:process 1, :type :invoke, :f :write, :value 5, :time 3}
{:process 1, :type :ok, :f :write, :value 5, :time 4}
{:process 0, :type :invoke, :f :read, :value nil, :time 5}
{:process 0, :type :ok, :f :read, :value 5, :time 6}
{:process 2, :type :invoke, :f :write, :value 0, :time 7}
{:process 2, :type :fail, :f :write, :value 0, :time 8}
";

#[test]
fn a_read_that_had_ended_before_its_only_writer_began_did_not_read_from_it() {
    let pattern = |history: &History| {
        let findings = checked(history, &Level::of(history));
        assert!(
            !holds(&findings, Level::ReadCommitted),
            "the value came from nowhere"
        );
        findings
            .patterns
            .keys()
            .map(|pattern| pattern.id())
            .next()
            .expect("a pattern")
    };
    let history = opened("a.edn", EARLY_READ, &[]);
    assert_eq!(pattern(&history), "TAP-a");
    let hint = examined(&history)
        .doubts()
        .find_map(|finding| finding.remedy.clone())
        .expect("a hint");
    assert_eq!(hint.flag(), "--initial any-unwritten");
    let history = opened("a.edn", EARLY_READ, &[("initial", "any-unwritten")]);
    let findings = checked(&history, &Level::of(&history));
    assert!(
        Level::of(&history)
            .into_iter()
            .all(|level| holds(&findings, level)),
        "0 was there before"
    );
    // An aborted read it stays where the two overlap, where times do not count, and where another writer came earlier.
    let late = EARLY_READ.replacen(":time 2}", ":time 9}", 1);
    let lines: Vec<&str> = late.lines().collect();
    let overlap = [0, 2, 3, 6, 7, 1].map(|line| lines[line]).join("\n");
    assert_eq!(pattern(&opened("a.edn", &overlap, &[])), "TAP-b");
    assert_eq!(
        pattern(&opened("a.edn", EARLY_READ, &[("times", "ignore")])),
        "TAP-b"
    );
    let earlier =
        "{:process 3, :type :invoke, :f :write, :value 0, :time 0}\n".to_owned() + EARLY_READ;
    let earlier = earlier + "{:process 3, :type :fail, :f :write, :value 0, :time 9}\n";
    assert_eq!(pattern(&opened("a.edn", &earlier, &[])), "TAP-b");
    // Elements of lists are no different.
    let list = "\
{:process 0, :type :invoke, :value [[:r x nil]], :time 1}
{:process 0, :type :ok, :value [[:r x [1]]], :time 2}
{:process 1, :type :invoke, :value [[:append x 1]], :time 3}
{:process 1, :type :fail, :value [[:append x 1]], :time 4}
";
    assert_eq!(pattern(&opened("a.edn", list, &[])), "TAP-a");
    assert_eq!(
        pattern(&opened("a.edn", list, &[("times", "ignore")])),
        "TAP-b"
    );
    // With a horizon or without, what follows such a file says the same.
    let (code, output) = isoscope(&["check", "--follow", "-"], EARLY_READ);
    assert!(code == 1 && !output.contains("disagreement"), "{output}");
}

#[test]
fn where_nothing_was_tested_no_level_counts_as_satisfied() {
    let none = "\
{:type :invoke, :value [[:w 1 1]], :process 0, :time 1}
{:type :info, :value [[:w 1 1]], :process 0, :time 2, :error :timeout}
{:type :invoke, :value [[:r 1 nil]], :process 1, :time 3}
{:type :fail, :value [[:r 1 nil]], :process 1, :time 4, :error :conflict}
";
    let (code, output) = isoscope(&["check", "-"], none);
    assert!(
        code == 3 && output.contains("nothing was tested") && output.contains("SER   satisfied"),
        "{output}"
    );
    assert_eq!(isoscope(&["check", "-", "--allow-empty"], none).0, 0);
    let (code, report) = isoscope(&["check", "-", "--json"], none);
    assert!(code == 3 && report.contains("\"tested\":false"), "{report}");
    let tested = |text: &str| examined(&opened("a.txt", text, &[])).is_tested();
    let cases = [
        ("a: [w x 1]", false),
        ("a: [w x 1] [w x 2]", false),
        ("a: [r x init]\nb: [r x init]", false),
        ("a: [r x ?]\nb: [w x 1]", false),
        ("a: [r x 1]\nb: [w x 1]?", true),
        ("a: [r x 1]\nb: [w x 1]", true),
    ];
    for (text, expected) in cases {
        assert_eq!(tested(text), expected, "{text}");
    }
    // A violation is one, however little there is.
    assert_eq!(isoscope(&["check", "-"], "a: [r x 1]").0, 1);
    let few: String = (0..60)
        .map(|n| format!("s{n}: [w x {}]{}\n", n + 1, if n < 2 { "" } else { "!" }))
        .collect();
    let health = examined(&opened("a.txt", &(few + "r: [r x 1]\n"), &[]));
    // Three of 61 committed.
    assert!(health.is_tested() && health.finding(Kind::FewCommitted).is_none());
    let few: String = (0..80)
        .map(|n| format!("s{n}: [w x {}]{}\n", n + 1, if n < 2 { "" } else { "!" }))
        .collect();
    let health = examined(&opened("a.txt", &(few + "r: [r x 1]\n"), &[]));
    assert!(health.is_tested() && health.finding(Kind::FewCommitted).is_some());
}

#[test]
fn numbers_that_are_read_as_text_are_told_and_can_be_taken_as_equal() {
    let json = r#"
[{"type":"invoke","f":"txn","value":[["w","x",5]],"process":0,"time":1,"index":0},
 {"type":"ok","f":"txn","value":[["w","x",5]],"process":0,"time":2,"index":1},
 {"type":"invoke","f":"txn","value":[["r","x",null]],"process":1,"time":3,"index":2},
 {"type":"ok","f":"txn","value":[["r","x","5"]],"process":1,"time":4,"index":3}]"#;
    let (code, output) = isoscope(&["check", "-"], json);
    assert!(
        code == 2 && output.lines().count() == 1 && output.contains("--values text"),
        "{output}"
    );
    let levels = Level::WITHOUT_TIMES;
    let history = opened("a.json", json, &[("values", "text")]);
    let findings = checked(&history, &levels);
    assert!(levels.into_iter().all(|level| holds(&findings, level)));
    let history = opened("a.json", json, &[("values", "exact")]);
    assert!(!holds(&checked(&history, &levels), Level::ReadCommitted));
    // Lists of keywords that come back as strings.
    let edn = "{:type :ok :process 0 :value [[:append x :a]]}\n{:type :ok :process 1 :value [[:r x [\"a\"]]]}";
    assert!(read("a.edn", edn, &[]).is_err_and(|error| error.contains(":a and \"a\"")));
    assert!(holds(
        &checked(&opened("a.edn", edn, &[("values", "text")]), &levels),
        Level::Serializability
    ));
    // One read as it was written, or one of something else, and the file means what it says.
    for more in [
        r#",{"type":"ok","f":"txn","value":[["w","y",7],["r","y",7]],"process":2,"time":6}]"#,
        r#",{"type":"ok","f":"txn","value":[["w","x",7]],"process":2,"time":5},{"type":"ok","f":"txn","value":[["r","x",7]],"process":3,"time":6}]"#,
        r#",{"type":"ok","f":"txn","value":[["r","x","6"]],"process":2,"time":6}]"#,
    ] {
        assert!(
            read("a.json", &json.replace("}]", &format!("}}{more}")), &[]).is_ok(),
            "{more}"
        );
    }
}
