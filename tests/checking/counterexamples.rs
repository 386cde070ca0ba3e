//! Counterexamples are true, have nothing to spare, and show what they were asked to show.

use crate::common;

use common::oracle::{self, LEVELS};
use common::parts;
use common::random::{Shape, for_histories, is_chosen};
use common::{corpus, examine};
use isoscope::checkers::{
    self, Checker, Level, LevelResult, Options, Pattern, Proof, Question, Verdict, Violation,
};
use isoscope::control::Control;
use isoscope::counterexample::replay::{self, Action, Explained};
use isoscope::counterexample::{
    self, Counterexample, LayerKind, Minimality, Minimizer, Shows, Step, StepRole,
};
use isoscope::formats;
use isoscope::history::{History, OperationId, OperationKind, TransactionId};
use isoscope::relations::{Edge, Reason, Relation};
use rayon::prelude::*;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Histories per shape in the ordinary run, and in the long one.
const HISTORIES: u64 = 250;
const MANY: u64 = 2_500;

/// Violations looked at per history.
const PER_HISTORY: usize = 5;

/// Brute force takes that many transactions.
const BRUTE: usize = 8;

fn text(history: &History) -> String {
    let mut text = Vec::new();
    formats::write(history, "text", &mut text).expect("writing to memory");
    String::from_utf8_lossy(&text).into_owned()
}

/// The pattern that must not change; cycles without a name may turn out to have one.
fn named(pattern: Pattern) -> Option<Pattern> {
    (!matches!(
        pattern,
        Pattern::SICycle | Pattern::SERCycle | Pattern::RealTimeCycle
    ))
    .then_some(pattern)
}

/// Whether a level is violated, by brute force where that is possible.
fn is_violated(history: &History, level: Level) -> bool {
    match LEVELS.iter().position(|l| *l == level) {
        Some(place) if history.n_transactions() <= BRUTE => !oracle::verdicts(history)[place],
        _ => parts::is_violated(history, level, None),
    }
}

/// The papers' algorithms must call the level violated, if they take such histories.
fn papers_agree(history: &History, level: Level) -> Result<(), String> {
    let papers = [
        Checker::Plume,
        Checker::BiswasEneaSaturation,
        Checker::BiswasEneaSearch,
        Checker::PolySi,
        Checker::C4,
    ];
    // C4 has no word for TAP-e, so it is asked at causal consistency only where the others answer, too.
    for checker in papers
        .into_iter()
        .filter(|checker| *checker != Checker::C4 && checker.levels().contains(&level))
    {
        let options = Options {
            levels: vec![level],
            ..Options::default()
        };
        let found = isoscope::papers::check(history, checker, &options, &Control::new(), &|_| {});
        if matches!(
            found.level(level).map(|result| &result.verdict),
            Some(Verdict::Satisfied(_))
        ) {
            return Err(format!("satisfies {level} according to {checker}"));
        }
    }
    Ok(())
}

/// What removing a part must show for the claim to be true.
fn claim_holds(rest: Option<History>, claim: Minimality, level: Level, shown: &Violation) -> bool {
    let Some(rest) = rest else { return true };
    match claim {
        Minimality::Smallest | Minimality::SmallestForPattern | Minimality::Irreducible => {
            !is_violated(&rest, level)
        }
        Minimality::IrreducibleForPattern => match named(shown.id.pattern) {
            // An instance that follows from a simpler anomaly is no other one.
            Some(pattern) if !shown.implied => {
                !parts::is_violated_by_itself(&rest, level, pattern, None)
            }
            Some(pattern) => !parts::is_violated(&rest, level, Some(pattern)),
            // What breaks a weaker level, too, is another anomaly.
            None => !parts::is_violated_alone(&rest, level),
        },
        Minimality::Reduced => true,
    }
}

/// Whether what a counterexample shows breaks a weaker level by reads alone on which the chosen violation rests: where a
/// part of an anomaly is one of its own, the part is shown. A cause may conclude an order of the chosen one from other reads.
fn is_within(history: &History, example: &Counterexample, chosen: &Violation) -> bool {
    let rests_on = counterexample::involved_operations(chosen);
    // The same may have been read several times.
    let is_same = |a: OperationId, b: OperationId| {
        let text = |o: OperationId| (history.transaction_of(o), history.operation_text(o));
        text(a) == text(b)
    };
    let is_known = |read: &OperationId| {
        let original = example.renaming.operations[read.index()];
        rests_on.iter().any(|&known| is_same(known, original))
    };
    let original = |t: TransactionId| {
        if t.is_initial() {
            t
        } else {
            example.renaming.transactions[t.index()]
        }
    };
    let is_shared = |edge: &Edge| {
        let ends = (original(edge.from), original(edge.to));
        in_cycle(chosen).any(|edge| (edge.from, edge.to) == ends)
            || matches!(edge.because, Reason::Visible { read, .. } if is_known(&read))
    };
    let mut concluded = in_cycle(&example.violation)
        .filter(|edge| is_concluded(edge))
        .peekable();
    if example.shows == Shows::Cause && concluded.peek().is_some() {
        return concluded.all(is_shared);
    }
    let is_read = |o: &OperationId| example.history.operation(*o).kind == OperationKind::Read;
    let mut reads = counterexample::involved_operations(&example.violation)
        .into_iter()
        .filter(is_read)
        .peekable();
    reads.peek().is_some()
        && (example.shows == Shows::Cause
            || example.violation.levels.weakest() < chosen.levels.weakest())
        && reads.all(|read| is_known(&read))
}

fn is_concluded(edge: &Edge) -> bool {
    !edge.because.premises().is_empty()
}

fn in_cycle(violation: &Violation) -> impl Iterator<Item = &Edge> {
    violation
        .proof
        .cycle_edges()
        .into_iter()
        .map(|edge| &violation.edges[edge])
}

/// An order in the cycle that was concluded although their session or a read of the argument shows it.
fn idle_order<'v>(history: &History, violation: &'v Violation) -> Option<&'v Edge> {
    conclusions(violation).find(|edge| is_observed(history, violation, (edge.from, edge.to)))
}

/// Whether a cycle concludes an order of two transactions whose order their session or a read of the argument shows, or one
/// that sessions and reads contradict: then a simpler anomaly of these is shown, whichever it is.
fn may_have_a_cause(history: &History, violation: &Violation) -> bool {
    let is_shown = |edge: &Edge| {
        let reached = parts::observed_after(history, edge.to, &violation.transactions);
        is_observed(history, violation, (edge.from, edge.to)) || reached.contains(&edge.from)
    };
    violation.implied || conclusions(violation).any(is_shown)
}

fn is_observed(
    history: &History,
    violation: &Violation,
    ends: (TransactionId, TransactionId),
) -> bool {
    let reads =
        |other: &Edge| other.relation == Relation::WriteRead && (other.from, other.to) == ends;
    let in_session = ends.0 < ends.1 && history.session_of(ends.0) == history.session_of(ends.1);
    in_session || violation.edges.iter().any(reads)
}

/// The orders that a cycle concludes of two transactions, ⊥ apart.
fn conclusions(violation: &Violation) -> impl Iterator<Item = &Edge> {
    let is_set_up = |edge: &Edge| edge.from.is_initial() || edge.to.is_initial();
    in_cycle(violation).filter(move |edge| is_concluded(edge) && !is_set_up(edge))
}

/// Whether the transactions of the chosen violation, by themselves, are a cycle without a name. The engine lists one
/// shortest cycle of a set of transactions; where there are several, which one it is may depend on other transactions.
fn has_another_name(history: &History, chosen: &Violation, pattern: Pattern) -> bool {
    let level = chosen.levels.weakest().expect("it violates something");
    let outside = |o: OperationId| !chosen.transactions.contains(&history.transaction_of(o));
    let alone = parts::without(history, outside);
    named(pattern).is_none()
        && alone.is_some_and(|part| !parts::is_violated(&part, level, Some(chosen.id.pattern)))
}

/// Looks at one counterexample from all sides.
fn is_right(history: &History, violation: &Violation) -> Result<Counterexample, String> {
    let example = counterexample::minimize(history, violation, &Control::new());
    let small = &example.history;
    let (level, pattern) = (example.level, example.violation.id.pattern);
    let problem = |what: String| {
        let (of_transactions, of_operations) = (
            example.minimality.word(),
            example.operation_minimality.word(),
        );
        let claims = format!("{of_transactions}, operations {of_operations}");
        Err(format!(
            "{}: counterexample to {level} ({claims}) {what}\n{}",
            violation.id,
            text(small)
        ))
    };
    let is_level =
        |argued: Level| argued == level || example.shows != Shows::Chosen && argued > level;
    if !violation.level().is_some_and(is_level) || !example.violation.levels.contains(level) {
        return problem("is not about the level of the violation".to_owned());
    }
    let keeps_its_name = named(violation.id.pattern).is_none_or(|wanted| wanted == pattern);
    let may_differ = match example.shows {
        Shows::Chosen => false,
        Shows::Cause => may_have_a_cause(history, violation),
        Shows::AnotherInstance => true,
    };
    if !keeps_its_name
        && named(pattern).is_some()
        && !may_differ
        && !is_within(history, &example, violation)
        && !has_another_name(history, violation, pattern)
    {
        return problem(format!("turned into {pattern}"));
    }
    if !parts::is_violated(small, level, Some(pattern)) && named(pattern).is_some() {
        return problem("does not show its pattern".to_owned());
    }
    if !is_violated(small, level) {
        return problem("violates nothing".to_owned());
    }
    if let Err(what) = papers_agree(small, level) {
        return problem(what);
    }
    // A report names SSER and LIN only where they were decided.
    let decided = |(level, verdict): &(Level, Verdict)| {
        LevelResult::new(*level, verdict.clone(), "fast", 0.0)
    };
    let levels = example
        .verdicts
        .iter()
        .filter(|(_, verdict)| *verdict == Verdict::Violated)
        .map(decided)
        .collect();
    if let Err(what) = examine::alone(small, levels, &example.violation) {
        return problem(format!("has no evidence: {what}"));
    }
    for (new, &old) in example.renaming.operations.iter().enumerate() {
        let new = OperationId::new(new);
        // Lists lose what no transaction appends any more.
        let is_list = history.lists().read_by(old).is_some();
        if !is_list && small.operation_text(new) != history.operation_text(old) {
            return problem("has other operations".to_owned());
        }
    }
    if example.minimality == Minimality::Reduced
        || example.operation_minimality == Minimality::Reduced
    {
        return problem("is not minimal".to_owned());
    }
    for t in small.transactions() {
        if !claim_holds(
            parts::without_transaction(small, t),
            example.minimality,
            level,
            &example.violation,
        ) {
            return problem(format!("needs no {}", small.transaction_name(t)));
        }
    }
    for o in (0..small.n_operations()).map(OperationId::new) {
        if !claim_holds(
            parts::without_operation(small, o),
            example.operation_minimality,
            level,
            &example.violation,
        ) {
            let t = small.transaction_name(small.transaction_of(o));
            return problem(format!("needs no {} of {t}", small.operation_text(o)));
        }
    }
    if let Err(what) = is_told(&example) {
        return problem(what);
    }
    Ok(example)
}

/// Layers, cases, reasons and runs say what the violation says.
fn is_told(example: &Counterexample) -> Result<(), String> {
    let violation = &example.violation;
    let explanation = counterexample::explain(example);
    if explanation.reasons.len() != violation.edges.len() {
        return Err("has edges without a reason".to_owned());
    }
    for (edge, reason) in explanation.reasons.iter().enumerate() {
        let short =
            counterexample::edge_reason(&example.history, &violation.edges, edge, example.level);
        if !reason.long.starts_with(&*short) || !reason.long.contains(reason.quotation.formula) {
            return Err(format!("quotes nothing: {}", reason.long));
        }
    }
    conclusions_name_their_premises(violation, &explanation.steps)?;
    let last = explanation.steps.last().ok_or("is not told")?;
    if last.role != StepRole::Contradiction || (last.long.is_empty() && !last.edges.is_empty()) {
        return Err(format!("ends in {last:?}"));
    }
    layers_fit(example)?;
    cases_fit(example)?;
    run_fits(example)
}

/// A line that concludes an edge names the lines of its case that state what the edge rests on.
fn conclusions_name_their_premises(violation: &Violation, steps: &[Step]) -> Result<(), String> {
    for (place, step) in steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.role == StepRole::Concluded)
    {
        let [edge] = step.edges[..] else { continue };
        for premise in violation.edges[edge].because.premises() {
            let states = |&before: &usize| {
                steps[before].case == step.case && steps[before].edges.contains(premise)
            };
            let mut stated = (0..place).filter(states).peekable();
            if stated.peek().is_some() && !stated.any(|before| step.premises.contains(&before)) {
                return Err(format!(
                    "does not say what line {} follows from: {}",
                    place + 1,
                    step.text
                ));
            }
        }
    }
    Ok(())
}

/// Played to the end, layers show exactly the argument.
fn layers_fit(example: &Counterexample) -> Result<(), String> {
    let interpretation = counterexample::interpret(example);
    let edges = &example.violation.edges;
    let kinds: Vec<LayerKind> = interpretation
        .layers
        .iter()
        .map(|layer| layer.kind)
        .collect();
    if kinds.first() != Some(&LayerKind::Recover)
        || !kinds.is_sorted()
        || interpretation.edges[..edges.len()] != edges[..]
    {
        return Err(format!("has layers {kinds:?}"));
    }
    let shown = interpretation.shown(kinds.len());
    let drawn = counterexample::edges_to_draw(&example.violation);
    if shown.edges != drawn {
        return Err(format!(
            "ends its layers with edges {:?}, not {drawn:?}",
            shown.edges
        ));
    }
    let (transactions, operations) = (
        example.history.n_transactions(),
        example.history.n_operations(),
    );
    let all = drawn.len() == edges.len();
    if all
        && (
            shown
                .transactions
                .iter()
                .filter(|t| !t.is_initial())
                .count(),
            shown.operations.len(),
        ) != (transactions, operations)
    {
        let needed = format!("{transactions} transactions and {operations} operations");
        return Err(format!("shows {shown:?} of {needed}"));
    }
    for alternative in &interpretation.alternatives {
        let (held, rejected) = (
            &interpretation.edges[alternative.instead_of],
            &interpretation.edges[alternative.edge],
        );
        if (held.from, held.to) != (rejected.to, rejected.from) || alternative.text.is_empty() {
            return Err(format!(
                "has an alternative to another edge: {alternative:?}"
            ));
        }
        let cycle: Vec<_> = alternative
            .cycle
            .iter()
            .map(|&e| &interpretation.edges[e])
            .collect();
        let closes =
            (0..cycle.len()).all(|place| cycle[place].to == cycle[(place + 1) % cycle.len()].from);
        if !closes {
            return Err(format!(
                "has an alternative that closes nothing: {alternative:?}"
            ));
        }
    }
    Ok(())
}

/// Every leaf ends in a cycle or in reads, and assumes both sides of every question.
fn cases_fit(example: &Counterexample) -> Result<(), String> {
    let violation = &example.violation;
    let is_divided = matches!(
        violation.proof,
        Proof::Cases {
            question: Question::Order { .. } | Question::Writer { .. },
            ..
        }
    );
    let Some(tree) = counterexample::case_tree(&example.history, violation) else {
        return if is_divided {
            Err("has no cases".to_owned())
        } else {
            Ok(())
        };
    };
    for (place, node) in tree.nodes.iter().enumerate() {
        let ends = !node.cycle.is_empty() || !node.reads.is_empty();
        if node.open.is_some() == node.children.is_empty()
            || ends == node.open.is_some()
            || node.text.is_empty()
        {
            return Err(format!(
                "has a case that neither goes on nor ends: {node:?}"
            ));
        }
        if node
            .children
            .iter()
            .any(|&child| child <= place || tree.nodes[child].parent != Some(place))
        {
            return Err(format!("has a case without a place: {node:?}"));
        }
        if (place == 0) != node.supposes.is_none() {
            return Err(format!("supposes nothing: {node:?}"));
        }
        let cycle: Vec<_> = node.cycle.iter().map(|&e| &violation.edges[e]).collect();
        if (0..cycle.len()).any(|at| cycle[at].to != cycle[(at + 1) % cycle.len()].from) {
            return Err(format!("has a case without a cycle: {node:?}"));
        }
    }
    Ok(())
}

/// Every operation and every end is a step once, in program order and session order, and states follow from each other.
fn run_fits(example: &Counterexample) -> Result<(), String> {
    let history = &example.history;
    let run = replay::run(example, &Control::new());
    let operations: Vec<OperationId> = run
        .steps
        .iter()
        .filter_map(|step| match step.action {
            Action::Operation(o) => Some(o),
            Action::Begin | Action::Commit | Action::Abort => None,
        })
        .collect();
    let ends = run.steps.len() - operations.len();
    let acting = history
        .transactions()
        .filter(|&t| history.operations_of(t).len() > 0)
        .count();
    if (operations.len(), ends) != (history.n_operations(), acting) {
        return Err(format!("runs {operations:?} and {ends} ends"));
    }
    for session in history.sessions() {
        let of_session = operations
            .iter()
            .copied()
            .filter(|&o| history.session_of(history.transaction_of(o)) == session);
        if !of_session.collect::<Vec<_>>().is_sorted() {
            return Err("runs a session out of order".to_owned());
        }
    }
    if run
        .steps
        .windows(2)
        .any(|pair| pair[0].after != pair[1].before)
    {
        return Err("runs with gaps".to_owned());
    }
    for step in &run.steps {
        let Action::Operation(o) = step.action else {
            continue;
        };
        let operation = history.operation(o);
        let state = step
            .before
            .iter()
            .find(|state| state.key == operation.key)
            .ok_or("runs without a key")?;
        let now = state.committed.last().map(|&w| history.operation(w).value);
        if step.explained == Explained::Current
            && now.is_some_and(|now| now != operation.value)
            && history.lists().read_by(o).is_none()
        {
            return Err(format!("calls current what is not: {}", step.text));
        }
    }
    Ok(())
}

fn random_counterexamples(histories: u64) {
    let seen: Mutex<BTreeMap<&str, u64>> = Mutex::default();
    for shape in [Shape::SMALL, Shape::CLEAN] {
        for_histories(shape, histories, |sketch| {
            let history = sketch.history();
            let findings = examine::check(&history);
            findings
                .violations
                .iter()
                .take(PER_HISTORY)
                .try_for_each(|violation| {
                    let example = is_right(&history, violation)?;
                    let mut seen = seen.lock().expect("no test panics");
                    *seen.entry(example.minimality.word()).or_default() += 1;
                    let keeps_name = example.shows == Shows::Cause
                        || named(violation.id.pattern)
                            .is_none_or(|wanted| wanted == example.violation.id.pattern);
                    *seen.entry("another name").or_default() += u64::from(!keeps_name);
                    let is_idle = idle_order(&example.history, &example.violation).is_some();
                    *seen.entry("concludes what was observed").or_default() += u64::from(is_idle);
                    Ok(())
                })
        });
    }
    let seen = seen.into_inner().expect("no test panics");
    println!("{seen:?}");
    let looked_at: u64 = [
        "smallest",
        "smallest for this pattern",
        "irreducible",
        "irreducible for this pattern",
    ]
    .into_iter()
    .filter_map(|word| seen.get(word))
    .sum();
    // Where the transactions of an anomaly are in a cycle of sessions and reads as well, what is simpler is not listed.
    let most_idle = 3 + looked_at / 200;
    assert!(
        seen["smallest"] > looked_at / 2 && seen["another name"] <= 1 + looked_at / 50,
        "{seen:?}"
    );
    assert!(seen["concludes what was observed"] <= most_idle, "{seen:?}");
}

#[test]
fn counterexamples_are_true_and_have_nothing_to_spare() {
    random_counterexamples(HISTORIES);
}

#[test]
#[ignore = "takes some minutes"]
fn thousands_of_counterexamples_are_true_and_have_nothing_to_spare() {
    random_counterexamples(MANY);
}

/// The tiny histories as the table gives them.
fn tiny() -> Vec<(String, History)> {
    let path = common::repository("tests/data/tiny-histories.json");
    let table = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&table).expect("the table is JSON");
    let rows = table["histories"].as_array().expect("rows").iter();
    let string = |json: &Json| json.as_str().expect("a string").to_owned();
    rows.map(|row| (string(&row["name"]), common::history(&string(&row["text"]))))
        .collect()
}

fn tiny_named(name: &str) -> History {
    tiny()
        .into_iter()
        .find(|(n, _)| n == name)
        .unwrap_or_else(|| panic!("no {name}"))
        .1
}

#[test]
fn counterexamples_of_the_tiny_histories_are_right() {
    for (name, history) in tiny() {
        for violation in &examine::check(&history).violations {
            is_right(&history, violation).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        }
    }
}

/// Eight transactions, two pairs of writers of which nothing orders either: a tree of two cases that end in a cycle each.
#[test]
fn what_no_single_cycle_explains_is_told_case_by_case() {
    let history = tiny_named("case-split-grid");
    let findings = examine::check(&history);
    let [violation] = findings.violations.as_slice() else {
        panic!("{:?}", findings.violations)
    };
    let example = is_right(&history, violation).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(example.minimality, Minimality::Smallest);
    assert_eq!(
        (example.history.n_transactions(), example.level),
        (8, Level::PrefixConsistency)
    );
    let tree = counterexample::case_tree(&example.history, &example.violation).expect("cases");
    let labels: Vec<String> = tree
        .nodes
        .iter()
        .map(|node| node.label.to_string())
        .collect();
    assert_eq!(labels, ["", "1", "2"]);
    assert!(tree.leaves().all(|leaf| !leaf.cycle.is_empty()));
    let interpretation = counterexample::interpret(&example);
    let open: BTreeSet<_> = interpretation
        .layers
        .iter()
        .flat_map(|layer| &layer.open)
        .collect();
    assert_eq!(open.len(), 2, "one pair stays open, with both its orders");
}

/// Result and fewest possible, by level, where a part is looked for that shows the pattern of the violation.
#[derive(Default)]
struct Sizes {
    n: u64,
    smallest: u64,
    excess: BTreeMap<usize, u64>,
}

impl Sizes {
    fn add(&mut self, found: usize, fewest: usize) {
        self.n += 1;
        self.smallest += u64::from(found == fewest);
        *self.excess.entry(found - fewest).or_default() += 1;
    }
}

/// Whether the part that a counterexample names, cut out by the tests' own code, shows its pattern. Brute force keeps all
/// reads; there may be fewer transactions where one is left out that is an anomaly of its own, or that makes the same cycle
/// break a weaker level, where it has another name.
fn is_part_that_shows_it(history: &History, example: &Counterexample) -> bool {
    let kept: BTreeSet<OperationId> = example.renaming.operations.iter().copied().collect();
    let part = parts::without(history, |o| !kept.contains(&o));
    part.is_some_and(|part| {
        parts::is_violated(&part, example.level, named(example.violation.id.pattern))
    })
}

/// Compares with all parts of small histories: the best of the listed violations of each level, which is what is shown
/// first, and all violations.
fn compare_sizes(histories: u64) -> [Sizes; 2] {
    let sizes: Mutex<[Sizes; 2]> = Mutex::default();
    for shape in [Shape::SMALL, Shape::CLEAN] {
        for_histories(shape, histories, |sketch| {
            let history = sketch.history();
            let findings = examine::check(&history);
            for level in LEVELS {
                let of_level = findings
                    .violations
                    .iter()
                    .filter(|v| v.levels.weakest() == Some(level));
                let mut candidates: Vec<&Violation> = of_level.collect();
                candidates.sort_by_key(|v| (v.implied, v.size(), v.edges.len(), v.id));
                let mut fewest_of: BTreeMap<(Level, Option<Pattern>), usize> = BTreeMap::new();
                for (place, violation) in candidates.into_iter().take(PER_HISTORY).enumerate() {
                    let example = counterexample::minimize(&history, violation, &Control::new());
                    // A consequence is shown by its cause.
                    let pattern = match example.shows {
                        Shows::Cause => named(example.violation.id.pattern),
                        _ => named(violation.id.pattern),
                    };
                    let level = example.level;
                    let fewest = match fewest_of.get(&(level, pattern)) {
                        Some(fewest) => *fewest,
                        None => match parts::fewest(&history, level, pattern) {
                            Some(fewest) => fewest,
                            None if is_part_that_shows_it(&history, &example) => {
                                example.history.n_transactions()
                            }
                            None => return Err("nothing violates the level".to_owned()),
                        },
                    };
                    fewest_of.insert((level, pattern), fewest);
                    let found = example.history.n_transactions();
                    if found < fewest && !is_part_that_shows_it(&history, &example) {
                        return Err(format!(
                            "{}: {found} transactions, brute force finds {fewest}",
                            violation.id
                        ));
                    }
                    let fewest = fewest.min(found);
                    let least = match (example.minimality, pattern) {
                        (Minimality::Smallest, _) => {
                            parts::fewest(&history, level, None).unwrap_or(found)
                        }
                        (Minimality::SmallestForPattern, Some(_)) => fewest,
                        _ => found,
                    };
                    if found > least {
                        return Err(format!(
                            "{}: {found} are no smallest, {least} suffice",
                            violation.id
                        ));
                    }
                    let [best, all] = &mut *sizes.lock().expect("no test panics");
                    if place == 0 {
                        best.add(found, fewest);
                    }
                    all.add(found, fewest);
                }
            }
            Ok(())
        });
    }
    sizes.into_inner().expect("no test panics")
}

fn nearly_all_are_smallest(histories: u64) {
    let [best, all] = compare_sizes(histories);
    for (what, sizes) in [("first shown", &best), ("all", &all)] {
        println!(
            "{what}: {} of {} smallest, transactions too many: {:?}",
            sizes.smallest, sizes.n, sizes.excess
        );
    }
    assert!(
        best.smallest * 100 >= best.n * 95,
        "{} of {}",
        best.smallest,
        best.n
    );
    assert!(
        all.smallest * 100 >= all.n * 90,
        "{} of {}",
        all.smallest,
        all.n
    );
}

#[test]
fn nearly_all_are_as_small_as_can_be() {
    nearly_all_are_smallest(HISTORIES / 2);
}

#[test]
#[ignore = "takes some minutes"]
fn nearly_all_of_thousands_are_as_small_as_can_be() {
    nearly_all_are_smallest(MANY);
}

/// The same history under other names, in another order of sessions and keys.
fn disguised(history: &History) -> History {
    let rename = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.reverse();
        lines.join("\n")
    };
    let mut builder = isoscope::history::Builder::new(isoscope::history::Origin::default());
    builder.initial_value(isoscope::history::Value(0));
    let sessions: Vec<_> = history.sessions().collect();
    for &session in sessions.iter().rev() {
        let new = builder.session_name(&rename(format!("of {}", history.session_name(session))));
        for t in history.transactions_of(session) {
            let draft = builder.transaction(new, history.outcome(t));
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                let key = builder.key_name(&format!("key-{}", 99 - operation.key.index()));
                let value = if operation.value.0 == 0 {
                    0
                } else {
                    operation.value.0 + 100
                };
                builder.operation(
                    draft,
                    operation.kind,
                    key,
                    isoscope::history::Value(value),
                    0,
                );
            }
        }
    }
    builder.finish().expect("it is small")
}

#[test]
fn the_same_bug_has_the_same_signature() {
    let chosen: Vec<_> = (0..)
        .zip(tiny())
        .filter(|(n, (name, _))| is_chosen(*n) && !name.starts_with("dup"))
        .collect();
    let signatures: BTreeSet<String> = chosen
        .par_iter()
        .flat_map_iter(|(_, (name, history))| {
            let signatures_of = |history: &History| -> BTreeSet<String> {
                let violations = examine::check(history).violations;
                let examples = violations
                    .iter()
                    .map(|v| counterexample::minimize(history, v, &Control::new()));
                examples
                    .map(|example| counterexample::signature(&example))
                    .collect()
            };
            let own = signatures_of(history);
            assert_eq!(own, signatures_of(&disguised(history)), "{name}");
            own
        })
        .collect();
    // Different anomalies are distinguished.
    assert!(
        signatures.len() >= (chosen.len() / 5).max(5),
        "{signatures:#?}"
    );
}

#[test]
fn independent_violations_are_groups_of_their_own() {
    let history = formats::text::parse(
        "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\nc: [r y 0, w y 1]\nd: [r y 0, w y 2]\ne: [r z 0, w z 1] [r z 1]",
    )
    .expect("the notation is right");
    let findings = examine::check(&history);
    let groups = counterexample::groups(&history, &findings.violations);
    let n_members: usize = groups.iter().map(|group| group.members.len()).sum();
    assert_eq!(
        (groups.len(), n_members),
        (2, findings.violations.len()),
        "{groups:?}"
    );
    let first = &findings.violations[groups[0].smallest().expect("a member")];
    let next = &findings.violations[groups[1].smallest().expect("a member")];
    assert!(
        next.transactions
            .iter()
            .all(|t| t.is_initial() || !first.transactions.contains(t))
    );
}

/// Two write skews happen when both read before either writes; every read returns what was committed.
#[test]
fn a_write_skew_runs_without_a_read_out_of_place() {
    let history =
        formats::text::parse("a: [r x 0, r y 0, w x 1]\nb: [r x 0, r y 0, w y 1]").expect("right");
    let findings = examine::check(&history);
    let example =
        is_right(&history, &findings.violations[0]).unwrap_or_else(|problem| panic!("{problem}"));
    let run = replay::run(&example, &Control::new());
    assert!(run.is_best);
    assert_eq!(
        run.steps.len(),
        6,
        "two reads, two writes, two ends: {run:#?}"
    );
    let reads = run
        .steps
        .iter()
        .filter(|step| step.explained != Explained::Nothing);
    assert!(
        reads
            .into_iter()
            .all(|step| step.explained == Explained::Current),
        "{run:#?}"
    );
}

#[test]
fn a_value_from_nowhere_is_explained_by_no_state() {
    let history = formats::text::parse("a: [w x 1]\nb: [r x 7]").expect("right");
    let findings = examine::check(&history);
    let example =
        is_right(&history, &findings.violations[0]).unwrap_or_else(|problem| panic!("{problem}"));
    let run = replay::run(&example, &Control::new());
    assert!(
        run.steps
            .iter()
            .any(|step| step.explained == Explained::Nowhere),
        "{run:#?}"
    );
}

#[test]
fn without_time_a_counterexample_is_still_true() {
    let stopped = Control::new();
    stopped.stop();
    let limits = [
        stopped,
        Control::new().with_time_limit(std::time::Duration::ZERO),
    ];
    let mut n = 0;
    for (name, history) in tiny()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("dup"))
    {
        for violation in &examine::check(&history).violations {
            for control in &limits {
                let example = counterexample::minimize(&history, violation, control);
                let small = &example.history;
                assert_eq!(example.minimality, Minimality::Reduced, "{name}");
                let accepted = examine::alone(small, Vec::new(), &example.violation);
                assert_eq!(accepted, Ok(()), "{name}: {}", violation.id);
                n += 1;
            }
        }
    }
    assert!(n > 60, "{n}");
}

#[test]
fn without_time_lists_are_told_as_they_were_read() {
    let text = "a: [a x 1] [a x 2] [a x 3]\nb: [a x 4] [a x 5]\nc: [r x [1 2 3 4 5]]\nd: [r x [4 5]] [r x [1 2]]\n";
    let history = formats::text::parse(text).expect("right");
    let stopped = Control::new();
    stopped.stop();
    let mut n = 0;
    for violation in &examine::check(&history).violations {
        let Counterexample {
            history: small,
            renaming,
            ..
        } = counterexample::minimize(&history, violation, &stopped);
        for (o, whole) in renaming.operations.iter().enumerate() {
            assert_eq!(
                small.operation_text(OperationId::new(o)),
                history.operation_text(*whole),
                "{}",
                violation.id
            );
            n += 1;
        }
    }
    assert!(n > 4, "{n}");
}

/// Histories of the corpus that are read in a moment, and violated.
fn corpus_histories() -> Vec<(String, History)> {
    let corpus = corpus();
    let manifest =
        std::fs::read_to_string(corpus.join("manifest.json")).expect("the corpus has a manifest");
    let manifest: Json = serde_json::from_str(&manifest).expect("the manifest is JSON");
    let entries = manifest.as_array().expect("a list").iter();
    let small = entries.filter(|entry| {
        entry["raw_bytes"]
            .as_u64()
            .is_some_and(|bytes| bytes < 2_000_000)
    });
    let names: Vec<&str> = small.filter_map(|entry| entry["name"].as_str()).collect();
    let open = |name: &&str| {
        Some((
            (*name).to_owned(),
            formats::open(&corpus.join(name), None, &Control::new()).ok()?,
        ))
    };
    names.par_iter().filter_map(open).collect()
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn counterexamples_of_the_corpus_are_right() {
    let histories = corpus_histories();
    let examined = |(name, history): &(String, History)| -> Result<usize, String> {
        let options = Options {
            levels: Level::of(history),
            max_instances: 3,
            ..Options::default()
        };
        let findings = checkers::check(history, &options, &Control::new(), &|_| {});
        let first = findings.violations.iter().filter(|v| v.id.ordinal == 1);
        let registers = first.filter(|v| v.id.pattern != Pattern::NoLinearOrder);
        let mut n = 0;
        for violation in registers {
            is_right(history, violation).map_err(|problem| format!("{name}: {problem}"))?;
            n += 1;
        }
        Ok(n)
    };
    let results: Vec<Result<usize, String>> = histories.par_iter().map(examined).collect();
    let problems: Vec<&String> = results
        .iter()
        .filter_map(|result| result.as_ref().err())
        .collect();
    assert!(
        problems.is_empty(),
        "{} of {}:\n{problems:#?}",
        problems.len(),
        results.len()
    );
    let n: usize = results.iter().flatten().sum();
    println!("{n} counterexamples in {} histories", histories.len());
    assert!(histories.is_empty() || n > 40, "{n}");
}

/// The most convincing violation of a level, made small.
fn smallest_of(history: &History, level: Level) -> Counterexample {
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    let mut of_level: Vec<&Violation> = findings
        .violations
        .iter()
        .filter(|v| v.levels.contains(level))
        .collect();
    of_level.sort_by_key(|v| {
        (
            v.id.pattern.is_wrong_read(),
            v.implied,
            v.size(),
            v.edges.len(),
            v.id,
        )
    });
    is_right(history, of_level[0]).unwrap_or_else(|problem| panic!("{problem}"))
}

fn names(example: &Counterexample) -> Vec<String> {
    example
        .history
        .transactions()
        .map(|t| example.history.transaction_name(t))
        .collect()
}

/// The report on MariaDB names three transactions: T295 and T297 of one session write key 4, T393 sees T297 but reads
/// T295's version.
#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn mariadb_galera_comes_down_to_the_published_transactions() {
    let corpus = corpus();
    let file = corpus.join("plume-text/bugs/mariadb_galera.txt");
    let history = formats::open(&file, None, &Control::new()).expect("it reads");
    let published: BTreeSet<String> = ["T295", "T297", "T393"].map(str::to_owned).into();
    let findings = examine::check(&history);
    let named = |v: &&Violation| {
        let names: BTreeSet<String> = v
            .transactions
            .iter()
            .map(|&t| history.transaction_name(t))
            .collect();
        names == published
            && v.id
                .pattern
                .letter()
                .is_some_and(|letter| "hiklmn".contains(letter))
    };
    let violation = findings
        .violations
        .iter()
        .find(named)
        .expect("the published one is listed");
    let example = is_right(&history, violation).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(names(&example), ["T295", "T297", "T393"]);
    assert!(
        example.history.n_operations() <= 6,
        "{}",
        text(&example.history)
    );
    assert!(
        smallest_of(&history, Level::ReadAtomic)
            .history
            .n_transactions()
            <= 3
    );
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn yugabyte_comes_down_to_three_transactions() {
    let corpus = corpus();
    let file = corpus.join("plume-text/bugs/yugabyte_tcc.txt");
    let history = formats::open(&file, None, &Control::new()).expect("it reads");
    for level in [
        Level::ReadAtomic,
        Level::TransactionalCausalConsistency,
        Level::SnapshotIsolation,
    ] {
        let example = smallest_of(&history, level);
        assert!(
            (2..=3).contains(&example.history.n_transactions()),
            "{level}: {}",
            text(&example.history)
        );
        assert_eq!(example.minimality, Minimality::Smallest, "{level}");
        let writes = example
            .history
            .kinds()
            .iter()
            .filter(|kind| **kind == OperationKind::Write)
            .count();
        assert!(
            writes >= 2 && example.history.n_operations() <= 6,
            "{level}: {}",
            text(&example.history)
        );
    }
}

/// A serial run of many transactions, with the sample histories of all anomalies hidden in it.
fn haystack(transactions: usize) -> History {
    use isoscope::history::{Builder, Origin, Outcome, Value};
    const SESSIONS: usize = 24;
    let mut needles: Vec<(String, History)> = Vec::new();
    let files = std::fs::read_dir(common::repository("sample_histories")).expect("samples");
    let mut paths: Vec<_> = files.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        let Ok(history) = formats::open(&path, None, &Control::new()) else {
            continue;
        };
        let is_plain =
            history.value_names().is_none() && history.lists().is_empty() && !history.has_times();
        if is_plain
            && !name.starts_with("ok")
            && history.n_sessions() <= SESSIONS
            && history.n_transactions() < 20
        {
            needles.push((name, history));
        }
    }
    let mut rng = fastrand::Rng::with_seed(7);
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|s| builder.session_name(&format!("s{s}")))
        .collect();
    let n_keys = transactions / 5;
    let keys: Vec<_> = (0..n_keys)
        .map(|key| builder.key_name(&format!("k{key}")))
        .collect();
    let mut values = vec![0u64; n_keys];
    let every = transactions / (needles.len() + 1);
    for t in 0..transactions {
        let draft = builder.transaction(sessions[rng.usize(0..SESSIONS)], Outcome::Committed);
        for _ in 0..4 {
            let key = rng.usize(0..n_keys);
            if rng.bool() {
                values[key] += 1;
                builder.operation(
                    draft,
                    OperationKind::Write,
                    keys[key],
                    Value(values[key]),
                    0,
                );
            } else {
                builder.operation(draft, OperationKind::Read, keys[key], Value(values[key]), 0);
            }
        }
        if t % every == every - 1
            && let Some((name, needle)) = needles.get(t / every)
        {
            for session in needle.sessions() {
                for of_needle in needle.transactions_of(session) {
                    let draft =
                        builder.transaction(sessions[session.index()], needle.outcome(of_needle));
                    for o in needle.operations_of(of_needle).map(|o| needle.operation(o)) {
                        let key = builder.key_name(&format!("{name}-{}", needle.key_name(o.key)));
                        builder.operation(draft, o.kind, key, o.value, 0);
                    }
                }
            }
        }
    }
    builder.finish().expect("it fits")
}

/// In a large history the first picture comes at once. `ISOSCOPE_HISTORIES` asks for another number of transactions.
#[test]
#[ignore = "a measurement"]
fn a_hidden_violation_is_shown_at_once() {
    let n = std::env::var("ISOSCOPE_HISTORIES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(100_000);
    let history = haystack(n);
    let begin = std::time::Instant::now();
    let findings = examine::check(&history);
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{} transactions, checked in {seconds:.2} s: {:?}",
        history.n_transactions(),
        findings.patterns
    );
    for violation in findings.violations.iter().filter(|v| v.id.ordinal == 1) {
        let mut times = Vec::new();
        let mut sizes = Vec::new();
        let begin = std::time::Instant::now();
        let quick = counterexample::minimize(
            &history,
            violation,
            &Control::new().with_time_limit(std::time::Duration::from_millis(200)),
        );
        times.push(begin.elapsed().as_secs_f64());
        sizes.push((quick.history.n_transactions(), quick.history.n_operations()));
        let begin = std::time::Instant::now();
        let full = counterexample::minimize(&history, violation, &Control::new());
        times.push(begin.elapsed().as_secs_f64());
        sizes.push((full.history.n_transactions(), full.history.n_operations()));
        println!(
            "{}: {} {sizes:?} in {times:.3?} s",
            violation.id,
            full.minimality.word()
        );
        assert!(is_violated(&quick.history, quick.level) && is_violated(&full.history, full.level));
    }
}

/// Reads that are anomalies of their own are left out of a counterexample where they do not matter. Here one does: without
/// the read of y = 3, which overlooks the transaction's own write of y, the fractured read would be a non-repeatable one.
#[test]
fn a_pattern_that_rests_on_wrong_reads_keeps_them() {
    let text = "s0: [r x 0, w x 1, r x 1, r y 0] [r x 3, w y 1, r x 0, r x 1, r y 3]\ns1: [w x 2, w y 2, w y 3, w x 3]";
    let history = formats::text::parse(text).expect("right");
    let findings = examine::check(&history);
    let fractured: Vec<&Violation> = findings
        .violations
        .iter()
        .filter(|v| v.id.pattern == Pattern::FracturedReadCO)
        .collect();
    assert!(fractured.len() >= 2, "{:?}", findings.patterns);
    for violation in fractured {
        is_right(&history, violation).unwrap_or_else(|problem| panic!("{problem}"));
        let minimizer = Minimizer::new(&history, &Control::new()).expect("nothing stops it");
        let example = minimizer.itself(violation, &Control::new());
        assert_eq!(
            example.violation.id.pattern,
            Pattern::FracturedReadCO,
            "{}",
            violation.id
        );
    }
}

#[test]
fn what_is_left_violates_the_level_that_was_asked_for() {
    // Two versions of x violate cut isolation already, which takes fewer reads than read committed does.
    let text = "a: [w x 2] [r x 2, r x 1, r x 2]\nb: [w x 1]\n";
    let history = formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    let level = Level::ReadCommitted;
    let mut n = 0;
    for violation in findings
        .violations
        .iter()
        .filter(|violation| violation.levels.contains(level))
    {
        let example = counterexample::minimize_at(&history, violation, level, &Control::new());
        let verdict = examine::check(&example.history)
            .level(level)
            .map(|result| result.verdict.clone());
        assert_eq!(verdict, Some(Verdict::Violated), "{}", violation.id);
        n += 1;
    }
    assert!(n > 0);
}

/// Two versions of x break cut isolation; that the reads go back and forth breaks read committed, whatever else is known. In
/// the last history a version of y shows that, and the order of the two versions of x is known.
#[test]
fn what_is_shown_violates_every_level_that_the_violation_names() {
    let histories = [
        "a: [w x 1]\nb: [w x 2]\nc: [r x 2, r x 1, r x 2]",
        "a: [w x 1]\nb: [r x 1, r x 0]",
        "a: [w x 1]\nb: [w x 2]\nc: [r x 1, r x 2]\nd: [r x 2, r x 1]",
        "a: [w x 1] [w x 2]\nb: [r x 2, r x 1]",
        "a: [w x 1, w y 1] [w x 2, w y 2]\nb: [r x 1, r x 2, r y 1]",
    ];
    for text in histories {
        let history = formats::text::parse(text).expect("a history in our notation");
        let findings = examine::check(&history);
        let examples = isoscope::audit::Examples::new(&history, &findings);
        for violation in &findings.violations {
            let example = examples.of(violation, &Control::new());
            let again = examine::check(&example.counterexample.history);
            for level in example
                .violation
                .levels
                .iter()
                .filter(|level| findings.level(*level).is_some())
            {
                let verdict = again.level(level).map(|found| &found.verdict);
                assert_eq!(
                    verdict,
                    Some(&Verdict::Violated),
                    "{text}\n{} at {level}",
                    violation.id
                );
            }
        }
        let shown: BTreeSet<Level> = findings
            .violations
            .iter()
            .map(|v| examples.of(v, &Control::new()).counterexample.level)
            .collect();
        let is_violated = |level| {
            findings
                .level(level)
                .is_some_and(|found| found.verdict == Verdict::Violated)
        };
        let level = Level::ReadCommitted;
        assert!(
            !is_violated(level) || shown.contains(&level),
            "{text}: {shown:?}"
        );
    }
}

/// What breaks read committed is listed, even after many that do not.
#[test]
fn a_violated_level_is_shown_however_many_others_are_listed() {
    let text = "a: [w x 1] [w y 1] [w z 1]\nb: [w x 2] [w y 2] [w z 2]\nc: [r x 1, r x 2] [r y 1, r y 2] [r z 1, r z 2, r z 1]";
    let history = formats::text::parse(text).expect("a history in our notation");
    let options = Options {
        levels: vec![Level::ReadCommitted],
        max_instances: 2,
        ..Options::default()
    };
    let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
    assert_eq!(findings.patterns.get(&Pattern::NonRepeatableRead), Some(&4));
    assert_eq!(
        findings
            .level(Level::ReadCommitted)
            .map(|found| &found.verdict),
        Some(&Verdict::Violated)
    );
}

/// Whatever else the commit order of a1 and b1 would be: that a1's version of z would be older than the initial one, since a2
/// read that, is impossible alone.
#[test]
fn a_version_older_than_the_initial_one_is_all_that_is_shown() {
    let text = "a: [w x 1, w z 1] [r z 0]\nb: [w x 2, w y 1]\nc: [r y 1, r x 1]";
    let history = formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    let counted: Vec<Pattern> = findings
        .patterns
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(pattern, _)| *pattern)
        .collect();
    assert_eq!(counted, [Pattern::NonMonoReadCM, Pattern::FracturedReadCO]);
    for violation in &findings.violations {
        assert_eq!(
            violation
                .transactions
                .iter()
                .filter(|t| !t.is_initial())
                .count(),
            2,
            "{violation:?}"
        );
        assert_eq!(
            violation.implied,
            violation.id.pattern == Pattern::NonMonoReadCM
        );
        let example = is_right(&history, violation).unwrap_or_else(|problem| panic!("{problem}"));
        let size = (
            example.history.n_transactions(),
            example.history.n_operations(),
        );
        assert_eq!(
            (size, example.minimality),
            ((2, 2), Minimality::Smallest),
            "{}",
            self::text(&example.history)
        );
    }
}

/// Session a shows that its first version of x is the older one. So that order is not concluded from the last transaction's
/// reads, and what is left of the anomaly is the read of that older version.
#[test]
fn an_order_that_a_session_shows_is_not_concluded() {
    let history = formats::text::parse("a: [w y 1, w x 1] [w x 2] [r x 2] [r y 1, r x 2, r x 1]")
        .expect("right");
    let findings = examine::check(&history);
    let fractured = findings
        .violations
        .iter()
        .find(|v| v.id.pattern == Pattern::FracturedReadCM)
        .expect("listed");
    assert!(fractured.implied);
    let example = is_right(&history, fractured).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(
        (example.shows, example.violation.id.pattern),
        (Shows::Cause, Pattern::FracturedReadCO)
    );
    let size = (
        example.history.n_transactions(),
        example.history.n_operations(),
    );
    assert_eq!(size, (3, 4), "{}", text(&example.history));
}

/// Two writers of the same keys miss a write of each other. By what one missed they are a lost update, by what the other
/// missed a cycle without a name. One of these is listed; here a reader decides which.
#[test]
fn two_transactions_with_two_cycles_may_get_the_other_name() {
    let sessions =
        "a: [r y 0, w y 2, w z 2, w x 1] [r x 1, r y 2]\nc: [r x 0, w y 1, w z 1, r y 1]";
    let history = formats::text::parse(sessions).expect("right");
    let findings = examine::check(&history);
    let lost = findings
        .violations
        .iter()
        .find(|v| v.id.pattern == Pattern::LostUpdate)
        .expect("listed");
    let example = is_right(&history, lost).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(
        has_another_name(&history, lost, example.violation.id.pattern),
        "{}",
        text(&example.history)
    );
    assert_eq!(
        (example.history.n_transactions(), example.minimality),
        (2, Minimality::Smallest)
    );
}
