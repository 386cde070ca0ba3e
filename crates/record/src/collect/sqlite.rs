//! SQLite, in this process: a database file, a connection per session, a write-ahead log.
//!
//! With `serializable`, transactions become writers at their first write; with `immediate`, from the start.

use super::driver::{Connection, Driver, Failure, elements, signed, unsigned};
use super::{CollectError, Isolation};
use crate::generate::Key;
use isoscope_model::files::TemporaryFolder;
use rusqlite::{ErrorCode, OptionalExtension, params};
use std::path::PathBuf;
use std::time::Duration;

/// How long a statement waits for a lock.
const PATIENCE: Duration = Duration::from_millis(200);

pub(super) fn open(
    url: &str,
    isolation: &'static Isolation,
) -> Result<Box<dyn Driver>, CollectError> {
    let path = url
        .split_once(':')
        .map_or("", |(_, path)| path.trim_start_matches("//"));
    let (path, folder) = if path.is_empty() {
        let folder = TemporaryFolder::new("isoscope-sqlite-");
        let folder = folder.map_err(|error| CollectError::Address(error.to_string()))?;
        (folder.path().join("database"), Some(folder))
    } else {
        (PathBuf::from(path), None)
    };
    let begin = if isolation.name == "immediate" {
        "BEGIN IMMEDIATE"
    } else {
        "BEGIN"
    };
    Ok(Box::new(Sqlite {
        path,
        begin,
        _folder: folder,
    }))
}

struct Sqlite {
    path: PathBuf,
    begin: &'static str,
    /// Removed with the driver if no file is named.
    _folder: Option<TemporaryFolder>,
}

impl Sqlite {
    fn connection(&self) -> rusqlite::Result<rusqlite::Connection> {
        let connection = rusqlite::Connection::open(&self.path)?;
        connection.busy_timeout(PATIENCE)?;
        // What a crash of the machine would lose does not matter here; a crash of the process loses nothing.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")?;
        Ok(connection)
    }
}

impl Driver for Sqlite {
    fn version(&self) -> Result<String, Failure> {
        Ok(format!("SQLite {}", rusqlite::version()))
    }

    fn prepare(&self, registers: u64) -> Result<(), Failure> {
        let mut connection = self.connection().map_err(failure)?;
        let transaction = connection.transaction().map_err(failure)?;
        let tables = "DROP TABLE IF EXISTS isoscope; DROP TABLE IF EXISTS isoscope_list; \
            CREATE TABLE isoscope (k INTEGER PRIMARY KEY, v INTEGER NOT NULL); \
            CREATE TABLE isoscope_list (k INTEGER PRIMARY KEY, v TEXT NOT NULL);";
        transaction.execute_batch(tables).map_err(failure)?;
        for key in 0..registers {
            transaction
                .prepare_cached("INSERT INTO isoscope VALUES (?1, 0)")
                .and_then(|mut insert| insert.execute([signed(key).unwrap_or_default()]))
                .map_err(failure)?;
        }
        transaction.commit().map_err(failure)
    }

    fn connect(&self) -> Result<Box<dyn Connection>, Failure> {
        Ok(Box::new(Client {
            connection: self.connection().map_err(failure)?,
            begin: self.begin,
        }))
    }
}

/// A file that can no longer be read or written, or is no database, leaves the outcome open; other errors end a
/// transaction that can be rolled back.
fn failure(error: rusqlite::Error) -> Failure {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::CannotOpen
            | ErrorCode::InternalMalfunction,
        ) => Failure::Broken(text),
        _ => Failure::Refused(text),
    }
}

struct Client {
    connection: rusqlite::Connection,
    begin: &'static str,
}

impl Client {
    fn run(&mut self, sql: &str, parameters: impl rusqlite::Params) -> Result<(), Failure> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failure)?;
        statement.execute(parameters).map(drop).map_err(failure)
    }

    fn find<T: rusqlite::types::FromSql>(
        &mut self,
        sql: &str,
        key: Key,
    ) -> Result<Option<T>, Failure> {
        let key = signed(key.0)?;
        let mut statement = self.connection.prepare_cached(sql).map_err(failure)?;
        statement
            .query_row([key], |row| row.get(0))
            .optional()
            .map_err(failure)
    }
}

impl Connection for Client {
    fn begin(&mut self) -> Result<(), Failure> {
        self.run(self.begin, [])
    }

    fn read(&mut self, key: Key) -> Result<u64, Failure> {
        unsigned(
            self.find("SELECT v FROM isoscope WHERE k = ?1", key)?
                .unwrap_or_default(),
        )
    }

    fn write(&mut self, key: Key, value: u64) -> Result<(), Failure> {
        let (key, value) = (signed(key.0)?, signed(value)?);
        self.run(
            "INSERT INTO isoscope VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
            params![key, value],
        )
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<u64>, Failure> {
        let text: Option<String> = self.find("SELECT v FROM isoscope_list WHERE k = ?1", key)?;
        elements(&text.unwrap_or_default())
    }

    fn append(&mut self, key: Key, element: u64) -> Result<(), Failure> {
        let sql = "INSERT INTO isoscope_list VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = v || ' ' || excluded.v";
        let key = signed(key.0)?;
        self.run(sql, params![key, element.to_string()])
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.run("COMMIT", [])
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        // Some errors have rolled back already.
        if self.connection.is_autocommit() {
            Ok(())
        } else {
            self.run("ROLLBACK", [])
        }
    }
}
