//! Values that are written differently and are the same as text: the number 5 and the string "5", `:a` and "a".
//!
//! Some clients write numbers and are given text. In such a log no read returns what was written, which says nothing about the
//! database.

use super::{History, KeyId, Linear, Names, OperationId, OperationKind, Outcome, Value, ValueRule};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

impl History {
    /// Makes values one that are the same as text, if the rule says so. Errors: it leaves that open, and no read returns a
    /// value that was written to its key, but for as text. O(operations) where names of values look so, else O(values).
    pub(super) fn settle_values(&mut self, rule: ValueRule) -> Result<(), String> {
        if rule == ValueRule::Exact {
            return Ok(());
        }
        let has_items = self
            .workload()
            .is_none_or(|workload| workload.no_levels.is_none());
        if rule == ValueRule::Auto
            && self.suggestions.may_omit_values
            && has_items
            && !self.records_writes()
        {
            return Err("no read returns a value that was written, and all writes of a key are the same: the log may not record \
                        what was written (`--values exact` checks it nevertheless)"
                .to_owned());
        }
        let one_of = same_as_text(&self.value_names);
        if one_of.is_empty() {
            return Ok(());
        }
        if rule == ValueRule::Text && !self.scans().is_empty() {
            return Err("--values text: scans compare values as they are written".to_owned());
        }
        if rule == ValueRule::Text {
            // The order was looked for by values as they are written.
            if let Some(workload) = &mut self.workload {
                workload.linear = workload.linear.as_ref().map(|_| Linear::Unknown);
            }
            self.map_values(|value| one_of.get(&value).copied().unwrap_or(value));
            self.assume(
                "Values that are the same as text are taken as one value (--values text)."
                    .to_owned(),
            );
            return Ok(());
        }
        let Some((written, read)) = self.read_as_text(&one_of) else {
            return Ok(());
        };
        Err(format!(
            "no read returns a value that was written to its key, yet as text they are the same, such as {} and {}: \
             `--values text` takes them as one value, `--values exact` as two",
            self.exact_value_name(written),
            self.exact_value_name(read),
        ))
    }

    /// Whether the log seems to have the values that were written. It does not where each key has one value that is written
    /// again and again, and which no read returns. O(1) nearly always.
    fn records_writes(&self) -> bool {
        const TRIED: usize = 64;
        let kinds = |kind| {
            let of_kind = move |o: &usize| self.kinds[*o] == kind;
            let register = |o: &usize| !self.lists.is_list(self.keys[*o]);
            let operations = (0..self.n_operations()).filter(of_kind).filter(register);
            operations.map(|o| (self.keys[o], self.values[o]))
        };
        let is_value = |(_, value): &(KeyId, Value)| value.0 <= Value::MAX_NUMBER;
        let reads = || kinds(OperationKind::Read).filter(is_value);
        let some: FxHashSet<_> = reads().take(TRIED).collect();
        if some.is_empty() || kinds(OperationKind::Write).any(|write| some.contains(&write)) {
            return true;
        }
        let mut written: FxHashMap<KeyId, Value> = FxHashMap::default();
        let mut writes = kinds(OperationKind::Write);
        if !writes.all(|(key, value)| *written.entry(key).or_insert(value) == value) {
            return true;
        }
        let mut keys = FxHashSet::default();
        for (key, value) in reads() {
            match written.get(&key) {
                Some(&only) if only == value => return true,
                Some(_) => drop(keys.insert(key)),
                None => {}
            }
        }
        keys.len() < 2
    }

    /// If each value that was read was written to its key, but always in another form: the first one as it was written and
    /// as it was read.
    fn read_as_text(&self, one_of: &FxHashMap<Value, Value>) -> Option<(Value, Value)> {
        let as_text = |value: Value| one_of.get(&value).copied().unwrap_or(value);
        let (mut exact, mut forms) = (FxHashSet::default(), FxHashMap::default());
        let operations = (0..self.n_operations())
            .map(OperationId::new)
            .map(|o| self.operation(o));
        for write in operations.filter(|o| o.kind == OperationKind::Write) {
            exact.insert((write.key, write.value));
            forms
                .entry((write.key, as_text(write.value)))
                .or_insert(write.value);
        }
        let mut first = None;
        let in_force = self
            .transactions()
            .filter(|&t| self.outcome(t) != Outcome::Aborted);
        for o in in_force.flat_map(|t| self.operations_of(t)) {
            let read = self.operation(o);
            let values = self
                .lists
                .read_by(o)
                .unwrap_or(std::slice::from_ref(&read.value));
            let is_other = |value: &&Value| {
                value.0 <= Value::MAX_NUMBER && !self.may_be_initial(read.key, **value)
            };
            for &value in values
                .iter()
                .filter(is_other)
                .filter(|_| read.kind == OperationKind::Read)
            {
                if exact.contains(&(read.key, value)) {
                    return None;
                }
                let written = *forms.get(&(read.key, as_text(value)))?;
                first.get_or_insert((written, value));
            }
        }
        first
    }
}

/// For each value that is the same as another one as text: which of them stands for all, the bare text if it is there.
/// O(1) where no name has quotes or a colon in front.
fn same_as_text(names: &Names) -> FxHashMap<Value, Value> {
    let Names::Strings(names) = names else {
        return FxHashMap::default();
    };
    let mut one_of = FxHashMap::default();
    if !names.iter().any(|name| name.starts_with(['"', ':'])) {
        return one_of;
    }
    let mut forms: FxHashMap<Cow<'_, str>, Vec<usize>> = FxHashMap::default();
    for (at, name) in names.iter().enumerate() {
        forms.entry(text_of(name)).or_default().push(at);
    }
    for (text, forms) in forms.into_iter().filter(|(_, forms)| forms.len() > 1) {
        let bare = forms
            .iter()
            .copied()
            .find(|&at| *names[at] == *text)
            .unwrap_or(forms[0]);
        one_of.extend(
            forms
                .into_iter()
                .map(|at| (Value(at as u64), Value(bare as u64))),
        );
    }
    one_of
}

/// A name without the quotes of a string or the colon of a keyword.
fn text_of(name: &str) -> Cow<'_, str> {
    match name.as_bytes() {
        [b':', _, ..] => Cow::Borrowed(&name[1..]),
        [b'"', .., b'"'] => serde_json::from_str(name).map_or(Cow::Borrowed(name), Cow::Owned),
        _ => Cow::Borrowed(name),
    }
}
