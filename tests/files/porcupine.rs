//! Logs of a store of strings whose clients begin to count again, so that the same strings are written more than once.

use crate::common;

use common::random;
use fastrand::Rng;
use isoscope::audit;
use isoscope::checkers::{Level, Options, Verdict};
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
fn log(seed: u64, (n_clients, operations): (usize, usize), lie: bool) -> (String, bool) {
    let mut rng = Rng::with_seed(seed);
    let n_keys = rng.usize(1..4);
    let with_puts = rng.u8(0..3) > 0;
    let mut store = vec![String::new(); n_keys];
    let mut text = String::new();
    let mut has_lied = false;
    for _ in 0..rng.usize(2..4) {
        let before = store.clone();
        let mut clients: Vec<(usize, Option<Pending>)> =
            (0..n_clients).map(|_| (0, None)).collect();
        let mut left = rng.usize(operations / 2..operations);
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
                    let value = if action == "get" {
                        "nil".to_owned()
                    } else {
                        format!("\"{string}\"")
                    };
                    *count += usize::from(action != "get");
                    line("invoke", action, key, &value);
                    *pending = Some(Pending {
                        action,
                        key,
                        string,
                        result: None,
                    });
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
    let few = random::seeds(LOGS).map(|seed| (seed, 2 + seed as usize % 3, 20));
    let many = random::seeds(LOGS / 30).map(|seed| (seed, 50, 400));
    few.chain(many)
        .collect::<Vec<_>>()
        .into_par_iter()
        .for_each(|(seed, n_clients, operations)| {
            for lie in [false, true] {
                let (text, has_lied) = log(seed, (n_clients, operations), lie);
                let read = formats::read(
                    &Input::new("", text.as_bytes()),
                    Some("porcupine-kv"),
                    &Control::new(),
                );
                let history = read.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
                let options = Options {
                    levels: vec![Level::Linearizability],
                    ..Options::default()
                };
                let findings = audit::check(&history, &options, &Control::new(), &|_| {});
                match findings
                    .level(Level::Linearizability)
                    .map(|result| &result.verdict)
                {
                    Some(Verdict::Satisfied(_)) => assert!(!has_lied, "seed {seed}\n{text}"),
                    Some(Verdict::Violated) => assert!(has_lied, "seed {seed}\n{text}"),
                    other => panic!("seed {seed}: {other:?}\n{text}"),
                }
            }
        });
}
