//! Files and streams that could hurt: what cannot be read, never ends, cannot be written, or is no file at all.
#![cfg(unix)]

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Satisfies every level.
const GOOD: &str = "a: [w x 1] [r x 1, w x 2]\nb: [r x 2]\n";
/// Two updates of one version: satisfies PC, violates SI.
const LOST_UPDATE: &str = "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n";
/// A file to write to that is always full.
const FULL: &str = "/dev/full";

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file in the temporary folder");
        path
    }

    fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir(&path).expect("a folder in the temporary folder");
        path
    }

    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let made = Command::new("mkfifo")
            .arg(&path)
            .status()
            .expect("mkfifo is part of every Unix");
        assert!(made.success());
        path
    }

    /// Names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("it is a folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("readable")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null());
    command
}

/// Words of a command line; what begins with `@` is a file of the folder.
fn arguments(folder: &Folder, line: &str) -> Vec<PathBuf> {
    line.split_whitespace()
        .map(|word| match word.strip_prefix('@') {
            Some(name) => folder.path(name),
            None => PathBuf::from(word),
        })
        .collect()
}

fn isoscope(folder: &Folder, line: &str) -> Output {
    program()
        .args(arguments(folder, line))
        .output()
        .expect("the program starts")
}

/// The same with `bytes` on standard input.
fn fed(folder: &Folder, line: &str, bytes: &[u8]) -> Output {
    let mut child = start(folder, line, Stdio::piped());
    let mut input = child.stdin.take().expect("it is a pipe");
    // The program may have ended by then.
    let _: std::io::Result<()> = input.write_all(bytes);
    drop(input);
    child.wait_with_output().expect("the program ends")
}

/// The same with a line that is repeated on standard input as long as it is read.
fn fed_without_end(folder: &Folder, line: &str, repeated: &str) -> Output {
    let mut child = start(folder, line, Stdio::piped());
    let mut input = child.stdin.take().expect("it is a pipe");
    let block = repeated.repeat((1 << 16) / repeated.len());
    let feeder = std::thread::spawn(move || while input.write_all(block.as_bytes()).is_ok() {});
    let output = child.wait_with_output().expect("the program ends");
    feeder.join().expect("it ends with the program");
    output
}

fn start(folder: &Folder, line: &str, input: Stdio) -> Child {
    let mut command = program();
    command
        .args(arguments(folder, line))
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output
        .status
        .code()
        .unwrap_or_else(|| panic!("the program ends by itself: {output:?}"))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Exit code 2 and exactly one line on standard error that contains each of `parts`.
#[track_caller]
fn assert_unusable(output: &Output, parts: &[&str]) {
    let errors = stderr(output);
    assert_eq!(code(output), 2, "{errors}{}", stdout(output));
    assert!(
        errors.starts_with("isoscope: ") && errors.lines().count() == 1,
        "{errors}"
    );
    for part in parts {
        assert!(errors.contains(part), "`{part}` is not in: {errors}");
    }
}

#[test]
fn what_cannot_be_read_in_a_folder_is_said_and_the_rest_is_checked() {
    let folder = Folder::new();
    let runs = folder.folder("runs");
    folder.file("runs/a.txt", GOOD);
    symlink("nowhere.txt", runs.join("dangling.txt")).expect("a link");
    symlink("round.txt", runs.join("round.txt")).expect("a link");
    symlink(
        folder.file("elsewhere", LOST_UPDATE),
        runs.join("linked.txt"),
    )
    .expect("a link");
    symlink(".", runs.join("loop")).expect("a link");
    folder.pipe("runs/pipe.txt");
    let socket = std::os::unix::net::UnixListener::bind(runs.join("socket")).expect("a socket");
    let output = isoscope(&folder, "check @runs --level SI");
    let (errors, lines) = (stderr(&output), stdout(&output));
    assert_eq!(code(&output), 2, "{errors}{lines}");
    assert_eq!(errors.lines().count(), 4, "{errors}");
    for (name, why) in [
        ("dangling.txt", "a link to something that is not there"),
        ("round.txt", "cannot be read"),
        ("pipe.txt", "is no regular file"),
        ("socket", "is no regular file"),
    ] {
        assert!(
            errors
                .lines()
                .any(|line| line.contains(name) && line.contains(why)),
            "{name}: {errors}"
        );
    }
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(
        lines.contains("a.txt") && lines.contains("SI+") && lines.contains("SI-"),
        "{lines}"
    );
    let reports = stdout(&isoscope(&folder, "check @runs --json"));
    assert_eq!(
        reports
            .lines()
            .filter(|line| line.contains("\"error\":{"))
            .count(),
        4,
        "{reports}"
    );
    assert_eq!(reports.lines().count(), 6, "{reports}");
    let table = isoscope(&folder, "stats --plume-table @runs");
    assert_eq!(
        (code(&table), stderr(&table).lines().count()),
        (2, 4),
        "{}",
        stderr(&table)
    );
    drop(socket);
}

#[test]
fn a_file_without_rights_is_said_like_any_other_that_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.folder("runs");
    folder.file("runs/a.txt", GOOD);
    // Neither its name nor its first bytes tell that it is no history.
    for name in ["b.txt", "c.edn", "d"] {
        let path = folder.file(&format!("runs/{name}"), LOST_UPDATE);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000))
            .expect("it is ours");
        if File::open(&path).is_ok() {
            println!("skipped: rights do not bind this user");
            return;
        }
    }
    let output = isoscope(&folder, "check @runs");
    assert_eq!(
        (code(&output), stderr(&output).lines().count()),
        (2, 3),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("a.txt"));
}

#[test]
fn a_history_of_several_files_is_not_read_without_one_of_them() {
    let folder = Folder::new();
    let run = folder.folder("run");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_histories/formats/cobra");
    for entry in std::fs::read_dir(sample).expect("a sample") {
        let path = entry.expect("readable").path();
        std::fs::copy(&path, run.join(path.file_name().expect("a name"))).expect("a copy");
    }
    assert_ne!(code(&isoscope(&folder, "check @run")), 2);
    symlink("nowhere", run.join("T99.log")).expect("a link");
    assert_unusable(
        &isoscope(&folder, "check @run"),
        &["run", "T99.log", "no such file"],
    );
    std::fs::remove_file(run.join("T99.log")).expect("the link");
    folder.pipe("run/T99.log");
    assert_unusable(
        &isoscope(&folder, "check @run"),
        &["T99.log", "no regular file"],
    );
}

#[test]
fn pipes_and_devices_are_written_through() {
    let folder = Folder::new();
    folder.file("h.txt", GOOD);
    let plain = folder.path("plain.json");
    assert_eq!(code(&isoscope(&folder, "convert @h.txt -o @plain.json")), 0);
    let expected = std::fs::read(&plain).expect("it was written");
    let pipe = folder.pipe("pipe.json");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe)
    });
    let output = isoscope(&folder, "convert @h.txt -o @pipe.json");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(
        reader.join().expect("it ends").expect("it can be read"),
        expected
    );
    assert!(
        std::fs::metadata(&pipe)
            .expect("it is there")
            .file_type()
            .is_fifo()
    );
    // By a link, so that a fault here replaces nothing that others need.
    symlink("/dev/null", folder.path("device.json")).expect("a link");
    assert_eq!(
        code(&isoscope(&folder, "convert @h.txt -o @device.json")),
        0
    );
    let device = std::fs::metadata(folder.path("device.json")).expect("it is there");
    assert!(device.file_type().is_char_device());
    assert_eq!(
        folder.names(),
        ["device.json", "h.txt", "pipe.json", "plain.json"]
    );
}

#[test]
fn standard_output_may_be_called_by_its_path() {
    let folder = Folder::new();
    folder.file("h.txt", GOOD);
    let out = File::create(folder.path("out")).expect("a file");
    (&out).write_all(b"before\n").expect("written");
    let status = program()
        .args(arguments(
            &folder,
            "convert @h.txt --to json -o /dev/stdout",
        ))
        .stdout(out)
        .status();
    assert!(status.expect("the program starts").success());
    let text = std::fs::read_to_string(folder.path("out")).expect("it is there");
    assert!(text.starts_with("before\n{"), "{text}");
}

#[test]
fn the_target_of_a_link_gets_the_new_content() {
    let folder = Folder::new();
    folder.file("h.txt", GOOD);
    folder.folder("far");
    for link in ["link.json", "absolute.json"] {
        let target = folder.path("far").join(link);
        let to = if link == "link.json" {
            PathBuf::from("far/link.json")
        } else {
            target.clone()
        };
        symlink(to, folder.path(link)).expect("a link");
        // At first the link leads nowhere.
        for _ in 0..2 {
            assert_eq!(
                code(&isoscope(&folder, &format!("convert @h.txt -o @{link}"))),
                0
            );
            assert!(
                std::fs::read_to_string(&target)
                    .expect("it is there")
                    .starts_with('{')
            );
            assert!(folder.path(link).is_symlink());
            std::fs::write(&target, "old").expect("it is writable");
        }
    }
    assert_eq!(
        folder.names(),
        ["absolute.json", "far", "h.txt", "link.json"]
    );
    assert_eq!(
        std::fs::read_dir(folder.path("far"))
            .expect("a folder")
            .count(),
        2
    );
}

#[test]
fn where_nothing_can_be_written_one_line_says_why() {
    let folder = Folder::new();
    folder.file("h.txt", LOST_UPDATE);
    symlink(FULL, folder.path("full.json")).expect("a link");
    folder.folder("old");
    folder.file("old/x", "");
    for (command, ending) in [
        ("convert @h.txt", "json"),
        ("minimize @h.txt --level SI --to json", "json"),
        ("export @h.txt --violation LostUpdate/1", "svg"),
        ("generate --to json", "json"),
        ("check @h.txt --json", "json"),
    ] {
        let write = |to: &str| isoscope(&folder, &format!("{command} -o @{to}"));
        let nowhere = format!("no/out.{ending}");
        assert_unusable(&write(&nowhere), &[&nowhere, "there is no folder"]);
        let below = format!("h.txt/out.{ending}");
        assert_unusable(&write(&below), &[&below]);
        if ending == "json" {
            assert_unusable(&write("full.json"), &["full.json", "No space"]);
        }
    }
    assert_unusable(
        &isoscope(&folder, "convert @h.txt --to json -o @old"),
        &["old", "directory"],
    );
    assert_unusable(
        &isoscope(&folder, "report @h.txt -o @old"),
        &["old", "with files in it"],
    );
    assert_unusable(
        &isoscope(&folder, "report @h.txt -o @no/report"),
        &["there is no folder"],
    );
    assert_unusable(
        &isoscope(&folder, "generate --histories 2 -o @h.txt/runs"),
        &["h.txt"],
    );
    assert_eq!(folder.names(), ["full.json", "h.txt", "old"]);
    assert!(
        std::fs::metadata(FULL)
            .expect("it is there")
            .file_type()
            .is_char_device()
    );
}

#[test]
fn what_cannot_be_printed_makes_the_code_2() {
    let folder = Folder::new();
    folder.file("good.txt", GOOD);
    folder.file("lost.txt", LOST_UPDATE);
    let report = isoscope(&folder, "check @lost.txt --json --witness");
    folder.file("report.json", &report.stdout);
    for line in [
        "check @good.txt",
        "check @lost.txt",
        "check @good.txt --json",
        "check @good.txt @lost.txt",
        "stats @good.txt",
        "stats @good.txt --json",
        "stats --plume-table @good.txt",
        "convert @good.txt --to json -o -",
        "explain @lost.txt",
        "explain @good.txt",
        "minimize @lost.txt --level SI -o - --to text",
        "report @lost.txt -o -",
        "generate -o -",
        "verify @lost.txt @report.json",
        "merge-reports @report.json",
        "--help",
        "check --help",
        "--version",
    ] {
        let full = File::options()
            .write(true)
            .open(FULL)
            .expect("every Linux has it");
        let output = program()
            .args(arguments(&folder, line))
            .stdout(full)
            .output()
            .expect("the program starts");
        let errors = stderr(&output);
        assert_eq!(code(&output), 2, "{line}: {errors}");
        let about = errors
            .lines()
            .filter(|error| error.contains("standard output") && error.contains("No space"));
        assert_eq!(about.count(), 1, "{line}: {errors}");
        // A pipe that is not read is no failure.
        let mut child = start(&folder, line, Stdio::null());
        drop(child.stdout.take());
        let closed = child.wait_with_output().expect("the program ends");
        let read = isoscope(&folder, line);
        assert_eq!(
            (code(&closed), stderr(&closed)),
            (code(&read), stderr(&read)),
            "{line}"
        );
    }
}

#[test]
fn every_command_reads_a_history_from_standard_input() {
    let folder = Folder::new();
    folder.file("h.txt", LOST_UPDATE);
    folder.file(
        "report.json",
        isoscope(&folder, "check @h.txt --json --witness").stdout,
    );
    for (line, expected) in [
        ("check -", 1),
        ("check - --json", 1),
        (
            "check - --level PC --time-limit 1000 --memory-limit 100000",
            0,
        ),
        ("check /dev/stdin --format text", 1),
        ("stats -", 0),
        ("convert - --to json -o -", 0),
        ("explain -", 0),
        ("export - --violation LostUpdate/1 -o @out.svg", 0),
        ("minimize - --level SI -o @out.txt", 0),
        ("report - -o @out.html", 0),
        ("report - -o @folder", 0),
        ("verify - @report.json", 0),
    ] {
        let output = fed(&folder, line, LOST_UPDATE.as_bytes());
        assert_eq!(code(&output), expected, "{line}: {}", stderr(&output));
    }
    let report = std::fs::read(folder.path("report.json")).expect("it is there");
    let output = fed(&folder, "verify @h.txt -", &report);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_unusable(&fed(&folder, "verify - -", &report), &["standard input"]);
    assert_unusable(&fed(&folder, "check -", b""), &["-: empty file"]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(LOST_UPDATE.as_bytes()).expect("memory");
    let output = fed(&folder, "check -", &packed.finish().expect("memory"));
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    // The picture of a stream names no fingerprint of something else.
    let picture = std::fs::read_to_string(folder.path("out.svg")).expect("it is there");
    assert!(!picture.contains("sha256"), "{picture}");
}

#[test]
fn a_stream_that_is_no_history_is_refused_early() {
    let folder = Folder::new();
    assert_unusable(
        &isoscope(&folder, "check /dev/zero"),
        &["/dev/zero", "binary"],
    );
    assert_unusable(
        &isoscope(&folder, "stats /dev/zero"),
        &["/dev/zero", "binary"],
    );
    assert_unusable(
        &isoscope(&folder, "check /dev/zero --format plume"),
        &["/dev/zero", "line 1"],
    );
    assert_unusable(
        &fed_without_end(&folder, "check -", "this is none\n"),
        &["line 1", "expected"],
    );
    let plume = fed_without_end(&folder, "check - --format plume", "this is none\n");
    assert_unusable(&plume, &["line 1", "expected"]);
    folder.file("h.txt", GOOD);
    assert_unusable(
        &isoscope(&folder, "verify @h.txt /dev/zero"),
        &["/dev/zero", "found"],
    );
}

#[test]
fn every_command_reads_within_its_limit() {
    let folder = Folder::new();
    folder.file("h.txt", LOST_UPDATE);
    folder.file(
        "report.json",
        isoscope(&folder, "check @h.txt --json --witness").stdout,
    );
    for command in [
        "check @h.txt",
        "explain @h.txt",
        "export @h.txt -o @out.svg",
        "report @h.txt -o @out.html",
        "minimize @h.txt --level SI -o @out.txt",
        "verify @h.txt @report.json",
    ] {
        assert_unusable(
            &isoscope(&folder, &format!("{command} --time-limit 0")),
            &["time limit"],
        );
        let output = isoscope(
            &folder,
            &format!("{command} --time-limit 1000 --memory-limit 100000"),
        );
        assert!(code(&output) < 2, "{command}: {}", stderr(&output));
    }
}

#[test]
fn limits_hold_while_a_stream_is_read() {
    let folder = Folder::new();
    folder.pipe("pipe.txt");
    assert_unusable(
        &isoscope(&folder, "check @pipe.txt --time-limit 0.1"),
        &["pipe.txt", "time limit"],
    );
    let line = "r(1,2,0,0)\n";
    assert_unusable(
        &fed_without_end(&folder, "check - --time-limit 0.5", line),
        &["time limit"],
    );
    if memory_stats::memory_stats().is_none() {
        println!("skipped: the system does not tell how much memory is used");
        return;
    }
    assert_unusable(
        &fed_without_end(&folder, "check /dev/stdin --memory-limit 300", line),
        &["memory limit"],
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all(line.repeat(1 << 16).as_bytes())
        .expect("memory");
    let member = packed.finish().expect("memory");
    folder.file("bomb.txt.gz", member.repeat(1000));
    assert_unusable(
        &isoscope(&folder, "check @bomb.txt.gz --memory-limit 300"),
        &["bomb.txt.gz", "memory limit"],
    );
    assert_unusable(
        &isoscope(&folder, "check @bomb.txt.gz --time-limit 0"),
        &["bomb.txt.gz", "time limit"],
    );
}

/// Where the address space is limited, an allocation that fails would abort the process.
#[cfg(target_os = "linux")]
#[test]
fn little_address_space_ends_reading_in_one_line() {
    let folder = Folder::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all("r(1,2,0,0)\n".repeat(1 << 16).as_bytes())
        .expect("memory");
    folder.file("bomb.txt.gz", packed.finish().expect("memory").repeat(1500));
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -v 1200000; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_isoscope"),
        "check",
    ]);
    let output = command
        .arg(folder.path("bomb.txt.gz"))
        .output()
        .expect("the shell starts");
    assert_unusable(&output, &["bomb.txt.gz", "memory limit"]);
}

#[test]
fn a_signal_leaves_no_temporary_file() {
    for (signal, expected) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let folder = Folder::new();
        folder.pipe("pipe.txt");
        // Nothing ever comes from the pipe, so the program waits for it with its output begun.
        let mut child = start(
            &folder,
            "check @pipe.txt --json -o @report.json",
            Stdio::null(),
        );
        while !folder
            .names()
            .iter()
            .any(|name| name.starts_with(".isoscope-"))
        {
            assert!(
                child.try_wait().expect("it is our child").is_none(),
                "it waits for the pipe"
            );
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(sent.expect("kill is part of every Unix").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            (code(&output), stderr(&output)),
            (expected, String::new()),
            "{signal}"
        );
        assert_eq!(folder.names(), ["pipe.txt"], "{signal}");
    }
}
