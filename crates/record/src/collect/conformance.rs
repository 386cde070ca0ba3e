//! Whether a driver does what histories rely on: every outcome is played once and compared with what must follow.

use super::driver::{Connection, Driver, Failure};
use crate::generate::Key;
use std::time::{Duration, Instant};

/// How long speed is measured.
const MEASURED: Duration = Duration::from_secs(1);
const X: Key = Key(1);
const Y: Key = Key(2);
const LIST: Key = Key(3);

/// What came of one requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// What a driver must do.
    pub what: &'static str,
    /// A figure, or why it does not matter here; or what the driver did instead.
    pub found: Result<String, String>,
}

/// A scene to play: what it must show, and how it is played.
type Scene = (&'static str, fn(&dyn Driver) -> Result<String, String>);

const SCENES: [Scene; 10] = [
    ("names itself and its version", |driver| {
        driver.version().map_err(message)
    }),
    ("prepares empty registers", prepares),
    ("reads what it wrote in a transaction", reads_its_own),
    ("shows committed writes to others", shows_commits),
    ("hides what is rolled back", hides_rollbacks),
    (
        "hides what was never committed when its client is gone",
        hides_the_lost,
    ),
    ("can go on after a rollback", goes_on),
    (
        "answers each of two conflicting transactions with ok or aborted",
        answers_conflicts,
    ),
    ("keeps the order of a list", keeps_lists),
    ("transactions per second of one session", speed),
];

/// Plays all scenes. Data of earlier runs are deleted.
pub fn conformance(driver: &dyn Driver) -> Vec<Requirement> {
    SCENES
        .iter()
        .map(|&(what, play)| Requirement {
            what,
            found: play(driver),
        })
        .collect()
}

fn message(failure: Failure) -> String {
    match failure {
        Failure::Refused(_) => format!("aborted: {failure}"),
        Failure::Broken(_) => format!("no answer: {failure}"),
    }
}

/// A prepared database and a client of it.
fn fresh(driver: &dyn Driver) -> Result<Box<dyn Connection>, String> {
    driver.prepare(5).map_err(message)?;
    driver.connect().map_err(message)
}

fn begun(driver: &dyn Driver) -> Result<Box<dyn Connection>, String> {
    let mut client = driver.connect().map_err(message)?;
    client.begin().map_err(message)?;
    Ok(client)
}

/// Fails unless a new client reads this value.
fn others_read(driver: &dyn Driver, key: Key, expected: u64) -> Result<String, String> {
    let mut client = begun(driver)?;
    let found = client.read(key).map_err(message)?;
    client.commit().map_err(message)?;
    same(found, expected)
}

fn same(found: u64, expected: u64) -> Result<String, String> {
    if found == expected {
        Ok(String::new())
    } else {
        Err(format!("expected {expected}, read {found}"))
    }
}

fn prepares(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    client
        .begin()
        .and_then(|()| client.write(X, 7))
        .and_then(|()| client.commit())
        .map_err(message)?;
    driver.prepare(5).map_err(message)?;
    others_read(driver, X, 0)
}

fn reads_its_own(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    client
        .begin()
        .and_then(|()| client.write(X, 1))
        .and_then(|()| client.write(X, 2))
        .map_err(message)?;
    let found = client.read(X).map_err(message)?;
    client.rollback().map_err(message)?;
    same(found, 2)
}

fn shows_commits(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    client
        .begin()
        .and_then(|()| client.write(X, 3))
        .and_then(|()| client.commit())
        .map_err(message)?;
    others_read(driver, X, 3)
}

fn hides_rollbacks(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    client
        .begin()
        .and_then(|()| client.write(X, 4))
        .and_then(|()| client.rollback())
        .map_err(message)?;
    others_read(driver, X, 0)
}

fn hides_the_lost(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    client
        .begin()
        .and_then(|()| client.write(X, 5))
        .map_err(message)?;
    drop(client);
    // The server may need a moment to notice, and until then hold its lock.
    std::thread::sleep(Duration::from_millis(200));
    others_read(driver, X, 0)
}

fn goes_on(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    client
        .begin()
        .and_then(|()| client.write(X, 6))
        .and_then(|()| client.rollback())
        .map_err(message)?;
    client
        .begin()
        .and_then(|()| client.write(Y, 7))
        .and_then(|()| client.commit())
        .map_err(message)?;
    others_read(driver, Y, 7)
}

/// Both read a key, then both write it. Whichever is said to have committed must be seen, and one that aborted must not.
fn answers_conflicts(driver: &dyn Driver) -> Result<String, String> {
    drop(fresh(driver)?);
    let (mut one, mut other) = (begun(driver)?, begun(driver)?);
    one.read(X).and_then(|_| other.read(X)).map_err(message)?;
    let mut committed = Vec::new();
    for (client, value) in [(&mut one, 8), (&mut other, 9)] {
        match client.write(X, value).and_then(|()| client.commit()) {
            Ok(()) => committed.push(value),
            Err(Failure::Refused(_)) => client.rollback().map_err(message)?,
            Err(failure) => return Err(message(failure)),
        }
    }
    let mut client = begun(driver)?;
    let found = client.read(X).map_err(message)?;
    match committed.as_slice() {
        [] => same(found, 0).map(|_| "both aborted".to_owned()),
        [one] => same(found, *one).map(|_| "one aborted".to_owned()),
        both if both.contains(&found) => Ok("both committed: an update may be lost".to_owned()),
        both => Err(format!("expected one of {both:?}, read {found}")),
    }
}

fn keeps_lists(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    if !driver.has_lists() {
        return Ok("it has no lists".to_owned());
    }
    for element in [1, 2, 3] {
        client
            .begin()
            .and_then(|()| client.append(LIST, element))
            .and_then(|()| client.commit())
            .map_err(message)?;
    }
    client
        .begin()
        .and_then(|()| client.append(LIST, 4))
        .map_err(message)?;
    let found = client.read_list(LIST).map_err(message)?;
    client.rollback().map_err(message)?;
    let mut other = begun(driver)?;
    let kept = other.read_list(LIST).map_err(message)?;
    match (found.as_slice(), kept.as_slice()) {
        ([1, 2, 3, 4], [1, 2, 3]) => Ok(String::new()),
        _ => Err(format!(
            "expected [1, 2, 3, 4], and [1, 2, 3] after a rollback; read {found:?} and {kept:?}"
        )),
    }
}

fn speed(driver: &dyn Driver) -> Result<String, String> {
    let mut client = fresh(driver)?;
    let begin = Instant::now();
    let mut n = 0u64;
    while begin.elapsed() < MEASURED {
        n += 1;
        let transaction = client
            .begin()
            .and_then(|()| client.read(X))
            .and_then(|_| client.write(X, n));
        transaction
            .and_then(|()| client.commit())
            .map_err(message)?;
    }
    Ok(format!("{:.0}", n as f64 / begin.elapsed().as_secs_f64()))
}
