//! Anomalies grouped by what they have in common: cause, pattern, component, key, or sessions.

use crate::checkers::{Findings, Violation};
use crate::counterexample::{Group, components};
use crate::history::History;
use crate::report::{key_of, sessions_of};
use std::collections::BTreeMap;

/// What the list is grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupBy {
    /// The simplest anomaly of each cause, with the patterns that the same operations also form.
    #[default]
    Cause,
    /// Level, then pattern.
    Pattern,
    /// Anomalies of all patterns that share transactions, directly or through others.
    Component,
    /// The key on which the contradiction shows.
    Key,
    /// The sessions that take part.
    Session,
}

impl GroupBy {
    /// All, in the order in which the user cycles through them.
    pub const ALL: [GroupBy; 5] = [
        GroupBy::Cause,
        GroupBy::Pattern,
        GroupBy::Component,
        GroupBy::Key,
        GroupBy::Session,
    ];

    /// Its name in the list and in project files.
    pub fn word(self) -> &'static str {
        match self {
            GroupBy::Pattern => "pattern",
            GroupBy::Cause => "cause",
            GroupBy::Component => "component",
            GroupBy::Key => "key",
            GroupBy::Session => "session",
        }
    }

    /// The next one, wrapping around at the end.
    pub fn next(self) -> GroupBy {
        let at = GroupBy::ALL.iter().position(|by| *by == self).unwrap_or(0);
        GroupBy::ALL[(at + 1) % GroupBy::ALL.len()]
    }

    /// The one of this name.
    pub fn parse(word: &str) -> Option<GroupBy> {
        GroupBy::ALL.into_iter().find(|by| by.word() == word)
    }
}

/// One way to group all anomalies.
#[derive(Clone, Debug)]
pub struct AnomalyGroups {
    heap_of: Vec<u32>,
    /// By heap, the largest first.
    names: Vec<String>,
}

impl AnomalyGroups {
    /// AnomalyGroups up what was found. O(anomalies · log anomalies).
    pub fn new(history: &History, findings: &Findings, by: GroupBy) -> AnomalyGroups {
        let names: Vec<String> = match by {
            GroupBy::Cause | GroupBy::Pattern => findings
                .violations
                .iter()
                .map(|v| v.id.pattern.row().title.to_owned())
                .collect(),
            GroupBy::Component => names(
                history,
                &findings.violations,
                components(history, &findings.violations),
            ),
            GroupBy::Key => findings
                .violations
                .iter()
                .map(|violation| key_of(history, violation))
                .collect(),
            GroupBy::Session => findings
                .violations
                .iter()
                .map(|violation| sessions_of(history, violation))
                .collect(),
        };
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        names
            .iter()
            .for_each(|name| *sizes.entry(name).or_default() += 1);
        let mut order: Vec<(&str, usize)> = sizes.into_iter().collect();
        order.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        let place: BTreeMap<&str, u32> = order
            .iter()
            .zip(0..)
            .map(|((name, _), place)| (*name, place))
            .collect();
        let heap_of = names.iter().map(|name| place[name.as_str()]).collect();
        AnomalyGroups {
            heap_of,
            names: order.into_iter().map(|(name, _)| name.to_owned()).collect(),
        }
    }

    /// The heap of the anomaly at an index.
    pub fn of(&self, place: usize) -> u32 {
        self.heap_of[place]
    }

    /// What its anomalies have in common.
    pub fn name(&self, heap: u32) -> &str {
        self.names.get(heap as usize).map_or("", String::as_str)
    }

    /// The groupings that contain some of `places`, which are ascending, with those.
    pub fn filled(&self, places: &[usize]) -> BTreeMap<u32, Vec<usize>> {
        let mut filled: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        places
            .iter()
            .for_each(|&place| filled.entry(self.heap_of[place]).or_default().push(place));
        filled
    }
}

/// By anomaly: the name of its group, which is that of the most convincing anomaly in it.
fn names(history: &History, violations: &[Violation], groups: Vec<Group>) -> Vec<String> {
    let mut names = vec![String::new(); violations.len()];
    for group in groups {
        let Some(first) = group.smallest() else {
            continue;
        };
        let own = violations[first]
            .transactions
            .iter()
            .filter(|t| !t.is_initial())
            .take(3);
        let own: Vec<String> = own.map(|t| history.transaction_name(*t)).collect();
        // Two causes may involve the same transactions.
        let name = format!("around {} ({})", own.join(" "), violations[first].id);
        group
            .members
            .iter()
            .for_each(|&place| names[place] = name.clone());
    }
    names
}
