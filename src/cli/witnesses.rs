//! Why a level holds: in words for `explain`, as a picture or text for `export --witness`.

use super::output::{self, Output};
use super::{ExitCode, ExportArguments};
use crate::checkers::{Findings, LevelResult, Verdict};
use crate::control::Control;
use crate::counterexample::passes::{Passes, Surroundings, markdown, plain_text};
use crate::export::{ExportKind, Stretch, compose_order, export, sha256_of_file};
use crate::history::History;
use crate::relations::{self, Resolution};
use crate::verify;
use anyhow::{Context, ensure};

/// The strongest of the levels asked for that holds.
pub(super) fn strongest(findings: &Findings) -> anyhow::Result<&LevelResult> {
    let satisfied = findings
        .levels
        .iter()
        .filter(|result| matches!(result.verdict, Verdict::Satisfied(_)));
    satisfied
        .max_by_key(|result| result.level)
        .with_context(|| {
            let verdicts: Vec<String> = findings
                .levels
                .iter()
                .map(|result| format!("{}: {}", result.level, result.verdict.word()))
                .collect();
            format!(
                "no level is satisfied, so there is no order to show ({})",
                verdicts.join(", ")
            )
        })
}

/// Why the strongest level that holds does; none if none holds. `plain` text or Markdown, at length or not.
pub(super) fn explained(
    history: &History,
    findings: &Findings,
    (plain, long): (bool, bool),
    control: &Control,
) -> anyhow::Result<Option<String>> {
    let has_items = history
        .workload()
        .is_none_or(|workload| workload.has_items());
    let Some(result) = strongest(findings).ok().filter(|_| has_items) else {
        return Ok(None);
    };
    let resolution = relations::resolve(history, control)?;
    let passes = passes(history, &resolution, result, control)?;
    let text = if plain { plain_text } else { markdown };
    Ok(Some(text(&passes, &surroundings(findings), long)))
}

fn passes<'a>(
    history: &'a History,
    resolution: &'a Resolution,
    result: &'a LevelResult,
    control: &Control,
) -> anyhow::Result<Passes<'a>> {
    // Every verdict was verified before it got here, unless there is nothing to replay.
    let is_verified = result.level.is_of_reads() || verify::can_replay(history);
    let passes = Passes::new(history, resolution, result, is_verified, control)?;
    passes.with_context(|| format!("{}: no order is known", result.level))
}

fn surroundings(findings: &Findings) -> Surroundings<'_> {
    Surroundings {
        assumptions: &findings.assumptions,
        verdicts: findings.verdicts().collect(),
    }
}

/// Writes the order as a picture or as text.
pub(super) fn write(
    arguments: &ExportArguments,
    kind: ExportKind,
    (history, findings): (&History, &Findings),
    control: &Control,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let name = || arguments.output.display().to_string();
    ensure!(
        kind.is_of_orders(),
        "{}: `--witness` goes with svg, png, tex, md or txt",
        name()
    );
    let resolution = relations::resolve(history, control)?;
    let result = strongest(findings).with_context(|| arguments.file.display().to_string())?;
    let passes = passes(history, &resolution, result, control)?;
    let stretch = stretch(&passes, arguments)?;
    let sha256 = sha256_of_file(&arguments.file).ok();
    let picture = compose_order(
        &passes,
        &surroundings(findings),
        stretch,
        sha256.as_deref(),
        control,
    )?;
    if kind == ExportKind::Png {
        super::complain_of_fonts(history);
    }
    let bytes = export(kind, &picture).with_context(name)?;
    output::write_file(&arguments.output, out, |file| Ok(file.write_all(&bytes)?))?;
    Ok(ExitCode::Satisfied)
}

/// Which part of the order to draw.
fn stretch(passes: &Passes<'_>, arguments: &ExportArguments) -> anyhow::Result<Stretch> {
    let Some(from) = &arguments.from else {
        return Ok(Stretch::default());
    };
    let history = passes.history();
    let place = passes
        .lines
        .iter()
        .position(|line| history.transaction_name(line.transaction) == *from);
    let first = place.with_context(|| {
        let some = passes
            .lines
            .first()
            .map(|line| history.transaction_name(line.transaction));
        format!(
            "`--from {from}`: no such transaction is in the order{}",
            some.map_or(String::new(), |some| format!(
                ", expected a name like {some}"
            ))
        )
    })?;
    Ok(Stretch { first })
}
