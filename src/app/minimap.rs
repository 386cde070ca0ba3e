//! The whole history as a narrow band: how much ran when, and where its anomalies are. Computed off the frame.

use super::catalogue::Catalogue;
use super::tasks::{Failure, Task};
use crate::checkers::ViolationId;
use crate::control::sorting::going;
use crate::control::{Control, Interrupt};
use crate::diagram::timeline::Timeline;
use crate::history::History;
use crate::jobs;
use std::sync::Arc;

/// Maximum number of parts of the band; places of an order are not divided.
const BINS: usize = 600;

/// What was asked for: the history over true time, and how many anomalies are listed, if they are known.
pub type Wanted = (bool, Option<usize>);

/// The anomalies that begin in a part of the band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The part.
    pub bin: usize,
    /// The first of them in the list.
    pub first: ViolationId,
    /// How many there are.
    pub n: usize,
}

/// The band.
#[derive(Clone, Debug)]
pub struct Minimap {
    /// What it answers.
    pub wanted: Wanted,
    /// By part: the number of transactions that began in it, as a share of the largest such number.
    pub density: Vec<f32>,
    /// Parts with transactions of anomalies, ascending.
    pub marks: Vec<Mark>,
    /// Length of the axis.
    pub length: f64,
}

/// The band on the page.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// The band, once requested.
    pub map: Option<Arc<Minimap>>,
    /// What was asked for last.
    pub asked: Option<Wanted>,
}

/// Computing the band.
pub(super) static MAP: Task<Arc<Minimap>> = Task::new("minimap", Failure::Silent, |app, map| {
    let Some(document) = &mut app.state.document else {
        return;
    };
    jobs::replace(&mut document.overview.map, Some(map));
});

impl Minimap {
    /// O(transactions + transactions of anomalies).
    pub fn new(
        history: &History,
        timeline: &Timeline,
        catalogue: Option<&Catalogue>,
        wanted: Wanted,
        control: &Control,
    ) -> Result<Minimap, Interrupt> {
        let axis = timeline.axis(wanted.0);
        let length = axis.length.max(1e-9);
        let n = if timeline.clock.is_some() {
            BINS
        } else {
            (length.ceil() as usize).clamp(1, BINS)
        };
        let bin = |t| {
            axis.span(t)
                .map(|span| ((span.from / length * n as f64) as usize).min(n - 1))
        };
        let mut counts = vec![0_u32; n];
        going(control, history.transactions())
            .filter_map(bin)
            .for_each(|bin| counts[bin] += 1);
        control.check()?;
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f32;
        let mut marks: Vec<Option<Mark>> = vec![None; n];
        let violations = catalogue.map_or(&[][..], |catalogue| &catalogue.findings.violations);
        for violation in going(control, violations) {
            let own = violation.transactions.iter().filter(|t| !t.is_initial());
            let mut bins: Vec<usize> = own.filter_map(|t| bin(*t)).collect();
            bins.sort_unstable();
            bins.dedup();
            for bin in bins {
                marks[bin]
                    .get_or_insert(Mark {
                        bin,
                        first: violation.id,
                        n: 0,
                    })
                    .n += 1;
            }
        }
        control.check()?;
        let density = counts
            .into_iter()
            .map(|count| count as f32 / most)
            .collect();
        Ok(Minimap {
            wanted,
            density,
            marks: marks.into_iter().flatten().collect(),
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relations;

    #[test]
    fn transactions_and_anomalies_are_where_they_began() {
        let control = Control::new();
        let history = crate::formats::text::parse(
            "a: [w x 1]@0..10 [w x 2]@500..510\nb: [r x 9]@900..1000\n",
        )
        .expect("a history in our notation");
        let findings = crate::checkers::check(&history, &Default::default(), &control, &|_| ());
        let catalogue = Catalogue::new(&history, findings);
        let resolution = relations::resolve(&history, &control).expect("nothing stops it");
        let timeline =
            Timeline::new(&history, Some(&resolution), &control).expect("nothing stops it");
        let wanted = (true, Some(catalogue.entries.len()));
        let map = Minimap::new(&history, &timeline, Some(&catalogue), wanted, &control)
            .expect("nothing stops it");
        let busy: Vec<usize> = (0..BINS).filter(|bin| map.density[*bin] > 0.0).collect();
        assert_eq!(busy, [0, 300, 540]);
        let marks: Vec<usize> = map.marks.iter().map(|mark| mark.bin).collect();
        assert_eq!((marks, map.length), (vec![540], 1000.0));
        assert_eq!(map.marks[0].n, catalogue.entries.len());
    }
}
