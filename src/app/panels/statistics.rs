//! Figures of the history as plots.

use super::chart::{axis, chart_ui, series};
use crate::app::command::Requests;
use crate::app::figures::Figures;
use crate::app::state::Document;
use crate::app::style::{self, counted};
use crate::app::vocabulary::Page;
use crate::export::chart::{Axis, Chart, Marks, Series, Unit};
use crate::report::grouped;
use egui::{ScrollArea, Ui};

/// Draws the page.
pub fn statistics_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(figures) = &document.figures else {
        if !super::failed_ui(ui, document, Page::Statistics) {
            style::note(ui, "Counting…");
        }
        return;
    };
    ScrollArea::vertical().id_salt("statistics").auto_shrink(false).show(ui, |ui| {
        summary_ui(ui, figures);
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            let [skew, sizes, outcomes, anomalies] = charts(figures);
            let mut plot = |ui: &mut Ui, chart: Chart, about: &str| {
                let name = format!("Plot {}: {about}", chart.title);
                chart_ui(ui, &chart, about, &name, requests);
            };
            plot(left, skew, "operations on a key, most used first");
            plot(right, sizes, "transactions by number of operations");
            plot(left, outcomes, "share of transactions, along the history");
            plot(right, anomalies, "listed anomalies by where they begin");
        });
    });
}

fn summary_ui(ui: &mut Ui, figures: &Figures) {
    let s = &figures.statistics;
    let mut facts = vec![
        format!("{}, {}", counted(s.reads, "read"), counted(s.writes, "write")),
        format!(
            "{} operations per transaction, at most {}",
            rounded(s.operations_of_transaction.mean),
            s.operations_of_transaction.max
        ),
        format!(
            "{} transactions per session, at most {}",
            rounded(s.transactions_of_session.mean),
            s.transactions_of_session.max
        ),
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

/// Access skew, transaction sizes, the shares of other outcomes, and where anomalies are.
fn charts(figures: &Figures) -> [Chart; 4] {
    let number = |name: &str| axis(name, Unit::Number);
    let place = || number("transactions before");
    let chart = |title: &str, (x, y): (Axis, Axis), series: Vec<Series>, marks: Marks| Chart {
        title: title.to_owned(),
        x,
        y,
        series,
        marks,
    };
    let one = |label: &str, points: &[(f64, f64)]| vec![series(label, points.iter().copied())];
    let share = |(at, percent): &(f64, f64)| (*at, percent / 100.0);
    let aborted = series("aborted", figures.aborted.iter().map(share));
    let unknown = series("unknown outcome", figures.unknown.iter().map(share));
    let mut shares = vec![aborted, unknown];
    shares.retain(|share| share.label == "aborted" || share.points.iter().any(|(_, share)| *share > 0.0));
    let bars = || Marks::Bars(Vec::new());
    let skew = one("operations on a key", &figures.skew);
    let sizes = one("transactions", &figures.sizes);
    let found = one("anomalies", &figures.anomalies);
    [
        chart("Access skew", (number("key, most used first"), number("operations")), skew, Marks::Lines),
        chart("Transaction sizes", (number("operations"), number("transactions")), sizes, bars()),
        chart("Abort rate", (place(), axis("share", Unit::Percent)), shares, Marks::Lines),
        chart("Anomaly positions", (place(), number("anomalies")), found, bars()),
    ]
}
