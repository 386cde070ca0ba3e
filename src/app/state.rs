//! Everything the window shows, as plain data.
//!
//! Panels read it and push [`Request`](super::command::Request)s; only [`App`](super::App) changes it. It knows no
//! widgets and starts no work.

use super::arrangement::Undo;
use super::batch::Batch;
use super::catalogue::AllDrawn;
use super::checker_comparison::CheckerComparison;
use super::collecting::Collecting;
use super::figures::Figures;
use super::following::Following;
use super::group_graph::GroupGraph;
use super::lattice::LatticeView;
use super::listing::Listing;
use super::live::Live;
use super::load::Named;
use super::marks::Marks;
use super::minimap::Minimap;
use super::nav_history::Places;
use super::notes::Notes;
pub use super::page::Page;
use super::palette::Palette;
use super::picture::{LayoutKind, Picture};
use super::project::RestoreTarget;
use super::replaying::RunView;
use super::tree::{Catalogue, Tree};
use super::unreadable::Unreadable;
use super::versions::Wanted;
pub use super::vocabulary::{Attention, Banner, Focus, Phase, RawLines, Source, Stage};
use super::welcome::WelcomePicture;
use super::what_if::WhatIf;
use super::witness_view::OrderView;
use crate::checkers::{Checker, Level, LevelResult, Verdict, ViolationId, Witness};
use crate::diagram::timeline::Timeline;
use crate::diagram::versions::Chain;
use crate::export::{ExportKind, Overrides, View, keys_of};
use crate::health::Health;
use crate::history::{self, History, KeyId, OperationId, Rules, SessionId, TransactionId};
use crate::relations::{EdgeIndex, Relation, Resolution};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The selection in the history browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Browser {
    /// The session whose transactions are listed.
    pub session: SessionId,
    /// The transaction whose operations are listed.
    pub transaction: Option<TransactionId>,
    /// Scroll to the selected transaction in the next frame.
    pub scroll: bool,
    /// How sessions and transactions are sorted, and which are listed.
    pub wanted: super::listing::Wanted,
    /// The listing, if it is not simply everything as in the file.
    pub listing: Option<Arc<Listing>>,
    /// The anomaly that was selected when a transaction was chosen here last.
    pub of: Option<ViolationId>,
    /// The operation whose raw line is shown, with that line once it is read.
    pub operation: Option<(OperationId, Option<String>)>,
}

/// The key page.
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
    /// What a picture shows: the page of the graph, of the lanes or of a key.
    pub view: Page,
    /// Where to write it; the extension follows the kind.
    pub path: String,
}

/// The form for the rules by which the history is to be read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesForm {
    /// As [`Rules::words`]; may still be invalid.
    words: [(&'static str, String); 7],
    /// Why the history was not read again.
    pub error: Option<String>,
}

impl RulesForm {
    /// These rules, unchanged.
    pub fn new(rules: &Rules) -> RulesForm {
        RulesForm { words: rules.words(), error: None }
    }

    /// The word selected for a rule.
    pub fn word(&self, name: &str) -> &str {
        self.words.iter().find(|(rule, _)| *rule == name).map_or("", |(_, word)| word)
    }

    /// Selects a word for a rule.
    pub fn set(&mut self, name: &str, word: String) {
        if let Some((_, slot)) = self.words.iter_mut().find(|(rule, _)| *rule == name) {
            *slot = word;
            self.error = None;
        }
    }

    /// Whether the selection differs from these rules.
    pub fn is_changed(&self, rules: &Rules) -> bool {
        self.words != rules.words()
    }

    /// The selected rules, or what is wrong with a word.
    pub fn rules(&self) -> Result<Rules, String> {
        let mut rules = Rules::default();
        for (name, word) in &self.words {
            rules.set(name, word).map_err(|message| format!("--{name}: {message}"))?;
        }
        Ok(rules)
    }
}

/// Everything about the open history.
#[derive(Debug, Default)]
pub struct Document {
    /// Where it comes from.
    pub source: Source,
    /// File name or name of the sample.
    pub title: String,
    /// Its state of work.
    pub phase: Phase,
    /// Why it could not be read.
    pub unreadable: Option<Unreadable>,
    /// What was observed, once it is read.
    pub history: Option<Arc<History>>,
    /// How much was recorded, once it is read.
    pub recorded: Option<history::Figures>,
    /// The rules by which it was read.
    pub rules: Rules,
    /// The rules for reading it again.
    pub form: RulesForm,
    /// Whether it can be trusted, once that is known.
    pub health: Option<Arc<Health>>,
    /// The assumptions made in resolving reads, once they are resolved.
    pub resolved_by: Vec<String>,
    /// Index of the finding whose operations are listed.
    pub open_finding: Option<usize>,
    /// By requested level: the result, once it is known.
    pub levels: Vec<(Level, Option<Arc<LevelResult>>)>,
    /// What was decided in addition, about PSI and about other orders.
    pub others: Vec<Arc<LevelResult>>,
    /// What was found so far.
    pub catalogue: Option<Arc<Catalogue>>,
    /// Whether [`catalogue`](Self::catalogue) holds everything.
    pub complete: bool,
    /// Further instances are being listed.
    pub lists_more: bool,
    /// Seconds of reading, and of checking.
    pub seconds: (f64, f64),
    /// The anomaly list.
    pub tree: Tree,
    /// The selected violation.
    pub selected: Option<ViolationId>,
    /// The user selected it: no automatic selection may replace it.
    pub chosen_by_user: bool,
    /// Bring the selected violation's line into view in the next frame.
    pub scroll_to_selected: bool,
    /// Bring the pinned step into view in the next frame.
    pub scroll_to_step: bool,
    /// Scroll to the newest answer about a part in the next frame.
    pub scroll_to_what_if: bool,
    /// The picture shown, possibly still that of the previously selected violation.
    pub picture: Option<Arc<Picture>>,
    /// What the pictures of the anomalies show, as far as known.
    pub drawn: AllDrawn,
    /// A new picture is being made.
    pub drawing: bool,
    /// Inferred edges whose evidence is shown; none: chosen by the picture.
    pub evidence: Option<BTreeSet<EdgeIndex>>,
    /// Clicked.
    pub pinned: Option<Attention>,
    /// Under the pointer in the last frame.
    pub hovered: Option<Attention>,
    /// The stage of the selected violation that is shown.
    pub stage: Stage,
    /// Cases of its tree that are open.
    pub open_cases: BTreeSet<usize>,
    /// Set while playing: when the current item was first shown, in seconds of the window.
    pub playing: Option<f64>,
    /// The run of the selected violation, while it is stepped through.
    pub run: Option<RunView>,
    /// What stays and what is left out by choice, by identity of the violation.
    pub overrides: BTreeMap<String, Overrides>,
    /// Raw lines of the chosen violation.
    pub raw: RawLines,
    /// The history browser.
    pub browser: Browser,
    /// The order shown, if one was requested.
    pub order: Option<OrderView>,
    /// The writer of what each read returned, once known.
    pub resolution: Option<Arc<Resolution>>,
    /// When every transaction ran, once requested.
    pub timeline: Option<Arc<Timeline>>,
    /// The map of the history, once requested.
    pub minimap: Option<Arc<Minimap>>,
    /// What was asked for last.
    pub minimap_asked: Option<super::minimap::Wanted>,
    /// The key whose versions are shown, if one was requested.
    pub key: Option<KeyView>,
    /// Graph and matrix show all anomalies of the selected one's component.
    pub whole_group: bool,
    /// The edges of all anomalies of the selected one's component, once requested.
    pub group: Option<Arc<GroupGraph>>,
    /// The component for which they were requested.
    pub group_asked: Option<u32>,
    /// Bookmarks, notes and tags.
    pub notes: Notes,
    /// Marks in the history.
    pub marks: Marks,
    /// Focus the field of the note in the next frame.
    pub focus_note: bool,
    /// Transactions of the whole history selected for a what-if.
    pub chosen: BTreeSet<TransactionId>,
    /// Questions about parts of the history, newest first.
    pub what_if: Vec<WhatIf>,
    /// Transactions of the whole history that are left out of pictures.
    pub hidden: BTreeSet<TransactionId>,
    /// The same by name, until the history is read.
    pub hidden_names: BTreeSet<String>,
    /// By name: the transactions of that name that are or were left out.
    pub named: Named,
    /// What shall be looked at once it is known.
    pub wish: RestoreTarget,
    /// Checkers side by side.
    pub comparison: CheckerComparison,
    /// Figures for plots, once they were asked for, and whether they were made of everything.
    pub figures: Option<Arc<Figures>>,
    /// Whether the figures include all anomalies.
    pub figures_complete: bool,
    /// By page: why it could not be made. It is not tried again before something has changed.
    pub failed: BTreeMap<Page, String>,
}

impl Document {
    /// A history about to be read.
    pub fn new(source: Source, title: String, rules: Rules, levels: &[Level]) -> Document {
        let comparison =
            CheckerComparison { chosen: [Checker::Fast, Checker::Plume].into(), ..CheckerComparison::default() };
        Document {
            source,
            title,
            form: RulesForm::new(&rules),
            rules,
            levels: levels.iter().map(|&level| (level, None)).collect(),
            comparison,
            ..Document::default()
        }
    }

    /// The name of the selected anomaly in project files.
    pub fn identity(&self) -> Option<&str> {
        let (id, catalogue) = self.selected.zip(self.catalogue.as_ref())?;
        catalogue.place(id).map(|place| catalogue.entries[place].identity.as_str())
    }

    /// What a picture of a page shows; none if it is not known yet, or the page is no picture.
    pub fn view(&self, page: Page) -> Option<View> {
        match page {
            Page::Graph => Some(View::Graph),
            Page::Lanes => Some(View::Lanes),
            Page::Matrix => {
                let has_edges = |picture: &&Arc<Picture>| !picture.sketch.diagram.arrows.is_empty();
                self.current_picture().filter(has_edges).map(|_| View::Matrix)
            }
            Page::Key => self.key.as_ref().and_then(|view| view.chain.clone()).map(View::Key),
            _ => None,
        }
    }

    /// The keys that the selected anomaly is about, the main one first.
    pub fn keys(&self) -> Vec<KeyId> {
        let violation = self.selected.zip(self.catalogue.as_ref()).and_then(|(id, c)| c.violation(id));
        violation.zip(self.history.as_ref()).map_or(Vec::new(), |(violation, history)| keys_of(violation, history))
    }

    /// The transaction as part of the counterexample shown, or as not being in it.
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

    /// Whether the edges around the selected anomaly are being gathered.
    pub fn gathers(&self) -> bool {
        self.group_asked.is_some() && self.group.is_none()
    }

    /// Whether there is work in progress on it.
    pub fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Reading | Phase::Checking)
    }

    /// Whether every requested level is known to be satisfied.
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

    /// The result for a level, if known.
    pub fn result(&self, level: Level) -> Option<&Arc<LevelResult>> {
        self.levels.iter().find(|(known, _)| *known == level).and_then(|(_, result)| result.as_ref())
    }

    /// All results, those in addition to the requested levels included.
    pub fn verdicts(&self) -> Vec<&LevelResult> {
        self.results().map(Arc::as_ref).collect()
    }

    /// The same, to be kept.
    pub fn results(&self) -> impl Iterator<Item = &Arc<LevelResult>> {
        let requested = self.levels.iter().filter_map(|(_, result)| result.as_ref());
        requested.chain(self.others.iter().filter(|other| self.result(other.level).is_none()))
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

    /// The assumptions about the input, a sentence each, as far as known.
    pub fn assumptions(&self) -> &[String] {
        match (&self.catalogue, &self.history) {
            (Some(catalogue), _) => &catalogue.findings.assumptions,
            (None, _) if !self.resolved_by.is_empty() => &self.resolved_by,
            (None, Some(history)) => history.assumptions(),
            (None, None) => &[],
        }
    }

    /// What has attention: what is under the pointer, else what is pinned.
    pub fn attention(&self) -> Option<Attention> {
        self.hovered.or(self.pinned)
    }

    /// The picture, if it is that of the selected violation.
    pub fn current_picture(&self) -> Option<&Arc<Picture>> {
        self.picture.as_ref().filter(|picture| Some(picture.argument.id) == self.selected)
    }

    /// The file it was read from, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Sample(_) | Source::Bytes { .. } | Source::Part(_) => None,
        }
    }

    /// A file next to the history: its name is that of the history up to the first dot, a hyphen, and `rest`.
    pub fn file_beside(&self, rest: &str) -> PathBuf {
        let stem = self.title.split('.').next().unwrap_or_default();
        self.source.folder().join(format!("{stem}-{rest}"))
    }
}

/// Everything the window shows.
#[derive(Debug, Default)]
pub struct State {
    /// Dark theme.
    pub dark: bool,
    /// Size of text and controls, in percent; 0 is the usual size.
    pub text_size: u16,
    /// The page in the middle.
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
    /// The current step of the tour.
    pub tour: Option<usize>,
    /// The palette, when open.
    pub palette: Option<Palette>,
    /// The open folder.
    pub batch: Option<Batch>,
    /// The table of the folder is shown instead of the open history.
    pub show_batch: bool,
    /// The page that makes histories.
    pub collect: Collecting,
    /// That page is shown instead of the open history.
    pub show_collect: bool,
    /// The file that is followed.
    pub following: Option<Following>,
    /// Its page is shown instead of the open history.
    pub show_following: bool,
    /// Changes that can be undone.
    pub undo: Undo,
    /// The places visited.
    pub places: Places,
    /// The lattice of levels.
    pub lattice: LatticeView,
    /// The pane below the graph is hidden.
    pub no_details: bool,
    /// Its height as the user left it, in points; none: the usual one.
    pub details_height: Option<u16>,
    /// Lanes use true time, without shortening idle stretches.
    pub true_time: bool,
    /// All sessions have a lane, not only those of the selected anomaly.
    pub all_lanes: bool,
    /// The export dialog, when open.
    pub export: Option<ExportForm>,
    /// Text that goes on the clipboard in the next frame.
    pub copied: Option<String>,
    /// Focus the anomaly filter in the next frame.
    pub focus_filter: bool,
    /// A file is being dragged over the window.
    pub drop_hint: bool,
    /// The folder being searched for histories.
    pub looking: Option<PathBuf>,
    /// What the welcome page shows, once it is drawn.
    pub welcome: Option<Arc<WelcomePicture>>,
}

impl State {
    /// Shows the open history, or the table of the folder.
    pub fn uncover(&mut self) {
        (self.show_collect, self.show_following) = (false, false);
    }

    /// Whether another page is shown instead of the open history or the table of the folder.
    pub fn is_covered(&self) -> bool {
        self.show_collect || self.show_following
    }

    /// What grows on the page that is shown, else anywhere.
    pub fn live(&self) -> Option<&Live> {
        let followed = self.following.as_ref().map(|following| &following.live);
        let recorded = self.collect.run.as_ref().map(|run| &run.live).filter(|live| live.newest().is_some());
        if self.prefers_followed() { followed.or(recorded) } else { recorded.or(followed) }
    }

    /// The same, to be changed.
    pub fn live_mut(&mut self) -> Option<&mut Live> {
        let prefers_followed = self.prefers_followed();
        let followed = self.following.as_mut().map(|following| &mut following.live);
        let recorded = self.collect.run.as_mut().map(|run| &mut run.live).filter(|live| live.newest().is_some());
        if prefers_followed { followed.or(recorded) } else { recorded.or(followed) }
    }

    fn prefers_followed(&self) -> bool {
        self.show_following
            || (!self.show_collect && self.following.as_ref().is_some_and(|following| following.goes_on))
    }

    /// Adds a message, unless it is already there. A good message replaces previous good ones.
    pub fn tell(&mut self, bad: bool, text: impl Into<String>) {
        let banner = Banner { text: text.into(), bad };
        if !self.banners.contains(&banner) {
            self.banners.retain(|other| other.bad || bad);
            self.banners.push(banner);
        }
    }
}
