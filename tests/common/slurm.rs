//! Slurm of a test's own: a controller and a node on this machine, in a temporary folder.

use super::postgres::{is_root, missing};
use super::servers::{free_port, program};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// A controller and a node, ended on drop.
pub(crate) struct Slurm {
    folder: TempDir,
    controller: Child,
    node: Child,
}

impl Slurm {
    /// Starts both; `None` where Slurm is not installed.
    pub(crate) fn start() -> Option<Slurm> {
        let (Some(controller), Some(node)) = (program("slurmctld"), program("slurmd")) else {
            return missing("Slurm (slurmctld, slurmd)");
        };
        if !is_root() {
            return missing(
                "a node of Slurm that may start jobs, for which the tests have to run as root,",
            );
        }
        let folder = tempfile::Builder::new()
            .prefix("slurm-")
            .tempdir_in("/tmp")
            .expect("a folder");
        std::fs::write(
            folder.path().join("slurm.conf"),
            configuration(folder.path()),
        )
        .expect("a file");
        for name in ["state", "spool"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let controller = daemon(&controller, folder.path());
        let slurm = Slurm {
            node: daemon(&node, folder.path()),
            controller,
            folder,
        };
        slurm.wait_for("the node is idle", || {
            slurm.says("sinfo", &["--noheader", "--format=%T"]).trim() == "idle"
        });
        Some(slurm)
    }

    fn run(&self, name: &str, arguments: &[&str], folder: &Path) -> Output {
        let mut command = Command::new(name);
        command
            .args(arguments)
            .current_dir(folder)
            .env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command
            .stdin(Stdio::null())
            .output()
            .expect("Slurm's client programs are installed")
    }

    fn says(&self, name: &str, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.run(name, arguments, self.folder.path()).stdout).into_owned()
    }

    fn wait_for(&self, what: &str, mut is_true: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !is_true() {
            if begin.elapsed() > PATIENCE {
                let log = |name| {
                    std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
                };
                panic!(
                    "not in time: {what}\n{}\n{}",
                    log("slurmctld.log"),
                    log("slurmd.log")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Submits a job whose script finds the programs in `path`.
    pub(crate) fn submit(&self, script: &Path, folder: &Path, path: &str, options: &[&str]) {
        let export = format!("--export=PATH={path}");
        let script = script.display().to_string();
        let output = self.run(
            "sbatch",
            &[&[&export[..]], options, &[&script]].concat(),
            folder,
        );
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Waits until no job is left.
    pub(crate) fn wait_for_jobs(&self) {
        self.wait_for("no job is left", || {
            self.says("squeue", &["--noheader"]).trim().is_empty()
        });
    }

    /// Kills the node and all that its jobs run in `folder`, as a power failure does.
    pub(crate) fn kill_the_node(&mut self, folder: &Path) {
        // Stopped first, so that the end of a job is not reported.
        let node = self.node.id().to_string();
        let kill = |signal: &str, process: &str| {
            let _ = Command::new("kill")
                .args([signal, process])
                .stderr(Stdio::null())
                .status();
        };
        kill("-STOP", &node);
        processes_in(folder)
            .iter()
            .for_each(|process| kill("-KILL", process));
        self.node.kill().expect("the node runs");
        let _ = self.node.wait();
        self.update_node("state=down reason=killed");
    }

    /// Starts the node again.
    pub(crate) fn restart_the_node(&mut self) {
        self.node = daemon(
            &program("slurmd").expect("it was there before"),
            self.folder.path(),
        );
        self.update_node("state=resume");
    }

    fn update_node(&self, change: &str) {
        let node = format!("nodename={}", host());
        let arguments: Vec<&str> = ["update", &node]
            .into_iter()
            .chain(change.split(' '))
            .collect();
        // A node that is just changing its state refuses another one.
        let begun = Instant::now();
        loop {
            let output = self.run("scontrol", &arguments, self.folder.path());
            if output.status.success() {
                return;
            }
            // One that has come back by itself, too.
            let node = format!("node={}", host());
            let shown = self.run("scontrol", &["show", &node], self.folder.path());
            let is_idle = String::from_utf8_lossy(&shown.stdout).contains("State=IDLE ");
            if change == "state=resume" && is_idle {
                return;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in [&mut self.node, &mut self.controller] {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// The name of this machine.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    name.trim().split('.').next().unwrap_or_default().to_owned()
}

/// A cluster of this machine only; jobs of a node that fails are not started again.
fn configuration(folder: &Path) -> String {
    let (host, at) = (host(), folder.display());
    let [controller, node] = [(); 2].map(|()| free_port());
    format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nNodeName={host} NodeAddr=127.0.0.1 CPUs=2\n\
         PartitionName=all Nodes=ALL Default=YES State=UP\nSlurmctldPort={controller}\nSlurmdPort={node}\n\
         AuthType=auth/none\nCredType=cred/none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmUser=root\nSlurmdUser=root\nMpiDefault=none\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
         ReturnToService=2\nJobRequeue=0\nStateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\n\
         SlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd.pid\n"
    )
}

/// Starts a daemon that stays a child of this process.
fn daemon(program: &Path, folder: &Path) -> Child {
    let name = program
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(folder.join(format!("{name}.log")));
    let mut command = Command::new(program);
    command
        .arg("-D")
        .env("SLURM_CONF", folder.join("slurm.conf"))
        .current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.expect("a log"));
    command.spawn().expect("the daemon starts")
}

/// The processes that work in a folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let works_there =
        |process: &PathBuf| std::fs::read_link(process.join("cwd")).is_ok_and(|at| at == folder);
    let processes = std::fs::read_dir("/proc")
        .expect("Linux")
        .flatten()
        .map(|entry| entry.path());
    let names = processes
        .filter(works_there)
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    names
        .filter(|name| {
            name.parse::<u32>()
                .is_ok_and(|number| number != std::process::id())
        })
        .collect()
}

/// Whether a program of this name works in the folder.
pub(crate) fn is_running(name: &str, folder: &Path) -> bool {
    let is_named = |process: &String| {
        std::fs::read_to_string(format!("/proc/{process}/comm"))
            .is_ok_and(|found| found.trim() == name)
    };
    processes_in(folder).iter().any(is_named)
}
