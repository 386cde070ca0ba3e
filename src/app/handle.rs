//! Carrying out requests.

use super::App;
use super::command::{Command, Request, Requests};
use super::dialogs::{self, Purpose};
use super::exporting;
use super::picture::{self, LayoutKind, Material, Order};
use super::state::{Attention, Browser, Document, ExportForm, Focus, Page, Phase, Source};
use super::{folder, load, panels, raw, recent, samples};
use crate::checkers::ViolationId;
use crate::export::ExportKind;
use crate::history::{OperationId, Rules, TransactionId};
use crate::relations::EdgeIndex;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Zoom step of the keyboard and the buttons.
const ZOOM_STEP: f32 = 1.25;

impl App {
    /// Carries out requests in order and returns what the pointer is over.
    pub(super) fn handle_all(&mut self, ctx: &egui::Context, requests: Requests) -> Option<Attention> {
        let mut hovered = None;
        let any = !requests.is_empty();
        let mut changed = false;
        for request in requests {
            if let Request::Focus(Focus::Hover(attention)) = request {
                hovered = Some(attention);
            } else {
                changed = true;
                self.handle(ctx, request);
            }
        }
        if any && changed {
            ctx.request_repaint();
        }
        hovered
    }

    fn handle(&mut self, ctx: &egui::Context, request: Request) {
        match request {
            Request::Run(command) => self.run(ctx, command),
            Request::OpenFile(path) => self.open_path(path),
            Request::OpenSample(place) => self.open(Source::Sample(place)),
            Request::Select(id) => self.select(id, true),
            Request::Toggle(branch) => self.with_tree(|tree, catalogue| tree.toggle(branch, catalogue)),
            Request::Filter(filter) => self.set_filter(filter),
            Request::ToggleRelation(relation) => {
                if !self.state.hidden.remove(&relation) {
                    self.state.hidden.insert(relation);
                }
            }
            Request::Focus(Focus::Pin(attention)) => self.pin(attention),
            Request::Focus(Focus::Hover(_)) => {}
            Request::ToggleEvidence(edge) => self.toggle_evidence(edge),
            Request::Layout(kind) => self.set_layout(kind),
            Request::Browse(transaction) => self.browse(transaction),
            Request::ShowOrder(level) => self.show_order(level),
            Request::GoToStep(step) => self.go_to_step(step, false),
            Request::ShowOperation(operation) => self.show_operation(operation),
            Request::OpenFinding(place) => {
                if let Some(document) = &mut self.state.document {
                    document.open_finding = (document.open_finding != Some(place)).then_some(place);
                }
            }
            Request::SetRule(name, word) => {
                if let Some(document) = &mut self.state.document {
                    document.form.set(name, word);
                }
            }
            Request::ReadAgain => self.read_again(),
            Request::WriteExport(kind, path) => self.write_export(kind, path),
            Request::ChooseExportPath(kind) => {
                let suggestion = self.state.export.as_ref().map(|form| PathBuf::from(&form.path)).unwrap_or_default();
                self.dialogs.ask(Purpose::Export(kind), &suggestion, Arc::clone(&self.wake));
            }
            Request::UseOwnDialog => self.dialogs.use_own(),
            Request::Dismiss(place) => {
                if place < self.state.banners.len() {
                    self.state.banners.remove(place);
                }
            }
            Request::Copy(text) => ctx.copy_text(text),
        }
    }

    fn run(&mut self, ctx: &egui::Context, command: Command) {
        match command {
            Command::Open => self.ask_for(Purpose::Open),
            Command::OpenFolder => self.ask_for(Purpose::OpenFolder),
            Command::Reload => {
                let open =
                    self.state.document.as_ref().map(|document| (document.source.clone(), document.rules.clone()));
                if let Some((source, rules)) = open {
                    self.open_under(source, rules);
                }
            }
            Command::Close => self.close(),
            Command::Export => self.open_export(),
            Command::CopyMarkdown => {
                if let Some(picture) = self.state.document.as_ref().and_then(Document::current_picture) {
                    ctx.copy_text(picture.argument.markdown.clone());
                    self.state.tell(false, "The argument is on the clipboard as Markdown");
                }
            }
            Command::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
            Command::Escape => self.escape(ctx),
            Command::NextAnomaly => self.step_anomaly(1),
            Command::PreviousAnomaly => self.step_anomaly(-1),
            Command::NextStep => self.step(1),
            Command::PreviousStep => self.step(-1),
            Command::ExpandEvidence => self.expand(),
            Command::FocusFilter => self.state.focus_filter = self.state.document.is_some(),
            Command::Fit => self.canvas.fit(),
            Command::ZoomIn => self.canvas.zoom_by(ZOOM_STEP),
            Command::ZoomOut => self.canvas.zoom_by(1.0 / ZOOM_STEP),
            Command::SwitchLayout => self.set_layout(match self.state.layout {
                LayoutKind::Lanes => LayoutKind::Layered,
                LayoutKind::Layered => LayoutKind::Lanes,
            }),
            Command::ShowGraph => self.state.page = Page::Graph,
            Command::ShowBrowser => self.state.page = Page::Browser,
            Command::ShowText => self.state.page = Page::Text,
            Command::ShowHealth => self.state.page = Page::Health,
            Command::ShowOrder => self.show_some_order(),
            Command::SwitchTheme => {
                ctx.set_theme(if self.state.dark { egui::Theme::Light } else { egui::Theme::Dark });
            }
            Command::Help => self.state.help = !self.state.help,
        }
    }

    /// Opens the system's dialog where the open history lies.
    fn ask_for(&mut self, purpose: Purpose) {
        let folder = dialogs::folder_of(self.state.document.as_ref().map(|document| &document.source));
        self.dialogs.ask(purpose, &folder.join("history"), Arc::clone(&self.wake));
    }

    /// Opens a file, or what a folder turns out to hold.
    pub(super) fn open_path(&mut self, path: PathBuf) {
        if !path.is_dir() {
            self.open(Source::File(path));
            return;
        }
        self.state.looking = Some(path.clone());
        let number = self.revision.advance();
        self.looking = Some(folder::start(path, number, Arc::clone(&self.wake)));
    }

    /// Reads the open history again by the rules of the form, which stays in sight.
    fn read_again(&mut self) {
        let Some(document) = &mut self.state.document else { return };
        match document.form.rules() {
            Ok(rules) => {
                let source = document.source.clone();
                self.open_under(source, rules);
                self.state.page = Page::Health;
            }
            Err(trouble) => document.form.trouble = Some(trouble),
        }
    }

    /// Starts reading and checking by the default rules; whatever was open goes.
    pub(super) fn open(&mut self, source: Source) {
        self.open_under(source, Rules::default());
    }

    fn open_under(&mut self, source: Source, rules: Rules) {
        self.close();
        let title = match &source {
            Source::File(path) => {
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
            }
            Source::Sample(place) => samples::title(*place),
            Source::Bytes { name, .. } => name.clone(),
        };
        if let Source::File(path) = &source
            && path.exists()
        {
            recent::remember(&mut self.state.recent, path);
            if let Some(place) = &self.recent_place {
                recent::save(&self.state.recent, place);
            }
        }
        self.state.document = Some(Document::new(source.clone(), title, rules.clone(), &load::levels()));
        let number = self.revision.advance();
        self.loading = Some(load::start(source, rules, self.pool.clone(), number, Arc::clone(&self.wake)));
    }

    /// Stops all work on the open history and forgets it.
    fn close(&mut self) {
        self.loading = None;
        self.looking = None;
        self.state.looking = None;
        self.drawing = None;
        self.raw = None;
        self.raw_line = None;
        self.replaying = None;
        self.pictures.clear();
        self.state.banners.retain(|banner| !banner.bad);
        self.state.export = None;
        self.state.page = Page::Graph;
        if let Some(document) = self.state.document.take() {
            // Giving back the memory of a big history takes a while: not in a frame. Without a thread it happens here.
            let _ = std::thread::Builder::new().name("drop".to_owned()).spawn(move || drop(document));
        }
    }

    fn with_tree(&mut self, change: impl FnOnce(&mut super::tree::Tree, &super::tree::Catalogue)) {
        if let Some(document) = &mut self.state.document
            && let Some(catalogue) = &document.catalogue
        {
            change(&mut document.tree, catalogue);
        }
    }

    fn set_filter(&mut self, filter: String) {
        self.with_tree(|tree, catalogue| tree.set_filter(filter, catalogue));
    }

    /// Shows a violation: from the kept pictures, or by a job.
    pub(super) fn select(&mut self, id: ViolationId, by_user: bool) {
        let Some(document) = &mut self.state.document else { return };
        let Some(catalogue) = document.catalogue.clone() else { return };
        document.tree.reveal(id, &catalogue);
        document.scroll_to_selected = true;
        document.chosen_by_user |= by_user;
        if by_user && matches!(self.state.page, Page::Browser | Page::Health | Page::Order) {
            self.state.page = Page::Graph;
        }
        if document.selected == Some(id) && document.current_picture().is_some() {
            return;
        }
        document.selected = Some(id);
        document.pinned = None;
        document.hovered = None;
        document.evidence = None;
        let kind = self.state.layout;
        let kept =
            self.pictures.iter().rev().find(|picture| picture.argument.id == id && picture.kind == kind).cloned();
        if let Some(picture) = kept {
            self.drawing = None;
            self.show_picture(picture);
            return;
        }
        let known = self.pictures.iter().rev().find(|picture| picture.argument.id == id);
        let material = match (known, catalogue.violation(id)) {
            (Some(picture), _) => Material::Argument(Arc::clone(&picture.argument)),
            (None, Some(violation)) => Material::Violation(Box::new(violation.clone())),
            (None, None) => return,
        };
        self.order(material, None);
    }

    /// Starts making a picture; one that is being made is not wanted any more.
    fn order(&mut self, material: Material, expanded: Option<BTreeSet<EdgeIndex>>) {
        let kind = self.state.layout;
        let Some(document) = &mut self.state.document else { return };
        let Some(history) = document.history.clone() else { return };
        document.drawing = true;
        let number = self.revision.advance();
        self.revision_of_drawing = number;
        let order = Order { history, material, kind, expanded };
        self.drawing = Some(picture::start(order, number, Arc::clone(&self.wake)));
    }

    /// The same argument drawn otherwise.
    fn redraw(&mut self, expanded: Option<BTreeSet<EdgeIndex>>) {
        let Some(document) = &self.state.document else { return };
        if let Some(picture) = document.current_picture() {
            let material = Material::Argument(Arc::clone(&picture.argument));
            self.order(material, expanded);
        } else if let Some((id, catalogue)) = document.selected.zip(document.catalogue.as_ref())
            && let Some(violation) = catalogue.violation(id)
        {
            let material = Material::Violation(Box::new(violation.clone()));
            self.order(material, None);
        }
    }

    fn set_layout(&mut self, kind: LayoutKind) {
        if self.state.layout != kind {
            self.state.layout = kind;
            self.state.page = Page::Graph;
            let expanded = self.state.document.as_ref().and_then(|document| document.evidence.clone());
            self.redraw(expanded);
        }
    }

    fn toggle_evidence(&mut self, edge: EdgeIndex) {
        let Some(document) = &self.state.document else { return };
        let Some(picture) = document.current_picture() else { return };
        let edges = &picture.argument.counterexample.violation.edges;
        if picture::evidence_of(edges, edge).is_empty() {
            return;
        }
        let mut expanded = picture.expanded.clone();
        if !expanded.remove(&edge) {
            expanded.insert(edge);
        }
        self.redraw(Some(expanded));
    }

    /// Shows or folds the evidence of the pinned edge, or of all edges.
    fn expand(&mut self) {
        let Some(document) = &self.state.document else { return };
        let Some(picture) = document.current_picture() else { return };
        let edges = &picture.argument.counterexample.violation.edges;
        if let Some(Attention::Edge(edge)) = document.pinned
            && !picture::evidence_of(edges, edge).is_empty()
        {
            self.toggle_evidence(edge);
            return;
        }
        let all = picture::expandable(edges);
        let expanded = if picture.expanded == all { BTreeSet::new() } else { all };
        self.redraw(Some(expanded));
    }

    fn step_anomaly(&mut self, step: isize) {
        let Some(document) = &self.state.document else { return };
        let Some(catalogue) = &document.catalogue else { return };
        if let Some(next) = document.tree.neighbour(document.selected, step, catalogue) {
            self.select(next, true);
        }
    }

    /// One step of whatever is being stepped through.
    fn step(&mut self, step: isize) {
        let order = self.state.document.as_ref().and_then(|document| document.order.as_ref());
        match (self.state.page, order) {
            (Page::Order, Some(order)) => self.go_to_step(order.step.saturating_add_signed(step), true),
            (Page::Order, None) => {}
            _ => self.step_argument(step),
        }
    }

    fn step_argument(&mut self, step: isize) {
        let Some(document) = &mut self.state.document else { return };
        let Some(n) = document.current_picture().map(|picture| picture.argument.explanation.steps.len() as isize)
        else {
            return;
        };
        if n == 0 {
            return;
        }
        let next = match document.pinned {
            Some(Attention::Step(now)) => (now as isize + step).clamp(0, n - 1),
            _ if step > 0 => 0,
            _ => n - 1,
        };
        document.pinned = Some(Attention::Step(next as usize));
        document.scroll_to_step = true;
        self.show_edges_of_step(next as usize);
    }

    /// A step that speaks of folded evidence unfolds it.
    fn show_edges_of_step(&mut self, step: usize) {
        let Some(document) = &self.state.document else { return };
        let Some(picture) = document.current_picture() else { return };
        let steps = &picture.argument.explanation.steps;
        let is_drawn = |edge: &EdgeIndex| picture.drawn.contains(edge);
        if !steps.get(step).is_none_or(|step| step.edges.iter().all(is_drawn)) {
            self.redraw(Some(picture::expandable(&picture.argument.counterexample.violation.edges)));
        }
    }

    fn pin(&mut self, attention: Option<Attention>) {
        if let Some(document) = &mut self.state.document {
            document.pinned = attention;
        }
    }

    fn browse(&mut self, transaction: TransactionId) {
        let was = self.state.page;
        let Some(document) = &mut self.state.document else { return };
        let Some(history) = &document.history else { return };
        if transaction.index() < history.n_transactions() {
            let session = history.session_of(transaction);
            let scroll = was != Page::Browser;
            document.browser = Browser { session, transaction: Some(transaction), scroll, operation: None };
            self.state.page = Page::Browser;
        }
    }

    fn show_operation(&mut self, operation: OperationId) {
        let Some(document) = &mut self.state.document else { return };
        let Some(history) = &document.history else { return };
        if operation.index() >= history.n_operations() {
            return;
        }
        let history = Arc::clone(history);
        let transaction = history.transaction_of(operation);
        if self.state.page != Page::Browser {
            document.browser.session = history.session_of(transaction);
            document.browser.transaction = Some(transaction);
        }
        document.browser.operation = Some((operation, None));
        if history.spot_of(operation).is_some() {
            let (number, source) = (self.revision.advance(), document.source.clone());
            self.raw_line = Some(raw::start_one(history, source, operation, number, Arc::clone(&self.wake)));
        }
    }

    fn open_export(&mut self) {
        let Some(document) = &self.state.document else { return };
        let Some(picture) = document.current_picture() else {
            self.state.tell(true, "Select an anomaly first: there is nothing to export yet");
            return;
        };
        let kind = ExportKind::Svg;
        let stem = document.title.split('.').next().unwrap_or("anomaly").to_owned();
        let id = picture.argument.id.to_string().replace('/', "-");
        let folder = dialogs::folder_of(Some(&document.source));
        let path = folder.join(format!("{stem}-{id}.{}", kind.extension()));
        self.state.export = Some(ExportForm { kind, path: path.display().to_string() });
    }

    fn write_export(&mut self, kind: ExportKind, path: PathBuf) {
        let Some(document) = &self.state.document else { return };
        let Some(picture) = document.current_picture().cloned() else { return };
        let sketch = self.canvas.current(&picture.sketch);
        let Some(history) = document.history.clone() else { return };
        let number = self.revision.advance();
        let what = exporting::What { kind, path, picture, sketch, history, hidden: self.state.hidden.clone() };
        self.exporting = Some(exporting::start(what, number, Arc::clone(&self.wake)));
        self.state.export = None;
    }

    /// Whatever Esc means now: the topmost thing is closed, else work stops, else the selection is released.
    fn escape(&mut self, ctx: &egui::Context) {
        if self.state.help {
            self.state.help = false;
        } else if self.state.export.is_some() {
            self.state.export = None;
        } else if self.was_typing {
            // egui itself lets go of the field when it sees Esc; this frame's Esc must do no more than that.
            ctx.memory_mut(|memory| memory.surrender_focus(egui::Id::new(panels::anomalies::FILTER_ID)));
        } else if self.looking.take().is_some() {
            self.state.looking = None;
        } else if let Some(job) = &self.loading {
            // The window shows it at once; the threads come to their next look at the flag soon after.
            job.cancel();
            if let Some(document) = &mut self.state.document {
                document.phase = Phase::Cancelled;
            }
        } else if let Some(document) = &mut self.state.document {
            if document.pinned.is_some() {
                document.pinned = None;
            } else if document.drawing {
                document.drawing = false;
                self.drawing = None;
            } else if !document.tree.filter().is_empty() {
                self.set_filter(String::new());
            }
        }
        if let Some(document) = &mut self.state.document
            && self.loading.is_none()
            && document.is_busy()
        {
            document.phase = Phase::Cancelled;
        }
    }
}
