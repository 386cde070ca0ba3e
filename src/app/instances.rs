//! Instances that are counted and were not listed: the list goes on with them when it is asked to.

use super::App;
use super::catalogue::Catalogue;
use crate::audit;
use crate::checkers::{Page, Pattern, ViolationId, ViolationName};
use crate::history::History;
use crate::jobs::{Job, Revision, State as JobState, Wake};
use std::sync::Arc;

/// How many instances a pattern's list goes on by.
pub(super) const AT_ONCE: u64 = 1000;

/// The catalogue with some instances more, or why it has none.
pub(super) type Answer = Result<Arc<Catalogue>, String>;

/// Starts listing the instances of a page.
fn start(history: Arc<History>, catalogue: Arc<Catalogue>, page: Page, revision: Revision, wake: Wake) -> Job<Answer> {
    Job::answer("instances", revision, wake, move |control| {
        let mut findings = catalogue.as_checked().clone();
        let more = audit::instances(&history, &mut findings, page, control).ok()?;
        if more.is_empty() {
            return Some(Err(format!("{} has no instance there that can be listed", page.pattern)));
        }
        Some(Ok(Arc::new(catalogue.with(&history, more))))
    })
}

impl App {
    /// Lists the next instances of a pattern.
    pub(super) fn list_more(&mut self, pattern: Pattern) {
        let catalogue = self.state.document.as_ref().and_then(|document| document.catalogue.as_ref());
        let Some(offset) = catalogue.and_then(|catalogue| catalogue.first_unlisted(pattern)) else { return };
        self.list_page(Page { pattern, offset, limit: AT_ONCE });
    }

    /// Shows an instance that is counted, listed or not.
    pub(super) fn show_instance(&mut self, id: ViolationId) {
        let Some(document) = &mut self.state.document else { return };
        if document.catalogue.as_ref().is_some_and(|catalogue| catalogue.place(id).is_some()) {
            return self.select(id, true);
        }
        document.wish.id = Some(ViolationName { name: id.pattern.to_string(), ordinal: Some(id.ordinal) });
        self.list_page(Page { pattern: id.pattern, offset: u64::from(id.ordinal - 1), limit: 1 });
    }

    fn list_page(&mut self, page: Page) {
        let Some(document) = &self.state.document else { return };
        let Some((history, catalogue)) = document.history.clone().zip(document.catalogue.clone()) else { return };
        let number = self.revision.advance();
        self.instances = Some(start(history, catalogue, page, number, Arc::clone(&self.wake)));
    }

    /// Takes in the instances that a job has listed.
    pub(super) fn take_in_instances(&mut self) {
        let Some(job) = &mut self.instances else { return };
        let answer = job.poll().into_iter().last();
        let trouble = match job.state() {
            JobState::Running => return,
            JobState::Failed(text) => Some(text.clone()),
            JobState::Finished => None,
        };
        self.instances = None;
        match (answer, trouble) {
            (Some(Ok(catalogue)), _) => self.take_in_catalogue(catalogue, true),
            (Some(Err(text)), _) | (None, Some(text)) => {
                if let Some(document) = &mut self.state.document {
                    document.wish.id = None;
                }
                self.state.tell(true, text);
            }
            (None, None) => {}
        }
    }
}
