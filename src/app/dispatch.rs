//! Carrying out requests.

use super::App;
use super::batch::{Batch, CHECK_FOLDER};
use super::collecting::order::Purpose as Collect;
use super::command::{Command, Request, Requests};
use super::dialogs::Purpose;
use super::exporting::{self, COPY, EXPORT, PageStyle};
use super::load::LOAD;
use super::page::Page;
use super::palette::FIND;
use super::panels::live::LiveView;
use super::paths::LOOK;
use super::picture::{DRAW, LayoutKind};
use super::replaying::REPLAY;
use super::state::{Cover, Document, ExportForm};
use super::text_size;
use super::versions::Wanted;
use super::vocabulary::{Attention, Focus, Phase, Source, Stage, Tone};
use super::what_if::CHECK_PART;
use crate::export::ExportKind;
use crate::jobs;
use std::path::PathBuf;
use std::sync::Arc;

/// Zoom step of the keyboard and the buttons.
const ZOOM_STEP: f32 = 1.25;

impl App {
    /// Carries out requests in order and returns what the pointer is over.
    pub(super) fn handle_all(
        &mut self,
        ctx: &egui::Context,
        requests: Requests,
    ) -> Option<Attention> {
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
            Request::Axis(axis) => self.choose_axis(axis),
            Request::Stop => drop(self.stop_work()),
            Request::OpenFile(path) => self.open_path(path),
            Request::CompareWith(path) => self.compare_with(path),
            Request::OpenSample(place) => self.open(Source::Sample(place)),
            Request::Select(id) => self.select(id, true),
            Request::ListMore(pattern) => self.list_more(pattern),
            Request::ShowInstance(id) => self.show_instance(id),
            Request::Toggle(branch) => self.toggle_branch(branch),
            Request::Filter(filter) => self.set_filter(filter),
            Request::ToggleRelation(relation) => {
                if !self.state.hidden.remove(&relation) {
                    self.state.hidden.insert(relation);
                }
            }
            Request::Focus(Focus::Pin(attention)) => {
                self.with_document(|document| document.argument.pinned = attention)
            }
            Request::Focus(Focus::Hover(_)) => {}
            Request::WritePage(path) => {
                self.state.export = None;
                self.write_report(Some(path));
            }
            Request::ShowFolder(folder) => self.show_folder(&folder),
            Request::WholeCycle(is_whole) => {
                self.pick(|overrides| overrides.whole_cycle = is_whole)
            }
            Request::ToggleEvidence(edge) => self.toggle_evidence(edge),
            Request::ShowCase(place) => self.show_case(place),
            Request::ToggleCase(place) => self.toggle_case(place),
            Request::ReplayStep(scene) => {
                self.pause();
                self.go_to_scene(scene);
            }
            Request::Keep(part) => self.pick(|overrides| overrides.keep(part)),
            Request::LeaveOut(part) => self.pick(|overrides| overrides.leave_out(part)),
            Request::KeepNothing => self.pick(|overrides| overrides.kept.clear()),
            Request::FoldSession(session) => self.pick(|overrides| overrides.fold(session)),
            Request::MoveCard(transaction, at) => {
                let style = self.state.layout;
                self.pick(|overrides| overrides.put(style, transaction, (at.x, at.y)));
            }
            Request::PutCardsBack => self.pick(|overrides| overrides.moved.clear()),
            Request::FoldSessions(all) => self.fold_all(all),
            Request::Layout(kind) => self.set_layout(kind),
            Request::FillLogCommand(template) => self.fill_log_command(template, false),
            Request::ConfirmLogCommand => self.confirm_log_command(),
            Request::ShowFinding(place) => self.show_finding(place),
            Request::Browse(transaction) => self.browse(transaction),
            Request::BrowseHere(transaction) => {
                self.browse(transaction);
                self.with_document(|document| document.browser.scroll = false);
            }
            Request::ScrollTo(transaction) => self.with_document(|document| {
                document.browser.transaction = Some(transaction);
                document.browser.scroll = true;
            }),
            Request::SelectHere(id) => {
                let page = self.state.page;
                self.select(id, true);
                self.state.page = page;
            }
            Request::ShowOrder(level) => self.show_order(level),
            Request::GroupBy(by) => self.group_by(by),
            Request::Marks(ask) => self.marks(ask),
            Request::SetNote(identity, note) => self.set_note(identity, note),
            Request::Choose(transactions) => self.choose(transactions, true),
            Request::ChooseMore(transactions) => self.choose(transactions, false),
            Request::ChooseNone => self.with_document(|document| document.parts.chosen.clear()),
            Request::ClearWhatIf => {
                self.tasks.cancel(&CHECK_PART);
                self.with_document(|document| {
                    jobs::discard(std::mem::take(&mut document.parts.asked))
                });
            }
            Request::Tour(stop) => self.go_on_tour(stop),
            Request::Hide(transactions) => self.hide(Some(transactions)),
            Request::BatchFilter(filter) => self.with_batch(|batch| {
                batch.filter = filter;
                batch.arrange();
            }),
            Request::BatchSort(column) => self.with_batch(|batch| batch.sort_by(column)),
            Request::ToggleChecker(checker) => {
                if let Some(comparison) = self.comparison_mut()
                    && !comparison.chosen.remove(&checker)
                {
                    comparison.chosen.insert(checker);
                }
            }
            Request::Sweep(is_sweep) => {
                if let Some(comparison) = self.comparison_mut() {
                    comparison.is_sweep = is_sweep;
                }
            }
            Request::PlanSweep(plan) => {
                if let Some(comparison) = self.comparison_mut() {
                    comparison.sweep.plan = *plan;
                    comparison.sweep.error = None;
                }
            }
            Request::SaveChart(chart) => self.save_chart(&chart),
            Request::WriteComparison(ending) => self.write_comparison(ending),
            Request::FillIn(field, word) => self.fill_in(field, word),
            Request::SetServers(servers) => self.state.collect.set_servers(servers),
            Request::SetBreaks(breaks) => self.state.collect.set_breaks(breaks),
            Request::SetPassword(password) => self.state.collect.form.set_password(password),
            Request::HidePasswords => self.state.collect.form.hide_passwords(),
            Request::ChooseRecording => {
                let suggestion = self.state.collect.form.file().unwrap_or_default();
                self.dialogs
                    .ask(Purpose::Record, &suggestion, Arc::clone(&self.wake));
            }
            Request::CancelCollecting => drop(self.cancel_collecting()),
            Request::ShowFollowing(is_shown) => self.show_following(is_shown),
            Request::StopFollowing => drop(self.stop_following()),
            Request::OpenFound(place) => self.open_found(Some(place)),
            Request::OpenCollected(place) => self.open_collected(Some(place)),
            Request::ArrangeBrowser(wanted) => {
                self.with_document(|document| document.browser.wanted = wanted)
            }
            Request::Compare(row) => self.compare(row),
            Request::EndComparison => drop(self.end_comparison()),
            Request::GroupHistories => self.with_batch(Batch::group),
            Request::SelectLevel(level) => self.select_level(level),
            Request::ExplainLevel(level) => {
                let again = self.state.lattice.chosen == Some(level);
                self.state.lattice.chosen = Some(level).filter(|_| !again);
            }
            Request::ChoosePromise(place) => {
                self.state.lattice.promise = place;
                self.tell_again();
            }
            Request::SetTested(said) => {
                self.with_document(|document| document.tested = said);
                self.tell_again();
            }
            Request::ShowKey(key) => self.show_key(Wanted::Key(key)),
            Request::FindKey(name) => self.show_key(Wanted::Named(name)),
            Request::ShowInLanes(transaction) => self.show_in_lanes(transaction),
            Request::FlyLanes(factor, sideways) if self.state.is_covered() => {
                self.live_lanes.fly(factor, sideways)
            }
            Request::FlyLanes(factor, sideways) => self.lanes.fly(factor, sideways),
            Request::WholeGroup(whole) => {
                self.with_document(|document| document.component.whole = whole)
            }
            Request::PaletteText(text) => self.search(text),
            Request::PaletteMove(step) => {
                if let Some(palette) = &mut self.state.palette {
                    palette.move_by(step);
                }
            }
            Request::PaletteChoose(place) => self.choose_found(ctx, place),
            Request::GoToStep(step) => self.go_to_step(step, false),
            Request::ShowOperation(operation) => self.handle_operation(operation),
            Request::OpenFinding(place) => self.with_document(|document| {
                document.trust.open_finding =
                    (document.trust.open_finding != Some(place)).then_some(place)
            }),
            Request::SetRule(name, word) => {
                self.with_document(|document| document.form.set(name, word))
            }
            Request::ReadAgain => self.read_again(),
            Request::WriteExport(kind, path) => self.write_export(kind, path),
            Request::ChooseExportPath(kind) => {
                let suggestion = self
                    .state
                    .export
                    .as_ref()
                    .map(|form| PathBuf::from(&form.path))
                    .unwrap_or_default();
                self.dialogs
                    .ask(Purpose::Export(kind), &suggestion, Arc::clone(&self.wake));
            }
            Request::UseOwnDialog => self.dialogs.use_own(),
            Request::Dismiss(place) => {
                if place < self.state.banners.len() {
                    self.state.banners.remove(place);
                }
            }
            Request::Copy(text) => ctx.copy_text(text),
            Request::SaveOrder => self.open_order_export(),
            Request::CopyOrder => self.copy_order(),
        }
    }

    fn run(&mut self, ctx: &egui::Context, command: Command) {
        match command {
            Command::Open => self.ask_for(Purpose::Open),
            Command::OpenFolder => self.ask_for(Purpose::OpenFolder),
            Command::CompareWith => self.ask_for(Purpose::CompareWith),
            Command::Reload => self.reload(),
            Command::Close if self.state.is_covered() => self.state.uncover(),
            Command::Close => self.close(),
            Command::Export => self.open_export(),
            Command::Report if self.shows_finding() => self.report_finding(),
            Command::Report => self.write_report(None),
            Command::CopyPicture => self.copy_picture(),
            Command::CopyMarkdown | Command::CopyText if self.shows_finding() => {
                self.copy_finding(ctx, command == Command::CopyMarkdown)
            }
            Command::CopyMarkdown if self.shows_order() => self.copy_order(),
            Command::CopyMarkdown => self.copy_argument(ctx, |argument| &argument.markdown),
            Command::CopyText => self.copy_argument(ctx, |argument| &argument.text),
            Command::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
            Command::Escape => self.escape(ctx),
            Command::NextAnomaly => self.step_anomaly(1),
            Command::PreviousAnomaly => self.step_anomaly(-1),
            Command::NextClass => self.step_class(1),
            Command::PreviousClass => self.step_class(-1),
            Command::Undo => self.undo(false),
            Command::Redo => self.undo(true),
            Command::SaveProject => self.save_project(),
            Command::CopyLink => match self.link() {
                Some(link) => {
                    self.state
                        .tell(Tone::Done, format!("On the clipboard: {link}"));
                    ctx.copy_text(link);
                }
                None => self.state.tell(
                    Tone::Note,
                    "Only a history that was opened from a file has links",
                ),
            },
            Command::Bookmark => self.bookmark(),
            Command::Mark => self.mark(),
            Command::NextMark => self.step_mark(1),
            Command::PreviousMark => self.step_mark(-1),
            Command::EditNote => self.edit_note(),
            Command::EditTested => self.edit_tested(),
            Command::GroupBy if self.state.show_batch => self.with_batch(Batch::group),
            Command::GroupBy => {
                let by = self
                    .state
                    .document
                    .as_ref()
                    .map(|document| document.tree.by().next());
                by.into_iter().for_each(|by| self.group_by(by));
            }
            Command::ListMore => {
                let selected = self
                    .state
                    .document
                    .as_ref()
                    .and_then(|document| document.selected);
                selected
                    .into_iter()
                    .for_each(|id| self.list_more(id.pattern));
            }
            Command::Choose => {
                let pinned = self
                    .state
                    .document
                    .as_ref()
                    .map(Document::attended)
                    .unwrap_or_default();
                self.choose(pinned, true);
            }
            Command::CheckOnly => self.what_if(true),
            Command::CheckWithout => self.what_if(false),
            Command::Hide => self.hide_pinned(),
            Command::Keep => self.keep_pinned(),
            Command::FoldSession => self.fold_pinned(),
            Command::SwitchScope => {
                self.with_document(|document| document.component.whole = !document.component.whole)
            }
            Command::Play => self.play_or_pause(ctx),
            Command::NextCase => self.step_case(1),
            Command::PreviousCase => self.step_case(-1),
            Command::Replay => self.toggle_replay(ctx),
            Command::Alternatives => self.toggle_alternatives(),
            Command::ShowHidden => self.hide(None),
            Command::Back => self.go_back(-1),
            Command::Forward => self.go_back(1),
            Command::Palette => self.toggle_palette(),
            Command::NextStep => self.step(1),
            Command::PreviousStep => self.step(-1),
            Command::ExpandEvidence => self.expand(),
            Command::FocusFilter => self.focus_filter(),
            Command::Fit if self.state.is_covered() => self.live_lanes = LiveView::default(),
            Command::Fit => match self.state.page {
                Page::Lanes => self.lanes.fit(),
                _ => self.canvas.fit(),
            },
            Command::ZoomIn => self.zoom_by(ZOOM_STEP),
            Command::ZoomOut => self.zoom_by(1.0 / ZOOM_STEP),
            Command::WhereMap => {
                // On other pages it shows what was asked for.
                self.state.preferences.no_map =
                    self.state.page == Page::Graph && !self.state.preferences.no_map;
                self.state.page = Page::Graph;
            }
            Command::Locate => self.locate(),
            Command::OpenLog => self.open_log(),
            Command::Lattice => self.state.lattice.open ^= true,
            Command::CheckEveryLevel => {
                self.state.lattice.open = true;
                self.check_every_level();
            }
            Command::SwitchLayout => self.set_layout(match self.state.layout {
                LayoutKind::Auto => LayoutKind::Layered,
                LayoutKind::Layered => LayoutKind::Lanes,
                LayoutKind::Lanes => LayoutKind::Auto,
            }),
            Command::Show(Page::Order) => self.show_some_order(),
            Command::Show(page) => self.show(page),
            Command::RunCheckers => {
                self.show(Page::Checkers);
                self.start_comparison();
            }
            Command::ShowBatch => {
                let covered = self.state.is_covered();
                self.state.uncover();
                self.state.show_batch =
                    (covered || !self.state.show_batch) && self.state.batch.is_some();
            }
            Command::ShowCollect => {
                let is_shown = self.state.cover == Some(Cover::Collect);
                self.state.cover = (!is_shown).then_some(Cover::Collect);
            }
            Command::Follow => self.follow_or_return(),
            Command::HoldLanes if self.state.is_told() => self.play_or_pause(ctx),
            Command::HoldLanes => self.hold_lanes(),
            Command::OpenFound => self.open_found(None),
            Command::RunWorkload => self.start_collecting(Collect::Run),
            Command::Hunt => self.start_collecting(Collect::Hunt),
            Command::CompareLevels => self.start_collecting(Collect::Compare),
            Command::OpenCollected => self.open_collected(None),
            Command::WriteRounds => self.write_rounds(),
            Command::SwitchTime => self.next_axis(),
            Command::SwitchTheme => {
                ctx.set_theme(if self.state.dark {
                    egui::Theme::Light
                } else {
                    egui::Theme::Dark
                });
            }
            Command::LargerText => {
                self.state.preferences.text_size =
                    text_size::next(self.state.preferences.text_size, true)
            }
            Command::SmallerText => {
                self.state.preferences.text_size =
                    text_size::next(self.state.preferences.text_size, false)
            }
            Command::UsualText => self.state.preferences.text_size = text_size::SIZES[0],
            Command::Tour => self.go_on_tour(Some(0)),
            Command::Help => self.state.help = !self.state.help,
        }
    }

    fn show(&mut self, page: Page) {
        self.state.page = page;
        // What was chosen elsewhere meanwhile is in view.
        self.with_document(|document| document.browser.scroll = true);
        self.state.show_batch &= self.state.document.is_none();
        if self.state.document.is_some() {
            self.state.uncover();
        }
    }

    /// Changes the open history, if one is open.
    pub(super) fn with_document(&mut self, change: impl FnOnce(&mut Document)) {
        if let Some(document) = &mut self.state.document {
            change(document);
        }
    }

    pub(super) fn with_batch(&mut self, change: impl FnOnce(&mut Batch)) {
        if let Some(batch) = &mut self.state.batch {
            change(batch);
        }
    }

    fn zoom_by(&mut self, factor: f32) {
        match self.state.page {
            _ if self.state.is_covered() => self.live_lanes.zoom_by(factor),
            Page::Lanes => self.lanes.zoom_by(factor),
            _ => self.canvas.zoom_by(factor),
        }
    }

    fn open_export(&mut self) {
        if self.shows_finding() {
            return self.open_finding_export();
        }
        if self.shows_order() {
            return self.open_order_export();
        }
        let Some(document) = &self.state.document else {
            return;
        };
        let Some(picture) = document.current_picture() else {
            self.state.tell(
                Tone::Note,
                "Select an anomaly first: there is nothing to export yet",
            );
            return;
        };
        let kind = ExportKind::Svg;
        let id = picture.argument.shown.to_string().replace('/', "-");
        let path = document.file_beside(&format!("{id}.{}", kind.extension()));
        let view = if matches!(self.state.page, Page::Lanes | Page::Key | Page::Matrix) {
            self.state.page
        } else {
            Page::Graph
        };
        self.state.export = Some(ExportForm {
            kind,
            view,
            path: path.display().to_string(),
            style: PageStyle::WHOLE,
            preview: None,
            previewed: None,
        });
        // They can be exported without having been looked at.
        self.prepare_key();
    }

    fn write_export(&mut self, kind: ExportKind, path: PathBuf) {
        if self
            .state
            .export
            .as_ref()
            .is_some_and(|form| form.view == Page::Order)
        {
            self.state.export = None;
            if self.shows_finding() {
                return self.write_finding(kind, path);
            }
            return self.write_order(kind, path);
        }
        let form = self.state.export.take();
        let page = form.as_ref().map_or(Page::Graph, |form| form.view);
        let style = form.map_or(PageStyle::WHOLE, |form| form.style);
        let Some(what) = self.drawn_on(page) else {
            return;
        };
        self.ask(&EXPORT, move |control| {
            let to = (kind, path.as_path(), style);
            Some(exporting::write(&what, to, control))
        });
    }

    /// Puts the picture of the page that is shown on the clipboard.
    fn copy_picture(&mut self) {
        let shown = self.state.document.as_ref();
        let page = shown
            .filter(|document| document.view(self.state.page).is_some())
            .map_or(Page::Graph, |_| self.state.page);
        match self.drawn_on(page) {
            Some(what) => self.ask(&COPY, move |_| Some(exporting::pixels(&what))),
            None => self.state.tell(Tone::Note, "There is no picture yet"),
        }
    }

    /// The selected anomaly as it is drawn on a page.
    pub(super) fn drawn_on(&self, page: Page) -> Option<exporting::What> {
        let document = self.state.document.as_ref()?;
        Some(exporting::What {
            picture: Arc::clone(document.current_picture()?),
            history: document.history.clone()?,
            view: document.view(page).unwrap_or_default(),
            hidden: self.state.hidden.clone(),
        })
    }

    /// Writes everything about the selected anomaly into a new folder next to the history.
    /// Writes the report of the selected anomaly: into a folder next to the history, or as one page.
    fn write_report(&mut self, page: Option<PathBuf>) {
        let Some(document) = &self.state.document else {
            return;
        };
        let (Some(picture), Some(catalogue)) = (
            document.current_picture().cloned(),
            document.catalogue.clone(),
        ) else {
            self.state.tell(
                Tone::Note,
                "Select an anomaly first: there is nothing to report yet",
            );
            return;
        };
        let (Some(history), Some(health)) =
            (document.history.clone(), document.trust.health.clone())
        else {
            return;
        };
        let id = picture.argument.shown.to_string().replace('/', "-");
        let beside = || document.file_beside(&format!("{id}-report"));
        let folder = page.unwrap_or_else(beside);
        let file = document
            .path()
            .map_or_else(|| document.title.clone(), |path| path.display().to_string());
        let promise = self.state.lattice.promise();
        let annotations = document.marks.all.clone();
        let what = exporting::Report {
            folder,
            picture,
            history,
            catalogue,
            health,
            file,
            annotations,
            promise,
        };
        self.ask(&EXPORT, move |control| {
            Some(exporting::write_report(&what, control))
        });
    }

    /// Handles Esc: closes the topmost thing, else stops work, else releases the selection.
    fn escape(&mut self, ctx: &egui::Context) {
        if self.state.palette.take().is_some() {
            self.tasks.cancel(&FIND);
        } else if self.state.tour.take().is_some() {
        } else if self.state.help {
            self.state.help = false;
        } else if self.state.lattice.open {
            self.state.lattice.open = false;
        } else if self.state.open_log.is_some() {
            self.state.open_log = None;
        } else if self.state.export.is_some() {
            self.state.export = None;
        } else if self
            .state
            .document
            .as_mut()
            .is_some_and(|document| document.marks.open.take().is_some())
        {
        } else if self.was_typing {
            // egui itself releases the field when it sees Esc; this frame's Esc must do no more than that.
            ctx.memory_mut(|memory| memory.stop_text_input());
        } else if self.state.cover == Some(Cover::Collect) {
            // A run goes on in the background while the user looks at something else; only its own page stops it.
            self.state.cover = self.cancel_collecting().then_some(Cover::Collect);
        } else if self.state.cover == Some(Cover::Following) {
            // It is followed on in the background.
            self.state.cover = None;
        } else if (self.state.show_batch && self.end_comparison()) || self.stop_work() {
        } else if let Some(document) = &mut self.state.document {
            if document.argument.run.take().is_some() {
                document.argument.playing = None;
                self.tasks.cancel(&REPLAY);
            } else if document.argument.pinned.is_some() {
                document.argument.pinned = None;
            } else if document.argument.stage != Stage::Argument {
                self.set_stage(Stage::Argument);
            } else if !document.parts.chosen.is_empty() {
                document.parts.chosen.clear();
            } else if !document.tree.filter().is_empty() {
                self.set_filter(String::new());
            } else {
                self.state.banners.pop();
            }
        }
    }

    /// Stops the current work; returns whether there was any.
    fn stop_work(&mut self) -> bool {
        if self.stop_comparison() || self.stop_asking() {
            return true;
        }
        if self.tasks.cancel(&EXPORT) {
            self.state.tell(Tone::Note, "Writing was cancelled");
            return true;
        }
        if self.stop_listing() {
            return true;
        }
        if self.state.show_batch && self.tasks.cancel(&CHECK_FOLDER) {
            self.with_batch(|batch| batch.done = true);
            return true;
        }
        if self.tasks.cancel(&LOOK) {
            self.state.looking = None;
            return true;
        }
        // The window shows it at once; the threads check the flag soon after.
        if !self.tasks.is_stopped(&LOAD) && self.tasks.stop(&LOAD) {
            self.with_document(|document| document.phase = Phase::Cancelled);
            return true;
        }
        let Some(document) = &mut self.state.document else {
            return false;
        };
        if document.drawing {
            document.drawing = false;
            self.tasks.cancel(&DRAW);
            return true;
        }
        if !self.tasks.has(&LOAD) && document.is_busy() {
            document.phase = Phase::Cancelled;
            return true;
        }
        if self.tasks.cancel(&CHECK_FOLDER) {
            self.with_batch(|batch| batch.done = true);
            return true;
        }
        false
    }
}
