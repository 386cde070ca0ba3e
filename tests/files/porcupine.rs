//! Logs of a store of strings whose clients begin to count again, so that the same strings are written more than once.

use crate::common;

use common::random;
use fastrand::Rng;
use isoscope::checkers::{self, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats::{self, Input};
use rayon::prelude::*;
use std::fmt::Write as _;

/// Logs in the ordinary run.
const LOGS: u64 = 1_500;

/// A client between its invocation and its answer.
struct Pending {
    action: &'static str,
    key: usize,
    string: String,
    /// What a get returned, once the store has answered.
    result: Option<String>,
}

/// A run of the store, which does each operation at some moment between invocation and completion. With `lie`
/// one get finds nothing where something was written for certain.
fn log(seed: u64, lie: bool) -> (String, bool) {
    let mut rng = Rng::with_seed(seed);
    let (n_clients, n_keys) = (rng.usize(2..5), rng.usize(1..4));
    let with_puts = rng.u8(0..3) > 0;
    let mut store = vec![String::new(); n_keys];
    let mut text = String::new();
    let mut has_lied = false;
    for _ in 0..rng.usize(2..4) {
        let before = store.clone();
        let mut clients: Vec<(usize, Option<Pending>)> = (0..n_clients).map(|_| (0, None)).collect();
        let mut left = rng.usize(8..20);
        while left > 0 || clients.iter().any(|(_, pending)| pending.is_some()) {
            let process = rng.usize(0..n_clients);
            let (count, pending) = &mut clients[process];
            let mut line = |stage: &str, action: &str, key: usize, value: &str| {
                writeln!(text, "{{:process {process}, :type :{stage}, :f :{action}, :key \"{key}\", :value {value}}}")
                    .expect("writing to memory");
            };
            match pending {
                None if left > 0 => {
                    left -= 1;
                    let action = match rng.u8(0..10) {
                        0 if with_puts => "put",
                        0..6 => "append",
                        _ => "get",
                    };
                    let (key, string) = (rng.usize(0..n_keys), format!("x {process} {count} y"));
                    let value = if action == "get" { "nil".to_owned() } else { format!("\"{string}\"") };
                    *count += usize::from(action != "get");
                    line("invoke", action, key, &value);
                    *pending = Some(Pending { action, key, string, result: None });
                }
                None => {}
                Some(open) if open.result.is_none() => {
                    let state = &mut store[open.key];
                    match open.action {
                        "put" => *state = open.string.clone(),
                        "append" => state.push_str(&open.string),
                        _ => {}
                    }
                    open.result = Some(state.clone());
                }
                Some(open) => {
                    let mut value = match open.action {
                        "get" => open.result.clone().unwrap_or_default(),
                        _ => open.string.clone(),
                    };
                    if lie && open.action == "get" && !has_lied && !before[open.key].is_empty() {
                        value = String::new();
                        has_lied = true;
                    }
                    line("ok", open.action, open.key, &format!("\"{value}\""));
                    *pending = None;
                }
            }
        }
    }
    (text, has_lied)
}

#[test]
fn runs_are_linearizable_and_lies_are_found_though_strings_come_again() {
    let decided: Vec<[usize; 2]> = random::seeds(LOGS)
        .into_par_iter()
        .map(|seed| {
            [false, true].map(|lie| {
                let (text, has_lied) = log(seed, lie);
                let read = formats::read(&Input::new("", text.as_bytes()), Some("porcupine-kv"), &Control::new());
                let history = match read {
                    Ok(history) => history,
                    Err(error) => {
                        let message = error.to_string();
                        assert!(message.contains("neither results nor times tell"), "seed {seed}\n{text}{message}");
                        return 0;
                    }
                };
                let options = Options { levels: vec![Level::Linearizability], ..Options::default() };
                let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
                match findings.level(Level::Linearizability).map(|result| &result.verdict) {
                    Some(Verdict::Satisfied(_)) => assert!(!has_lied, "seed {seed}\n{text}"),
                    Some(Verdict::Violated) => assert!(has_lied, "seed {seed}\n{text}"),
                    other => panic!("seed {seed}: {other:?}\n{text}"),
                }
                1
            })
        })
        .collect();
    let n = decided.len();
    let decided: usize = decided.iter().flatten().sum();
    println!("{decided} of {} decided", 2 * n);
    assert!(decided > n, "{decided} of {} decided", 2 * n);
}
