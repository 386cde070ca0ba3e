//! Histories of several components: deciding them apart gives the verdicts of the whole. Reports of several machines,
//! joined.

use crate::common;

use common::examine;
use common::oracle;
use common::random::{Shape, sketch};
use common::sketch::{Sketch, Transaction};
use fastrand::Rng;
use isoscope::checkers::Level;
use isoscope::report::{self, Document, Elsewhere, PartEntry, Report, Settings, VerdictWord};
use rayon::prelude::*;

/// Small histories that hang together by one session each, or not at all: a history of several components.
fn patchwork(seed: u64) -> (Vec<Sketch>, Sketch) {
    let mut rng = Rng::with_seed(seed);
    let patches: Vec<Sketch> = (0..rng.u64(2..5))
        .map(|patch| sketch(Shape::CLEAN, 7919 * seed + patch))
        .collect();
    let mut whole = Sketch::default();
    let mut n_keys = 0;
    for patch in &patches {
        let mut patch = patch.clone();
        let keys = patch.n_keys();
        patch
            .operations_mut()
            .for_each(|operation| operation.key += n_keys);
        n_keys += keys;
        let mut sessions = patch.sessions.into_iter();
        // All patches hang on the first session, or each on the last one so far, or on none.
        let joint = match rng.u8(0..3) {
            0 => Some(0),
            1 => whole.sessions.len().checked_sub(1),
            _ => None,
        };
        if let Some(session) = joint.and_then(|joint| whole.sessions.get_mut(joint)) {
            *session = interleaved(
                std::mem::take(session),
                sessions.next().unwrap_or_default(),
                &mut rng,
            );
        }
        whole.sessions.extend(sessions);
    }
    (patches, whole)
}

/// Both lists in one, each in its order.
fn interleaved(
    first: Vec<Transaction>,
    second: Vec<Transaction>,
    rng: &mut Rng,
) -> Vec<Transaction> {
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    let mut both = Vec::new();
    while first.peek().is_some() || second.peek().is_some() {
        let from = if rng.bool() { &mut first } else { &mut second };
        both.extend(from.next());
    }
    both
}

#[test]
fn a_patchwork_satisfies_what_all_of_its_patches_satisfy() {
    let n_violated: usize = (0..1500u64)
        .into_par_iter()
        .map(|seed| {
            let (patches, whole) = patchwork(seed);
            let history = whole.history();
            let findings = examine::check(&history);
            let mut expected = [Some(true); 7];
            for patch in &patches {
                let verdicts = oracle::verdicts(&patch.history());
                expected
                    .iter_mut()
                    .zip(verdicts)
                    .for_each(|(all, one)| *all = all.map(|all| all && one));
            }
            let found = examine::engine_verdicts(&findings);
            assert_eq!(
                examine::signs(found),
                examine::signs(expected),
                "seed {seed}\n{whole}"
            );
            examine::evidence(&history, &findings)
                .unwrap_or_else(|problem| panic!("seed {seed}\n{whole}{problem}"));
            usize::from(found[3] == Some(true) && found[6] == Some(false))
        })
        .sum();
    assert!(n_violated > 100, "{n_violated} violate a strong level only");
}

#[test]
fn reports_of_shards_are_joined_history_by_history() {
    let history = patchwork(1).1.history();
    let report = report::of_findings(&history, &examine::check(&history), Settings::default());
    let levels = vec![Level::Serializability];
    let path = history.origin().path.clone();
    let part = |shard| PartEntry::new(shard, 2, levels.clone());
    let other = Document::Elsewhere(Box::new(Elsewhere::new(&path, part(1))));
    let [whole, of_shard] = [None, Some(part(1))].map(|part| {
        let report = Report {
            part,
            ..report.clone()
        };
        Document::Report(Box::new(report))
    });
    let joined = |documents| report::merge(documents).map(|mut all: Vec<Document>| all.pop());

    let known = joined(vec![other.clone(), of_shard.clone()]);
    assert_eq!(known, Ok(Some(whole.clone())));
    assert_eq!(joined(vec![whole.clone()]), Ok(Some(whole.clone())));
    let Ok(Some(Document::Elsewhere(open))) = joined(vec![other.clone(), other]) else {
        panic!("nothing is known of it")
    };
    let [level] = &open.levels[..] else {
        panic!("one level was asked for")
    };
    assert_eq!(level.verdict, VerdictWord::Undecided);
    assert_eq!(level.reason.as_deref(), Some("shard 1 of 2 is missing"));
    let error = joined(vec![whole, of_shard]).expect_err("two reports");
    assert!(error.message.contains("2 whole reports"), "{error}");
}
