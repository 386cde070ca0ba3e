//! Everything the window shows, as plain data.
//!
//! Panels read it and push [`Request`](super::command::Request)s; only [`App`](super::App) changes it. It knows no
//! widgets and starts no work.

use super::arrangement::Undo;
use super::batch::Batch;
use super::catalogue::AllDrawn;
use super::checker_comparison::CheckerComparison;
use super::collecting::Collecting;
use super::exporting::PageStyle;
use super::figures::FiguresView;
use super::finding::FindingView;
use super::following::Following;
use super::group_graph::ComponentView;
use super::lattice::LatticeView;
use super::listing::Listing;
use super::live::Live;
use super::load::Named;
use super::marks::Marks;
use super::minimap::Overview;
use super::nav_history::Places;
use super::notes::Notes;
use super::open_log::OpenLogForm;
pub use super::page::Page;
use super::palette::Palette;
use super::picture::{LayoutKind, Picture};
use super::project::RestoreTarget;
use super::replaying::RunView;
use super::results::Results;
use super::settings::Preferences;
use super::tree::{Catalogue, Tree};
use super::unreadable::Unreadable;
use super::versions::Wanted;
pub use super::vocabulary::{
    Attention, Banner, Cover, Focus, Phase, RawLines, Source, Stage, Tone,
};
use super::welcome::WelcomePicture;
use super::what_if::PartQuestions;
use super::witness_view::OrderView;
use crate::checkers::{Checker, Level, Violation, ViolationId};
use crate::diagram::scene::Scene;
use crate::diagram::timeline::Timeline;
use crate::diagram::versions::Chain;
use crate::export::{ExportKind, Overrides, View, keys_of};
use crate::health::Health;
use crate::history::{self, History, KeyId, OperationId, Rules, SessionId, TransactionId};
use crate::relations::{EdgeIndex, Relation};
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
#[derive(Clone, Debug)]
pub struct ExportForm {
    /// What to write.
    pub kind: ExportKind,
    /// What a picture shows: the page of the graph, of the lanes or of a key.
    pub view: Page,
    /// Where to write it; the extension follows the kind.
    pub path: String,
    /// How a picture is written.
    pub style: PageStyle,
    /// The page as it would be written, once it is laid out.
    pub preview: Option<Arc<Scene>>,
    /// What it was asked for.
    pub previewed: Option<(Page, PageStyle)>,
}

/// The rules by which the history was read, and the form for reading it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesForm {
    /// The rules by which the history was read.
    pub read_by: Rules,
    /// As [`Rules::words`]; may still be invalid.
    words: [(&'static str, String); 9],
    /// Why the history was not read again.
    pub error: Option<String>,
}

impl RulesForm {
    /// These rules, unchanged.
    pub fn new(rules: Rules) -> RulesForm {
        RulesForm {
            words: rules.words(),
            read_by: rules,
            error: None,
        }
    }

    /// The word selected for a rule.
    pub fn word(&self, name: &str) -> &str {
        self.words
            .iter()
            .find(|(rule, _)| *rule == name)
            .map_or("", |(_, word)| word)
    }

    /// Selects a word for a rule.
    pub fn set(&mut self, name: &str, word: String) {
        if let Some((_, slot)) = self.words.iter_mut().find(|(rule, _)| *rule == name) {
            *slot = word;
            self.error = None;
        }
    }

    /// Whether other rules are selected.
    pub fn is_changed(&self) -> bool {
        self.words != self.read_by.words()
    }

    /// The selected rules, or what is wrong with a word.
    pub fn rules(&self) -> Result<Rules, String> {
        let mut rules = Rules::default();
        for (name, word) in &self.words {
            rules
                .set(name, word)
                .map_err(|message| format!("--{name}: {message}"))?;
        }
        Ok(rules)
    }
}

/// Whether a history can be trusted.
#[derive(Debug, Default)]
pub struct Trust {
    /// What was examined, once it is.
    pub health: Option<Arc<Health>>,
    /// Index of the finding whose operations are listed.
    pub open_finding: Option<usize>,
}

/// How the argument of the selected anomaly is shown.
#[derive(Debug, Default)]
pub struct ArgumentView {
    /// Inferred edges whose evidence is shown; none: chosen by the picture.
    pub evidence: Option<BTreeSet<EdgeIndex>>,
    /// Clicked.
    pub pinned: Option<Attention>,
    /// Under the pointer in the last frame.
    pub hovered: Option<Attention>,
    /// The stage that is shown.
    pub stage: Stage,
    /// Cases of its tree that are open.
    pub open_cases: BTreeSet<usize>,
    /// Set while playing: when the current item was first shown, in seconds of the window.
    pub playing: Option<f64>,
    /// The run of its transactions, while it is stepped through.
    pub run: Option<RunView>,
}

/// What is left out of pictures.
#[derive(Debug, Default)]
pub struct Visibility {
    /// What stays and what is left out by choice, by identity of the violation.
    pub overrides: BTreeMap<String, Overrides>,
    /// Transactions of the whole history that are left out.
    pub hidden: BTreeSet<TransactionId>,
    /// Their names, until the history is read.
    pub hidden_names: BTreeSet<String>,
    /// By name: the transactions of that name that are or were left out.
    pub named: Named,
}

/// What comes into view in the next frame.
#[derive(Debug, Default)]
pub struct Reveal {
    /// The line of the selected violation.
    pub selected: bool,
    /// The pinned step.
    pub step: bool,
    /// The newest answer about a part.
    pub answer: bool,
    /// The field of the note, to be typed into.
    pub note: bool,
    /// The field for what was tested, to be typed into.
    pub tested: bool,
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
    /// What was tested, where the user says it.
    pub tested: String,
    /// Why it could not be read.
    pub unreadable: Option<Unreadable>,
    /// What was observed, once it is read.
    pub history: Option<Arc<History>>,
    /// How much was recorded, once it is read.
    pub recorded: Option<history::Figures>,
    /// The rules by which it was read, and those for reading it again.
    pub form: RulesForm,
    /// Whether it can be trusted.
    pub trust: Trust,
    /// The levels that are decided.
    pub results: Results,
    /// What was found so far.
    pub catalogue: Option<Arc<Catalogue>>,
    /// Whether [`catalogue`](Self::catalogue) holds everything.
    pub complete: bool,
    /// The anomaly list.
    pub tree: Tree,
    pub selected: Option<ViolationId>,
    /// What a rule of the workload sees, shown in place of an anomaly.
    pub finding: Option<FindingView>,
    /// How its argument is shown.
    pub argument: ArgumentView,
    /// The picture shown, possibly still that of the previously selected violation.
    pub picture: Option<Arc<Picture>>,
    /// A new picture is being made.
    pub drawing: bool,
    /// What the pictures of the anomalies show, as far as known.
    pub drawn: AllDrawn,
    /// What is left out of pictures.
    pub visibility: Visibility,
    /// What comes into view in the next frame.
    pub reveal: Reveal,
    /// Raw lines of the chosen violation.
    pub raw: RawLines,
    /// The history browser.
    pub browser: Browser,
    /// The order shown, if one was requested.
    pub order: Option<OrderView>,
    /// When every transaction ran, once requested.
    pub timeline: Option<Arc<Timeline>>,
    /// Other axes for lanes: fields that are numbers, once they are known.
    pub numbers: Option<Arc<Vec<Timeline>>>,
    /// The one of these that is chosen.
    pub by_number: Option<usize>,
    /// The map of the history.
    pub overview: Overview,
    /// The key whose versions are shown, if one was requested.
    pub key: Option<KeyView>,
    /// All anomalies of the selected one's component.
    pub component: ComponentView,
    /// Bookmarks, notes and tags.
    pub notes: Notes,
    /// Marks in the history.
    pub marks: Marks,
    /// Questions about parts of the history.
    pub parts: PartQuestions,
    /// What shall be looked at once it is known.
    pub wish: RestoreTarget,
    /// Checkers side by side.
    pub comparison: CheckerComparison,
    /// Figures for plots.
    pub statistics: FiguresView,
    /// By page: why it could not be made. It is not tried again before something has changed.
    pub failed: BTreeMap<Page, String>,
}

impl Document {
    /// A history about to be read.
    pub fn new(source: Source, title: String, rules: Rules, levels: &[Level]) -> Document {
        let comparison = CheckerComparison {
            chosen: [Checker::Fast, Checker::Plume].into(),
            ..CheckerComparison::default()
        };
        Document {
            source,
            title,
            form: RulesForm::new(rules),
            results: Results::new(levels),
            comparison,
            ..Document::default()
        }
    }

    /// The name of the selected anomaly in project files.
    pub fn identity(&self) -> Option<&str> {
        let (id, catalogue) = self.selected.zip(self.catalogue.as_ref())?;
        catalogue
            .place(id)
            .map(|place| catalogue.entries[place].identity.as_str())
    }

    /// What a picture of a page shows; none if it is not known yet, or the page is no picture.
    pub fn view(&self, page: Page) -> Option<View> {
        match page {
            Page::Graph => Some(View::Graph),
            Page::Lanes => Some(View::Lanes),
            Page::Matrix => {
                let has_edges = |picture: &&Arc<Picture>| !picture.sketch.diagram.arrows.is_empty();
                self.current_picture()
                    .filter(has_edges)
                    .map(|_| View::Matrix)
            }
            Page::Key => self
                .key
                .as_ref()
                .and_then(|view| view.chain.clone())
                .map(View::Key),
            _ => None,
        }
    }

    /// The anomaly that is shown of the selected one: itself, or a simpler one that it contains, once that is known.
    pub fn shown(&self) -> Option<ViolationId> {
        self.current_picture()
            .map(|picture| picture.argument.shown)
            .or(self.selected)
    }

    /// The violation of [`shown`](Self::shown).
    pub fn shown_violation(&self) -> Option<&Violation> {
        self.shown()
            .zip(self.catalogue.as_ref())
            .and_then(|(id, catalogue)| catalogue.violation(id))
    }

    /// The keys that the anomaly shown is about, the main one first.
    pub fn keys(&self) -> Vec<KeyId> {
        let violation = self.shown_violation();
        violation
            .zip(self.history.as_ref())
            .map_or(Vec::new(), |(violation, history)| {
                keys_of(violation, history)
            })
    }

    /// The transaction as part of the counterexample shown, or as not being in it.
    pub fn attention_of(&self, whole: TransactionId) -> Attention {
        let small = self
            .current_picture()
            .and_then(|p| p.argument.counterexample.renaming.new_transaction(whole));
        small.map_or(Attention::Elsewhere(whole), Attention::Transaction)
    }

    /// The transactions of the whole history that have attention: those of a step or an edge, or a single one.
    pub fn attended(&self) -> Vec<TransactionId> {
        let Some(attention) = self.attention() else {
            return Vec::new();
        };
        if let Attention::Elsewhere(whole) = attention {
            return vec![whole];
        }
        if let Attention::Anomaly(id) = attention {
            let violation = self
                .catalogue
                .as_ref()
                .and_then(|catalogue| catalogue.violation(id));
            return violation.map_or(Vec::new(), |violation| violation.transactions.clone());
        }
        let Some(picture) = self.current_picture() else {
            return Vec::new();
        };
        let example = &picture.argument.counterexample;
        let edge = |e: EdgeIndex| {
            picture
                .edges()
                .get(e)
                .map_or(Vec::new(), |edge| vec![edge.from, edge.to])
        };
        let small = match attention {
            Attention::Step(step) => {
                let step = picture.argument.explanation.steps.get(step);
                step.map_or(Vec::new(), |step| step.transactions.clone())
            }
            Attention::Edge(index) => edge(index),
            Attention::Case(place) => {
                let edges = picture
                    .argument
                    .cases
                    .as_ref()
                    .map(|tree| tree.edges_of(&example.violation, place));
                edges.into_iter().flatten().flat_map(edge).collect()
            }
            Attention::Transaction(t) => vec![t],
            Attention::Operation(o) if o.index() < example.history.n_operations() => {
                vec![example.history.transaction_of(o)]
            }
            Attention::Operation(_) | Attention::Elsewhere(_) | Attention::Anomaly(_) => Vec::new(),
        };
        let known =
            |t: &TransactionId| t.is_initial() || t.index() < example.history.n_transactions();
        small
            .into_iter()
            .filter(known)
            .map(|t| example.renaming.old_transaction(t))
            .collect()
    }

    /// Whether there is work in progress on it.
    pub fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Reading | Phase::Checking)
    }

    /// Leaves transactions out of pictures.
    pub fn hide(&mut self, transactions: impl IntoIterator<Item = TransactionId>) {
        let Some(history) = &self.history else { return };
        for t in transactions {
            self.visibility.hidden.insert(t);
            self.visibility
                .named
                .entry(history.transaction_name(t))
                .or_default()
                .insert(t);
        }
    }

    /// The assumptions about the input, a sentence each, as far as known.
    pub fn assumptions(&self) -> &[String] {
        let of_findings = self
            .catalogue
            .as_ref()
            .map(|catalogue| catalogue.findings.assumptions.as_slice());
        let of_reads = || {
            self.results
                .resolution
                .as_ref()
                .map(|resolution| resolution.assumptions())
        };
        let of_file = || self.history.as_ref().map(|history| history.assumptions());
        of_findings
            .or_else(of_reads)
            .or_else(of_file)
            .unwrap_or_default()
    }

    /// What has attention: what is under the pointer, else what is pinned.
    pub fn attention(&self) -> Option<Attention> {
        self.argument.hovered.or(self.argument.pinned)
    }

    /// The picture, if it is that of the selected violation.
    pub fn current_picture(&self) -> Option<&Arc<Picture>> {
        self.picture
            .as_ref()
            .filter(|picture| Some(picture.argument.id) == self.selected)
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
        let name = self.title.rsplit('/').next().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        self.source.folder().join(format!("{stem}-{rest}"))
    }
}

/// Everything the window shows.
#[derive(Debug, Default)]
pub struct State {
    /// Dark theme.
    pub dark: bool,
    /// What is stored between starts.
    pub preferences: Preferences,
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
    /// The file that is followed.
    pub following: Option<Following>,
    /// The page that is shown instead of the open history.
    pub cover: Option<Cover>,
    /// Changes that can be undone.
    pub undo: Undo,
    /// The places visited.
    pub places: Places,
    /// The lattice of levels.
    pub lattice: LatticeView,
    /// The export dialog, when open.
    pub export: Option<ExportForm>,
    /// The form with the command that opens logs.
    pub open_log: Option<OpenLogForm>,
    /// The command that was seen as it runs, and so may run at once.
    pub open_log_seen: Option<String>,
    /// Text that goes on the clipboard in the next frame.
    pub copied: Option<String>,
    /// The picture that goes there.
    pub copied_picture: Option<egui::ColorImage>,
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
        self.cover = None;
    }

    /// Whether the story of an anomaly is told, or may be: its graph is shown.
    pub fn is_told(&self) -> bool {
        let document = self.document.as_ref();
        !self.is_covered()
            && self.page == Page::Graph
            && document.is_some_and(|document| document.argument.run.is_some())
    }

    /// Whether another page is shown instead of the open history or the table of the folder.
    pub fn is_covered(&self) -> bool {
        self.cover.is_some()
    }

    /// What grows on the page that is shown, else anywhere.
    pub fn live(&self) -> Option<&Live> {
        let followed = self.following.as_ref().map(|following| &following.live);
        let recorded = self
            .collect
            .run
            .as_ref()
            .map(|run| &run.live)
            .filter(|live| live.newest().is_some());
        if self.prefers_followed() {
            followed.or(recorded)
        } else {
            recorded.or(followed)
        }
    }

    /// What is recorded or followed, to be changed.
    pub fn live_mut(&mut self) -> Option<&mut Live> {
        let prefers_followed = self.prefers_followed();
        let followed = self.following.as_mut().map(|following| &mut following.live);
        let recorded = self
            .collect
            .run
            .as_mut()
            .map(|run| &mut run.live)
            .filter(|live| live.newest().is_some());
        if prefers_followed {
            followed.or(recorded)
        } else {
            recorded.or(followed)
        }
    }

    fn prefers_followed(&self) -> bool {
        match self.cover {
            Some(cover) => cover == Cover::Following,
            None => self
                .following
                .as_ref()
                .is_some_and(|following| following.goes_on),
        }
    }

    /// Adds a message, unless it is already there. Any but a problem replaces previous ones that are none.
    pub fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        let text = text.into();
        self.tell_all(Banner { text, tone });
    }

    /// Shows a message, unless it is shown already.
    pub fn tell_all(&mut self, banner: Banner) {
        let tone = banner.tone;
        if !self.banners.contains(&banner) {
            self.banners
                .retain(|other| other.tone == Tone::Problem || tone == Tone::Problem);
            self.banners.push(banner);
        }
    }
}
