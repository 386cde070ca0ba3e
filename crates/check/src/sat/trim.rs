//! Which clauses of a refutation are needed.
//!
//! From the contradiction backwards, each needed clause is derived again by unit propagation from those before it, and
//! what that uses is needed in turn (Heule, Hunt & Wetzler, "Trimming while checking clausal proofs", 2013, whose
//! preference for clauses that are already needed is adopted). Clauses are lists of literals: two numbers for each
//! variable, the even one if true, the odd one if false.

use isoscope_model::control::{Control, Interrupt};

/// No clause: the literal was assumed.
const NONE: u32 = u32::MAX;

/// By clause, whether it is needed; the first `n_given` clauses are given, the others must follow one after the other.
/// `None` if a needed one does not follow, or no contradiction does. Clauses are neither empty nor tautologies. Time:
/// one propagation for each needed clause.
pub(super) fn trim(
    n_variables: usize,
    clauses: &[Vec<u32>],
    n_given: usize,
    control: &Control,
) -> Result<Option<Vec<bool>>, Interrupt> {
    let mut propagation = Propagation::new(n_variables, clauses);
    if !propagation.refutes(&[]) {
        return Ok(None);
    }
    for place in (n_given..clauses.len()).rev() {
        control.check()?;
        propagation.active[place] = false;
        if propagation.needed[place] && !propagation.refutes(&clauses[place]) {
            return Ok(None);
        }
    }
    Ok(Some(propagation.needed))
}

/// Unit propagation with two watched literals for each clause, the first two of its list.
struct Propagation {
    clauses: Vec<Vec<u32>>,
    active: Vec<bool>,
    needed: Vec<bool>,
    /// By literal: the clauses that watch it.
    watched_by: Vec<Vec<u32>>,
    /// Clauses of one literal.
    units: Vec<u32>,
    /// By literal.
    is_true: Vec<bool>,
    /// By variable: the clause that made its literal true.
    reason: Vec<u32>,
    /// The true literals in order.
    trail: Vec<u32>,
    /// By variable.
    is_used: Vec<bool>,
}

impl Propagation {
    fn new(n_variables: usize, clauses: &[Vec<u32>]) -> Propagation {
        let mut watched_by = vec![Vec::new(); 2 * n_variables];
        let mut units = Vec::new();
        for (place, clause) in clauses.iter().enumerate() {
            match **clause {
                [first, second, ..] => {
                    watched_by[first as usize].push(place as u32);
                    watched_by[second as usize].push(place as u32);
                }
                _ => units.push(place as u32),
            }
        }
        Propagation {
            clauses: clauses.to_vec(),
            active: vec![true; clauses.len()],
            needed: vec![false; clauses.len()],
            watched_by,
            units,
            is_true: vec![false; 2 * n_variables],
            reason: vec![NONE; n_variables],
            trail: Vec::new(),
            is_used: vec![false; n_variables],
        }
    }

    /// Whether the negation of `clause` leads to a contradiction; if so, marks the clauses that show it as needed.
    fn refutes(&mut self, clause: &[u32]) -> bool {
        let assumed = clause
            .iter()
            .find_map(|&literal| self.set(literal ^ 1, NONE));
        let conflict = assumed
            .or_else(|| self.set_units())
            .or_else(|| self.propagate());
        if let Some(conflict) = conflict {
            self.mark_needed(conflict);
        }
        for literal in self.trail.drain(..) {
            self.is_true[literal as usize] = false;
        }
        conflict.is_some()
    }

    /// Makes a literal true because of a clause; returns that clause if the literal is already false.
    fn set(&mut self, literal: u32, because: u32) -> Option<u32> {
        if self.is_true[literal as usize ^ 1] {
            return Some(because);
        }
        if !self.is_true[literal as usize] {
            self.is_true[literal as usize] = true;
            self.reason[literal as usize / 2] = because;
            self.trail.push(literal);
        }
        None
    }

    /// Sets the literals of unit clauses, needed ones first.
    fn set_units(&mut self) -> Option<u32> {
        let active = &self.active;
        self.units.retain(|&unit| active[unit as usize]);
        for wanted in [true, false] {
            for place in 0..self.units.len() {
                let unit = self.units[place];
                if self.needed[unit as usize] == wanted
                    && let Some(&literal) = self.clauses[unit as usize].first()
                    && let Some(conflict) = self.set(literal, unit)
                {
                    return Some(conflict);
                }
            }
        }
        None
    }

    /// Propagates until nothing is new: needed clauses first, others only if those imply nothing more. Returns a clause
    /// whose literals are all false.
    fn propagate(&mut self) -> Option<u32> {
        let (mut by_needed, mut by_others) = (0, 0);
        loop {
            let (head, needed) = match (by_needed < self.trail.len(), by_others < self.trail.len())
            {
                (true, _) => (&mut by_needed, true),
                (_, true) => (&mut by_others, false),
                _ => return None,
            };
            let literal = self.trail[*head];
            *head += 1;
            if let Some(conflict) = self.visit(literal ^ 1, needed) {
                return Some(conflict);
            }
        }
    }

    /// Visits the clauses that watch a literal which became false, either the needed ones or the others.
    fn visit(&mut self, falsified: u32, needed: bool) -> Option<u32> {
        let mut watching = std::mem::take(&mut self.watched_by[falsified as usize]);
        let mut conflict = None;
        watching.retain(|&place| {
            let at = place as usize;
            if !self.active[at] {
                return false;
            }
            conflict.is_some()
                || self.needed[at] != needed
                || self.keeps_watching(place, falsified, &mut conflict)
        });
        self.watched_by[falsified as usize] = watching;
        conflict
    }

    /// Finds another literal to watch, or propagates; returns whether the clause continues to watch this one.
    fn keeps_watching(&mut self, place: u32, falsified: u32, conflict: &mut Option<u32>) -> bool {
        let clause = &mut self.clauses[place as usize];
        if clause[0] == falsified {
            clause.swap(0, 1);
        }
        let other = clause[0];
        if self.is_true[other as usize] {
            return true;
        }
        let is_true = &self.is_true;
        if let Some(free) = (2..clause.len()).find(|&i| !is_true[clause[i] as usize ^ 1]) {
            clause.swap(1, free);
            let watched = clause[1];
            self.watched_by[watched as usize].push(place);
            return false;
        }
        *conflict = self.set(other, place);
        true
    }

    /// Marks a false clause and what made its literals false.
    fn mark_needed(&mut self, conflict: u32) {
        self.use_clause(conflict);
        for at in (0..self.trail.len()).rev() {
            let variable = self.trail[at] as usize / 2;
            if self.is_used[variable] {
                self.use_clause(self.reason[variable]);
                self.is_used[variable] = false;
            }
        }
    }

    fn use_clause(&mut self, place: u32) {
        if place != NONE {
            self.needed[place as usize] = true;
            for &literal in &self.clauses[place as usize] {
                self.is_used[literal as usize / 2] = true;
            }
        }
    }
}
