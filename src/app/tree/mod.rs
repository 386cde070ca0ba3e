//! The anomaly list: causes with the patterns that they form, or level → pattern → group → instance, or groupings by
//! component, key or sessions, filtered and flattened to lines.
//!
//! [`Tree`] holds the open branches, the filter, and the flat list of lines built last, so that only the visible lines
//! need to be drawn. There may be millions of anomalies, so the lines are built off the frame unless they are few; the
//! previous lines stay until then.

mod made;

pub use super::catalogue::{Catalogue, Entry};
pub use super::filter::toggle_word;
pub(super) use made::MAKE;
pub use made::{Made, Wanted, pattern_text, short};

use super::grouping::GroupBy;
use crate::checkers::{Level, Pattern, ViolationId};
use crate::jobs;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A line that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Branch {
    /// All patterns of a level.
    Level(Level),
    /// All instances of a pattern.
    Pattern(Pattern),
    /// The instances of a pattern with one root cause.
    Group(Pattern, u32),
    /// The instances of a pattern that a simpler anomaly explains.
    Consequences(Pattern),
    /// The other patterns of a cause, by the entry of its simplest anomaly.
    Cause(u32),
    /// Those of one pattern.
    AlsoPattern(u32, Pattern),
    /// All instances of one component, key, or set of sessions.
    AnomalyGroup(GroupBy, u32),
    /// Those of one pattern.
    HeapPattern(GroupBy, u32, Pattern),
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListLine {
    /// A line that can be opened.
    Branch {
        /// Which.
        branch: Branch,
        /// What it says.
        text: String,
        /// Instances beneath it: all, or those that pass the filter.
        count: u64,
        /// Whether its children are shown.
        open: bool,
    },
    /// The simplest anomaly of a cause: its headline, in a line.
    Cause {
        /// Index of the entry.
        entry: usize,
    },
    /// Who did what in it, in the line below.
    Summary {
        /// Index of the entry.
        entry: usize,
    },
    /// An instance: index into [`Catalogue::entries`].
    Instance {
        /// Index of the entry.
        entry: usize,
        /// Indentation level.
        depth: usize,
    },
    /// The listed instances of a pattern are fewer than counted, and can be extended.
    More {
        pattern: Pattern,
        /// How many of its instances are listed.
        listed: u64,
        /// How many there are.
        counted: u64,
    },
}

/// What to list, and what is listed.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    wanted: Wanted,
    made: Arc<Made>,
    is_stale: bool,
    is_being_made: bool,
    /// Bring the selected instance into view when the lines are built.
    follows: bool,
    /// Further instances are being listed.
    pub lists_more: bool,
}

impl Tree {
    /// The lines, top to bottom, as built last.
    pub fn lines(&self) -> &[ListLine] {
        &self.made.lines
    }

    /// The catalogue of the lines, which may briefly be older than the latest findings.
    pub fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        self.made.catalogue.as_ref()
    }

    /// The text of the filter.
    pub fn filter(&self) -> &str {
        &self.wanted.filter
    }

    /// Indices of the entries that pass the filter, in the order of the list, open or not.
    pub fn order(&self) -> &[usize] {
        &self.made.order
    }

    /// What the list is grouped by.
    pub fn by(&self) -> GroupBy {
        self.wanted.by
    }

    /// How many causes are listed.
    pub fn n_causes(&self) -> usize {
        self.made.n_causes
    }

    /// How many instances of the pattern that the filter names there are, listed or not.
    pub fn n_named(&self) -> Option<u64> {
        let pattern = self.wanted.pattern()?;
        Some(self.catalogue()?.counted(pattern))
    }

    /// Whether nothing matches the filter exactly, so that similar entries are listed.
    pub fn is_similar(&self) -> bool {
        self.made.is_similar
    }

    /// Changes the filter.
    pub fn set_filter(&mut self, filter: String) {
        self.is_stale |= self.wanted.filter != filter;
        self.wanted.filter = filter;
    }

    /// Changes filter and grouping.
    pub fn prepare(&mut self, filter: String, by: GroupBy) {
        (self.wanted.filter, self.wanted.by) = (filter, by);
        self.is_stale = true;
    }

    /// Changes what the list is grouped by.
    pub fn group_by(&mut self, by: GroupBy) {
        self.is_stale |= self.wanted.by != by;
        self.wanted.by = by;
    }

    /// Notes that the user's notes on an anomaly have changed.
    pub fn notes_changed(&mut self) {
        self.is_stale |= self.wanted.asks_for_notes();
    }

    /// Notes which anomalies are shown as simpler ones, as far as the catalogue does not say it.
    pub fn shown_as(&mut self, simpler: &BTreeMap<ViolationId, ViolationId>) {
        self.is_stale |= self.wanted.shown_as != *simpler;
        self.wanted.shown_as.clone_from(simpler);
    }

    /// Notes that the catalogue has changed.
    pub fn catalogue_changed(&mut self) {
        self.is_stale = true;
    }

    /// Opens or folds a line.
    pub fn toggle(&mut self, branch: Branch) {
        let set = match branch {
            Branch::Level(_) | Branch::HeapPattern(..) => &mut self.wanted.folded,
            _ => &mut self.wanted.opened,
        };
        if !set.remove(&branch) {
            set.insert(branch);
        }
        self.is_stale = true;
    }

    /// Opens everything above an instance.
    pub fn reveal(&mut self, id: ViolationId, catalogue: &Catalogue) {
        let Some(place) = catalogue.place(id) else {
            return;
        };
        let entry = &catalogue.entries[place];
        let (wanted, mut changed) = (&mut self.wanted, false);
        if let Some(groupings) = catalogue.groupings(wanted.by) {
            let heap = groupings.of(place);
            changed |= wanted.opened.insert(Branch::AnomalyGroup(wanted.by, heap));
            changed |= wanted
                .folded
                .remove(&Branch::HeapPattern(wanted.by, heap, id.pattern));
        }
        changed |= wanted
            .folded
            .remove(&Branch::Level(catalogue.level_of(id.pattern)));
        if let Some(root) = wanted.root(place, catalogue) {
            changed |= wanted.opened.insert(Branch::Cause(root as u32));
            let of_pattern = Branch::AlsoPattern(root as u32, id.pattern);
            changed |= wanted.opened.insert(of_pattern);
        }
        changed |= wanted.opened.insert(Branch::Pattern(id.pattern));
        changed |= if wanted.simpler(entry).is_some() {
            wanted.opened.insert(Branch::Consequences(id.pattern))
        } else {
            wanted.opened.insert(Branch::Group(id.pattern, entry.group))
        };
        self.is_stale |= changed;
        self.follows = true;
    }

    /// The request for lines, if the current ones are out of date; returned once.
    pub fn take_wanted(&mut self) -> Option<Wanted> {
        let wanted = std::mem::take(&mut self.is_stale).then(|| self.wanted.clone());
        self.is_being_made |= wanted.is_some();
        wanted
    }

    /// Takes in the lines. Returns whether to bring the selected instance into view.
    pub fn settle(&mut self, made: Arc<Made>) -> bool {
        jobs::replace(&mut self.made, made);
        self.is_being_made = false;
        std::mem::take(&mut self.follows)
    }

    /// Notes that the lines could not be built.
    pub fn give_up(&mut self) {
        self.is_being_made = false;
    }

    /// Whether other lines are being built.
    pub fn is_being_made(&self) -> bool {
        self.is_being_made
    }

    /// The line of an instance, if it passes the filter and its branches are open. O(log entries).
    pub fn line_of(&self, id: ViolationId) -> Option<usize> {
        self.made.line_of(id)
    }

    /// Position of an instance among those that pass the filter, from 0. O(log entries).
    pub fn position(&self, id: ViolationId) -> Option<usize> {
        self.made.position(id)
    }

    /// The instance `step` positions after (before, if negative) the given one, wrapping around at the end of the list.
    /// Those that a simpler anomaly explains are left out while they are folded.
    pub fn neighbour(&self, id: Option<ViolationId>, step: isize) -> Option<ViolationId> {
        let n = self.made.order.len() as isize;
        if n == 0 {
            return None;
        }
        let mut next = match id.and_then(|id| self.position(id)) {
            Some(at) => (at as isize + step).rem_euclid(n),
            None if step > 0 => 0,
            None => n - 1,
        };
        for _ in 0..n {
            if !self.made.is_folded(next as usize) {
                break;
            }
            next = (next + step.signum()).rem_euclid(n);
        }
        self.made.at(next as usize)
    }
}

impl Tree {
    /// The first instance of the class `step` classes after (before, if negative) that of the given one, wrapping around at
    /// the end. The classes are the patterns, in the order in which the list has them first; each begins with one that no
    /// simpler anomaly explains, if there is such. O(instances in the list).
    pub fn neighbouring_class(&self, id: Option<ViolationId>, step: isize) -> Option<ViolationId> {
        let mut firsts: Vec<(ViolationId, bool)> = Vec::new();
        let all =
            (0..self.made.order.len()).filter_map(|place| Some((place, self.made.at(place)?)));
        for (place, id) in all {
            let is_folded = self.made.is_folded(place);
            match firsts
                .iter_mut()
                .find(|(first, _)| first.pattern == id.pattern)
            {
                Some(first) if first.1 && !is_folded => *first = (id, false),
                Some(_) => {}
                None => firsts.push((id, is_folded)),
            }
        }
        let n = firsts.len() as isize;
        let pattern = id.map(|id| id.pattern);
        let now = firsts
            .iter()
            .position(|(first, _)| Some(first.pattern) == pattern);
        let next = match now {
            Some(now) => now as isize + step,
            None if step > 0 => 0,
            None => -1,
        };
        (n > 0).then(|| firsts[next.rem_euclid(n) as usize].0)
    }

    /// The first instance of a pattern, or of one of its groups; none if the line is open and `selected` is one of them.
    pub fn first_of(&self, branch: Branch, selected: Option<ViolationId>) -> Option<ViolationId> {
        let catalogue = self.catalogue()?;
        let is_in = |id: &ViolationId| match branch {
            Branch::Pattern(pattern) => id.pattern == pattern,
            Branch::Group(pattern, group) => {
                let place = catalogue.place(*id).filter(|_| id.pattern == pattern);
                place.is_some_and(|place| catalogue.entries[place].group == group)
            }
            _ => false,
        };
        if self.wanted.opened.contains(&branch) && selected.as_ref().is_some_and(is_in) {
            return None;
        }
        (0..self.made.order.len())
            .filter_map(|place| self.made.at(place))
            .find(is_in)
    }
}

#[cfg(test)]
mod tests {
    use super::super::notes::{Note, Notes};
    use super::*;
    use crate::checkers::{Findings, LevelSet, Proof, Violation};
    use crate::control::Control;
    use crate::history::{Builder, OperationKind, Origin, Outcome, TransactionId, Value};
    use std::collections::BTreeSet;

    /// Two sessions of two transactions each on keys 4 and 5; three fractured reads in two groups, one thin-air read.
    fn catalogue() -> Arc<Catalogue> {
        let mut builder = Builder::new(Origin::default());
        for session in 1..=2 {
            let session = builder.session_number(session);
            for key in [4, 5] {
                let draft = builder.transaction(session, Outcome::Committed);
                let key = builder.key_number(key);
                builder.operation(
                    draft,
                    OperationKind::Write,
                    key,
                    Value(draft.0 as u64 + 1),
                    1,
                );
            }
        }
        let history = builder
            .finish()
            .expect("a small history is within all bounds");
        let violation = |pattern: Pattern, ordinal, group, key, transactions: &[u32]| Violation {
            id: ViolationId { pattern, ordinal },
            also: Vec::new(),
            levels: LevelSet::upward(pattern.row().level),
            key: Some(crate::history::KeyId(key)),
            transactions: transactions.iter().map(|&t| TransactionId(t)).collect(),
            operations: Vec::new(),
            edges: Vec::new(),
            proof: Proof::Reads(None),
            implied: false,
            group,
            place: None,
        };
        let k = Pattern::FracturedReadCO;
        let violations = vec![
            violation(Pattern::ThinAirRead, 1, 1, 1, &[3]),
            violation(k, 1, 1, 0, &[0, 1]),
            violation(k, 2, 2, 0, &[0, 2]),
            violation(k, 3, 1, 1, &[2, 3]),
        ];
        let patterns = [(Pattern::ThinAirRead, 1), (k, 5)].into();
        Arc::new(Catalogue::new(
            &history,
            Findings {
                violations,
                patterns,
                ..Findings::default()
            },
        ))
    }

    /// Builds the lines, as the window does.
    fn make(tree: &mut Tree, catalogue: &Arc<Catalogue>, notes: &Notes) {
        let Some(wanted) = tree.take_wanted() else {
            return;
        };
        let made = Made::new(&wanted, Arc::clone(catalogue), notes, &Control::new())
            .expect("nothing stops it");
        tree.settle(Arc::new(made));
    }

    fn tree(catalogue: &Arc<Catalogue>) -> Tree {
        let mut tree = Tree::default();
        tree.group_by(GroupBy::Pattern);
        tree.catalogue_changed();
        make(&mut tree, catalogue, &Notes::default());
        tree
    }

    #[test]
    fn closed_patterns_show_levels_and_counts_only() {
        let catalogue = catalogue();
        let counts: Vec<(Branch, u64)> = tree(&catalogue)
            .lines()
            .iter()
            .filter_map(|line| match line {
                ListLine::Branch { branch, count, .. } => Some((*branch, *count)),
                _ => None,
            })
            .collect();
        assert_eq!(
            counts,
            [
                (Branch::Level(Level::ReadCommitted), 1),
                (Branch::Pattern(Pattern::ThinAirRead), 1),
                (Branch::Level(Level::ReadAtomic), 5),
                (Branch::Pattern(Pattern::FracturedReadCO), 5),
            ]
        );
    }

    #[test]
    fn opening_a_pattern_shows_groups_instances_and_what_is_not_listed() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        tree.toggle(Branch::Pattern(Pattern::FracturedReadCO));
        make(&mut tree, &catalogue, &Notes::default());
        assert!(matches!(
            tree.lines()[4],
            ListLine::Branch {
                branch: Branch::Group(_, 1),
                count: 2,
                open: false,
                ..
            }
        ));
        assert!(
            matches!(tree.lines()[5], ListLine::Instance { depth: 2, .. }),
            "a group of one needs no header"
        );
        assert!(matches!(
            &tree.lines()[6],
            ListLine::More {
                listed: 3,
                counted: 5,
                ..
            }
        ));
        let hidden = ViolationId {
            pattern: Pattern::FracturedReadCO,
            ordinal: 3,
        };
        assert_eq!(tree.line_of(hidden), None);
        tree.reveal(hidden, &catalogue);
        make(&mut tree, &catalogue, &Notes::default());
        assert_eq!(tree.line_of(hidden), Some(6));
    }

    #[test]
    fn next_and_previous_follow_the_list_and_wrap() {
        let catalogue = catalogue();
        let tree = tree(&catalogue);
        let first = tree.neighbour(None, 1);
        assert_eq!(first, Some(catalogue.entries[0].id));
        let mut seen = vec![first];
        for _ in 0..3 {
            seen.push(tree.neighbour(*seen.last().expect("one is there"), 1));
        }
        let ordinals: Vec<u32> = seen.iter().flatten().map(|id| id.ordinal).collect();
        assert_eq!(ordinals, [1, 1, 3, 2], "groups stay together");
        assert_eq!(tree.neighbour(seen[3], 1), first);
        assert_eq!(tree.neighbour(first, -1), seen[3]);
    }

    #[test]
    fn the_filter_knows_fields_and_parts() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        let count = |tree: &mut Tree, filter: &str| {
            tree.set_filter(filter.to_owned());
            make(tree, &catalogue, &Notes::default());
            tree.order().len()
        };
        assert_eq!(count(&mut tree, "fractured"), 3);
        assert_eq!(count(&mut tree, "key:4"), 2);
        assert_eq!(count(&mut tree, "key:4 session:1"), 2);
        assert_eq!(count(&mut tree, "key:4 session:2"), 1);
        assert_eq!(count(&mut tree, "TAP-A"), 1);
        assert_eq!(count(&mut tree, "nothing like this"), 0);
        assert!(tree.lines().is_empty());
        assert_eq!(tree.neighbour(None, 1), None);
        assert_eq!(count(&mut tree, ""), 4);
    }

    #[test]
    fn what_is_nearly_called_so_is_found() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        tree.set_filter("fracturd".to_owned());
        make(&mut tree, &catalogue, &Notes::default());
        assert!(tree.is_similar() && tree.order().len() == 3);
        tree.set_filter("fractured".to_owned());
        make(&mut tree, &catalogue, &Notes::default());
        assert!(!tree.is_similar());
    }

    #[test]
    fn other_groupings_list_the_same_instances() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        let all: BTreeSet<usize> = tree.order().iter().copied().collect();
        for by in [
            GroupBy::Pattern,
            GroupBy::Component,
            GroupBy::Key,
            GroupBy::Session,
        ] {
            tree.group_by(by);
            make(&mut tree, &catalogue, &Notes::default());
            assert_eq!(
                tree.order().iter().copied().collect::<BTreeSet<_>>(),
                all,
                "{by:?}"
            );
            assert_eq!(tree.order().len(), all.len(), "each once");
        }
        tree.group_by(GroupBy::Key);
        make(&mut tree, &catalogue, &Notes::default());
        let groupings: Vec<(&str, u64)> = tree
            .lines()
            .iter()
            .filter_map(|line| match line {
                ListLine::Branch { text, count, .. } => Some((text.as_str(), *count)),
                _ => None,
            })
            .collect();
        assert_eq!(groupings, [("key 4", 2), ("key 5", 2)]);
        let n_heaps = groupings.len();
        tree.toggle(Branch::AnomalyGroup(GroupBy::Key, 0));
        make(&mut tree, &catalogue, &Notes::default());
        assert!(tree.lines().len() > n_heaps);
    }

    #[test]
    fn bookmarks_and_tags_can_be_looked_for() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        let note = Note {
            bookmarked: true,
            tags: ["ours".to_owned()].into(),
            ..Note::default()
        };
        let notes: Notes = [(catalogue.entries[2].identity.clone(), note)].into();
        for (filter, n) in [
            ("is:bookmarked", 1),
            ("tag:ours", 1),
            ("tag:other", 0),
            ("is:noted", 0),
        ] {
            tree.set_filter(filter.to_owned());
            make(&mut tree, &catalogue, &notes);
            assert_eq!(tree.order().len(), n, "{filter}");
        }
    }

    #[test]
    fn the_old_lines_stay_until_the_new_ones_are_there() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        let n = tree.order().len();
        tree.set_filter("key:4".to_owned());
        assert_eq!((tree.filter(), tree.order().len()), ("key:4", n));
        let wanted = tree.take_wanted().expect("the lines are old");
        assert!(
            tree.is_being_made() && tree.take_wanted().is_none(),
            "asked once"
        );
        let stopped = Control::new();
        stopped.stop();
        assert!(Made::new(&wanted, Arc::clone(&catalogue), &Notes::default(), &stopped).is_err());
        tree.set_filter("key:4 session:2".to_owned());
        make(&mut tree, &catalogue, &Notes::default());
        assert_eq!(tree.order().len(), 1);
        assert!(!tree.is_being_made());
    }

    #[test]
    fn notes_matter_to_a_filter_that_asks_for_them() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        tree.notes_changed();
        assert!(tree.take_wanted().is_none(), "nothing asks for notes");
        tree.set_filter("tag:ours".to_owned());
        make(&mut tree, &catalogue, &Notes::default());
        tree.notes_changed();
        assert!(tree.take_wanted().is_some());
    }
}
