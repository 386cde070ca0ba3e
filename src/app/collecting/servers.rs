//! The servers of a database, as filled in.

use super::address::{Address, Secret};
use crate::collect;
use serde::{Deserialize, Serialize};

/// A server. What is kept of it until the next start contains no password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its name in the history; `n1`, `n2`, … if it is empty and there are several.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// Whether it accepts no writes, as a standby.
    pub read_only: bool,
    /// How many sessions use it; empty for as many as others that leave it open.
    pub sessions: String,
}

impl Server {
    /// The only server, at this address as typed.
    pub fn typed(address: impl Into<String>) -> Server {
        Server {
            address: Address::typed(address),
            ..Server::default()
        }
    }

    /// As a run needs it, with `password` where none was typed, at the address `url` if its own is empty. Errors: the
    /// number of sessions is none.
    pub(super) fn address(&self, password: &Secret, url: &str) -> Result<collect::Address, String> {
        let typed = self.address.with(password);
        let (name, sessions) = (self.name.trim(), self.sessions.trim());
        let number = || sessions.parse().ok().filter(|n| *n > 0);
        let sessions = match sessions {
            "" => None,
            _ => Some(number().ok_or_else(|| format!("{sessions} is no number of sessions"))?),
        };
        let url = if typed.trim().is_empty() {
            url
        } else {
            typed.trim()
        };
        let name = (!name.is_empty()).then(|| name.to_owned());
        Ok(collect::Address {
            name,
            read_only: self.read_only,
            sessions,
            ..collect::Address::only(url)
        })
    }
}

/// Servers as a text that is kept, without passwords.
pub(super) fn kept(servers: &[Server]) -> String {
    serde_json::to_string(servers).unwrap_or_default()
}

/// Servers as they were kept; none if the text cannot be read.
pub(super) fn read(text: &str) -> Vec<Server> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_kept_without_passwords_and_become_addresses() {
        let standby = Server {
            name: "standby".to_owned(),
            read_only: true,
            sessions: "2".to_owned(),
            ..Server::typed("postgres://me:secret@h/d")
        };
        let again = read(&kept(std::slice::from_ref(&standby)));
        assert_eq!(
            again,
            [Server {
                address: Address::typed("postgres://me@h/d"),
                ..standby.clone()
            }]
        );
        let address = again[0]
            .address(&Secret::new("other"), "")
            .expect("it is complete");
        assert_eq!(
            (address.name.as_deref(), address.read_only, address.sessions),
            (Some("standby"), true, Some(2))
        );
        assert_eq!(address.url, "postgres://me:other@h/d");
        let wrong = Server {
            sessions: "many".to_owned(),
            ..standby
        };
        assert_eq!(
            wrong.address(&Secret::default(), ""),
            Err("many is no number of sessions".to_owned())
        );
        assert!(read("nonsense").is_empty());
    }
}
