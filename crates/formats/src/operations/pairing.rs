//! Calls of operations without a process that overlap: an answer belongs to the call that it fits.

use super::{Call, Event, Operation, Operations, Refusal, Stage, Tree, calls};

/// Words of calls that may be answered with another value than was asked for.
const ANSWERED_OTHERWISE: &[&str] = &["read", "txn", "cas", "send", "poll"];

impl Operations<'_> {
    /// Pairs answers with what was asked, where operations have no process and overlap. An error names an answer that fits
    /// several calls.
    pub(crate) fn pair_by_content(&mut self) -> Result<(), Refusal> {
        let is_nameless = |event: &Event<Operation<'_>>| event.process.is_none();
        if self.around.calls.is_some() || !self.events.iter().all(is_nameless) {
            return Ok(());
        }
        let simple = calls::pair(&self.events);
        let is_wrong = |call: &Call| {
            let ends = call.invoked.zip(call.completed);
            ends.is_some_and(|(asked, answered)| !self.fits(asked, answered))
        };
        if !calls::overlap_without_process(&simple) && !simple.iter().any(is_wrong) {
            return Ok(());
        }
        let mut paired: Vec<Call> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (at, event) in self.events.iter().enumerate() {
            let (mut invoked, mut completed) = (Some(at), None);
            if event.stage != Stage::Invoke {
                (invoked, completed) = (None, Some(at));
                let asked = |call: &usize| paired[*call].invoked;
                let fits = |call: &&usize| asked(call).is_some_and(|asked| self.fits(asked, at));
                let fitting: Vec<usize> = open.iter().filter(fits).copied().collect();
                match fitting[..] {
                    [] => {}
                    [call] => {
                        paired[call].completed = Some(at);
                        open.retain(|other| *other != call);
                        continue;
                    }
                    _ => {
                        let message = "operations without a `process` overlap, and this answer fits several of them";
                        return Err((event.line, message.to_owned()));
                    }
                }
            } else {
                open.push(paired.len());
            }
            paired.push(Call {
                process: None,
                invoked,
                completed,
            });
        }
        self.around.paired = Some(paired);
        Ok(())
    }

    /// Whether an answer may be that to what was asked.
    fn fits(&self, asked: usize, answered: usize) -> bool {
        let [asked, answered] = [asked, answered].map(|at| &self.events[at].content);
        let word = self.word(asked);
        let (one, other): (&Tree<'_>, &Tree<'_>) = (&asked.value, &answered.value);
        let is_alike = one.is_nil() || other.is_nil() || one == other;
        word == self.word(answered) && (is_alike || ANSWERED_OTHERWISE.contains(&word))
    }
}
