//! `isoscope check`: verdicts and anomalies of histories, as text or JSON.

mod asked;
mod text;

use super::input;
use super::output::{Output, write_file};
use super::progress::{self, Meter};
use super::self_check::SelfCheck;
use super::shards::{self, Share, Target};
use super::{CheckArguments, ExitCode, claims, complain, disagreements, follow, paging, pool};
use crate::audit;
use crate::checkers::lattice::Promise;
use crate::checkers::{self, Findings, Options, Page};
use crate::control::Control;
use crate::export::pipeline::{self, Tested};
use crate::formats::fields;
use crate::formats::{self, ListedFile, OpenError};
use crate::health::{self, Health};
use crate::history::{History, TransactionId, visible};
use crate::papers::{self, Choice};
use crate::relations::{self, Resolution};
use crate::report::{self, Document, Failure, Settings, Tally};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub(super) fn run(arguments: &CheckArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    if claims::listed(arguments.claim, out) {
        return Ok(ExitCode::Satisfied);
    }
    anyhow::ensure!(!arguments.paths.is_empty(), "no history is given");
    if let Some(name) = &arguments.reading.format {
        input::known_format(name)?;
    }
    asked::checker_can(arguments)?;
    if arguments.follow.follow {
        return follow::run(arguments, out);
    }
    let pool = pool(arguments.threads)?;
    let files = formats::histories(&arguments.paths, &Control::new())?;
    if arguments.count_by.is_some() && files.len() > 1 && !arguments.json {
        anyhow::bail!("--count-by needs a single history, or --json");
    }
    let job = Job {
        arguments,
        pool,
        files,
        share: shards::share(arguments)?,
        tested: Mutex::default(),
    };
    let mut worst = ExitCode::Satisfied;
    match &arguments.output {
        None => worst = job.run(&mut Target::Screen(out))?,
        Some(output) => write_file(output, out, |file| {
            worst = job.run(&mut Target::File(file))?;
            Ok(())
        })?,
    }
    let tested = job
        .tested
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(output) = &arguments.junit {
        write_file(output, out, |file| {
            Ok(file.write_all(pipeline::junit(&tested)?.as_bytes())?)
        })?;
    }
    if let Some(output) = &arguments.sarif {
        write_file(output, out, |file| {
            Ok(serde_json::to_writer_pretty(
                file,
                &pipeline::sarif(&tested),
            )?)
        })?;
    }
    Ok(worst)
}

/// Histories to check.
struct Job<'a> {
    arguments: &'a CheckArguments,
    pool: rayon::ThreadPool,
    files: Vec<ListedFile>,
    share: Option<Share>,
    /// For pipelines, if one of their files is requested.
    tested: Mutex<Vec<Tested>>,
}

impl Job<'_> {
    /// What the database promises, if that is claimed.
    fn promise(&self) -> Option<&'static Promise> {
        claims::promised(self.arguments.claim)
    }

    /// Whether a file for pipelines is requested.
    fn is_for_pipelines(&self) -> bool {
        self.arguments.junit.is_some() || self.arguments.sarif.is_some()
    }

    /// Writes a document as JSON if that is requested, and keeps what pipelines need of it.
    fn document(&self, document: &Document, target: &mut Target<'_>) -> anyhow::Result<()> {
        if self.is_for_pipelines() {
            self.tested
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(Tested::new(document));
        }
        if self.arguments.json {
            target.document(document)
        } else {
            Ok(())
        }
    }

    /// Checks them one after another.
    fn run(&self, target: &mut Target<'_>) -> anyhow::Result<ExitCode> {
        let is_batch = self.files.len() > 1;
        let width = self
            .files
            .iter()
            .map(|found| shown_path(found).chars().count())
            .max()
            .unwrap_or(0)
            .min(60);
        let mut worst = ExitCode::Satisfied;
        for (place, found) in self.files.iter().enumerate() {
            if let Some(share) = self.share
                && let Some(elsewhere) = shards::elsewhere(share, place, found, self.arguments)
            {
                self.document(&elsewhere, target)?;
                continue;
            }
            let code = match found {
                ListedFile::History(path) => {
                    let meter = Meter::new(is_batch.then_some((place, self.files.len())));
                    self.check_file(path, is_batch.then_some(width), &meter, target)?
                }
                ListedFile::Unusable { path, message } => {
                    self.fail(&path.to_string_lossy(), "file", message, target)?
                }
            };
            worst = worst.max(code);
        }
        Ok(worst)
    }

    /// Reports that an input cannot be read.
    fn fail(
        &self,
        path: &str,
        place: &str,
        message: &str,
        target: &mut Target<'_>,
    ) -> anyhow::Result<ExitCode> {
        let at = if place == "file" {
            String::new()
        } else {
            format!(" {place}:")
        };
        complain(&format!("{path}:{at} {message}"));
        self.document(
            &Document::Failure(Failure::new(path, place, message)),
            target,
        )?;
        Ok(ExitCode::Unusable)
    }

    /// Checks one history and prints the findings. In text output the verdicts appear before everything is counted.
    fn check_file(
        &self,
        path: &Path,
        line_width: Option<usize>,
        meter: &Meter,
        target: &mut Target<'_>,
    ) -> anyhow::Result<ExitCode> {
        let control = self.arguments.limits.control();
        let is_page = line_width.is_none() && !self.arguments.json;
        let line = || meter.line(&control);
        let decide = || self.pool.install(|| self.decide(path, &control, is_page));
        let decided = match progress::shown(line, decide) {
            Ok(decided) => decided,
            Err(error) => {
                return self.fail(
                    &path.to_string_lossy(),
                    &error.place(),
                    &error.message(),
                    target,
                );
            }
        };
        if is_page {
            target.text(|out| {
                let promise = self
                    .promise()
                    .map(|promise| claims::line(promise, &decided.checked.findings, out));
                text::head(&visible(&path.display().to_string()), &decided.checked, out)
                    + &promise.unwrap_or_default()
            });
        }
        let known = if is_page {
            self.known_before_counting(path, &decided)
        } else {
            String::new()
        };
        let checked =
            progress::shown_with(&known, line, || self.pool.install(|| self.list(decided)));
        self.print(path, &checked, line_width, target)?;
        let of_promise =
            |promise: &Promise| claims::verdict(promise.is_kept(&checked.findings.levels)).into();
        let code = self
            .promise()
            .map_or_else(|| ExitCode::of(&checked.findings), of_promise);
        let asks_for_levels = self.arguments.all_levels || !self.arguments.level.is_empty();
        let code = code
            .of_workload(&checked.history, asks_for_levels)
            .where_tested(checked.health.is_tested() || self.arguments.empty.allow_empty)
            .where_tested(!formats::is_excerpt(&checked.history));
        Ok(disagreements::reported(path, &checked.findings, code))
    }

    /// A violation of each kind, to be shown at a terminal while all are counted; empty where nothing is shown or counted.
    fn known_before_counting(
        &self,
        path: &Path,
        Decided {
            checked, options, ..
        }: &Decided,
    ) -> String {
        let Checked {
            history,
            findings,
            control,
            ..
        } = checked;
        if progress::is_seen() && options.counts && findings.can_be_counted() {
            text::violations(
                "Violations found so far",
                &path.display().to_string(),
                history,
                findings,
                control,
                &Output::new(),
            )
        } else {
            String::new()
        }
    }

    /// Reads and decides one history. Counting is postponed if it `waits`.
    fn decide(&self, path: &Path, control: &Control, waits: bool) -> Result<Decided, OpenError> {
        let (history, read_seconds) = input::open(path, &self.arguments.reading, control)?;
        let history = history.tested_as(self.arguments.tested.said.as_deref());
        let options = asked::options(self.arguments, &history);
        // If deciding includes counting, or nothing is listed, it is counted at once.
        let waits =
            waits && options.max_instances > 0 && !checkers::has_repeated_elements(&history);
        let first = Options {
            counts: options.counts && !waits,
            ..options.clone()
        };
        let self_check = SelfCheck::of(self.arguments);
        let resolution = resolve(&history, control);
        let choice = asked::choice(self.arguments);
        let (health, mut findings) =
            examine_and_check(&history, &resolution, choice, &first, self_check, control);
        if self.asks_for_other_orders(waits || self.arguments.json)
            && let Some(resolution) = &resolution.0
        {
            let (known, seconds) = (&findings.levels, findings.check_seconds);
            findings.others = Some(audit::on_other_orders(
                &history, resolution, known, seconds, control,
            ));
        }
        let control = control.clone();
        let checked = Checked {
            history,
            health,
            findings,
            read_seconds,
            window: None,
            tally: None,
            control,
        };
        Ok(Decided {
            checked,
            resolution: resolution.0,
            options,
        })
    }

    /// Whether the strongest orders are to be found: if no levels are named and a report can say so.
    fn asks_for_other_orders(&self, can_be_shown: bool) -> bool {
        let CheckArguments {
            level, all_levels, ..
        } = self.arguments;
        let is_checked = SelfCheck::of(self.arguments) != SelfCheck::Off;
        can_be_shown && is_checked && level.is_empty() && !all_levels
    }

    /// Counts what is not counted yet, and lists what was requested.
    fn list(&self, decided: Decided) -> Checked {
        let Decided {
            mut checked,
            resolution,
            options,
        } = decided;
        let Checked {
            history,
            findings,
            window,
            tally,
            control,
            ..
        } = &mut checked;
        let control = &*control;
        let self_check = SelfCheck::of(self.arguments);
        if let Some(resolution) = resolution.filter(|_| options.counts && findings.can_be_counted())
        {
            let count = if self_check == SelfCheck::Off {
                checkers::count
            } else {
                audit::count
            };
            let others = findings.others.take();
            *findings = Findings {
                others,
                ..count(
                    history,
                    resolution,
                    std::mem::take(findings),
                    &options,
                    control,
                )
            };
        }
        let counted = self.arguments.count_by.map(|by| (by, findings.clone()));
        match self.arguments.instances {
            Some(pattern) => {
                let page = Page {
                    pattern,
                    offset: self.arguments.offset,
                    limit: self.arguments.limit,
                };
                match paging::instances(history, findings, page, self_check, control) {
                    Ok(instances) => findings.violations = instances,
                    Err(interrupt) => {
                        findings.violations.clear();
                        findings.end_early(interrupt);
                    }
                }
                *window = Some(page);
            }
            None => paging::list(
                history,
                findings,
                self.arguments.max_instances,
                self_check,
                control,
            ),
        }
        *tally = counted.map(|(by, findings)| report::tally(history, &findings, by, control));
        checked
    }

    /// Prints the findings on one history: in one line with this path width, or in full.
    fn print(
        &self,
        path: &Path,
        checked: &Checked,
        line_width: Option<usize>,
        target: &mut Target<'_>,
    ) -> anyhow::Result<()> {
        let Checked {
            history,
            health,
            findings,
            read_seconds,
            window,
            ..
        } = checked;
        let path = visible(&path.display().to_string());
        if !self.arguments.json {
            target.text(|out| match line_width {
                Some(width) => text::line(&path, width, checked, out),
                None => text::tail(&path, checked, out),
            });
            if !self.is_for_pipelines() {
                return Ok(());
            }
        }
        let settings = Settings {
            read_seconds: *read_seconds,
            witness: self.arguments.witness,
        };
        let mut report = report::with_health(
            report::of_findings(history, findings, settings),
            history,
            health,
        );
        let mut listing = report::listing(self.arguments.max_instances, *window);
        if !findings.is_counted() {
            listing.counted = "nothing".to_owned();
        } else if findings.cut.is_some() {
            listing.counted = "the instances found before a limit ended the work".to_owned();
        }
        listing.tally = checked.tally.clone();
        report.listing = Some(listing);
        report.history.fields = fields_of(history, findings);
        report.promised = self
            .promise()
            .map(|promise| claims::entry(promise, findings));
        if let Some(share) = self.share {
            let levels = report.levels.iter().map(|entry| entry.level).collect();
            report.part = Some(share.entry(levels));
        }
        self.document(&Document::Report(Box::new(report)), target)
    }
}

/// What else the log says of the transactions of violations and findings.
fn fields_of(history: &History, findings: &Findings) -> BTreeMap<String, BTreeMap<String, String>> {
    let facts = history
        .workload()
        .map_or(&[][..], |workload| &workload.facts);
    let of_facts = facts.iter().flat_map(|fact| &fact.calls);
    let violations = findings.violations.iter();
    let all: Vec<TransactionId> = violations
        .flat_map(|violation| violation.transactions.iter().copied())
        .chain(of_facts.map(|call| call.transaction))
        .collect();
    let fields = fields::of(history, &all, &Control::new());
    let fields = fields.into_iter();
    fields
        .map(|(t, fields)| {
            (
                history.exact_transaction_name(t),
                fields.into_iter().collect(),
            )
        })
        .collect()
}

fn shown_path(found: &ListedFile) -> String {
    match found {
        ListedFile::History(path) | ListedFile::Unusable { path, .. } => {
            visible(&path.display().to_string())
        }
    }
}

/// A history whose levels are decided.
struct Decided {
    checked: Checked,
    /// Of its reads, if there was time to resolve them.
    resolution: Option<Arc<Resolution>>,
    options: Options,
}

/// A history with its findings.
struct Checked {
    history: History,
    health: Health,
    findings: Findings,
    read_seconds: f64,
    /// The requested instances; the findings list only these.
    window: Option<Page>,
    tally: Option<Tally>,
    /// The limits for what is still to be done.
    control: Control,
}

/// The resolved reads, once for everything, and the seconds it took; none if `control` ends the work first.
pub(super) fn resolve(history: &History, control: &Control) -> (Option<Arc<Resolution>>, f64) {
    let begin = Instant::now();
    let resolution = relations::resolve(history, control).map(Arc::new).ok();
    (resolution, begin.elapsed().as_secs_f64())
}

/// If the reads could not be resolved, nothing is known about the health.
pub(super) fn examine_and_check(
    history: &History,
    (resolution, resolve_seconds): &(Option<Arc<Resolution>>, f64),
    choice: Choice,
    options: &Options,
    self_check: SelfCheck,
    control: &Control,
) -> (Health, Findings) {
    let Some(resolution) = resolution else {
        return (
            Health::default(),
            papers::check(history, choice, options, control, &|_| {}),
        );
    };
    let (health, mut findings) = rayon::join(
        || health::examine(history, resolution, control).unwrap_or_default(),
        || match self_check {
            SelfCheck::OfVerdicts => {
                audit::verdicts(history, Arc::clone(resolution), options, control)
            }
            SelfCheck::OfWitnesses => {
                audit::check_resolved(history, Arc::clone(resolution), options, control, &|_| {})
            }
            SelfCheck::Off => papers::check_resolved(
                history,
                Arc::clone(resolution),
                choice,
                options,
                control,
                &|_| {},
            ),
        },
    );
    findings.index_seconds += *resolve_seconds;
    (health, findings)
}
