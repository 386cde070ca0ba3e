//! The argument for a counterexample, as data: what was observed, what follows, and why that is impossible.
//!
//! The claim is chosen in `claim`, the steps are built in `tell`; the words of both are made in `sentences`.

use super::sentence::{Sentence, say};
use super::sentences::verdict::{self, Standing};
use super::sentences::{Words, facts, orders as orders_in_words};
use super::tell::Teller;
use super::{
    Counterexample, Explanation, Headline, Step, Tested, codes, headline, other_writers, size,
};
use super::{orders, reasons};
use isoscope_check::checkers::{Level, Verdict, Violation};
use isoscope_model::control::Control;
use isoscope_model::history::History;
use isoscope_model::relations::{Edge, EdgeIndex};

/// The argument for `example`. O(edges² + operations), and where it is small the time to decide all levels on it.
pub fn explain(example: &Counterexample) -> Explanation {
    explain_within(example, &Control::new())
}

/// The argument for `example` as in [`explain`]; which orders matter is left out if `control` ends the work before that is known.
pub fn explain_within(example: &Counterexample, control: &Control) -> Explanation {
    let (history, violation) = (&example.history, &example.violation);
    let mut reasons = reasons::reasons(history, &violation.edges, example.level);
    let orders = orders::orders(example, control);
    let words = Words::new(history, &violation.edges);
    for (edge, difference) in example
        .edges_needed(&orders)
        .into_iter()
        .zip(orders.difference.iter().cycle())
    {
        let text = &mut reasons[edge].text;
        *text = say!("{text}{}", orders_in_words::makes_difference(difference));
    }
    let Headline {
        claim,
        title,
        summary,
        ..
    } = headline(history, violation);
    let verdicts: Vec<(Level, &Verdict)> = example
        .verdicts
        .iter()
        .map(|(level, verdict)| (*level, verdict))
        .collect();
    let standing = Standing::of(&verdicts);
    Explanation {
        claim,
        codes: codes(history, violation),
        title,
        summary,
        breaks: verdict::breaks(example, &standing, &orders),
        argued: verdict::argued(example, &standing),
        weakest: orders_in_words::weakest(history, &orders, &standing.broken),
        standing,
        tested: Tested::default().line(example, &orders, (false, false)),
        promised: None,
        difference: orders
            .difference
            .as_ref()
            .map(|difference| orders_in_words::difference(&words, difference)),
        orders,
        faults: facts::faults(&example.history),
        doubt: None,
        whole: None,
        shows: example.shows,
        told_by: None,
        contains: None,
        taken: other_writers::taken(example),
        checked: None,
        assumptions: facts::assumptions(example),
        steps: steps(history, violation, example.level),
        reasons,
        size: size(example),
    }
}

impl Explanation {
    /// This explanation with what was tested.
    #[must_use]
    pub fn of_tested(mut self, example: &Counterexample, tested: &Tested) -> Explanation {
        let has_simpler = self.told_by.is_some() || self.contains.is_some();
        let known = (self.doubt.is_some(), has_simpler);
        self.tested = tested.line(example, &self.orders, known);
        self.promised = tested.note();
        self
    }
}

/// The statements of a violation of `history`, in an argument about `level`. O(edges² + operations it is about).
pub fn steps(history: &History, violation: &Violation, level: Level) -> Vec<Step> {
    Teller::new(&Words::new(history, &violation.edges), violation, level).tell()
}

/// Why edge `index` of `edges` is there, in a sentence, in an argument about `level`.
pub fn edge_reason(history: &History, edges: &[Edge], index: EdgeIndex, level: Level) -> Sentence {
    edges
        .get(index)
        .map(|edge| Words::new(history, edges).reason(edge, level))
        .unwrap_or_default()
}
