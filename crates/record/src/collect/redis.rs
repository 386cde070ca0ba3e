//! Redis: optimistic transactions with WATCH, MULTI and EXEC.
//!
//! A transaction reads immediately, buffers its writes at the client and sends them together. `serializable` watches
//! every key that it reads, so that EXEC refuses when one of them has changed; `read-committed` watches none. The
//! client answers reads of the transaction's own writes, as such clients do; without watching, it may miss what others
//! have appended to a list in between.

use super::driver::{Connection, Driver, Failure, unsigned};
use super::tls::{self, Trust};
use super::{CollectError, Isolation};
use crate::generate::Key;
use redis::{Cmd, FromRedisValue, RedisError, TlsCertificates, Value, cmd};
use std::time::Duration;

/// Longest time to wait for a connection or an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// About how many keys are found and deleted at a time.
const BATCH: usize = 1000;
/// What addresses begin with whose connections are encrypted.
const TLS: &str = "rediss://";
/// Where the keys of a run are.
const PREFIX: &str = "isoscope:";

pub(super) fn open(
    url: &str,
    isolation: &'static Isolation,
) -> Result<Box<dyn Driver>, CollectError> {
    let (url, trust) = tls::split(url);
    let is_tls = url.starts_with(TLS);
    let client = match trust.or_else(|| is_tls.then_some(Trust::System)) {
        None => redis::Client::open(url),
        Some(trust) => {
            let root_cert = trust.pem()?;
            let url = if is_tls {
                url
            } else {
                url.replacen("redis://", TLS, 1)
            };
            redis::Client::build_with_tls(
                url,
                TlsCertificates {
                    client_tls: None,
                    root_cert,
                },
            )
        }
    };
    let client = client.map_err(|error| CollectError::Address(error.to_string()))?;
    Ok(Box::new(Redis {
        client,
        watches: isolation.name == "serializable",
    }))
}

struct Redis {
    client: redis::Client,
    watches: bool,
}

impl Redis {
    fn connection(&self) -> Result<redis::Connection, Failure> {
        let connection = self
            .client
            .get_connection_with_timeout(PATIENCE)
            .map_err(failure)?;
        connection
            .set_read_timeout(Some(PATIENCE))
            .map_err(failure)?;
        connection
            .set_write_timeout(Some(PATIENCE))
            .map_err(failure)?;
        Ok(connection)
    }
}

impl Driver for Redis {
    fn version(&self) -> Result<String, Failure> {
        let info: String = cmd("INFO")
            .arg("server")
            .query(&mut self.connection()?)
            .map_err(failure)?;
        let version = info
            .lines()
            .find_map(|line| line.strip_prefix("redis_version:"));
        Ok(format!("Redis {}", version.unwrap_or("of unknown version")))
    }

    /// Missing registers have the initial value, so it is enough to delete those of earlier runs.
    fn prepare(&self, _: u64) -> Result<(), Failure> {
        let mut connection = self.connection()?;
        let mut cursor = 0u64;
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor)
                .arg("MATCH")
                .arg(format!("{PREFIX}*"))
                .arg("COUNT")
                .arg(BATCH);
            let (next, keys): (u64, Vec<String>) = scan.query(&mut connection).map_err(failure)?;
            if !keys.is_empty() {
                cmd("DEL")
                    .arg(keys)
                    .exec(&mut connection)
                    .map_err(failure)?;
            }
            if next == 0 {
                return Ok(());
            }
            cursor = next;
        }
    }

    fn connect(&self) -> Result<Box<dyn Connection>, Failure> {
        Ok(Box::new(RedisSession {
            connection: self.connection()?,
            watches: self.watches,
            writes: Vec::new(),
        }))
    }
}

/// An answer of the server is a refusal, everything else a broken connection.
fn failure(error: RedisError) -> Failure {
    let text = error.to_string();
    if error.code().is_some() && !error.is_io_error() {
        Failure::Refused(text)
    } else {
        Failure::Broken(text)
    }
}

/// What a transaction will do when it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Set(Key, u64),
    Push(Key, u64),
}

struct RedisSession {
    connection: redis::Connection,
    watches: bool,
    writes: Vec<Change>,
}

fn name(key: Key) -> String {
    format!("{PREFIX}{key}")
}

impl RedisSession {
    fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, Failure> {
        command.query(&mut self.connection).map_err(failure)
    }

    fn watch(&mut self, key: Key) -> Result<(), Failure> {
        if self.watches {
            self.ask(cmd("WATCH").arg(name(key)))
        } else {
            Ok(())
        }
    }
}

impl Connection for RedisSession {
    fn begin(&mut self) -> Result<(), Failure> {
        self.writes.clear();
        Ok(())
    }

    fn read(&mut self, key: Key) -> Result<u64, Failure> {
        let own = self.writes.iter().rev().find_map(|change| match change {
            Change::Set(written, value) if *written == key => Some(*value),
            _ => None,
        });
        if let Some(value) = own {
            return Ok(value);
        }
        self.watch(key)?;
        let value: Option<i64> = self.ask(cmd("GET").arg(name(key)))?;
        unsigned(value.unwrap_or_default())
    }

    fn write(&mut self, key: Key, value: u64) -> Result<(), Failure> {
        self.writes.push(Change::Set(key, value));
        Ok(())
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<u64>, Failure> {
        self.watch(key)?;
        let mut elements: Vec<u64> = self.ask(cmd("LRANGE").arg(name(key)).arg(0).arg(-1))?;
        elements.extend(self.writes.iter().filter_map(|change| match change {
            Change::Push(pushed, element) if *pushed == key => Some(*element),
            _ => None,
        }));
        Ok(elements)
    }

    fn append(&mut self, key: Key, element: u64) -> Result<(), Failure> {
        self.writes.push(Change::Push(key, element));
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        // Nothing takes effect before EXEC is sent: whatever fails until then, the transaction has no effect.
        let without_effect = |failure: Failure| Failure::Refused(failure.to_string());
        self.ask::<()>(&cmd("MULTI")).map_err(without_effect)?;
        for change in std::mem::take(&mut self.writes) {
            let command = match change {
                Change::Set(key, value) => cmd("SET").arg(name(key)).arg(value).to_owned(),
                Change::Push(key, element) => cmd("RPUSH").arg(name(key)).arg(element).to_owned(),
            };
            self.ask::<()>(&command).map_err(without_effect)?;
        }
        match self.ask(&cmd("EXEC"))? {
            Value::Nil => Err(Failure::Refused("a watched key has changed".to_owned())),
            Value::Array(answers)
                if answers
                    .iter()
                    .any(|answer| matches!(answer, Value::ServerError(_))) =>
            {
                Err(Failure::Broken(
                    "a part of the transaction failed, the rest was done".to_owned(),
                ))
            }
            _ => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.writes.clear();
        // DISCARD ends an open transaction and forgets the watched keys; without one it is refused.
        match self.ask::<()>(&cmd("DISCARD")) {
            Err(Failure::Refused(_)) => self.ask(&cmd("UNWATCH")),
            other => other,
        }
    }
}
