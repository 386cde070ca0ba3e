//! What was found, together with the data for the anomaly list. Built once, off the frame.

use super::grouping::{AnomalyGroups, GroupBy};
use crate::checkers::{Findings, Level, Pattern, Violation, ViolationId, add_instances};
use crate::counterexample::{Counterexample, Explanation, simpler_ones};
use crate::history::{History, TransactionId, as_typed};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// One violation as the list shows it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub id: ViolationId,
    /// `key 4 · T295 → T297 → T393`.
    pub label: String,
    /// Number of transactions of its evidence; a counterexample may need fewer.
    pub size: usize,
    /// Root cause.
    pub group: u32,
    /// The simpler violation that it contains.
    pub simpler: Option<ViolationId>,
    /// Its name in project files: unchanged as long as its pattern, key and transactions are.
    pub identity: String,
    /// The text the filter searches, in lower case, fields between bars: `|tap-k|key:4|session:2|`.
    pub search: String,
    /// The text the filter searches when nothing is found, in lower case.
    pub title: String,
}

/// What the picture of an anomaly shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The anomaly that is shown: itself, or a simpler one that it contains.
    pub shown: ViolationId,
    /// The headline of its picture.
    pub title: String,
    /// Who did what, in a sentence.
    pub summary: String,
    /// Number of transactions.
    pub size: usize,
}

impl Drawn {
    /// What a counterexample shows, listed as `shown`.
    pub fn of(shown: ViolationId, example: &Counterexample, explanation: &Explanation) -> Drawn {
        Drawn {
            shown,
            title: explanation.title.clone(),
            summary: explanation.summary.to_string(),
            size: example.history.n_transactions(),
        }
    }
}

/// By anomaly: what its picture shows.
pub type AllDrawn = BTreeMap<ViolationId, Drawn>;

/// Findings, ready to be listed.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// What the checkers found, and instances that were listed later.
    pub findings: Findings,
    /// What the checkers found, if more was listed later.
    as_checked: Option<Arc<Findings>>,
    /// By index in [`Findings::violations`].
    pub entries: Vec<Entry>,
    /// Asked for in each frame.
    n_causes: usize,
    /// By pattern: the weakest level that a listed instance violates, which may be stronger than the weakest level that
    /// the pattern can violate.
    levels: Vec<Level>,
    /// Other ways to heap them up.
    groupings: [AnomalyGroups; 3],
    places: BTreeMap<ViolationId, usize>,
    /// Hash of the identity and index, ascending.
    identities: Vec<(u64, u32)>,
    /// The one that a window shows first.
    first: Option<ViolationId>,
    /// By level: the smallest that violates it.
    smallest: [Option<ViolationId>; Level::EVERY.len()],
}

/// Maximum number of transactions named in one line.
const NAMED: usize = 4;

impl Catalogue {
    /// Prepares `findings` about `history`. O(violations and their edges).
    pub fn new(history: &History, findings: Findings) -> Catalogue {
        let mut entries: Vec<Entry> = findings
            .violations
            .iter()
            .map(|violation| entry(history, violation))
            .collect();
        for (place, simpler) in simpler_ones(history, &findings.violations)
            .into_iter()
            .enumerate()
        {
            entries[place].simpler = simpler.map(|simpler| findings.violations[simpler].id);
        }
        let n_causes = entries
            .iter()
            .filter(|entry| entry.simpler.is_none())
            .count();
        let places = entries
            .iter()
            .enumerate()
            .map(|(place, entry)| (entry.id, place))
            .collect();
        let groupings = [GroupBy::Component, GroupBy::Key, GroupBy::Session]
            .map(|by| AnomalyGroups::new(history, &findings, by));
        let level = |pattern: Pattern| {
            let listed = findings
                .violations
                .iter()
                .filter(|violation| violation.id.pattern == pattern);
            listed
                .filter_map(weakest_shown)
                .min()
                .unwrap_or(pattern.row().level)
        };
        let levels = Pattern::all().map(level).collect();
        let mut identities: Vec<(u64, u32)> = entries
            .iter()
            .map(|entry| hash(&entry.identity))
            .zip(0..)
            .collect();
        identities.sort_unstable();
        let first = first(&findings.violations, &entries);
        let smallest = Level::EVERY.map(|level| smallest_of(&findings.violations, level));
        Catalogue {
            findings,
            as_checked: None,
            entries,
            n_causes,
            levels,
            groupings,
            places,
            identities,
            first,
            smallest,
        }
    }

    /// What the checkers found, without the instances that were listed later.
    pub fn as_checked(&self) -> &Findings {
        self.as_checked.as_deref().unwrap_or(&self.findings)
    }

    /// This catalogue with further instances of what was counted.
    pub fn with(&self, history: &History, more: Vec<Violation>) -> Catalogue {
        let as_checked = self
            .as_checked
            .clone()
            .unwrap_or_else(|| Arc::new(self.findings.clone()));
        let mut findings = self.findings.clone();
        add_instances(&mut findings, more);
        Catalogue {
            as_checked: Some(as_checked),
            ..Catalogue::new(history, findings)
        }
    }

    /// The first instance of a pattern, from 0, that is counted but not listed. O(listed instances).
    pub fn first_unlisted(&self, pattern: Pattern) -> Option<u64> {
        let listed = self
            .entries
            .iter()
            .map(|entry| entry.id)
            .filter(|id| id.pattern == pattern);
        let first = listed
            .zip(1..)
            .find(|(id, ordinal)| id.ordinal != *ordinal)
            .map(|(_, ordinal)| ordinal - 1);
        let n_listed = || {
            self.entries
                .iter()
                .filter(|entry| entry.id.pattern == pattern)
                .count() as u64
        };
        let first = first.map_or_else(n_listed, u64::from);
        (first < self.counted(pattern)).then_some(first)
    }

    /// How many instances of a pattern there are.
    pub fn counted(&self, pattern: Pattern) -> u64 {
        self.findings.patterns.get(&pattern).copied().unwrap_or(0)
    }

    /// Whether there is an instance of this name, listed or not.
    pub fn is_counted(&self, id: ViolationId) -> bool {
        u64::from(id.ordinal) <= self.counted(id.pattern)
    }

    /// The level under which a pattern is listed.
    pub fn level_of(&self, pattern: Pattern) -> Level {
        self.levels[pattern as usize]
    }

    /// The violation of this name.
    pub fn violation(&self, id: ViolationId) -> Option<&Violation> {
        self.place(id)
            .and_then(|place| self.findings.violations.get(place))
    }

    /// The violation that a window shows first: one that is not a consequence of another and violates the weakest
    /// level, the smallest of those, in the order of the list; those with edges are preferred because they have more to
    /// show.
    pub fn first(&self) -> Option<ViolationId> {
        self.first
    }

    /// The smallest listed violation that violates `level`, preferably one that violates no weaker level.
    pub fn smallest_of(&self, level: Level) -> Option<ViolationId> {
        Level::EVERY
            .iter()
            .position(|other| *other == level)
            .and_then(|place| self.smallest[place])
    }

    /// A violation with its name in project files.
    pub fn named(&self, id: ViolationId) -> Option<(ViolationId, String)> {
        self.place(id)
            .map(|place| (id, self.entries[place].identity.clone()))
    }

    /// Its index in [`entries`](Self::entries). O(log violations).
    pub fn place(&self, id: ViolationId) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// The violation of this name in project files. O(log violations).
    pub fn of_identity(&self, identity: &str) -> Option<ViolationId> {
        let wanted = hash(identity);
        let begin = self.identities.partition_point(|(hash, _)| *hash < wanted);
        let alike = self.identities[begin..]
            .iter()
            .take_while(|(hash, _)| *hash == wanted);
        let mut entries = alike.map(|(_, place)| &self.entries[*place as usize]);
        entries
            .find(|entry| entry.identity == identity)
            .map(|entry| entry.id)
    }

    /// The component of a listed anomaly: a number.
    pub fn component(&self, of: ViolationId) -> Option<u32> {
        let place = self.place(of)?;
        self.groupings(GroupBy::Component)
            .map(|components| components.of(place))
    }

    /// The listed anomalies of a component.
    pub fn of_component(&self, component: u32) -> impl Iterator<Item = &Violation> {
        self.findings
            .violations
            .iter()
            .filter(move |violation| self.component(violation.id) == Some(component))
    }

    /// How many causes the listed violations have: those that no simpler one explains.
    pub fn n_causes(&self) -> usize {
        self.n_causes
    }

    /// The groupings of a way to group, if it is by something in common.
    pub fn groupings(&self, by: GroupBy) -> Option<&AnomalyGroups> {
        match by {
            GroupBy::Cause | GroupBy::Pattern => None,
            GroupBy::Component => Some(&self.groupings[0]),
            GroupBy::Key => Some(&self.groupings[1]),
            GroupBy::Session => Some(&self.groupings[2]),
        }
    }
}

/// The weakest level of the strip that a violation breaks, or of all if it breaks none of these.
fn weakest_shown(violation: &Violation) -> Option<Level> {
    let usual = violation
        .levels
        .iter()
        .filter(|level| level.row().usual)
        .min();
    usual.or(violation.levels.weakest())
}

fn first(violations: &[Violation], entries: &[Entry]) -> Option<ViolationId> {
    let rank = |(v, entry): &(&Violation, &Entry)| {
        (
            entry.simpler.is_some(),
            v.is_long(),
            v.edges.is_empty(),
            v.levels.weakest(),
            v.size(),
            v.id,
        )
    };
    violations
        .iter()
        .zip(entries)
        .min_by_key(rank)
        .map(|(violation, _)| violation.id)
}

fn smallest_of(violations: &[Violation], level: Level) -> Option<ViolationId> {
    let breaking = violations
        .iter()
        .filter(|violation| violation.levels.contains(level));
    let rank = |v: &&Violation| {
        (
            v.is_long(),
            v.levels.weakest() != Some(level),
            v.implied,
            v.edges.is_empty(),
            v.size(),
            v.id,
        )
    };
    breaking.min_by_key(rank).map(|violation| violation.id)
}

/// Equal for equal texts within one run of the program.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The name of a violation in project files.
pub fn identity(history: &History, violation: &Violation) -> String {
    let names: Vec<String> = violation
        .transactions
        .iter()
        .map(|t| history.transaction_name(*t))
        .collect();
    let key = violation
        .key
        .map(|key| history.key_name(key))
        .unwrap_or_default();
    as_typed(&format!(
        "{} {key} {}",
        violation.id.pattern.row().id,
        names.join(" ")
    ))
}

fn entry(history: &History, violation: &Violation) -> Entry {
    let row = violation.id.pattern.row();
    let mut search = format!("|{}|{}|{}|{}|", violation.id, row.id, row.name, row.title);
    let mut keys: BTreeSet<_> = violation.key.into_iter().collect();
    keys.extend(violation.edges.iter().filter_map(|edge| edge.key));
    keys.extend(
        violation
            .operations
            .iter()
            .map(|&operation| history.operation(operation).key),
    );
    keys.iter()
        .for_each(|&key| search.push_str(&format!("key:{}|", history.key_name(key))));
    let real = || {
        violation
            .transactions
            .iter()
            .copied()
            .filter(|t| !t.is_initial())
    };
    let sessions: BTreeSet<_> = real().map(|t| history.session_of(t)).collect();
    sessions.iter().for_each(|&session| {
        search.push_str(&format!("session:{}|", history.session_name(session)))
    });
    real().for_each(|t| search.push_str(&format!("txn:{}|", history.transaction_name(t))));
    let relations: BTreeSet<_> = violation.edges.iter().map(|edge| edge.relation).collect();
    relations
        .iter()
        .for_each(|relation| search.push_str(&format!("edge:{}|", relation.code())));
    violation
        .levels
        .iter()
        .for_each(|level| search.push_str(&format!("level:{}|", level.code())));
    for name in [row.id, row.name]
        .into_iter()
        .chain(violation.also.iter().map(String::as_str))
    {
        search.push_str(&format!("pattern:{name}|"));
    }
    let label = label(history, violation);
    Entry {
        id: violation.id,
        identity: identity(history, violation),
        title: as_typed(&format!("{} {} {label}", row.name, row.title)).to_lowercase(),
        label,
        size: violation.size(),
        group: violation.group,
        simpler: None,
        search: as_typed(&search).to_lowercase(),
    }
}

/// The text of a line: the transactions and the key; for a contradiction inside one transaction, the operation.
fn label(history: &History, violation: &Violation) -> String {
    if let ([only], [.., operation]) = (&violation.transactions[..], &violation.operations[..]) {
        return format!(
            "{} · {}",
            history.transaction_name(*only),
            history.operation_text(*operation)
        );
    }
    let named = violation.transactions.iter().take(NAMED);
    // The font of lists lacks the sign ⊥.
    let name = |t: TransactionId| {
        if t.is_initial() {
            "initial".to_owned()
        } else {
            history.transaction_name(t)
        }
    };
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
