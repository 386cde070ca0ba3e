//! The cases of an argument that is not a single cycle or read: a tree that opens branch by branch.

use super::on_click;
use crate::app::command::{Command, Request, Requests};
use crate::app::picture::{Picture, Scope};
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use crate::app::vocabulary::{Attention, Focus, Stage};
use crate::counterexample::{CaseNode, CaseTree};
use egui::{
    Color32, CornerRadius, Frame, Label, Margin, Sense, Stroke, Ui, WidgetInfo, WidgetType, vec2,
};

/// Indentation of a case relative to the one around it.
const INDENT: f32 = 14.0;
/// Deeper cases are not indented further: their text needs room.
const DEEPEST: usize = 8;

/// Draws the tree, if there is one.
pub(crate) fn cases_ui(
    ui: &mut Ui,
    picture: &Picture,
    document: &Document,
    requests: &mut Requests,
) {
    let Some(tree) = &picture.argument.cases else {
        return;
    };
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        style::bold_line(ui, "Cases", style::HEADING, palette.strong);
        for (command, name) in [(Command::PreviousCase, "←"), (Command::NextCase, "→")] {
            super::small_button_ui(ui, command, name, requests);
        }
        let n = tree.leaves().count();
        style::note(ui, format!("{n} ends, each a contradiction"));
    });
    for place in visible(tree, document) {
        case_ui(ui, tree, place, document, requests);
    }
}

/// The cases whose parents are all open, in order of telling. The root always is: what is open there is the first
/// question.
fn visible(tree: &CaseTree, document: &Document) -> Vec<usize> {
    let is_open = |place: &usize| *place == 0 || document.argument.open_cases.contains(place);
    tree.in_order(0)
        .into_iter()
        .filter(|&place| tree.around(place).iter().skip(1).all(is_open))
        .collect()
}

fn case_ui(
    ui: &mut Ui,
    tree: &CaseTree,
    place: usize,
    document: &Document,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let node = &tree.nodes[place];
    let attention = Attention::Case(place);
    let is_chosen = document.argument.stage == Stage::Case(place)
        || document.argument.pinned == Some(attention);
    let is_lit = is_chosen || document.argument.hovered == Some(attention);
    let depth = tree.around(place).len() - 1;
    let left = INDENT * depth.min(DEEPEST) as f32;
    let frame = Frame::new()
        .inner_margin(Margin::symmetric(6, 3))
        .outer_margin(Margin {
            left: left as i8,
            right: 0,
            top: 0,
            bottom: -2,
        })
        .corner_radius(CornerRadius::same(6))
        .fill(if is_lit {
            palette.raised
        } else {
            Color32::TRANSPARENT
        })
        .stroke(Stroke::new(
            1.2,
            if is_chosen {
                palette.accent
            } else {
                Color32::TRANSPARENT
            },
        ));
    let mut corner = egui::Pos2::ZERO;
    let shown = frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            let (area, _) = ui.allocate_exact_size(vec2(12.0, 18.0), Sense::hover());
            corner = area.min;
            ui.add(Label::new(words(node, &palette)).wrap().selectable(false));
        });
        ui.set_min_width(ui.available_width());
    });
    let response = ui.interact(
        shown.response.rect,
        ui.id().with(("case", place)),
        Sense::click(),
    );
    let name = if node.label.is_empty() {
        "All cases".to_owned()
    } else {
        format!("Case {}", node.label)
    };
    let info = format!("{name}: {}", node.text);
    response.widget_info(|| {
        WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, info.as_str())
    });
    if response.hovered() {
        requests.push(Request::Focus(Focus::Hover(attention)));
    }
    if response.clicked() {
        requests.push(Request::ShowCase(if is_chosen { 0 } else { place }));
    }
    if is_chosen && document.reveal.step {
        response.scroll_to_me(None);
    }
    if place > 0 && !node.children.is_empty() {
        branch_ui(ui, corner, place, &name, document, requests);
    }
}

/// The triangle that opens or folds the cases inside.
fn branch_ui(
    ui: &mut Ui,
    corner: egui::Pos2,
    place: usize,
    name: &str,
    document: &Document,
    requests: &mut Requests,
) {
    let palette = Palette::of(ui);
    let open = document.argument.open_cases.contains(&place);
    let area = egui::Rect::from_min_size(corner, vec2(14.0, 18.0)).expand(2.0);
    let response = ui.interact(area, ui.id().with(("branch", place)), Sense::click());
    super::paint_triangle(ui.painter(), area.center(), open, palette.text);
    let verb = if open { "Fold" } else { "Open" };
    response
        .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("{verb} {name}")));
    on_click(
        &response.on_hover_text("Show or fold the cases inside this one"),
        Request::ToggleCase(place),
        requests,
    );
}

fn words(node: &CaseNode, palette: &Palette) -> egui::text::LayoutJob {
    let mut job = egui::text::LayoutJob::default();
    let format = |colour| egui::TextFormat {
        line_height: Some(18.0),
        ..egui::TextFormat::simple(egui::FontId::proportional(style::BODY), colour)
    };
    if !node.label.is_empty() {
        job.append(&format!("{} ", node.label), 0.0, format(palette.accent));
    }
    job.append(&node.text, 0.0, format(palette.text));
    if !node.reads.is_empty() {
        let reads = if node.reads.len() == 1 {
            "a read"
        } else {
            "reads"
        };
        job.append(
            &format!(" Then {reads} cannot be: {}.", node.reads[0].0),
            0.0,
            format(palette.bad),
        );
    }
    job
}

/// What the picture shows instead of the whole argument, if it does.
pub(crate) fn drawn_case(picture: &Picture) -> Option<String> {
    let Scope::Case(place) = picture.shows.scope else {
        return None;
    };
    let label = &picture.argument.cases.as_ref()?.nodes.get(place)?.label;
    Some(format!("drawn is case {label} alone"))
}
