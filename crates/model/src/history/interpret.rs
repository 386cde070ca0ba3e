//! Applies [`Rules`]: from what is in a file to what it means.

use super::names::{positional_id, positional_name};
use super::{
    DuplicateRule, FailedCasRule, FailedRule, History, InitialRule, Interval, KeyId, ListRule,
    Lists, Names, OperationId, OperationKind, Outcome, Rules, SessionId, SetUpRule, TimeRule,
    TransactionId, UnknownRule, Value, as_typed,
};
use rustc_hash::{FxHashMap, FxHashSet};

impl History {
    /// This history, interpreted by `rules`, with a sentence in [`assumptions`](History::assumptions) for each choice
    /// that changes its meaning. Ids change only if failed statements are dropped or split off.
    ///
    /// O(operations). Errors: a rule names a value or transaction that is not there.
    pub fn with_rules(mut self, rules: &Rules) -> Result<History, String> {
        self.appends = Default::default();
        self.rules = rules.clone();
        self.settle_failed_cas();
        let recorded = self.figures();
        self.settle_values(rules.values)?;
        self.settle_failed(rules.failed);
        self.settle_unknown(rules.unknown);
        if rules.times == TimeRule::Ignore && self.intervals.take().is_some() {
            self.assume("The recorded times are not used (--times ignore).".to_owned());
        }
        match rules.lists {
            ListRule::Last if !self.lists.is_empty() => {
                self.lists = Lists::default();
                self.assume(
                    "Of each list only the last element counts, as if keys were registers (--lists last).".to_owned(),
                );
            }
            ListRule::Merge if !self.lists.is_empty() => {
                self.assume(
                    "Lists of one key need not be prefixes of each other (--lists merge)."
                        .to_owned(),
                );
            }
            _ => {}
        }
        self.settle_initial(&rules.initial)?;
        self.settle_set_up(&rules.set_up)?;
        if rules.duplicates == DuplicateRule::Last {
            self.assume(
                "Where several transactions wrote the value that was read, the one that is last in the history is \
                 taken to be meant (--duplicates last)."
                    .to_owned(),
            );
        }
        self.recorded = (self.figures() != recorded).then_some(recorded);
        Ok(self)
    }

    pub(super) fn assume(&mut self, sentence: String) {
        self.assumptions.push(sentence);
    }

    fn settle_failed_cas(&mut self) {
        let n = self.set_failed_cas(self.failed_cas());
        let (they, it) = if n == 1 {
            ("compare-and-set", "it")
        } else {
            ("compare-and-sets", "they")
        };
        let sentence = match self.failed_cas() {
            FailedCasRule::Observed => format!(
                "{n} {they} failed because the comparison failed: {it} observed another value (--failed-cas observed; \
                 dropped: {it} did not happen, for whatever reason)."
            ),
            FailedCasRule::Dropped => format!(
                "{n} {they} failed and did not happen, for whatever reason (--failed-cas dropped; observed: the comparison \
                 failed, so {it} observed another value)."
            ),
            FailedCasRule::Format => return,
        };
        if n > 0 {
            self.assume(sentence);
        }
    }

    /// Lets each transaction that is nothing but a compare-and-set that failed count as an observation or not at all; how many
    /// there are. O(failed compare-and-sets).
    fn set_failed_cas(&mut self, rule: FailedCasRule) -> usize {
        let outcome = match rule {
            FailedCasRule::Format => return 0,
            FailedCasRule::Observed => Outcome::Committed,
            FailedCasRule::Dropped => Outcome::Aborted,
        };
        let alone = |t: &TransactionId| {
            self.operation_range(*t).len() == 1 && self.outcome(*t) != Outcome::Unknown
        };
        let failed: Vec<TransactionId> = self
            .differs
            .iter()
            .map(|(o, _)| self.transaction_of(*o))
            .filter(alone)
            .collect();
        failed
            .iter()
            .for_each(|t| self.outcomes[t.index()] = outcome);
        failed.len()
    }

    /// This history where failed compare-and-sets have the other meaning, if the file leaves that open and has any. O(size of
    /// the history).
    pub fn with_other_failed_cas(&self) -> Option<History> {
        let other = match self.failed_cas() {
            FailedCasRule::Format => return None,
            FailedCasRule::Observed => FailedCasRule::Dropped,
            FailedCasRule::Dropped => FailedCasRule::Observed,
        };
        let mut again = (!self.differs.is_empty()).then(|| self.clone())?;
        again.rules.failed_cas = other;
        (again.set_failed_cas(other) > 0).then_some(again)
    }

    fn settle_failed(&mut self, rule: FailedRule) {
        let failed = std::mem::take(&mut self.failed);
        let mut transactions: Vec<TransactionId> =
            failed.iter().map(|&o| self.transaction_of(o)).collect();
        transactions.dedup();
        transactions.retain(|&t| self.outcome(t) != Outcome::Aborted);
        let (rule, why) = match (rule, self.suggestions.failed) {
            (FailedRule::Auto, FailedRule::Auto) => (FailedRule::Drop, String::new()),
            (FailedRule::Auto, suggested) => {
                (suggested, format!(" since {}", self.suggestions.because))
            }
            (rule, _) => (rule, String::new()),
        };
        if transactions.is_empty() {
            return;
        }
        let n = transactions.len();
        let (have, them) = if n == 1 {
            ("transaction has", "it")
        } else {
            ("transactions have", "them")
        };
        let meaning = match rule {
            FailedRule::Auto | FailedRule::Drop => {
                "the failed statements are left out and the rest counts as committed"
            }
            FailedRule::Abort => "the whole transaction counts as rolled back",
            FailedRule::Split => {
                "everything up to the last failure counts as rolled back, and each later statement as a transaction of \
                 its own"
            }
        };
        let sentence = format!(
            "{n} committed {have} failed statements in {them}: {meaning}{why} (--failed {}; drop, abort and split may give \
             different verdicts).",
            rule.word()
        );
        self.assume(sentence);
        match rule {
            FailedRule::Auto | FailedRule::Drop => {
                // In aborted transactions a failed statement means nothing either way.
                let dropped: FxHashSet<OperationId> = failed
                    .into_iter()
                    .filter(|&o| self.outcome(self.transaction_of(o)) != Outcome::Aborted)
                    .collect();
                self.retain_operations(|o| !dropped.contains(&o));
            }
            FailedRule::Abort => transactions
                .iter()
                .for_each(|t| self.outcomes[t.index()] = Outcome::Aborted),
            FailedRule::Split => self.split_after(&failed),
        }
    }

    /// Keeps only some operations; transactions stay, even empty ones.
    fn retain_operations(&mut self, keep: impl Fn(OperationId) -> bool) {
        let kept: Vec<OperationId> = (0..self.n_operations())
            .map(OperationId::new)
            .filter(|&o| keep(o))
            .collect();
        let begin = |old: &u32| kept.partition_point(|o| o.0 < *old) as u32;
        self.operation_begin = self.operation_begin.iter().map(begin).collect();
        let place = |old: OperationId| kept.binary_search(&old).ok().map(OperationId::new);
        let is_list = if self.lists.is_empty() {
            Vec::new()
        } else {
            (0..self.n_keys())
                .map(|key| self.lists.is_list(KeyId::new(key)))
                .collect()
        };
        let lists = std::mem::take(&mut self.lists);
        let kept_lists = lists
            .iter()
            .filter_map(|(o, elements)| Some((place(o)?, self.keys[o.index()], elements)));
        self.lists = Lists::new(is_list, kept_lists);
        self.differs = self
            .differs
            .iter()
            .filter_map(|&(o, value)| Some((place(o)?, value)))
            .collect();
        self.scans = self.scans_in_part(
            Some,
            |old| kept.partition_point(|o| o.0 < old) as u32,
            |old| kept.binary_search(&old).is_ok(),
            |_| true,
        );
        self.kinds = kept.iter().map(|o| self.kinds[o.index()]).collect();
        self.keys = kept.iter().map(|o| self.keys[o.index()]).collect();
        self.values = kept.iter().map(|o| self.values[o.index()]).collect();
        self.lines = kept.iter().map(|o| self.line_of(*o)).collect();
    }

    /// Turns what a transaction did up to its last failed operation into an aborted transaction, and each later
    /// operation into a committed one.
    fn split_after(&mut self, failed: &[OperationId]) {
        let mut names: Vec<Box<str>> = Vec::new();
        let mut new_of_old = Vec::with_capacity(self.n_transactions());
        let (mut session, mut outcomes) = (Vec::new(), Vec::new());
        let mut intervals: Vec<Option<Interval>> = Vec::new();
        let mut begin = Vec::with_capacity(self.operation_begin.len());
        for t in self.transactions() {
            let range = self.operation_range(t);
            let name = self.exact_transaction_name(t);
            new_of_old.push(names.len() as u32);
            let mut add = |name: String, outcome: Outcome, first: usize| {
                names.push(name.into());
                session.push(self.session_of(t));
                outcomes.push(outcome);
                intervals.push(self.interval(t));
                begin.push(first as u32);
            };
            let end = failed.partition_point(|o| o.index() < range.end);
            let last = end
                .checked_sub(1)
                .map(|at| failed[at].index())
                .filter(|last| range.contains(last));
            match last {
                Some(last) if self.outcome(t) != Outcome::Aborted => {
                    add(name.clone(), Outcome::Aborted, range.start);
                    (last + 1..range.end)
                        .for_each(|o| add(format!("{name}+{}", o - last), self.outcome(t), o));
                }
                _ => add(name, self.outcome(t), range.start),
            }
        }
        let n = names.len() as u32;
        begin.push(self.n_operations() as u32);
        let new = |old: &u32| new_of_old.get(*old as usize).copied().unwrap_or(n);
        for scan in &mut self.scans.list {
            let first = new_of_old[scan.transaction.index()] as usize;
            let ends = &begin[first + 1..];
            let before = ends.partition_point(|&end| end < scan.reads.end);
            scan.transaction = TransactionId::new(first + before);
        }
        self.session_begin = self.session_begin.iter().map(new).collect();
        self.set_up = self
            .set_up
            .iter()
            .map(|t| TransactionId(new(&t.0)))
            .collect();
        self.transaction_names = Names::Strings(names);
        self.transaction_session = session;
        self.outcomes = outcomes;
        self.intervals = self.intervals.as_ref().map(|_| intervals);
        self.operation_begin = begin;
    }

    fn settle_unknown(&mut self, rule: UnknownRule) {
        let outcome = match rule {
            UnknownRule::Observed => return,
            UnknownRule::Aborted => Outcome::Aborted,
            UnknownRule::Committed => Outcome::Committed,
        };
        let mut n = 0;
        for slot in self
            .outcomes
            .iter_mut()
            .filter(|slot| **slot == Outcome::Unknown)
        {
            *slot = outcome;
            n += 1;
        }
        if n > 0 {
            let s = if n == 1 { "" } else { "s" };
            let word = rule.word();
            self.assume(format!(
                "{n} transaction{s} of unknown outcome taken as {word} (--unknown {word})."
            ));
        }
    }

    fn settle_initial(&mut self, rule: &InitialRule) -> Result<(), String> {
        let (rule, why) = match rule {
            InitialRule::Format => (
                self.suggestions.initial.clone(),
                self.suggestions.because.clone(),
            ),
            rule => (rule.clone(), String::new()),
        };
        if self.has_rows() && matches!(rule, InitialRule::AnyUnwritten | InitialRule::Value(_)) {
            return Err(
                "--initial: the keys of this history are rows, which are absent at first"
                    .to_owned(),
            );
        }
        match &rule {
            InitialRule::Format => {}
            InitialRule::Nothing => {
                if self.initial_value.take().is_some() {
                    self.assume(
                        "Only \"nothing\" is the initial version (--initial nothing).".to_owned(),
                    );
                }
            }
            InitialRule::AnyUnwritten => self.take_unwritten_as_initial(&why),
            InitialRule::Value(name) => {
                let value = self.value_called(name);
                let value = value
                    .ok_or_else(|| format!("--initial {name}: no operation has this value"))?;
                self.initial_value = Some(value);
                self.assume(format!(
                    "The initial version is {name} where no transaction writes it (--initial {name})."
                ));
            }
        }
        Ok(())
    }

    /// For each key whose initial version is not read otherwise, the first value in the history that is read and that no
    /// transaction writes becomes the initial one; where the user asks for it and not the format (`why`), also one that only
    /// transactions write that begin after the reader has ended.
    fn take_unwritten_as_initial(&mut self, why: &str) {
        // When the first writer of each value began; before all time where that is not known.
        let mut written: FxHashMap<(KeyId, Value), i64> = FxHashMap::default();
        let mut ends = vec![i64::MAX; self.n_operations()];
        for t in self.transactions() {
            let ran = self.interval(t);
            let began = ran.map_or(i64::MIN, |ran| ran.start);
            let ended = ran
                .filter(|_| self.outcome(t) != Outcome::Unknown)
                .map_or(i64::MAX, |ran| ran.end);
            for o in self.operation_range(t) {
                ends[o] = ended;
                if self.kinds[o] == OperationKind::Write {
                    let first = written
                        .entry((self.keys[o], self.values[o]))
                        .or_insert(began);
                    *first = began.min(*first);
                }
            }
        }
        let was_written_to = |o: usize, value: Value| {
            written
                .get(&(self.keys[o], value))
                .is_some_and(|&began| !why.is_empty() || began <= ends[o])
        };
        let was_written = |o: usize| was_written_to(o, self.values[o]);
        let beginnings = self.unwritten_beginnings(was_written_to);
        let mut initial = std::mem::take(&mut self.set_up_values);
        initial.resize(self.n_keys(), None);
        // A key whose initial version is known has no other one.
        let is_initial = |o: usize| {
            let value = self.values[o];
            let named = Some(value) == self.initial_value && !was_written(o);
            self.kinds[o] == OperationKind::Read && (value == Value::INITIAL || named)
        };
        let known: FxHashSet<KeyId> = (0..self.n_operations())
            .filter(|&o| is_initial(o))
            .map(|o| self.keys[o])
            .collect();
        let mut n = 0;
        for o in 0..self.n_operations() {
            let (key, value) = (self.keys[o], self.values[o]);
            let unwritten = self.kinds[o] == OperationKind::Read
                && !self.lists.is_list(key)
                && value.0 <= Value::MAX_NUMBER
                && Some(value) != self.initial_value
                && !was_written(o);
            if unwritten && initial[key.index()].is_none() && !known.contains(&key) {
                initial[key.index()] = Some(value);
                n += 1;
            }
        }
        self.set_up_values = if initial.iter().all(Option::is_none) {
            Vec::new()
        } else {
            initial
        };
        if n > 0 {
            let keys = if n == 1 { "key" } else { "keys" };
            let why = if why.is_empty() {
                String::new()
            } else {
                format!(" since {why}")
            };
            self.assume(format!(
                "For {n} {keys} the first value that was read without having been written is taken as the initial \
                 version{why} (--initial any-unwritten; --initial nothing makes these reads thin-air reads)."
            ));
        }
        self.take_as_initial_lists(&beginnings);
    }

    /// By key: the number of elements with which all its lists begin and that were not appended, if they are the same in all.
    /// A list without them contradicts that they were there before.
    fn unwritten_beginnings(&self, was_written: impl Fn(usize, Value) -> bool) -> Vec<usize> {
        let mut of_keys: Vec<Option<&[Value]>> = vec![None; self.n_keys()];
        let mut is_contradicted = vec![false; self.n_keys()];
        for (read, elements) in self.lists.iter() {
            let (o, key) = (read.index(), self.keys[read.index()].index());
            let is_unwritten = |element: &&Value| !was_written(o, **element);
            let n = elements.iter().take_while(is_unwritten).count();
            let known = of_keys[key].get_or_insert(&elements[..n]);
            is_contradicted[key] |= *known != &elements[..n];
        }
        let length = |(key, beginning): (usize, Option<&[Value]>)| match beginning {
            Some(beginning) if !is_contradicted[key] => beginning.len(),
            _ => 0,
        };
        of_keys.into_iter().enumerate().map(length).collect()
    }

    /// Leaves the first elements of lists out, as many as each key has here: what is empty then is the initial list.
    fn take_as_initial_lists(&mut self, beginnings: &[usize]) {
        let n = beginnings.iter().filter(|&&length| length > 0).count();
        if n == 0 {
            return;
        }
        let key_of = |read: OperationId| self.keys[read.index()];
        let cut = |(read, elements): (OperationId, &[Value])| {
            (read, elements[beginnings[key_of(read).index()]..].to_vec())
        };
        let reads: Vec<(OperationId, Vec<Value>)> = self.lists.iter().map(cut).collect();
        let is_list = (0..self.n_keys())
            .map(|key| self.lists.is_list(KeyId::new(key)))
            .collect();
        let kept = reads
            .iter()
            .map(|(read, elements)| (*read, key_of(*read), elements.as_slice()));
        let mut lists = Lists::new(is_list, kept);
        lists.remember(|read| self.lists.read_by(read).map(Box::from));
        self.lists = lists;
        for (read, elements) in &reads {
            self.values[read.index()] = elements.last().copied().unwrap_or(Value::INITIAL);
        }
        let keys = if n == 1 { "key" } else { "keys" };
        self.assume(format!(
            "All lists of {n} {keys} begin with the same elements that no transaction appended: they are taken as the initial list \
             (--initial any-unwritten)."
        ));
    }

    fn settle_set_up(&mut self, rule: &SetUpRule) -> Result<(), String> {
        match rule {
            SetUpRule::Auto => {}
            SetUpRule::Never => {
                self.assume(
                    "No transaction counts as setting up the initial state (--init none)."
                        .to_owned(),
                );
                for t in std::mem::take(&mut self.set_up) {
                    for o in self.operation_range(t) {
                        if let Some(slot) = self.set_up_values.get_mut(self.keys[o].index()) {
                            *slot = None;
                        }
                    }
                }
            }
            SetUpRule::Transactions(names) => {
                let mut found = Vec::new();
                for name in names {
                    let called = self.transactions().find(|&t| self.is_called(t, name));
                    let t = called.ok_or_else(|| {
                        format!("--init txn={name}: there is no such transaction")
                    })?;
                    if self.outcome(t) == Outcome::Aborted {
                        return Err(format!(
                            "--init txn={name}: this transaction aborted, so it set nothing up"
                        ));
                    }
                    found.push(t);
                }
                found.sort_unstable();
                found.dedup();
                self.count_as_initial(&found);
            }
        }
        if !self.set_up.is_empty() {
            let names: Vec<String> = self
                .set_up
                .iter()
                .take(5)
                .map(|&t| self.transaction_name(t))
                .collect();
            let (n, more) = (self.set_up.len(), self.set_up.len().saturating_sub(5));
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            self.assume(format!(
                "{}{more} {} as set-up: what {} the initial version of its keys (--init none makes {} like others).",
                names.join(", "),
                if n == 1 { "counts" } else { "count" },
                if n == 1 { "it writes is" } else { "they write is" },
                if n == 1 { "it a transaction" } else { "them transactions" },
            ));
            let reads = |o: usize| self.kinds[o] == OperationKind::Read;
            if self
                .set_up
                .iter()
                .any(|&t| self.operation_range(t).any(reads))
            {
                self.assume(
                    "What transactions read that count as set-up is not looked at.".to_owned(),
                );
            }
        }
        Ok(())
    }

    /// This history where no transaction is assumed to set up the initial state merely because it looks so; those that
    /// the file or the user named still do. O(size of the history).
    pub fn without_assumed_set_up(&self) -> History {
        let mut apart = self.clone();
        apart.rules.set_up = SetUpRule::Never;
        apart
    }

    /// This history as if each transaction had run in a session of its own, with the same ids of transactions and operations.
    /// What sessions say about the initial state is decided before: `set_up` are the transactions that make it.
    /// O(size of the history).
    pub fn with_a_session_each(&self, set_up: &[TransactionId]) -> History {
        self.with_sessions_split(set_up, |_| true)
    }

    /// As `with_a_session_each`, where a session ends only before those of its transactions for which `begins` holds.
    pub fn with_sessions_split(
        &self,
        set_up: &[TransactionId],
        begins: impl Fn(TransactionId) -> bool,
    ) -> History {
        let n = self.n_transactions();
        let names = self
            .transactions()
            .map(|t| self.display_name(t).into_boxed_str())
            .collect();
        let is_first = |t: &TransactionId| self.position_of(*t) == 0 || begins(*t);
        let first: Vec<TransactionId> = self.transactions().filter(is_first).collect();
        let mut split = self.without_assumed_set_up();
        split.transaction_names = Names::Strings(names);
        split.cluster = self
            .cluster
            .select(first.iter().map(|t| self.session_of(*t)), None);
        split.session_names = Names::Implicit(first.len());
        split.session_begin = first.iter().map(|t| t.0).chain([n as u32]).collect();
        let mut session = 0;
        split.transaction_session = self
            .transactions()
            .map(|t| {
                session += usize::from(first.get(session + 1) == Some(&t));
                SessionId::new(session)
            })
            .collect();
        // Those that were found write only what reads as the initial value anyway, so no key gets a value of its own.
        split.add_to_set_up(set_up);
        split
    }

    /// This history as if a transaction had run at another time. O(size of the history).
    pub fn with_time_of(&self, transaction: TransactionId, interval: Interval) -> History {
        let mut moved = self.clone();
        if let Some(intervals) = &mut moved.intervals {
            intervals[transaction.index()] = Some(interval);
        }
        moved
    }

    /// This history with "the initial version" instead of values that are initial only because a rule says so: what can
    /// be written without the rule.
    pub fn with_plain_initial_reads(&self) -> std::borrow::Cow<'_, History> {
        let mut by_rule = self.set_up_values.clone();
        for o in self
            .set_up_that_took_effect()
            .flat_map(|t| self.operation_range(t))
        {
            if self.kinds[o] == OperationKind::Write {
                by_rule[self.keys[o].index()] = None;
            }
        }
        if by_rule.iter().all(Option::is_none) {
            return std::borrow::Cow::Borrowed(self);
        }
        let mut plain = self.clone();
        for o in 0..plain.n_operations() {
            let initial = by_rule[plain.keys[o].index()] == Some(plain.values[o]);
            if initial && plain.kinds[o] == OperationKind::Read {
                plain.values[o] = Value::INITIAL;
            }
        }
        for (kept, by_rule) in plain.set_up_values.iter_mut().zip(by_rule) {
            *kept = kept.filter(|_| by_rule.is_none());
        }
        std::borrow::Cow::Owned(plain)
    }

    /// Whether a transaction has this name, or just its number.
    fn is_called(&self, t: TransactionId, name: &str) -> bool {
        let (session, position) = (
            as_typed(&self.session_name(self.session_of(t))),
            self.position_of(t),
        );
        let (own, name) = (as_typed(&self.transaction_name(t)), as_typed(name));
        let by_position = [
            positional_name(&session, position),
            positional_id(&session, position),
        ];
        own == name
            || own.strip_prefix('T') == Some(&*name)
            || by_position.iter().any(|known| *known == *name)
    }

    /// Lets transactions count as part of ⊥: the last value each writes to a key is the key's initial version.
    pub(super) fn count_as_initial(&mut self, transactions: &[TransactionId]) {
        if transactions.is_empty() {
            return;
        }
        self.set_up_values.resize(self.n_keys(), None);
        for &t in transactions {
            // An aborted transaction sets nothing up.
            if self.outcome(t) == Outcome::Aborted {
                continue;
            }
            for o in self
                .operation_range(t)
                .filter(|&o| self.kinds[o] == OperationKind::Write)
            {
                self.set_up_values[self.keys[o].index()] = Some(self.values[o]);
            }
        }
        self.add_to_set_up(transactions);
    }

    fn add_to_set_up(&mut self, transactions: &[TransactionId]) {
        self.set_up.extend(transactions);
        self.set_up.sort_unstable();
        self.set_up.dedup();
    }

    /// The value that a file would write this way.
    pub(super) fn value_called(&self, name: &str) -> Option<Value> {
        match &self.value_names {
            Names::Implicit(_) => name
                .parse()
                .ok()
                .map(Value)
                .filter(|value| value.0 <= Value::MAX_NUMBER),
            names => {
                let is_called = |name: &str| (0..names.len()).find(|&at| names.text(at) == name);
                is_called(name)
                    .or_else(|| is_called(&as_typed(name)))
                    .map(|at| Value(at as u64))
            }
        }
    }
}
