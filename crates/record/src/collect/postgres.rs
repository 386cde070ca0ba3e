//! PostgreSQL and databases that speak its protocol (CockroachDB, YugabyteDB).

use super::address::with_scheme;
use super::driver::{Connection, Driver, Failure, elements, signed, unsigned};
use super::{CollectError, Isolation, passwords, tls};
use crate::generate::Key;
use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls, Statement};
use std::time::Duration;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Longest time to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a statement waits for a lock, in milliseconds: a transaction that waits longer aborts.
const LOCK_TIMEOUT: &str = "SET lock_timeout = 100";
/// Registers created by one statement.
const BATCH: u64 = 1000;

pub(super) fn open(
    url: &str,
    isolation: &'static Isolation,
) -> Result<Box<dyn Driver>, CollectError> {
    let (url, trust) = tls::split(url);
    // Settings in the form of libpq are also accepted: `postgres:host=/run/postgresql user=me`.
    let settings = url
        .split_once(':')
        .map(|(_, rest)| rest)
        .filter(|rest| !rest.starts_with("//"));
    let config: Result<Config, _> =
        settings.map_or_else(|| with_scheme(&url, "postgresql").parse(), str::parse);
    let mut config = config.map_err(|error| CollectError::Address(text(&error)))?;
    config.connect_timeout(PATIENCE);
    config.ssl_mode(if trust.is_some() {
        SslMode::Require
    } else {
        SslMode::Disable
    });
    let tls = trust
        .map(|trust| trust.client())
        .transpose()?
        .map(MakeRustlsConnect::new);
    if config.get_password().is_none()
        && let Some(password) = passwords::of_postgres(&config)
    {
        config.password(password);
    }
    let level = isolation.name.replace('-', " ").to_uppercase();
    Ok(Box::new(Postgres {
        config,
        tls,
        begin: format!("BEGIN ISOLATION LEVEL {level}"),
    }))
}

struct Postgres {
    config: Config,
    /// How its certificate is verified, if connections are encrypted.
    tls: Option<MakeRustlsConnect>,
    begin: String,
}

impl Driver for Postgres {
    fn version(&self) -> Result<String, Failure> {
        let mut client = self.client()?;
        let row = client.query_one("SELECT version()", &[]).map_err(failure)?;
        row.try_get(0).map_err(failure)
    }

    fn prepare(&self, registers: u64) -> Result<(), Failure> {
        let mut client = self.client()?;
        client
            .batch_execute(
                "DROP TABLE IF EXISTS isoscope; DROP TABLE IF EXISTS isoscope_list; \
                 CREATE TABLE isoscope (k BIGINT PRIMARY KEY, v BIGINT NOT NULL); \
                 CREATE TABLE isoscope_list (k BIGINT PRIMARY KEY, v TEXT NOT NULL);",
            )
            .map_err(failure)?;
        for first in (0..registers).step_by(BATCH as usize) {
            let rows: Vec<String> = (first..registers.min(first + BATCH))
                .map(|key| format!("({key}, 0)"))
                .collect();
            client
                .batch_execute(&format!("INSERT INTO isoscope VALUES {}", rows.join(", ")))
                .map_err(failure)?;
        }
        Ok(())
    }

    fn connect(&self) -> Result<Box<dyn Connection>, Failure> {
        self.session("")
    }

    fn connect_read_only(&self) -> Result<Box<dyn Connection>, Failure> {
        self.session(" READ ONLY")
    }
}

impl Postgres {
    fn client(&self) -> Result<Client, Failure> {
        let connected = match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        };
        connected.map_err(failure)
    }

    fn session(&self, mode: &str) -> Result<Box<dyn Connection>, Failure> {
        let mut client = self.client()?;
        // Shorter than the time after which the server looks for deadlocks. Servers without this setting wait.
        let _: Result<(), postgres::Error> = client.batch_execute(LOCK_TIMEOUT);
        let mut prepare = |sql| client.prepare(sql).map_err(failure);
        let statements = Statements {
            read: prepare("SELECT v FROM isoscope WHERE k = $1")?,
            write: prepare(
                "INSERT INTO isoscope VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
            )?,
            read_list: prepare("SELECT v FROM isoscope_list WHERE k = $1")?,
            append: prepare(
                "INSERT INTO isoscope_list AS old VALUES ($1, $2) \
                 ON CONFLICT (k) DO UPDATE SET v = old.v || ' ' || excluded.v",
            )?,
        };
        Ok(Box::new(PostgresSession {
            client,
            statements,
            begin: format!("{}{mode}", self.begin),
        }))
    }
}

struct Statements {
    read: Statement,
    write: Statement,
    read_list: Statement,
    append: Statement,
}

struct PostgresSession {
    client: Client,
    statements: Statements,
    begin: String,
}

/// The error and its source, which the crate does not show by itself.
fn text(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// An answer of the server with a code is a refusal, except those that end the connection or leave the outcome open
/// (classes 08 and 57, and 40003: PostgreSQL, appendix A), and internal errors (class XX), by which distributed servers
/// of this protocol report an unknown outcome. Everything else is a broken connection.
fn failure(error: postgres::Error) -> Failure {
    let text = text(&error);
    let Some(code) = error.code() else {
        return Failure::Broken(text);
    };
    let leaves_open = *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        || code.code().starts_with("08")
        || code.code().starts_with("XX")
        || matches!(
            *code,
            SqlState::ADMIN_SHUTDOWN
                | SqlState::CRASH_SHUTDOWN
                | SqlState::CANNOT_CONNECT_NOW
                | SqlState::DATABASE_DROPPED
        );
    if leaves_open {
        Failure::Broken(text)
    } else {
        Failure::Refused(text)
    }
}

impl Connection for PostgresSession {
    fn begin(&mut self) -> Result<(), Failure> {
        self.client.batch_execute(&self.begin).map_err(failure)
    }

    fn read(&mut self, key: Key) -> Result<u64, Failure> {
        let row = self
            .client
            .query_opt(&self.statements.read, &[&signed(key.0)?])
            .map_err(failure)?;
        row.map_or(Ok(0), |row| unsigned(row.try_get(0).map_err(failure)?))
    }

    fn write(&mut self, key: Key, value: u64) -> Result<(), Failure> {
        self.client
            .execute(&self.statements.write, &[&signed(key.0)?, &signed(value)?])
            .map(drop)
            .map_err(failure)
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<u64>, Failure> {
        let row = self
            .client
            .query_opt(&self.statements.read_list, &[&signed(key.0)?])
            .map_err(failure)?;
        row.map_or(Ok(Vec::new()), |row| {
            elements(row.try_get(0).map_err(failure)?)
        })
    }

    fn append(&mut self, key: Key, element: u64) -> Result<(), Failure> {
        let element = element.to_string();
        self.client
            .execute(&self.statements.append, &[&signed(key.0)?, &element])
            .map(drop)
            .map_err(failure)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.client.batch_execute("COMMIT").map_err(failure)
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.client.batch_execute("ROLLBACK").map_err(failure)
    }
}
