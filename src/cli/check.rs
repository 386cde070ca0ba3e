//! `isoscope check`: verdicts and anomalies of histories, as text or JSON.

use super::claims;
use super::explain::also_visible_as;
use super::input;
use super::output::{Output, Paint, code_width, write_file};
use super::progress::{self, Meter};
use super::self_check::SelfCheck;
use super::shards::{self, Target};
use super::values::Claim;
use super::{CheckArguments, ExitCode, complain, disagreements, follow, paging};
use crate::audit::{self, Example, Examples};
use crate::checkers::lattice::{Promise, holds, strongest_satisfied};
use crate::checkers::{
    self, Cause, Checker, Findings, Level, LevelResult, Options, Page, Pattern, Share, Verdict, Violation,
};
use crate::control::{Control, NOT_ALL_LISTED};
use crate::export::pipeline::{self, Tested};
use crate::formats::{self, Found, OpenError};
use crate::health::{self, Health, Severity};
use crate::history::{History, visible};
use crate::papers::{self, Choice};
use crate::relations::{self, Resolution};
use crate::report::{Document, Failure, ListingEntry, PartEntry, Report, Settings, Tally, grouped};
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of violations shown in text output, over all patterns.
const SHOWN: usize = 8;

/// How long all of them together may be minimized.
const MINIMIZING_ALL: Duration = Duration::from_secs(1);

/// Maximum number of rows shown of what instances have in common.
const SHOWN_IN_COMMON: usize = 20;

/// Maximum number of findings about the history's health shown before the verdicts.
const SHOWN_DOUBTS: usize = 4;

pub(super) fn run(arguments: &CheckArguments, out: &mut Output) -> anyhow::Result<ExitCode> {
    if let Some(Claim::Help) = arguments.claim {
        let list = claims::list(out);
        out.text(&list);
        return Ok(ExitCode::Satisfied);
    }
    anyhow::ensure!(!arguments.paths.is_empty(), "no history is given");
    if let Some(name) = &arguments.reading.format {
        input::known_format(name)?;
    }
    checker_can(arguments)?;
    if arguments.follow.follow {
        return follow::run(arguments, out);
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads.map_or(0, usize::from))
        .build()
        .context("threads cannot be started")?;
    let files = formats::histories(&arguments.paths, &Control::new())?;
    if arguments.count_by.is_some() && files.len() > 1 && !arguments.json {
        anyhow::bail!("--count-by needs a single history, or --json");
    }
    let job = Job { arguments, pool, files, share: shards::share(arguments)?, tested: Mutex::default() };
    let mut worst = ExitCode::Satisfied;
    match &arguments.output {
        None => worst = job.run(&mut Target::Screen(out))?,
        Some(output) => write_file(output, out, |file| {
            worst = job.run(&mut Target::File(file))?;
            Ok(())
        })?,
    }
    let tested = job.tested.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(output) = &arguments.junit {
        write_file(output, out, |file| Ok(file.write_all(pipeline::junit(&tested)?.as_bytes())?))?;
    }
    if let Some(output) = &arguments.sarif {
        write_file(output, out, |file| Ok(serde_json::to_writer_pretty(file, &pipeline::sarif(&tested))?))?;
    }
    Ok(worst)
}

/// Histories to check.
struct Job<'a> {
    arguments: &'a CheckArguments,
    pool: rayon::ThreadPool,
    files: Vec<Found>,
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
            self.tested.lock().unwrap_or_else(PoisonError::into_inner).extend(Tested::new(document));
        }
        if self.arguments.json { target.document(document) } else { Ok(()) }
    }

    /// Checks them one after another.
    fn run(&self, target: &mut Target<'_>) -> anyhow::Result<ExitCode> {
        let is_batch = self.files.len() > 1;
        let width = self.files.iter().map(|found| shown_path(found).chars().count()).max().unwrap_or(0).min(60);
        let mut worst = ExitCode::Satisfied;
        for (place, found) in self.files.iter().enumerate() {
            if is_batch
                && let Some(share) = self.share
                && let Some(elsewhere) = shards::elsewhere(share, place, found, self.arguments)
            {
                self.document(&elsewhere, target)?;
                continue;
            }
            let code = match found {
                Found::History(path) => {
                    let meter = Meter::new(is_batch.then_some((place, self.files.len())));
                    self.check_file(path, is_batch.then_some(width), &meter, target)?
                }
                Found::Unusable { path, message } => self.fail(&path.to_string_lossy(), "file", message, target)?,
            };
            worst = worst.max(code);
        }
        Ok(worst)
    }

    /// Reports that an input cannot be read.
    fn fail(&self, path: &str, place: &str, message: &str, target: &mut Target<'_>) -> anyhow::Result<ExitCode> {
        let at = if place == "file" { String::new() } else { format!(" {place}:") };
        complain(&format!("{path}:{at} {message}"));
        self.document(&Document::Failure(Failure::new(path, place, message)), target)?;
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
        let control = match self.arguments.memory_limit {
            Some(megabytes) => Control::new().with_memory_limit((megabytes as usize) << 20),
            None => Control::new(),
        };
        let is_page = line_width.is_none() && !self.arguments.json;
        let line = || meter.line(&control);
        let decide = || self.pool.install(|| self.decide(path, &control, is_page));
        let decided = match progress::shown(line, decide) {
            Ok(decided) => decided,
            Err(error) => return self.fail(&path.to_string_lossy(), &error.place(), &error.message(), target),
        };
        if is_page {
            target.text(|out| {
                let promise = self.promise().map(|promise| claims::line(promise, &decided.checked.findings, out));
                head(&visible(&path.display().to_string()), &decided.checked, out) + &promise.unwrap_or_default()
            });
        }
        let known = if is_page { self.known_before_counting(path, &decided) } else { String::new() };
        let checked = progress::shown_with(&known, line, || self.pool.install(|| self.list(decided)));
        self.print(path, &checked, line_width, target)?;
        let of_promise = |promise: &Promise| ExitCode::of_promise(promise.is_kept(&checked.findings.levels));
        let code = self.promise().map_or_else(|| ExitCode::of(&checked.findings), of_promise);
        Ok(disagreements::told(path, &checked.findings, code))
    }

    /// A violation of each kind, to be shown at a terminal while all are counted; empty where nothing is shown or counted.
    fn known_before_counting(&self, path: &Path, Decided { checked, options, .. }: &Decided) -> String {
        let Checked { history, findings, .. } = checked;
        match progress::is_seen() && options.counts && findings.can_be_counted() {
            true => {
                violations("Violations found so far", &path.display().to_string(), history, findings, &Output::new())
            }
            false => String::new(),
        }
    }

    /// Reads and decides one history, or a share of it if it is the only one. Counting is postponed if it `waits`.
    fn decide(&self, path: &Path, control: &Control, waits: bool) -> Result<Decided, OpenError> {
        let begin = Instant::now();
        let limited = |control: &Control| match self.arguments.time_limit {
            Some(seconds) => control.with_time_limit(Duration::from_secs_f64(seconds).saturating_sub(begin.elapsed())),
            None => control.clone(),
        };
        // Reading an input that may never end is stopped by the time limit; a file is read whatever that takes, and what is
        // left of the limit is for its levels.
        let is_foreseen = formats::has_known_size(path);
        let mut control = if is_foreseen { control.clone() } else { limited(control) };
        let (history, read_seconds) = input::open_within(path, &self.arguments.reading, &control)?;
        if is_foreseen {
            control = limited(&control);
        }
        let share = self.share.filter(|_| self.files.len() == 1);
        let options = Options { share, ..options(self.arguments, &history) };
        // If deciding includes counting, or nothing is listed, it is counted at once.
        let waits = waits && options.max_instances > 0 && !checkers::has_repeated_elements(&history);
        let first = Options { counts: options.counts && !waits, ..options.clone() };
        let self_check = SelfCheck::of(self.arguments);
        let resolution = resolve(&history, &control);
        let choice = choice(self.arguments);
        let (health, mut findings) = examine_and_check(&history, &resolution, choice, &first, self_check, &control);
        if self.asks_for_other_orders(waits || self.arguments.json)
            && let Some(resolution) = &resolution.0
        {
            let (known, seconds) = (&findings.levels, findings.check_seconds);
            findings.others = Some(audit::on_other_orders(&history, resolution, known, seconds, &control));
        }
        let checked = Checked { history, health, findings, read_seconds, window: None, tally: None };
        Ok(Decided { checked, resolution: resolution.0, options, control })
    }

    /// Whether the strongest orders are to be found: if no levels are named and it can be told.
    fn asks_for_other_orders(&self, is_told: bool) -> bool {
        let CheckArguments { level, all_levels, .. } = self.arguments;
        // Of several histories a shard checks some as a whole.
        let is_whole =
            (self.share.is_none() || self.files.len() > 1) && SelfCheck::of(self.arguments) != SelfCheck::Off;
        is_told && is_whole && level.is_empty() && !all_levels
    }

    /// Counts what is not counted yet, and lists what was requested.
    fn list(&self, decided: Decided) -> Checked {
        let Decided { mut checked, resolution, options, control } = decided;
        let Checked { history, findings, window, tally, .. } = &mut checked;
        let self_check = SelfCheck::of(self.arguments);
        if let Some(resolution) = resolution.filter(|_| options.counts && findings.can_be_counted()) {
            let count = if self_check == SelfCheck::Off { checkers::count } else { audit::count };
            let others = findings.others.take();
            *findings = Findings { others, ..count(history, resolution, std::mem::take(findings), &options, &control) };
        }
        let counted = self.arguments.count_by.map(|by| (by, findings.clone()));
        match self.arguments.instances {
            Some(pattern) => {
                let page = Page { pattern, offset: self.arguments.offset, limit: self.arguments.limit };
                match paging::instances(history, findings, page, self_check, &control) {
                    Ok(instances) => findings.violations = instances,
                    Err(interrupt) => {
                        findings.violations.clear();
                        findings.assumptions.push(format!("{NOT_ALL_LISTED} ({interrupt})."));
                    }
                }
                *window = Some(page);
            }
            None => paging::list(history, findings, self.arguments.max_instances, self_check, &control),
        }
        *tally = counted.map(|(by, findings)| Tally::new(history, &findings, by, &control));
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
        let Checked { history, health, findings, read_seconds, window, .. } = checked;
        let path = visible(&path.display().to_string());
        if !self.arguments.json {
            target.text(|out| match line_width {
                Some(width) => line(&path, width, findings, out),
                None => tail(&path, checked, out),
            });
            if !self.is_for_pipelines() {
                return Ok(());
            }
        }
        let settings = Settings { read_seconds: *read_seconds, witness: self.arguments.witness };
        let mut report = Report::new(history, findings, settings).with_health(history, health);
        let mut listing = ListingEntry::new(self.arguments.max_instances, *window);
        if !findings.is_counted() {
            listing.counted = "nothing".to_owned();
        } else if findings.is_cut() {
            listing.counted = "the instances found before a limit ended the work".to_owned();
        }
        listing.tally = checked.tally.clone();
        report.listing = Some(listing);
        report.promised = self.promise().map(|promise| claims::entry(promise, findings));
        if let (None, Some(share)) = (&report.part, self.share) {
            let levels = report.levels.iter().map(|entry| entry.level.clone()).collect();
            report.part = Some(PartEntry::of_histories(share, levels));
        }
        self.document(&Document::Report(Box::new(report)), target)
    }
}

fn shown_path(found: &Found) -> String {
    match found {
        Found::History(path) | Found::Unusable { path, .. } => visible(&path.display().to_string()),
    }
}

/// A history whose levels are decided.
struct Decided {
    checked: Checked,
    /// Of its reads, if there was time to resolve them.
    resolution: Option<Arc<Resolution>>,
    options: Options,
    control: Control,
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
        return (Health::default(), papers::check(history, choice, options, control, &|_| {}));
    };
    // Only one of several shards reports the history's health.
    let is_asked = options.share.is_none_or(Share::is_first);
    let examine = || if is_asked { health::examine(history, resolution, control) } else { Ok(Health::default()) };
    let (health, mut findings) = rayon::join(
        || examine().unwrap_or_default(),
        || match self_check {
            SelfCheck::OfVerdicts => audit::verdicts(history, Arc::clone(resolution), options, control),
            SelfCheck::OfWitnesses => audit::check_resolved(history, Arc::clone(resolution), options, control, &|_| {}),
            SelfCheck::Off => {
                papers::check_resolved(history, Arc::clone(resolution), choice, options, control, &|_| {})
            }
        },
    );
    findings.index_seconds += *resolve_seconds;
    (health, findings)
}

/// Fails if the checker cannot do what is requested.
fn checker_can(arguments: &CheckArguments) -> anyhow::Result<()> {
    let checker = arguments.checker;
    let of_promise = claims::promised(arguments.claim).map(Promise::levels).unwrap_or_default();
    for &level in arguments.level.iter().chain(&of_promise) {
        if !checker.decides(level) {
            let decided: Vec<&str> = checker.levels().iter().map(|level| level.code()).collect();
            anyhow::bail!("the checker {checker} does not decide {level}, only {}", decided.join(", "));
        }
    }
    let options =
        [("--one-cm", arguments.one_cm), ("--rc", arguments.rc.is_some()), ("--count", arguments.count.is_some())];
    if arguments.instances.is_some() && checker != Checker::Fast {
        anyhow::bail!("--instances works only with the checker fast");
    }
    if arguments.count_by.is_some() && checker != Checker::Fast {
        anyhow::bail!("--count-by works only with the checker fast");
    }
    match options.into_iter().find(|(_, is_asked)| *is_asked && !checker.is_plume()) {
        Some((option, _)) => anyhow::bail!("{option} goes with the checkers plume, plume-tc and plume-dfs only"),
        None => Ok(()),
    }
}

fn options(arguments: &CheckArguments, history: &History) -> Options {
    let mut levels = Vec::new();
    for &level in &arguments.level {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    if arguments.all_levels {
        levels = Level::EVERY.into_iter().filter(|level| arguments.checker.decides(*level)).collect();
    }
    if levels.is_empty() {
        levels = Level::of(history);
        levels.retain(|level| arguments.checker.decides(*level));
        // A checker for other kinds of histories says so.
        if levels.is_empty() {
            levels = arguments.checker.levels();
        }
    }
    let promise = claims::promised(arguments.claim);
    let of_promise = promise.map(Promise::levels).unwrap_or_default();
    levels.extend(of_promise.into_iter().filter(|level| !levels.contains(level)).collect::<Vec<Level>>());
    if arguments.level.is_empty() {
        levels.sort_unstable();
    }
    let max_instances = paging::causes(arguments.max_instances);
    Options { levels, max_instances, counts: !arguments.verdicts_only, share: None }
}

fn choice(arguments: &CheckArguments) -> Choice {
    Choice {
        checker: arguments.checker,
        one_commit_order: arguments.one_cm,
        rc: arguments.rc.unwrap_or_default(),
        counting: arguments.count.unwrap_or_default(),
    }
}

fn paint_of(verdict: &Verdict) -> Paint {
    match verdict {
        Verdict::Satisfied(_) => Paint::Good,
        Verdict::Violated => Paint::Bad,
        Verdict::Undecided(_) => Paint::Open,
    }
}

/// Ids of patterns with what they mean and counts, in the order of the table.
fn counts(findings: &Findings) -> Vec<(&'static str, String, u64)> {
    let patterns = findings.published_patterns.as_ref().unwrap_or(&findings.patterns);
    let ours = Pattern::all().filter_map(|pattern| {
        let row = pattern.row();
        Some((row.id, format!("{}: {}", row.title, row.meaning), *patterns.get(&pattern)?))
    });
    let c4 = findings.c4_patterns.iter().map(|(pattern, &n)| (pattern.id(), pattern.meaning().to_owned(), n));
    ours.chain(c4).filter(|(.., n)| *n > 0).collect()
}

/// One history in one line.
fn line(path: &str, width: usize, findings: &Findings, out: &Output) -> String {
    let verdicts = findings.levels.iter().map(|result| {
        let mark = match result.verdict {
            Verdict::Satisfied(_) => '+',
            Verdict::Violated => '-',
            Verdict::Undecided(_) => '?',
        };
        // A star: the verdict only holds if some transactions set up the initial state.
        let condition = if result.assuming.is_empty() { "" } else { "*" };
        out.paint(paint_of(&result.verdict), &format!("{}{mark}{condition}", result.level))
    });
    let counts: Vec<String> = counts(findings).into_iter().map(|(id, _, n)| format!("{id} {}", grouped(n))).collect();
    let patterns = if counts.is_empty() { String::new() } else { format!("  {}", counts.join(", ")) };
    format!("{path:width$}  {}{patterns}\n", verdicts.collect::<Vec<_>>().join(" "))
}

/// The first part of the report on one history: what it is, whether it can be trusted, and the verdicts.
fn head(path: &str, checked: &Checked, out: &Output) -> String {
    let Checked { history, health, findings, .. } = checked;
    let mut facts = facts(history);
    if findings.checker != Checker::Fast {
        facts += &format!(" · checked by {}", findings.checker);
    }
    let mut text = format!("{}  {}\n\n", out.paint(Paint::Strong, path), out.paint(Paint::Faint, &facts));
    text += &about(history, out);
    text += &doubts(path, health, out);
    for result in &findings.levels {
        text += &level_line(history, result, code_width(findings), out);
    }
    text += &without_sessions(findings);
    text += &strongest(findings, out);
    text += &not_decided(findings);
    text + &claims::in_files(history, findings, out)
}

/// "Without session order, P-RA and P-SI hold." of levels that are violated.
fn without_sessions(findings: &Findings) -> String {
    let others: Vec<&LevelResult> = findings.others.iter().flatten().collect();
    let violated = findings.levels.iter().filter(|result| result.verdict == Verdict::Violated);
    let plain = violated.filter_map(|result| result.level.plain_form());
    let held: Vec<&str> = plain.filter(|plain| holds(&others, *plain) == Some(true)).map(Level::code).collect();
    match held.split_last() {
        None => String::new(),
        Some((only, [])) => format!("\nWithout session order, {only} holds.\n"),
        Some((last, rest)) => format!("\nWithout session order, {} and {last} hold.\n", rest.join(", ")),
    }
}

/// The levels on other orders for which there was too little time, and how to ask for them.
fn not_decided(findings: &Findings) -> String {
    let is_cut = |result: &&LevelResult| matches!(result.verdict, Verdict::Undecided(Cause::Interrupted(_)));
    let cut = findings.others.iter().flatten().filter(is_cut);
    let codes: Vec<&str> = cut.map(|result| result.level.code()).collect();
    match codes.is_empty() {
        true => String::new(),
        false => format!("\nNot decided in the time for other orders: {}; --level decides them\n", codes.join(",")),
    }
}

/// The strongest levels that hold, where they are others than the usual ones or these were not the only ones asked for.
fn strongest(findings: &Findings, out: &Output) -> String {
    let holds = strongest_satisfied(findings.verdicts());
    let is_usual = |level: Level| level.row().usual;
    match findings.levels.iter().map(|result| result.level).chain(holds.iter().copied()).all(is_usual) {
        true => String::new(),
        false if holds.is_empty() => String::new(),
        false => {
            let codes: Vec<&str> = holds.into_iter().map(Level::code).collect();
            format!("\n{}  {}\n", out.paint(Paint::Strong, "Strongest checked that hold"), codes.join(", "))
        }
    }
}

/// What accompanying files say about the history.
fn about(history: &History, out: &Output) -> String {
    let lines: Vec<String> =
        history.origin().about.iter().map(|line| format!("  {}\n", out.paint(Paint::Faint, line))).collect();
    if lines.is_empty() { String::new() } else { lines.concat() + "\n" }
}

/// What violates the levels, and the assumptions.
fn tail(path: &str, checked: &Checked, out: &Output) -> String {
    let Checked { history, findings, .. } = checked;
    let mut text = String::new();
    let counts = counts(findings);
    if !counts.is_empty() {
        let bound = if findings.is_cut() { "at least " } else { "" };
        let heading = match findings.published_patterns {
            Some(_) => "Anomalies, as Plume's published program counts them",
            None => "Anomalies",
        };
        text += &format!("\n{}\n", out.paint(Paint::Strong, heading));
        let id_width = counts.iter().map(|(id, ..)| id.len()).max().unwrap_or(0);
        let count_width = counts.iter().map(|(.., n)| grouped(*n).len()).max().unwrap_or(0);
        for (id, meaning, n) in counts {
            text += &format!("  {id:id_width$}  {bound}{:>count_width$}  {meaning}\n", grouped(n));
        }
    }
    if let Some(tally) = &checked.tally {
        text += &common(tally, out);
    }
    text += &match checked.window {
        Some(window) => paging::text(history, findings, window, out),
        None => violations("Violations", path, history, findings, out),
    };
    for assumption in &findings.assumptions {
        text += &format!("\n{} {assumption}\n", out.paint(Paint::Faint, "Assumed:"));
    }
    text
}

/// What most instances have in common.
fn common(tally: &Tally, out: &Output) -> String {
    let bound = if tally.is_cut { "at least " } else { "" };
    let mut text = format!("\n{}\n", out.paint(Paint::Strong, &format!("Anomalies by {}", tally.by)));
    let shown = &tally.rows[..tally.rows.len().min(SHOWN_IN_COMMON)];
    let width = shown.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let count_width = shown.iter().map(|row| grouped(row.instances).len()).max().unwrap_or(0);
    for row in shown {
        let of_patterns: Vec<String> = row.patterns.iter().map(|(id, n)| format!("{id} {}", grouped(*n))).collect();
        let (name, instances, patterns) = (&row.name, grouped(row.instances), of_patterns.join(", "));
        text += &format!("  {name:width$}  {bound}{instances:>count_width$}  {}\n", out.paint(Paint::Faint, &patterns));
    }
    let others = &tally.rows[shown.len()..];
    if !others.is_empty() {
        let instances = grouped(others.iter().map(|row| row.instances).sum());
        let n = grouped(others.len() as u64);
        text += &format!("  and {n} more rows with {bound}{instances} instances; --json lists them all\n");
    }
    text
}

/// What casts doubt on the verdicts that follow, if anything does.
fn doubts(path: &str, health: &Health, out: &Output) -> String {
    let n = health.doubts().count();
    if n == 0 {
        return String::new();
    }
    let mut text = format!("{}\n", out.paint(Paint::Strong, "Can the history be trusted?"));
    for finding in health.doubts().take(SHOWN_DOUBTS) {
        let paint = if finding.severity == Severity::Warning { Paint::Bad } else { Paint::Open };
        text += &format!("  {}  {}\n", out.paint(paint, finding.severity.word()), finding.text);
    }
    if n > SHOWN_DOUBTS {
        text += &format!("  and {} more: isoscope stats {}\n", n - SHOWN_DOUBTS, quoted(path));
    }
    text + "\n"
}

/// A path quoted for a shell.
fn quoted(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("'{path}'") } else { path.to_owned() }
}

fn facts(history: &History) -> String {
    let n = |n: usize, what: &str| format!("{} {what}{}", grouped(n as u64), if n == 1 { "" } else { "s" });
    let figures = history.recorded();
    let mut parts = vec![
        history.origin().format.to_owned(),
        n(figures.sessions, "session"),
        n(figures.transactions, "transaction"),
        n(figures.operations, "operation"),
        n(figures.keys, "key"),
    ];
    for (number, word) in [(figures.aborted, "aborted"), (figures.unknown, "of unknown outcome")] {
        if number > 0 {
            parts.push(format!("{} {word}", grouped(number as u64)));
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn level_line(history: &History, result: &LevelResult, width: usize, out: &Output) -> String {
    let word = result.verdict.word();
    let painted = out.paint(paint_of(&result.verdict), &format!("{word:9}"));
    let reason = match &result.verdict {
        Verdict::Undecided(cause) => format!("  ({cause})"),
        _ => result.condition(history).map_or(String::new(), |condition| format!("  (if {condition})")),
    };
    // Elle's keyword for a plain level is the name of another level here.
    let by_elle = result.level.row().elle.filter(|_| result.level.plain_of().is_some());
    let by_elle = by_elle.map(|keyword| format!(" (Elle's :{keyword})")).unwrap_or_default();
    let name = format!("{}{by_elle}", result.level.long_name());
    format!("  {:width$}  {painted}  {}{reason}\n", result.level.code(), out.paint(Paint::Faint, &name))
}

/// The first violations of each pattern that contain no simpler one, weakest level first, and how to see more.
fn violations(heading: &str, path: &str, history: &History, findings: &Findings, out: &Output) -> String {
    let examples = Examples::new(history, findings);
    let mut simpler = examples.simpler_ones().to_vec();
    let mut nth: BTreeMap<Pattern, u32> = BTreeMap::new();
    let mut ranked: Vec<(u32, usize, &Violation)> = Vec::new();
    for (place, violation) in findings.violations.iter().enumerate().filter(|(place, _)| simpler[*place].is_none()) {
        let n = nth.entry(violation.id.pattern).or_default();
        *n += 1;
        ranked.push((*n, place, violation));
    }
    // The first of every pattern, then the second of every pattern, …
    ranked.sort_by_key(|(n, _, violation)| (*n, violation.levels.weakest(), violation.id.pattern));
    let control = Control::new().with_time_limit(MINIMIZING_ALL);
    let mut chosen: Vec<(usize, Example)> = Vec::new();
    for (_, place, violation) in ranked {
        let example = examples.of(violation, &control);
        let listed = findings.violations.iter().position(|listed| listed.id == example.violation.id);
        let same = || chosen.iter().find(|(_, other)| other.shows_the_same_as(&example)).map(|(place, _)| *place);
        match listed.filter(|other| *other != place).or_else(same) {
            Some(other) => simpler[place] = Some(other),
            None => chosen.push((place, example)),
        }
        if chosen.len() == SHOWN {
            break;
        }
    }
    let Some((_, first)) = chosen.first() else { return String::new() };
    let mut text = format!("\n{}\n", out.paint(Paint::Strong, heading));
    let first = first.violation.id;
    chosen.sort_by_key(|(_, example)| (example.violation.levels.weakest(), example.violation.id));
    let width = chosen.iter().map(|(_, example)| example.violation.id.to_string().len()).max().unwrap_or(0);
    let weakest = chosen.iter().filter_map(|(_, example)| example.violation.levels.weakest());
    let codes = weakest.map(|level| level.code().len()).fold(3, usize::max);
    for (place, Example { violation, explanation, .. }) in &chosen {
        let level = violation.levels.weakest().map_or("", Level::code);
        let id = violation.id.to_string();
        text += &format!("  {id:width$}  {level:codes$}  {}\n", explanation.title);
        let also = also_visible_as(*place, findings, &simpler).map(|also| format!("{also}."));
        for line in [Some(explanation.summary.clone()), also].into_iter().flatten() {
            text += &format!("  {:width$}  {:codes$}  {}\n", "", "", out.paint(Paint::Faint, &line));
        }
    }
    text += &how_many_more(findings, chosen.len(), &simpler);
    if findings.is_counted() {
        let asked = asked_again(findings);
        text += &format!("\nisoscope explain {} --violation {first}{asked}   says why\n", quoted(path));
    }
    text
}

/// What asks for the same violations again: the levels, where others than the usual ones were asked for.
fn asked_again(findings: &Findings) -> String {
    let mut levels = findings.levels.iter().map(|result| result.level);
    match levels.any(|level| !level.row().usual) {
        true => {
            let codes: Vec<&str> = findings.levels.iter().map(|result| result.level.code()).collect();
            format!(" --level {}", codes.join(","))
        }
        false => String::new(),
    }
}

/// The number of violations counted but not shown.
fn how_many_more(findings: &Findings, shown: usize, simpler: &[Option<usize>]) -> String {
    // A checker with other patterns, or none, counts things other than those listed.
    let counted: u64 = findings.patterns.values().sum();
    let more = counted.max(findings.violations.len() as u64).saturating_sub(shown as u64);
    let consequences = simpler.iter().flatten().count() as u64;
    match (more, consequences) {
        (0, _) => String::new(),
        (_, 0) => format!("  and {} more\n", grouped(more)),
        (1, 1) => "  and 1 more, which contains one of these\n".to_owned(),
        _ if consequences == more => format!("  and {} more, which contain one of these\n", grouped(more)),
        _ => format!("  and {} more, of which {} contain a simpler one\n", grouped(more), grouped(consequences)),
    }
}
