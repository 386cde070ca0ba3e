//! The verdict block: which level is broken on which order, what still allows it, and what was tested.

use super::words::Words;
use crate::counterexample::Counterexample;
use crate::counterexample::orders::{Difference, Orders};
use isoscope_check::checkers::{CountedOrder, Level, Verdict, lattice};
use isoscope_model::history::OperationId;

/// "Breaks prefix consistency and above in session order (each client's order). Without it, serializability allows it."
pub(in crate::counterexample) fn breaks(
    example: &Counterexample,
    standing: &Standing,
    orders: &Orders,
) -> String {
    let difference = orders.difference.as_ref();
    // Its name says that real time counts.
    let is_strict = standing.broken == [Level::StrictSerializability];
    let condition = match difference.map(|difference| (difference, difference.order)) {
        _ if is_strict => String::new(),
        _ if example.level.plain_of().is_some() => {
            " (session order and times are ignored)".to_owned()
        }
        // A guarantee of sessions needs no mention of them.
        Some((difference, CountedOrder::Session)) if difference.level.plain_form().is_some() => {
            " in session order (each client's order)".to_owned()
        }
        Some((_, CountedOrder::RealTime)) => {
            " in real time (what had ended before counts as earlier)".to_owned()
        }
        Some((_, CountedOrder::KeyRealTime)) => {
            " in real time (what had ended before, with a key in common, counts as earlier)"
                .to_owned()
        }
        Some((_, CountedOrder::CommitRealTime)) => {
            " in real time (commits are ordered by it)".to_owned()
        }
        _ => String::new(),
    };
    let also = difference.and_then(|difference| allows_more(standing, difference));
    standing.sentence("Breaks", &condition, also.as_deref())
}

/// "without session order, serializability allows it", where that is more than what allows it anyway.
fn allows_more(standing: &Standing, difference: &Difference) -> Option<String> {
    let what = match difference.order {
        CountedOrder::Session if difference.level.plain_form().is_none() => return None,
        CountedOrder::Session => "session order",
        _ => "real time",
    };
    // The name of a plain level says once more that sessions do not count.
    let form = |level: &Level| level.plain_of().unwrap_or(*level);
    let is_more = |level: &Level| !standing.allowed.iter().any(|known| known.implies(*level));
    let more: Vec<Level> = difference
        .without
        .iter()
        .map(form)
        .filter(is_more)
        .collect();
    if more.is_empty() {
        return None;
    }
    let allow = if more.len() == 1 { "allows" } else { "allow" };
    if what == "session order" && more == [Level::Serializability] {
        return Some("without it, serializability allows it".to_owned());
    }
    let names: Vec<String> = more.iter().map(|level| level.spoken()).collect();
    Some(format!(
        "without {what}, {} {allow} it",
        Words::list(&names)
    ))
}

/// Which level the argument is about, where a weaker one is broken, too.
pub(in crate::counterexample) fn argued(
    example: &Counterexample,
    standing: &Standing,
) -> Option<String> {
    let is_broken = |level: &&Level| !level.is_of_reads();
    let weakest = standing.broken.iter().filter(is_broken).min()?;
    if *weakest >= example.level {
        return None;
    }
    // Strict serializability does not count failed comparisons.
    let mut operations = (0..example.history.n_operations()).map(OperationId::new);
    let compares = operations.any(|o| example.history.differs_from(o).is_some());
    let same = match (*weakest, example.level, compares) {
        (Level::StrictSerializability, Level::Linearizability, false) => {
            ", which is the same here: each transaction is a single read, write or compare-and-set of one key"
        }
        _ => "",
    };
    let level = example.level.spoken();
    Some(format!("The argument is about {level}{same}."))
}

/// The strongest levels that hold, the weakest that are broken, and those that are open. Cut isolation, which few know, is
/// named only where it is broken or all that holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::counterexample) struct Standing {
    allowed: Vec<Level>,
    pub(in crate::counterexample) broken: Vec<Level>,
    open: Vec<Level>,
    /// Stronger levels than these are broken, too.
    has_stronger: bool,
}

impl Standing {
    pub(in crate::counterexample) fn of(verdicts: &[(Level, &Verdict)]) -> Standing {
        let with = |wanted: fn(&Verdict) -> bool| -> Vec<Level> {
            let wanted = verdicts.iter().filter(|(_, verdict)| wanted(verdict));
            wanted.map(|&(level, _)| level).collect()
        };
        let held = with(|verdict| matches!(verdict, Verdict::Satisfied(_)));
        let all_broken = with(|verdict| matches!(verdict, Verdict::Violated));
        let open = with(|verdict| matches!(verdict, Verdict::Undecided(_)));
        let mut allowed = lattice::strongest(held);
        if allowed.iter().any(|level| !level.is_of_reads()) {
            allowed.retain(|level| !level.is_of_reads());
        }
        let is_weakest = |level: &Level| {
            let mut others = all_broken.iter().filter(|other| *other != level);
            !others.any(|other| level.implies(*other))
        };
        let broken: Vec<Level> = all_broken.iter().copied().filter(is_weakest).collect();
        // Those that count no sessions but real time are judged alone, and none of them is the strongest.
        let is_alone = broken.iter().any(|level| level.is_form_of_itself());
        Standing {
            // Only linearizability is, which is the same where it can be asked.
            has_stronger: (all_broken.len() > broken.len() || is_alone)
                && broken != [Level::StrictSerializability],
            allowed,
            broken,
            open,
        }
    }

    /// "Breaks read atomic and everything stronger. Read committed allows it." `also`: what else would, in a clause.
    pub(in crate::counterexample) fn sentence(
        &self,
        breaks: &str,
        condition: &str,
        also: Option<&str>,
    ) -> String {
        let name = |level: &Level| match level {
            // Its name is known to few.
            Level::CutIsolation | Level::ItemCutIsolation => {
                format!("{} (each key is read from one writer)", level.spoken())
            }
            level => level.spoken(),
        };
        let names = |levels: &[Level]| -> String {
            let names: Vec<String> = levels.iter().map(name).collect();
            Words::list(&names).into()
        };
        // Levels that others by this name may not have: why they allow what they allow.
        let allowing = |level: &Level| match level {
            Level::RepeatableRead | Level::PlainRepeatableRead | Level::StrongRepeatableRead => {
                format!("{} (rows that a scan missed may appear)", level.spoken())
            }
            level => name(level),
        };
        let broken = match (self.broken.as_slice(), self.has_stronger) {
            (levels @ [_, _, ..], true) => {
                format!(
                    "{breaks} {}{condition}, and everything stronger.",
                    names(levels)
                )
            }
            (levels, true) if condition.is_empty() => {
                format!("{breaks} {} and everything stronger.", names(levels))
            }
            (levels, true) => format!("{breaks} {} and above{condition}.", names(levels)),
            (levels, false) => format!("{breaks} {}{condition}.", names(levels)),
        };
        let allow = if self.allowed.len() == 1 {
            "allows"
        } else {
            "allow"
        };
        let allowed = match (self.allowed.is_empty(), also) {
            (true, None) => String::new(),
            (true, Some(also)) => format!(" {}.", super::capitalized(also)),
            (false, None) => {
                let names: Vec<String> = self.allowed.iter().map(allowing).collect();
                let names: String = Words::list(&names).into();
                format!(" {} {allow} it.", super::capitalized(&names))
            }
            // It says more than what allows it anyway.
            (false, Some(also)) => format!(" {}.", super::capitalized(also)),
        };
        let open = match self.open.is_empty() {
            true => String::new(),
            false => format!(" Undecided: {}.", names(&self.open)),
        };
        format!("{broken}{allowed}{open}")
    }
}
