//! The shape of a violation, without names: the same bug in two histories gives the same signature.

use super::Counterexample;
use isoscope_check::checkers::{Proof, Violation};
use isoscope_model::history::KeyId;
use isoscope_model::relations::{Axiom, Edge, EdgeIndex, Reason, Relation};

/// What a counterexample looks like without names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Its [`signature`].
    pub text: String,
    /// The steps of the cycle that comes first in it; none if reads alone are wrong.
    pub cycle: Vec<Relation>,
}

/// The signature of a counterexample, such as `RA TAP-k: CM a (WR), SO`: level, pattern and the shape of its cycle,
/// independent of names, ids, values, sessions, the order in the file and of how long the causal paths are.
///
/// A path of session order and reads of more than one step counts as one step `CO`. An inferred order gives its
/// evidence for the older version in parentheses. Keys are lettered in order of appearance, starting at the step that
/// makes the signature alphabetically first. Cases are separated by `|`, in alphabetical order. O(edges²).
pub fn signature(example: &Counterexample) -> String {
    shape(example).text
}

/// The signature and its first cycle.
pub fn shape(example: &Counterexample) -> Shape {
    let violation = &example.violation;
    let mut shapes: Vec<(String, Vec<Relation>)> = Vec::new();
    for part in violation.proof.parts() {
        match part {
            Proof::Reads(None) => {}
            Proof::Reads(Some(wrong)) => {
                let text = format!("{} of {}", wrong.pattern, wrong.reads.len());
                shapes.push((text, Vec::new()));
            }
            Proof::Cycle(cycle) => shapes.push(cycle_shape(violation, cycle)),
            // Which cycles exclude all orders depends on the search.
            _ if part.is_log_of_orders() => shapes.push(("many orders".to_owned(), Vec::new())),
            Proof::Cases { .. } | Proof::Log { .. } => {}
        }
    }
    shapes.sort_unstable();
    shapes.dedup();
    let head = format!("{} {}", example.level.code(), violation.id.pattern);
    let texts: Vec<&str> = shapes.iter().map(|(text, _)| text.as_str()).collect();
    let text = if texts.is_empty() {
        head
    } else {
        format!("{head}: {}", texts.join(" | "))
    };
    Shape {
        text,
        cycle: shapes
            .into_iter()
            .next()
            .map(|(_, cycle)| cycle)
            .unwrap_or_default(),
    }
}

/// A step of a cycle: its kind and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StepShape {
    relation: Relation,
    key: Option<KeyId>,
    seen: &'static str,
    from_initial: bool,
    to_initial: bool,
}

/// The alphabetically first of the descriptions that begin at each step, and its steps.
fn cycle_shape(violation: &Violation, cycle: &[EdgeIndex]) -> (String, Vec<Relation>) {
    let edges: Vec<&Edge> = cycle
        .iter()
        .filter_map(|&e| violation.edges.get(e))
        .collect();
    // Begin after a step that is inferred, so that no path of observed steps is cut in two.
    let begin = edges
        .iter()
        .position(|edge| !is_observed(edge))
        .map_or(0, |place| place + 1);
    let mut steps: Vec<StepShape> = Vec::new();
    for place in 0..edges.len() {
        let edge = edges[(begin + place) % edges.len()];
        match steps.last_mut() {
            Some(last) if is_observed(edge) && is_seen(last.relation) => {
                last.relation = Relation::CausalOrder;
                last.key = None;
                last.to_initial = edge.to.is_initial();
            }
            _ => steps.push(step_shape(violation, edge)),
        }
    }
    let relations = |first: usize| {
        steps[first..]
            .iter()
            .chain(&steps[..first])
            .map(|step| step.relation)
            .collect()
    };
    let rotations = (0..steps.len()).map(|first| (described(&steps, first), relations(first)));
    rotations.min().unwrap_or_default()
}

fn is_observed(edge: &Edge) -> bool {
    is_seen(edge.relation)
}

fn is_seen(relation: Relation) -> bool {
    matches!(
        relation,
        Relation::SessionOrder | Relation::WriteRead | Relation::CausalOrder
    )
}

fn step_shape(violation: &Violation, edge: &Edge) -> StepShape {
    // With one operation each a path is as good as its steps.
    let key = edge.key.filter(|_| {
        !matches!(
            edge.relation,
            Relation::SessionOrder | Relation::CausalOrder
        )
    });
    let seen = match &edge.because {
        Reason::Visible { axiom, seen, .. } => seen_shape(violation, *axiom, seen),
        Reason::Conflict { .. } => "conflict",
        Reason::Listed { .. } => "list",
        Reason::Assumed => "either",
        _ => "",
    };
    StepShape {
        relation: edge.relation,
        key,
        seen,
        from_initial: edge.from.is_initial(),
        to_initial: edge.to.is_initial(),
    }
}

/// By what t3 sees t2.
fn seen_shape(violation: &Violation, axiom: Axiom, seen: &[EdgeIndex]) -> &'static str {
    let edges: Vec<&Edge> = seen
        .iter()
        .filter_map(|&e| violation.edges.get(e))
        .collect();
    match edges.as_slice() {
        [one] if one.relation == Relation::SessionOrder => "SO",
        [one] if one.relation == Relation::WriteRead => "WR",
        some if axiom != Axiom::CommitOrder || some.iter().all(|edge| is_observed(edge)) => "CO",
        _ => "CM",
    }
}

fn described(steps: &[StepShape], first: usize) -> String {
    let mut keys: Vec<KeyId> = Vec::new();
    let mut parts = Vec::new();
    for place in 0..steps.len() {
        let step = &steps[(first + place) % steps.len()];
        let mut text = step.relation.code().to_owned();
        if let Some(key) = step.key {
            let number = keys.iter().position(|k| *k == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            });
            text += &format!(" {}", letter(number));
        }
        if !step.seen.is_empty() {
            text += &format!(" ({})", step.seen);
        }
        if step.from_initial {
            text = format!("⊥ {text}");
        }
        if step.to_initial {
            text += " ⊥";
        }
        parts.push(text);
    }
    parts.join(", ")
}

/// `a` to `z`, then `a1`, `b1`, …
fn letter(number: usize) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    if number < 26 {
        letter.to_string()
    } else {
        format!("{letter}{}", number / 26)
    }
}
