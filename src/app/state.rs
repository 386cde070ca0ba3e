//! Everything the window shows, as plain data.
//!
//! Panels read it and push [`Request`](super::command::Request)s; only [`App`](super::App) changes it. It knows no
//! widget and starts no work.

use super::arrangement::Undo;
use super::batch::Batch;
use super::checker_comparison::CheckerComparison;
use super::collecting::Collecting;
use super::figures::Figures;
use super::group_graph::GroupGraph;
use super::listing::Listing;
use super::load::Named;
use super::nav_history::Places;
use super::notes::Notes;
use super::palette::Palette;
use super::picture::{LayoutKind, Picture};
use super::playback::Stage;
use super::project::RestoreTarget;
use super::replaying::RunView;
use super::timeline::Timeline;
use super::tree::{Catalogue, Tree};
use super::versions::{Chain, Wanted};
use super::what_if::WhatIf;
use super::witness_view::Rows;
use crate::checkers::{Checker, Level, LevelResult, Verdict, ViolationId, Witness};
use crate::counterexample::replay::Replay;
use crate::export::{ExportKind, Overrides};
use crate::health::Health;
use crate::history::{self, History, OperationId, Rules, SessionId, TransactionId};
use crate::relations::{EdgeIndex, Relation, Resolution};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a history comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A bundled sample: place in the table.
    Sample(usize),
    /// Something dropped that has no path.
    Bytes {
        /// Its name.
        name: String,
        /// Its contents.
        bytes: Arc<[u8]>,
    },
}

/// How far the open history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The file is being read.
    Reading,
    /// Levels are being decided.
    Checking,
    /// Everything asked for is known.
    Done,
    /// The user stopped it; what is known stays.
    Cancelled,
    /// It could not be read, or the work broke; a message says so.
    Failed,
}

/// What fills the middle of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Page {
    /// The dependency graph.
    #[default]
    Graph,
    /// Sessions on a time axis.
    Lanes,
    /// The versions of a key.
    Key,
    /// Who depends on whom, as a table.
    Matrix,
    /// All sessions, transactions and operations.
    Browser,
    /// The argument as text.
    Text,
    /// Whether the history can be trusted, and by which rules it is understood.
    Health,
    /// An order that explains every read, as a run to step through.
    Order,
    /// Figures of the history.
    Statistics,
    /// Several checkers side by side.
    Checkers,
}

/// A part of the picture that has the user's attention, in terms of the counterexample's own history if nothing else is
/// said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attention {
    /// A step of the argument.
    Step(usize),
    /// An edge.
    Edge(EdgeIndex),
    /// A card.
    Transaction(TransactionId),
    /// A row of a card.
    Operation(OperationId),
    /// Another anomaly, by its line in the list.
    Anomaly(ViolationId),
    /// A case, by its place in the tree of cases.
    Case(usize),
    /// A transaction that the counterexample does without, in terms of the whole history.
    Elsewhere(TransactionId),
}

/// A change of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The pointer is over this; forgotten when no view says so any more.
    Hover(Attention),
    /// Clicked: stays until released.
    Pin(Option<Attention>),
}

/// A message that stays until it is taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// What happened, naming file and line where there are any.
    pub text: String,
    /// Whether something went wrong, or something went well.
    pub bad: bool,
}

/// The lines of the file on which the involved operations stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawLines {
    /// For which violation they were asked.
    pub of: Option<ViolationId>,
    /// Operation (of the whole history), number of the line and its text, by line.
    pub lines: Vec<(OperationId, u32, String)>,
    /// Why there are none.
    pub error: Option<String>,
}

/// What is chosen in the history browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Browser {
    /// The session whose transactions are listed.
    pub session: SessionId,
    /// The transaction whose operations are listed.
    pub transaction: Option<TransactionId>,
    /// Scroll to the chosen transaction in the next frame.
    pub scroll: bool,
    /// How sessions and transactions are sorted, and which are listed.
    pub wanted: super::listing::Wanted,
    /// What is listed, when that is not all as in the file.
    pub listing: Option<Arc<Listing>>,
    /// The operation whose raw line is shown, with that line once it is read.
    pub operation: Option<(OperationId, Option<String>)>,
}

/// The witness order that can be stepped through.
#[derive(Clone, Debug)]
pub struct OrderView {
    /// Of which satisfied level.
    pub level: Level,
    /// The run, once it is made.
    pub replay: Option<Arc<Replay>>,
    /// Why there is none.
    pub none: Option<&'static str>,
    /// The chosen step.
    pub step: usize,
    /// Bring the chosen step into sight in the next frame.
    pub scroll: bool,
    /// For which step its operations were asked for.
    pub asked: Option<usize>,
    /// What the order says of the operations of that step, once that is known.
    pub rows: Option<Rows>,
}

/// The versions of a key, being shown.
#[derive(Clone, Debug)]
pub struct KeyView {
    /// The key, or the name that was typed.
    pub wanted: Wanted,
    /// Its versions, once they are known.
    pub chain: Option<Arc<Chain>>,
    /// Why there are none.
    pub error: Option<String>,
    /// For which anomaly it was asked.
    pub of: Option<ViolationId>,
}

/// The export dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportForm {
    /// What to write.
    pub kind: ExportKind,
    /// Where to; the ending follows the kind.
    pub path: String,
}

/// The rules by which the history shall be read again, as they are being chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesForm {
    /// As [`Rules::words`]; a word may be none yet.
    words: [(&'static str, String); 7],
    /// Why the history was not read again.
    pub error: Option<String>,
}

impl RulesForm {
    /// These rules, not changed.
    pub fn new(rules: &Rules) -> RulesForm {
        RulesForm { words: rules.words(), error: None }
    }

    /// The word chosen for a rule.
    pub fn word(&self, name: &str) -> &str {
        self.words.iter().find(|(rule, _)| *rule == name).map_or("", |(_, word)| word)
    }

    /// Chooses a word for a rule.
    pub fn set(&mut self, name: &str, word: String) {
        if let Some((_, slot)) = self.words.iter_mut().find(|(rule, _)| *rule == name) {
            *slot = word;
            self.error = None;
        }
    }

    /// Whether anything else is chosen than these rules.
    pub fn is_changed(&self, rules: &Rules) -> bool {
        self.words != rules.words()
    }

    /// The rules chosen, or what is wrong with a word.
    pub fn rules(&self) -> Result<Rules, String> {
        let mut rules = Rules::default();
        for (name, word) in &self.words {
            rules.set(name, word).map_err(|message| format!("--{name}: {message}"))?;
        }
        Ok(rules)
    }
}

/// Everything about the open history.
#[derive(Debug)]
pub struct Document {
    /// Where it comes from.
    pub source: Source,
    /// File name or name of the sample.
    pub title: String,
    /// How far it is.
    pub phase: Phase,
    /// What was observed, once it is read.
    pub history: Option<Arc<History>>,
    /// How much was recorded, once it is read.
    pub recorded: Option<history::Figures>,
    /// By which rules it is read.
    pub rules: Rules,
    /// By which rules it shall be read next.
    pub form: RulesForm,
    /// Whether it can be trusted, once that is known.
    pub health: Option<Arc<Health>>,
    /// What was assumed when reads were resolved, once they are.
    pub resolved_by: Vec<String>,
    /// The finding whose operations are listed: its place.
    pub open_finding: Option<usize>,
    /// By level asked for: the result, once it is known.
    pub levels: Vec<(Level, Option<Arc<LevelResult>>)>,
    /// What was found, as far as it is known.
    pub catalogue: Option<Arc<Catalogue>>,
    /// Whether [`catalogue`](Self::catalogue) holds everything.
    pub complete: bool,
    /// Further instances are being listed.
    pub lists_more: bool,
    /// Seconds of reading, and of checking.
    pub seconds: (f64, f64),
    /// The anomaly list.
    pub tree: Tree,
    /// The chosen violation.
    pub selected: Option<ViolationId>,
    /// The user chose it: no automatic choice may replace it.
    pub chosen_by_user: bool,
    /// Bring the chosen violation's line into sight in the next frame.
    pub scroll_to_selected: bool,
    /// Bring the pinned step into sight in the next frame.
    pub scroll_to_step: bool,
    /// The picture shown, possibly still that of the violation chosen before.
    pub picture: Option<Arc<Picture>>,
    /// A new picture is being made.
    pub drawing: bool,
    /// Inferred edges whose evidence is shown; none: as the picture chooses.
    pub evidence: Option<BTreeSet<EdgeIndex>>,
    /// Clicked.
    pub pinned: Option<Attention>,
    /// Under the pointer in the last frame.
    pub hovered: Option<Attention>,
    /// What of the chosen violation is gone through.
    pub stage: Stage,
    /// Cases of its tree that are open.
    pub open_cases: BTreeSet<usize>,
    /// Something goes on by itself; since when what is shown now is shown, in seconds of the window.
    pub playing: Option<f64>,
    /// The run of the chosen violation, while it is stepped through.
    pub run: Option<RunView>,
    /// What stays and what is left out by choice, by identity of the violation.
    pub overrides: BTreeMap<String, Overrides>,
    /// Raw lines of the chosen violation.
    pub raw: RawLines,
    /// The history browser.
    pub browser: Browser,
    /// The order shown, if one was asked for.
    pub order: Option<OrderView>,
    /// Who wrote what each read returned, once that is known.
    pub resolution: Option<Arc<Resolution>>,
    /// When every transaction ran, once it was asked for.
    pub timeline: Option<Arc<Timeline>>,
    /// The key whose versions are shown, if one was asked for.
    pub key: Option<KeyView>,
    /// Graph and matrix are about all anomalies of the component of the chosen one.
    pub whole_group: bool,
    /// The edges of all anomalies of the component of the chosen one, once they were asked for.
    pub group: Option<Arc<GroupGraph>>,
    /// For which component they were asked for.
    pub group_asked: Option<u32>,
    /// Bookmarks, notes and tags.
    pub notes: Notes,
    /// The field of the note takes the keyboard in the next frame.
    pub focus_note: bool,
    /// Transactions of the whole history that were chosen for a what-if.
    pub chosen: BTreeSet<TransactionId>,
    /// What was asked about parts of the history, newest first.
    pub what_if: Vec<WhatIf>,
    /// Transactions of the whole history that are left out of pictures.
    pub hidden: BTreeSet<TransactionId>,
    /// The same by name, until the history is read.
    pub hidden_names: BTreeSet<String>,
    /// By name: the transactions that are or were left out by it.
    pub named: Named,
    /// What shall be looked at once it is known.
    pub wish: RestoreTarget,
    /// Checkers side by side.
    pub comparison: CheckerComparison,
    /// Figures for plots, once they were asked for, and whether they were made of everything.
    pub figures: Option<Arc<Figures>>,
    /// The figures know all anomalies.
    pub figures_complete: bool,
    /// By page: why it could not be made. It is not tried again before something has changed.
    pub failed: BTreeMap<Page, String>,
}

impl Document {
    /// A history about to be read.
    pub fn new(source: Source, title: String, rules: Rules, levels: &[Level]) -> Document {
        Document {
            source,
            title,
            phase: Phase::Reading,
            history: None,
            recorded: None,
            form: RulesForm::new(&rules),
            rules,
            health: None,
            resolved_by: Vec::new(),
            open_finding: None,
            levels: levels.iter().map(|&level| (level, None)).collect(),
            catalogue: None,
            complete: false,
            lists_more: false,
            seconds: (0.0, 0.0),
            tree: Tree::default(),
            selected: None,
            chosen_by_user: false,
            scroll_to_selected: false,
            scroll_to_step: false,
            picture: None,
            drawing: false,
            evidence: None,
            pinned: None,
            hovered: None,
            stage: Stage::default(),
            open_cases: BTreeSet::new(),
            playing: None,
            run: None,
            overrides: BTreeMap::new(),
            raw: RawLines::default(),
            browser: Browser::default(),
            order: None,
            resolution: None,
            timeline: None,
            key: None,
            whole_group: false,
            group: None,
            group_asked: None,
            notes: Notes::default(),
            focus_note: false,
            chosen: BTreeSet::new(),
            what_if: Vec::new(),
            hidden: BTreeSet::new(),
            hidden_names: BTreeSet::new(),
            named: Named::new(),
            wish: RestoreTarget::default(),
            comparison: CheckerComparison {
                chosen: [Checker::Fast, Checker::Plume].into(),
                ..CheckerComparison::default()
            },
            figures: None,
            figures_complete: false,
            failed: BTreeMap::new(),
        }
    }

    /// The name of the chosen anomaly in project files.
    pub fn identity(&self) -> Option<&str> {
        let (id, catalogue) = self.selected.zip(self.catalogue.as_ref())?;
        catalogue.place(id).map(|place| catalogue.entries[place].identity.as_str())
    }

    /// The name that a transaction of the whole history has in the counterexample shown, or that it is not in there.
    pub fn attention_of(&self, whole: TransactionId) -> Attention {
        let small = self.current_picture().and_then(|p| p.argument.counterexample.renaming.new_transaction(whole));
        small.map_or(Attention::Elsewhere(whole), Attention::Transaction)
    }

    /// The transactions of the whole history that have attention: those of a step or an edge, or a single one.
    pub fn attended(&self) -> Vec<TransactionId> {
        let Some(attention) = self.attention() else { return Vec::new() };
        if let Attention::Elsewhere(whole) = attention {
            return vec![whole];
        }
        if let Attention::Anomaly(id) = attention {
            let violation = self.catalogue.as_ref().and_then(|catalogue| catalogue.violation(id));
            return violation.map_or(Vec::new(), |violation| violation.transactions.clone());
        }
        let Some(picture) = self.current_picture() else { return Vec::new() };
        let example = &picture.argument.counterexample;
        let edge = |e: EdgeIndex| picture.edges().get(e).map_or(Vec::new(), |edge| vec![edge.from, edge.to]);
        let small = match attention {
            Attention::Step(step) => {
                let step = picture.argument.explanation.steps.get(step);
                step.map_or(Vec::new(), |step| step.transactions.clone())
            }
            Attention::Edge(index) => edge(index),
            Attention::Case(place) => {
                let edges = picture.argument.cases.as_ref().map(|tree| tree.edges_of(&example.violation, place));
                edges.into_iter().flatten().flat_map(edge).collect()
            }
            Attention::Transaction(t) => vec![t],
            Attention::Operation(o) if o.index() < example.history.n_operations() => {
                vec![example.history.transaction_of(o)]
            }
            Attention::Operation(_) | Attention::Elsewhere(_) | Attention::Anomaly(_) => Vec::new(),
        };
        let known = |t: &TransactionId| t.is_initial() || t.index() < example.history.n_transactions();
        small.into_iter().filter(known).map(|t| example.renaming.old_transaction(t)).collect()
    }

    /// Whether the edges around the chosen anomaly are being gathered.
    pub fn gathers(&self) -> bool {
        self.group_asked.is_some() && self.group.is_none()
    }

    /// Whether work on it goes on.
    pub fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Reading | Phase::Checking)
    }

    /// Whether every level asked for is known to be satisfied.
    pub fn all_hold(&self) -> bool {
        let holds = |result: &Option<Arc<LevelResult>>| {
            result.as_ref().is_some_and(|result| matches!(result.verdict, Verdict::Satisfied(_)))
        };
        self.levels.iter().all(|(_, result)| holds(result))
    }

    /// Leaves transactions out of pictures.
    pub fn hide(&mut self, transactions: impl IntoIterator<Item = TransactionId>) {
        let Some(history) = &self.history else { return };
        for t in transactions {
            self.hidden.insert(t);
            self.named.entry(history.transaction_name(t)).or_default().insert(t);
        }
    }

    /// What is known of a level.
    pub fn result(&self, level: Level) -> Option<&Arc<LevelResult>> {
        self.levels.iter().find(|(known, _)| *known == level).and_then(|(_, result)| result.as_ref())
    }

    /// The witness of a level, if it is known to be satisfied.
    pub fn witness(&self, level: Level) -> Option<&Witness> {
        match self.result(level).map(|result| &result.verdict) {
            Some(Verdict::Satisfied(witness)) => Some(witness),
            _ => None,
        }
    }

    /// The strongest level that is known to be satisfied.
    pub fn strongest_satisfied(&self) -> Option<Level> {
        self.levels.iter().rev().map(|(level, _)| *level).find(|&level| self.witness(level).is_some())
    }

    /// What was assumed about the input, a sentence each, as far as it is known.
    pub fn assumptions(&self) -> &[String] {
        match (&self.catalogue, &self.history) {
            (Some(catalogue), _) => &catalogue.findings.assumptions,
            (None, _) if !self.resolved_by.is_empty() => &self.resolved_by,
            (None, Some(history)) => history.assumptions(),
            (None, None) => &[],
        }
    }

    /// What has attention: what is under the pointer, else what was clicked.
    pub fn attention(&self) -> Option<Attention> {
        self.hovered.or(self.pinned)
    }

    /// The picture, if it is that of the chosen violation.
    pub fn current_picture(&self) -> Option<&Arc<Picture>> {
        self.picture.as_ref().filter(|picture| Some(picture.argument.id) == self.selected)
    }

    /// The file it was read from, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Sample(_) | Source::Bytes { .. } => None,
        }
    }
}

/// Everything the window shows.
#[derive(Debug, Default)]
pub struct State {
    /// Dark theme.
    pub dark: bool,
    /// What fills the middle.
    pub page: Page,
    /// How graphs are drawn.
    pub layout: LayoutKind,
    /// Relations whose edges are not drawn.
    pub hidden: BTreeSet<Relation>,
    /// Orders that were ruled out are drawn.
    pub alternatives: bool,
    /// Files opened before, newest first.
    pub recent: Vec<PathBuf>,
    /// Messages, oldest first.
    pub banners: Vec<Banner>,
    /// The open history.
    pub document: Option<Document>,
    /// The help sheet is open.
    pub help: bool,
    /// The step of the tour that one is at.
    pub tour: Option<usize>,
    /// The palette, when open.
    pub palette: Option<Palette>,
    /// The open folder.
    pub batch: Option<Batch>,
    /// The table of the folder is in sight, and not the open history.
    pub show_batch: bool,
    /// The page that makes histories.
    pub collect: Collecting,
    /// That page is in sight, and not the open history.
    pub show_collect: bool,
    /// Changes that can be taken back.
    pub undo: Undo,
    /// Where one has looked.
    pub places: Places,
    /// Lanes are drawn by the clock and not with idle stretches cut short.
    pub true_time: bool,
    /// All sessions have a lane, not only those of the chosen anomaly.
    pub all_lanes: bool,
    /// The export dialog, when open.
    pub export: Option<ExportForm>,
    /// The anomaly filter takes the keyboard in the next frame.
    pub focus_filter: bool,
    /// A system dialog is open somewhere.
    pub waiting_for_dialog: bool,
    /// A file is held over the window.
    pub drop_hint: bool,
    /// The folder in which histories are being looked for.
    pub looking: Option<PathBuf>,
}

impl State {
    /// Adds a message, unless it is there already. What went well is of interest until the next thing does.
    pub fn tell(&mut self, bad: bool, text: impl Into<String>) {
        let banner = Banner { text: text.into(), bad };
        if !self.banners.contains(&banner) {
            self.banners.retain(|other| other.bad || bad);
            self.banners.push(banner);
        }
    }
}
