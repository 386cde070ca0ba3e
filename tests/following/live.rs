//! A recording is checked while it grows: as it is checked when it is over, and early enough to end it.
#![cfg(all(unix, feature = "sqlite"))]

use crate::common;

use common::servers;
use isoscope::checkers::{Level, Verdict};
use isoscope::collect::Statistics;
use isoscope::control::Control;
use isoscope::follow::{Answer, FOLLOWED, Options};
use isoscope::generate::{Injection, Length, Model, Workload};
use isoscope::hunt::{self, Hunt, Live, News, Of, Opened, Plan, Target};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

fn opened(model: Model, faults: &[&str]) -> Opened {
    let faults: Vec<Injection> = faults
        .iter()
        .map(|name| name.parse().expect("a fault"))
        .collect();
    Target::Store { model, faults }
        .open()
        .expect("a store in memory is always there")
}

fn workload(seed: u64, transactions: u64) -> Workload {
    let operations = Length { least: 2, most: 6 };
    Workload {
        seed,
        sessions: 5,
        transactions,
        operations,
        keys: 30,
        update_share: 0.5,
        ..Workload::default()
    }
}

/// What was heard of a recording.
#[derive(Default)]
struct Heard {
    /// The levels found to be violated, and the lines.
    found: Vec<(Level, u32)>,
    answers: Vec<(Level, Answer)>,
    ends: u32,
}

impl Heard {
    fn hear(&mut self, news: News<'_>) {
        for found in news.follower.take_findings() {
            assert!(
                news.since(found.line).is_some() && !found.title.is_empty(),
                "{found:?}"
            );
            self.found.push((found.level, found.line));
        }
        if let Of::End(end) = &news.of {
            assert_eq!((end, news.follower.ended()), (&Ok(()), None));
            assert!(news.behind <= news.longest);
            self.ends += 1;
            self.answers = news.follower.answers();
        }
    }
}

fn record(opened: &Opened, workload: Workload, path: &Path) -> Heard {
    let mut heard = Heard::default();
    let mut hear = |news: News<'_>| {
        heard.hear(news);
        ControlFlow::Continue(())
    };
    let live = Live {
        options: Options {
            levels: FOLLOWED.to_vec(),
            ..Options::default()
        },
        to_the_end: true,
        hear: &mut hear,
    };
    opened
        .record(
            (workload, None),
            path,
            &Statistics::default(),
            &Control::new(),
            Some(live),
        )
        .expect("the run ends");
    heard
}

#[test]
fn what_is_said_at_the_end_of_a_recording_is_what_a_check_of_it_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [mut violated, mut satisfied] = [0, 0];
    let faulty: Vec<&str> = isoscope::generate::FAULTS
        .iter()
        .map(|fault| fault.name)
        .collect();
    let runs = Model::ALL.into_iter().map(|model| (model, None));
    let runs = runs.chain(faulty.into_iter().map(|fault| (Model::Strict, Some(fault))));
    for (n, (model, fault)) in runs.enumerate() {
        let path = folder.path().join(format!("{n}.edn"));
        let faults: Vec<&str> = fault.into_iter().collect();
        let heard = record(&opened(model, &faults), workload(n as u64, 60), &path);
        let judged = hunt::judge(&path, Some(&FOLLOWED), &Control::new()).expect("readable");
        assert_eq!((heard.ends, heard.answers.len()), (1, FOLLOWED.len()));
        for (level, answer) in &heard.answers {
            let verdict = &judged
                .findings
                .level(*level)
                .expect("it was asked for")
                .verdict;
            let expected = match verdict {
                Verdict::Satisfied(_) => Answer::Holds,
                Verdict::Violated => Answer::Violated,
                Verdict::Undecided(why) => panic!("{level}: {why}"),
            };
            assert_eq!(*answer, expected, "{model} {fault:?} {level}");
            let told = heard
                .found
                .iter()
                .filter(|(other, _)| other == level)
                .count();
            // A level is also violated because a weaker one is.
            assert!(
                told <= 1 && (told == 0 || expected == Answer::Violated),
                "{model} {fault:?} {level}"
            );
            *(if expected == Answer::Violated {
                &mut violated
            } else {
                &mut satisfied
            }) += 1;
        }
        let is_violated = heard
            .answers
            .iter()
            .any(|(_, answer)| *answer == Answer::Violated);
        assert_eq!(
            is_violated,
            !heard.found.is_empty(),
            "{model} {fault:?}: {:?}",
            heard.found
        );
    }
    assert!(violated > 50 && satisfied > 50, "{violated} {satisfied}");
}

#[test]
fn a_violation_that_is_decided_meanwhile_can_end_the_round() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plan = Plan {
        workload: workload(1, 100_000),
        rounds: 1,
        time: None,
        keep: true,
    };
    let mut hunt = Hunt::new(plan.clone());
    let round = hunt
        .begin(&Control::new(), |_| folder.path().join("round.edn"))
        .expect("a round");
    let levels = [Level::SnapshotIsolation];
    let mut decided = None;
    let mut hear = |news: News<'_>| match news.violated() {
        Some((line, level)) => {
            round.control.stop();
            decided = Some((line, level));
            ControlFlow::Break(())
        }
        None => ControlFlow::Continue(()),
    };
    let live = Live {
        options: hunt::followable(&levels).expect("it can be followed"),
        to_the_end: false,
        hear: &mut hear,
    };
    let recorded = hunt.record(
        &opened(Model::Committed, &[]),
        &round,
        &Statistics::default(),
        Some(live),
    );
    let snapshot = recorded.expect("recorded").expect("something was done");
    let (line, level) = decided.expect("read committed is not snapshot isolation");
    assert_eq!(level, levels[0]);
    assert!(snapshot.committed < 5 * 100_000 / 2, "{snapshot:?}");
    let judged = hunt::judge(&round.path, Some(&levels), &Control::new()).expect("readable");
    assert!(judged.is_violated());
    // Already what was recorded up to that line violates the level.
    let text = std::fs::read_to_string(&round.path).expect("a recording");
    let beginning = folder.path().join("beginning.edn");
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    std::fs::write(&beginning, lines.join("\n") + "\n").expect("a file");
    let judged = hunt::judge(&beginning, Some(&levels), &Control::new()).expect("readable");
    assert!(judged.is_violated());
    assert!(hunt::followable(&[Level::Linearizability]).is_none());
}

#[test]
fn a_file_of_another_program_is_followed_until_it_becomes_shorter() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.txt");
    std::fs::write(&path, "a: [w x 1]\n").expect("a file");
    let append = |text: &str| {
        let mut file = std::fs::File::options()
            .append(true)
            .open(&path)
            .expect("it is there");
        file.write_all(text.as_bytes()).expect("it can be written");
    };
    let (mut seen, mut end) = (Vec::new(), None);
    let mut hear = |news: News<'_>| {
        assert_eq!(
            news.since(1),
            None,
            "another program knows when it was written"
        );
        match news.of {
            Of::End(result) => end = Some(result),
            Of::Change(_) | Of::Time => {
                if seen.last() != Some(&news.recent.n()) {
                    seen.push(news.recent.n());
                    // Half a line is read when its end is there.
                    match seen.len() {
                        1 => append("a: [r x"),
                        2 => std::fs::write(&path, "").expect("it can be replaced"),
                        n => panic!("{n} changes"),
                    }
                } else if news.stream.lines() == 1 && news.recent.n() == 1 {
                    append(" 1]\n");
                }
            }
        }
        ControlFlow::Continue(())
    };
    let live = Live {
        options: Options::default(),
        to_the_end: true,
        hear: &mut hear,
    };
    hunt::follow(&path, Some("text"), live);
    assert_eq!(seen, [1, 2]);
    assert!(
        end.expect("it ends")
            .is_err_and(|why| why.contains("became shorter"))
    );
}

/// The program's exit code, and what it says.
fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_isoscope"))
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout) + &text(&output.stderr),
    )
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn collect_says_what_it_finds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (code, words) = said(&[
        "collect",
        "--follow",
        "--transactions",
        "20",
        "--keys",
        "9",
        "-o",
        &path("good.edn"),
    ]);
    assert_eq!(code, Some(0), "{words}");
    assert!(
        words.contains("\n  SSER  satisfied") && words.contains("committed, "),
        "{words}"
    );
    let (code, words) = said(&["collect", "--follow", "-o", "/dev/null"]);
    assert_eq!(code, Some(2), "{words}");
    assert!(
        words.contains("/dev/null: --follow reads what is recorded, which takes a file"),
        "{words}"
    );
    let (code, words) = said(&[
        "collect",
        "--follow",
        "--level",
        "PRAM",
        "-o",
        &path("none.edn"),
    ]);
    assert!(
        code == Some(2) && words.contains("PRAM cannot be followed"),
        "{words}"
    );
    assert!(!folder.path().join("none.edn").exists());
    let Some(server) = servers::redis() else {
        return;
    };
    let database = [
        "--db",
        &server.url,
        "--isolation",
        "read-committed",
        "--workload",
        "mini",
        "--keys",
        "2",
    ];
    let more = ["--follow", "--level", "SI,SER", "--transactions", "500"];
    let (code, words) =
        said(&[&["collect", "-o", &path("bad.edn")], &database[..], &more].concat());
    assert_eq!(code, Some(1), "{words}");
    assert!(
        words.contains(" after it was recorded: ") && words.contains("\n  SI    violated"),
        "{words}"
    );
    assert_eq!(
        words.matches("violated SI, SER  line ").count(),
        1,
        "{words}"
    );
    let check = said(&["check", "--level", "SI,SER", &path("bad.edn")]);
    assert_eq!(check.0, Some(1));
    let more = [
        "--level",
        "SI",
        "--transactions",
        "1000000",
        "--rounds",
        "1",
    ];
    let (code, words) = said(&[&["hunt", "-o", &path("found")], &database[..], &more].concat());
    assert_eq!(code, Some(1), "{words}");
    assert!(
        words.contains("  the round ended when line ") && words.contains("SI    violated"),
        "{words}"
    );
}
