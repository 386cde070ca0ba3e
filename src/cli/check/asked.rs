//! What the arguments of `check` ask for.

use crate::checkers::lattice::Promise;
use crate::checkers::{Checker, Level, Options};
use crate::cli::output::codes;
use crate::cli::{CheckArguments, claims, paging};
use crate::history::History;
use crate::papers::Choice;

/// Fails if the checker cannot do what is requested.
pub(super) fn checker_can(arguments: &CheckArguments) -> anyhow::Result<()> {
    let checker = arguments.checker;
    let of_promise = claims::promised(arguments.claim).and_then(Promise::asked);
    for &level in arguments.level.iter().chain(&of_promise) {
        if !checker.decides(level) {
            anyhow::bail!(
                "the checker {checker} does not decide {level}, only {}",
                codes(checker.levels().iter().copied())
            );
        }
    }
    let options = [
        ("--one-cm", arguments.one_cm),
        ("--rc", arguments.rc.is_some()),
        ("--count", arguments.count.is_some()),
    ];
    if arguments.instances.is_some() && checker != Checker::Fast {
        anyhow::bail!("--instances works only with the checker fast");
    }
    if arguments.count_by.is_some() && checker != Checker::Fast {
        anyhow::bail!("--count-by works only with the checker fast");
    }
    match options
        .into_iter()
        .find(|(_, is_asked)| *is_asked && !checker.is_plume())
    {
        Some((option, _)) => {
            anyhow::bail!("{option} goes with the checkers plume, plume-tc and plume-dfs only")
        }
        None => Ok(()),
    }
}

/// The levels, how much is listed, and whether all is counted.
pub(super) fn options(arguments: &CheckArguments, history: &History) -> Options {
    let mut levels = Vec::new();
    for &level in &arguments.level {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    if arguments.all_levels {
        levels = Level::EVERY
            .into_iter()
            .filter(|level| arguments.checker.decides(*level))
            .collect();
    }
    if levels.is_empty() {
        levels = Level::of(history);
        levels.retain(|level| arguments.checker.decides(*level));
        // A checker for other kinds of histories says so.
        if levels.is_empty() {
            levels = arguments.checker.levels();
        }
    }
    let of_promise = claims::promised(arguments.claim).and_then(Promise::asked);
    levels.extend(of_promise.filter(|level| !levels.contains(level)));
    if arguments.level.is_empty() {
        levels.sort_unstable();
    }
    let max_instances = paging::causes(arguments.max_instances);
    Options {
        levels,
        max_instances,
        counts: !arguments.verdicts_only,
    }
}

/// The checker, and how it counts.
pub(super) fn choice(arguments: &CheckArguments) -> Choice {
    Choice {
        checker: arguments.checker,
        one_commit_order: arguments.one_cm,
        rc: arguments.rc.unwrap_or_default(),
        counting: arguments.count.unwrap_or_default(),
    }
}
