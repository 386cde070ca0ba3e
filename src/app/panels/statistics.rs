//! Figures of the history as plots.

use super::chart::{Marks, axis, chart_ui, series};
use crate::app::figures::Figures;
use crate::app::state::Document;
use crate::app::style::{self, counted};
use crate::app::vocabulary::Page;
use crate::export::chart::{Axis, Chart, Series, Unit};
use crate::report::grouped;
use egui::{ScrollArea, Ui};

/// Draws the page.
pub fn statistics_ui(ui: &mut Ui, document: &Document) {
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
            let one = |label: &str, points: &[(f64, f64)]| vec![series(label, points.iter().copied())];
            let share = |(at, percent): &(f64, f64)| (*at, percent / 100.0);
            let number = |name: &str| axis(name, Unit::Number);
            let (key, n) = (number("key, most used first"), number("operations"));
            let skew = one("operations on a key", &figures.skew);
            plot_ui(left, "Access skew", "operations on a key, most used first", (key, n), skew, Marks::Lines);
            let sizes = one("transactions", &figures.sizes);
            let axes = (number("operations"), number("transactions"));
            plot_ui(right, "Transaction sizes", "transactions by number of operations", axes, sizes, Marks::Bars(&[]));
            let place = || number("transactions before");
            let axes = (place(), axis("share", Unit::Percent));
            let aborted = series("aborted", figures.aborted.iter().map(share));
            let unknown = series("unknown outcome", figures.unknown.iter().map(share));
            let about = "share of transactions, along the history";
            let mut shares = vec![aborted, unknown];
            shares.retain(|share| share.label == "aborted" || share.points.iter().any(|(_, share)| *share > 0.0));
            plot_ui(left, "Abort rate", about, axes, shares, Marks::Lines);
            let (axes, found) = ((place(), number("anomalies")), one("anomalies", &figures.anomalies));
            plot_ui(right, "Anomaly positions", "listed anomalies by where they begin", axes, found, Marks::Bars(&[]));
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

fn plot_ui(ui: &mut Ui, title: &str, about: &str, (x, y): (Axis, Axis), series: Vec<Series>, marks: Marks<'_>) {
    let chart = Chart { title: title.to_owned(), x, y, series };
    chart_ui(ui, &chart, marks, about, &format!("Plot {title}: {about}"));
}
