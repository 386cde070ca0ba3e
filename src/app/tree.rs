//! The anomaly list: level → pattern → group → instance, or heaps by root cause, key or sessions, filtered and
//! flattened to lines.
//!
//! [`Tree`] holds what is open and what passes the filter, and from that a flat list of lines, so that only the lines
//! in sight need to be drawn.

pub use super::catalogue::{Catalogue, Entry};
pub use super::filter::toggle_word;

use super::filter::{self, Term};
use super::heaps::{GroupBy, Heaps};
use super::notes::Notes;
use crate::checkers::{Level, Pattern, ViolationId};
use crate::report::grouped;
use std::collections::BTreeSet;

/// A line that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Branch {
    /// All patterns of a level.
    Level(Level),
    /// All instances of a pattern.
    Pattern(Pattern),
    /// The instances of a pattern with one root cause.
    Group(Pattern, u32),
    /// All instances with one root cause, key, or set of sessions.
    Heap(GroupBy, u32),
    /// Those of one pattern.
    HeapPattern(GroupBy, u32, Pattern),
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line that can be opened.
    Branch {
        /// Which.
        branch: Branch,
        /// What it says.
        text: String,
        /// Instances beneath it: all that exist, or those that pass the filter.
        count: u64,
        /// Whether what is beneath it is shown.
        open: bool,
    },
    /// An instance: place in [`Catalogue::entries`].
    Instance {
        /// Place of the entry.
        entry: usize,
        /// Steps to the right.
        depth: usize,
    },
    /// Why a pattern's list ends before its count.
    Note {
        /// In words.
        text: String,
    },
}

/// What is open and what passes the filter.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    filter: String,
    by: GroupBy,
    /// Nothing is called what the filter says; what is similar is listed.
    is_similar: bool,
    folded: BTreeSet<Branch>,
    opened: BTreeSet<Branch>,
    lines: Vec<Line>,
    order: Vec<usize>,
}

impl Tree {
    /// Levels are open from the start; patterns and groups once somebody opens them or selects something inside.
    fn is_open(&self, branch: Branch) -> bool {
        match branch {
            Branch::Level(_) | Branch::HeapPattern(..) => !self.folded.contains(&branch),
            _ => self.opened.contains(&branch),
        }
    }

    /// The lines, top to bottom.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// What is typed into the filter.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Places of the entries that pass the filter, in the order of the list, open or not.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Changes the filter.
    pub fn set_filter(&mut self, filter: String, catalogue: &Catalogue, notes: &Notes) {
        self.filter = filter;
        self.rebuild(catalogue, notes);
    }

    /// What is listed together.
    pub fn by(&self) -> GroupBy {
        self.by
    }

    /// Whether nothing is called what the filter says, so that what is similar is listed.
    pub fn is_similar(&self) -> bool {
        self.is_similar
    }

    /// Filter and grouping before there is anything to list.
    pub fn prepare(&mut self, filter: String, by: GroupBy) {
        (self.filter, self.by) = (filter, by);
    }

    /// Changes what is listed together.
    pub fn group_by(&mut self, by: GroupBy, catalogue: &Catalogue, notes: &Notes) {
        self.by = by;
        self.rebuild(catalogue, notes);
    }

    /// Opens or folds a line.
    pub fn toggle(&mut self, branch: Branch, catalogue: &Catalogue, notes: &Notes) {
        let set = match branch {
            Branch::Level(_) | Branch::HeapPattern(..) => &mut self.folded,
            _ => &mut self.opened,
        };
        if !set.remove(&branch) {
            set.insert(branch);
        }
        self.rebuild(catalogue, notes);
    }

    /// Opens everything above an instance.
    pub fn reveal(&mut self, id: ViolationId, catalogue: &Catalogue, notes: &Notes) {
        let Some(place) = catalogue.place(id) else { return };
        let entry = &catalogue.entries[place];
        let mut changed = self.lines.is_empty();
        if let Some(heaps) = catalogue.heaps(self.by) {
            let heap = heaps.of(place);
            changed |= self.opened.insert(Branch::Heap(self.by, heap));
            changed |= self.folded.remove(&Branch::HeapPattern(self.by, heap, id.pattern));
        }
        changed |= self.folded.remove(&Branch::Level(catalogue.level_of(id.pattern)));
        changed |= self.opened.insert(Branch::Pattern(id.pattern));
        changed |= self.opened.insert(Branch::Group(id.pattern, entry.group));
        if changed {
            self.rebuild(catalogue, notes);
        }
    }

    /// The line on which an instance stands, if it is in sight of the filter and its branches are open.
    pub fn line_of(&self, id: ViolationId, catalogue: &Catalogue) -> Option<usize> {
        let wanted = catalogue.place(id)?;
        self.lines.iter().position(|line| matches!(line, Line::Instance { entry, .. } if *entry == wanted))
    }

    /// Position of an instance among those that pass the filter, from 0.
    pub fn position(&self, id: ViolationId, catalogue: &Catalogue) -> Option<usize> {
        let wanted = catalogue.place(id)?;
        self.order.iter().position(|&entry| entry == wanted)
    }

    /// The instance `step` places after (before, when negative) the given one, around the end of the list.
    pub fn neighbour(&self, id: Option<ViolationId>, step: isize, catalogue: &Catalogue) -> Option<ViolationId> {
        let n = self.order.len() as isize;
        if n == 0 {
            return None;
        }
        let next = match id.and_then(|id| self.position(id, catalogue)) {
            Some(at) => (at as isize + step).rem_euclid(n),
            None if step > 0 => 0,
            None => n - 1,
        };
        Some(catalogue.entries[self.order[next as usize]].id)
    }

    /// Makes the lines anew. O(entries).
    pub fn rebuild(&mut self, catalogue: &Catalogue, notes: &Notes) {
        let terms: Vec<Term> = filter::words(&self.filter).iter().map(|word| Term::parse(word)).collect();
        let own = |entry: &Entry, word: &str| notes.get(&entry.identity).is_some_and(|note| note.answers(word));
        let passing = |fits: &dyn Fn(&Term, &Entry) -> bool| -> Vec<usize> {
            let passes = |entry: &Entry| terms.iter().all(|term| fits(term, entry));
            catalogue.entries.iter().enumerate().filter(|(_, entry)| passes(entry)).map(|(place, _)| place).collect()
        };
        let mut places = passing(&|term, entry| term.matches(&entry.search, |word| own(entry, word)));
        self.is_similar = places.is_empty() && !terms.is_empty();
        if self.is_similar {
            places = passing(&|term, entry| term.is_like(&entry.search, &entry.title, |word| own(entry, word)));
        }
        self.lines.clear();
        self.order.clear();
        match catalogue.heaps(self.by) {
            Some(heaps) => self.push_heaps(heaps, &places, catalogue),
            None => {
                let mut by_pattern: Vec<Vec<usize>> = vec![Vec::new(); Pattern::all().count()];
                places.iter().for_each(|&place| by_pattern[catalogue.entries[place].id.pattern as usize].push(place));
                for level in Level::ALL {
                    self.push_level(level, &by_pattern, catalogue, terms.is_empty());
                }
            }
        }
    }

    fn push_heaps(&mut self, heaps: &Heaps, places: &[usize], catalogue: &Catalogue) {
        for (heap, members) in heaps.filled(places) {
            let branch = Branch::Heap(self.by, heap);
            let open = self.is_open(branch);
            let (text, count) = (heaps.name(heap).to_owned(), members.len() as u64);
            self.lines.push(Line::Branch { branch, text, count, open });
            let pattern_of = |&place: &usize| catalogue.entries[place].id.pattern;
            for some in members.chunk_by(|a, b| pattern_of(a) == pattern_of(b)) {
                let pattern = pattern_of(&some[0]);
                let branch = Branch::HeapPattern(self.by, heap, pattern);
                let all = self.is_open(branch);
                if open {
                    let (text, count) = (pattern_text(pattern), some.len() as u64);
                    self.lines.push(Line::Branch { branch, text, count, open: all });
                }
                for &entry in some {
                    self.order.push(entry);
                    if open && all {
                        self.lines.push(Line::Instance { entry, depth: 2 });
                    }
                }
            }
        }
    }

    fn push_level(&mut self, level: Level, by_pattern: &[Vec<usize>], catalogue: &Catalogue, whole: bool) {
        let counted = |pattern: Pattern| match whole {
            true => catalogue.findings.patterns.get(&pattern).copied().unwrap_or(0),
            false => by_pattern[pattern as usize].len() as u64,
        };
        let patterns = || Pattern::all().filter(|p| catalogue.level_of(*p) == level && counted(*p) > 0);
        let count: u64 = patterns().map(counted).sum();
        if count == 0 {
            return;
        }
        let branch = Branch::Level(level);
        let open = self.is_open(branch);
        let text = format!("{level}  {}", level.long_name().replace('-', " "));
        self.lines.push(Line::Branch { branch, text, count, open });
        for pattern in patterns() {
            self.push_pattern(pattern, &by_pattern[pattern as usize], counted(pattern), catalogue, open);
        }
    }

    fn push_pattern(&mut self, pattern: Pattern, places: &[usize], count: u64, catalogue: &Catalogue, in_sight: bool) {
        let branch = Branch::Pattern(pattern);
        let open = self.is_open(branch);
        if in_sight {
            self.lines.push(Line::Branch { branch, text: pattern_text(pattern), count, open });
        }
        let in_sight = in_sight && open;
        let group_of = |&place: &usize| catalogue.entries[place].group;
        let mut sorted: Vec<usize> = places.to_vec();
        sorted.sort_by_key(|place| (catalogue.entries[*place].implied, group_of(place)));
        let groups: Vec<&[usize]> = sorted.chunk_by(|a, b| group_of(a) == group_of(b)).collect();
        for group in &groups {
            self.push_group(pattern, group, groups.len() > 1, catalogue, in_sight);
        }
        if in_sight && (places.len() as u64) < count {
            // Of the patterns of three transactions one instance is listed for each pair of writers.
            let by_writers = Pattern::NonMonoReadCO <= pattern && pattern <= Pattern::ConflictCM;
            let one_each =
                if by_writers && pattern != Pattern::NonRepeatableRead { ", one a pair of writers" } else { "" };
            let text = format!("{} of {} listed{one_each}", grouped(places.len() as u64), grouped(count));
            self.lines.push(Line::Note { text });
        }
    }

    fn push_group(&mut self, pattern: Pattern, group: &[usize], several: bool, catalogue: &Catalogue, in_sight: bool) {
        let header = several && group.len() > 1;
        let branch = Branch::Group(pattern, catalogue.entries[group[0]].group);
        let open = !header || self.is_open(branch);
        if in_sight && header {
            let text = format!("around {}", catalogue.entries[group[0]].label);
            self.lines.push(Line::Branch { branch, text, count: group.len() as u64, open });
        }
        for &entry in group {
            self.order.push(entry);
            if in_sight && open {
                self.lines.push(Line::Instance { entry, depth: if header { 3 } else { 2 } });
            }
        }
    }
}

/// How a pattern is called in the list.
fn pattern_text(pattern: Pattern) -> String {
    let row = pattern.row();
    match pattern.letter() {
        Some(_) => format!("{}  {}", row.id, row.title),
        None => row.title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::notes::Note;
    use super::*;
    use crate::checkers::{Findings, LevelSet, Proof, Violation};
    use crate::history::{Builder, OperationKind, Origin, Outcome, TransactionId, Value};

    /// Two sessions of two transactions each on keys 4 and 5; three fractured reads in two groups, one thin-air read.
    fn catalogue() -> Catalogue {
        let mut builder = Builder::new(Origin::default());
        for session in 1..=2 {
            let session = builder.session_number(session);
            for key in [4, 5] {
                let draft = builder.transaction(session, Outcome::Committed);
                let key = builder.key_number(key);
                builder.operation(draft, OperationKind::Write, key, Value(draft.0 as u64 + 1), 1);
            }
        }
        let history = builder.finish().expect("a small history is within all bounds");
        let violation = |pattern: Pattern, ordinal, group, key, transactions: &[u32]| Violation {
            id: ViolationId { pattern, ordinal },
            also: Vec::new(),
            levels: LevelSet::upward(pattern.row().level),
            key: Some(crate::history::KeyId(key)),
            transactions: transactions.iter().map(|&t| TransactionId(t)).collect(),
            operations: Vec::new(),
            edges: Vec::new(),
            proof: Proof::Read,
            implied: false,
            group,
        };
        let k = Pattern::FracturedReadCO;
        let violations = vec![
            violation(Pattern::ThinAirRead, 1, 1, 1, &[3]),
            violation(k, 1, 1, 0, &[0, 1]),
            violation(k, 2, 2, 0, &[0, 2]),
            violation(k, 3, 1, 1, &[2, 3]),
        ];
        let patterns = [(Pattern::ThinAirRead, 1), (k, 5)].into();
        Catalogue::new(&history, Findings { violations, patterns, ..Findings::default() })
    }

    fn tree(catalogue: &Catalogue) -> Tree {
        let mut tree = Tree::default();
        tree.rebuild(catalogue, &Notes::default());
        tree
    }

    #[test]
    fn closed_patterns_show_levels_and_counts_only() {
        let catalogue = catalogue();
        let counts: Vec<(Branch, u64)> = tree(&catalogue)
            .lines()
            .iter()
            .filter_map(|line| match line {
                Line::Branch { branch, count, .. } => Some((*branch, *count)),
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
        tree.toggle(Branch::Pattern(Pattern::FracturedReadCO), &catalogue, &Notes::default());
        assert!(matches!(tree.lines()[4], Line::Branch { branch: Branch::Group(_, 1), count: 2, open: false, .. }));
        assert!(matches!(tree.lines()[5], Line::Instance { depth: 2, .. }), "a group of one needs no header");
        assert!(matches!(&tree.lines()[6], Line::Note { text } if text.contains("3 of 5")));
        let hidden = ViolationId { pattern: Pattern::FracturedReadCO, ordinal: 3 };
        assert_eq!(tree.line_of(hidden, &catalogue), None);
        tree.reveal(hidden, &catalogue, &Notes::default());
        assert_eq!(tree.line_of(hidden, &catalogue), Some(6));
    }

    #[test]
    fn next_and_previous_follow_the_list_and_wrap() {
        let catalogue = catalogue();
        let tree = tree(&catalogue);
        let first = tree.neighbour(None, 1, &catalogue);
        assert_eq!(first, Some(catalogue.entries[0].id));
        let mut seen = vec![first];
        for _ in 0..3 {
            seen.push(tree.neighbour(*seen.last().expect("one is there"), 1, &catalogue));
        }
        let ordinals: Vec<u32> = seen.iter().flatten().map(|id| id.ordinal).collect();
        assert_eq!(ordinals, [1, 1, 3, 2], "groups stay together");
        assert_eq!(tree.neighbour(seen[3], 1, &catalogue), first);
        assert_eq!(tree.neighbour(first, -1, &catalogue), seen[3]);
    }

    #[test]
    fn the_filter_knows_fields_and_parts() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        let count = |tree: &mut Tree, filter: &str| {
            tree.set_filter(filter.to_owned(), &catalogue, &Notes::default());
            tree.order().len()
        };
        assert_eq!(count(&mut tree, "fractured"), 3);
        assert_eq!(count(&mut tree, "key:4"), 2);
        assert_eq!(count(&mut tree, "key:4 session:1"), 2);
        assert_eq!(count(&mut tree, "key:4 session:2"), 1);
        assert_eq!(count(&mut tree, "TAP-A"), 1);
        assert_eq!(count(&mut tree, "nothing like this"), 0);
        assert!(tree.lines().is_empty());
        assert_eq!(tree.neighbour(None, 1, &catalogue), None);
        assert_eq!(count(&mut tree, ""), 4);
    }

    #[test]
    fn what_is_nearly_called_so_is_found() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        tree.set_filter("fracturd".to_owned(), &catalogue, &Notes::default());
        assert!(tree.is_similar() && tree.order().len() == 3);
        tree.set_filter("fractured".to_owned(), &catalogue, &Notes::default());
        assert!(!tree.is_similar());
    }

    #[test]
    fn other_groupings_list_the_same_instances() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        let all: BTreeSet<usize> = tree.order().iter().copied().collect();
        for by in [GroupBy::Cause, GroupBy::Component, GroupBy::Key, GroupBy::Session] {
            tree.group_by(by, &catalogue, &Notes::default());
            assert_eq!(tree.order().iter().copied().collect::<BTreeSet<_>>(), all, "{by:?}");
            assert_eq!(tree.order().len(), all.len(), "each once");
        }
        tree.group_by(GroupBy::Key, &catalogue, &Notes::default());
        let heaps: Vec<(&str, u64)> = tree
            .lines()
            .iter()
            .filter_map(|line| match line {
                Line::Branch { text, count, .. } => Some((text.as_str(), *count)),
                _ => None,
            })
            .collect();
        assert_eq!(heaps, [("key 4", 2), ("key 5", 2)]);
        let n_heaps = heaps.len();
        tree.toggle(Branch::Heap(GroupBy::Key, 0), &catalogue, &Notes::default());
        assert!(tree.lines().len() > n_heaps);
    }

    #[test]
    fn bookmarks_and_tags_can_be_looked_for() {
        let catalogue = catalogue();
        let mut tree = tree(&catalogue);
        let note = Note { bookmarked: true, tags: ["ours".to_owned()].into(), ..Note::default() };
        let notes: Notes = [(catalogue.entries[2].identity.clone(), note)].into();
        for (filter, n) in [("is:bookmarked", 1), ("tag:ours", 1), ("tag:other", 0), ("is:noted", 0)] {
            tree.set_filter(filter.to_owned(), &catalogue, &notes);
            assert_eq!(tree.order().len(), n, "{filter}");
        }
    }
}
