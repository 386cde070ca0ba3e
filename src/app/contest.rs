//! Several checkers on the open history: what each says, how long it takes, and how much memory. Their answers stand
//! beside each other, so that it is seen where two of them differ.

use super::App;
use crate::checkers::{self, Checker, Level, Options, Verdict};
use crate::control::Control;
use crate::history::History;
use crate::jobs::{Job, Outbox, Pool, Revision, State as JobState, Wake};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long one checker may take; what is not known then is undecided.
const EACH: Duration = Duration::from_secs(60);
/// Time between two looks at how much memory is used.
const SAMPLE: Duration = Duration::from_millis(10);
/// Most samples kept of one run.
const SAMPLES: usize = 2000;

/// How one checker did.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which.
    pub checker: Checker,
    /// By level that it decides: the verdict, and the seconds it took.
    pub levels: Vec<(Level, Verdict, f64)>,
    /// Seconds for what all levels share.
    pub index_seconds: f64,
    /// Wall time of all, seconds.
    pub seconds: f64,
    /// Processor time of the process meanwhile, seconds, where the system tells.
    pub cpu: Option<f64>,
    /// Memory over time: seconds since its start, and megabytes more than before.
    pub memory: Vec<(f64, f64)>,
}

impl Run {
    /// Its verdict on a level.
    pub fn verdict(&self, level: Level) -> Option<&Verdict> {
        self.levels.iter().find(|(other, ..)| *other == level).map(|(_, verdict, _)| verdict)
    }

    /// Most memory more than before, megabytes.
    pub fn most_memory(&self) -> f64 {
        self.memory.iter().fold(0.0, |most, (_, megabytes)| f64::max(most, *megabytes))
    }
}

/// A contest: who takes part, and what is known.
#[derive(Clone, Debug, Default)]
pub struct Contest {
    /// Those that were chosen.
    pub chosen: BTreeSet<Checker>,
    /// Results, in the order of finishing.
    pub runs: Vec<Run>,
    /// The one at work.
    pub running: Option<Checker>,
}

impl Contest {
    /// Levels on which two checkers that both know an answer give different ones.
    pub fn disputed(&self) -> Vec<Level> {
        let differs = |level: &Level| {
            let known = self.runs.iter().filter_map(|run| run.verdict(*level)).map(Verdict::word);
            let known: BTreeSet<&str> = known.filter(|word| *word != "undecided").collect();
            known.len() > 1
        };
        Level::ALL.into_iter().filter(differs).collect()
    }

    /// The table as comma-separated values.
    pub fn csv(&self) -> String {
        let mut text = "checker,level,verdict,seconds,cpu_seconds,memory_mb\n".to_owned();
        for run in &self.runs {
            let cpu = run.cpu.map_or(String::new(), |cpu| format!("{cpu:.3}"));
            for (level, verdict, seconds) in &run.levels {
                let _ = writeln!(text, "{},{level},{},{seconds:.6},,", run.checker, verdict.word());
            }
            let _ = writeln!(text, "{},all,,{:.6},{cpu},{:.1}", run.checker, run.seconds, run.most_memory());
        }
        text
    }

    /// The times as bars, as a picture.
    pub fn svg(&self) -> String {
        const ROW: usize = 26;
        let most = self.runs.iter().fold(1e-6_f64, |most, run| most.max(run.seconds));
        let height = 50 + ROW * self.runs.len();
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"640\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <text x=\"12\" y=\"24\" font-size=\"15\">Seconds to check the history</text>\n"
        );
        for (place, run) in self.runs.iter().enumerate() {
            let y = 40 + ROW * place;
            let width = (run.seconds / most * 400.0).max(1.0);
            let _ = write!(
                text,
                "<text x=\"12\" y=\"{}\">{}</text>\n<rect x=\"110\" y=\"{y}\" width=\"{width:.1}\" height=\"18\" fill=\"#0b69ac\"/>\n\
                 <text x=\"{:.1}\" y=\"{}\">{:.3} s</text>\n",
                y + 14,
                run.checker,
                118.0 + width,
                y + 14,
                run.seconds
            );
        }
        text + "</svg>\n"
    }
}

/// What comes while checkers run.
#[derive(Debug)]
pub enum Message {
    /// It begins.
    Begun(Checker),
    /// It has ended.
    Ended(Box<Run>),
}

/// Starts the checkers one after the other.
pub fn start(
    history: Arc<History>,
    checkers: Vec<Checker>,
    pool: Pool,
    revision: Revision,
    wake: Wake,
) -> Job<Message> {
    Job::start("contest", revision, wake, move |control, outbox| {
        for checker in checkers {
            if control.check().is_err() {
                return;
            }
            outbox.send(Message::Begun(checker));
            let run = measure(&history, checker, &pool, control);
            if !control.is_stopped() {
                report(outbox, run);
            }
        }
    })
}

fn report(outbox: &Outbox<Message>, run: Run) {
    outbox.send(Message::Ended(Box::new(run)));
}

fn measure(history: &History, checker: Checker, pool: &Pool, control: &Control) -> Run {
    let possible = Level::of(history);
    let levels: Vec<Level> = checker.levels().iter().copied().filter(|level| possible.contains(level)).collect();
    let options = Options { levels, checker, max_instances: 1, ..Options::default() };
    let own = control.branch().with_time_limit(EACH);
    let ended = AtomicBool::new(false);
    let (cpu, started) = (cpu_seconds(), Instant::now());
    let (findings, memory) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch_memory(&ended, started));
        let findings = pool.install(|| checkers::check(history, &options, &own, &|_| ()));
        ended.store(true, Ordering::Relaxed);
        (findings, watch.join().unwrap_or_default())
    });
    let seconds = started.elapsed().as_secs_f64();
    Run {
        checker,
        levels: findings.levels.into_iter().map(|result| (result.level, result.verdict, result.seconds)).collect(),
        index_seconds: findings.index_seconds,
        seconds,
        cpu: cpu_seconds().zip(cpu).map(|(after, before)| after - before),
        memory,
    }
}

fn watch_memory(ended: &AtomicBool, started: Instant) -> Vec<(f64, f64)> {
    let used = || memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem);
    let before = used();
    let mut samples = Vec::new();
    loop {
        let last = ended.load(Ordering::Relaxed);
        let more = used().saturating_sub(before) as f64 / f64::from(1 << 20);
        samples.push((started.elapsed().as_secs_f64(), more));
        if samples.len() > SAMPLES {
            // Every second one is enough from here on.
            samples = samples.into_iter().step_by(2).collect();
        }
        if last {
            return samples;
        }
        std::thread::sleep(SAMPLE);
    }
}

/// Processor time of this process so far, where the system tells.
fn cpu_seconds() -> Option<f64> {
    // Fields 14 and 15 of the second part of this file are ticks of a hundredth of a second in user and kernel code.
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

impl App {
    /// Lets the chosen checkers run.
    pub(super) fn start_contest(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        let Some(history) = document.history.clone() else { return };
        if document.contest.chosen.is_empty() {
            self.state.tell(true, "Choose at least one checker");
            return;
        }
        document.contest.runs.clear();
        let checkers = document.contest.chosen.iter().copied().collect();
        let number = self.revision.advance();
        self.contest = Some(start(history, checkers, self.pool.clone(), number, Arc::clone(&self.wake)));
    }

    /// Takes in how checkers did.
    pub(super) fn take_in_contest(&mut self) {
        let Some(job) = &mut self.contest else { return };
        let messages = job.poll();
        let ended = job.state().clone();
        if let Some(document) = &mut self.state.document {
            for message in messages {
                match message {
                    Message::Begun(checker) => document.contest.running = Some(checker),
                    Message::Ended(run) => document.contest.runs.push(*run),
                }
            }
            if ended != JobState::Running {
                document.contest.running = None;
            }
        }
        if ended != JobState::Running {
            self.contest = None;
        }
        if let JobState::Failed(text) = ended {
            self.state.tell(true, format!("A checker ended unexpectedly: {text}"));
        }
    }

    /// Writes the results beside the history, under its name with another ending.
    pub(super) fn write_contest(&mut self, ending: &str) {
        let Some(document) = &self.state.document else { return };
        let text = match ending {
            "csv" => document.contest.csv(),
            _ => document.contest.svg(),
        };
        let folder = super::dialogs::folder_of(Some(&document.source));
        let stem = document.title.split('.').next().unwrap_or("history");
        let path = folder.join(format!("{stem}-checkers.{ending}"));
        match super::project::write_whole(&path, text.as_bytes()) {
            Ok(()) => self.state.tell(false, format!("Written: {}", path.display())),
            Err(text) => self.state.tell(true, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_checker_is_measured_and_written_down() {
        let text = "a: [w x 1] [w x 2, w y 1]\nb: [r y 1, r x 1]\n";
        let history = crate::formats::text::parse(text).expect("a history in our notation");
        let run = |checker| measure(&history, checker, &Pool::new(), &Control::new());
        let contest = Contest { runs: vec![run(Checker::Fast), run(Checker::Plume)], ..Contest::default() };
        assert!(contest.disputed().is_empty(), "{:?}", contest.runs);
        let verdict = contest.runs[1].verdict(Level::ReadAtomic).map(Verdict::word);
        assert_eq!(verdict, Some("violated"));
        assert!(contest.csv().contains("plume,RA,violated,") && contest.csv().starts_with("checker,level,"));
        assert!(contest.svg().contains(">plume</text>") && contest.svg().ends_with("</svg>\n"));
    }

    #[test]
    fn checkers_that_disagree_are_seen() {
        let run = |checker, verdict| Run {
            checker,
            levels: vec![(Level::ReadAtomic, verdict, 0.0)],
            index_seconds: 0.0,
            seconds: 0.0,
            cpu: None,
            memory: Vec::new(),
        };
        let runs = vec![
            run(Checker::Fast, Verdict::Violated),
            run(Checker::Plume, Verdict::Satisfied(crate::checkers::Witness::Reads)),
        ];
        assert_eq!(Contest { runs, ..Contest::default() }.disputed(), [Level::ReadAtomic]);
    }
}
