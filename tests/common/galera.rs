//! Two nodes of MariaDB with Galera, in a temporary folder, stopped on drop; as [`servers`](super::servers) for single servers.
//!
//! A node copies its data to another one with rsync, which takes up the account of the server: as root it is `mysql`.

use super::postgres::{is_root, missing};
use super::servers::{free_port, program};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The library of the cluster.
const PROVIDERS: [&str; 2] = [
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
];

/// A running cluster.
pub(crate) struct Cluster {
    nodes: Vec<Child>,
    folder: TempDir,
}

/// Starts two nodes with a database `test`; `None` where they are not installed.
pub(crate) fn start() -> Option<Cluster> {
    let name = "Galera (mariadbd, mariadb-install-db, galera-4, rsync)";
    let provider = PROVIDERS.iter().find(|path| Path::new(path).is_file());
    let there = ["mariadbd", "mariadb-install-db", "mariadb", "rsync"].map(program);
    let (Some(provider), [Some(daemon), Some(install), Some(client), Some(_)]) = (provider, there)
    else {
        return missing(name);
    };
    let user = if is_root() { "mysql" } else { "" };
    let folder = tempfile::Builder::new()
        .prefix("ga-")
        .tempdir_in("/tmp")
        .expect("a folder");
    if !user.is_empty() {
        run(Command::new("chown").arg(user).arg(folder.path()));
    }
    let mut cluster = Cluster {
        nodes: Vec::new(),
        folder,
    };
    let ports: Vec<u16> = (0..8).map(|_| free_port()).collect();
    for node in 0..2 {
        let mut initialize = Command::new(&install);
        initialize.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
        initialize.arg(format!("--datadir={}", cluster.path("data", node)));
        run(if user.is_empty() {
            &mut initialize
        } else {
            initialize.arg(format!("--user={user}"))
        });
        let port = |what: usize| ports[4 * node + what];
        let mut serve = Command::new(&daemon);
        serve.args([
            "--no-defaults",
            "--bind-address=127.0.0.1",
            "--binlog-format=ROW",
            "--wsrep-on=ON",
        ]);
        serve.args([
            "--innodb-autoinc-lock-mode=2",
            "--innodb-flush-log-at-trx-commit=0",
        ]);
        serve.args([
            "--innodb-buffer-pool-size=16M",
            "--wsrep-sst-method=rsync",
            "--innodb-log-file-size=8M",
        ]);
        serve.arg(format!("--datadir={}", cluster.path("data", node)));
        serve.arg(format!("--socket={}", cluster.path("socket", node)));
        serve.arg(format!("--pid-file={}", cluster.path("pid", node)));
        serve
            .arg(format!("--port={}", port(0)))
            .arg(format!("--wsrep-provider={provider}"));
        serve.arg(format!(
            "--wsrep-provider-options=base_port={0}; gmcast.listen_addr=tcp://127.0.0.1:{0}; \
             ist.recv_addr=127.0.0.1:{1}; gcache.size=16M",
            port(1),
            port(2)
        ));
        serve.arg(format!("--wsrep-node-address=127.0.0.1:{}", port(1)));
        serve.arg(format!("--wsrep-sst-receive-address=127.0.0.1:{}", port(3)));
        match node {
            0 => serve.args(["--wsrep-cluster-address=gcomm://", "--wsrep-new-cluster"]),
            _ => serve.arg(format!(
                "--wsrep-cluster-address=gcomm://127.0.0.1:{}",
                ports[1]
            )),
        };
        if !user.is_empty() {
            serve.arg(format!("--user={user}"));
        }
        let log = std::fs::File::create(cluster.path("log", node)).expect("the folder is there");
        let out = log.try_clone().expect("a file can be cloned");
        let process = serve
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(log)
            .spawn()
            .expect("mariadbd starts");
        cluster.nodes.push(process);
        cluster.wait_until_ready(node, &client);
    }
    Some(cluster)
}

impl Cluster {
    /// The address of a node for `--db`.
    pub(crate) fn url(&self, node: usize) -> String {
        format!(
            "mysql://root@localhost/test?socket={}",
            self.path("socket", node)
        )
    }

    fn path(&self, what: &str, node: usize) -> String {
        self.folder
            .path()
            .join(format!("{what}{node}"))
            .display()
            .to_string()
    }

    fn wait_until_ready(&mut self, node: usize, client: &Path) {
        let begin = Instant::now();
        loop {
            let mut ask = Command::new(client);
            ask.args([
                "--no-defaults",
                "--user=root",
                "--execute=show status like 'wsrep_ready'",
            ]);
            let answer = ask
                .arg(format!("--socket={}", self.path("socket", node)))
                .output()
                .expect("mariadb starts");
            if String::from_utf8_lossy(&answer.stdout).contains("ON") {
                return;
            }
            let ended = self.nodes[node].try_wait().expect("it is our child");
            if ended.is_some() || begin.elapsed() > Duration::from_secs(120) {
                let log = std::fs::read_to_string(self.path("log", node)).unwrap_or_default();
                panic!("Galera does not answer ({ended:?}):\n{log}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

fn run(command: &mut Command) {
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
