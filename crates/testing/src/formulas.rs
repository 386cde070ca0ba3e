//! Propositional formulas as histories: a history is serializable exactly if its formula has a model, and so it is with
//! snapshot isolation and prefix consistency. In the manner of the reduction of Biswas & Enea ("On the complexity of
//! checking transactional consistency", 2019, theorem 3.2), with other gadgets.

use super::sketch::{Operation, Sketch, Transaction, read, write};
use fastrand::Rng;

/// A variable, and whether it is meant as it is (or negated).
pub type Literal = (usize, bool);

/// Clauses of literals, of each of which one must be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub n_variables: usize,
    pub clauses: Vec<Vec<Literal>>,
}

impl Formula {
    /// Clauses of three different variables.
    pub fn random(rng: &mut Rng, n_variables: usize, n_clauses: usize) -> Formula {
        let clause = |rng: &mut Rng| {
            let mut clause: Vec<Literal> = Vec::new();
            while clause.len() < 3.min(n_variables) {
                let variable = rng.usize(0..n_variables);
                if clause.iter().all(|&(other, _)| other != variable) {
                    clause.push((variable, rng.bool()));
                }
            }
            clause
        };
        Formula {
            n_variables,
            clauses: (0..n_clauses).map(|_| clause(rng)).collect(),
        }
    }

    /// Every combination of signs: each of them is excluded by one clause, so a tree needs 2ⁿ cases.
    pub fn all_signs(n_variables: usize) -> Formula {
        let clause = |signs: usize| (0..n_variables).map(|v| (v, signs >> v & 1 == 1)).collect();
        Formula {
            n_variables,
            clauses: (0..1 << n_variables).map(clause).collect(),
        }
    }

    /// One more pigeon than holes, each pigeon in a hole and no two in the same one: no short refutation exists.
    pub fn pigeons(n_holes: usize) -> Formula {
        let sits = |pigeon: usize, hole: usize, does: bool| (pigeon * n_holes + hole, does);
        let mut clauses: Vec<Vec<Literal>> = (0..=n_holes)
            .map(|pigeon| (0..n_holes).map(|hole| sits(pigeon, hole, true)).collect())
            .collect();
        for hole in 0..n_holes {
            for (a, b) in (0..=n_holes).flat_map(|a| (0..a).map(move |b| (a, b))) {
                clauses.push(vec![sits(a, hole, false), sits(b, hole, false)]);
            }
        }
        Formula {
            n_variables: (n_holes + 1) * n_holes,
            clauses,
        }
    }

    /// Tries all values.
    pub fn has_model(&self) -> bool {
        (0..1u32 << self.n_variables).any(|bits| {
            let is_true = |&(variable, as_is): &Literal| (bits >> variable & 1 == 1) == as_is;
            self.clauses.iter().all(|clause| clause.iter().any(is_true))
        })
    }

    /// The history, every transaction in a session of its own.
    ///
    /// A variable is a pair of writers; it is true if the first one comes first. Each occurrence of a literal in a clause
    /// has a pair of its own, with the first one after the variable's first one and the second one before the variable's
    /// second one (for a negated literal first and second change places): so where the literal is false the second one of
    /// this pair comes first, too. Then a reader of the second one's version comes before the first one; and the reader
    /// of the next literal comes after the first one, because it reads from it. If all literals of a clause are false
    /// this is circular.
    pub fn sketch(&self) -> Sketch {
        let n = self.n_variables;
        let n_literals: usize = self.clauses.iter().map(Vec::len).sum();
        let mut transactions: Vec<Vec<Operation>> = vec![Vec::new(); 2 * n + 3 * n_literals];
        let value = |transaction: usize| transaction as u64 + 1;
        for (variable, writer) in (0..n).flat_map(|v| [(v, 2 * v), (v, 2 * v + 1)]) {
            transactions[writer].extend([
                write(variable, value(writer)),
                write(n + writer, value(writer)),
            ]);
        }
        let mut begin = 0;
        for clause in &self.clauses {
            for (place, &(variable, as_is)) in clause.iter().enumerate() {
                let (this, previous) = (
                    begin + place,
                    begin + (place + clause.len() - 1) % clause.len(),
                );
                let key = |literal: usize, which: usize| 3 * n + 3 * literal + which;
                let [first, second, reader] = [0, 1, 2].map(|which| 2 * n + 3 * this + which);
                let (earlier, later) = (
                    2 * variable + usize::from(!as_is),
                    2 * variable + usize::from(as_is),
                );
                transactions[first].extend([
                    read(n + earlier, value(earlier)),
                    write(key(this, 0), value(first)),
                    write(key(this, 1), value(first)),
                ]);
                transactions[second].extend([
                    write(key(this, 0), value(second)),
                    write(key(this, 2), value(second)),
                ]);
                transactions[later].insert(0, read(key(this, 2), value(second)));
                transactions[reader].extend([
                    read(key(this, 0), value(second)),
                    read(key(previous, 1), value(2 * n + 3 * previous)),
                ]);
            }
            begin += clause.len();
        }
        Sketch {
            sessions: transactions
                .into_iter()
                .map(|t| vec![Transaction::committed(t)])
                .collect(),
        }
    }
}
