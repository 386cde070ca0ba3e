//! Events in the order of time, where the file has them in another.
//!
//! Intervals are closed: what begins at the moment when something else ends is concurrent with it, so at one moment
//! invocations come before completions.

use super::time::in_nanoseconds;
use super::{Call, Event, Operation, Operations, Refusal, Stage, calls};
use rustc_hash::FxHashMap;

impl Operations<'_> {
    /// Puts what whole calls did in the order of time, where they have times.
    pub(crate) fn settle(&mut self) -> Result<(), Refusal> {
        self.in_one_unit()?;
        let is_timed =
            |pair: &[Event<Operation<'_>>]| pair.iter().all(|event| event.time.is_some());
        let are_timed = self.events.chunks_exact(2).any(is_timed);
        let mut without_end = 0;
        for (pair, says_outcome) in self.events.chunks_exact_mut(2).zip(&self.says_outcome) {
            let [asked, answered] = pair else { continue };
            match (asked.time, answered.time) {
                _ if !are_timed => (asked.time, answered.time) = (None, None),
                (Some(_), Some(_)) => {}
                (None, _) => {
                    let message = "this operation has no `start`, but others have one";
                    return Err((asked.line, message.to_owned()));
                }
                (Some(_), None) if *says_outcome && answered.stage == Stage::Ok => {
                    let message = "this operation succeeded, but has no `end`; others have one";
                    return Err((asked.line, message.to_owned()));
                }
                (Some(start), None) => {
                    answered.time = Some(start);
                    if !says_outcome {
                        answered.stage = Stage::Info;
                    }
                    without_end += u32::from(answered.stage == Stage::Info);
                }
            }
        }
        if without_end > 0 {
            self.around.remarks.push(format!(
                "Operations without an end: {without_end}, their outcome is unknown."
            ));
        }
        let whole = |at: usize| Call {
            process: self.events[at].process,
            invoked: Some(at),
            completed: Some(at + 1),
        };
        let calls = (0..self.events.len()).step_by(2).map(whole).collect();
        self.in_order_of_time(calls)
    }

    /// Turns seconds into nanoseconds if some times have fractions.
    fn in_one_unit(&mut self) -> Result<(), Refusal> {
        let mut fractions = self.fractions.iter().peekable();
        if fractions.peek().is_none() {
            return Ok(());
        }
        for (place, event) in self.events.iter_mut().enumerate() {
            if fractions.next_if_eq(&&place).is_none()
                && let Some(time) = &mut event.time
            {
                *time = in_nanoseconds(*time).map_err(|message| (event.line, message))?;
            }
        }
        let remark = "Times with a fraction are seconds; they are shown in nanoseconds.";
        self.around.remarks.push(remark.to_owned());
        Ok(())
    }

    /// Puts events in the order of time if each has one: rows of a table may be in any other order. What one client did is
    /// in the order of the file.
    pub(crate) fn settle_events(&mut self) -> Result<(), Refusal> {
        if self.events.iter().any(|event| event.time.is_none()) {
            return Ok(());
        }
        let calls = calls::pair(&self.events);
        self.in_order_of_time(calls)
    }

    /// Puts events, which are these calls, in the order of time, where they have times.
    fn in_order_of_time(&mut self, mut calls: Vec<Call>) -> Result<(), Refusal> {
        let mut order: Vec<usize> = (0..self.events.len()).collect();
        let moment = |event: &Event<Operation<'_>>| {
            let time = event.time;
            (time, time.is_some() && event.stage != Stage::Invoke)
        };
        order.sort_by_key(|&at| moment(&self.events[at]));
        let mut places = vec![0; order.len()];
        for (place, &at) in order.iter().enumerate() {
            places[at] = place;
        }
        for call in &mut calls {
            for end in [&mut call.invoked, &mut call.completed] {
                *end = end.map(|at| places[at]);
            }
        }
        calls.sort_by_key(|call| call.invoked.or(call.completed));
        let events = std::mem::take(&mut self.events).into_iter();
        let mut events: Vec<_> = events.map(Some).collect();
        self.events = order.iter().filter_map(|&at| events[at].take()).collect();
        for (place, event) in self.events.iter_mut().enumerate() {
            event.place = u32::try_from(place).unwrap_or(u32::MAX);
        }
        self.one_at_a_time(&calls)?;
        self.around.calls = Some(calls);
        Ok(())
    }

    /// Fails where a client begins something before it knows how the last ended.
    fn one_at_a_time(&self, calls: &[Call]) -> Result<(), Refusal> {
        let mut ended: FxHashMap<i64, (i64, u32)> = FxHashMap::default();
        for call in calls {
            let (Some(process), (Some(asked), Some(answered))) =
                (call.process, call.ends(&self.events))
            else {
                continue;
            };
            let (Some(start), Some(end)) = (asked.time, answered.time) else {
                continue;
            };
            if let Some((end, line)) = ended.get(&process)
                && start < *end
            {
                let message = format!(
                    "this operation begins, at {start}, before that of the same client on line {line} ends, at {end}; \
                     a client does one thing at a time"
                );
                return Err((asked.line, message));
            }
            if answered.stage != Stage::Info {
                ended.insert(process, (end, asked.line));
            }
        }
        Ok(())
    }
}
