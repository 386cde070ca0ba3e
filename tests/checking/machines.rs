//! The scripts of `docs/machines.md`, as written there, run by the schedulers that they are for: a loop, GNU parallel, Slurm
//! with a node that is killed, and the command of the Kubernetes job. The joined report is the report of a single run.

#![cfg(unix)]

use crate::common;

use common::postgres::missing;
use common::servers::program;
use common::slurm::{Slurm, is_running};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Histories of the folder `runs`; where a shard must be met at work, so many that it takes a while.
const FEW: usize = 48;
const MANY: usize = 200;

/// A folder in which the scripts run.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        std::fs::create_dir(folder.path("programs")).expect("a folder");
        std::os::unix::fs::symlink(
            env!("CARGO_BIN_EXE_isoscope"),
            folder.path("programs/isoscope"),
        )
        .expect("a link");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A search path on which `isoscope` is the program that was just built.
    fn programs(&self) -> String {
        format!(
            "{}:{}",
            self.path("programs").display(),
            std::env::var("PATH").unwrap_or_default()
        )
    }

    /// Runs a script, with one more variable set.
    fn run(&self, script: &str, variable: (&str, &str)) -> Output {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .env("PATH", self.programs())
            .env(variable.0, variable.1);
        shell
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell")
    }

    /// What a command prints.
    fn printed(&self, script: &str) -> String {
        String::from_utf8(self.run(script, ("NOTHING", "")).stdout).expect("UTF-8")
    }

    /// The folder `runs`.
    fn fill(&self, histories: usize) {
        self.printed(&format!(
            "isoscope generate --store rc --sessions 4 --transactions 15 --keys 20 --histories {histories} -o runs/"
        ));
    }

    /// The reports of a command, without what may differ between two runs: times, and which of several orders was found.
    fn reports(&self, script: &str) -> Vec<Json> {
        let lines = self.printed(script);
        let mut reports: Vec<Json> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("a report"))
            .collect();
        reports.iter_mut().for_each(keep_what_is_said);
        reports
    }

    /// The numbers of the parts that are there.
    fn parts(&self) -> Vec<usize> {
        (0..16)
            .filter(|shard| self.path(&format!("part-{shard}.json")).exists())
            .collect()
    }
}

fn keep_what_is_said(value: &mut Json) {
    match value {
        Json::Object(object) => {
            for field in ["seconds", "timings", "witness", "snapshots", "part"] {
                object.remove(field);
            }
            object.values_mut().for_each(keep_what_is_said);
        }
        Json::Array(list) => list.iter_mut().for_each(keep_what_is_said),
        _ => {}
    }
}

/// The shell script of the page that contains `part`, without its indentation.
fn page_script(part: &str) -> String {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/machines.md"))
            .expect("a page");
    let script = match page
        .split("```")
        .find(|block| block.contains(part))
        .expect("the page has such a script")
    {
        job if job.starts_with("yaml") => {
            let lines = job.lines().skip_while(|line| line.trim() != "- |").skip(1);
            lines
                .take_while(|line| !line.contains("volumeMounts"))
                .map(|line| format!("{line}\n"))
                .collect()
        }
        script => script.to_owned(),
    };
    script
        .strip_prefix("bash\n")
        .map_or(script.clone(), str::to_owned)
}

const WHOLE: &str = "isoscope check runs/ --json --witness";
const JOINED: &str = "isoscope merge-reports part-*.json";

#[test]
fn a_loop_over_shards_ends_in_the_reports_of_a_single_run() {
    let folder = Folder::new();
    folder.fill(FEW);
    let output = folder.run(&page_script("for i in 0 1"), ("NOTHING", ""));
    // What violates a level is no failure of the command.
    assert!(output.status.code() <= Some(1), "{output:?}");
    assert_eq!(folder.reports("cat report.json"), folder.reports(WHOLE));
}

#[test]
fn gnu_parallel_runs_its_line() {
    if program("parallel").is_none() {
        return missing("GNU parallel (parallel)").unwrap_or_default();
    }
    let folder = Folder::new();
    folder.fill(FEW);
    let output = folder.run(
        &page_script("parallel isoscope"),
        ("HOME", &folder.path("").display().to_string()),
    );
    // Its exit code counts the jobs that failed: here, those that found a violation.
    assert!(
        output.status.code().is_some_and(|code| code <= 8),
        "{output:?}"
    );
    assert_eq!(folder.parts().len(), 8);
    assert_eq!(folder.reports(JOINED), folder.reports(WHOLE));
}

#[test]
fn the_command_of_the_kubernetes_job_runs() {
    let folder = Folder::new();
    folder.fill(FEW);
    let job = page_script("completionMode").replace("/data/", "");
    for shard in 0..8 {
        let output = folder.run(&job, ("JOB_COMPLETION_INDEX", &shard.to_string()));
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(folder.reports(JOINED), folder.reports(WHOLE));
}

#[test]
fn slurm_runs_its_array_and_a_killed_shard_again() {
    let Some(mut slurm) = Slurm::start() else {
        return;
    };
    let folder = Folder::new();
    folder.fill(MANY);
    let script = folder.path("job.sh");
    std::fs::write(&script, page_script("#SBATCH").trim_start()).expect("a file");
    let at = folder.0.path();
    slurm.submit(&script, at, &folder.programs(), &[]);
    // In the middle: some shards have reported, one is at work.
    while folder.parts().is_empty() || !is_running("isoscope", at) {
        std::thread::sleep(Duration::from_millis(1));
    }
    slurm.kill_the_node(at);
    slurm.restart_the_node();
    slurm.wait_for_jobs();

    let done = folder.parts();
    let missing: Vec<String> = (0..16)
        .filter(|shard| !done.contains(shard))
        .map(|shard| shard.to_string())
        .collect();
    assert!(!done.is_empty() && !missing.is_empty(), "{done:?}");
    let partly = folder.reports(JOINED);
    assert_eq!(partly.len(), MANY);
    assert!(
        partly
            .iter()
            .any(|report| report["levels"].to_string().contains("undecided")),
        "{missing:?}"
    );

    slurm.submit(
        &script,
        at,
        &folder.programs(),
        &[&format!("--array={}", missing.join(","))],
    );
    slurm.wait_for_jobs();
    assert_eq!(folder.parts().len(), 16);
    assert_eq!(
        folder.reports(JOINED),
        folder.reports("isoscope check runs/ --json")
    );
}
