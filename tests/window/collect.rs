//! The page that makes histories: workloads on databases and store models, recorded, checked while they grow, hunted
//! through and compared.
#![cfg(all(feature = "sqlite", feature = "window"))]

#[cfg(unix)]
use crate::common;
use crate::window;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use isoscope::app::App;
use isoscope::app::collecting::table::{CollectRun, Stage};
use isoscope::app::command::Command;
use isoscope::app::state::{Phase, Source};
use isoscope::checkers::Level;
use isoscope::control::Control;
use isoscope::formats::{self, Request};
use isoscope::generate::{Kind, Model};
use std::path::{Path, PathBuf};
use window::{FRACTURED, Window, document, opened, press, says, themes, wait};

/// A window high enough to show the whole form, on the page.
fn page_of(app: App, theme: egui::Theme) -> Window {
    let mut window = Harness::builder()
        .with_size([1280.0, 1200.0])
        .with_theme(theme)
        .build_ui_state(|ui, app: &mut App| app.draw(ui), app);
    window.run_steps(2);
    run(&mut window, Command::ShowCollect);
    assert!(window.state().state().is_covered());
    window
}

/// The page, a folder, and the file in it that is recorded to.
fn page(theme: egui::Theme) -> (Window, tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("history.edn");
    let mut window = page_of(App::new(None), theme);
    fill(&mut window, "Record to", &file.display().to_string());
    (window, folder, file)
}

/// Runs a command by its keys.
fn run(window: &mut Window, command: Command) {
    let keys = command.row().keys[0];
    window.key_press_modifiers(keys.modifiers, keys.logical_key);
    window.run_steps(4);
}

/// Types into a field, in place of what stands there.
fn fill(window: &mut Window, name: &str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, name).focus();
    window.run_steps(2);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    window.run_steps(1);
    window
        .get_by_role_and_label(Role::TextInput, name)
        .type_text(text);
    window.run_steps(3);
}

/// Chooses a word of a list.
fn choose(window: &mut Window, name: &str, word: &str) {
    window
        .get_by_role_and_label(Role::ComboBox, &shown(window, name))
        .click();
    window.run_steps(4);
    // The lists of menus are buttons: the one of this word, not those that end with it.
    let wanted = format!("{word}: ");
    let choice = window.query_all_by_role(Role::Button).find(|node| {
        node.accesskit_node()
            .label()
            .is_some_and(|label| label.starts_with(&wanted))
    });
    choice
        .unwrap_or_else(|| panic!("{name} has no {word}"))
        .click();
    window.run_steps(4);
    assert_eq!(shown(window, name), format!("{name}: {word}"));
}

/// What a list of this name says.
fn shown(window: &Window, name: &str) -> String {
    let combos = window.query_all_by_role(Role::ComboBox);
    let labels = combos.filter_map(|node| node.accesskit_node().label());
    let mut named = labels.filter(|label| label.starts_with(&format!("{name}: ")));
    named
        .next()
        .unwrap_or_else(|| panic!("no list called {name}"))
}

fn store(window: &mut Window, model: Model, faults: &[&str]) {
    choose(window, "Database", "Store in memory");
    choose(window, "Isolation", model.name());
    for fault in faults {
        window.get_by_label("Add a fault…").click();
        window.run_steps(4);
        window.get_by_label(&format!("Fault {fault}")).click();
        window.run_steps(4);
    }
}

fn last_run(window: &Window) -> &CollectRun {
    window
        .state()
        .state()
        .collect
        .run
        .as_ref()
        .expect("something was run")
}

fn wait_until_over(window: &mut Window) {
    wait(window, "the run", |window| {
        window
            .state()
            .state()
            .collect
            .run
            .as_ref()
            .is_none_or(|run| !run.is_running())
    });
}

fn wait_until_checked(window: &mut Window) {
    wait(window, "the check", |window| {
        window
            .state()
            .state()
            .document
            .as_ref()
            .is_some_and(|document| document.phase == Phase::Done)
    });
}

fn n_transactions(path: &Path) -> usize {
    let request = Request {
        format: None,
        rules: None,
    };
    let history =
        formats::open(path, request, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
    history.recorded().transactions
}

#[test]
fn every_workload_runs_on_sqlite_and_its_history_opens() {
    for (place, kind) in Kind::ALL.into_iter().enumerate() {
        let (mut window, _folder, file) = page(themes()[place % 2]);
        choose(&mut window, "Workload", kind.name());
        fill(&mut window, "Sessions", "4");
        fill(&mut window, "Transactions", "12");
        fill(&mut window, "Keys", "9");
        run(&mut window, Command::RunWorkload);
        wait_until_over(&mut window);
        let row = last_run(&window).rows.first().expect("one round").clone();
        assert_eq!(
            last_run(&window).stage,
            Stage::Done,
            "{kind}: {:?}",
            window.state().state().collect.error
        );
        let checked = row.checked.as_ref().expect("it was checked");
        assert_eq!(checked.text(), "SER satisfied", "{kind}");
        assert!(
            says(&window, "Done: SER satisfied") && says(&window, "Round seed 1: "),
            "{kind}"
        );
        assert!(
            says(&window, "SQLite 3")
                && says(&window, "Plot of throughput")
                && says(&window, "Plot of latency")
        );
        let snapshot = row.snapshot.expect("it was counted");
        assert_eq!(
            snapshot.committed + snapshot.aborted + snapshot.unknown,
            48,
            "{kind}"
        );
        assert_eq!(n_transactions(&file), 48, "{kind}");
        run(&mut window, Command::OpenCollected);
        wait_until_checked(&mut window);
        assert_eq!(document(&window).path(), Some(file.as_path()));
        assert!(
            !window.state().state().is_covered(),
            "the history is in sight"
        );
    }
}

#[test]
fn what_does_not_matter_is_not_asked_for() {
    let (mut window, _folder, _file) = page(egui::Theme::Light);
    let asks = |window: &Window, name: &str| {
        window
            .query_by_role_and_label(Role::TextInput, name)
            .is_some()
    };
    assert!(
        ["Operations", "Read share", "Update share", "Address"]
            .iter()
            .all(|name| asks(&window, name))
    );
    choose(&mut window, "Workload", "tpc-c");
    assert!(
        ["Operations", "Read share", "Update share"]
            .iter()
            .all(|name| !asks(&window, name))
    );
    assert!(!asks(&window, "Password"), "SQLite knows no password");
    choose(&mut window, "Database", "Redis");
    assert!(asks(&window, "Password"));
    choose(&mut window, "Database", "MySQL or MariaDB");
    choose(&mut window, "Isolation", "repeatable-read");
    assert!(
        says(&window, "promises PC: "),
        "what the database promises is said"
    );
    choose(&mut window, "Isolation", "read-uncommitted");
    assert!(says(&window, "promises nothing that is checked"));
    store(
        &mut window,
        Model::Snapshot,
        &["lost-update", "lost-update", "write-skew"],
    );
    assert!(says(&window, "promises SI: ") && !asks(&window, "Address"));
    let faults = window.state().state().collect.form.faults();
    let faults: Vec<_> = faults
        .iter()
        .map(|injection| (injection.fault.name, injection.times))
        .collect();
    assert_eq!(faults, [("lost-update", 2), ("write-skew", 1)]);
    window.get_by_label("Remove lost-update").click();
    window.run_steps(3);
    assert_eq!(window.state().state().collect.form.faults().len(), 1);
}

#[test]
fn a_hunt_ends_at_a_violation_and_opens_it() {
    for theme in themes() {
        let (mut window, folder, _file) = page(theme);
        store(&mut window, Model::Snapshot, &["lost-update"]);
        fill(&mut window, "Seed", "7");
        run(&mut window, Command::Hunt);
        wait_until_over(&mut window);
        assert_eq!(last_run(&window).rows.len(), 1);
        assert!(last_run(&window).rows[0].is_violated());
        wait_until_checked(&mut window);
        assert_eq!(
            document(&window).path(),
            Some(folder.path().join("history-seed-7.edn").as_path())
        );
        let catalogue = document(&window).catalogue.clone().expect("it was checked");
        let selected = document(&window)
            .selected
            .expect("the violation is selected");
        let shown = catalogue.violation(selected).expect("it is listed");
        assert!(
            shown.levels.contains(Level::SnapshotIsolation),
            "{}",
            shown.id
        );
        let expected = last_run(&window).rows[0]
            .checked
            .as_ref()
            .and_then(|checked| checked.violation.clone());
        let (identity, _) = expected.expect("the hunt found it");
        assert_eq!(
            document(&window).identity(),
            Some(identity.as_str()),
            "it opens at what the hunt has found"
        );
        run(&mut window, Command::ShowCollect);
        assert!(says(&window, "A violation in 1 of 1 round") && says(&window, "Round seed 7: "));
    }
}

#[test]
fn a_hunt_without_violation_tells_its_rounds_and_deletes_their_histories() {
    for keep in [false, true] {
        let (mut window, folder, _file) = page(egui::Theme::Dark);
        store(&mut window, Model::Serial, &[]);
        fill(&mut window, "Rounds", "3");
        if keep {
            window.get_by_label("Keep all histories").click();
            window.run_steps(3);
        }
        run(&mut window, Command::Hunt);
        wait_until_over(&mut window);
        let seeds: Vec<u64> = last_run(&window).rows.iter().map(|row| row.seed).collect();
        assert_eq!(seeds, [1, 2, 3]);
        assert!(says(&window, "No violation in 3 rounds") && says(&window, "Round seed 3: "));
        let there = std::fs::read_dir(folder.path())
            .expect("the folder is there")
            .count();
        assert_eq!(there, if keep { 3 } else { 0 });
        assert_eq!(says(&window, "Open seed 2"), keep);
        assert!(window.state().state().document.is_none());
    }
}

#[test]
fn levels_are_compared_and_written_down() {
    for theme in themes() {
        let (mut window, folder, _file) = page(theme);
        store(&mut window, Model::Strict, &[]);
        fill(&mut window, "Keys", "8");
        fill(&mut window, "Transactions", "20");
        run(&mut window, Command::CompareLevels);
        wait_until_over(&mut window);
        let rows = last_run(&window).rows.clone();
        let names: Vec<&str> = rows.iter().map(|row| row.isolation.as_str()).collect();
        assert_eq!(names, Model::ALL.map(Model::name));
        for row in &rows {
            assert!(
                row.checked.is_some() && !row.breaks_promise(),
                "{}: {:?}",
                row.isolation,
                row.checked
            );
            assert!(says(
                &window,
                &format!("; {} Throughput per second: ", row.isolation)
            ));
            assert!(says(
                &window,
                &format!("; {} Time to check: ", row.isolation)
            ));
        }
        let weakest = rows[6]
            .checked
            .as_ref()
            .and_then(|checked| checked.weakest());
        assert_eq!(
            weakest,
            Some(Level::CutIsolation),
            "read committed does not repeat reads"
        );
        run(&mut window, Command::WriteRounds);
        wait(&mut window, "the file", |window| says(window, "Written: "));
        let csv = std::fs::read_to_string(folder.path().join("history-levels.csv"))
            .expect("it was written");
        assert_eq!(csv.lines().count(), 8, "{csv}");
        assert!(
            csv.starts_with("isolation,promise,seed,") && csv.contains("\nrc,RC,1,"),
            "{csv}"
        );
        window.get_by_label("Open rc").click();
        wait(&mut window, "the history", |window| {
            window.state().state().document.is_some()
        });
        wait_until_checked(&mut window);
        assert_eq!(
            document(&window).path(),
            Some(folder.path().join("history-rc.edn").as_path())
        );
        assert!(document(&window).selected.is_some());
    }
}

#[test]
fn the_levels_of_sqlite_are_compared() {
    let (mut window, _folder, _file) = page(egui::Theme::Light);
    fill(&mut window, "Sessions", "4");
    fill(&mut window, "Transactions", "10");
    window
        .get_by_role_and_label(Role::Button, "Compare levels")
        .click();
    window.run_steps(3);
    wait_until_over(&mut window);
    let names: Vec<&str> = last_run(&window)
        .rows
        .iter()
        .map(|row| row.isolation.as_str())
        .collect();
    assert_eq!(names, ["serializable", "immediate"]);
    assert!(says(&window, "Compared 2 levels") && says(&window, "Round immediate: "));
}

#[test]
fn a_cancelled_run_leaves_a_history_and_says_what_was_found_so_far() {
    for theme in themes() {
        let (mut window, _folder, file) = page(theme);
        fill(&mut window, "Transactions", "10000000");
        run(&mut window, Command::RunWorkload);
        // The very first look may come before the first commit.
        let has_looked = |window: &Window| {
            let so_far = last_run(window).live.newest();
            says(window, "So far, in ")
                && so_far.is_some_and(|so_far| so_far.status.delivered > 0)
                && !last_run(window).samples.is_empty()
        };
        wait(&mut window, "a first look", has_looked);
        let so_far = last_run(&window)
            .live
            .newest()
            .cloned()
            .expect("there was a look");
        assert!(so_far.text().contains("SER satisfied"), "{so_far:?}");
        assert_eq!(last_run(&window).stage, Stage::Recording);
        // Leaving the field that was typed into comes first.
        press(&mut window, egui::Key::Escape);
        press(&mut window, egui::Key::Escape);
        wait_until_over(&mut window);
        assert_eq!(last_run(&window).stage, Stage::Cancelled);
        assert!(says(&window, "Cancelled; what was recorded is kept"));
        assert!(n_transactions(&file) as u64 >= so_far.status.delivered);
        press(&mut window, egui::Key::Escape);
        assert!(
            !window.state().state().is_covered(),
            "with nothing to cancel, the page is left"
        );
    }
}

#[test]
fn the_first_anomaly_is_drawn_while_the_run_goes_on() {
    for theme in themes() {
        let (mut window, _folder, file) = page(theme);
        store(&mut window, Model::Snapshot, &["lost-update"]);
        fill(&mut window, "Transactions", "10000000");
        run(&mut window, Command::RunWorkload);
        let can_be_drawn = |window: &Window| {
            last_run(window)
                .live
                .newest()
                .is_some_and(|newest| newest.found.iter().any(|found| found.part.is_some()))
        };
        wait(&mut window, "an anomaly", can_be_drawn);
        assert!(says(&window, "First anomaly, line "));
        // Where a pause makes the others short, bars of several transactions are in sight for a moment.
        wait(&mut window, "bars of single transactions", |window| {
            says(window, "Lane bar ")
        });
        run(&mut window, Command::OpenFound);
        wait(&mut window, "its picture", |window| {
            let drawn = window
                .state()
                .state()
                .document
                .as_ref()
                .and_then(|document| document.current_picture());
            drawn.is_some()
        });
        assert!(matches!(&document(&window).source, Source::Part(part) if part.path == file));
        assert_eq!(last_run(&window).stage, Stage::Recording, "the run goes on");
        run(&mut window, Command::ShowCollect);
        press(&mut window, egui::Key::Space);
        wait(&mut window, "the lanes to be paused", |window| {
            says(window, "Paused, ")
        });
        wait(&mut window, "more transactions", |window| {
            last_run(window).live.newer().is_some_and(|n| n > 10)
        });
        press(&mut window, egui::Key::Space);
        assert!(!says(&window, "Paused, ") && last_run(&window).stage == Stage::Recording);
        press(&mut window, egui::Key::Escape);
        wait_until_over(&mut window);
        assert_eq!(last_run(&window).stage, Stage::Cancelled);
    }
}

#[test]
fn what_is_wrong_is_said_where_it_is_wrong() {
    let (mut window, folder, _file) = page(egui::Theme::Dark);
    let trouble = |window: &Window| {
        window
            .state()
            .state()
            .collect
            .error
            .clone()
            .map(|t| (t.field, t.text))
    };
    fill(&mut window, "Read share", "2");
    run(&mut window, Command::RunWorkload);
    assert!(
        says(&window, "expected a number from 0 to 1"),
        "{:?}",
        trouble(&window)
    );
    fill(&mut window, "Read share", "0.5");
    assert_eq!(
        trouble(&window),
        None,
        "who puts it right is not told any more"
    );
    fill(&mut window, "Address", "oracle://me:secret@host");
    run(&mut window, Command::Hunt);
    assert!(
        says(&window, "`oracle://me@host` is no address of a database"),
        "{:?}",
        trouble(&window)
    );
    fill(&mut window, "Address", "sqlite:/nowhere/at/all/x.db");
    run(&mut window, Command::RunWorkload);
    wait_until_over(&mut window);
    let (_, text) = trouble(&window).expect("it cannot be made");
    assert!(says(&window, &text) && !text.contains('\n'), "{text}");
    assert_eq!(last_run(&window).stage, Stage::Failed);
    fill(&mut window, "Address", "sqlite");
    fill(
        &mut window,
        "Record to",
        &folder
            .path()
            .join("history.edn/under/a-file.edn")
            .display()
            .to_string(),
    );
    std::fs::write(folder.path().join("history.edn"), "x").expect("the folder is writable");
    run(&mut window, Command::RunWorkload);
    wait_until_over(&mut window);
    assert!(
        trouble(&window).is_some_and(|(_, text)| text.contains("history.edn")),
        "{:?}",
        trouble(&window)
    );
    choose(&mut window, "Database", "Store in memory");
    choose(&mut window, "Isolation", "tcc");
    choose(&mut window, "Workload", "list-append");
    fill(
        &mut window,
        "Record to",
        &folder.path().join("lists.edn").display().to_string(),
    );
    run(&mut window, Command::RunWorkload);
    wait_until_over(&mut window);
    assert!(
        says(&window, "the store tcc cannot hold lists"),
        "{:?}",
        trouble(&window)
    );
}

#[cfg(unix)]
#[test]
fn servers_and_faults_are_filled_in_and_shown_while_they_last() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut window, _folder, file) = page(egui::Theme::Dark);
    let database = folder.path().join("test.db");
    let other = folder.path().join("other.db");
    std::os::unix::fs::symlink(&database, &other).expect("a second name");
    window.get_by_label("Add a server").click();
    window.run_steps(3);
    for (n, name, path) in [(1, "one", &database), (2, "two", &other)] {
        fill(&mut window, &format!("Name of server {n}"), name);
        fill(
            &mut window,
            &format!("Address of server {n}"),
            &format!("sqlite:{}", path.display()),
        );
    }
    window.get_by_label("Server 2 is read-only").click();
    fill(&mut window, "Sessions of server 2", "3");
    let log = folder.path().join("log");
    for (name, begin) in [
        ("noise", format!("echo begin >> '{}'", log.display())),
        ("gone", "true".to_owned()),
    ] {
        window.get_by_label("Add a fault…").click();
        window.run_steps(4);
        window.get_by_label("Fault command").click();
        window.run_steps(4);
        let n = window.state().state().collect.form.breaks().len();
        fill(&mut window, &format!("Name of fault {n}"), name);
        fill(&mut window, &format!("Target of fault {n}"), &begin);
    }
    window.get_by_label("Remove fault 2").click();
    window.run_steps(3);
    fill(
        &mut window,
        "Remedy of fault 1",
        &format!("echo end >> '{}'", log.display()),
    );
    fill(&mut window, "Every", "0.1");
    fill(&mut window, "For", "0.1");
    fill(&mut window, "Seconds", "2");
    fill(&mut window, "Transactions", "100000");
    run(&mut window, Command::Hunt);
    assert!(
        says(&window, "what is promised is for one server"),
        "no product promises it for several"
    );
    run(&mut window, Command::RunWorkload);
    wait(&mut window, "a fault", |window| {
        window
            .state()
            .state()
            .collect
            .run
            .as_ref()
            .is_some_and(|run| run.faults.iter().any(|f| f.end.is_some()))
    });
    wait_until_over(&mut window);
    assert_eq!(
        last_run(&window).stage,
        Stage::Done,
        "{:?}",
        window.state().state().collect.error
    );
    assert!(
        last_run(&window)
            .faults
            .iter()
            .all(|fault| fault.name == "noise" && fault.end.is_some())
    );
    let request = Request {
        format: None,
        rules: None,
    };
    let history =
        formats::open(&file, request, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
    let cluster = history.cluster();
    let sessions: Vec<_> = cluster.nodes().zip(cluster.sessions_by_node()).collect();
    assert!(
        sessions.contains(&("two".to_owned(), 3)) && sessions.contains(&("one".to_owned(), 7)),
        "{sessions:?}"
    );
    let told = std::fs::read_to_string(&log).expect("the commands ran");
    assert_eq!(told.matches("begin").count(), told.matches("end").count());
    assert_eq!(cluster.faults().len(), told.matches("begin").count());
}

#[test]
fn what_is_there_is_never_overwritten() {
    let (mut window, folder, file) = page(egui::Theme::Light);
    std::fs::write(&file, "mine").expect("the folder is writable");
    fill(&mut window, "Transactions", "5");
    run(&mut window, Command::RunWorkload);
    wait_until_over(&mut window);
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "mine");
    assert_eq!(n_transactions(&folder.path().join("history-2.edn")), 50);
}

#[cfg(feature = "postgres")]
#[test]
fn passwords_are_neither_shown_nor_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recent = folder.path().join("recent.txt");
    let mut window = page_of(App::new(Some(recent.clone())), egui::Theme::Dark);
    choose(&mut window, "Database", "PostgreSQL");
    // Nothing answers at the port for multiplexing TCP services.
    fill(
        &mut window,
        "Address",
        "postgres://me:secret@127.0.0.1:1/test",
    );
    run(&mut window, Command::RunWorkload);
    wait_until_over(&mut window);
    assert_eq!(
        window
            .state()
            .state()
            .collect
            .form
            .word(isoscope::app::collecting::form::Field::Address),
        "postgres://me@127.0.0.1:1/test"
    );
    assert!(
        says(&window, "postgres://me@127.0.0.1:1/test: ") && says(&window, "refused"),
        "it does not answer"
    );
    assert!(says(&window, "The password in it is used and not shown"));
    fill(&mut window, "Address", "postgres://me@127.0.0.1:1/other");
    fill(&mut window, "Password", "secret");
    run(&mut window, Command::RunWorkload);
    wait_until_over(&mut window);
    // On quitting, what is not written yet is waited for.
    let told = format!("{:?}", window.state().state());
    assert!(!says(&window, "secret") && !told.contains("secret"));
    drop(window);
    let settings =
        std::fs::read_to_string(folder.path().join("settings.json")).expect("it was kept");
    assert!(
        settings.contains("postgres://me@127.0.0.1:1/other") && !settings.contains("secret"),
        "{settings}"
    );
    let again = page_of(App::new(Some(recent)), egui::Theme::Dark);
    assert_eq!(shown(&again, "Database"), "Database: PostgreSQL");
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn a_write_skew_is_hunted_on_postgresql() {
    let Some(server) = common::postgres::start(&[]) else {
        return;
    };
    let (mut window, _folder, _file) = page(egui::Theme::Light);
    // An address chooses its database.
    fill(
        &mut window,
        "Address",
        &format!("postgres:{}", server.connection()),
    );
    assert_eq!(shown(&window, "Database"), "Database: PostgreSQL");
    choose(&mut window, "Isolation", "repeatable-read");
    choose(&mut window, "Check", "SER");
    fill(&mut window, "Keys", "10");
    fill(&mut window, "Operations", "4");
    run(&mut window, Command::Hunt);
    wait(&mut window, "the hunt", |window| {
        window.state().state().document.is_some()
    });
    wait_until_checked(&mut window);
    let last = last_run(&window).rows.last().expect("a round").clone();
    assert!(last.is_violated() && !last.breaks_promise(), "{last:?}");
    let catalogue = document(&window).catalogue.clone().expect("it was checked");
    let selected = document(&window)
        .selected
        .and_then(|id| catalogue.violation(id).cloned())
        .expect("it is shown");
    assert_eq!(selected.levels.weakest(), Some(Level::Serializability));
}

#[test]
fn every_action_of_the_page_has_keys_and_stands_in_the_palette() {
    let commands = [
        Command::ShowCollect,
        Command::RunWorkload,
        Command::Hunt,
        Command::CompareLevels,
        Command::OpenCollected,
        Command::WriteRounds,
    ];
    for theme in themes() {
        let (mut window, _folder, _file) = page(theme);
        for command in commands {
            run(&mut window, Command::Palette);
            window
                .get_by_label("Find anything")
                .type_text(command.row().name);
            window.run_steps(3);
            assert!(
                says(&window, &format!("Do {}", command.row().name)),
                "{}",
                command.row().name
            );
            press(&mut window, egui::Key::Escape);
        }
        // With an open history nothing of it is lost by looking at the page, and the welcome page leads there too.
        let (mut other, _other_folder) = opened(FRACTURED, theme);
        let before = document(&other).selected;
        run(&mut other, Command::ShowCollect);
        assert!(
            says(&other, "Make a history") && other.query_by_label_contains("Level RA").is_none()
        );
        run(&mut other, Command::ShowCollect);
        assert_eq!(document(&other).selected, before);
        assert!(!other.state().state().is_covered());
        let mut welcome = window::window(theme);
        welcome.run_steps(2);
        welcome.get_by_label("Collect").click();
        welcome.run_steps(3);
        assert!(welcome.state().state().is_covered());
    }
}
