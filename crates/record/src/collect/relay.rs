//! A TCP relay in front of a server, which can delay what passes, hold it back, or cut connections. It needs no privileges.

use super::CollectError;
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The pause between two checks of the state.
const TICK: Duration = Duration::from_millis(5);
/// Bytes passed on at once.
const PIECE: usize = 1 << 14;

/// What a relay does to what passes through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    #[default]
    Pass,
    /// Ends all connections and accepts no new ones.
    Cut,
    /// Keeps connections, but passes nothing on until it is healed.
    Hold,
    /// Passes each piece on after this time.
    Delay(Duration),
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        let delay = |ms: &str| {
            ms.parse()
                .ok()
                .filter(|ms| (1..=60_000).contains(ms))
                .map(Duration::from_millis)
        };
        match (text, text.strip_prefix("delay:").and_then(delay)) {
            ("cut", _) => Ok(Mode::Cut),
            ("hold", _) => Ok(Mode::Hold),
            (_, Some(delay)) => Ok(Mode::Delay(delay)),
            _ => Err(format!("`{text}` is not cut, hold or delay:MILLISECONDS")),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Pass => "pass",
            Mode::Cut => "cut",
            Mode::Hold => "hold",
            Mode::Delay(_) => "delay",
        })
    }
}

/// A running relay, which ends with its last owner.
#[derive(Debug)]
pub struct Relay {
    state: Arc<Relaying>,
    port: u16,
}

#[derive(Debug)]
struct Relaying {
    server: String,
    mode: Mutex<Mode>,
    ended: AtomicBool,
}

impl Relaying {
    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether connections are to end.
    fn is_cut(&self) -> bool {
        self.mode() == Mode::Cut || self.ended.load(Ordering::Relaxed)
    }
}

impl Relay {
    /// A relay on a free port of this machine to the server `HOST:PORT`.
    pub(super) fn to(server: &str) -> Result<Relay, CollectError> {
        let failed =
            |error: std::io::Error| CollectError::Address(format!("a relay to {server}: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        listener.set_nonblocking(true).map_err(failed)?;
        let state = Relaying {
            server: server.to_owned(),
            mode: Mutex::new(Mode::Pass),
            ended: AtomicBool::new(false),
        };
        let state = Arc::new(state);
        let own = Arc::clone(&state);
        std::thread::spawn(move || accept(&listener, &own));
        Ok(Relay { state, port })
    }

    /// Puts a relay in front of the server of an address: the relay, and the address that leads through it.
    pub fn before(url: &str) -> Result<(Relay, String), CollectError> {
        let parts = url.split_once("://").and_then(|(scheme, rest)| {
            let (place, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            let (user, host) = place
                .rsplit_once('@')
                .map_or(("", place), |(user, host)| (user, host));
            (!host.is_empty() && !path.contains("host=") && !path.contains("socket="))
                .then_some((scheme, user, host, path))
        });
        let Some((scheme, user, host, path)) = parts else {
            return Err(CollectError::Address(
                "a relay needs an address with a host, like postgres://me@host:5432/test"
                    .to_owned(),
            ));
        };
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let usual = match scheme.to_ascii_lowercase().as_str() {
            "mysql" | "mariadb" => 3306,
            "redis" => 6379,
            _ => 5432,
        };
        let relay = Relay::to(&if has_port {
            host.to_owned()
        } else {
            format!("{host}:{usual}")
        })?;
        let at = if user.is_empty() {
            String::new()
        } else {
            format!("{user}@")
        };
        let url = format!("{scheme}://{at}127.0.0.1:{}{path}", relay.port);
        Ok((relay, url))
    }

    /// From now on does this.
    pub(super) fn set(&self, mode: Mode) {
        *self
            .state
            .mode
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = mode;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, state: &Arc<Relaying>) {
    while !state.ended.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((client, _)) if !state.is_cut() => {
                let state = Arc::clone(state);
                std::thread::spawn(move || connect(client, &state));
            }
            // Refused by ending it.
            Ok(_) => {}
            Err(_) => std::thread::sleep(TICK),
        }
    }
}

/// Passes everything on in both directions until one side ends.
fn connect(client: TcpStream, state: &Arc<Relaying>) {
    let Ok(server) = TcpStream::connect(&state.server) else {
        return;
    };
    let Ok((back, forth)) = server
        .try_clone()
        .and_then(|server| Ok((server, client.try_clone()?)))
    else {
        return;
    };
    for stream in [&client, &server] {
        // Pieces are as small as the sender made them. The clones share these settings.
        let ready = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_nodelay(true))
            .and_then(|()| stream.set_read_timeout(Some(TICK)));
        if ready.is_err() {
            return;
        }
    }
    let other = Arc::clone(state);
    std::thread::spawn(move || pass(back, forth, &other));
    pass(client, server, state);
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: &Relaying) {
    let mut piece = [0; PIECE];
    while !state.is_cut() {
        let n = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                continue;
            }
            Err(_) => break,
        };
        if let Mode::Delay(delay) = state.mode() {
            std::thread::sleep(delay);
        }
        while state.mode() == Mode::Hold && !state.is_cut() {
            std::thread::sleep(TICK);
        }
        if state.is_cut() || to.write_all(&piece[..n]).is_err() {
            break;
        }
    }
    // Both sides learn of it; either may be gone already.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A server that answers each byte with the same byte.
    fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let place = listener.local_addr().expect("an address").to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let (mut from, mut to) = (stream.try_clone().expect("a clone"), stream);
                    let _ = std::io::copy(&mut from, &mut to);
                });
            }
        });
        place
    }

    fn asked(client: &mut TcpStream) -> bool {
        let mut answer = [0];
        client.write_all(b"x").is_ok() && client.read_exact(&mut answer).is_ok() && answer == *b"x"
    }

    #[test]
    fn what_passes_is_delayed_held_or_cut() {
        let (relay, url) =
            Relay::before(&format!("redis://me:secret@{}/0", echo())).expect("a relay");
        assert!(
            url.starts_with("redis://me:secret@127.0.0.1:") && url.ends_with("/0"),
            "{url}"
        );
        let connect = || TcpStream::connect(("127.0.0.1", relay.port)).expect("it listens");
        let mut client = connect();
        assert!(asked(&mut client));
        relay.set(Mode::Delay(Duration::from_millis(60)));
        let begin = Instant::now();
        assert!(asked(&mut client) && begin.elapsed() >= Duration::from_millis(120));
        relay.set(Mode::Hold);
        client
            .set_read_timeout(Some(Duration::from_millis(100)))
            .expect("a setting");
        assert!(!asked(&mut client));
        relay.set(Mode::Pass);
        client.set_read_timeout(None).expect("a setting");
        let mut late = [0];
        assert!(client.read_exact(&mut late).is_ok() && asked(&mut client));
        relay.set(Mode::Cut);
        assert!(!asked(&mut client) || !asked(&mut client));
        assert!(!asked(&mut connect()));
        relay.set(Mode::Pass);
        assert!(asked(&mut connect()));
    }

    #[test]
    fn only_addresses_with_a_host_can_be_relayed() {
        for url in [
            "sqlite",
            "postgres:host=/run user=me",
            "mysql://root@localhost/test?socket=/run/s",
            "redis:///x",
        ] {
            assert!(Relay::before(url).is_err(), "{url}");
        }
        assert_eq!(
            "delay:20".parse(),
            Ok(Mode::Delay(Duration::from_millis(20)))
        );
        assert!("delay:x".parse::<Mode>().is_err() && "pass".parse::<Mode>().is_err());
    }
}
