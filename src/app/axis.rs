//! What left and right mean among all lanes: time, or a number that the log has for every transaction.

use super::App;
use super::page::Page;
use super::state::Document;
use super::tasks::{Failure, Task};
use crate::diagram::timeline::Timeline;
use crate::formats::fields;
use crate::history::TransactionId;
use crate::jobs;
use std::sync::Arc;

/// What the horizontal place of a transaction says among all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanesAxis {
    /// The order in which what was read spread, or time with idle stretches cut short.
    Compressed,
    /// The clock.
    Time,
    /// The field at this place among those that are numbers.
    Number(usize),
}

/// Finding out which fields of the log are numbers that lanes can be drawn by.
static NUMBERS: Task<Arc<Vec<Timeline>>> =
    Task::new("numbers", Failure::Page(Page::Lanes), |app, numbers| {
        if let Some(document) = &mut app.state.document {
            jobs::replace(&mut document.numbers, Some(numbers));
        }
    });

impl Document {
    /// The axes by which all lanes can be drawn.
    pub(crate) fn axes(&self) -> Vec<LanesAxis> {
        let has_clock = self.timeline.as_ref().is_some_and(|it| it.clock.is_some());
        let time = has_clock.then_some(LanesAxis::Time);
        let n = self.numbers.as_ref().map_or(0, |numbers| numbers.len());
        let first = [LanesAxis::Compressed].into_iter().chain(time);
        first.chain((0..n).map(LanesAxis::Number)).collect()
    }

    /// The axis by which they are drawn.
    pub(crate) fn axis(&self, true_time: bool) -> LanesAxis {
        let has_clock = self.timeline.as_ref().is_some_and(|it| it.clock.is_some());
        match self.by_number {
            Some(place) if self.number_axis().is_some() => LanesAxis::Number(place),
            _ if true_time && has_clock => LanesAxis::Time,
            _ => LanesAxis::Compressed,
        }
    }

    /// The field that is chosen as axis.
    pub(crate) fn number_axis(&self) -> Option<&Timeline> {
        self.numbers.as_ref()?.get(self.by_number?)
    }

    /// The number of a transaction on that axis: `lsn 17`.
    pub(crate) fn number_of(&self, transaction: TransactionId) -> Option<String> {
        self.number_axis()?.number_of(transaction)
    }

    /// The name of an axis.
    pub(crate) fn axis_name(&self, axis: LanesAxis) -> &str {
        let has_clock = self.timeline.as_ref().is_some_and(|it| it.clock.is_some());
        match axis {
            LanesAxis::Compressed if has_clock => "time, gaps compressed",
            LanesAxis::Compressed => "causal depth",
            LanesAxis::Time => "true time",
            LanesAxis::Number(place) => {
                let timeline = self.numbers.as_ref().and_then(|numbers| numbers.get(place));
                let clock = timeline.and_then(|timeline| timeline.clock.as_ref());
                let numbers = clock.and_then(|clock| clock.numbers.as_ref());
                numbers.map_or("", |numbers| &numbers.name)
            }
        }
    }
}

impl App {
    /// Finds out which axes there are besides time, in the background.
    pub(super) fn prepare_numbers(&mut self) {
        let history = self
            .state
            .document
            .as_ref()
            .and_then(|it| it.history.clone());
        let Some(history) = history.filter(|_| !self.tasks.has(&NUMBERS)) else {
            return;
        };
        self.ask(&NUMBERS, move |control| {
            let axis = |(name, values): (String, Vec<Option<f64>>)| {
                Timeline::of_numbers(&history, &name, &values, control).ok()
            };
            let numbers = fields::numbers(&history, control).into_iter();
            numbers.map(axis).collect::<Option<_>>().map(Arc::new)
        });
    }

    /// Draws all lanes by this axis.
    pub(super) fn choose_axis(&mut self, axis: LanesAxis) {
        let number = match axis {
            LanesAxis::Number(place) => Some(place),
            LanesAxis::Compressed | LanesAxis::Time => None,
        };
        if let Some(document) = &mut self.state.document {
            document.by_number = number;
        }
        if number.is_none() {
            self.state.preferences.true_time = axis == LanesAxis::Time;
        }
    }

    /// Draws all lanes by the next axis.
    pub(super) fn next_axis(&mut self) {
        let Some(document) = &self.state.document else {
            return;
        };
        let (axes, now) = (
            document.axes(),
            document.axis(self.state.preferences.true_time),
        );
        let at = axes.iter().position(|axis| *axis == now);
        if let Some(next) = axes.get(at.map_or(0, |at| (at + 1) % axes.len())) {
            self.choose_axis(*next);
        }
    }
}
