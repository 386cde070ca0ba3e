//! What the rules of a workload say, above the list of anomalies.

use crate::app::command::{Request, Requests};
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use crate::history::{Fact, visible};
use egui::{Button, RichText, ScrollArea, Ui};

/// Height of the findings before they scroll.
const HIGHEST: f32 = 180.0;

/// Whether levels say something about the history.
pub(crate) fn decides_levels(document: &Document) -> bool {
    let history = document.history.as_ref();
    let workload = history.and_then(|history| history.workload());
    workload.is_none_or(|workload| workload.no_levels.is_none())
}

/// Shows what was found, each with the transaction that shows it; nothing for a history of transactions.
pub(crate) fn workload_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(workload) = document
        .history
        .as_ref()
        .and_then(|history| history.workload())
    else {
        return;
    };
    if workload.like_jepsen.is_empty() && workload.no_levels.is_none() {
        return;
    }
    let palette = Palette::of(ui);
    let title = format!("Workload {}", workload.name);
    style::bold_line(ui, &title, style::BODY, palette.strong);
    let mut facts: Vec<&Fact> = workload.facts.iter().collect();
    facts.sort_by_key(|fact| !fact.counts);
    let list = ScrollArea::vertical()
        .id_salt("workload")
        .max_height(HIGHEST);
    list.show(ui, |ui| {
        for fact in facts {
            fact_ui(ui, fact, &palette, requests);
        }
    });
    let answers = workload.like_jepsen.iter();
    let answers: Vec<String> = answers
        .map(|(rule, answer)| format!("{rule} {}", answer.word()))
        .collect();
    if !answers.is_empty() {
        style::note(ui, format!("By Jepsen's rules: {}.", answers.join(", ")));
    }
    if let Some(why) = workload.no_levels {
        style::note(ui, format!("Isolation levels are not decided: {why}."));
    }
    ui.separator();
}

fn fact_ui(ui: &mut Ui, fact: &Fact, palette: &Palette, requests: &mut Requests) {
    let colour = if fact.counts {
        palette.bad
    } else {
        palette.text
    };
    let key = fact
        .key
        .as_ref()
        .map_or_else(String::new, |key| format!("in key {}, ", visible(key)));
    let text = format!("{}: {key}{}", fact.name, visible(&fact.statement));
    let button = Button::new(RichText::new(text).color(colour))
        .frame(false)
        .wrap();
    let shown = fact.transactions.last();
    if ui.add(button).clicked() {
        requests.extend(shown.map(|&transaction| Request::Browse(transaction)));
    }
}
