//! Real histories of Jepsen, Elle and Porcupine. They are not part of the repository; without them these tests say so and
//! pass.

use crate::common;

use isoscope::control::Control;
use isoscope::formats::{self, Input};
use isoscope::history::{History, Outcome, Statistics};
use serde_json::Value as Json;
use std::path::Path;

/// The entries of the manifest whose format is one of `formats`.
fn entries(corpus: &Path, wanted: &[&str]) -> Vec<Json> {
    let manifest =
        std::fs::read_to_string(corpus.join("manifest.json")).expect("the corpus has a manifest");
    let manifest: Vec<Json> = serde_json::from_str(&manifest).expect("the manifest is JSON");
    manifest
        .into_iter()
        .filter(|entry| {
            entry["format"]
                .as_str()
                .is_some_and(|f| wanted.contains(&f))
        })
        .collect()
}

fn open(corpus: &Path, name: &str) -> Result<History, String> {
    formats::open(&corpus.join(name), None, &Control::new()).map_err(|error| error.to_string())
}

/// Outcomes and operations of all transactions, session by session.
fn content(history: &History) -> Vec<String> {
    let text = |t| {
        let operations: Vec<_> = history
            .operations_of(t)
            .map(|o| history.operation_text(o))
            .collect();
        format!(
            "{} {:?} {operations:?}",
            history.session_of(t).0,
            history.outcome(t)
        )
    };
    history.transactions().map(text).collect()
}

/// Of each transaction whose end is known: how many of other sessions began after it had ended.
fn precedence(history: &History) -> Vec<usize> {
    let mut starts: Vec<i64> = history
        .transactions()
        .filter_map(|t| history.interval(t))
        .map(|i| i.start)
        .collect();
    starts.sort_unstable();
    let later = |t| {
        let end = history
            .interval(t)
            .filter(|_| history.outcome(t) != Outcome::Unknown)?
            .end;
        let session = history
            .transactions_of(history.session_of(t))
            .filter_map(|u| history.interval(u));
        let own = session.filter(|interval| interval.start > end).count();
        Some(starts.len() - starts.partition_point(|start| *start <= end) - own)
    };
    history.transactions().filter_map(later).collect()
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn histories_of_elle_have_the_counts_of_the_manifest_and_survive() {
    let corpus = common::corpus();
    let mut checked = 0;
    for entry in entries(&corpus, &["elle-edn", "elle-json"]) {
        let name = entry["name"].as_str().expect("entries have names");
        if entry["transactional"] == Json::Bool(false) {
            continue;
        }
        let history = open(&corpus, name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            Some(history.origin().format),
            entry["format"].as_str(),
            "{name}"
        );
        let (figures, statistics) = (history.recorded(), Statistics::of(&history));
        let empty = history
            .transactions()
            .filter(|&t| history.operation_range(t).is_empty())
            .count();
        let counted = [
            ("sessions", figures.sessions),
            ("txns", figures.transactions),
            ("aborted_txns", figures.aborted),
            ("unknown_txns", figures.unknown),
            ("empty_txns", empty),
            ("ops", figures.operations),
            ("reads", statistics.reads),
            ("writes", statistics.writes),
            ("keys", figures.keys),
        ];
        for (field, count) in counted {
            assert_eq!(
                entry[field].as_u64().unwrap_or(0),
                count as u64,
                "{field} of {name}"
            );
        }
        for format in ["elle-edn", "elle-json"] {
            let mut bytes = Vec::new();
            formats::write(&history, format, &mut bytes)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let again = formats::read(&Input::new("", &bytes), Some(format), &Control::new())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(content(&again), content(&history), "{name}");
            assert_eq!(precedence(&again), precedence(&history), "{name}");
        }
        checked += 1;
    }
    assert!(
        checked >= 26,
        "only {checked} files of the corpus were checked"
    );
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn other_workloads_and_single_registers_are_read() {
    let corpus = common::corpus();
    let workloads = [
        ("bank.edn.zst", "bank", 1_984),
        // Additions without a read.
        ("counter.json.zst", "set", 287),
        ("comments.edn", "set", 65),
    ];
    for (name, workload, operations) in workloads {
        let history = open(&corpus, &format!("not-transactional/{name}"))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(history.workload().map(|found| found.name), Some(workload));
        assert_eq!(history.n_operations(), operations, "{name}");
    }
    // Sessions, transactions, operations, keys: linearizability can be checked, though the manifest calls them no
    // transactions.
    let read = [
        ("rethink-fail-minimal.edn", "elle-edn", [4, 4, 4, 1]),
        ("bad-analysis.edn", "elle-edn", [9, 9, 8, 1]),
        ("porcupine-etcd_000.log", "porcupine-etcd", [19, 85, 100, 1]),
        ("porcupine-etcd_001.log", "porcupine-etcd", [18, 86, 102, 1]),
        ("porcupine-etcd_002.log", "porcupine-etcd", [23, 77, 89, 1]),
        ("porcupine-etcd_005.log", "porcupine-etcd", [18, 79, 85, 1]),
        ("porcupine-kv-c01-ok.txt", "porcupine-kv", [1, 58, 79, 10]),
        ("porcupine-kv-c01-bad.txt", "porcupine-kv", [1, 38, 49, 8]),
    ];
    for (name, format, figures) in read {
        let history = open(&corpus, &format!("not-transactional/{name}"))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(history.origin().format, format, "{name}");
        let counted = [
            history.n_sessions(),
            history.n_transactions(),
            history.n_operations(),
            history.n_keys(),
        ];
        assert_eq!(counted, figures, "{name}");
    }
}

/// Lists of two keys, most of which go on where the one before ended.
fn lists_of_a_store(random: &mut fastrand::Rng) -> Vec<(usize, Vec<String>)> {
    let element = |random: &mut fastrand::Rng, is_plain: bool| match random.u8(..8) {
        0 if !is_plain => {
            [":a", "\"b c\"", "x", "-7", "[1 2]", "\"]\"", "007"][random.usize(..7)].to_owned()
        }
        _ => random.u32(..120).to_string(),
    };
    let mut stores = [Vec::new(), Vec::new()];
    let (is_plain, n) = (random.bool(), random.usize(1..25));
    let read = |_| {
        let key = random.usize(..2);
        let store: &mut Vec<String> = &mut stores[key];
        for _ in 0..random.usize(..4) {
            store.push(element(random, is_plain));
        }
        match random.u8(..12) {
            // Another history of the key.
            0 => store.truncate(random.usize(..=store.len())),
            1 if !store.is_empty() => {
                let place = random.usize(..store.len());
                store[place] = element(random, is_plain);
            }
            _ => {}
        }
        let length = if random.bool() {
            store.len()
        } else {
            random.usize(..=store.len())
        };
        (key, store[..length].to_vec())
    };
    (0..n).map(read).collect()
}

#[test]
fn a_list_is_read_as_it_is_written_whatever_was_read_before() {
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..3_000 {
        let lists = lists_of_a_store(&mut random);
        let is_uniform = random.bool();
        let between = [" ", ", ", "  ", "\n", " ; ] 4\n", " #_ 5 ", ",,"];
        let blank = |random: &mut fastrand::Rng| {
            if is_uniform {
                " "
            } else {
                between[random.usize(..between.len())]
            }
        };
        let (mut text, mut expected, mut alone) = (String::new(), Vec::new(), Vec::new());
        for (n, (key, list)) in lists.iter().enumerate() {
            let (open, close) = if random.u8(..8) == 0 {
                ("(", ")")
            } else {
                ("[", "]")
            };
            let mut spelled = open.to_owned();
            for (place, element) in list.iter().enumerate() {
                spelled.push_str(if place > 0 || !is_uniform && random.u8(..8) == 0 {
                    blank(&mut random)
                } else {
                    ""
                });
                spelled.push_str(element);
            }
            spelled.push_str(close);
            let line = format!(
                "{{:type :ok, :f :txn, :process 0, :value [[:append 7 {n}] [:r {key} {spelled}] [:r 8 []]]}}\n"
            );
            text.push_str(&line);
            alone.push(line);
            expected.push(format!(
                "append(7) {n}, r({key}) = [{}], r(8) = []",
                list.join(" ")
            ));
        }
        let parse = |text: &str| {
            let history = formats::read(
                &Input::new("", text.as_bytes()),
                Some("elle-edn"),
                &Control::new(),
            );
            history.unwrap_or_else(|error| panic!("{error} in\n{text}"))
        };
        let texts = |history: &History| -> Vec<String> {
            let operations = |t| {
                history
                    .operations_of(t)
                    .map(|o| history.operation_text_in_full(o))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            history.transactions().map(operations).collect()
        };
        let history = parse(&text);
        assert_eq!(texts(&history), expected, "{text}");
        let each: Vec<String> = alone.iter().flat_map(|line| texts(&parse(line))).collect();
        assert_eq!(each, expected, "{text}");
        let last = history
            .transactions()
            .last()
            .and_then(|t| history.operations_of(t).last())
            .expect("an operation");
        assert_eq!(
            history.line_of(last) as usize,
            text.lines().count(),
            "{text}"
        );
    }
}

#[test]
fn lists_that_are_prefixes_of_each_other_are_kept_once() {
    let list = |length: usize| (1..=length).map(|n| n.to_string()).collect::<Vec<_>>();
    let line = |n: usize| {
        format!(
            "{{:type :ok, :process 0, :value [[:r x [{}]] [:append x {n}]]}}\n",
            list(n - 1).join(" ")
        )
    };
    let edn: String = (1..=200).map(line).collect();
    let plain: String = (1..=200)
        .map(|n| format!("s: [r x [{}], a x {n}]\n", list(n - 1).join(" ")))
        .collect();
    for (format, text) in [("elle-edn", edn), ("text", plain)] {
        let history = formats::read(
            &Input::new("", text.as_bytes()),
            Some(format),
            &Control::new(),
        )
        .expect("valid");
        assert_eq!(history.lists().iter().len(), 200);
        let kept: Vec<usize> = history.lists().stems().iter().map(Vec::len).collect();
        assert_eq!(kept, [199], "{format}");
    }
}
