//! MySQL and databases that speak its protocol (MariaDB, Galera clusters).

use super::address::with_scheme;
use super::driver::{Connection, Driver, Failure, elements, signed, unsigned};
use super::tls::{self, Trust};
use super::{CollectError, Isolation, passwords};
use crate::generate::Key;
use mysql::prelude::{FromRow, Queryable};
use mysql::{Conn, Error, Opts, OptsBuilder, Params, SslOpts, Statement};
use std::time::Duration;

/// Longest time to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// Registers created by one statement.
const BATCH: u64 = 1000;

/// Deadlock, which is also how Galera refuses to certify a commit.
const DEADLOCK: u16 = 1213;
/// A lock wait timed out. Only the statement is rolled back then, so the transaction must be, too.
const LOCK_WAIT_TIMEOUT: u16 = 1205;
/// A plugin rolled back a commit, as group replication does with those that conflict.
const ROLLED_BACK_BY_PLUGIN: u16 = 3101;

pub(super) fn open(
    url: &str,
    isolation: &'static Isolation,
) -> Result<Box<dyn Driver>, CollectError> {
    let (url, trust) = tls::split(url);
    let options = Opts::from_url(&with_scheme(&url, "mysql"))
        .map_err(|error| CollectError::Address(error.to_string()))?;
    let password = options
        .get_pass()
        .map(str::to_owned)
        .or_else(|| passwords::of_mysql(options.get_user()));
    let options = OptsBuilder::from_opts(options)
        .pass(password)
        .tcp_connect_timeout(Some(PATIENCE))
        .prefer_socket(false);
    let options = match trust {
        Some(Trust::System) => options.ssl_opts(SslOpts::default()),
        Some(Trust::File(path)) => {
            options.ssl_opts(SslOpts::default().with_root_cert_path(Some(path)))
        }
        None => options,
    };
    let level = isolation.name.replace('-', " ").to_uppercase();
    Ok(Box::new(MySql {
        options: options.into(),
        set_up: format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
    }))
}

struct MySql {
    options: Opts,
    set_up: String,
}

impl MySql {
    fn connection(&self) -> Result<Conn, Failure> {
        Conn::new(self.options.clone()).map_err(failure)
    }
}

impl Driver for MySql {
    fn version(&self) -> Result<String, Failure> {
        let version: Option<String> = self
            .connection()?
            .query_first("SELECT VERSION()")
            .map_err(failure)?;
        Ok(version.unwrap_or_default())
    }

    fn prepare(&self, registers: u64) -> Result<(), Failure> {
        let mut connection = self.connection()?;
        let mut run = |sql: &str| connection.query_drop(sql).map_err(failure);
        run("DROP TABLE IF EXISTS isoscope")?;
        run("DROP TABLE IF EXISTS isoscope_list")?;
        run("CREATE TABLE isoscope (k BIGINT PRIMARY KEY, v BIGINT NOT NULL) ENGINE = InnoDB")?;
        run(
            "CREATE TABLE isoscope_list (k BIGINT PRIMARY KEY, v LONGTEXT NOT NULL) ENGINE = InnoDB",
        )?;
        for first in (0..registers).step_by(BATCH as usize) {
            let rows: Vec<String> = (first..registers.min(first + BATCH))
                .map(|key| format!("({key}, 0)"))
                .collect();
            run(&format!("INSERT INTO isoscope VALUES {}", rows.join(", ")))?;
        }
        Ok(())
    }

    fn connect(&self) -> Result<Box<dyn Connection>, Failure> {
        self.session("START TRANSACTION")
    }

    fn connect_read_only(&self) -> Result<Box<dyn Connection>, Failure> {
        self.session("START TRANSACTION READ ONLY")
    }
}

impl MySql {
    fn session(&self, begin: &'static str) -> Result<Box<dyn Connection>, Failure> {
        let mut connection = self.connection()?;
        connection.query_drop(&self.set_up).map_err(failure)?;
        // A transaction that waits longer for a lock aborts. Servers without this setting wait.
        let _: Result<(), Error> =
            connection.query_drop("SET SESSION innodb_lock_wait_timeout = 1");
        let mut prepare = |sql| connection.prep(sql).map_err(failure);
        let read = prepare("SELECT v FROM isoscope WHERE k = ?")?;
        let write =
            prepare("INSERT INTO isoscope VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)")?;
        let read_list = prepare("SELECT v FROM isoscope_list WHERE k = ?")?;
        let append = "INSERT INTO isoscope_list VALUES (?, ?) ON DUPLICATE KEY UPDATE v = CONCAT(v, ' ', VALUES(v))";
        let append = prepare(append)?;
        Ok(Box::new(MySqlSession {
            connection,
            read,
            write,
            read_list,
            append,
            begin,
        }))
    }
}

struct MySqlSession {
    connection: Conn,
    read: Statement,
    write: Statement,
    read_list: Statement,
    append: Statement,
    begin: &'static str,
}

/// An answer of the server is a refusal, everything else a broken connection.
fn failure(error: Error) -> Failure {
    let text = error.to_string();
    match error {
        Error::MySqlError(_) => Failure::Refused(text),
        _ => Failure::Broken(text),
    }
}

/// An answer to a commit is a refusal only if it is known to mean that it was rolled back.
fn commit_failure(error: Error) -> Failure {
    let is_rolled_back =
        |code| [DEADLOCK, LOCK_WAIT_TIMEOUT, ROLLED_BACK_BY_PLUGIN].contains(&code);
    let text = error.to_string();
    match error {
        Error::MySqlError(answer) if is_rolled_back(answer.code) => Failure::Refused(text),
        _ => Failure::Broken(text),
    }
}

impl MySqlSession {
    fn find<T: FromRow>(&mut self, statement: Statement, key: Key) -> Result<Option<T>, Failure> {
        let key = signed(key.0)?;
        self.connection
            .exec_first(statement, (key,))
            .map_err(failure)
    }

    fn change(
        &mut self,
        statement: Statement,
        parameters: impl Into<Params>,
    ) -> Result<(), Failure> {
        self.connection
            .exec_drop(statement, parameters)
            .map_err(failure)
    }
}

impl Connection for MySqlSession {
    fn begin(&mut self) -> Result<(), Failure> {
        self.connection.query_drop(self.begin).map_err(failure)
    }

    fn read(&mut self, key: Key) -> Result<u64, Failure> {
        unsigned(self.find(self.read.clone(), key)?.unwrap_or_default())
    }

    fn write(&mut self, key: Key, value: u64) -> Result<(), Failure> {
        let (key, value) = (signed(key.0)?, signed(value)?);
        self.change(self.write.clone(), (key, value))
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<u64>, Failure> {
        let text: Option<String> = self.find(self.read_list.clone(), key)?;
        elements(&text.unwrap_or_default())
    }

    fn append(&mut self, key: Key, element: u64) -> Result<(), Failure> {
        let key = signed(key.0)?;
        self.change(self.append.clone(), (key, element.to_string()))
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.connection.query_drop("COMMIT").map_err(commit_failure)
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.connection.query_drop("ROLLBACK").map_err(failure)
    }
}
