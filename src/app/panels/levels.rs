//! The level strip: the hierarchy of levels with a verdict on each.

use super::{lattice, paint_conclusion};
use crate::app::command::{Request, Requests};
use crate::app::lattice::{Known, known};
use crate::app::state::Document;
use crate::app::style::{self, Palette, duration};
use crate::app::verdict_summary::Conclusion;
use crate::app::vocabulary::Phase;
use crate::checkers::lattice::StrongestOrder;
use crate::checkers::{Engine, Level, LevelResult, Verdict};
use egui::{
    CornerRadius, EventFilter, FontId, Id, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, WidgetType, pos2, vec2,
};

/// Height of a pill of the chain.
const PILL: f32 = 26.0;
/// Height of the two stacked pills.
const SMALL_PILL: f32 = 19.0;
/// Between two pills.
const JOINT: f32 = 8.0;

/// The weakest violated levels of the strip: those violated that imply no other violated one. Two at most (CI and RC).
pub(crate) fn weakest_broken(document: &Document) -> Vec<Level> {
    let of_strip = document
        .results
        .levels
        .iter()
        .filter(|(level, _)| level.row().usual);
    let broken: Vec<Level> = of_strip
        .filter(|(_, result)| is_broken(result.as_deref()))
        .map(|(level, _)| *level)
        .collect();
    let minimal = |level: &Level| {
        !broken
            .iter()
            .any(|other| other != level && level.implies(*other))
    };
    broken.iter().copied().filter(minimal).collect()
}

fn is_broken(result: Option<&LevelResult>) -> bool {
    result.is_some_and(|result| result.verdict == Verdict::Violated)
}

/// Draws the strip.
pub(crate) fn levels_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let weakest = weakest_broken(document);
    strip_ui(ui, document, &weakest, requests);
}

/// The width of the strip, in points.
pub(super) fn width(ui: &Ui, document: &Document) -> f32 {
    let widths = widths(ui, document);
    let chain = widths[2..].iter().map(|width| JOINT + width);
    widths[0].max(widths[1]) + chain.sum::<f32>()
}

/// The width of each pill.
fn widths(ui: &Ui, document: &Document) -> Vec<f32> {
    let width = |level: Level| style::width(ui, &name(document, level), style::BODY) + 29.0;
    levels(document).into_iter().map(width).collect()
}

/// The levels of the strip: those in real time only where they were asked for.
fn levels(document: &Document) -> Vec<Level> {
    let is_asked = |level: &Level| {
        document
            .results
            .levels
            .iter()
            .any(|(asked, _)| asked == level)
    };
    let is_strict = |level: &Level| level.implies(Level::StrictSerializability);
    let all = Level::ALL.into_iter();
    all.filter(|level| !is_strict(level) || is_asked(level))
        .collect()
}

/// The levels with lines from each to those it implies: CI and RC are incomparable, all others form a chain.
fn strip_ui(ui: &mut Ui, document: &Document, weakest: &[Level], requests: &mut Requests) {
    let palette = Palette::of(ui);
    let widths = widths(ui, document);
    let pair = widths[0].max(widths[1]);
    let total = width(ui, document);
    let (area, _) = ui.allocate_exact_size(vec2(total, ui.available_height()), Sense::hover());
    let middle = area.center().y;
    let small = |top: f32| Rect::from_min_size(pos2(area.left(), top), vec2(pair, SMALL_PILL));
    let mut places = vec![small(middle - SMALL_PILL - 1.0), small(middle + 1.0)];
    let mut x = area.left() + pair;
    for width in &widths[2..] {
        x += JOINT;
        places.push(Rect::from_min_size(
            pos2(x, middle - PILL / 2.0),
            vec2(*width, PILL),
        ));
        x += width;
    }
    for (stronger, at) in places.iter().enumerate().skip(2) {
        let weaker = if stronger == 2 {
            0..2
        } else {
            stronger - 1..stronger
        };
        for from in &places[weaker] {
            let line = Stroke::new(1.4, palette.weak.gamma_multiply(0.7));
            ui.painter()
                .line_segment([from.right_center(), at.left_center()], line);
        }
    }
    let levels = levels(document);
    let stops = ui.data(|data| data.get_temp::<Stops>(stops_id()));
    let last = stops.unwrap_or_default().last;
    let stop = last.or_else(|| levels.iter().position(|level| weakest.contains(level)));
    let stop = stop.filter(|&stop| stop < levels.len()).unwrap_or(0);
    let mut stops = Stops {
        last,
        pills: Vec::new(),
    };
    for (place, (level, at)) in levels.into_iter().zip(places).enumerate() {
        let is_weakest = weakest.contains(&level);
        let response = pill_ui(
            ui,
            document,
            level,
            at,
            (is_weakest, place == stop),
            requests,
        );
        if response.has_focus() {
            stops.last = Some(place);
            // The arrows are for the strip.
            let filter = EventFilter {
                horizontal_arrows: true,
                ..EventFilter::default()
            };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        }
        stops.pills.push(response.id);
    }
    ui.data_mut(|data| data.insert_temp(stops_id(), stops));
}

/// The pills of the strip, and which of them had the focus last: Tab stops at that one alone.
#[derive(Clone, Default)]
struct Stops {
    last: Option<usize>,
    pills: Vec<Id>,
}

fn stops_id() -> Id {
    Id::new("pills of the strip")
}

/// With the focus on a pill, the arrows go to the next one.
pub(crate) fn poll_keys(ctx: &egui::Context) {
    let focused = ctx.memory(|memory| memory.focused());
    let Some(mut stops) = ctx.data(|data| data.get_temp::<Stops>(stops_id())) else {
        return;
    };
    let Some(place) = stops.pills.iter().position(|&pill| Some(pill) == focused) else {
        return;
    };
    let pressed = |key| ctx.input_mut(|input| input.consume_key(egui::Modifiers::NONE, key));
    let next = match (
        pressed(egui::Key::ArrowRight),
        pressed(egui::Key::ArrowLeft),
    ) {
        (true, _) => place + 1,
        (_, true) => place.saturating_sub(1),
        _ => return,
    };
    if let Some(&pill) = stops.pills.get(next) {
        ctx.memory_mut(|memory| memory.request_focus(pill));
        stops.last = Some(next);
        ctx.data_mut(|data| data.insert_temp(stops_id(), stops));
    }
}

/// The code of a level, with a star if its verdict depends on an assumption.
fn name(document: &Document, level: Level) -> String {
    let is_conditional = document
        .results
        .of(level)
        .is_some_and(|result| result.is_conditional());
    format!("{level}{}", if is_conditional { "*" } else { "" })
}

/// The assumption that the verdict of a level depends on.
fn condition(document: &Document, result: Option<&LevelResult>) -> Option<String> {
    result?.condition(document.history.as_ref()?)
}

fn pill_ui(
    ui: &mut Ui,
    document: &Document,
    level: Level,
    area: Rect,
    (weakest, is_stop): (bool, bool),
    requests: &mut Requests,
) -> Response {
    let palette = Palette::of(ui);
    let asked = document
        .results
        .levels
        .iter()
        .find(|(asked, _)| *asked == level);
    let result = asked.and_then(|(_, result)| result.as_deref());
    // What follows from another level counts where it was left open itself, too.
    let is_open = |result: &LevelResult| matches!(result.verdict, Verdict::Undecided(_));
    let result = result.filter(|result| !is_open(result) || !follows(document, level));
    let asked = asked.filter(|_| result.is_some() || !follows(document, level));
    let verdict = result.map(|result| &result.verdict);
    let implied = match asked {
        None => implied(document, level),
        Some(_) => Known::Nothing,
    };
    let colour = match implied {
        Known::Holds(_) | Known::Broken(_) => lattice::colour_of(implied, &palette),
        _ if asked.is_some() => palette.verdict(verdict),
        _ => palette.weak.gamma_multiply(0.75),
    };
    let sense = if is_stop {
        Sense::click()
    } else {
        Sense::CLICK
    };
    let response = ui.interact(area, ui.id().with(("level", level.code())), sense);
    let fill = if verdict.is_some() {
        palette.tint(colour)
    } else {
        palette.ground
    };
    let lit = response.hovered() || response.has_focus();
    let width = if weakest || lit {
        2.4
    } else if implied == Known::Nothing {
        1.2
    } else {
        0.5
    };
    let radius = CornerRadius::same((area.height() / 2.0) as u8);
    ui.painter().rect(
        area,
        radius,
        fill,
        Stroke::new(width, colour),
        StrokeKind::Inside,
    );
    let phase = if asked.is_some() {
        document.phase
    } else {
        Phase::Done
    };
    match implied {
        // What follows from another level has a thin border, as in the lattice.
        Known::Holds(_) | Known::Broken(_) => {
            lattice::paint_mark(ui, mark_of(area), implied, colour)
        }
        _ => paint_mark(ui, mark_of(area), verdict, phase, &palette),
    }
    let galley = ui.painter().layout_no_wrap(
        name(document, level),
        FontId::proportional(style::BODY),
        colour,
    );
    let at = area.left_center() + vec2(23.0, -galley.size().y / 2.0);
    style::paint_bold(ui.painter(), at, galley, colour);
    if weakest {
        // A flag on the weakest violated level, for users who do not see the thicker line.
        // It points at the pill: from above, at the stacked ones from the left, where nothing is in its way.
        let (tip, back, side) = if area.height() < PILL {
            (
                area.left_center() + vec2(1.0, 0.0),
                vec2(-7.0, 0.0),
                vec2(0.0, 5.0),
            )
        } else {
            (
                pos2(area.center().x, area.top() + 2.0),
                vec2(0.0, -7.0),
                vec2(5.0, 0.0),
            )
        };
        let flag = vec![tip + back - side, tip + back + side, tip];
        ui.painter()
            .add(egui::Shape::convex_polygon(flag, colour, Stroke::NONE));
    }
    let spoken = match (asked, verdict) {
        (None, _) => said_of_implied(implied).unwrap_or_else(|| "not asked for".to_owned()),
        (Some(_), None) => "not known yet".to_owned(),
        (Some(_), Some(verdict)) => verdict.word().to_owned(),
    };
    let condition =
        condition(document, result).map_or(String::new(), |condition| format!(" if {condition}"));
    let spoken = format!("Level {level}: {spoken}{condition}");
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &spoken));
    if response.clicked() {
        match (verdict, implied) {
            (Some(Verdict::Satisfied(_)), _) => requests.push(Request::ShowOrder(level)),
            (Some(Verdict::Violated), _) => requests.push(Request::SelectLevel(level)),
            (None, Known::Holds(Some(other))) => requests.push(Request::ShowOrder(other)),
            (None, Known::Broken(Some(other))) => requests.push(Request::SelectLevel(other)),
            _ => {}
        }
    }
    response.on_hover_ui(|ui| {
        hover_ui(
            ui,
            document,
            level,
            (asked.is_some(), implied),
            result,
            weakest,
        )
    })
}

/// Whether other levels decide one.
fn follows(document: &Document, level: Level) -> bool {
    matches!(
        implied(document, level),
        Known::Holds(Some(_)) | Known::Broken(Some(_))
    )
}

/// What other levels say of one that was not asked for, as in the lattice.
fn implied(document: &Document, level: Level) -> Known {
    known(&document.results.verdicts(), level)
}

fn said_of_implied(implied: Known) -> Option<String> {
    match implied {
        Known::Broken(Some(other)) => Some(format!("violated (implied: it includes {other})")),
        Known::Holds(Some(other)) => Some(format!("satisfied (implied: {other} includes it)")),
        _ => None,
    }
}

/// The place of the mark in a pill.
fn mark_of(pill: Rect) -> Pos2 {
    pill.left_center() + vec2(14.0, 0.0)
}

fn paint_mark(ui: &Ui, centre: Pos2, verdict: Option<&Verdict>, phase: Phase, palette: &Palette) {
    let colour = palette.verdict(verdict);
    match verdict {
        Some(verdict) => {
            paint_conclusion(
                ui.painter(),
                centre,
                (11.0, style::BODY),
                Conclusion::of(verdict),
                colour,
            );
        }
        None if phase == Phase::Checking => {
            let turn = ui.input(|input| input.time) as f32 * 4.0;
            let arc: Vec<_> = (0..=10)
                .map(|i| centre + egui::Vec2::angled(turn + i as f32 * 0.42) * 4.6)
                .collect();
            ui.painter().line(arc, Stroke::new(1.6, colour));
        }
        None => drop(
            ui.painter()
                .circle_stroke(centre, 4.0, Stroke::new(1.2, colour)),
        ),
    }
}

fn hover_ui(
    ui: &mut Ui,
    document: &Document,
    level: Level,
    (asked, implied): (bool, Known),
    result: Option<&LevelResult>,
    weakest: bool,
) {
    let palette = Palette::of(ui);
    ui.set_max_width(360.0);
    style::bold(
        ui,
        &level.long_name().replace('-', " "),
        style::BODY,
        palette.strong,
    );
    ui.label(format!("Promises that {}.", level.promise()));
    let Some(result) = result else {
        if let Some(said) = said_of_implied(implied) {
            ui.colored_label(
                lattice::colour_of(implied, &palette),
                format!("Not checked itself: {said}."),
            );
            return;
        }
        let why = match (asked, level) {
            (true, _) => "Not known yet.",
            (false, level) if level.row().engine == Engine::Linear => {
                "Not asked for: it is meant for lightweight transactions (a read, a write or a compare-and-set of one key) with times."
            }
            (false, _)
                if document
                    .history
                    .as_ref()
                    .is_some_and(|history| !history.has_times()) =>
            {
                "Not asked for: the history has no times. Without times, real-time levels can be refuted but not confirmed."
            }
            (false, _) => "Not asked for.",
        };
        ui.colored_label(palette.weak, why);
        return;
    };
    let text = match &result.verdict {
        Verdict::Satisfied(_) => {
            "Holds: an order that explains every read was found. Click to step through it."
                .to_owned()
        }
        Verdict::Violated if weakest => {
            "The weakest violated level. Click for its smallest anomaly.".to_owned()
        }
        Verdict::Violated => "Broken. Click for its smallest anomaly.".to_owned(),
        Verdict::Undecided(cause) => format!("Left open: {cause}."),
    };
    ui.colored_label(palette.verdict(Some(&result.verdict)), text);
    if let Some(sentence) = on_other_orders(document, level) {
        ui.label(sentence);
    }
    if let Some(condition) = condition(document, Some(result)) {
        ui.colored_label(palette.caution, format!("* Only if {condition}."));
    }
    style::note(
        ui,
        format!("{} in {}", result.checker, duration(result.seconds)),
    );
    let assumptions = document.assumptions();
    if assumptions.is_empty() {
        style::note(ui, "Nothing was assumed about the input.");
    }
    for assumption in assumptions.iter().take(6) {
        style::note(ui, format!("Assumed: {assumption}"));
    }
    if assumptions.len() > 6 {
        style::note(
            ui,
            format!("and {} more: see Health", assumptions.len() - 6),
        );
    }
}

/// What is known of the same level without sessions, where it is broken, or in real time, where it holds.
fn on_other_orders(document: &Document, level: Level) -> Option<String> {
    let verdicts = document.results.verdicts();
    let is_violated = document
        .results
        .of(level)
        .is_some_and(|result| result.verdict == Verdict::Violated);
    let StrongestOrder { holds, .. } = StrongestOrder::of(level, &verdicts)?;
    match holds {
        Some(plain) if is_violated => {
            Some(format!("{plain} holds: only session order is violated."))
        }
        Some(strong) if strong != level => Some(format!("It holds in real time, too ({strong}).")),
        _ => None,
    }
}
