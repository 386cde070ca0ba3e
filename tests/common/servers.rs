//! MariaDB and Redis servers of a test's own, each in a temporary folder and reachable by a socket in it, as
//! [`postgres`](super::postgres) for PostgreSQL.

use super::postgres::{is_root, missing};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server, killed on drop.
pub(crate) struct Server {
    process: Child,
    folder: TempDir,
    /// Its address for `--db`.
    pub(crate) url: String,
}

/// Starts MariaDB with a database `test`; `None` where it is not installed.
pub(crate) fn mariadb() -> Option<Server> {
    mariadb_with(&["--skip-networking".to_owned()])
}

fn mariadb_with(settings: &[String]) -> Option<Server> {
    let programs = (program("mariadbd"), program("mariadb-install-db"));
    let (Some(daemon), Some(install)) = programs else {
        return missing("MariaDB (mariadbd, mariadb-install-db)");
    };
    let folder = tempfile::Builder::new()
        .prefix("my-")
        .tempdir_in("/tmp")
        .expect("a folder");
    let data = folder.path().join("data");
    let mut initialize = Command::new(install);
    initialize.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
    initialize.arg(format!("--datadir={}", data.display()));
    if is_root() {
        initialize.arg("--user=root");
    }
    let output = initialize
        .stdin(Stdio::null())
        .output()
        .expect("mariadb-install-db starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let socket = folder.path().join("socket");
    let mut serve = Command::new(daemon);
    serve
        .arg("--no-defaults")
        .args(settings)
        .args(["--skip-log-bin", "--innodb-flush-log-at-trx-commit=2"]);
    serve
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--socket={}", socket.display()));
    serve.args([
        "--innodb-buffer-pool-size=16M",
        "--innodb-lock-wait-timeout=2",
        "--pid-file=pid",
    ]);
    if is_root() {
        serve.arg("--user=root");
    }
    let url = format!("mysql://root@localhost/test?socket={}", socket.display());
    Some(Server::start(serve, folder, url, &socket))
}

/// Starts MariaDB, listening to this port of this machine for encrypted connections only.
pub(crate) fn mariadb_encrypted(port: u16, certificate: &Path, key: &Path) -> Option<Server> {
    let encrypted = [
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--require-secure-transport=ON".to_owned(),
        format!("--ssl-cert={}", certificate.display()),
        format!("--ssl-key={}", key.display()),
    ];
    mariadb_with(&encrypted)
}

/// Starts Redis, listening to this port of this machine for encrypted connections only.
pub(crate) fn redis_encrypted(port: u16, certificate: &Path, key: &Path) -> Option<Server> {
    let [certificate, key] = [certificate, key].map(|path| path.display().to_string());
    let encrypted = [
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-auth-clients",
        "no",
    ];
    redis_with(
        0,
        &[&["--tls-port", &port.to_string()], &encrypted[..]].concat(),
    )
}

/// Starts Redis; `None` where it is not installed.
pub(crate) fn redis() -> Option<Server> {
    redis_at(0)
}

/// A port of this machine that nothing listens to.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// The same, listening to a port of this machine as well, unless it is 0.
pub(crate) fn redis_at(port: u16) -> Option<Server> {
    redis_with(port, &[])
}

fn redis_with(port: u16, settings: &[&str]) -> Option<Server> {
    let Some(daemon) = program("redis-server") else {
        return missing("Redis (redis-server)");
    };
    let folder = tempfile::Builder::new()
        .prefix("redis-")
        .tempdir_in("/tmp")
        .expect("a folder");
    let socket = folder.path().join("socket");
    let mut serve = Command::new(daemon);
    serve
        .args([
            "--bind",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--save",
            "",
            "--dir",
        ])
        .arg(folder.path())
        .arg("--unixsocket")
        .arg(&socket)
        .args(settings);
    let url = format!("redis+unix://{}", socket.display());
    Some(Server::start(serve, folder, url, &socket))
}

impl Server {
    fn start(mut command: Command, folder: TempDir, url: String, socket: &Path) -> Server {
        let log = std::fs::File::create(folder.path().join("log")).expect("the folder is there");
        let out = log.try_clone().expect("a file can be cloned");
        let command = command
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(log);
        let process = command.spawn().expect("the server starts");
        let mut server = Server {
            process,
            folder,
            url,
        };
        let begin = Instant::now();
        while std::os::unix::net::UnixStream::connect(socket).is_err() {
            let ended = server.process.try_wait().expect("it is our child");
            if ended.is_some() || begin.elapsed() > Duration::from_secs(120) {
                let log =
                    std::fs::read_to_string(server.folder.path().join("log")).unwrap_or_default();
                panic!("the server does not answer ({ended:?}):\n{log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program in the search path or where daemons are.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
