//! Figures of the history as plots.

use super::plot::{HEIGHT, still};
use crate::app::figures::Figures;
use crate::app::state::Document;
use crate::app::style::{self, Palette, counted};
use crate::app::vocabulary::Page;
use crate::report::grouped;
use egui::{Color32, ScrollArea, Ui, WidgetInfo, WidgetType, vec2};
use egui_plot::{Bar, BarChart, Line, PlotPoints};

/// Draws the page.
pub fn statistics_ui(ui: &mut Ui, document: &Document) {
    let Some(figures) = &document.figures else {
        if !super::failed_ui(ui, document, Page::Statistics) {
            style::note(ui, "Counting…");
        }
        return;
    };
    let palette = Palette::of(ui);
    ScrollArea::vertical().id_salt("statistics").auto_shrink(false).show(ui, |ui| {
        summary_ui(ui, figures);
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            line_ui(left, "Access skew", "operations on a key, most used first", &figures.skew, palette.accent);
            bars_ui(right, "Transaction sizes", "transactions by number of operations", &figures.sizes, palette.accent);
            let lines =
                [("aborted", &figures.aborted, palette.bad), ("unknown outcome", &figures.unknown, palette.caution)];
            plot_ui(left, "Abort rate", "percent of transactions, along the history", |plot| {
                for (name, points, colour) in lines {
                    plot.line(Line::new(name, points_of(points)).color(colour).width(1.8));
                }
            });
            bars_ui(
                right,
                "Anomaly positions",
                "listed anomalies by where they begin",
                &figures.anomalies,
                palette.bad,
            );
        });
    });
}

fn summary_ui(ui: &mut Ui, figures: &Figures) {
    let s = &figures.statistics;
    let mut facts = vec![
        format!("{}, {}", counted(s.reads, "read"), counted(s.writes, "write")),
        format!(
            "{} a transaction, at most {}",
            rounded(s.operations_of_transaction.mean),
            s.operations_of_transaction.max
        ),
        format!("{} a session, at most {}", rounded(s.transactions_of_session.mean), s.transactions_of_session.max),
        format!("{:.0} % of operations on a tenth of the keys", s.hot_tenth_share * 100.0),
        format!("{} read only, {} write only", grouped(s.shapes.read_only as u64), grouped(s.shapes.write_only as u64)),
    ];
    if let Some(exponent) = s.zipf_exponent {
        facts.push(format!("Zipf exponent about {exponent:.2}"));
    }
    let (aborted, unknown) = (s.recorded.aborted, s.recorded.unknown);
    if aborted + unknown > 0 {
        facts.push(format!("{} aborted, {} unknown", grouped(aborted as u64), grouped(unknown as u64)));
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 18.0;
        facts.into_iter().for_each(|fact| drop(ui.add(egui::Label::new(fact).extend())));
    });
    ui.add_space(6.0);
}

fn rounded(number: f64) -> String {
    format!("{number:.1}")
}

fn points_of(points: &[(f64, f64)]) -> PlotPoints<'static> {
    points.iter().map(|(x, y)| [*x, *y]).collect()
}

fn line_ui(ui: &mut Ui, title: &str, about: &str, points: &[(f64, f64)], colour: Color32) {
    plot_ui(ui, title, about, |plot| {
        plot.line(Line::new(title, points_of(points)).color(colour).width(1.8));
    });
}

fn bars_ui(ui: &mut Ui, title: &str, about: &str, points: &[(f64, f64)], colour: Color32) {
    let width = points.windows(2).map(|pair| pair[1].0 - pair[0].0).fold(1.0, f64::max) * 0.86;
    plot_ui(ui, title, about, |plot| {
        let bars = points.iter().map(|(x, y)| Bar::new(*x, *y).width(width).fill(colour)).collect();
        plot.bar_chart(BarChart::new(title, bars).color(colour));
    });
}

fn plot_ui<'a>(ui: &mut Ui, title: &str, about: &str, draw: impl FnOnce(&mut egui_plot::PlotUi<'a>) + 'a) {
    let strong = Palette::of(ui).strong;
    style::bold(ui, title, style::HEADING, strong);
    style::note(ui, about);
    let plot = still(title, HEIGHT)
        .include_y(0.0)
        // Nothing here is below zero: if all is zero, the plot ends at one.
        .include_y(1.0)
        .set_margin_fraction(vec2(0.03, 0.0));
    let response = plot.show(ui, draw).response;
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, format!("Plot {title}: {about}")));
    ui.add_space(10.0);
}
