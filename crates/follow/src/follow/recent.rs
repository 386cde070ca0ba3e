//! The last transactions of a stream, to be drawn while it grows.

use super::record::{Assembly, Record};
use super::stream::Stream;
use isoscope_model::history::{History, Interval, Origin};
use std::collections::VecDeque;

/// How many transactions are kept.
pub const RECENT: usize = 200;

/// Up to this many sessions keep their places among the lanes, whether or not they have a recent transaction.
const PLACES: usize = 64;

/// With more elements of lists than this in all, reads of long lists are left out.
const ELEMENTS: usize = 50_000;

/// The last transactions that ended, oldest first.
#[derive(Debug, Default)]
pub struct Recent {
    records: VecDeque<Record>,
    n: u64,
}

impl Recent {
    /// Adds the next transaction that ended.
    pub fn push(&mut self, record: &Record) {
        self.n += 1;
        if self.records.len() == RECENT {
            self.records.pop_front();
        }
        self.records.push_back(record.clone());
    }

    /// Number of transactions that ended so far.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The recent transactions as a history, and for each of its transactions its place in the order in which they ended, from
    /// 1. None if there are no transactions. O(operations and elements of lists, as far as these are kept).
    pub fn history(&self, stream: &Stream) -> Option<(History, Vec<u64>)> {
        // As in the whole history: numbers come first, then names by first use.
        let rank = |session: u32| {
            (
                stream
                    .names()
                    .sessions
                    .name(session)
                    .parse()
                    .unwrap_or(u64::MAX),
                session,
            )
        };
        let mut order: Vec<usize> = (0..self.records.len()).collect();
        order.sort_by_key(|&place| rank(self.records[place].session));
        let (names, times_are_events) = (stream.names(), stream.times_are_lines());
        let mut assembly = Assembly::new(
            Origin {
                times_are_events,
                ..Origin::default()
            },
            names,
        );
        if names.sessions.len() <= PLACES {
            let mut sessions: Vec<u32> = (0..names.sessions.len() as u32).collect();
            sessions.sort_by_key(|&session| rank(session));
            for session in sessions {
                assembly.session(session);
            }
        }
        let lists = self
            .records
            .iter()
            .flat_map(|record| &record.operations)
            .filter_map(|action| action.list.as_ref());
        let longest = if lists.map(|list| list.len()).sum::<usize>() > ELEMENTS {
            ELEMENTS / RECENT
        } else {
            ELEMENTS
        };
        let last = self
            .records
            .iter()
            .filter_map(|r| r.interval)
            .map(|i| i.end)
            .filter(|&end| end < i64::MAX)
            .max();
        for &place in &order {
            let record = &self.records[place];
            // What may still take effect is drawn up to now.
            let bounded = |i: Interval| Interval {
                end: i.end.min(last.unwrap_or(i.start).max(i.start)),
                ..i
            };
            let shown = Record {
                interval: record.interval.map(bounded),
                ..record.clone()
            };
            assembly.add(&shown, |place| {
                let list = record.operations[place].list.as_ref();
                list.is_none_or(|list| list.len() <= longest)
            });
        }
        let first = self.n - self.records.len() as u64 + 1;
        let places = order
            .into_iter()
            .map(|place| first + place as u64)
            .collect();
        assembly
            .finish()
            .ok()
            .filter(|history| history.n_transactions() > 0)
            .map(|history| (history, places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(text: &str, format: &str) -> (Stream, Recent) {
        let mut stream = Stream::new("history", Some(format)).expect("it can be followed");
        let (mut records, mut recent) = (Vec::new(), Recent::default());
        stream
            .push(text.as_bytes(), &mut records)
            .expect("readable");
        records.iter().for_each(|record| recent.push(record));
        (stream, recent)
    }

    #[test]
    fn the_last_transactions_keep_their_names_and_places() {
        let text: String = (0..250)
            .map(|n| format!("{}: [w x {n}]\n", ["b", "a"][n % 2]))
            .collect();
        let (stream, recent) = stream(&text, "text");
        let (history, places) = recent.history(&stream).expect("there are some");
        assert_eq!(
            (recent.n(), history.n_transactions(), places.len()),
            (250, RECENT, RECENT)
        );
        let sessions: Vec<String> = history
            .sessions()
            .map(|session| history.session_name(session))
            .collect();
        assert_eq!(
            sessions,
            ["b", "a"],
            "in the order of the file, whichever ended last"
        );
        let of = |place: u64| {
            history.transactions().nth(
                places
                    .iter()
                    .position(|&p| p == place)
                    .expect("it is there"),
            )
        };
        assert_eq!(
            of(250).map(|t| history.transaction_name(t)),
            Some("a125".to_owned())
        );
        assert_eq!(
            of(51).map(|t| history.transaction_name(t)),
            Some("b26".to_owned())
        );
        assert!(!history.has_times());
    }

    #[test]
    fn lines_are_times_and_what_has_no_end_ends_now() {
        let text = "{:index 0, :time 5, :type :invoke, :f :txn, :process 0, :value [[:w 1 1]]}\n\
                    {:index 1, :time 6, :type :invoke, :f :txn, :process 1, :value [[:w 1 2]]}\n\
                    {:index 2, :time 7, :type :info, :f :txn, :process 0, :value [[:w 1 1]]}\n\
                    {:index 3, :time 8, :type :ok, :f :txn, :process 1, :value [[:w 1 2]]}\n";
        let (stream, recent) = stream(text, "elle-edn");
        let (history, _) = recent.history(&stream).expect("there are some");
        let spans: Vec<_> = history
            .transactions()
            .filter_map(|t| history.interval(t))
            .map(|i| (i.start, i.end))
            .collect();
        assert_eq!(spans, [(1, 4), (2, 4)]);
        assert!(history.origin().times_are_events);
    }
}
