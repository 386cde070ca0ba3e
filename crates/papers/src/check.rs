//! Asks whichever checker is chosen, and prepares a history for the papers' algorithms.

use super::Input;
use super::ask::ask;
use super::choice::Choice;
use isoscope_check::checkers::building_blocks::{decide_applicable, verify_assumed_setup};
use isoscope_check::checkers::{
    self, Cause, Checker, Findings, Instances, Level, LevelResult, Options, Verdict,
    read_consistency,
};
use isoscope_model::control::{Control, Interrupt, Stage};
use isoscope_model::history::History;
use isoscope_model::relations::{Index, Resolution, resolve};
use std::sync::Arc;
use std::time::Instant;

/// [`checkers::check`] by the chosen checker. A paper's algorithm decides each level on its own, and where its
/// published answer differs from the axioms the assumptions say so.
pub fn check(
    history: &History,
    choice: impl Into<Choice>,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    check_with(history, None, &choice.into(), options, control, observe)
}

/// [`check`] for a history whose reads are already resolved.
pub fn check_resolved(
    history: &History,
    resolution: Arc<Resolution>,
    choice: impl Into<Choice>,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    check_with(
        history,
        Some(resolution),
        &choice.into(),
        options,
        control,
        observe,
    )
}

fn check_with(
    history: &History,
    resolution: Option<Arc<Resolution>>,
    choice: &Choice,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    match (choice.checker, resolution) {
        (Checker::Fast, None) => checkers::check(history, options, control, observe),
        (Checker::Fast, Some(resolved)) => {
            checkers::check_resolved(history, resolved, options, control, observe)
        }
        (checker, resolution) => {
            decide_applicable(history, checker, options, observe, |options, observe| {
                check_applicable(history, resolution, choice, options, control, observe)
            })
        }
    }
}

/// [`check_with`] for distinct levels, all applicable to the history.
fn check_applicable(
    history: &History,
    resolution: Option<Arc<Resolution>>,
    choice: &Choice,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
) -> Findings {
    let findings = Findings {
        checker: choice.checker,
        ..Findings::default()
    };
    control.phase("indexing", 0);
    let begin = Instant::now();
    let prepared = control.timed(Stage::Build, || {
        Prepared::new(history, resolution, options, control)
    });
    let index_seconds = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let mut prepared = match prepared {
        Ok(prepared) => prepared,
        Err(interrupt) => {
            let levels = undecided(choice.checker, options, interrupt);
            levels.iter().for_each(|result| {
                observe(result);
                control.advance(1);
            });
            return Findings {
                levels,
                index_seconds,
                ..findings
            };
        }
    };
    let assumes_set_up = prepared.resolution.assumes_set_up(history);
    control.phase("checking", options.levels.len() as u64);
    let asked = ask(
        prepared.input(history, options, control),
        choice,
        options,
        control,
        observe,
    );
    let mut findings = Findings {
        levels: asked.levels,
        patterns: asked.found.counts,
        c4_patterns: asked.c4_patterns,
        published_patterns: asked.published_patterns,
        violations: asked.found.violations,
        assumptions: asked.assumptions,
        index_seconds,
        check_seconds: begin.elapsed().as_secs_f64(),
        ..findings
    };
    if assumes_set_up {
        verify_assumed_setup(history, options, control, &mut findings);
    }
    findings
}

fn undecided(checker: Checker, options: &Options, interrupt: Interrupt) -> Vec<LevelResult> {
    let verdict = Verdict::Undecided(Cause::Interrupted(interrupt));
    let result = |&level: &Level| LevelResult::new(level, verdict.clone(), checker.name(), 0.0);
    options.levels.iter().map(result).collect()
}

/// A resolved history with its ambiguous reads left out.
struct Prepared {
    resolution: Arc<Resolution>,
    index: Index,
    reads: Instances,
}

impl Prepared {
    fn new(
        history: &History,
        resolution: Option<Arc<Resolution>>,
        options: &Options,
        control: &Control,
    ) -> Result<Prepared, Interrupt> {
        let resolution = match resolution {
            Some(resolution) => resolution,
            None => Arc::new(resolve(history, control)?),
        };
        let index = Index::build_with(history, &resolution, &resolution.choice_of_none(), control)?;
        let reads = read_consistency::instances(
            history,
            &resolution,
            &index,
            options.max_instances,
            control,
        )?;
        Ok(Prepared {
            resolution,
            index,
            reads,
        })
    }

    /// Chooses among equally long lists in the same way as the program's own engines.
    fn input<'a>(
        &'a mut self,
        history: &'a History,
        options: &Options,
        control: &Control,
    ) -> Input<'a> {
        if !history.lists().is_empty()
            && let Ok(canonical) = self.index.canonical(history, control)
        {
            self.index.choose_lists_as(history, &canonical);
            let max = options.max_instances;
            let again =
                read_consistency::instances(history, &self.resolution, &canonical, max, control);
            if let Ok(again) = again {
                self.reads = again;
            }
        }
        Input {
            history,
            resolution: &self.resolution,
            index: &self.index,
            reads: std::mem::take(&mut self.reads),
        }
    }
}
