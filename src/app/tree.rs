//! The anomaly list: level → pattern → group → instance, filtered and flattened to lines.
//!
//! [`Catalogue`] holds what was found together with what the filter looks at; it is made once, off the frame.
//! [`Tree`] holds what is open and what passes the filter, and from that a flat list of lines, so that only the lines
//! in sight need to be drawn.

use crate::checkers::{Findings, Level, Pattern, Violation, ViolationId};
use crate::history::{History, TransactionId};
use crate::report::grouped;
use std::collections::BTreeSet;

/// One violation as the list sees it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub id: ViolationId,
    /// `key 4 · T295 → T297 → T393`.
    pub label: String,
    /// Number of transactions.
    pub size: usize,
    /// Root cause.
    pub group: u32,
    /// Adds nothing to the smaller ones.
    pub implied: bool,
    /// What the filter looks at, lower case, fields between bars: `|tap-k|key:4|session:2|`.
    search: String,
}

/// Findings, ready to be listed.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// What the checkers found.
    pub findings: Findings,
    /// By place in [`Findings::violations`].
    pub entries: Vec<Entry>,
    /// By pattern: the weakest level that a listed instance violates, which may be stronger than the weakest level that
    /// the pattern can violate.
    levels: Vec<Level>,
}

/// Most transactions named in one line.
const NAMED: usize = 4;

impl Catalogue {
    /// Prepares `findings` about `history`. O(violations and their edges).
    pub fn new(history: &History, findings: Findings) -> Catalogue {
        let entries = findings.violations.iter().map(|violation| entry(history, violation)).collect();
        let level = |pattern: Pattern| {
            let listed = findings.violations.iter().filter(|violation| violation.id.pattern == pattern);
            listed.filter_map(|violation| violation.levels.weakest()).min().unwrap_or(pattern.row().level)
        };
        let levels = Pattern::all().map(level).collect();
        Catalogue { findings, entries, levels }
    }

    /// The level under which a pattern is listed.
    fn level_of(&self, pattern: Pattern) -> Level {
        self.levels[pattern as usize]
    }

    /// The violation of this name.
    pub fn violation(&self, id: ViolationId) -> Option<&Violation> {
        self.place(id).and_then(|place| self.findings.violations.get(place))
    }

    /// The violation that a window shows first: one that is no consequence of another and breaks the weakest level, the
    /// smallest of those, in the order of the list; those with edges are preferred since they have more to show.
    pub fn first(&self) -> Option<ViolationId> {
        let violations = &self.findings.violations;
        let best =
            violations.iter().min_by_key(|v| (v.implied, v.edges.is_empty(), v.levels.weakest(), v.size(), v.id));
        best.map(|violation| violation.id)
    }

    fn place(&self, id: ViolationId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == id)
    }
}

fn entry(history: &History, violation: &Violation) -> Entry {
    let row = violation.id.pattern.row();
    let mut search = format!("|{}|{}|{}|{}|", violation.id, row.id, row.name, row.title);
    let mut keys: BTreeSet<_> = violation.key.into_iter().collect();
    keys.extend(violation.edges.iter().filter_map(|edge| edge.key));
    keys.extend(violation.operations.iter().map(|&operation| history.operation(operation).key));
    keys.iter().for_each(|&key| search.push_str(&format!("key:{}|", history.key_name(key))));
    let real = || violation.transactions.iter().copied().filter(|t| !t.is_initial());
    let sessions: BTreeSet<_> = real().map(|t| history.session_of(t)).collect();
    sessions.iter().for_each(|&session| search.push_str(&format!("session:{}|", history.session_name(session))));
    real().for_each(|t| search.push_str(&format!("txn:{}|", history.transaction_name(t))));
    let relations: BTreeSet<_> = violation.edges.iter().map(|edge| edge.relation).collect();
    relations.iter().for_each(|relation| search.push_str(&format!("edge:{}|", relation.code())));
    violation.levels.iter().for_each(|level| search.push_str(&format!("level:{}|", level.code())));

    Entry {
        id: violation.id,
        label: label(history, violation),
        size: violation.size(),
        group: violation.group,
        implied: violation.implied,
        search: search.to_lowercase(),
    }
}

/// What a line says: the transactions and the key; of a contradiction inside one transaction, the operation.
fn label(history: &History, violation: &Violation) -> String {
    if let ([only], [.., operation]) = (&violation.transactions[..], &violation.operations[..]) {
        return format!("{} · {}", history.transaction_name(*only), history.operation_text(*operation));
    }
    let named = violation.transactions.iter().take(NAMED);
    // The font of lists lacks the sign ⊥.
    let name = |t: TransactionId| if t.is_initial() { "initial".to_owned() } else { history.transaction_name(t) };
    let mut names: Vec<String> = named.map(|&t| name(t)).collect();
    if violation.transactions.len() > NAMED {
        names.push("…".to_owned());
    }
    let names = names.join(" ");
    match violation.key {
        Some(key) => format!("{names} · key {}", history.key_name(key)),
        None => names,
    }
}

/// A line that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Branch {
    /// All patterns of a level.
    Level(Level),
    /// All instances of a pattern.
    Pattern(Pattern),
    /// The instances of a pattern with one root cause.
    Group(Pattern, u32),
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
    folded: BTreeSet<Branch>,
    opened: BTreeSet<Branch>,
    lines: Vec<Line>,
    order: Vec<usize>,
}

impl Tree {
    /// Levels are open from the start; patterns and groups once somebody opens them or selects something inside.
    fn is_open(&self, branch: Branch) -> bool {
        match branch {
            Branch::Level(_) => !self.folded.contains(&branch),
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
    pub fn set_filter(&mut self, filter: String, catalogue: &Catalogue) {
        self.filter = filter;
        self.rebuild(catalogue);
    }

    /// Opens or folds a line.
    pub fn toggle(&mut self, branch: Branch, catalogue: &Catalogue) {
        let set = match branch {
            Branch::Level(_) => &mut self.folded,
            _ => &mut self.opened,
        };
        if !set.remove(&branch) {
            set.insert(branch);
        }
        self.rebuild(catalogue);
    }

    /// Opens everything above an instance.
    pub fn reveal(&mut self, id: ViolationId, catalogue: &Catalogue) {
        let Some(entry) = catalogue.place(id).map(|place| &catalogue.entries[place]) else { return };
        self.folded.remove(&Branch::Level(catalogue.level_of(id.pattern)));
        self.opened.insert(Branch::Pattern(id.pattern));
        self.opened.insert(Branch::Group(id.pattern, entry.group));
        self.rebuild(catalogue);
    }

    /// The line on which an instance stands, if it is in sight of the filter and its branches are open.
    pub fn line_of(&self, id: ViolationId, catalogue: &Catalogue) -> Option<usize> {
        let stands = |line: &Line| matches!(line, Line::Instance { entry, .. } if catalogue.entries[*entry].id == id);
        self.lines.iter().position(stands)
    }

    /// Position of an instance among those that pass the filter, from 0.
    pub fn position(&self, id: ViolationId, catalogue: &Catalogue) -> Option<usize> {
        self.order.iter().position(|&entry| catalogue.entries[entry].id == id)
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
    pub fn rebuild(&mut self, catalogue: &Catalogue) {
        let terms: Vec<Term> = self.filter.split_whitespace().map(Term::parse).collect();
        let passes = |entry: &Entry| terms.iter().all(|term| term.matches(&entry.search));
        let mut by_pattern: Vec<Vec<usize>> = vec![Vec::new(); Pattern::all().count()];
        for (place, entry) in catalogue.entries.iter().enumerate().filter(|(_, entry)| passes(entry)) {
            by_pattern[entry.id.pattern as usize].push(place);
        }
        self.lines.clear();
        self.order.clear();
        for level in Level::ALL {
            self.push_level(level, &by_pattern, catalogue, terms.is_empty());
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
            let row = pattern.row();
            let text = match pattern.letter() {
                Some(_) => format!("{}  {}", row.id, row.title),
                None => row.title.to_owned(),
            };
            self.lines.push(Line::Branch { branch, text, count, open });
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

/// One word of the filter.
#[derive(Debug, PartialEq, Eq)]
enum Term {
    /// `key:4`: the whole field.
    Field(String),
    /// Anywhere.
    Part(String),
}

impl Term {
    fn parse(word: &str) -> Term {
        let word = word.to_lowercase();
        let is_field = word.split_once(':').is_some_and(|(field, value)| {
            !value.is_empty() && matches!(field, "key" | "session" | "txn" | "edge" | "level")
        });
        match is_field {
            true => Term::Field(format!("|{word}|")),
            false => Term::Part(word),
        }
    }

    fn matches(&self, search: &str) -> bool {
        match self {
            Term::Field(text) | Term::Part(text) => search.contains(text),
        }
    }
}

/// Adds a word to a filter, or takes it away when it is there.
pub fn toggle_word(filter: &str, word: &str) -> String {
    let mut words: Vec<&str> = filter.split_whitespace().collect();
    match words.iter().position(|w| w.eq_ignore_ascii_case(word)) {
        Some(at) => drop(words.remove(at)),
        None => words.push(word),
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkers::{LevelSet, Proof};
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
        tree.rebuild(catalogue);
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
        tree.toggle(Branch::Pattern(Pattern::FracturedReadCO), &catalogue);
        assert!(matches!(tree.lines()[4], Line::Branch { branch: Branch::Group(_, 1), count: 2, open: false, .. }));
        assert!(matches!(tree.lines()[5], Line::Instance { depth: 2, .. }), "a group of one needs no header");
        assert!(matches!(&tree.lines()[6], Line::Note { text } if text.contains("3 of 5")));
        let hidden = ViolationId { pattern: Pattern::FracturedReadCO, ordinal: 3 };
        assert_eq!(tree.line_of(hidden, &catalogue), None);
        tree.reveal(hidden, &catalogue);
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
            tree.set_filter(filter.to_owned(), &catalogue);
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
    fn words_are_added_and_taken_away() {
        assert_eq!(toggle_word("tap-k", "key:4"), "tap-k key:4");
        assert_eq!(toggle_word("tap-k KEY:4", "key:4"), "tap-k");
    }
}
