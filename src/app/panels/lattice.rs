//! The lattice of levels over the window: a column for each base, a row for each order, what was promised, and what a level
//! means.

use super::{command_button_ui, on_click, paint_conclusion};
use crate::app::command::{Command, Request, Requests};
use crate::app::lattice::{AnomalyEvidence, Known, LatticeView, known_here, strongest, wrong_read};
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use crate::app::verdict_summary::Conclusion;
use crate::checkers::lattice::{
    self, Base, ClaimedLevel, Order, PROMISES, Promise, claimed, holds,
};
use crate::checkers::{Level, LevelResult, Verdict};
use crate::diagram::text_size::elide;
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Color32, FontId, Label, Pos2, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, WidgetType, vec2,
};

/// Width of the names of the orders.
const NAMES: f32 = 108.0;
/// Height of a row.
const ROW: f32 = 21.0;
/// Narrowest column.
const NARROWEST: f32 = 44.0;
/// Widest sheet.
const WIDEST: f32 = 1240.0;
/// Most columns of what was promised in the title row.
const MOST_OF_PROMISE: usize = 26;
/// A window of this width has room for twice as much, in points.
const WIDE: f32 = 1200.0;

/// Draws the sheet with the lattice over the window.
pub(crate) fn lattice_ui(
    ui: &mut Ui,
    document: &Document,
    view: &LatticeView,
    requests: &mut Requests,
) {
    let answer = super::sheet("lattice", ui).show(ui.ctx(), |ui| {
        ui.set_width(WIDEST.min(ui.ctx().content_rect().width() - 70.0));
        ui.set_max_height(ui.ctx().content_rect().height() - 120.0);
        ui.horizontal(|ui| {
            style::bold_line(ui, "All levels", style::TITLE, Palette::of(ui).strong);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                super::on_command(ui.button("Close"), Command::Lattice, requests);
            });
        });
        sheet_ui(ui, document, view, requests);
    });
    if answer.backdrop_response.clicked() {
        requests.push(Request::Run(Command::Lattice));
    }
}

fn sheet_ui(ui: &mut Ui, document: &Document, view: &LatticeView, requests: &mut Requests) {
    let results = document.results.verdicts();
    let results = results.as_slice();
    kept_ui(ui, document, results, view, requests);
    ui.add_space(4.0);
    let broken = document
        .current_picture()
        .map(|picture| picture.argument.explanation.orders.broken);
    let wrong_read = document
        .catalogue
        .as_ref()
        .and_then(|catalogue| wrong_read(catalogue.as_checked()));
    let evidence = AnomalyEvidence {
        broken: broken.unwrap_or_default(),
        wrong_read,
    };
    let shown = LatticeTable {
        results,
        evidence,
        view,
        promised: promised(document, view),
    };
    ScrollArea::horizontal()
        .id_salt("lattice")
        .show(ui, |ui| table_ui(ui, &shown, requests));
    legend_ui(ui);
    if let Some(level) = view.chosen.or(view.promise().and_then(Promise::asked)) {
        ui.add_space(4.0);
        explanation_ui(ui, &shown, level, requests);
    }
    ui.add_space(6.0);
}

/// What the table shows.
struct LatticeTable<'a> {
    results: &'a [&'a LevelResult],
    /// What anomalies tell.
    evidence: AnomalyEvidence,
    view: &'a LatticeView,
    /// The levels that were promised.
    promised: Vec<Level>,
}

/// The levels that were promised: what was chosen, else what files next to the history claim.
fn promised(document: &Document, view: &LatticeView) -> Vec<Level> {
    match view.promise().and_then(Promise::asked) {
        Some(chosen) => vec![chosen],
        None => claims(document).iter().map(|claim| claim.level).collect(),
    }
}

/// What files next to the history claim.
fn claims(document: &Document) -> Vec<ClaimedLevel> {
    document
        .history
        .as_ref()
        .map(|history| claimed(&history.origin().about))
        .unwrap_or_default()
}

/// What was promised, and the menu in which to say it: the colour says whether it is kept.
pub(super) fn promised_ui(
    ui: &mut Ui,
    document: &Document,
    view: &LatticeView,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let results = document.results.verdicts();
    let promised = promised(document, view);
    let (text, hint) = promise_text(document, view);
    let all = promised.iter().map(|level| holds(&results, *level));
    let colour = match all.reduce(|a, b| if a == Some(true) { b } else { a }) {
        Some(Some(true)) => palette.good,
        Some(Some(false)) => palette.bad,
        Some(None) | None => palette.text,
    };
    let is_wide = ui.ctx().content_rect().width() >= WIDE;
    let text = elide(
        &text,
        if is_wide {
            2 * MOST_OF_PROMISE
        } else {
            MOST_OF_PROMISE
        },
    );
    let menu = ui.menu_button(
        egui::RichText::new(format!("{text} ▾")).color(colour),
        |ui| promises_ui(ui, document, view, requests),
    );
    menu.response
        .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &hint));
    menu.response.on_hover_text(hint);
}

/// Who promised what, in short and in a sentence.
fn promise_text(document: &Document, view: &LatticeView) -> (String, String) {
    let results = document.results.verdicts();
    let word = |level: Level| match holds(&results, level) {
        Some(true) => "kept",
        Some(false) => "broken",
        None => "not known",
    };
    let said = |name: String, level: Level| {
        let sentence = format!("{name} promises {}: {}", level.spoken(), word(level));
        (format!("{name}: {level} {}", word(level)), sentence)
    };
    if let Some(promise) = view.promise()
        && let Some(level) = promise.asked()
    {
        return said(promise.name(), level);
    }
    match claims(document).first() {
        Some(claim) => said("the test".to_owned(), claim.level),
        None => (
            "Which database?".to_owned(),
            "Promised by: choose a database".to_owned(),
        ),
    }
}

/// All promises, to choose from.
fn promises_ui(ui: &mut Ui, document: &Document, view: &LatticeView, requests: &mut Requests) {
    let claims = claims(document);
    let none = match claims.as_slice() {
        [] => "none chosen".to_owned(),
        [first, ..] => format!("what the test expects: {}", first.keyword),
    };
    let choices = PROMISES.iter().enumerate();
    let choices = choices.filter_map(|(place, promise)| {
        let text = format!("{}: {}", promise.name(), promise.level()?);
        Some((Some(place), text, promise.note))
    });
    ui.set_min_width(300.0);
    egui::ScrollArea::vertical()
        .max_height(460.0)
        .show(ui, |ui| {
            for (place, text, note) in std::iter::once((None, none, "")).chain(choices) {
                let response = ui.selectable_label(view.promise == place, text);
                let response = match note {
                    "" => response,
                    note => response.on_hover_text(note),
                };
                super::on_menu_click(&response, ui, Request::ChoosePromise(place), requests);
            }
        });
    ui.separator();
    let levels = ui.button(Command::Lattice.row().name);
    super::on_menu_click(&levels, ui, Request::Run(Command::Lattice), requests);
    let tested = ui.button(Command::EditTested.row().name);
    super::on_menu_click(&tested, ui, Request::Run(Command::EditTested), requests);
}

/// Whether what was promised is kept, and the strongest levels that hold.
fn kept_ui(
    ui: &mut Ui,
    document: &Document,
    results: &[&LevelResult],
    view: &LatticeView,
    requests: &mut Requests,
) {
    ui.horizontal(|ui| {
        promised_ui(ui, document, view, requests);
        let holds = strongest(results);
        if !holds.is_empty() {
            style::note(ui, format!("strongest known to hold: {}", holds.join(", ")));
        }
        if !document.is_busy() && document.results.levels.len() < Level::EVERY.len() {
            command_button_ui(ui, Command::CheckEveryLevel, requests);
        }
    });
}

/// The bases, weakest first, and their level on an order.
fn bases() -> Vec<&'static Base> {
    let mut bases: Vec<&'static Base> = Vec::new();
    for level in lattice::levels() {
        if bases
            .last()
            .is_none_or(|last| last.code != level.base().code)
        {
            bases.push(level.base());
        }
    }
    bases
}

fn table_ui(ui: &mut Ui, shown: &LatticeTable<'_>, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let bases = bases();
    let width = ((ui.available_width() - NAMES) / bases.len() as f32).max(NARROWEST);
    let size = vec2(
        NAMES + width * bases.len() as f32,
        ROW * (Order::ALL.len() + 1) as f32,
    );
    let (area, _) = ui.allocate_exact_size(size, Sense::hover());
    let cell = |row: usize, column: usize| {
        let corner = area.min + vec2(NAMES + width * column as f32, ROW * row as f32);
        Rect::from_min_size(corner, vec2(width, ROW)).shrink(1.5)
    };
    let small = FontId::proportional(style::SMALL);
    for (column, base) in bases.iter().enumerate() {
        let at = cell(0, column);
        ui.painter().text(
            at.center(),
            Align2::CENTER_CENTER,
            base.code,
            small.clone(),
            palette.text,
        );
        ui.interact(at, ui.id().with(("base", base.code)), Sense::hover())
            .on_hover_text(spelled(base));
    }
    for (row, order) in Order::ALL.into_iter().enumerate() {
        let at = area.min + vec2(0.0, ROW * (row as f32 + 1.5));
        ui.painter().text(
            at,
            Align2::LEFT_CENTER,
            name_of(order),
            small.clone(),
            palette.weak,
        );
        for &level in lattice::levels()
            .iter()
            .filter(|level| level.row().order == order)
        {
            let base = level.base();
            if let Some(column) = bases
                .iter()
                .position(|of_column| of_column.code == base.code)
            {
                cell_ui(ui, shown, level, cell(row + 1, column), requests);
            }
        }
    }
}

/// What a row is about, with the prefix of its codes.
fn name_of(order: Order) -> &'static str {
    match order {
        Order::Plain => "no order (P-)",
        Order::Session => "session order",
        Order::RealTime => "real time (R-)",
        Order::KeyRealTime => "time per key (K-)",
        Order::CommitRealTime => "commit times (C-)",
    }
}

fn cell_ui(
    ui: &mut Ui,
    shown: &LatticeTable<'_>,
    level: Level,
    area: Rect,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let known = known_here(shown.results, shown.evidence, level);
    let colour = colour_of(known, &palette);
    let response = ui.interact(area, ui.id().with(("cell", level.code())), Sense::click());
    let fill = if known == Known::Nothing {
        palette.ground
    } else {
        palette.tint(colour)
    };
    let is_chosen = shown.view.chosen == Some(level) || response.hovered() || response.has_focus();
    // What follows from another level has a thin border.
    let width = match known {
        _ if is_chosen => 2.2,
        Known::Holds(None) | Known::Broken(None) => 1.4,
        _ => 0.5,
    };
    ui.painter().rect(
        area,
        4.0,
        fill,
        Stroke::new(width, colour),
        StrokeKind::Inside,
    );
    paint_mark(ui, area.center(), known, colour);
    let is_promised = shown.promised.contains(&level);
    if is_promised {
        // A frame around the cell, for users who do not tell colours apart.
        ui.painter().rect_stroke(
            area.expand(1.5),
            5.0,
            Stroke::new(2.0, palette.accent),
            StrokeKind::Outside,
        );
    }
    let promised = if is_promised { ", promised" } else { "" };
    let spoken = format!(
        "In the lattice, {}: {}{promised}",
        level.code(),
        sentence(known)
    );
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &spoken));
    on_click(&response, Request::ExplainLevel(level), requests);
    response.on_hover_text(spoken);
}

/// The mark of a cell.
pub(super) fn paint_mark(ui: &Ui, centre: Pos2, known: Known, colour: Color32) {
    let conclusion = match known {
        Known::Holds(_) => Conclusion::Holds,
        Known::Broken(_) | Known::BrokenBy(_) | Known::BrokenHere => Conclusion::Broken,
        Known::Open => Conclusion::Open,
        Known::Nothing => {
            ui.painter()
                .circle_stroke(centre, 3.0, Stroke::new(1.0, colour));
            return;
        }
    };
    paint_conclusion(
        ui.painter(),
        centre,
        (10.0, style::BODY),
        conclusion,
        colour,
    );
}

/// What the marks mean.
fn legend_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    ui.horizontal_wrapped(|ui| {
        let marks = [
            Known::Holds(None),
            Known::Broken(None),
            Known::Open,
            Known::Nothing,
        ];
        for (known, word) in
            marks
                .into_iter()
                .zip(["holds", "violated", "left open", "not checked"])
        {
            let (area, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
            paint_mark(ui, area.center(), known, colour_of(known, &palette));
            style::note(ui, word);
            ui.add_space(8.0);
        }
        for (width, word) in [
            (1.4, "checked"),
            (
                0.5,
                "follows from another level or from an anomaly in the list",
            ),
        ] {
            let (area, _) = ui.allocate_exact_size(vec2(22.0, 14.0), Sense::hover());
            let stroke = Stroke::new(width, palette.weak);
            ui.painter().rect(
                area.shrink(1.0),
                4.0,
                palette.tint(palette.weak),
                stroke,
                StrokeKind::Inside,
            );
            style::note(ui, word);
            ui.add_space(8.0);
        }
        style::note(
            ui,
            "no cell: no such level. Click a level for what it means.",
        );
    });
    names_ui(ui);
}

/// What the codes of the columns stand for.
fn names_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    let font = FontId::proportional(style::SMALL);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(12.0, 1.0);
        for base in bases() {
            let mut job = LayoutJob::default();
            job.append(
                base.code,
                0.0,
                TextFormat::simple(font.clone(), palette.text),
            );
            job.append(
                &spelled(base),
                5.0,
                TextFormat::simple(font.clone(), palette.weak),
            );
            ui.add(Label::new(job).extend());
        }
    });
}

/// The name of a base as a text has it.
fn spelled(base: &Base) -> String {
    match base.code {
        "PRAM" => "pipelined RAM".to_owned(),
        "SER" => "serializability (SSER: with real time)".to_owned(),
        _ => base.name.replace("adya-", "Adya's ").replace('-', " "),
    }
}

/// The colour of what is known.
pub(super) fn colour_of(known: Known, palette: &Palette) -> Color32 {
    match known {
        Known::Holds(_) => palette.good,
        Known::Broken(_) | Known::BrokenBy(_) | Known::BrokenHere => palette.bad,
        Known::Open => palette.caution,
        Known::Nothing => palette.weak,
    }
}

/// What is known of a level, in a few words.
fn sentence(known: Known) -> String {
    match known {
        Known::Holds(None) => "holds".to_owned(),
        Known::Holds(Some(because)) => format!("holds, because {because} does"),
        Known::Broken(None) => "violated".to_owned(),
        Known::Broken(Some(because)) => format!("violated, because {because} is"),
        Known::BrokenBy(pattern) => {
            format!(
                "violated, because the list has an anomaly {} ({})",
                pattern.row().title,
                pattern.id()
            )
        }
        Known::BrokenHere => "violated by the selected anomaly".to_owned(),
        Known::Open => "left open".to_owned(),
        Known::Nothing => "not checked".to_owned(),
    }
}

/// What a level promises, who promises it, and what is known of it.
fn explanation_ui(ui: &mut Ui, shown: &LatticeTable<'_>, level: Level, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let (results, known) = (
        shown.results,
        known_here(shown.results, shown.evidence, level),
    );
    ui.horizontal_wrapped(|ui| {
        style::bold(
            ui,
            &format!("{} · {}", level.code(), level.long_name().replace('-', " ")),
            style::BODY,
            palette.strong,
        );
        ui.colored_label(colour_of(known, &palette), sentence(known));
        let own = results.iter().find(|result| result.level == level);
        if let Some(Verdict::Undecided(cause)) = own.map(|result| &result.verdict) {
            style::note(ui, cause.to_string());
        }
        let shown = match known {
            Known::Holds(because) | Known::Broken(because) => Some(because.unwrap_or(level)),
            Known::BrokenBy(_) | Known::BrokenHere | Known::Open | Known::Nothing => None,
        };
        if let (Known::Broken(_), Some(shown)) = (known, shown)
            && ui
                .button("Smallest anomaly")
                .on_hover_text("Show the smallest one that breaks it")
                .clicked()
        {
            requests.push(Request::SelectLevel(shown));
        }
        if let (Known::Holds(_), Some(shown)) = (known, shown)
            && ui
                .button("Order")
                .on_hover_text("Show the order that explains every read")
                .clicked()
        {
            requests.push(Request::ShowOrder(shown));
        }
    });
    ui.label(lattice::promise(level));
    let mut facts = vec![format!("What would break it: {}.", level.base().broken_by)];
    let keywords: Vec<String> = level
        .row()
        .elle
        .iter()
        .map(|keyword| format!(":{keyword}"))
        .collect();
    if !keywords.is_empty() {
        facts.push(format!("Elle calls it {}.", keywords.join(", ")));
    }
    let products: Vec<String> = lattice::promised_by(level).map(Promise::name).collect();
    if !products.is_empty() {
        facts.push(format!("Promised by {}.", products.join(", ")));
    }
    style::note(ui, facts.join(" "));
}
