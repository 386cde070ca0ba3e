//! A store with multi-version concurrency control and a bug, and a test that finds it.
//!
//! Four clients push orders on a linked list: each reads the latest order, makes a new one that points to it, and makes that
//! one the latest. Under snapshot isolation the first of them to commit wins. But the store looks at the first key only of
//! those that a transaction writes, so orders get lost. `cargo run --example store` says so, `-- --fixed` finds nothing.

use isoscope::recorder::Recorder;
use std::collections::BTreeMap;
use std::sync::{Barrier, Mutex, PoisonError};

/// How often all clients push an order at the same time.
const ROUNDS: usize = 3;

/// By key: its versions, each with the commit that made it, ascending.
type Versions = BTreeMap<String, Vec<(u64, String)>>;

struct Store {
    /// Number of commits so far, and what they wrote.
    committed: Mutex<(u64, Versions)>,
    is_fixed: bool,
}

struct Snapshot<'a> {
    store: &'a Store,
    at: u64,
    writes: BTreeMap<String, String>,
}

impl Store {
    fn begin(&self) -> Snapshot<'_> {
        let at = self.with(|(commits, _)| *commits);
        let (store, writes) = (self, BTreeMap::new());
        Snapshot { store, at, writes }
    }

    fn with<T>(&self, work: impl FnOnce(&mut (u64, Versions)) -> T) -> T {
        let committed = self.committed.lock();
        work(&mut committed.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Snapshot<'_> {
    fn get(&self, key: &str) -> Option<String> {
        let seen = |(by, _): &&(u64, String)| *by <= self.at;
        self.store.with(|(_, versions)| {
            let versions = versions.get(key)?;
            versions
                .iter()
                .rev()
                .find(seen)
                .map(|(_, value)| value.clone())
        })
    }

    fn put(&mut self, key: &str, value: &str) {
        self.writes.insert(key.to_owned(), value.to_owned());
    }

    /// Whether it committed: not if another one that it did not see has written one of its keys.
    fn commit(self) -> bool {
        self.store.with(|(commits, versions)| {
            let is_unchanged = |key: &String| {
                let last = versions.get(key).and_then(|versions| versions.last());
                last.is_none_or(|(by, _)| *by <= self.at)
            };
            // The bug.
            let looked_at = if self.store.is_fixed { usize::MAX } else { 1 };
            let wins = self.writes.keys().take(looked_at).all(is_unchanged);
            if wins {
                *commits += 1;
                for (key, value) in self.writes {
                    versions.entry(key).or_default().push((*commits, value));
                }
            }
            wins
        })
    }
}

/// What four clients did.
pub(crate) fn recorded(is_fixed: bool) -> Recorder {
    let (recorder, committed) = (Recorder::new(), Mutex::default());
    let store = Store {
        committed,
        is_fixed,
    };
    let names = ["alice", "bob", "carol", "dave"];
    // All see the same snapshot, which makes them meet.
    let meeting = Barrier::new(names.len());
    std::thread::scope(|clients| {
        for name in names {
            let (mut session, store, meeting) = (recorder.session(name), &store, &meeting);
            clients.spawn(move || {
                for round in 1..=ROUNDS {
                    meeting.wait();
                    let mut transaction = session.begin();
                    let mut snapshot = store.begin();
                    meeting.wait();
                    let order = format!("{name}-{round}");
                    let latest = transaction.read("latest", snapshot.get("latest"));
                    let latest = latest.unwrap_or_else(|| "none".to_owned());
                    transaction.write(format!("before {order}"), &latest);
                    snapshot.put(&format!("before {order}"), &latest);
                    transaction.write("latest", &order);
                    snapshot.put("latest", &order);
                    match snapshot.commit() {
                        true => transaction.commit(),
                        false => transaction.abort(),
                    }
                }
            });
        }
    });
    recorder
}

fn main() {
    let is_fixed = std::env::args().any(|argument| argument == "--fixed");
    let recorder = recorded(is_fixed);
    isoscope::assert_holds!(recorder, SI);
    println!("snapshot isolation holds");
}
