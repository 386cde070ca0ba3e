//! Instances that are counted but not listed: the list is extended on request.

use super::App;
use super::catalogue::Catalogue;
use super::tasks::{End, Failure, Task};
use super::vocabulary::Tone;
use crate::audit;
use crate::checkers::{Page, Pattern, ViolationId, ViolationName};
use crate::control::{Control, Interrupt};
use crate::history::History;
use std::sync::Arc;

/// How many instances are added to a pattern's list at a time.
pub(super) const AT_ONCE: u64 = 1000;

/// The catalogue with some more instances, or why there are none.
type Answer = Result<Arc<Catalogue>, String>;

/// Listing instances. The answer comes with the catalogue that it extends.
static MORE: Task<(Arc<Catalogue>, Answer)> = Task {
    end: |app, end| {
        app.end_listing(false);
        if let End::Failed(text) = end {
            app.state.tell(Tone::Problem, text.clone());
        }
    },
    ..Task::new("instances", Failure::Silent, |app, (before, answer)| {
        let current = app
            .state
            .document
            .as_ref()
            .and_then(|document| document.catalogue.as_ref());
        let is_current = current.is_some_and(|current| Arc::ptr_eq(current, &before));
        app.end_listing(answer.is_ok());
        match answer {
            Ok(catalogue) if is_current => app.show_catalogue(catalogue, true),
            Ok(_) => {}
            Err(text) => app.state.tell(Tone::Problem, text),
        }
    })
};

/// Lists the instances of a page; nothing if it is stopped.
fn list(history: &History, catalogue: &Catalogue, page: Page, control: &Control) -> Option<Answer> {
    let mut findings = catalogue.as_checked().clone();
    let more = match audit::instances(history, &mut findings, page, control) {
        Ok(more) => more,
        Err(Interrupt::Cancelled) => return None,
        Err(interrupt) => {
            return Some(Err(format!(
                "Further instances could not be listed: {interrupt}"
            )));
        }
    };
    if more
        .iter()
        .all(|violation| catalogue.place(violation.id).is_some())
    {
        return Some(Err(format!(
            "No further instance of {} can be listed",
            page.pattern
        )));
    }
    Some(Ok(Arc::new(catalogue.with(history, more))))
}

impl App {
    /// Lists the next instances of a pattern.
    pub(super) fn list_more(&mut self, pattern: Pattern) {
        let catalogue = self
            .state
            .document
            .as_ref()
            .and_then(|document| document.catalogue.as_ref());
        let Some(offset) = catalogue.and_then(|catalogue| catalogue.first_unlisted(pattern)) else {
            return;
        };
        self.list_page(Page {
            pattern,
            offset,
            limit: AT_ONCE,
        });
    }

    /// Shows a counted instance, listed or not.
    pub(super) fn show_instance(&mut self, id: ViolationId) {
        let Some(document) = &mut self.state.document else {
            return;
        };
        if document
            .catalogue
            .as_ref()
            .is_some_and(|catalogue| catalogue.place(id).is_some())
        {
            return self.select(id, true);
        }
        document.wish.id = Some(ViolationName::from(id));
        self.list_page(Page {
            pattern: id.pattern,
            offset: u64::from(id.ordinal - 1),
            limit: 1,
        });
    }

    fn list_page(&mut self, page: Page) {
        // Until everything is counted, the list is about to be replaced.
        let Some(document) = self
            .state
            .document
            .as_mut()
            .filter(|document| document.complete)
        else {
            return self.state.tell(
                Tone::Note,
                "Not everything is counted yet: further instances are listed after that",
            );
        };
        let Some((history, catalogue)) = document.history.clone().zip(document.catalogue.clone())
        else {
            return;
        };
        document.tree.lists_more = true;
        self.ask(&MORE, move |control| {
            let answer = list(&history, &catalogue, page, control)?;
            Some((catalogue, answer))
        });
    }

    /// Stops listing further instances at the user's request; returns whether there was such work.
    pub(super) fn stop_listing(&mut self) -> bool {
        let is_at_work = self.tasks.has(&MORE);
        if is_at_work {
            self.end_listing(false);
        }
        is_at_work
    }

    /// Without an answer, the instance that was to be shown is no longer wanted.
    fn end_listing(&mut self, is_answered: bool) {
        self.tasks.cancel(&MORE);
        let Some(document) = &mut self.state.document else {
            return;
        };
        document.tree.lists_more = false;
        if !is_answered {
            document.wish.id = None;
        }
    }
}
