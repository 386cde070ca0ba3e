//! The form: what is run and where.

use crate::app::collecting::Collecting;
use crate::app::collecting::form::{Field, Form, NO, PROMISED, STORE, Trouble, YES};
use crate::app::command::{Request, Requests};
use crate::app::style::{self, Palette};
use crate::checkers::Level;
use crate::collect::DATABASES;
use crate::generate::{FAULTS, Kind};
use egui::{
    Align, ComboBox, Layout, RichText, ScrollArea, TextEdit, Ui, WidgetInfo, WidgetType, vec2,
};

/// Width of the names.
pub(super) const NAME: f32 = 100.0;

/// Draws the fields; each change is a request.
pub(crate) fn form_ui(ui: &mut Ui, collect: &Collecting, waiting: bool, requests: &mut Requests) {
    ui.take_available_width();
    let palette = Palette::of(ui);
    let form = &collect.form;
    let mut fields = Fields {
        form,
        error: collect.error.as_ref(),
        requests,
    };
    ScrollArea::vertical()
        .id_salt("collect form")
        .auto_shrink(false)
        .show(ui, |ui| {
            style::bold(ui, "Workload", style::HEADING, palette.strong);
            fields.choice_ui(
                ui,
                Field::Workload,
                &Kind::ALL.map(|kind| (kind.name(), about(kind).to_owned())),
            );
            for field in [
                Field::Sessions,
                Field::Transactions,
                Field::Operations,
                Field::Keys,
            ] {
                fields.text_ui(ui, field, "");
            }
            for field in [Field::ReadShare, Field::UpdateShare] {
                fields.text_ui(ui, field, "");
            }
            fields.distribution_ui(ui);
            fields.text_ui(ui, Field::Seed, "");
            ui.add_space(4.0);
            style::bold(ui, "Database", style::HEADING, palette.strong);
            fields.database_ui(ui);
            ui.add_space(4.0);
            style::bold(ui, "Record and check", style::HEADING, palette.strong);
            fields.file_ui(ui, waiting);
            fields.level_ui(ui);
            fields.text_ui(ui, Field::Seconds, "no limit");
            fields.text_ui(ui, Field::Rounds, "10");
            fields.switch_ui(ui, Field::Keep);
            fields.switch_ui(ui, Field::OpenViolated);
        });
}

pub(super) struct Fields<'a> {
    pub(super) form: &'a Form,
    error: Option<&'a Trouble>,
    pub(super) requests: &'a mut Requests,
}

impl Fields<'_> {
    pub(super) fn set(&mut self, field: Field, word: impl Into<String>) {
        self.requests.push(Request::FillIn(field, word.into()));
    }

    /// The name of a field followed by the field; below, what is wrong with it.
    pub(super) fn line_ui(
        &mut self,
        ui: &mut Ui,
        field: Field,
        add: impl FnOnce(&mut Self, &mut Ui),
    ) {
        if !self.form.asks_for(field) {
            return;
        }
        let palette = Palette::of(ui);
        ui.horizontal(|ui| {
            ui.allocate_ui_with_layout(
                vec2(NAME, 24.0),
                Layout::left_to_right(Align::Center),
                |ui| {
                    ui.set_min_width(NAME);
                    ui.label(RichText::new(field.row().name).color(palette.text))
                        .on_hover_text(field.row().about);
                },
            );
            add(self, ui);
        });
        if let Some(error) = self.error.filter(|error| error.field == Some(field)) {
            let text = RichText::new(&error.text)
                .size(style::SMALL)
                .color(palette.bad);
            ui.add(egui::Label::new(text).truncate())
                .on_hover_text(&error.text);
        }
    }

    pub(super) fn text_ui(&mut self, ui: &mut Ui, field: Field, hint: &str) {
        self.line_ui(ui, field, |this, ui| {
            let mut word = this.form.word(field).to_owned();
            let width = ui.available_width() - 8.0;
            if edit_ui(
                ui,
                field.row().name,
                TextEdit::singleline(&mut word).hint_text(hint),
                width,
            )
            .on_hover_text(field.row().about)
            .changed()
            {
                this.set(field, word);
            }
        });
    }

    /// A field with a list of words, each with its meaning.
    fn choice_ui(&mut self, ui: &mut Ui, field: Field, choices: &[(&str, String)]) {
        self.line_ui(ui, field, |this, ui| {
            let word = this.form.word(field).to_owned();
            let width = ui.available_width() - 4.0;
            let combo = ComboBox::from_id_salt(field.row().name)
                .width(width)
                .selected_text(&word);
            let response = combo.height(420.0).show_ui(ui, |ui| {
                for (choice, meaning) in choices {
                    let text = if meaning.is_empty() {
                        (*choice).to_owned()
                    } else {
                        format!("{choice}: {meaning}")
                    };
                    if ui.selectable_label(word == *choice, text).clicked() {
                        this.set(field, *choice);
                    }
                }
            });
            let said = format!("{}: {word}", field.row().name);
            response
                .response
                .widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, &said));
            response.response.on_hover_text(field.row().about);
        });
    }

    /// A distribution is typed or selected from a list.
    fn distribution_ui(&mut self, ui: &mut Ui) {
        let choices = [
            ("uniform", "each key equally likely"),
            ("zipf", "a few keys much more often than others"),
            (
                "hotspot",
                "a fifth of the keys gets four fifths of the operations",
            ),
            ("exponential", "falling, with a mean at a tenth of the keys"),
            ("latest", "mostly what was touched just before"),
        ];
        self.line_ui(ui, Field::Distribution, |this, ui| {
            let mut word = this.form.word(Field::Distribution).to_owned();
            let width = ui.available_width() - 46.0;
            let about = Field::Distribution.row().about;
            if edit_ui(ui, "Distribution", TextEdit::singleline(&mut word), width)
                .on_hover_text(about)
                .changed()
            {
                this.set(Field::Distribution, word);
            }
            let menu = ui.menu_button("…", |ui| {
                for (choice, meaning) in choices {
                    if ui.button(format!("{choice}: {meaning}")).clicked() {
                        this.set(Field::Distribution, choice);
                        ui.close();
                    }
                }
            });
            menu.response.widget_info(|| {
                WidgetInfo::labeled(WidgetType::Button, true, "Choose a distribution")
            });
        });
    }

    fn database_ui(&mut self, ui: &mut Ui) {
        let about = |row: &crate::collect::Database| match row.open {
            Some(_) => row.example.to_owned(),
            None => "this program was built without it".to_owned(),
        };
        let mut choices: Vec<(&str, String)> =
            DATABASES.iter().map(|row| (row.name, about(row))).collect();
        choices.push((
            STORE,
            "a model that keeps its promise, but for the faults you choose".to_owned(),
        ));
        self.choice_ui(ui, Field::Database, &choices);
        self.servers_ui(ui);
        let promises = |promise: Option<&str>| match promise {
            Some(code) => format!("promises {code}"),
            None => "promises nothing that is checked".to_owned(),
        };
        let levels = self.form.isolations();
        let levels: Vec<(&str, String)> = levels
            .into_iter()
            .map(|(name, promise)| (name, promises(promise)))
            .collect();
        self.choice_ui(ui, Field::Isolation, &levels);
        let promise = match self.form.promise() {
            Some(level) => format!("promises {level}: {}", level.promise()),
            None => "promises nothing that is checked".to_owned(),
        };
        let note = ui.add(egui::Label::new(small(ui, &promise)).truncate());
        note.on_hover_text(promise);
        match self.form.database() {
            Some(_) => self.breaks_ui(ui),
            None => self.faults_ui(ui),
        }
        self.text_ui(ui, Field::Retries, "");
    }

    /// The selected faults, each with how often it happens, and a list to add another.
    fn faults_ui(&mut self, ui: &mut Ui) {
        self.line_ui(ui, Field::Faults, |this, ui| {
            let menu = ui.menu_button("Add a fault…", |ui| {
                egui::Grid::new("faults").num_columns(2).show(ui, |ui| {
                    for (place, fault) in FAULTS.iter().enumerate() {
                        let response = ui.button(fault.name);
                        let name = format!("Fault {}", fault.name);
                        response
                            .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
                        if response.on_hover_text(fault.about).clicked() {
                            this.set(Field::Faults, this.form.with_fault(place));
                            ui.close();
                        }
                        if place % 2 == 1 {
                            ui.end_row();
                        }
                    }
                });
            });
            menu.response.on_hover_text(Field::Faults.row().about);
        });
        let faults = self.form.faults();
        for (place, injection) in faults.iter().enumerate() {
            ui.horizontal(|ui| {
                ui.add_space(NAME + 6.0);
                let mut times = injection.times;
                let response = ui.add(egui::DragValue::new(&mut times).range(1..=100_000));
                let name = format!("Times of {}", injection.fault.name);
                response.widget_info(|| WidgetInfo::labeled(WidgetType::DragValue, true, &name));
                if response.changed() {
                    let mut faults = faults.clone();
                    faults[place].times = times;
                    self.set(Field::Faults, Form::faults_word(&faults));
                }
                ui.label(format!("× {}", injection.fault.name))
                    .on_hover_text(injection.fault.about);
                let away = ui.small_button("Remove");
                let name = format!("Remove {}", injection.fault.name);
                away.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
                if away.clicked() {
                    let mut faults = faults.clone();
                    faults.remove(place);
                    self.set(Field::Faults, Form::faults_word(&faults));
                }
            });
        }
    }

    fn level_ui(&mut self, ui: &mut Ui) {
        let promise = self
            .form
            .promise()
            .map_or(String::new(), |level| level.code().to_owned());
        let mut choices = vec![(PROMISED, promise)];
        choices.extend(
            Level::ALL
                .into_iter()
                .map(|level| (level.code(), level.long_name().replace('-', " "))),
        );
        self.choice_ui(ui, Field::Level, &choices);
    }

    fn file_ui(&mut self, ui: &mut Ui, waiting: bool) {
        let default = self
            .form
            .file()
            .map_or(String::new(), |path| path.display().to_string());
        self.line_ui(ui, Field::File, |this, ui| {
            let mut word = this.form.word(Field::File).to_owned();
            let width = ui.available_width() - 84.0;
            let name = std::path::Path::new(&default)
                .file_name()
                .unwrap_or_default()
                .to_string_lossy();
            let response = edit_ui(
                ui,
                "Record to",
                TextEdit::singleline(&mut word).hint_text(name),
                width,
            );
            let about = Field::File.row().about;
            if response
                .on_hover_text(format!("{about}\n{default}"))
                .changed()
            {
                this.set(Field::File, word);
            }
            if ui
                .button("Choose…")
                .on_hover_text("Choose the file in a dialog")
                .clicked()
                && !waiting
            {
                this.requests.push(Request::ChooseRecording);
            }
        });
    }

    fn switch_ui(&mut self, ui: &mut Ui, field: Field) {
        let mut on = self.form.is_on(field);
        if ui
            .checkbox(&mut on, field.row().name)
            .on_hover_text(field.row().about)
            .changed()
        {
            self.set(field, if on { YES } else { NO });
        }
    }
}

/// A text field with a name.
pub(super) fn edit_ui(ui: &mut Ui, name: &str, field: TextEdit<'_>, width: f32) -> egui::Response {
    let response = ui.add(
        field
            .margin(egui::Margin::symmetric(6, 3))
            .desired_width(width),
    );
    response.widget_info(|| WidgetInfo::labeled(WidgetType::TextEdit, true, name));
    response
}

fn small(ui: &Ui, text: &str) -> RichText {
    RichText::new(text)
        .size(style::SMALL)
        .color(Palette::of(ui).weak)
}

/// Description of a kind of workload.
fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::General => "reads and writes of random keys",
        Kind::DisjointWrites => "the same, each session writing keys of its own",
        Kind::Mini => "one or two keys, each read and then perhaps written",
        Kind::Lightweight => "one read, write, compare-and-set or insert",
        Kind::ListAppend => "reads of whole lists and appends",
        Kind::Twitter => "tweets, follows, timelines",
        Kind::Rubis => "an auction site",
        Kind::Tpcc => "orders, payments and deliveries of a supplier",
    }
}
