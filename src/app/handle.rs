//! Carrying out requests.

use super::App;
use super::batch::Batch;
use super::command::{Command, Request, Requests};
use super::dialogs::{self, Purpose};
use super::exporting;
use super::heaps::GroupBy;
use super::notes::{Note, Notes};
use super::palette::Move;
use super::picture::{self, LayoutKind, Material, Order};
use super::project::{self, Wish};
use super::state::{Attention, Browser, Document, ExportForm, Focus, Page, Phase, Source};
use super::tree::{Catalogue, Tree};
use super::versions::Wanted;
use super::watch;
use super::{folder, load, raw, recent, samples};
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

    pub(super) fn handle(&mut self, ctx: &egui::Context, request: Request) {
        match request {
            Request::Run(command) => self.run(ctx, command),
            Request::OpenFile(path) => self.open_path(path),
            Request::OpenSample(place) => self.open(Source::Sample(place)),
            Request::Select(id) => self.select(id, true),
            Request::Toggle(branch) => self.with_tree(|tree, catalogue, notes| tree.toggle(branch, catalogue, notes)),
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
            Request::GroupBy(by) => self.group_by(by),
            Request::SetNote(identity, note) => self.set_note(identity, note),
            Request::Choose(transactions) => self.choose(transactions, true),
            Request::ChooseMore(transactions) => self.choose(transactions, false),
            Request::ChooseNone => {
                if let Some(document) = &mut self.state.document {
                    document.chosen.clear();
                }
            }
            Request::ClearWhatIf => {
                self.asking = None;
                if let Some(document) = &mut self.state.document {
                    document.what_if.clear();
                }
            }
            Request::Tour(stop) => self.go_on_tour(stop),
            Request::Hide(transactions) => self.hide(Some(transactions)),
            Request::BatchFilter(filter) => self.with_batch(|batch| {
                batch.filter = filter;
                batch.arrange();
            }),
            Request::BatchSort(column) => self.with_batch(|batch| batch.sort_by(column)),
            Request::ToggleChecker(checker) => {
                if let Some(document) = &mut self.state.document
                    && !document.contest.chosen.remove(&checker)
                {
                    document.contest.chosen.insert(checker);
                }
            }
            Request::WriteContest(ending) => self.write_contest(ending),
            Request::ArrangeBrowser(wanted) => {
                if let Some(document) = &mut self.state.document {
                    document.browser.wanted = wanted;
                }
            }
            Request::Compare(row) => self.with_batch(|batch| batch.compare(row)),
            Request::SelectLevel(level) => self.select_level(level),
            Request::ShowKey(key) => self.show_key(Wanted::Key(key)),
            Request::FindKey(name) => self.show_key(Wanted::Named(name)),
            Request::ShowInLanes(transaction) => self.show_in_lanes(transaction),
            Request::AllLanes(all) => self.state.all_lanes = all,
            Request::WholeGroup(whole) => {
                if let Some(document) = &mut self.state.document {
                    document.whole_group = whole;
                }
            }
            Request::PaletteText(text) => self.search(text),
            Request::PaletteKey(Move::Choose) => self.choose_found(ctx, None),
            Request::PaletteKey(step) => {
                if let Some(palette) = &mut self.state.palette {
                    palette.move_by(if step == Move::Up { -1 } else { 1 });
                }
            }
            Request::PaletteChoose(place) => self.choose_found(ctx, Some(place)),
            Request::GoToStep(step) => self.go_to_step(step, false),
            Request::ShowOperation(operation) => self.handle_operation(operation),
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
            Command::Reload => self.reload(),
            Command::Close => self.close(),
            Command::Export => self.open_export(),
            Command::Report => self.write_report(),
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
            Command::Undo => self.undo(false),
            Command::Redo => self.undo(true),
            Command::SaveProject => self.save_project(),
            Command::CopyLink => match self.link() {
                Some(link) => {
                    self.state.tell(false, format!("On the clipboard: {link}"));
                    ctx.copy_text(link);
                }
                None => self.state.tell(true, "Only a history that was opened from a file has links"),
            },
            Command::Bookmark => self.bookmark(),
            Command::EditNote => {
                if let Some(document) = &mut self.state.document {
                    document.focus_note = true;
                }
            }
            Command::GroupBy => {
                let by = self.state.document.as_ref().map(|document| document.tree.by().next());
                by.into_iter().for_each(|by| self.group_by(by));
            }
            Command::Choose => {
                let pinned = self.state.document.as_ref().map(Document::attended).unwrap_or_default();
                self.choose(pinned, true);
            }
            Command::CheckOnly => self.what_if(true),
            Command::CheckWithout => self.what_if(false),
            Command::Hide => {
                let pinned = self.state.document.as_ref().map(Document::attended).unwrap_or_default();
                if !pinned.is_empty() {
                    self.hide(Some(pinned));
                }
            }
            Command::ShowHidden => self.hide(None),
            Command::Back => self.go_back(-1),
            Command::Forward => self.go_back(1),
            Command::Palette => self.toggle_palette(),
            Command::NextStep => self.step(1),
            Command::PreviousStep => self.step(-1),
            Command::ExpandEvidence => self.expand(),
            Command::FocusFilter => self.state.focus_filter = self.state.document.is_some(),
            Command::Fit => match self.state.page {
                Page::Lanes => self.lanes.fit(),
                _ => self.canvas.fit(),
            },
            Command::ZoomIn => self.zoom_by(ZOOM_STEP),
            Command::ZoomOut => self.zoom_by(1.0 / ZOOM_STEP),
            Command::SwitchLayout => self.set_layout(match self.state.layout {
                LayoutKind::Lanes => LayoutKind::Layered,
                LayoutKind::Layered => LayoutKind::Lanes,
            }),
            Command::ShowGraph => self.show(Page::Graph),
            Command::ShowLanes => self.show(Page::Lanes),
            Command::ShowKey => self.show(Page::Key),
            Command::ShowMatrix => self.show(Page::Matrix),
            Command::ShowBrowser => self.show(Page::Browser),
            Command::ShowText => self.show(Page::Text),
            Command::ShowHealth => self.show(Page::Health),
            Command::ShowOrder => self.show_some_order(),
            Command::ShowStatistics => self.show(Page::Statistics),
            Command::ShowCheckers => self.show(Page::Checkers),
            Command::RunCheckers => {
                self.show(Page::Checkers);
                self.start_contest();
            }
            Command::ShowBatch => self.state.show_batch = !self.state.show_batch && self.state.batch.is_some(),
            Command::SwitchTime => self.state.true_time = !self.state.true_time,
            Command::SwitchTheme => {
                ctx.set_theme(if self.state.dark { egui::Theme::Light } else { egui::Theme::Dark });
            }
            Command::Tour => self.go_on_tour(Some(0)),
            Command::Help => self.state.help = !self.state.help,
        }
    }

    fn show(&mut self, page: Page) {
        self.state.page = page;
        self.state.show_batch &= self.state.document.is_none();
    }

    fn with_batch(&mut self, change: impl FnOnce(&mut Batch)) {
        if let Some(batch) = &mut self.state.batch {
            change(batch);
        }
    }

    /// Opens the system's dialog where the open history lies.
    fn ask_for(&mut self, purpose: Purpose) {
        let folder = dialogs::folder_of(self.state.document.as_ref().map(|document| &document.source));
        self.dialogs.ask(purpose, &folder.join("history"), Arc::clone(&self.wake));
    }

    /// Opens a file, or what a folder turns out to hold.
    pub(super) fn open_path(&mut self, path: PathBuf) {
        let (path, link) = project::split_link(&path);
        if project::is_project(&path) {
            self.open_project(&path);
            return;
        }
        if !path.is_dir() {
            self.open_file(path);
            match link.as_deref().map(project::parse_link) {
                Some(Ok(wish)) => self.wish(wish),
                Some(Err(text)) => self.state.tell(true, text),
                None => {}
            }
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

    pub(super) fn open_under(&mut self, source: Source, rules: Rules) {
        self.close();
        self.state.show_batch = false;
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
        self.watching = match &source {
            Source::File(path) => {
                let number = self.revision.advance();
                Some(watch::start(path.clone(), number, Arc::clone(&self.wake)))
            }
            Source::Sample(_) | Source::Bytes { .. } => None,
        };
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
        self.timing = None;
        self.chaining = None;
        self.counting = None;
        self.contest = None;
        self.listing = None;
        self.asking = None;
        self.watching = None;
        self.state.undo.clear();
        self.finding = None;
        self.state.palette = None;
        self.state.places.clear();
        self.pictures.clear();
        self.state.banners.retain(|banner| !banner.bad);
        self.state.export = None;
        self.state.show_batch = self.state.batch.is_some();
        self.state.page = Page::Graph;
        if let Some(document) = self.state.document.take() {
            // Giving back the memory of a big history takes a while: not in a frame. Without a thread it happens here.
            let _ = std::thread::Builder::new().name("drop".to_owned()).spawn(move || drop(document));
        }
    }

    fn with_tree(&mut self, change: impl FnOnce(&mut Tree, &Catalogue, &Notes)) {
        if let Some(document) = &mut self.state.document
            && let Some(catalogue) = &document.catalogue
        {
            change(&mut document.tree, catalogue, &document.notes);
        }
    }

    fn group_by(&mut self, by: GroupBy) {
        self.with_tree(|tree, catalogue, notes| tree.group_by(by, catalogue, notes));
        if let Some(document) = &mut self.state.document
            && let (Some(id), Some(catalogue)) = (document.selected, &document.catalogue)
        {
            document.tree.reveal(id, catalogue, &document.notes);
            document.scroll_to_selected = true;
        }
    }

    fn set_note(&mut self, identity: String, note: Note) {
        let Some(document) = &mut self.state.document else { return };
        match note.is_empty() {
            true => document.notes.remove(&identity),
            false => document.notes.insert(identity, note),
        };
        self.with_tree(|tree, catalogue, notes| tree.rebuild(catalogue, notes));
    }

    fn bookmark(&mut self) {
        let Some(document) = &self.state.document else { return };
        let Some(identity) = document.identity().map(str::to_owned) else { return };
        let mut note = document.notes.get(&identity).cloned().unwrap_or_default();
        note.bookmarked = !note.bookmarked;
        self.set_note(identity, note);
    }

    /// Reads the open history again; selection, page and arrangement stay.
    pub(super) fn reload(&mut self) {
        let Some(document) = &self.state.document else { return };
        let (source, rules) = (document.source.clone(), document.rules.clone());
        let wish = Wish {
            identity: document.identity().map(str::to_owned),
            id: document.selected,
            page: Some(self.state.page),
            evidence: None,
            quiet: true,
        };
        let arrangement = self.arrangement();
        self.open_under(source, rules);
        if let Some(arrangement) = arrangement {
            let names = arrangement.hidden_transactions.clone();
            self.arrange(arrangement);
            if let Some(document) = &mut self.state.document {
                document.hidden_names = names;
            }
        }
        self.wish(wish);
    }

    /// Turns to what shall be looked at as soon as it is there.
    pub(super) fn wish(&mut self, wish: Wish) {
        if let Some(page) = wish.page {
            self.state.page = page;
        }
        if let Some(document) = &mut self.state.document {
            document.wish = wish;
        }
    }

    fn set_filter(&mut self, filter: String) {
        self.with_tree(|tree, catalogue, notes| tree.set_filter(filter, catalogue, notes));
    }

    /// Shows a violation: from the kept pictures, or by a job.
    pub(super) fn select(&mut self, id: ViolationId, by_user: bool) {
        let Some(document) = &mut self.state.document else { return };
        let Some(catalogue) = document.catalogue.clone() else { return };
        document.tree.reveal(id, &catalogue, &document.notes);
        document.scroll_to_selected = true;
        document.chosen_by_user |= by_user;
        if by_user && matches!(self.state.page, Page::Browser | Page::Health | Page::Order | Page::Statistics) {
            self.state.page = Page::Graph;
        }
        if document.selected == Some(id) && document.current_picture().is_some() {
            return;
        }
        document.selected = Some(id);
        document.pinned = None;
        document.hovered = None;
        let expanded = document.evidence.take().filter(|_| by_user && document.picture.is_none());
        let kind = self.state.layout;
        let kept =
            self.pictures.iter().rev().find(|picture| picture.argument.id == id && picture.kind == kind).cloned();
        let kept = kept.filter(|picture| picture.hidden == document.hidden);
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
        self.order(material, expanded);
    }

    /// Starts making a picture; one that is being made is not wanted any more.
    fn order(&mut self, material: Material, expanded: Option<BTreeSet<EdgeIndex>>) {
        let kind = self.state.layout;
        let Some(document) = &mut self.state.document else { return };
        let Some(history) = document.history.clone() else { return };
        document.drawing = true;
        let number = self.revision.advance();
        self.revision_of_drawing = number;
        let order = Order { history, material, kind, expanded, hidden: document.hidden.clone() };
        self.drawing = Some(picture::start(order, number, Arc::clone(&self.wake)));
    }

    /// The same argument drawn otherwise.
    pub(super) fn redraw(&mut self, expanded: Option<BTreeSet<EdgeIndex>>) {
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

    fn zoom_by(&mut self, factor: f32) {
        match self.state.page {
            Page::Lanes => self.lanes.zoom_by(factor),
            _ => self.canvas.zoom_by(factor),
        }
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
        if self.state.show_batch {
            self.with_batch(|batch| {
                let last = batch.order.len().saturating_sub(1);
                batch.chosen = batch.chosen.saturating_add_signed(step).min(last);
            });
            return;
        }
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
            let (wanted, listing) = (document.browser.wanted.clone(), document.browser.listing.clone());
            let transaction = Some(transaction);
            document.browser = Browser { session, transaction, scroll, operation: None, wanted, listing };
            self.state.page = Page::Browser;
        }
    }

    pub(super) fn handle_operation(&mut self, operation: OperationId) {
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
        self.ask_for_key(Wanted::Key(history.operation(operation).key));
        let Some(document) = &mut self.state.document else { return };
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

    /// Writes everything about the chosen anomaly into a new folder beside the history.
    fn write_report(&mut self) {
        let Some(document) = &self.state.document else { return };
        let (Some(picture), Some(catalogue)) = (document.current_picture().cloned(), document.catalogue.clone()) else {
            self.state.tell(true, "Select an anomaly first: there is nothing to report yet");
            return;
        };
        let (Some(history), Some(health)) = (document.history.clone(), document.health.clone()) else { return };
        let stem = document.title.split('.').next().unwrap_or("anomaly");
        let name = format!("{stem}-{}-report", picture.argument.id.to_string().replace('/', "-"));
        let file = document.path().map_or_else(|| document.title.clone(), |path| path.display().to_string());
        let folder = dialogs::folder_of(Some(&document.source)).join(name);
        let what = exporting::Report { folder, picture, history, catalogue, health, file };
        let number = self.revision.advance();
        self.exporting = Some(exporting::start_report(what, number, Arc::clone(&self.wake)));
    }

    /// Whatever Esc means now: the topmost thing is closed, else work stops, else the selection is released.
    fn escape(&mut self, ctx: &egui::Context) {
        if self.state.palette.take().is_some() {
            self.finding = None;
        } else if self.state.tour.take().is_some() {
        } else if self.state.help {
            self.state.help = false;
        } else if self.state.export.is_some() {
            self.state.export = None;
        } else if self.was_typing {
            // egui itself lets go of the field when it sees Esc; this frame's Esc must do no more than that.
            ctx.memory_mut(|memory| memory.stop_text_input());
        } else if self.contest.take().is_some() {
            if let Some(document) = &mut self.state.document {
                document.contest.running = None;
            }
        } else if self.state.show_batch && self.batching.take().is_some() {
            self.with_batch(|batch| batch.done = true);
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
            } else if !document.chosen.is_empty() {
                document.chosen.clear();
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
