//! Isolation levels side by side, as bars.

use super::progress::latency;
use crate::app::collecting::table::{Row, Run, milliseconds};
use crate::app::style::{self, Palette, duration};
use crate::report::grouped;
use egui::{Align2, Color32, CornerRadius, FontId, Rect, Sense, Ui, WidgetInfo, WidgetType, pos2, vec2};

/// Height of a bar with the space around it.
const BAR: f32 = 22.0;
/// Maximum width of the name in front of a bar.
const NAME: f32 = 118.0;
/// Space for the number after a bar.
const NUMBER: f32 = 70.0;

/// A quantity to compare: heading, the number of a row, and how it is written.
type Figure = (&'static str, fn(&Row) -> Option<f64>, fn(f64) -> String);

const FIGURES: [Figure; 4] = [
    ("Throughput, per second", |row| row.snapshot.as_ref().map(|s| s.throughput()), |n| grouped(n as u64)),
    ("Aborted", |row| row.snapshot.as_ref().map(|s| 100.0 * s.abort_rate()), |share| format!("{share:.1} %")),
    ("Latency, 99 % under", |row| row.snapshot.as_ref().map(|s| milliseconds(s.slow)), latency),
    ("Time to check", |row| row.checked.as_ref().map(|checked| checked.seconds), duration),
];

pub(super) fn bars_ui(ui: &mut Ui, run: &Run) {
    if run.rows.is_empty() {
        return;
    }
    let palette = Palette::of(ui);
    for pair in FIGURES.chunks(2) {
        ui.columns(2, |columns| {
            for (column, (title, of, write)) in columns.iter_mut().zip(pair) {
                style::bold(column, title, style::BODY, palette.strong);
                let most = run.rows.iter().filter_map(of).fold(0.0, f64::max);
                for row in &run.rows {
                    bar_ui(column, row, title, of(row).map(|number| (number, write(number))), most);
                }
                column.add_space(8.0);
            }
        });
    }
    if run.rows.iter().any(Row::breaks_promise) {
        style::note(ui, "! what is promised at this level is violated");
    }
}

fn bar_ui(ui: &mut Ui, row: &Row, title: &str, number: Option<(f64, String)>, most: f64) {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let text = |at, align, text: &str, colour: Color32| {
        ui.painter_at(area).text(at, align, text, FontId::proportional(style::SMALL), colour);
    };
    let middle = area.center().y;
    text(pos2(area.left(), middle), Align2::LEFT_CENTER, &row.isolation, palette.text);
    let left = area.left() + NAME;
    let room = (area.width() - NAME - NUMBER).max(20.0);
    let (share, written) = match &number {
        Some((number, written)) => ((number / most.max(1e-12)) as f32, written.as_str()),
        None => (0.0, "?"),
    };
    let bar =
        Rect::from_min_max(pos2(left, area.top() + 4.0), pos2(left + (room * share).max(1.0), area.bottom() - 4.0));
    // A level that broke its promise is highlighted with a colour and a mark.
    let broken = row.breaks_promise();
    ui.painter().rect_filled(bar, CornerRadius::same(3), if broken { palette.bad } else { palette.accent });
    let mark = if broken { format!("{written} !") } else { written.to_owned() };
    text(pos2(bar.right() + 6.0, middle), Align2::LEFT_CENTER, &mark, palette.text);
    let spoken = format!("{}: {title} {written}", row.isolation);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &spoken));
    response.on_hover_text(if broken { format!("{spoken}; it broke its promise") } else { spoken });
}
