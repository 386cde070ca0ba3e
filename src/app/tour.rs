//! A tour of five steps through one small history: where everything is, and how to go on.

use super::App;
use super::page::Page;
use super::samples;
use super::vocabulary::{Attention, Source};

/// The history that the tour is about.
const SAMPLE: &str = "tap-k-fractured-read.txt";

/// A part of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourTarget {
    /// The strip of levels.
    Levels,
    /// The page in the middle.
    Middle,
    /// The argument on the right.
    Argument,
}

/// One step.
#[derive(Debug)]
pub struct Stop {
    /// What it is about.
    pub title: &'static str,
    /// The explanation.
    pub text: &'static str,
    /// What it points at.
    pub part: TourTarget,
    /// The page it is shown on.
    page: Page,
    /// The step of the argument that is highlighted.
    step: Option<usize>,
}

/// The steps.
pub const STOPS: [Stop; 5] = [
    Stop {
        title: "The levels",
        text: "The strip on top is the hierarchy of isolation levels. Green ones hold, red ones are broken, and a flag marks the \
               weakest that is broken. Click a red one for its smallest anomaly, a green one for an order that explains \
               every read.",
        part: TourTarget::Levels,
        page: Page::Graph,
        step: None,
    },
    Stop {
        title: "The graph",
        text: "Each card is a transaction with the operations that matter. An arrow says that one comes before the other: \
               dotted by its session, blue because it was read, dashed because it is inferred. The thick arrows form a cycle: \
               each of these transactions would have to come before itself.",
        part: TourTarget::Middle,
        page: Page::Graph,
        step: None,
    },
    Stop {
        title: "The argument",
        text: "The right side tells why that is a contradiction, step by step. The arrow keys go through the steps; what a step \
               is about lights up in the graph. “Show me” plays what happened, in order, until a read that is impossible.",
        part: TourTarget::Argument,
        page: Page::Graph,
        step: Some(2),
    },
    Stop {
        title: "Other views of the same",
        text: "The timeline has the anomaly on top and all sessions below; the wheel zooms. The other pages are about the whole \
               file. What is pinned in one view is pinned in all; Esc releases it, Alt and the left arrow go back.",
        part: TourTarget::Middle,
        page: Page::Lanes,
        step: Some(2),
    },
    Stop {
        title: "What if",
        text: "Choose transactions with Shift+click, then press w to check the history without them, or o to check only \
               them: the verdicts appear next to the original ones. Ctrl+P finds everything else by its name.",
        part: TourTarget::Middle,
        page: Page::Graph,
        step: None,
    },
];

impl App {
    /// Begins the tour, goes on, or ends it after the last step.
    pub(super) fn go_on_tour(&mut self, stop: Option<usize>) {
        let Some((at, stop)) = stop.and_then(|at| STOPS.get(at).map(|stop| (at, stop))) else {
            self.state.tour = None;
            return;
        };
        let place = samples::ALL.iter().position(|sample| sample.file == SAMPLE);
        let source = place.map(Source::Sample);
        let is_open = self
            .state
            .document
            .as_ref()
            .is_some_and(|document| Some(&document.source) == source.as_ref());
        if let Some(source) = source.filter(|_| !is_open) {
            self.open(source);
        }
        self.state.tour = Some(at);
        self.state.page = stop.page;
        self.state.show_batch = false;
        self.with_document(|document| document.argument.pinned = stop.step.map(Attention::Step));
    }
}
