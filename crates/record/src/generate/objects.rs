//! Logs of tests of a data type: a set, a bank, a counter, a lock or a queue, right or with one planted fault.
//!
//! Clients take turns at random: each begins an operation, which takes effect at some later turn and is answered at a later
//! one still. So the log has an order that explains it, but for what is planted.

use super::workload::mixed;
use fastrand::Rng;
use isoscope_model::history::words;
use std::collections::VecDeque;
use std::fmt::Write;

words! {
    /// A data type that a test is about.
    Object by name of "data type" {
        /// Elements are added, and reads return all.
        Set = "set",
        /// Transfers between five accounts, and reads of all balances.
        Bank = "bank",
        /// Amounts are added, and reads return the sum.
        Counter = "counter",
        /// A lock, which one client holds at a time.
        Mutex = "mutex",
        /// Messages go in and come out; the last operation takes out all that are left.
        Queue = "queue",
    }
}

/// A log to generate. The same value gives the same log.
#[derive(Clone, Copy, Debug)]
pub struct ObjectLog {
    /// What it is about.
    pub object: Object,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Clients, at least two.
    pub clients: u32,
    /// Operations of all clients together.
    pub operations: u64,
    /// Whether one thing goes wrong: an acknowledged element or message is lost, a read sees half a transfer or too small a
    /// sum, a second client gets the lock.
    pub is_faulty: bool,
}

/// Accounts of a bank, and what each has at first.
const ACCOUNTS: usize = 5;
const BALANCE: i64 = 10;

/// One in so many operations has no answer.
const UNANSWERED: u32 = 40;

/// An operation that has begun.
#[derive(Clone)]
struct Pending {
    word: &'static str,
    /// What was asked for, and what will be answered.
    value: String,
    /// What had been acknowledged when it began.
    since: i64,
    has_effect: bool,
}

/// What becomes of an operation at its turn.
enum Effect {
    Answer(String),
    Waits,
    Fails,
}

/// Clients and what they share.
struct Run<'l> {
    log: &'l ObjectLog,
    random: Rng,
    pending: Vec<Option<Pending>>,
    /// The number of each client's process: another one after an operation without answer.
    processes: Vec<u64>,
    balances: [i64; ACCOUNTS],
    /// Elements, messages, or amounts.
    held: VecDeque<i64>,
    /// The sum of what was acknowledged.
    sure: i64,
    holder: Option<usize>,
    /// Operations so far, which is also the last element or message.
    n: i64,
    /// Whether what is planted has happened.
    has_failed: bool,
    out: String,
}

impl ObjectLog {
    /// The log, in Jepsen's words as EDN. O(operations), times the elements of a set for its reads.
    pub fn edn(&self) -> String {
        let n = self.clients.max(2) as usize;
        let mut run = Run {
            log: self,
            random: Rng::with_seed(mixed(self.seed, self.object as u64)),
            pending: vec![None; n],
            processes: (0..n as u64).collect(),
            balances: [BALANCE; ACCOUNTS],
            held: VecDeque::new(),
            sure: 0,
            holder: None,
            n: 0,
            has_failed: false,
            out: String::new(),
        };
        let mut left = self.operations;
        // A bank is read before anything moves.
        if self.object == Object::Bank {
            run.alone("read");
        }
        while left > 0 || run.pending.iter().any(Option::is_some) {
            let client = run.random.usize(..n);
            match run.pending[client].clone() {
                None if left > 0 => {
                    left -= 1;
                    run.begin(client);
                }
                None => {}
                Some(pending) if !pending.has_effect => run.effect(client, pending, left == 0),
                Some(pending) => run.answer(client, pending),
            }
        }
        match self.object {
            Object::Queue => run.alone("drain"),
            Object::Mutex => {}
            _ => run.alone("read"),
        }
        run.out
    }
}

impl Run<'_> {
    fn line(&mut self, client: usize, stage: &str, word: &str, value: &str) {
        let process = self.processes[client];
        // Writing to a string does not fail.
        let _ = writeln!(
            self.out,
            "{{:process {process}, :type :{stage}, :f :{word}, :value {value}}}"
        );
    }

    /// An operation that nothing overlaps.
    fn alone(&mut self, word: &'static str) {
        let pending = Pending {
            word,
            value: "nil".to_owned(),
            since: self.sure,
            has_effect: false,
        };
        self.line(0, "invoke", word, "nil");
        if let Effect::Answer(value) = self.answer_of(0, &pending) {
            self.line(0, "ok", word, &value);
        }
    }

    fn begin(&mut self, client: usize) {
        self.n += 1;
        let changes = self.random.u8(..10) < 6;
        let (word, value) = match (self.log.object, changes) {
            (Object::Set, true) => ("add", self.n.to_string()),
            (Object::Counter, true) => ("add", self.random.i64(1..4).to_string()),
            (Object::Bank, true) => {
                let from = self.random.usize(..ACCOUNTS);
                let to = (from + self.random.usize(1..ACCOUNTS)) % ACCOUNTS;
                let amount = self.random.i64(1..4);
                (
                    "transfer",
                    format!("{{:from {from}, :to {to}, :amount {amount}}}"),
                )
            }
            (Object::Queue, true) => ("enqueue", self.n.to_string()),
            (Object::Queue, false) => ("dequeue", "nil".to_owned()),
            (Object::Mutex, _) if self.holder == Some(client) => ("release", "nil".to_owned()),
            (Object::Mutex, _) => ("acquire", "nil".to_owned()),
            _ => ("read", "nil".to_owned()),
        };
        self.line(client, "invoke", word, &value);
        self.pending[client] = Some(Pending {
            word,
            value,
            since: self.sure,
            has_effect: false,
        });
    }

    /// Whether what is planted happens now: once, in the second half.
    fn fails(&mut self, can: bool) -> bool {
        let is_late = 2 * self.n as u64 > self.log.operations;
        let fails = self.log.is_faulty && !self.has_failed && is_late && can;
        self.has_failed |= fails;
        fails
    }

    /// What an operation is answered when it takes effect.
    fn answer_of(&mut self, client: usize, pending: &Pending) -> Effect {
        let asked = || pending.value.clone();
        Effect::Answer(match (self.log.object, pending.word) {
            (Object::Set | Object::Queue, "add" | "enqueue") => {
                if !self.fails(true) {
                    self.held.extend(asked().parse::<i64>());
                }
                asked()
            }
            (Object::Set, _) => {
                let elements: Vec<String> = self.held.iter().map(i64::to_string).collect();
                format!("#{{{}}}", elements.join(" "))
            }
            (Object::Queue, "drain") => {
                let messages: Vec<String> =
                    self.held.drain(..).map(|one| one.to_string()).collect();
                format!("[{}]", messages.join(" "))
            }
            (Object::Queue, _) => match self.held.pop_front() {
                Some(message) => message.to_string(),
                None => "nil".to_owned(),
            },
            (Object::Counter, "add") => {
                self.held.extend(asked().parse::<i64>());
                asked()
            }
            (Object::Counter, _) => match self.fails(pending.since > 0) {
                true => (pending.since - 1).to_string(),
                false => self.held.iter().sum::<i64>().to_string(),
            },
            (Object::Bank, "transfer") => {
                let numbers: Vec<i64> = asked()
                    .split(|c: char| !c.is_ascii_digit())
                    .filter_map(|number| number.parse().ok())
                    .collect();
                let [from, to, amount] = numbers[..] else {
                    return Effect::Fails;
                };
                if self.balances[from as usize] < amount {
                    return Effect::Fails;
                }
                self.balances[from as usize] -= amount;
                self.balances[to as usize] += amount;
                asked()
            }
            (Object::Bank, _) => {
                let mut seen = self.balances;
                seen[0] -= i64::from(self.fails(true));
                let all = seen.iter().enumerate();
                let all: Vec<String> = all.map(|(n, balance)| format!("{n} {balance}")).collect();
                format!("{{{}}}", all.join(", "))
            }
            (Object::Mutex, "acquire") => {
                let is_held = self
                    .holder
                    .is_some_and(|holder| self.pending[holder].is_none());
                let is_free = self.holder.is_none() || self.fails(is_held);
                if !is_free {
                    return Effect::Waits;
                }
                self.holder = Some(client);
                asked()
            }
            (Object::Mutex, _) => {
                if self.holder == Some(client) {
                    self.holder = None;
                }
                asked()
            }
        })
    }

    /// An operation takes effect, or waits; at the end what waits has failed.
    fn effect(&mut self, client: usize, pending: Pending, is_end: bool) {
        match self.answer_of(client, &pending) {
            Effect::Answer(value) => {
                self.pending[client] = Some(Pending {
                    value,
                    has_effect: true,
                    ..pending
                });
            }
            Effect::Waits if !is_end => {}
            Effect::Fails | Effect::Waits => {
                self.line(client, "fail", pending.word, &pending.value);
                self.pending[client] = None;
            }
        }
    }

    fn answer(&mut self, client: usize, pending: Pending) {
        self.pending[client] = None;
        // What might explain a fault, or leave a lock held for ever, has an answer.
        let has_to = matches!(pending.word, "acquire" | "release" | "dequeue");
        let may_be_open = !has_to && !self.log.is_faulty;
        if may_be_open && self.random.u32(..UNANSWERED) == 0 {
            self.line(client, "info", pending.word, "nil");
            self.processes[client] += self.processes.len() as u64;
            return;
        }
        if pending.word == "add" {
            self.sure += pending.value.parse::<i64>().unwrap_or_default();
        }
        self.line(client, "ok", pending.word, &pending.value);
    }
}
