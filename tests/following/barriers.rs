//! Where clients keep barriers, sessions come and go, and the past is settled without loss all the same.

use crate::common;

use common::followed::{Arrival, follow, in_order};
use common::random::{for_seeds, share};
use fastrand::Rng;
use isoscope::follow::{Action, Answer, Atom, FOLLOWED, Follower, Names, Options, Record, Stream};
use isoscope::history::fences::{BARRIER, FENCES, declaration};
use isoscope::history::{Interval, OperationKind, Outcome};
use std::sync::atomic::{AtomicU64, Ordering};

/// A committed transaction of the store: what it wrote.
type Written = Vec<(String, u64)>;

/// A client of the store.
#[derive(Default)]
struct Client {
    /// Its session, a place among the names; none once it is gone.
    session: Option<u32>,
    /// It sees at least this many transactions of the log.
    view: usize,
    /// Whether the session has to begin with the barrier key.
    is_new: bool,
    /// A transaction that has ended in the store and not yet in the recording.
    late: Option<Record>,
}

/// How a store in memory and its clients behave.
#[derive(Clone, Copy)]
struct Manners {
    /// Transactions see all that has committed; else any part of it that is a beginning.
    is_serial: bool,
    /// One read in so many returns any version.
    wrong: usize,
    /// One transaction in so many is of unknown outcome.
    unknown: usize,
    /// One new session in so many does not begin with the last barrier.
    rude: usize,
}

/// Clients of a store with barriers, as their recording arrives.
struct Run {
    manners: Manners,
    rng: Rng,
    log: Vec<Written>,
    clients: Vec<Client>,
    arrival: Arrival,
    values: u64,
    barriers: u64,
    gone: Vec<u32>,
}

impl Run {
    fn new(seed: u64, manners: Manners) -> Run {
        let mut names = Names::default();
        names.barrier = Some(names.keys.place(BARRIER));
        let mut rng = Rng::with_seed(seed);
        let n = rng.usize(2..4);
        let session = |n: usize, names: &mut Names| Some(names.sessions.place(&n.to_string()));
        let clients = (0..n)
            .map(|n| Client {
                session: session(n, &mut names),
                ..Client::default()
            })
            .collect();
        let arrival = Arrival {
            names,
            records: Vec::new(),
            sessions: 0,
        };
        Run {
            manners,
            rng,
            log: Vec::new(),
            clients,
            arrival,
            values: 0,
            barriers: 0,
            gone: Vec::new(),
        }
    }

    fn one_in(&mut self, n: usize) -> bool {
        n > 0 && self.rng.usize(0..n) == 0
    }

    /// What a transaction reads that sees this many others.
    fn version(&mut self, key: &str, view: usize) -> Atom {
        let is_wrong = self.one_in(self.manners.wrong) && !key.starts_with(FENCES);
        let of_key = |written: &Written| {
            written
                .iter()
                .rev()
                .find(|(other, _)| other == key)
                .map(|(_, value)| *value)
        };
        let versions: Vec<u64> = self.log[..view].iter().filter_map(of_key).collect();
        let chosen = if is_wrong {
            self.rng.choice(&versions)
        } else {
            versions.last()
        };
        chosen.map_or(Atom::Initial, |value| Atom::Number(*value))
    }

    /// Runs a transaction that reads some keys and writes others; its record, which has not arrived.
    fn run(
        &mut self,
        client: usize,
        reads: &[String],
        writes: &[(String, u64)],
        outcome: Outcome,
    ) -> Record {
        let least = self.clients[client].view;
        let is_fence = |key: &String| key.starts_with(FENCES);
        let sees_all = self.manners.is_serial || reads.iter().any(is_fence);
        let view = if sees_all {
            self.log.len()
        } else {
            self.rng.usize(least..=self.log.len())
        };
        let mut operations = Vec::new();
        for key in reads {
            let value = self.version(key, view);
            operations.push((OperationKind::Read, key.clone(), value));
        }
        operations.extend(
            writes
                .iter()
                .map(|(key, value)| (OperationKind::Write, key.clone(), Atom::Number(*value))),
        );
        let takes_effect = match outcome {
            Outcome::Committed => true,
            Outcome::Unknown => self.rng.bool(),
            Outcome::Aborted => false,
        };
        if takes_effect {
            self.log.push(writes.to_vec());
        }
        if outcome == Outcome::Committed {
            self.clients[client].view = if writes.is_empty() {
                view
            } else {
                self.log.len()
            };
        }
        let action = |(kind, key, value): (OperationKind, String, Atom)| {
            let key = self.arrival.names.keys.place(&key);
            Action {
                kind,
                key,
                value,
                list: None,
                line: 0,
            }
        };
        let operations = operations.into_iter().map(action).collect();
        let session = self.clients[client]
            .session
            .expect("a client that is there");
        // It began after what has arrived; when it ends, its arrival shows.
        let interval = Some(Interval {
            start: 10 * self.arrival.records.len() as i64 + 1,
            end: 0,
        });
        Record {
            session,
            called: None,
            outcome,
            operations,
            interval,
            line: 0,
            foreign: None,
            gone: Vec::new(),
            begun: None,
        }
    }

    fn arrive(&mut self, mut record: Record) {
        let line = self.arrival.records.len() as u32 + 1;
        record.line = line;
        record
            .operations
            .iter_mut()
            .for_each(|action| action.line = line);
        record.gone = std::mem::take(&mut self.gone);
        record
            .interval
            .iter_mut()
            .for_each(|interval| interval.end = 10 * i64::from(line));
        self.arrival.records.push(record);
    }

    fn at_once(&mut self, client: usize, reads: &[String], writes: &[(String, u64)]) {
        let record = self.run(client, reads, writes, Outcome::Committed);
        self.arrive(record);
    }

    /// The late transaction of a client, and the greeting of a new session.
    fn make_ready(&mut self, client: usize) {
        if let Some(record) = self.clients[client].late.take() {
            self.arrive(record);
        }
        if std::mem::take(&mut self.clients[client].is_new)
            && self.barriers > 0
            && !self.one_in(self.manners.rude)
        {
            self.at_once(client, &[BARRIER.to_owned()], &[]);
        }
    }

    fn present(&self) -> Vec<usize> {
        (0..self.clients.len())
            .filter(|&client| self.clients[client].session.is_some())
            .collect()
    }

    /// The client goes on as a new session, or not at all.
    fn renew(&mut self, client: usize, goes_on: bool) {
        if let Some(record) = self.clients[client].late.take() {
            self.arrive(record);
        }
        self.gone.extend(self.clients[client].session.take());
        if goes_on {
            let name = self.arrival.names.sessions.len().to_string();
            // A session sees nothing of another one of its client.
            let session = Some(self.arrival.names.sessions.place(&name));
            self.clients[client] = Client {
                session,
                is_new: true,
                ..Client::default()
            };
        }
    }

    fn barrier(&mut self) {
        let mut present = self.present();
        self.rng.shuffle(&mut present);
        for &client in &present {
            self.make_ready(client);
            self.values += 1;
            self.at_once(
                client,
                &[],
                &[(format!("{FENCES}{}", client + 1), self.values)],
            );
        }
        let Some(leader) = self.rng.choice(present.clone()) else {
            return;
        };
        let fences: Vec<String> = (1..=self.clients.len())
            .map(|n| format!("{FENCES}{n}"))
            .collect();
        self.barriers += 1;
        self.at_once(leader, &fences, &[(BARRIER.to_owned(), self.barriers)]);
        for client in present {
            if !self.one_in(10) {
                self.at_once(client, &[BARRIER.to_owned()], &[]);
            }
        }
    }

    fn ordinary(&mut self, client: usize) {
        self.make_ready(client);
        let key = |rng: &mut Rng| ["x", "y"][rng.usize(0..2)].to_owned();
        let reads: Vec<String> = (0..self.rng.usize(0..3))
            .map(|_| key(&mut self.rng))
            .collect();
        let writes = self.rng.usize(usize::from(reads.is_empty())..2);
        let writes: Vec<(String, u64)> = (0..writes)
            .map(|_| {
                self.values += 1;
                (key(&mut self.rng), self.values)
            })
            .collect();
        let is_unknown = self.one_in(self.manners.unknown);
        let outcome = match self.rng.usize(0..12) {
            _ if is_unknown => Outcome::Unknown,
            0 => Outcome::Aborted,
            _ => Outcome::Committed,
        };
        let record = self.run(client, &reads, &writes, outcome);
        if self.rng.bool() {
            self.arrive(record)
        } else {
            self.clients[client].late = Some(record)
        }
        if is_unknown {
            self.renew(client, true);
        }
    }

    fn arrived_after(mut self, steps: usize) -> Arrival {
        for _ in 0..steps {
            let Some(client) = self.rng.choice(self.present()) else {
                break;
            };
            match self.rng.usize(0..12) {
                0 => {
                    let goes_on = self.rng.usize(0..3) > 0;
                    self.renew(client, goes_on);
                }
                1 | 2 => self.barrier(),
                _ => self.ordinary(client),
            }
        }
        for client in 0..self.clients.len() {
            if let Some(record) = self.clients[client].late.take() {
                self.arrive(record);
            }
        }
        self.arrival
    }
}

fn settling() -> Options {
    Options {
        levels: FOLLOWED.to_vec(),
        horizon: None,
        period: 1,
        ..Options::default()
    }
}

const BROKEN: &str = "has not seen what every session had seen";

/// Follows runs and counts: what was settled, violated, left open, and ended for a broken promise.
fn followed(seeds: u64, manners: Manners) -> [u64; 4] {
    let counts = [const { AtomicU64::new(0) }; 4];
    for_seeds(seeds, |seed| {
        let mut rng = Rng::with_seed(seed);
        let manners = Manners {
            is_serial: rng.bool(),
            wrong: [0, 40, 8][rng.usize(0..3)],
            ..manners
        };
        let arrival = Run::new(seed, manners).arrived_after(rng.usize(6..18));
        let options = Options {
            period: [1, 1, 2][rng.usize(0..3)],
            ..settling()
        };
        let follower = follow(&arrival, options, manners.unknown == 0)
            .map_err(|error| in_order(&arrival) + &error)?;
        let is_broken = follower.ended().is_some_and(|why| why.contains(BROKEN));
        if is_broken && manners.rude == 0 {
            return Err(in_order(&arrival) + follower.ended().unwrap_or_default());
        }
        let is = |wanted: fn(&Answer) -> bool| {
            follower.answers().iter().any(|(_, answer)| wanted(answer))
        };
        let is_violated = is(|answer| *answer == Answer::Violated);
        let is_open = is(|answer| matches!(answer, Answer::ExceptFor(_)));
        let these = [
            follower.status().settled,
            u64::from(is_violated),
            u64::from(is_open),
            u64::from(is_broken),
        ];
        counts.iter().zip(these).for_each(|(count, n)| {
            count.fetch_add(n, Ordering::Relaxed);
        });
        Ok(())
    });
    counts.map(AtomicU64::into_inner)
}

#[test]
fn sessions_that_come_and_go_with_barriers_are_followed_without_loss() {
    let polite = Manners {
        is_serial: true,
        wrong: 0,
        unknown: 0,
        rude: 0,
    };
    let [settled, violated, open, broken] = followed(400, polite);
    assert!(
        settled > share(1000, 400) && violated > share(60, 400),
        "{settled} settled, {violated} violated"
    );
    assert_eq!((open, broken), (0, 0));
}

#[test]
fn a_read_of_an_old_transaction_of_unknown_outcome_is_left_out_and_nothing_is_claimed_that_is_not_so()
 {
    let [settled, _, open, broken] = followed(
        400,
        Manners {
            is_serial: true,
            wrong: 0,
            unknown: 5,
            rude: 0,
        },
    );
    assert!(settled > 500 && open > 1, "{settled} settled, {open} open");
    assert_eq!(broken, 0);
}

#[test]
fn a_session_that_does_not_begin_with_the_barrier_ends_following_and_no_verdict_is_wrong() {
    let [settled, _, _, broken] = followed(
        400,
        Manners {
            is_serial: false,
            wrong: 0,
            unknown: 0,
            rude: 2,
        },
    );
    assert!(
        settled > 500 && broken > 10,
        "{settled} settled, {broken} broken"
    );
}

/// A recording with lines for beginnings and ends.
fn recorded(transactions: &[(u32, &str)], comments: &[(usize, &str)]) -> String {
    let mut text = format!("; a test\n{}\n", declaration(2));
    for (n, (process, operations)) in transactions.iter().enumerate() {
        for (_, comment) in comments.iter().filter(|(place, _)| *place == n) {
            text += &format!("; {comment}\n");
        }
        for stage in ["invoke", "ok"] {
            text += &format!(
                "{{:type :{stage}, :f :txn, :process {process}, :value [{operations}]}}\n"
            );
        }
    }
    text
}

fn streamed(text: &str, piece: usize) -> Follower {
    let mut stream = Stream::new("made.edn", None).expect("a stream");
    let mut follower = Follower::new(settling());
    let mut records = Vec::new();
    for piece in text.as_bytes().chunks(piece) {
        stream.push(piece, &mut records).expect("a recording");
        records
            .drain(..)
            .for_each(|record| follower.take(record, stream.names()));
    }
    stream.finish(&mut records).expect("a recording");
    records
        .drain(..)
        .for_each(|record| follower.take(record, stream.names()));
    follower.finish(stream.names());
    follower
}

/// Two sessions and a barrier; then one of them ends and is followed by another.
const RUN: [(u32, &str); 9] = [
    (0, "[:w x 1]"),
    (1, "[:r x 1] [:w x 2]"),
    (0, "[:w fence/1 11]"),
    (1, "[:w fence/2 12]"),
    (0, "[:r fence/1 11] [:r fence/2 12] [:w fence/0 1]"),
    (0, "[:r fence/0 1]"),
    (1, "[:r fence/0 1]"),
    (2, "[:r fence/0 1]"),
    (2, "[:r x 2] [:w x 3]"),
];

#[test]
fn comments_say_which_sessions_have_ended() {
    let silent = streamed(&recorded(&RUN, &[]), 50).status();
    // Session 1 has ended before the last barrier, so that it holds up nothing.
    let more: Vec<(u32, &str)> = RUN
        .into_iter()
        .chain([
            (0, "[:w fence/1 21]"),
            (2, "[:w fence/2 22]"),
            (2, "[:r fence/1 21] [:r fence/2 22] [:w fence/0 2]"),
            (0, "[:r fence/0 2]"),
            (2, "[:r fence/0 2]"),
        ])
        .collect();
    let held_up = streamed(&recorded(&more, &[]), 50).status().settled;
    for piece in [1, 50, 10_000] {
        let follower = streamed(&recorded(&more, &[(7, "session 1 ended")]), piece);
        assert_eq!(follower.ended(), None);
        assert!(
            follower
                .answers()
                .iter()
                .all(|(_, answer)| *answer == Answer::Holds),
            "{:?}",
            follower.answers()
        );
        let settled = follower.status().settled;
        assert!(
            silent.settled > 3 && held_up < 9 && settled == 14,
            "{} {held_up} {settled}",
            silent.settled
        );
    }
}

/// No engine remembers the transaction that wrote the barrier's number, and it is no session's last, when another session
/// begins: all levels are violated by then.
#[test]
fn a_session_may_begin_when_nothing_is_remembered() {
    let transactions = [
        (0, "[:w x 1]"),
        (1, "[:r x 1] [:w x 2]"),
        (0, "[:w fence/1 11]"),
        (1, "[:w fence/2 12]"),
        (1, "[:r fence/1 11] [:r fence/2 12] [:w fence/0 1]"),
        (0, "[:r fence/0 1]"),
        (1, "[:r fence/0 1]"),
        (1, "[:w x 3]"),
        (1, "[:r x 3] [:r x 2] [:w y 4]"),
        (0, "[:r y 4] [:w x 5]"),
        (2, "[:r fence/0 1]"),
        (2, "[:w x 6]"),
    ];
    let follower = streamed(&recorded(&transactions, &[(9, "session 1 ended")]), 64);
    assert_eq!(follower.ended(), None);
    assert!(
        follower
            .answers()
            .iter()
            .all(|(_, answer)| *answer == Answer::Violated),
        "{:?}",
        follower.answers()
    );
}

#[test]
fn following_ends_where_a_session_has_not_seen_the_barrier() {
    let late = |operations| {
        let mut transactions = RUN[..7].to_vec();
        transactions.push((7, operations));
        streamed(&recorded(&transactions, &[]), 64)
    };
    assert_eq!(late("[:r fence/0 1] [:r x 2]").ended(), None);
    let why = late("[:r x 2]")
        .ended()
        .map(str::to_owned)
        .unwrap_or_default();
    assert!(why.starts_with("line 18: session 7 has not seen"), "{why}");
    // Settled or not, this could come first.
    assert!(
        late("[:r x nil]")
            .answers()
            .iter()
            .all(|(_, answer)| matches!(answer, Answer::Unknown(_)))
    );
    // A session that was said to have ended and goes on.
    let mut transactions = RUN[..6].to_vec();
    transactions.extend([(0, "[:r x 2]"), (1, "[:w x 9]")]);
    let follower = streamed(&recorded(&transactions, &[(4, "session 1 ended")]), 64);
    assert!(
        follower.ended().is_some_and(|why| why.contains(BROKEN)),
        "{:?}",
        follower.answers()
    );
}
