//! A PostgreSQL server of a test's own: started in a temporary folder, reachable by a socket in it only, stopped on drop.
//!
//! [`start`] answers `None` and says "skipped" where no server is installed; with `ISOSCOPE_REQUIRE_SERVERS=1` it
//! panics there. PostgreSQL refuses to run as root, so a test that runs as root starts it as the user `postgres`, or as
//! `nobody`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The database user and superuser of a started server.
pub(crate) const USER: &str = "isoscope";
/// A database that is always there.
pub(crate) const DATABASE: &str = "postgres";

/// A running server. Connections need no password.
pub(crate) struct Server {
    /// Programs of the server: `psql`, `pg_ctl`, …
    programs: PathBuf,
    account: Option<Account>,
    process: Child,
    folder: TempDir,
    /// The number in the socket's name.
    pub port: u16,
    /// Where it listens besides: an address of this machine, or nowhere.
    address: &'static str,
}

/// Whom the server runs as when the test runs as root.
#[derive(Clone, Copy)]
struct Account {
    user: u32,
    group: u32,
}

/// Starts a server with these settings (`name=value`); `None` where none is installed.
pub(crate) fn start(settings: &[&str]) -> Option<Server> {
    start_at((5432, ""), settings)
}

/// The same, listening to this port of 127.0.0.1 as well.
pub(crate) fn start_on(port: u16) -> Option<Server> {
    start_at((port, "127.0.0.1"), &[])
}

/// The same, with a certificate and its key, which the server owns from now on.
pub(crate) fn start_encrypted(port: u16, certificate: &Path, key: &Path) -> Option<Server> {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    if let Some(account) = is_root().then(account).flatten() {
        [certificate, key]
            .iter()
            .for_each(|file| chown(file, Some(account.user), None).expect("root may chown"));
    }
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600))
        .expect("the file is ours");
    let files = [("certificate", certificate), ("key", key)];
    let [certificate, key] = files.map(|(what, path)| {
        path.to_str()
            .unwrap_or_else(|| panic!("the name of the {what}"))
    });
    let settings = [
        "ssl=on",
        &format!("ssl_cert_file={certificate}"),
        &format!("ssl_key_file={key}"),
    ];
    start_at((port, "127.0.0.1"), &settings)
}

fn start_at(place: (u16, &'static str), settings: &[&str]) -> Option<Server> {
    let Some(programs) = programs() else {
        return missing("PostgreSQL (initdb, postgres, pg_ctl, psql)");
    };
    let account =
        is_root().then(|| account().expect("an account that is not root: postgres or nobody"));
    let folder = folder_of(account);
    let data = folder.path().join("data");
    let mut initialize = command(&programs.join("initdb"), account, folder.path());
    initialize.args([
        "--no-sync",
        "--no-instructions",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--username",
    ]);
    run(initialize.arg(USER).arg("--pgdata").arg(&data));
    Some(serve(programs, account, folder, place, settings))
}

/// A folder that the server may use. Names of sockets have at most 107 bytes, so it must not be deep.
fn folder_of(account: Option<Account>) -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("pg-")
        .tempdir_in(short_temporary_folder())
        .expect("a folder");
    if let Some(account) = account {
        std::os::unix::fs::chown(folder.path(), Some(account.user), Some(account.group))
            .expect("root may chown");
    }
    folder
}

/// Starts a server on the data in a folder.
fn serve(
    programs: PathBuf,
    account: Option<Account>,
    folder: TempDir,
    (port, address): (u16, &'static str),
    settings: &[&str],
) -> Server {
    let data = folder.path().join("data");
    let mut serve = command(&programs.join("postgres"), account, folder.path());
    serve
        .arg("-D")
        .arg(&data)
        .arg("-k")
        .arg(folder.path())
        .args(["-p", &port.to_string(), "-F"]);
    serve.args([
        "-c",
        &format!("listen_addresses={address}"),
        "-c",
        "shared_buffers=16MB",
        "-c",
        "max_connections=40",
    ]);
    settings.iter().for_each(|setting| {
        serve.args(["-c", setting]);
    });
    let log = std::fs::File::create(folder.path().join("log")).expect("the folder is there");
    let process = serve
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("postgres starts");
    let mut server = Server {
        programs,
        account,
        process,
        folder,
        port,
        address,
    };
    server.wait_until_ready();
    server
}

impl Server {
    /// The folder of the socket: what clients take as host.
    pub(crate) fn socket_dir(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a standby of this server, which follows its log and answers reads.
    pub(crate) fn standby(&self, settings: &[&str]) -> Server {
        let folder = folder_of(self.account);
        let mut copy = command(
            &self.programs.join("pg_basebackup"),
            self.account,
            folder.path(),
        );
        copy.args([
            "--checkpoint=fast",
            "--write-recovery-conf",
            "--no-sync",
            "--dbname",
            &self.connection(),
        ]);
        run(copy.arg("--pgdata").arg(folder.path().join("data")));
        serve(
            self.programs.clone(),
            self.account,
            folder,
            (5432, ""),
            settings,
        )
    }

    /// How libpq and drivers are told where the server is.
    pub(crate) fn connection(&self) -> String {
        format!(
            "host={} port={} user={USER} dbname={DATABASE}",
            self.socket_dir().display(),
            self.port
        )
    }

    /// Its address as a URL, if it listens to one.
    pub(crate) fn url(&self) -> String {
        format!(
            "postgres://{USER}@{}:{}/{DATABASE}",
            self.address, self.port
        )
    }

    /// `psql` on this server, without start-up files, that stops at the first error; arguments may be added.
    pub(crate) fn psql(&self) -> Command {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args([
            "--no-psqlrc",
            "--quiet",
            "--no-align",
            "--tuples-only",
            "--set=ON_ERROR_STOP=1",
        ]);
        psql.args(["--dbname", &self.connection()]);
        psql
    }

    /// Runs SQL and returns what it answers, a row a line, columns divided by `|`. Panics where it fails.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let output = run(self.psql().args(["--command", sql]));
        String::from_utf8(output.stdout).expect("the encoding is UTF-8")
    }

    /// PostgreSQL's isolation tester for a version near this one; `None`, as [`start`], where it is not installed.
    pub(crate) fn isolation_tester(&self) -> Option<PathBuf> {
        let place = "pgxs/src/test/isolation/isolationtester";
        let beside = self
            .programs
            .parent()
            .map(|version| version.join("lib").join(place));
        let configured =
            ask(&self.programs.join("pg_config"), "--pkglibdir").map(|folder| folder.join(place));
        let others = installations()
            .into_iter()
            .filter_map(|bin| Some(bin.parent()?.join("lib").join(place)));
        let found = beside
            .into_iter()
            .chain(configured)
            .chain(others)
            .find(|path| path.is_file());
        found.or_else(|| missing("PostgreSQL's isolationtester (postgresql-server-dev)"))
    }

    /// Shell commands that kill the server and all that belongs to it, and that start it again on the same data.
    pub(crate) fn crash_commands(&self) -> [String; 2] {
        let (folder, port) = (self.folder.path().display(), self.port);
        let crash = format!(
            "p=$(head -n 1 {folder}/data/postmaster.pid); c=$(ps -o pid= --ppid $p); kill -9 $p && {{ kill -9 $c 2>&-; true; }}"
        );
        let own = self.account.map(|a| {
            format!(
                "setpriv --reuid={} --regid={} --clear-groups ",
                a.user, a.group
            )
        });
        let options = format!(
            "-p {port} -k {folder} -F -c listen_addresses={} -c shared_buffers=16MB -c max_connections=40",
            self.address
        );
        // Until the last process of the killed server is gone.
        let start = format!(
            "cd {folder}; for i in 1 2 3 4 5 6 7 8 9; do rm -f data/postmaster.pid .s.PGSQL.{port}*; {}{} start -D data \
             -s -w -l again -o '{options}' && exit 0; sleep 0.3; done; exit 1",
            own.unwrap_or_default(),
            self.programs.join("pg_ctl").display()
        );
        [crash, start]
    }

    /// Waits until the server that was started first has ended: until then the system does not forget it.
    pub(crate) fn wait(&mut self) {
        self.process.wait().expect("it is our child");
    }

    /// Kills the server as a crash of the machine would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it is our child");
        self.process.wait().expect("it is our child");
    }

    fn wait_until_ready(&mut self) {
        let begin = Instant::now();
        while !self
            .psql()
            .args(["--command", "select"])
            .output()
            .is_ok_and(|output| output.status.success())
        {
            let ended = self.process.try_wait().expect("it is our child");
            if ended.is_some() || begin.elapsed() > Duration::from_secs(120) {
                let log =
                    std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("PostgreSQL does not answer ({ended:?}):\n{log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = command(
            &self.programs.join("pg_ctl"),
            self.account,
            self.folder.path(),
        );
        stop.args(["stop", "--mode=immediate", "--silent", "--pgdata"])
            .arg(self.folder.path().join("data"));
        if !stop.output().is_ok_and(|output| output.status.success()) {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// Says what is not installed and that a test is skipped, or fails where that must not be.
pub(crate) fn missing<T>(what: &str) -> Option<T> {
    let required = std::env::var_os("ISOSCOPE_REQUIRE_SERVERS").is_some_and(|value| value == "1");
    assert!(
        !required,
        "{what} is not installed, and ISOSCOPE_REQUIRE_SERVERS=1"
    );
    println!("skipped: {what} is not installed");
    None
}

/// The newest installation that has all programs needed.
fn programs() -> Option<PathBuf> {
    let has_all = |bin: &PathBuf| {
        ["initdb", "postgres", "pg_ctl", "psql"]
            .iter()
            .all(|name| bin.join(name).is_file())
    };
    installations().into_iter().find(has_all)
}

/// Folders of programs: those of `pg_config` and of common packages, newest first, then those of the search path.
fn installations() -> Vec<PathBuf> {
    let mut numbered: Vec<(u32, PathBuf)> = Vec::new();
    for root in [
        "/usr/lib/postgresql",
        "/usr/local/lib/postgresql",
        "/opt/homebrew/opt",
        "/usr/local/opt",
        "/usr",
    ] {
        for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let version = name
                .trim_start_matches("postgresql")
                .trim_start_matches(['@', '-'])
                .parse();
            numbered.extend(
                version
                    .ok()
                    .map(|version| (version, entry.path().join("bin"))),
            );
        }
    }
    numbered.sort_by(|a, b| b.cmp(a));
    let configured = ask(Path::new("pg_config"), "--bindir");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let searched: Vec<PathBuf> = std::env::split_paths(&path).collect();
    numbered
        .into_iter()
        .map(|(_, bin)| bin)
        .chain(configured)
        .chain(["/usr/local/pgsql/bin".into()])
        .chain(searched)
        .collect()
}

/// What `pg_config` answers.
fn ask(pg_config: &Path, question: &str) -> Option<PathBuf> {
    let output = Command::new(pg_config)
        .arg(question)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

pub(super) fn is_root() -> bool {
    let mine = tempfile::tempfile().and_then(|file| file.metadata());
    std::os::unix::fs::MetadataExt::uid(&mine.expect("a temporary file")) == 0
}

/// The account `postgres`, else `nobody`.
fn account() -> Option<Account> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(str::parse);
        Some(Account {
            user: numbers.next()?.ok()?,
            group: numbers.next()?.ok()?,
        })
    };
    find("postgres").or_else(|| find("nobody"))
}

fn short_temporary_folder() -> PathBuf {
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() < 60 {
        usual
    } else {
        PathBuf::from("/tmp")
    }
}

/// A program run in `folder`, as `account` if one is given.
fn command(program: &Path, account: Option<Account>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("LC_ALL", "C");
    if let Some(account) = account {
        std::os::unix::process::CommandExt::uid(&mut command, account.user);
        std::os::unix::process::CommandExt::gid(&mut command, account.group);
    }
    command
}

fn run(command: &mut Command) -> Output {
    let name = command.get_program().to_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{name:?}: {error}"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{name:?}: {}{}",
        said(&output.stdout),
        said(&output.stderr)
    );
    output
}
