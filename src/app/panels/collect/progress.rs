//! The progress of a round: figures, their course, and what was found in the part recorded so far.

use super::figure_ui;
use crate::app::collecting::table::{CollectRun, FinishedRound, Sample, milliseconds};
use crate::app::command::Requests;
use crate::app::live::Snapshot;
use crate::app::panels::chart::{axis, chart_ui, low_chart_ui, series};
use crate::app::panels::live::{LiveView, found_ui, inset_ui};
use crate::app::style::{self, Palette, counted, duration};
use crate::collect::{self, FaultTime};
use crate::export::chart::{Band, Chart, Marks, Unit};
use crate::report::grouped;
use egui::{Color32, RichText, Ui};

pub(super) fn progress_ui(
    ui: &mut Ui,
    run: &CollectRun,
    kept: &mut LiveView,
    requests: &mut Requests,
) {
    if let Some(snapshot) = &run.snapshot {
        figures_ui(ui, snapshot);
    }
    // An anomaly may be found before the first figures are taken.
    let newest = run
        .live
        .newest()
        .filter(|so_far| so_far.status.delivered > 0);
    if let Some(so_far) = newest.filter(|_| run.is_running()) {
        so_far_ui(ui, so_far, requests);
    }
    // Below them, lanes need the room.
    let has_lanes = newest.is_some() && (run.is_running() || run.live.newer().is_some());
    if run.snapshot.is_some() {
        plots_ui(ui, run, has_lanes, requests);
    }
    if has_lanes {
        inset_ui(ui, &run.live, kept, requests);
    }
}

/// What is counted of the round so far.
fn figures_ui(ui: &mut Ui, snapshot: &collect::Snapshot) {
    let palette = Palette::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 26.0;
        let warn = |n: u64, colour: Color32| if n > 0 { colour } else { palette.weak };
        figure_ui(
            ui,
            "committed",
            &grouped(snapshot.committed),
            palette.strong,
        );
        figure_ui(ui, "aborted", &grouped(snapshot.aborted), palette.strong);
        figure_ui(
            ui,
            "unknown",
            &grouped(snapshot.unknown),
            warn(snapshot.unknown, palette.caution),
        );
        figure_ui(
            ui,
            "per second",
            &grouped(snapshot.throughput() as u64),
            palette.strong,
        );
        figure_ui(
            ui,
            "median",
            &latency(milliseconds(snapshot.median)),
            palette.strong,
        );
        figure_ui(
            ui,
            "p99",
            &latency(milliseconds(snapshot.slow)),
            palette.strong,
        );
        figure_ui(
            ui,
            "time",
            &duration(snapshot.elapsed.as_secs_f64()),
            palette.strong,
        );
        if snapshot.lost_sessions > 0 {
            figure_ui(
                ui,
                "sessions lost",
                &grouped(snapshot.lost_sessions),
                palette.bad,
            );
        }
    });
    ui.add_space(2.0);
}

/// Milliseconds in readable form.
pub(super) fn latency(milliseconds: f64) -> String {
    match milliseconds {
        m if m < 0.0995 => format!("{:.0} µs", m * 1000.0),
        m if m < 9.95 => format!("{m:.1} ms"),
        m if m < 999.5 => format!("{m:.0} ms"),
        m => format!("{:.1} s", m / 1000.0),
    }
}

/// The verdicts on what is recorded so far, and the first anomaly.
fn so_far_ui(ui: &mut Ui, so_far: &Snapshot, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let line_ui = |ui: &mut Ui, text: String, colour: Color32| {
        ui.add(egui::Label::new(RichText::new(&text).color(colour)).truncate())
            .on_hover_text(text);
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.label(format!(
            "So far, in {}:",
            counted(so_far.status.delivered as usize, "transaction")
        ));
        for (level, conclusion) in &so_far.levels {
            let text = format!("{level} {}", conclusion.word());
            ui.label(RichText::new(text).color(palette.conclusion(*conclusion)));
        }
    });
    let [last, longest] = so_far.behind.map(|time| latency(milliseconds(time)));
    line_ui(
        ui,
        format!("Verdicts follow commits by {last}, at most {longest}"),
        palette.weak,
    );
    if let Some(found) = so_far.found.first() {
        let after = |delay| format!(", {} after its commit", latency(milliseconds(delay)));
        let delay = found.delay.map_or(String::new(), after);
        found_ui(
            ui,
            0,
            found,
            &format!(
                "First anomaly, line {}{delay}",
                grouped(u64::from(found.line))
            ),
            requests,
        );
    }
    if let Some(error) = &so_far.error {
        line_ui(ui, error.clone(), palette.caution);
    }
    ui.add_space(2.0);
}

fn plots_ui(ui: &mut Ui, run: &CollectRun, are_low: bool, requests: &mut Requests) {
    let of = |label: &str, value: fn(&Sample) -> f64| {
        series(label, run.samples.iter().map(|s| (s.at, value(s))))
    };
    // If no transaction ended, nothing is known about how long they take.
    let ended = || run.samples.iter().filter(|sample| sample.slow > 0.0);
    let course = |label: &str, value: fn(&Sample) -> f64| {
        series(label, ended().map(|s| (s.at, value(s) / 1000.0)))
    };
    let mut lasting = vec![
        course("median", |sample| sample.median),
        course("p99", |sample| sample.slow),
    ];
    let verdicts = run
        .samples
        .iter()
        .filter_map(|sample| Some((sample.at, sample.behind?.as_secs_f64())));
    let verdicts = series("to verdict", verdicts);
    let has_verdicts = !verdicts.points.is_empty();
    if has_verdicts {
        lasting.push(verdicts);
    }
    let time = || axis("time", Unit::Seconds);
    let now = run.samples.last().map_or(0.0, |sample| sample.at);
    let band = |fault: &FaultTime| Band {
        label: fault.name.clone(),
        from: fault.begin.as_secs_f64(),
        to: fault.end.map_or(now, |end| end.as_secs_f64()),
    };
    let faults = run.faults.iter().map(band);
    let bands: Vec<Band> = faults
        .chain(verdict_bands(&run.samples))
        .filter(|band| band.from < band.to)
        .collect();
    let throughput = Chart {
        title: "Throughput".to_owned(),
        x: time(),
        y: axis("per second", Unit::Number),
        series: vec![of("throughput", |sample| sample.throughput)],
        marks: Marks::Lines,
        bands: bands.clone(),
    };
    let latency = Chart {
        title: "Latency".to_owned(),
        x: time(),
        y: axis("latency", Unit::Seconds),
        series: lasting,
        marks: Marks::Lines,
        bands,
    };
    let throughput = (
        &throughput,
        "committed transactions per second",
        "Plot of throughput",
    );
    let about = if has_verdicts {
        "median and 99th percentile; from commit to verdict"
    } else {
        "median and 99th percentile"
    };
    let latency = (&latency, about, "Plot of latency");
    ui.columns(2, |columns| {
        for (column, what) in columns.iter_mut().zip([throughput, latency]) {
            if are_low {
                low_chart_ui(column, what, requests)
            } else {
                chart_ui(column, what.0, what.1, what.2, requests)
            }
        }
    });
}

/// From when on the weakest violated level was which one.
fn verdict_bands(samples: &[Sample]) -> impl Iterator<Item = Band> {
    let now = samples.last().map_or(0.0, |sample| sample.at);
    let stretches = samples.chunk_by(|a, b| a.violated == b.violated);
    stretches.filter_map(move |stretch| {
        let level = stretch.first()?.violated?;
        let end = samples
            .iter()
            .map(|sample| sample.at)
            .find(|at| *at > stretch[stretch.len() - 1].at);
        Some(Band {
            label: format!("{level} violated"),
            from: stretch[0].at,
            to: end.unwrap_or(now),
        })
    })
}

/// A quantity in which levels are compared: its name, its unit, and the number of a row.
type Figure = (&'static str, Unit, fn(&FinishedRound) -> Option<f64>);

const FIGURES: [Figure; 4] = [
    ("Throughput per second", Unit::Number, |row| {
        row.snapshot.as_ref().map(|s| s.throughput())
    }),
    ("Aborted", Unit::Percent, |row| {
        row.snapshot.as_ref().map(|s| s.abort_rate())
    }),
    ("Latency, p99", Unit::Seconds, |row| {
        row.snapshot.as_ref().map(|s| milliseconds(s.slow) / 1000.0)
    }),
    ("Time to check", Unit::Seconds, |row| {
        row.checked.as_ref().map(|checked| checked.seconds)
    }),
];

/// Isolation levels compared, as bars.
pub(super) fn levels_ui(ui: &mut Ui, run: &CollectRun, requests: &mut Requests) {
    if run.rows.is_empty() {
        return;
    }
    let mark = |row: &FinishedRound| if row.breaks_promise() { " !" } else { "" };
    let names: Vec<String> = run
        .rows
        .iter()
        .map(|row| format!("{}{}", row.isolation, mark(row)))
        .collect();
    for pair in FIGURES.chunks(2) {
        ui.columns(2, |columns| {
            for (column, (title, unit, of)) in columns.iter_mut().zip(pair) {
                let known = run
                    .rows
                    .iter()
                    .enumerate()
                    .filter_map(|(at, row)| Some((at as f64, of(row)?)));
                let chart = Chart {
                    title: (*title).to_owned(),
                    x: axis("isolation level", Unit::Number),
                    y: axis(title, *unit),
                    series: vec![series(title, known)],
                    marks: Marks::Bars(names.clone()),
                    bands: Vec::new(),
                };
                chart_ui(
                    column,
                    &chart,
                    "by isolation level of the database",
                    &format!("Plot of {title}"),
                    requests,
                );
            }
        });
    }
    if run.rows.iter().any(FinishedRound::breaks_promise) {
        style::note(ui, "! what is promised at this level is violated");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkers::Level;

    #[test]
    fn what_is_violated_is_a_band_until_something_weaker_is() {
        let sample = |at: f64, violated| Sample {
            at,
            throughput: 1.0,
            median: 1.0,
            slow: 1.0,
            behind: None,
            violated,
        };
        let (si, ra) = (Some(Level::SnapshotIsolation), Some(Level::ReadAtomic));
        let samples = [
            sample(1.0, None),
            sample(2.0, si),
            sample(3.0, si),
            sample(4.0, ra),
            sample(5.0, ra),
        ];
        let bands: Vec<_> = verdict_bands(&samples)
            .map(|band| (band.label, band.from, band.to))
            .collect();
        assert_eq!(
            bands,
            [
                ("SI violated".to_owned(), 2.0, 4.0),
                ("RA violated".to_owned(), 4.0, 5.0)
            ]
        );
        assert_eq!(verdict_bands(&samples[..1]).count(), 0);
    }

    #[test]
    fn latencies_are_written_for_people() {
        assert_eq!(
            [0.032, 4.096, 66.0, 11_755.0].map(latency),
            ["32 µs", "4.1 ms", "66 ms", "11.8 s"]
        );
    }
}
