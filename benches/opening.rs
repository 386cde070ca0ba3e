//! How the window behaves while a large history is opened: when the first sign of work is there, when the history can be
//! scrolled, when the verdicts and the first violation are there, how long frames take meanwhile, and how soon Esc ends all work. Without a rasteriser; frames come at the rate of
//! a display.
//!
//! ```sh
//! cargo bench --bench opening -- --transactions 1000000 --operations 10 --keys 100000 --sessions 50
//! cargo bench --bench opening -- --file history.edn
//! ```

// Each bench uses its own part of the shared module.
#[allow(dead_code, unused_imports)]
mod common;

use clap::Parser;
use common::WorkloadArguments;
use egui_kittest::Harness;
use isoscope::app::App;
use isoscope::app::state::{Document, Page, Phase};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Options {
    /// What `cargo bench` passes on.
    #[arg(long, hide = true)]
    bench: bool,
    /// Open this file.
    #[arg(long)]
    file: Option<PathBuf>,
    /// What is made and opened where no file is given.
    #[command(flatten)]
    workload: WorkloadArguments,
}

/// Time between the beginnings of frames.
const FRAME: Duration = Duration::from_millis(16);
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(300);
/// After so many seconds Esc is pressed, one run each.
const CANCELS: [f64; 7] = [0.05, 0.3, 0.8, 1.5, 3.0, 5.0, 8.0];

type Window = Harness<'static, App>;

fn main() {
    let options = Options::parse();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = options
        .file
        .clone()
        .unwrap_or_else(|| made(folder.path(), &options.workload));
    open(&file);
    decide(&file);
    println!(
        "\n{:>14} {:>20} {:>22}",
        "Esc after", "window says so after", "threads are idle after"
    );
    CANCELS.into_iter().for_each(|after| cancel(&file, after));
}

/// A generated history as a file of lines.
fn made(folder: &Path, arguments: &WorkloadArguments) -> PathBuf {
    let workload = arguments.workload().expect("a workload");
    let path = folder.join("history.txt");
    let mut file = std::fs::File::create(&path).expect("a file");
    workload.write_plume(&mut file).expect("it is written");
    println!("{} operations", workload.n_operations());
    path
}

fn window() -> Window {
    Harness::builder()
        .with_size([1280.0, 800.0])
        .build_ui_state(|ui, app: &mut App| app.draw(ui), App::new(None))
}

fn document(window: &Window) -> Option<&Document> {
    window.state().state().document.as_ref()
}

/// Draws one frame and waits for the time of the next; how long it took.
fn frame(window: &mut Window) -> Duration {
    let start = Instant::now();
    window.step();
    let took = start.elapsed();
    std::thread::sleep(FRAME.saturating_sub(took));
    took
}

/// Draws frames until `done`; the time that took, and the longest frame.
fn until(window: &mut Window, done: impl Fn(&Window) -> bool) -> (Duration, Duration) {
    let (start, mut longest) = (Instant::now(), Duration::ZERO);
    while !done(window) {
        assert!(start.elapsed() < PATIENCE, "it takes too long");
        longest = longest.max(frame(window));
    }
    (start.elapsed(), longest)
}

fn open(file: &Path) {
    let mut window = window();
    frame(&mut window);
    let start = Instant::now();
    window.state_mut().open_all(vec![file.to_owned()]);
    let say = |what: &str, longest: Duration| {
        println!(
            "{what:<44} {:>8.2} s   longest frame {:>6.1} ms",
            start.elapsed().as_secs_f64(),
            milliseconds(longest)
        );
    };
    let (_, longest) = until(&mut window, |window| {
        document(window).is_some_and(|document| document.phase == Phase::Reading)
    });
    say("says that it reads", longest);
    let (_, longest) = until(&mut window, |window| {
        document(window).is_some_and(|document| document.history.is_some())
    });
    say("the history is there", longest);
    window.key_press(egui::Key::Num6);
    let (_, longest) = until(&mut window, |window| {
        window.state().state().page == Page::Browser
    });
    say("its sessions and transactions are listed", longest);
    let mut longest = Duration::ZERO;
    for turn in 0..120 {
        window.hover_at(egui::pos2(700.0, 500.0));
        let delta = egui::vec2(0.0, if turn % 2 == 0 { -900.0 } else { 700.0 });
        let unit = egui::MouseWheelUnit::Point;
        let phase = egui::TouchPhase::Move;
        window.event(egui::Event::MouseWheel {
            unit,
            delta,
            phase,
            modifiers: egui::Modifiers::NONE,
        });
        longest = longest.max(frame(&mut window));
    }
    say("scrolled through 120 frames", longest);
    let (_, longest) = until(&mut window, |window| {
        document(window).is_some_and(|document| !document.is_busy())
    });
    say("all levels are decided", longest);
    window.state_mut().open_all(Vec::new());
}

/// When the verdicts of all levels are there, the first violation, its picture, and all counts.
fn decide(file: &Path) {
    let mut window = window();
    frame(&mut window);
    let start = Instant::now();
    window.state_mut().open_all(vec![file.to_owned()]);
    let mut when = [None; 4];
    while when[3].is_none() {
        assert!(start.elapsed() < PATIENCE, "it takes too long");
        frame(&mut window);
        let Some(document) = document(&window) else {
            continue;
        };
        let first = |document: &Document| {
            document
                .catalogue
                .as_ref()
                .is_some_and(|all| !all.findings.violations.is_empty())
        };
        let is_there = [
            !document.results.levels.is_empty()
                && document
                    .results
                    .levels
                    .iter()
                    .all(|(_, result)| result.is_some()),
            first(document),
            document.picture.is_some(),
            document.history.is_some() && !document.is_busy(),
        ];
        for (when, is_there) in when.iter_mut().zip(is_there) {
            *when = when.or(is_there.then(|| start.elapsed()));
        }
    }
    let what = [
        "the verdicts are there",
        "the first violation is listed",
        "a picture is drawn",
        "everything is counted",
    ];
    for (what, when) in what.into_iter().zip(when) {
        println!(
            "{what:<44} {}",
            when.map_or("       -".to_owned(), |when| format!(
                "{:>8.2} s",
                when.as_secs_f64()
            ))
        );
    }
    window.state_mut().open_all(Vec::new());
}

fn cancel(file: &Path, after: f64) {
    let mut window = window();
    frame(&mut window);
    let start = Instant::now();
    window.state_mut().open_all(vec![file.to_owned()]);
    while start.elapsed().as_secs_f64() < after {
        frame(&mut window);
    }
    if document(&window).is_some_and(|document| !document.is_busy()) {
        println!("{after:>12} s   everything was done before");
        return;
    }
    let pressed = Instant::now();
    window.key_press(egui::Key::Escape);
    let is_over = |window: &Window| {
        window.state().state().looking.is_none()
            && document(window).is_none_or(|document| !document.is_busy())
    };
    let (said, _) = until(&mut window, is_over);
    // Nothing is drawn meanwhile: what is used now the work uses.
    let mut idle = 0;
    while idle < 3 {
        let used = cpu();
        std::thread::sleep(Duration::from_millis(5));
        idle = if cpu() - used < Duration::from_millis(1) {
            idle + 1
        } else {
            0
        };
    }
    let ended = pressed.elapsed() - Duration::from_millis(15);
    println!(
        "{after:>12} s {:>17.1} ms {:>19.1} ms",
        milliseconds(said),
        milliseconds(ended)
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Processor time of this process.
#[cfg(unix)]
fn cpu() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .expect("the system tells how much time was used")
        .into()
}

/// Not told here: work counts as over at once.
#[cfg(not(unix))]
fn cpu() -> Duration {
    Duration::ZERO
}
