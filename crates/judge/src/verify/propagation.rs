//! Unit propagation over lists of literals of which not all are true.
//!
//! A variable has two literals, 2v and 2v + 1, of which exactly one is true. When all but one of a list are true, the
//! opposite of the last one is. Two literals of each list not known to be true are watched; a list is visited again
//! only when one of those becomes true (Moskewicz et al., "Chaff: engineering an efficient SAT solver", 2001).

use isoscope_model::control::Control;

/// Lists of literals that are not all true, and the literals that are true because of them.
pub(super) struct Propagation {
    lists: Vec<Vec<u32>>,
    /// By literal: the lists that watch it, which have it first or second.
    watched_by: Vec<Vec<usize>>,
    /// By literal.
    is_true: Vec<bool>,
    /// The true literals in the order in which they were found.
    trail: Vec<u32>,
    /// How many of those have been propagated.
    followed: usize,
    contradictory: bool,
}

impl Propagation {
    /// No lists yet.
    pub(super) fn new(n_variables: usize) -> Propagation {
        Propagation {
            lists: Vec::new(),
            watched_by: vec![Vec::new(); 2 * n_variables],
            is_true: vec![false; 2 * n_variables],
            trail: Vec::new(),
            followed: 0,
            contradictory: false,
        }
    }

    /// Whether a contradiction follows from the lists and from these, each of which must follow from those before it.
    pub(super) fn is_refuted_by(
        &mut self,
        clauses: impl Iterator<Item = Result<Vec<u32>, String>>,
        control: &Control,
    ) -> Result<(), String> {
        for (place, clause) in clauses.enumerate() {
            control.check().map_err(|interrupt| interrupt.to_string())?;
            let together = clause.map_err(|message| format!("clause {place}: {message}"))?;
            require!(
                self.excludes(&together),
                "clause {place}: it does not follow from what comes before it"
            )?;
            self.forbid(&together);
        }
        require!(self.contradictory, "a choice is left")
    }

    /// Adds a list and draws all consequences. Literals must be below twice the number of variables.
    pub(super) fn forbid(&mut self, together: &[u32]) {
        let mut list = together.to_vec();
        list.sort_unstable();
        list.dedup();
        let is_void = list.windows(2).any(|pair| pair[0] ^ 1 == pair[1]);
        if is_void || self.contradictory {
            return;
        }
        // Literals that are already true can be left out: what they follow from stays.
        list.retain(|&literal| !self.is_true[literal as usize]);
        match *list {
            [] => self.contradictory = true,
            [last] => self.contradictory = !(self.set(last ^ 1) && self.follow_up()),
            [first, second, ..] => {
                self.watched_by[first as usize].push(self.lists.len());
                self.watched_by[second as usize].push(self.lists.len());
                self.lists.push(list);
            }
        }
    }

    /// Whether a contradiction follows directly if all these literals are true.
    pub(super) fn excludes(&mut self, together: &[u32]) -> bool {
        if self.contradictory {
            return true;
        }
        let known = self.trail.len();
        let possible = together.iter().all(|&literal| self.set(literal)) && self.follow_up();
        for literal in self.trail.drain(known..) {
            self.is_true[literal as usize] = false;
        }
        self.followed = known;
        !possible
    }

    /// Makes a literal true; false if its opposite is.
    fn set(&mut self, literal: u32) -> bool {
        if !self.is_true[literal as usize] {
            self.is_true[literal as usize] = true;
            self.trail.push(literal);
        }
        !self.is_true[literal as usize ^ 1]
    }

    /// Draws all consequences of the literals not propagated yet; false if they contradict.
    fn follow_up(&mut self) -> bool {
        while let Some(&literal) = self.trail.get(self.followed) {
            self.followed += 1;
            let watching = std::mem::take(&mut self.watched_by[literal as usize]);
            let mut consistent = true;
            let mut kept = Vec::with_capacity(watching.len());
            for list in watching {
                if !consistent || self.stays_with(list, literal, &mut consistent) {
                    kept.push(list);
                }
            }
            self.watched_by[literal as usize] = kept;
            if !consistent {
                return false;
            }
        }
        true
    }

    /// Whether a list keeps watching a literal that became true: it does if no other one can be watched instead.
    fn stays_with(&mut self, place: usize, literal: u32, consistent: &mut bool) -> bool {
        let list = &mut self.lists[place];
        if list[0] == literal {
            list.swap(0, 1);
        }
        let other = list[0];
        // The list is satisfied while the opposite of one of its literals is true.
        if self.is_true[other as usize ^ 1] {
            return true;
        }
        let is_true = &self.is_true;
        if let Some(free) = (2..list.len()).find(|&i| !is_true[list[i] as usize]) {
            list.swap(1, free);
            let watched = list[1];
            self.watched_by[watched as usize].push(place);
            return false;
        }
        *consistent = self.set(other ^ 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether some assignment of all variables leaves no list all true.
    fn has_choice(n_variables: usize, lists: &[Vec<u32>]) -> bool {
        (0..1u32 << n_variables).any(|bits| {
            let is_true = |literal: u32| bits >> (literal / 2) & 1 == literal & 1;
            !lists
                .iter()
                .any(|list| list.iter().all(|&literal| is_true(literal)))
        })
    }

    /// Whether a contradiction follows, found out without watching anything.
    fn contradicts(n_variables: usize, lists: &[Vec<u32>], assumed: &[u32]) -> bool {
        let mut is_true = vec![false; 2 * n_variables];
        assumed
            .iter()
            .for_each(|&literal| is_true[literal as usize] = true);
        loop {
            if (0..n_variables).any(|v| is_true[2 * v] && is_true[2 * v + 1]) {
                return true;
            }
            let mut changed = false;
            for list in lists {
                let mut open: Vec<u32> = list
                    .iter()
                    .copied()
                    .filter(|&l| !is_true[l as usize])
                    .collect();
                open.sort_unstable();
                open.dedup();
                match *open {
                    [] => return true,
                    [last] => changed |= !std::mem::replace(&mut is_true[last as usize ^ 1], true),
                    _ => {}
                }
            }
            if !changed {
                return false;
            }
        }
    }

    #[test]
    fn watching_concludes_what_looking_at_everything_does() {
        let mut random = fastrand::Rng::with_seed(31);
        let (mut excluded, mut contradictory) = (0, 0);
        for _ in 0..3000 {
            let n = random.usize(1..8);
            let mut propagation = Propagation::new(n);
            let mut lists: Vec<Vec<u32>> = Vec::new();
            for _ in 0..random.usize(1..40) {
                let list: Vec<u32> = (0..random.usize(1..5))
                    .map(|_| random.u32(..2 * n as u32))
                    .collect();
                let expected = contradicts(n, &lists, &list);
                assert_eq!(
                    propagation.excludes(&list),
                    expected,
                    "{lists:?} then {list:?}"
                );
                if expected {
                    let held: Vec<Vec<u32>> = lists
                        .iter()
                        .cloned()
                        .chain(list.iter().map(|&l| vec![l ^ 1]))
                        .collect();
                    assert!(!has_choice(n, &held), "what is excluded is impossible");
                    excluded += 1;
                }
                propagation.forbid(&list);
                lists.push(list);
                assert_eq!(
                    propagation.contradictory,
                    contradicts(n, &lists, &[]),
                    "{lists:?}"
                );
                if propagation.contradictory {
                    assert!(!has_choice(n, &lists));
                    contradictory += 1;
                    break;
                }
            }
        }
        assert!(
            excluded > 3000 && contradictory > 1000,
            "{excluded} {contradictory}"
        );
    }

    #[test]
    fn an_empty_list_is_a_contradiction() {
        let mut propagation = Propagation::new(0);
        assert!(!propagation.contradictory);
        propagation.forbid(&[]);
        assert!(propagation.contradictory);
        assert!(propagation.excludes(&[]));
    }
}
