//! The rules by which the file is read: each as a choice, with what was assumed, and reading it again.

use super::on_click;
use crate::app::command::{Request, Requests};
use crate::app::state::{Document, RulesForm};
use crate::app::style::{self, Palette};
use egui::{ComboBox, RichText, ScrollArea, TextEdit, Ui, WidgetInfo, WidgetType};

/// The description of a rule.
struct RuleRow {
    /// Its name, which is also that of the flag.
    name: &'static str,
    title: &'static str,
    /// Words and what they mean, the default first.
    choices: &'static [(&'static str, &'static str)],
    /// A choice that needs input: the prefix of its word, and what is typed after it.
    typed: Option<(&'static str, &'static str)>,
}

const ROWS: [RuleRow; 9] = [
    RuleRow {
        name: "initial",
        title: "Initial version",
        choices: &[
            ("format", "as the format says"),
            (
                "nothing",
                "only \"nothing\": every number is a value like others",
            ),
            (
                "any-unwritten",
                "for each key one value that no transaction wrote",
            ),
        ],
        typed: Some(("", "this value, where no transaction writes it")),
    },
    RuleRow {
        name: "init",
        title: "Set-up transactions",
        choices: &[
            (
                "auto",
                "those the file declares, or that write initial values before everything else",
            ),
            ("none", "none: all are transactions like others"),
        ],
        typed: Some(("txn=", "these, by name, with commas between")),
    },
    RuleRow {
        name: "failed",
        title: "Failed statements",
        choices: &[
            ("auto", "as the database behaves, where the file names it"),
            ("drop", "the statement did nothing, the rest committed"),
            ("abort", "the whole transaction was rolled back"),
            (
                "split",
                "rolled back up to the failure, what follows is one of its own",
            ),
        ],
        typed: None,
    },
    RuleRow {
        name: "failed-cas",
        title: "Failed compare-and-sets",
        choices: &[
            ("format", "as the format means it"),
            (
                "observed",
                "the comparison failed: the key had another value",
            ),
            ("dropped", "they did not happen, for whatever reason"),
        ],
        typed: None,
    },
    RuleRow {
        name: "unknown",
        title: "Unknown outcomes",
        choices: &[
            (
                "observed",
                "committed if some transaction read from it, else left out",
            ),
            ("aborted", "like those known to have aborted"),
            ("committed", "like those known to have committed"),
        ],
        typed: None,
    },
    RuleRow {
        name: "duplicates",
        title: "Values written twice",
        choices: &[
            ("any", "any of the writers may have been read"),
            ("last", "the last one in the file"),
        ],
        typed: None,
    },
    RuleRow {
        name: "lists",
        title: "Lists",
        choices: &[
            (
                "exact",
                "the order of all elements; lists of a key are prefixes of each other",
            ),
            ("last", "only the last element counts, as in a register"),
            ("merge", "the order of the elements, lists may diverge"),
        ],
        typed: None,
    },
    RuleRow {
        name: "values",
        title: "Equal values",
        choices: &[
            (
                "auto",
                "those written alike; refused where only the text is the same",
            ),
            ("exact", "those written alike"),
            ("text", "those that are the same as text: 5 and \"5\""),
        ],
        typed: None,
    },
    RuleRow {
        name: "times",
        title: "Recorded times",
        choices: &[
            ("use", "count where a level is about real time"),
            ("ignore", "do not count"),
        ],
        typed: None,
    },
];

impl RuleRow {
    /// The meaning of a word, and whether it is a typed one.
    fn meaning(&self, word: &str) -> (&'static str, bool) {
        match self.choices.iter().find(|(choice, _)| *choice == word) {
            Some((_, meaning)) => (meaning, false),
            None => (self.typed.map_or("", |(_, meaning)| meaning), true),
        }
    }
}

/// Draws the form.
pub(crate) fn rules_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    ui.take_available_width();
    let palette = Palette::of(ui);
    ScrollArea::vertical()
        .id_salt("rules")
        .auto_shrink(false)
        .show(ui, |ui| {
            style::bold(ui, "Rules", style::TITLE, palette.strong);
            style::note(ui, "How ambiguities in the file are interpreted.");
            ui.add_space(4.0);
            for row in &ROWS {
                row_ui(ui, row, &document.form, requests);
            }
            again_ui(ui, document, requests);
            ui.add_space(4.0);
            ui.separator();
            assumptions_ui(ui, document);
        });
}

fn row_ui(ui: &mut Ui, row: &RuleRow, form: &RulesForm, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let word = form.word(row.name);
    let (meaning, is_typed) = row.meaning(word);
    ui.horizontal(|ui| {
        let left = egui::Layout::left_to_right(egui::Align::Center);
        ui.allocate_ui_with_layout(egui::vec2(140.0, 24.0), left, |ui| {
            ui.set_min_width(140.0);
            ui.label(RichText::new(row.title).color(palette.text));
        });
        let shown = match (is_typed, row.typed) {
            (true, Some(("", _))) => "value",
            (true, Some((prefix, _))) => prefix,
            _ => word,
        };
        let combo = ComboBox::from_id_salt(("rule", row.name))
            .width(ui.available_width() - 4.0)
            .selected_text(shown);
        let response = combo.show_ui(ui, |ui| {
            for (choice, meaning) in row.choices {
                if ui
                    .selectable_label(word == *choice, format!("{choice}: {meaning}"))
                    .clicked()
                {
                    requests.push(Request::SetRule(row.name, (*choice).to_owned()));
                }
            }
            if let Some((prefix, meaning)) = row.typed {
                let name = if prefix.is_empty() { "value" } else { prefix };
                if ui
                    .selectable_label(is_typed, format!("{name}: {meaning}"))
                    .clicked()
                    && !is_typed
                {
                    requests.push(Request::SetRule(row.name, prefix.to_owned()));
                }
            }
        });
        let said = format!("Rule {}: {word}", row.name);
        response
            .response
            .widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, &said));
        response
            .response
            .on_hover_text(format!("--{} {word}", row.name));
    });
    if is_typed && let Some((prefix, _)) = row.typed {
        let mut typed = word.strip_prefix(prefix).unwrap_or(word).to_owned();
        let field = TextEdit::singleline(&mut typed).desired_width(ui.available_width() - 20.0);
        let response = ui.add(field);
        response.widget_info(|| {
            WidgetInfo::labeled(
                WidgetType::TextEdit,
                true,
                format!("Value of rule {}", row.name),
            )
        });
        if response.changed() {
            requests.push(Request::SetRule(row.name, format!("{prefix}{typed}")));
        }
    }
    style::note(ui, meaning);
    ui.add_space(2.0);
}

fn again_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let is_changed = document.form.is_changed();
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        let button = egui::Button::new("Read again").fill(if is_changed {
            palette.selected
        } else {
            palette.raised
        });
        let hover = "Read and check the same history by these rules";
        on_click(
            &ui.add_enabled(is_changed, button).on_hover_text(hover),
            Request::ReadAgain,
            requests,
        );
        if is_changed
            && ui
                .button("As before")
                .on_hover_text("Forget these changes")
                .clicked()
        {
            for (name, word) in document.form.read_by.words() {
                requests.push(Request::SetRule(name, word));
            }
        }
    });
    if let Some(error) = &document.form.error {
        ui.colored_label(palette.bad, error);
    }
}

fn assumptions_ui(ui: &mut Ui, document: &Document) {
    let palette = Palette::of(ui);
    style::bold(ui, "Assumed", style::HEADING, palette.strong);
    if document.history.is_none() {
        style::note(ui, "Nothing is known before the file is read.");
    } else if document.assumptions().is_empty() {
        style::note(ui, "No assumptions were needed to read this file.");
    }
    for sentence in document.assumptions() {
        let label = ui.add(
            egui::Label::new(RichText::new(sentence).color(palette.text))
                .wrap()
                .selectable(true),
        );
        label.widget_info(|| {
            WidgetInfo::labeled(WidgetType::Label, true, format!("Assumed: {sentence}"))
        });
        ui.add_space(2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Rules;

    #[test]
    fn the_form_offers_every_choice_of_every_rule_and_no_other() {
        let mut rules = Rules::default();
        let names: Vec<&str> = rules.words().iter().map(|(name, _)| *name).collect();
        assert_eq!(ROWS.iter().map(|row| row.name).collect::<Vec<_>>(), names);
        for (row, (_, default)) in ROWS.iter().zip(rules.words()) {
            assert_eq!(row.choices[0].0, default);
            for (choice, meaning) in row.choices {
                assert_eq!(rules.set(row.name, choice), Ok(()));
                assert!(
                    rules.words().contains(&(row.name, (*choice).to_owned()))
                        && !meaning.is_empty()
                );
            }
            if let Some((prefix, _)) = row.typed {
                assert!(
                    rules.set(row.name, prefix).is_err(),
                    "it needs something behind it"
                );
                assert_eq!(rules.set(row.name, &format!("{prefix}7")), Ok(()));
            }
        }
        use crate::history::{
            DuplicateRule, FailedCasRule, FailedRule, ListRule, TimeRule, UnknownRule, ValueRule,
        };
        let sizes = [
            FailedRule::ALL.len(),
            FailedCasRule::ALL.len(),
            UnknownRule::ALL.len(),
            DuplicateRule::ALL.len(),
            ListRule::ALL.len(),
            ValueRule::ALL.len(),
            TimeRule::ALL.len(),
        ];
        assert_eq!(
            ROWS[2..]
                .iter()
                .map(|row| row.choices.len())
                .collect::<Vec<_>>(),
            sizes
        );
    }
}
