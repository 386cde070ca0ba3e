//! Drawing the lanes of one frame.

use super::super::canvas::look::Lit;
use super::super::style::{self, Palette};
use super::super::vocabulary::Attention;
use super::{LanesAnswer, LanesInput, LanesView};
use crate::diagram::path::distance_to_chord;
use crate::diagram::text_size::{ADVANCE, elide};
use crate::history::{Outcome, SessionId, TransactionId, visible};
use crate::report::grouped;
use egui::{
    Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};
use std::collections::BTreeSet;

/// Height of a transaction in its lane.
const BAR: f32 = 24.0;
/// Things narrower than this are drawn together, in points.
const GRAIN: f32 = 3.0;
/// How near the pointer must be to an edge, in points.
const REACH: f32 = 5.0;
/// Maximum number of bars that get a name for screen readers.
const NAMED: usize = 300;
/// Maximum number of incidents among which faults are drawn.
const INCIDENTS: usize = 10_000;
/// Maximum number of ticks on the axis.
const TICKS: u32 = 500;

/// Everything that is the same for all lanes of a frame.
pub(super) struct Frame<'a> {
    pub(super) view: &'a LanesView,
    pub(super) input: &'a LanesInput<'a>,
    pub(super) plot: Rect,
    pub(super) palette: Palette,
    pub(super) lit: Lit,
    pub(super) attended: BTreeSet<TransactionId>,
}

/// A drawn transaction, or several together.
pub(super) struct Bar {
    pub(super) area: Rect,
    pub(super) transaction: TransactionId,
    pub(super) n: usize,
}

impl Frame<'_> {
    fn x(&self, at: f64) -> f32 {
        self.plot.left() + ((at - self.view.left) * self.view.zoom).clamp(-1e6, 1e6) as f32
    }

    fn y(&self, place: usize) -> f32 {
        self.plot.top() + (place as f32 + 0.5) * self.view.lane - self.view.top
    }

    pub(super) fn bar_of(&self, transaction: TransactionId) -> Option<Rect> {
        if transaction.is_initial() {
            return None;
        }
        let span = self.input.axis().span(transaction)?;
        let y = self.y(self.view.rows.lane(self.input.history.session_of(transaction))?);
        let (from, to) = (self.x(span.from), self.x(span.to));
        Some(Rect::from_min_max(pos2(from, y - BAR / 2.0), pos2(to.max(from + 3.0), y + BAR / 2.0)))
    }

    pub(super) fn draw_axis(&self, painter: &Painter, area: Rect) {
        let axis = Rect::from_min_max(area.min, pos2(area.right(), self.plot.top()));
        let font = FontId::proportional(style::SMALL);
        let title = match (&self.input.timeline.clock, self.input.true_time) {
            (None, _) => "causal steps",
            (Some(_), true) => "true time",
            (Some(_), false) => "time, bent",
        };
        painter.text(axis.left_center() + vec2(10.0, 0.0), Align2::LEFT_CENTER, title, font.clone(), self.palette.weak);
        let inside = painter.with_clip_rect(Rect::from_min_max(pos2(self.plot.left(), area.top()), area.max));
        let step = nice(110.0 / self.view.zoom);
        let step = if self.input.timeline.clock.is_none() { step.max(1.0) } else { step };
        let first = (self.view.left / step).ceil() * step;
        let end = self.view.left + f64::from(self.plot.width()) / self.view.zoom;
        for at in (0..TICKS).map(|n| first + f64::from(n) * step).take_while(|at| *at <= end) {
            let x = self.x(at);
            let line = Stroke::new(1.0, self.palette.line);
            inside.line_segment([pos2(x, axis.bottom() - 5.0), pos2(x, area.bottom())], line);
            let text = self.tick(at);
            inside.text(pos2(x + 3.0, axis.center().y), Align2::LEFT_CENTER, text, font.clone(), self.palette.weak);
        }
        if let (Some(clock), false) = (&self.input.timeline.clock, self.input.true_time) {
            for cut in clock.cuts(self.view.left, end).into_iter().take(200) {
                // Much time passes here in little space.
                let x = self.x(cut);
                let zigzag = [(-4.0, 3.0), (-1.5, -3.0), (1.5, 3.0), (4.0, -3.0)];
                let points = zigzag.map(|(dx, dy)| pos2(x + dx, axis.bottom() - 1.0 + dy)).to_vec();
                inside.line(points, Stroke::new(1.4, self.palette.caution));
            }
        }
    }

    /// Faults as bands behind the lanes, from their beginning to their end.
    pub(super) fn draw_faults(&self, painter: &Painter, area: Rect) {
        let cluster = self.input.history.cluster();
        let Some(clock) = self.input.timeline.clock.as_ref().filter(|_| cluster.incidents().len() <= INCIDENTS) else {
            return;
        };
        let x = |time: i64| {
            let since = time.saturating_sub(clock.first) as f64;
            self.x(if self.input.true_time { since } else { clock.warped(since) })
        };
        let inside = painter.with_clip_rect(Rect::from_min_max(pos2(self.plot.left(), area.top()), area.max));
        for fault in cluster.faults() {
            let (from, to) = (x(fault.start), fault.end.map_or(self.plot.right(), x));
            if to < self.plot.left() || from > self.plot.right() {
                continue;
            }
            let band = Rect::from_min_max(pos2(from, self.plot.top()), pos2(to.max(from + 2.0), area.bottom()));
            inside.rect_filled(band, CornerRadius::ZERO, self.palette.caution.gamma_multiply(0.16));
            let font = FontId::proportional(style::SMALL);
            let name =
                elide(&visible(&fault.what), ((band.width() - 6.0) / (ADVANCE * style::SMALL)).max(0.0) as usize);
            let place = pos2(from.max(self.plot.left()) + 3.0, area.bottom() - 3.0);
            inside.text(place, Align2::LEFT_BOTTOM, name, font, self.palette.caution);
        }
    }

    fn tick(&self, at: f64) -> String {
        match (&self.input.timeline.clock, self.input.true_time) {
            (None, _) => format!("{at:.0}"),
            (Some(_), true) if at < 0.0 => String::new(),
            (Some(_), true) => format!("+{}", grouped(at as u64)),
            (Some(clock), false) => format!("+{}", grouped(clock.true_time(at).max(0.0) as u64)),
        }
    }

    pub(super) fn draw_lane(
        &self,
        painter: &Painter,
        area: Rect,
        place: usize,
        session: SessionId,
        bars: &mut Vec<Bar>,
    ) {
        let y = self.y(place);
        let lane = Rect::from_min_max(
            pos2(area.left(), y - self.view.lane / 2.0),
            pos2(area.right(), y + self.view.lane / 2.0),
        );
        let painter = painter.with_clip_rect(Rect::from_min_max(pos2(area.left(), self.plot.top()), area.max));
        if place % 2 == 1 {
            painter.rect_filled(lane, CornerRadius::ZERO, self.palette.panel.gamma_multiply(0.6));
        }
        let name = format!("session {}", self.input.history.session_and_node(session));
        let name = elide(&name, ((self.plot.left() - area.left() - 14.0) / (ADVANCE * style::SMALL)) as usize);
        let font = FontId::proportional(style::SMALL);
        let names = painter.with_clip_rect(Rect::from_min_max(
            pos2(area.left(), self.plot.top()),
            pos2(self.plot.left() - 4.0, area.bottom()),
        ));
        names.text(lane.left_center() + vec2(10.0, 0.0), Align2::LEFT_CENTER, name, font, self.palette.text);
        let inside = painter.with_clip_rect(self.plot);
        let grain = f64::from(GRAIN) / self.view.zoom;
        let end = self.view.left + f64::from(self.plot.width()) / self.view.zoom;
        self.input.axis().visible(session.index(), self.view.left, end, grain, |transaction, span, n| {
            let (from, to) = (self.x(span.from), self.x(span.to).max(self.x(span.from) + 2.0));
            let bar = Rect::from_min_max(pos2(from, y - BAR / 2.0), pos2(to, y + BAR / 2.0));
            self.draw_bar(&inside, bar, transaction, n);
            bars.push(Bar { area: bar, transaction, n });
        });
        // Those of the anomaly are never hidden among others.
        for (_, transaction) in self.view.rows.involved_of(session) {
            if let Some(bar) = self.bar_of(*transaction).filter(|bar| bar.intersects(self.plot)) {
                self.draw_bar(&inside, bar, *transaction, 1);
                bars.push(Bar { area: bar, transaction: *transaction, n: 1 });
            }
        }
    }

    fn draw_bar(&self, painter: &Painter, bar: Rect, transaction: TransactionId, n: usize) {
        let history = self.input.history;
        let palette = &self.palette;
        let own = self.view.rows.is_involved(history.session_of(transaction), transaction);
        let attended = self.attended.contains(&transaction);
        let outcome = history.outcome(transaction);
        let colour = match outcome {
            Outcome::Committed if own => palette.strong,
            Outcome::Committed => palette.weak,
            Outcome::Aborted => palette.bad,
            Outcome::Unknown => palette.caution,
        };
        if n > 1 {
            // Several in one spot: a block without outline.
            painter.rect_filled(bar.shrink2(vec2(0.0, 5.0)), CornerRadius::ZERO, palette.weak.gamma_multiply(0.45));
            return;
        }
        let pale = self.lit.any && !attended && own;
        let fade = |c: Color32| if pale { c.gamma_multiply(0.5) } else { c };
        let fill = if attended { palette.selected } else { palette.raised };
        let line = if attended { palette.accent } else { colour };
        let stroke = Stroke::new(if own || attended { 1.8 } else { 1.0 }, fade(line));
        painter.rect(bar, CornerRadius::same(4), fade(fill), stroke, StrokeKind::Inside);
        if bar.width() > 26.0 {
            let text = if own { palette.strong } else { palette.text };
            let name = history.transaction_name(transaction);
            let inside = painter.with_clip_rect(bar.shrink(2.0).intersect(painter.clip_rect()));
            let font = FontId::monospace(style::CODE - 1.0);
            let name = elide(&name, ((bar.width() - 8.0) / (ADVANCE * font.size)) as usize);
            inside.text(bar.left_center() + vec2(5.0, 0.0), Align2::LEFT_CENTER, name, font, fade(text));
        }
    }

    pub(super) fn name_bars(&self, ui: &Ui, bars: &[Bar]) {
        let single = || bars.iter().filter(|bar| bar.n == 1 && bar.area.intersects(self.plot));
        let is_own =
            |bar: &&Bar| self.view.rows.is_involved(self.input.history.session_of(bar.transaction), bar.transaction);
        // Those of the anomaly first, so that they always get a name.
        let others = single().filter(|bar| !is_own(bar)).take(NAMED);
        let mut named = BTreeSet::new();
        for bar in single().filter(is_own).chain(others).filter(|bar| named.insert(bar.transaction)) {
            let id = ui.id().with(("bar", bar.transaction.index()));
            let response = ui.interact(bar.area.intersect(self.plot), id, Sense::empty());
            let name = self.input.history.transaction_name(bar.transaction);
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, format!("Lane bar {name}")));
        }
    }

    pub(super) fn answer(&self, response: &Response, bars: &[Bar], edges: &[(usize, Pos2, Pos2)]) -> LanesAnswer {
        let mut answer = LanesAnswer::default();
        let Some(at) = response.hover_pos().filter(|at| self.plot.contains(*at)) else { return answer };
        let bar = bars.iter().rev().find(|bar| bar.area.contains(at));
        let edge = edges.iter().find(|(_, a, b)| distance_to_chord(at, *a, *b) <= REACH);
        answer.hovered = match (bar, edge) {
            (Some(bar), _) if bar.n == 1 => Some(self.input.document.attention_of(bar.transaction)),
            (None, Some((index, ..))) => Some(Attention::Edge(*index)),
            _ => None,
        };
        if let Some(bar) = bar {
            let bar_text = self.hover_text(bar);
            response.clone().on_hover_text_at_pointer(bar_text);
            answer.opened = (response.double_clicked() && bar.n == 1).then_some(bar.transaction);
        }
        if response.clicked() {
            answer.clicked = Some(answer.hovered);
        }
        answer
    }

    fn hover_text(&self, bar: &Bar) -> String {
        let history = self.input.history;
        if bar.n > 1 {
            return format!("{} transactions here: zoom in to see them", grouped(bar.n as u64));
        }
        const SHOWN: usize = 10;
        let t = bar.transaction;
        let outcome = match history.outcome(t) {
            Outcome::Committed => "committed",
            Outcome::Aborted => "aborted",
            Outcome::Unknown => "outcome unknown",
        };
        let mut text = format!("{}, {outcome}", history.transaction_name(t));
        let operations = history.operations_of(t);
        let n = operations.len();
        operations.take(SHOWN).for_each(|o| text.push_str(&format!("\n{}", history.operation_text(o))));
        if n > SHOWN {
            text.push_str(&format!("\n… {} more", grouped((n - SHOWN) as u64)));
        }
        if let Some(interval) = history.interval(t) {
            text.push_str(&format!("\nfrom {} to {}", interval.start, interval.end));
        }
        text
    }
}

/// The smallest number of the form 1, 2 or 5 times a power of ten that is at least `least`.
fn nice(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-12).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|n| *n >= least).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::nice;

    #[test]
    fn ticks_stand_at_round_numbers() {
        assert_eq!([0.7, 1.2, 3.0, 7.0, 110.0].map(nice), [1.0, 2.0, 5.0, 10.0, 200.0]);
    }
}
