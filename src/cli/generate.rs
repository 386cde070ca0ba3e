//! `isoscope generate`: a history from a workload and a store model.

use super::output::{self, Output};
use super::{ExitCode, GenerateArguments, convert, input, pool};
use crate::control::Control;
use crate::files;
use crate::formats::{self, Writer};
use rayon::prelude::*;
use std::path::Path;

pub(super) fn run(arguments: &GenerateArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    let seed = arguments.workload.seed;
    if arguments.workload.object().is_some() {
        let to = arguments.to.as_deref().unwrap_or("elle-edn");
        let is_edn = formats::format(to).is_some_and(|row| row.name == "elle-edn");
        let ending = arguments.output.extension();
        let is_edn = is_edn && ending.is_none_or(|ending| ending == "edn");
        anyhow::ensure!(
            is_edn,
            "logs are generated as elle-edn; `isoscope convert` has other notations"
        );
    }
    let Some(n) = arguments.histories else {
        if let Some(log) = arguments.log(seed) {
            let edn = log.edn();
            output::write_file(&arguments.output, out, |file| {
                Ok(file.write_all(edn.as_bytes())?)
            })?;
            return Ok(ExitCode::Satisfied);
        }
        let format =
            input::target_format(arguments.to.as_deref(), &arguments.output, Some("text"))?;
        let generation = arguments.generation(seed)?;
        let history = generation.history(&Control::new())?;
        convert::write(
            &history,
            format,
            &arguments.output,
            None,
            &Control::new(),
            out,
        )?;
        return Ok(ExitCode::Satisfied);
    };
    several(arguments, n, out)
}

/// Generates histories of consecutive seeds, each as a file named by its seed, into a folder that appears when it is
/// complete. A history depends only on its seed.
fn several(arguments: &GenerateArguments, n: u64, out: &mut Output) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        output::is_folder_name(&arguments.output),
        "--histories needs a folder: -o runs/"
    );
    let otherwise = match arguments.workload.object() {
        Some(_) => "elle-edn",
        None => "text",
    };
    let format = input::target_format(arguments.to.as_deref(), Path::new(""), Some(otherwise))?;
    anyhow::ensure!(
        matches!(formats::writer(format)?, Writer::File(_)),
        "--histories writes a file for each history, and in the format {format} a history is a folder"
    );
    let ending = formats::format(format)
        .and_then(|row| row.extensions.first())
        .unwrap_or(&"txt");
    let pool = pool(arguments.threads)?;
    let first = arguments.workload.seed;
    let width = first.saturating_add(n).to_string().len();
    let file = |seed: u64| -> anyhow::Result<(String, Vec<u8>)> {
        let name = format!("seed-{seed:0width$}.{ending}");
        if let Some(log) = arguments.log(seed) {
            return Ok((name, log.edn().into_bytes()));
        }
        let history = arguments.generation(seed)?.history(&Control::new())?;
        let mut bytes = Vec::new();
        formats::write(&history, format, &mut bytes)?;
        Ok((name, bytes))
    };
    let histories: Vec<_> = pool.install(|| {
        (0..n)
            .into_par_iter()
            .map(|at| file(first.wrapping_add(at)))
            .collect::<Result<_, _>>()
    })?;
    files::write_folder(&arguments.output, &histories)?;
    out.text(&format!(
        "{n} histories in {}\n",
        arguments.output.display()
    ));
    Ok(ExitCode::Satisfied)
}
