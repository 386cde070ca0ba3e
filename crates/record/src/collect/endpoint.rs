//! The servers of one database, and which sessions use them.

use super::address::without_password;
use super::driver::Driver;
use super::program::PROGRAM;
use super::{CollectError, Connection, Database, Failure, database};
use crate::generate::Step;
use std::fmt;
use std::str::FromStr;

/// The mark of a server that accepts no writes.
const READ_ONLY: &str = ",read-only";
/// Characters of names other than letters and digits.
const IN_NAMES: &[u8] = b"_-.";

/// The address of a server: `[NAME=]URL[,read-only]`. Its URL may hold a password, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The name of the server, for the history; none if there is only one.
    pub name: Option<String>,
    /// Where it is; for a program its command.
    pub url: String,
    /// Whether a program drives it, one process for each session. Never set because of what a file says.
    pub program: bool,
    /// Whether it accepts no writes, as a standby.
    pub read_only: bool,
    /// How many sessions use it; as many as others without a number if it has none.
    pub sessions: Option<u32>,
}

impl Address {
    /// The only server, at this URL.
    pub fn only(url: &str) -> Address {
        Address {
            name: None,
            url: url.to_owned(),
            program: false,
            read_only: false,
            sessions: None,
        }
    }

    /// The product that drives it.
    pub fn database(&self) -> Result<&'static Database, CollectError> {
        if self.program {
            Ok(&PROGRAM)
        } else {
            database(&self.url)
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.url))
    }
}

impl FromStr for Address {
    type Err = String;

    /// What comes before the first `=` is a name if it contains no punctuation of a URL.
    fn from_str(text: &str) -> Result<Address, String> {
        let (text, read_only) = match text.strip_suffix(READ_ONLY) {
            Some(text) => (text, true),
            None => (text, false),
        };
        let is_name = |name: &str| {
            name.bytes()
                .all(|b| b.is_ascii_alphanumeric() || IN_NAMES.contains(&b))
        };
        let (name, url) = match text.split_once('=').filter(|(name, _)| is_name(name)) {
            Some(("", _)) => return Err("expected a name in front of `=`".to_owned()),
            Some((name, url)) => (Some(name.to_owned()), url),
            None => (None, text),
        };
        Ok(Address {
            name,
            url: url.to_owned(),
            program: false,
            read_only,
            sessions: None,
        })
    }
}

/// The servers that an argument names: those in the lines of a file for `@FILE`, where lines that begin with `#` are
/// comments; else the one of this address. Errors name the file and the line.
pub fn servers(argument: &str) -> Result<Vec<Address>, String> {
    let Some(file) = argument.strip_prefix('@') else {
        return Ok(vec![argument.parse()?]);
    };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let lines = text.lines().map(str::trim).zip(1..);
    let named = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let parsed = |(line, n): (&str, u32)| {
        line.parse()
            .map_err(|why| format!("{file}, line {n}: {why}"))
    };
    let servers: Vec<Address> = named.map(parsed).collect::<Result<_, _>>()?;
    if servers.is_empty() {
        return Err(format!(
            "{file}: expected the address of a server on each line"
        ));
    }
    Ok(servers)
}

/// A server that can be used.
#[derive(Clone, Copy)]
pub struct Endpoint<'a> {
    /// The name recorded with its sessions.
    pub name: Option<&'a str>,
    /// Whether its sessions only read.
    pub read_only: bool,
    /// How many sessions use it.
    pub sessions: Option<u32>,
    /// How to reach it.
    pub driver: &'a dyn Driver,
}

impl<'a> Endpoint<'a> {
    /// The only server of a database.
    pub fn only(driver: &'a dyn Driver) -> Endpoint<'a> {
        Endpoint {
            name: None,
            read_only: false,
            sessions: None,
            driver,
        }
    }

    /// Connects a client.
    pub(super) fn connect(&self) -> Result<Box<dyn Connection>, Failure> {
        if self.read_only {
            self.driver.connect_read_only()
        } else {
            self.driver.connect()
        }
    }

    /// The steps as they are run here: a read-only server gets reads of the keys that would be written.
    pub(super) fn steps(&self, mut steps: Vec<Step>) -> Vec<Step> {
        if self.read_only {
            for step in &mut steps {
                *step = match *step {
                    Step::Write(key) | Step::CompareAndSet(key) | Step::Insert(key) => {
                        Step::Read(key)
                    }
                    Step::Append(key) => Step::ReadList(key),
                    read => read,
                };
            }
            steps.dedup();
        }
        steps
    }
}

/// By session: its place among the endpoints. Those with a number of sessions get it, the others share the rest in
/// turn.
pub(super) fn spread(
    endpoints: &[Endpoint<'_>],
    sessions: u32,
) -> Result<Vec<usize>, CollectError> {
    let mut wanted: Vec<u32> = endpoints
        .iter()
        .map(|endpoint| endpoint.sessions.unwrap_or_default())
        .collect();
    let fixed = wanted.iter().map(|&n| u64::from(n)).sum::<u64>();
    let Some(rest) = u32::try_from(fixed)
        .ok()
        .and_then(|fixed| sessions.checked_sub(fixed))
    else {
        return Err(CollectError::Sessions(format!(
            "{fixed} sessions are placed, but there are only {sessions}"
        )));
    };
    let open: Vec<usize> = (0..endpoints.len())
        .filter(|&at| endpoints[at].sessions.is_none())
        .collect();
    if open.is_empty() && rest > 0 {
        return Err(CollectError::Sessions(format!(
            "only {fixed} of {sessions} sessions are placed"
        )));
    }
    for n in 0..rest as usize {
        wanted[open[n % open.len()]] += 1;
    }
    let mut places = Vec::with_capacity(sessions as usize);
    while places.len() < sessions as usize {
        for (place, left) in wanted.iter_mut().enumerate().filter(|(_, left)| **left > 0) {
            places.push(place);
            *left -= 1;
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_have_names_and_roles() {
        let parse = |text: &str| {
            text.parse::<Address>()
                .map(|a| (a.name.unwrap_or_default(), a.url, a.read_only))
        };
        let all =
            |name: &str, url: &str, read_only| Ok((name.to_owned(), url.to_owned(), read_only));
        assert_eq!(
            parse("s-1=postgres://h/d?a=b,read-only"),
            all("s-1", "postgres://h/d?a=b", true)
        );
        assert_eq!(
            parse("postgres:host=/run user=me"),
            all("", "postgres:host=/run user=me", false)
        );
        assert_eq!(
            parse("mysql://h/d?socket=/x"),
            all("", "mysql://h/d?socket=/x", false)
        );
        assert_eq!(
            parse("a=postgres:host=/run"),
            all("a", "postgres:host=/run", false)
        );
        assert!(parse("=sqlite").is_err());
        let shown = format!("{:?}", "p=postgres://u:secret@h/d".parse::<Address>());
        assert!(
            !shown.contains("secret") && shown.contains("u@h"),
            "{shown}"
        );
    }

    #[test]
    fn servers_are_read_from_a_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("servers");
        let named = |text: &str| {
            std::fs::write(&file, text).expect("the file");
            let found = servers(&format!("@{}", file.display()));
            found.map(|all| {
                all.into_iter()
                    .map(|server| (server.name, server.read_only))
                    .collect::<Vec<_>>()
            })
        };
        let expected = vec![(Some("p".to_owned()), false), (Some("s".to_owned()), true)];
        assert_eq!(
            named("# two\np=postgres://h/d\n\n s=postgres://i/d,read-only\n"),
            Ok(expected)
        );
        let why = named("p=postgres://h/d\n=sqlite\n").expect_err("no name");
        assert!(
            why.ends_with("servers, line 2: expected a name in front of `=`"),
            "{why}"
        );
        assert!(named("# none\n").is_err() && servers("@/nowhere").is_err());
        assert_eq!(servers("sqlite").map(|all| all.len()), Ok(1));
    }
}
