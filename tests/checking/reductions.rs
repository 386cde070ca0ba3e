//! Formulas as histories: PC, SI and SER are satisfied exactly where the formula can be.

use crate::common;

#[allow(dead_code)]
#[path = "../../benches/common/hard.rs"]
mod hard;

use common::examine;
use hard::{Hard, Literal, reduction};

fn can_be_satisfied(n: usize, clauses: &[Vec<Literal>]) -> bool {
    let holds = |bits: usize| {
        clauses.iter().all(|clause| {
            clause
                .iter()
                .any(|&(v, negated)| (bits >> v & 1 == 1) != negated)
        })
    };
    (0..1 << n).any(holds)
}

#[track_caller]
fn assert_agrees(instance: Hard) -> bool {
    let (n, clauses) = instance.formula().expect("it is made from a formula");
    let history = reduction(n, &clauses);
    let findings = examine::check(&history);
    let can = can_be_satisfied(n, &clauses);
    let verdicts = examine::engine_verdicts(&findings);
    assert_eq!(
        examine::signs(verdicts),
        if can { "+++++++" } else { "++++---" },
        "{instance}"
    );
    examine::evidence(&history, &findings)
        .unwrap_or_else(|problem| panic!("{instance}: {problem}"));
    can
}

#[test]
fn random_formulas_are_histories_of_the_same_answer() {
    let mut satisfied = 0;
    for seed in 0..36 {
        let (n, ratio) = (
            3 + seed as usize % 3,
            [2.0, 4.0, 6.0, 8.0][seed as usize % 4],
        );
        satisfied += usize::from(assert_agrees(Hard::Sat(n, ratio, seed)));
    }
    assert!((6..30).contains(&satisfied), "{satisfied}");
}

#[test]
fn all_clauses_together_cannot_be_satisfied() {
    for n in 2..4 {
        assert!(!assert_agrees(Hard::Cases(n)));
    }
}

#[test]
fn names_of_instances_are_read_back() {
    for instance in Hard::usual() {
        assert_eq!(instance.to_string().parse(), Ok(instance));
    }
    assert!("sat:0:4:1".parse::<Hard>().is_err() && "cases:77".parse::<Hard>().is_err());
}
