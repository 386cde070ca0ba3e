//! The same history, written in another way: sessions in another order, other names, an unrelated session more.

use fastrand::Rng;
use isoscope_model::history::{
    Builder, History, KeyId, OperationKind, Origin, Outcome, Rules, SetUpRule, Value,
};
use std::collections::BTreeMap;

/// What is written in another way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rewrite {
    /// Sessions stand in another order.
    pub sessions: bool,
    /// Sessions, transactions and keys have other names, and keys are numbered in another order.
    pub names: bool,
    /// Every value is another number.
    pub values: bool,
    /// There is a session more, which has keys of its own and breaks nothing.
    pub unrelated: bool,
}

impl Rewrite {
    /// Nothing, each, and all together.
    pub const NONE: Rewrite = Rewrite {
        sessions: false,
        names: false,
        values: false,
        unrelated: false,
    };
    pub const EACH: [Rewrite; 5] = [
        Rewrite {
            sessions: true,
            ..Rewrite::NONE
        },
        Rewrite {
            names: true,
            ..Rewrite::NONE
        },
        Rewrite {
            values: true,
            ..Rewrite::NONE
        },
        Rewrite {
            unrelated: true,
            ..Rewrite::NONE
        },
        Rewrite {
            sessions: true,
            names: true,
            values: true,
            unrelated: true,
        },
    ];

    /// The history written in this way, without transactions that look like a set-up. What is random comes from `rng`.
    pub fn of(self, history: &History, rng: &mut Rng) -> History {
        let mut builder = Builder::new(Origin::default());
        let mut names: Vec<u64> =
            (0..10 + 2 * (history.n_sessions() + history.n_keys()) as u64).collect();
        let mut keys: Vec<usize> = (0..history.n_keys()).collect();
        let mut sessions: Vec<Option<_>> = history.sessions().map(Some).collect();
        if self.unrelated {
            sessions.push(None);
        }
        if self.sessions {
            rng.shuffle(&mut sessions);
        }
        if self.names {
            rng.shuffle(&mut names);
            rng.shuffle(&mut keys);
        }
        let value = self.values(history, rng);
        if let Some(initial) = history.initial_value() {
            builder.initial_value(value(initial));
        }
        let mut name = names.into_iter().map(|name| format!("n{name}"));
        let new_key: BTreeMap<usize, KeyId> = keys
            .into_iter()
            .map(|key| {
                (
                    key,
                    builder.key_name(&name.next().expect("there are enough")),
                )
            })
            .collect();
        for (key, new) in &new_key {
            if history.lists().is_list(KeyId::new(*key)) {
                builder.list_key(*new);
            }
        }
        for session in sessions {
            let new_session = builder.session_name(&name.next().expect("there are enough"));
            let Some(session) = session else {
                let own = builder.key_name("unrelated");
                let mut draft = builder.transaction(new_session, Outcome::Committed);
                builder.operation(draft, OperationKind::Write, own, Value(7_000_001), 0);
                for next in [7_000_002, 7_000_003] {
                    draft = builder.transaction(new_session, Outcome::Committed);
                    builder.operation(draft, OperationKind::Read, own, Value(next - 1), 0);
                    builder.operation(draft, OperationKind::Write, own, Value(next), 0);
                }
                continue;
            };
            for t in history.transactions_of(session) {
                let draft = builder.transaction(new_session, history.outcome(t));
                if self.names {
                    builder.name_transaction(draft, &format!("t{}", rng.u64(..)));
                }
                if let Some(interval) = history.interval(t) {
                    builder.set_interval(draft, interval);
                }
                if history.set_up().contains(&t) {
                    builder.set_up(draft);
                }
                for o in history.operations_of(t) {
                    let operation = history.operation(o);
                    let key = new_key[&operation.key.index()];
                    match (history.lists().read_by(o), history.differs_from(o)) {
                        (Some(list), _) => {
                            let list: Vec<Value> =
                                list.iter().map(|&element| value(element)).collect();
                            builder.list_read(draft, key, &list, 0);
                        }
                        (None, Some(not)) => builder.read_of_other(draft, key, value(not), 0),
                        (None, None) => {
                            builder.operation(draft, operation.kind, key, value(operation.value), 0)
                        }
                    }
                }
            }
        }
        let rules = Rules {
            set_up: SetUpRule::Never,
            lists: history.rules().lists,
            ..Rules::default()
        };
        builder
            .finish()
            .expect("it is no larger than it was")
            .with_rules(&rules)
            .expect("no rule names anything")
    }

    /// The new value of each old one.
    fn values(self, history: &History, rng: &mut Rng) -> impl Fn(Value) -> Value + use<> {
        let in_lists = history
            .lists()
            .iter()
            .flat_map(|(_, elements)| elements.iter().copied());
        let compared = (0..history.n_operations())
            .filter_map(|o| history.differs_from(isoscope_model::history::OperationId::new(o)));
        let mut old: Vec<Value> = history
            .values()
            .iter()
            .copied()
            .chain(in_lists)
            .chain(compared)
            .chain(history.initial_value())
            .collect();
        old.retain(|value| value.0 <= Value::MAX_NUMBER);
        old.sort_unstable();
        old.dedup();
        let mut new: Vec<Value> = (1..=old.len() as u64).map(Value).collect();
        if self.values {
            rng.shuffle(&mut new);
        }
        let new: BTreeMap<Value, Value> = old.into_iter().zip(new).collect();
        move |value| new.get(&value).copied().unwrap_or(value)
    }
}
