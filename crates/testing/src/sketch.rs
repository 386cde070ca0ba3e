//! A history as people sketch it: sessions of transactions of reads and writes on a handful of keys. Tests change
//! sketches freely, turn them into a [`History`], and print them when something is wrong.

use isoscope_model::history::{Builder, History, OperationKind, Origin, Outcome, Value};
use std::fmt;

/// One operation. Key 0 is called x, 1 y, 2 z, then k3, k4 and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub kind: OperationKind,
    pub key: usize,
    pub value: Value,
}

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub outcome: Outcome,
    pub operations: Vec<Operation>,
}

/// Sessions, called a, b, c and so on. Value 0 reads as the initial version unless a transaction writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    pub sessions: Vec<Vec<Transaction>>,
}

pub fn read(key: usize, value: u64) -> Operation {
    Operation {
        kind: OperationKind::Read,
        key,
        value: Value(value),
    }
}

pub fn write(key: usize, value: u64) -> Operation {
    Operation {
        kind: OperationKind::Write,
        key,
        value: Value(value),
    }
}

/// Name of a key.
pub fn key_name(key: usize) -> String {
    match key {
        0..3 => ["x", "y", "z"][key].to_owned(),
        _ => format!("k{key}"),
    }
}

/// Name of a session.
pub fn session_name(session: usize) -> String {
    match u8::try_from(session) {
        Ok(n) if n < 26 => char::from(b'a' + n).to_string(),
        _ => format!("s{session}_"),
    }
}

impl Transaction {
    pub fn committed(operations: Vec<Operation>) -> Transaction {
        Transaction {
            outcome: Outcome::Committed,
            operations,
        }
    }
}

impl Sketch {
    /// The history it describes.
    pub fn history(&self) -> History {
        let mut builder = Builder::new(Origin::default());
        builder.initial_value(Value(0));
        for (s, transactions) in self.sessions.iter().enumerate() {
            let session = builder.session_name(&session_name(s));
            for transaction in transactions {
                let draft = builder.transaction(session, transaction.outcome);
                for operation in &transaction.operations {
                    let key = builder.key_name(&key_name(operation.key));
                    builder.operation(draft, operation.kind, key, operation.value, 0);
                }
            }
        }
        builder.finish().expect("sketches are small")
    }

    /// The part with these transactions, in the order of the sessions; reads of what others wrote are dropped. Values
    /// must be unique.
    pub fn part(&self, keep: &[u32]) -> Sketch {
        let kept = |place: &usize| keep.contains(&(*place as u32));
        let written = |o: &Operation| o.kind == OperationKind::Write;
        let all: Vec<&Transaction> = self.transactions().collect();
        let of_others: Vec<Operation> = (0..all.len())
            .filter(|place| !kept(place))
            .flat_map(|place| all[place].operations.iter().copied().filter(written))
            .collect();
        let is_of_others = |o: &Operation| {
            of_others
                .iter()
                .any(|write| (write.key, write.value) == (o.key, o.value))
        };
        let mut place = 0;
        let mut part = self.clone();
        for session in &mut part.sessions {
            session.retain(|_| {
                place += 1;
                kept(&(place - 1))
            });
            session
                .iter_mut()
                .for_each(|transaction| transaction.operations.retain(|o| !is_of_others(o)));
        }
        part
    }

    /// All transactions.
    pub fn transactions(&self) -> impl Iterator<Item = &Transaction> {
        self.sessions.iter().flatten()
    }

    /// All transactions.
    pub fn transactions_mut(&mut self) -> impl Iterator<Item = &mut Transaction> {
        self.sessions.iter_mut().flatten()
    }

    /// All operations.
    pub fn operations_mut(&mut self) -> impl Iterator<Item = &mut Operation> {
        self.transactions_mut()
            .flat_map(|transaction| &mut transaction.operations)
    }

    /// The same with two values only, besides the initial one, so that most reads have several possible writers.
    pub fn with_few_values(mut self) -> Sketch {
        for operation in self
            .operations_mut()
            .filter(|o| (1..=Value::MAX_NUMBER).contains(&o.value.0))
        {
            operation.value = Value(1 + operation.value.0 % 2);
        }
        self
    }

    /// One more than the largest key.
    pub fn n_keys(&self) -> usize {
        self.transactions()
            .flat_map(|t| &t.operations)
            .map(|o| o.key + 1)
            .max()
            .unwrap_or(0)
    }

    /// One more than the largest number written or read.
    pub fn fresh_value(&self) -> u64 {
        let values = self
            .transactions()
            .flat_map(|t| &t.operations)
            .map(|o| o.value.0);
        values
            .filter(|v| *v <= Value::MAX_NUMBER)
            .max()
            .unwrap_or(0)
            + 1
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = if self.kind == OperationKind::Read {
            'r'
        } else {
            'w'
        };
        let key = key_name(self.key);
        match self.value {
            Value::INITIAL => write!(f, "{letter} {key} init"),
            Value::UNRECORDED => write!(f, "{letter} {key} ?"),
            Value(number) => write!(f, "{letter} {key} {number}"),
        }
    }
}

/// One line a session; `!` after an aborted transaction, `?` after one of unknown outcome.
impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (s, transactions) in self.sessions.iter().enumerate() {
            write!(f, "{}:", session_name(s))?;
            for transaction in transactions {
                let operations: Vec<String> = transaction
                    .operations
                    .iter()
                    .map(Operation::to_string)
                    .collect();
                let mark = match transaction.outcome {
                    Outcome::Committed => "",
                    Outcome::Aborted => "!",
                    Outcome::Unknown => "?",
                };
                write!(f, " [{}]{mark}", operations.join(", "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
