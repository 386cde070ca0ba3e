//! Figures of the history as plots.

use super::chart::{axis, high_chart_ui, series};
use crate::app::command::Requests;
use crate::app::figures::Figures;
use crate::app::page::Page;
use crate::app::state::Document;
use crate::app::style::{self, Palette, counted};
use crate::export::chart::{Axis, Chart, Marks, Series, Unit};
use crate::report::grouped;
use egui::{ScrollArea, Ui};

/// Height of what is around a chart.
const AROUND: f32 = 74.0;

pub(crate) fn statistics_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    let Some(figures) = &document.statistics.figures else {
        if !super::failed_ui(ui, document, Page::Statistics) {
            style::note(ui, "Counting…");
        }
        return;
    };
    ScrollArea::vertical()
        .id_salt("statistics")
        .auto_shrink(false)
        .show(ui, |ui| {
            summary_ui(ui, figures);
            let mut drawn = Vec::new();
            for (chart, about, flat) in charts(figures) {
                match flat {
                    Some(sentence) => flat_ui(ui, &chart.title, &sentence),
                    None => drawn.push((chart, about)),
                }
            }
            ui.add_space(6.0);
            // Two side by side, together as high as the page.
            let room = ui.clip_rect().bottom() - ui.cursor().top();
            let height = room / drawn.len().div_ceil(2).max(1) as f32 - AROUND;
            for pair in drawn.chunks(2) {
                ui.columns(pair.len(), |columns| {
                    for (ui, (chart, about)) in columns.iter_mut().zip(pair) {
                        let name = format!("Plot {}: {about}", chart.title);
                        high_chart_ui(ui, height, (chart, about, &name), requests);
                    }
                });
            }
        });
}

/// What would be a flat line is a sentence.
fn flat_ui(ui: &mut Ui, title: &str, sentence: &str) {
    ui.horizontal(|ui| {
        style::bold_line(ui, title, style::BODY, Palette::of(ui).strong);
        ui.label(sentence);
    });
}

fn summary_ui(ui: &mut Ui, figures: &Figures) {
    let s = &figures.statistics;
    let hot = if s.uses.len() <= 10 {
        "the most used key"
    } else {
        "a tenth of the keys"
    };
    let mut facts = vec![
        format!(
            "{}, {}",
            counted(s.reads, "read"),
            counted(s.writes, "write")
        ),
        format!(
            "{} operations per transaction, at most {}",
            rounded(s.operations_of_transaction.mean),
            grouped(s.operations_of_transaction.max as u64)
        ),
        format!(
            "{} transactions per session, at most {}",
            rounded(s.transactions_of_session.mean),
            grouped(s.transactions_of_session.max as u64)
        ),
        format!(
            "{hot} gets {:.0} % of the operations",
            s.hot_tenth_share * 100.0
        ),
        format!(
            "{} read-only and {} write-only transactions",
            grouped(s.shapes.read_only as u64),
            grouped(s.shapes.write_only as u64)
        ),
    ];
    if let Some(exponent) = s.zipf_exponent {
        facts.push(format!("Zipf exponent about {exponent:.2}"));
    }
    let (aborted, unknown) = (s.recorded.aborted, s.recorded.unknown);
    if aborted + unknown > 0 {
        facts.push(format!(
            "{} aborted, {} unknown",
            grouped(aborted as u64),
            grouped(unknown as u64)
        ));
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 18.0;
        facts
            .into_iter()
            .for_each(|fact| drop(ui.add(egui::Label::new(fact).extend())));
    });
    ui.add_space(6.0);
}

fn rounded(number: f64) -> String {
    let tenths = (number * 10.0).round() as u64;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// A chart, what it is about, and the sentence that says the same if it would be flat.
type Plot = (Chart, &'static str, Option<String>);

/// Access skew, transaction sizes, the shares of other outcomes, and where anomalies are.
fn charts(figures: &Figures) -> [Plot; 4] {
    let number = |name: &str| axis(name, Unit::Number);
    let place = || {
        number(if figures.by_time {
            "transactions, by their start times"
        } else {
            "transactions, those of all sessions in turn"
        })
    };
    let chart = |title: &str, (x, y): (Axis, Axis), series: Vec<Series>, marks: Marks| Chart {
        title: title.to_owned(),
        x,
        y,
        series,
        marks,
        bands: Vec::new(),
    };
    let one = |label: &str, points: &[(f64, f64)]| vec![series(label, points.iter().copied())];
    let share = |(at, percent): &(f64, f64)| (*at, percent / 100.0);
    let aborted = series("aborted", figures.aborted.iter().map(share));
    let unknown = series("unknown outcome", figures.unknown.iter().map(share));
    let mut shares = vec![aborted, unknown];
    shares.retain(|share| share.points.iter().any(|(_, share)| *share > 0.0));
    let no_outcomes = shares
        .is_empty()
        .then(|| "No transaction aborted.".to_owned());
    let bars = || Marks::Bars(Vec::new());
    let skew = one("operations on a key", &figures.skew);
    let sizes = one("transactions", &figures.sizes);
    let found = one("anomalies", &figures.anomalies);
    let nothing_found = figures
        .anomalies
        .iter()
        .all(|(_, n)| *n == 0.0)
        .then(|| "No anomaly is listed.".to_owned());
    [
        (
            chart(
                "Access skew",
                (
                    number("keys, most used first"),
                    number("operations on a key"),
                ),
                skew,
                Marks::Lines,
            ),
            "operations on a key, most used first",
            flat_skew(&figures.statistics.uses),
        ),
        (
            chart(
                "Transaction sizes",
                (number("operations per transaction"), number("transactions")),
                sizes,
                bars(),
            ),
            "transactions by number of operations",
            only_size(&figures.sizes),
        ),
        (
            chart(
                "Abort rate",
                (place(), axis("share of transactions (%)", Unit::Percent)),
                shares,
                Marks::Lines,
            ),
            "share of transactions, along the history",
            no_outcomes,
        ),
        (
            chart(
                "Anomaly positions",
                (place(), number("anomalies")),
                found,
                bars(),
            ),
            "listed anomalies by where they begin",
            nothing_found,
        ),
    ]
}

/// If all keys are used as much.
fn flat_skew(uses: &[usize]) -> Option<String> {
    match uses {
        [] => Some("There are no operations.".to_owned()),
        [n] => Some(format!("All {} are on one key.", counted(*n, "operation"))),
        [most, .., least] if most == least => Some(format!(
            "Each of {} has {}.",
            counted(uses.len(), "key"),
            counted(*most, "operation")
        )),
        _ => None,
    }
}

/// If all transactions have as many operations.
fn only_size(sizes: &[(f64, f64)]) -> Option<String> {
    let mut some = sizes.iter().filter(|(_, n)| *n > 0.0);
    match (some.next(), some.next()) {
        (None, _) => Some("There are no transactions.".to_owned()),
        (Some((size, n)), None) => {
            let operations = counted(*size as usize, "operation");
            Some(if *n == 1.0 {
                format!("The transaction has {operations}.")
            } else {
                format!("Each transaction has {operations}.")
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_charts_are_sentences() {
        let figures = Figures {
            sizes: vec![(0.0, 0.0), (1.0, 3.0)],
            aborted: vec![(0.5, 0.0)],
            anomalies: vec![(0.5, 2.0)],
            ..Figures::default()
        };
        let said = charts(&figures).map(|(_, _, flat)| flat.unwrap_or_default());
        assert_eq!(
            said,
            [
                "There are no operations.",
                "Each transaction has 1 operation.",
                "No transaction aborted.",
                ""
            ]
        );
        assert_eq!(
            flat_skew(&[1200, 1200]).as_deref(),
            Some("Each of 2 keys has 1,200 operations.")
        );
        assert_eq!(
            (flat_skew(&[3, 1]), only_size(&[(1.0, 1.0), (2.0, 1.0)])),
            (None, None)
        );
        assert_eq!(rounded(12345.67), "12,345.7");
    }
}
