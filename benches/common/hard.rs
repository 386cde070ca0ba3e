//! Instances on which deciding PC, SI and SER is as hard as it can be, from a few numbers.
//!
//! A formula in conjunctive normal form becomes a history that satisfies PC, SI and SER if the formula can be satisfied, and
//! none of them otherwise (the idea is that of Biswas & Enea 2019, Theorem 3.2; the gadgets are simpler, since they need not
//! bound the number of sessions or keys). Every choice is the order of two blind writes:
//!
//! ```text
//!   variable       A and B write x                          true: A before B
//!   literal        A' and B' write x'                       false: B' before A', for its own clause
//!   same choice    reads A's x, B'' and so on               whichever order one pair has, the other has it, too
//!   clause         F1 reads B1' ──RW──→ A1' ──WR──→ F2 reads B2' ──RW──→ A2' ──WR──→ … ──WR──→ F1
//! ```
//!
//! An anti-dependency of a clause is there if its literal is false, so the cycle is closed if all of them are. Pairs of
//! literals belong to one clause, and what leads back to a variable ends there, so nothing else closes a cycle.

use isoscope::history::{Builder, Draft, History, OperationKind, Origin, Outcome, Value};
use std::fmt;
use std::str::FromStr;

/// A variable and whether the literal is negated.
pub(crate) type Literal = (usize, bool);

/// An instance that is hard for some algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hard {
    /// All clauses over so many variables: nothing follows from fewer than all choices, so a proof by cases has two to the
    /// power of that many leaves. `case-split-grid` is the case of two.
    Cases(usize),
    /// Random clauses of three literals: variables, clauses per variable (near 4.26 both answers are likely and hard), seed.
    Sat(usize, f64, u64),
    /// Dense blind writes: so many transactions that write two of so many keys each without reading, and so many that
    /// read any version of two keys; seed.
    Blind(usize, usize, usize, u64),
}

impl Hard {
    /// What is measured where nothing else is asked for.
    pub(crate) fn usual() -> Vec<Hard> {
        let cases = (2..=8).map(Hard::Cases);
        let sat = [10, 20, 40, 80, 160]
            .into_iter()
            .flat_map(|n| (1..=3).map(move |seed| Hard::Sat(n, 4.26, seed)));
        let blind = [50, 100, 200, 400]
            .into_iter()
            .flat_map(|n| [n, 2 * n, 4 * n].map(move |r| Hard::Blind(n, n / 4, r, 1)));
        cases.chain(sat).chain(blind).collect()
    }

    /// The formula, where it is made from one.
    pub(crate) fn formula(self) -> Option<(usize, Vec<Vec<Literal>>)> {
        match self {
            Hard::Cases(n) => {
                let clause = |bits: usize| (0..n).map(|v| (v, bits >> v & 1 == 1)).collect();
                Some((n, (0..1 << n).map(clause).collect()))
            }
            Hard::Sat(n, ratio, seed) => {
                let mut random = fastrand::Rng::with_seed(seed);
                let clause = |_| {
                    let mut variables: Vec<usize> = Vec::new();
                    while variables.len() < 3.min(n) {
                        let variable = random.usize(..n);
                        if !variables.contains(&variable) {
                            variables.push(variable);
                        }
                    }
                    variables
                        .into_iter()
                        .map(|variable| (variable, random.bool()))
                        .collect()
                };
                Some((
                    n,
                    (0..(n as f64 * ratio).round() as usize)
                        .map(clause)
                        .collect(),
                ))
            }
            Hard::Blind(..) => None,
        }
    }
}

/// The history of a formula over `n` variables. O(n + literals) transactions, each in a session of its own.
pub(crate) fn reduction(n: usize, clauses: &[Vec<Literal>]) -> History {
    let mut gadgets = Gadgets::new();
    let variables: Vec<Pair> = (0..n).map(|_| gadgets.pair()).collect();
    for clause in clauses {
        let pairs: Vec<Pair> = clause.iter().map(|_| gadgets.pair()).collect();
        for (pair, &(variable, is_negated)) in pairs.iter().zip(clause) {
            let Pair { key, first, second } = variables[variable];
            let literal = if is_negated {
                Pair {
                    key,
                    first: second,
                    second: first,
                }
            } else {
                variables[variable]
            };
            gadgets.excluded(&[literal.chosen(), pair.refused()]);
            gadgets.excluded(&[literal.refused(), pair.chosen()]);
        }
        let refused: Vec<Choice> = pairs.iter().map(|pair| pair.refused()).collect();
        gadgets.excluded(&refused);
    }
    gadgets
        .builder
        .finish()
        .expect("the formula fits into a history")
}

/// The history of blind writes, each transaction in a session of its own.
pub(crate) fn blind_writes(writers: usize, keys: usize, readers: usize, seed: u64) -> History {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut gadgets = Gadgets::new();
    let mut versions = vec![0; keys];
    let two = |random: &mut fastrand::Rng| {
        let first = random.usize(..keys);
        [first, (first + random.usize(1..keys.max(2))) % keys]
    };
    for _ in 0..writers {
        let draft = gadgets.transaction();
        for key in two(&mut random) {
            versions[key] += 1;
            gadgets.operation(draft, OperationKind::Write, key as u64, versions[key]);
        }
    }
    for _ in 0..readers {
        let draft = gadgets.transaction();
        for key in two(&mut random)
            .into_iter()
            .filter(|&key| versions[key] > 0)
        {
            let value = random.u64(1..=versions[key]);
            gadgets.operation(draft, OperationKind::Read, key as u64, value);
        }
    }
    gadgets
        .builder
        .finish()
        .expect("the instance fits into a history")
}

/// Two blind writers of a key.
#[derive(Clone, Copy)]
struct Pair {
    key: u64,
    first: Writer,
    second: Writer,
}

#[derive(Clone, Copy)]
struct Writer {
    draft: Draft,
    value: u64,
}

/// One of the two orders of a pair.
struct Choice {
    key: u64,
    older: Writer,
    newer: Writer,
}

impl Pair {
    /// True.
    fn chosen(&self) -> Choice {
        Choice {
            key: self.key,
            older: self.first,
            newer: self.second,
        }
    }

    /// False.
    fn refused(&self) -> Choice {
        Choice {
            key: self.key,
            older: self.second,
            newer: self.first,
        }
    }
}

struct Gadgets {
    builder: Builder,
    n_sessions: u64,
    n_keys: u64,
}

impl Gadgets {
    fn new() -> Gadgets {
        let mut builder = Builder::new(Origin {
            format: "generated",
            ..Origin::default()
        });
        builder.initial_value(Value(0));
        Gadgets {
            builder,
            n_sessions: 0,
            n_keys: 0,
        }
    }

    fn transaction(&mut self) -> Draft {
        let session = self.builder.session_number(self.n_sessions);
        self.n_sessions += 1;
        self.builder.transaction(session, Outcome::Committed)
    }

    fn operation(&mut self, draft: Draft, kind: OperationKind, key: u64, value: u64) {
        let key = self.builder.key_number(key);
        self.builder.operation(draft, kind, key, Value(value), 0);
    }

    fn fresh_key(&mut self) -> u64 {
        self.n_keys += 1;
        self.n_keys - 1
    }

    fn pair(&mut self) -> Pair {
        let key = self.fresh_key();
        let mut writer = |value: u64| {
            let draft = self.transaction();
            self.operation(draft, OperationKind::Write, key, value);
            Writer { draft, value }
        };
        let (first, second) = (writer(1), writer(2));
        Pair { key, first, second }
    }

    /// Closes a cycle if all these choices are made: a reader of the older version comes before the newer one, whose
    /// writer the next reader has seen.
    fn excluded(&mut self, choices: &[Choice]) {
        let readers: Vec<Draft> = choices.iter().map(|_| self.transaction()).collect();
        for (place, choice) in choices.iter().enumerate() {
            self.operation(
                readers[place],
                OperationKind::Read,
                choice.key,
                choice.older.value,
            );
            let mark = self.fresh_key();
            self.operation(choice.newer.draft, OperationKind::Write, mark, 1);
            self.operation(
                readers[(place + 1) % readers.len()],
                OperationKind::Read,
                mark,
                1,
            );
        }
    }
}

impl fmt::Display for Hard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hard::Cases(n) => write!(f, "cases:{n}"),
            Hard::Sat(n, ratio, seed) => write!(f, "sat:{n}:{ratio}:{seed}"),
            Hard::Blind(n, keys, readers, seed) => write!(f, "blind:{n}:{keys}:{readers}:{seed}"),
        }
    }
}

impl FromStr for Hard {
    type Err = String;

    fn from_str(text: &str) -> Result<Hard, String> {
        let understood = || -> Option<Hard> {
            Some(match text.split(':').collect::<Vec<_>>().as_slice() {
                ["cases", n] => Hard::Cases(n.parse().ok().filter(|n| (1..=16).contains(n))?),
                ["sat", n, ratio, seed] => {
                    let ratio = ratio
                        .parse()
                        .ok()
                        .filter(|ratio| (0.0..=1000.0).contains(ratio))?;
                    Hard::Sat(
                        n.parse().ok().filter(|&n| n > 0)?,
                        ratio,
                        seed.parse().ok()?,
                    )
                }
                ["blind", n, keys, readers, seed] => {
                    let keys = keys.parse().ok().filter(|&keys| keys > 1)?;
                    Hard::Blind(
                        n.parse().ok()?,
                        keys,
                        readers.parse().ok()?,
                        seed.parse().ok()?,
                    )
                }
                _ => return None,
            })
        };
        understood().ok_or_else(|| {
            format!(
                "`{text}` is no hard instance, expected cases:VARIABLES, sat:VARIABLES:RATIO:SEED or \
                 blind:WRITERS:KEYS:READERS:SEED"
            )
        })
    }
}
