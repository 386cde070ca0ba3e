//! The transactions of an anomaly as boxes with their operations: a row for each session, time to the right.
//!
//! Moments are columns of equal importance, so that idle time takes no room; the axis says when each of them began, or
//! its place in the order if the file has no times. Transactions that ran at the same time share a column; a line to the
//! right of one shows until when it ran if it outlasted another one of its column.

use super::faults::{self, Lasting};
use super::layout::{Layout, sequence};
use super::path::Path;
use super::scene::{Align, Scene};
use super::text_size::{elide, width};
use super::theme::Role;
use super::timeline::{Clock, Span, Timeline};
use super::{Arrow, Card, Diagram, Lane, Row};
use emath::{Pos2, Rect, pos2, vec2};
use isoscope_model::control::Control;
use isoscope_model::history::{FaultSpan, History, Origin};
use isoscope_model::relations;

/// Height of the axis.
const AXIS: f32 = 32.0;
/// Font size of what it says.
const FONT: f32 = 12.5;
/// Maximum columns of a row's title.
const TITLE_COLUMNS: usize = 16;
/// What happened between two columns is this far from them.
const APART: f32 = 20.0;
/// How far below the top of a card the line is that shows how long it ran.
const TAIL: f32 = 9.0;
/// Maximum number of faults.
const FAULTS: usize = 1000;

/// A column: what is in it and when it began.
struct Moment {
    cards: Vec<usize>,
    from: f64,
    /// The first end of what is in it.
    ended: f64,
}

/// The scene of a diagram of `history`, the part of `whole` that contains only the anomaly. O(edges² + operations) in the
/// worst case.
pub fn scene(diagram: &Diagram, history: &History, whole: &History) -> Scene {
    let mut diagram = brief(diagram);
    let control = Control::new();
    let resolution = relations::resolve(history, &control).ok();
    let timeline = Timeline::new(history, resolution.as_ref(), &control).ok();
    let clock = timeline.as_ref().and_then(|time| time.clock.as_ref());
    let axis = clock
        .map(|clock| &clock.real)
        .or(timeline.as_ref().map(|time| &time.steps));
    let spans: Vec<Span> = diagram
        .cards
        .iter()
        .map(|card| {
            axis.and_then(|axis| axis.span(card.transaction))
                .unwrap_or_default()
        })
        .collect();
    let moments = moments(&diagram, |card| spans[card]);
    by_beginning(&mut diagram, &moments);
    let layout = sequence(
        &diagram,
        moments.iter().map(|moment| moment.cards.clone()).collect(),
    );
    let mut scene = Scene::new(Rect::from_min_size(
        Pos2::ZERO,
        layout.bounds.size() + vec2(0.0, AXIS),
    ));
    scene.append(
        &super::scene::scene(&diagram, &layout),
        1.0,
        vec2(0.0, AXIS),
    );
    for (card, space) in diagram.cards.iter().zip(&layout.cards) {
        let area = space.rect.translate(vec2(0.0, AXIS));
        scene.name(area, format!("Lane bar {}", card.title), None);
    }
    if let Some(clock) = clock {
        let places = Places::new(whole, clock, (&moments, &spans), &layout);
        draw_tails(&mut scene, &places, &spans, |end| {
            whole.origin().time(clock.time(end, true))
        });
        draw_faults(&mut scene, whole, clock, &places);
    }
    // Columns are equally wide, whatever time they took and is between them and after them.
    let goes_on = moments
        .first()
        .is_some_and(|moment| spans.iter().any(|span| span.to > moment.ended));
    let has_gaps =
        clock.is_some() && (moments.len() > 1 || goes_on || !whole.cluster().faults().is_empty());
    draw_axis(
        &mut scene,
        (&moments, &layout),
        clock.map(|clock| (clock, whole.origin())),
        has_gaps,
    );
    scene
}

/// The diagram without the initial state, which reads name anyway, and without what the graph says of a card: that it
/// committed, its other operations, and lines of the file.
fn brief(diagram: &Diagram) -> Diagram {
    let n_initial = diagram
        .cards
        .iter()
        .filter(|card| card.transaction.is_initial())
        .count();
    // The initial state is the first card of the first lane.
    let card = |card: &Card| {
        let status = if card.status == "committed" {
            String::new()
        } else {
            card.status.clone()
        };
        let folded = if card.rows.is_empty() { card.folded } else { 0 };
        let rows = card
            .rows
            .iter()
            .map(|row| Row {
                place: String::new(),
                ..row.clone()
            })
            .collect();
        Card {
            lane: card.lane - n_initial,
            status,
            folded,
            rows,
            ..card.clone()
        }
    };
    let lane = |lane: &Lane| Lane {
        title: elide(&lane.title, TITLE_COLUMNS),
        ..lane.clone()
    };
    let arrow = |arrow: &Arrow| {
        let (from, to) = (
            arrow.from.checked_sub(n_initial)?,
            arrow.to.checked_sub(n_initial)?,
        );
        // An operation at one of its ends names the key.
        let names_key = arrow.from_row.or(arrow.to_row).is_some();
        let label = if names_key {
            arrow.relation.code().to_owned()
        } else {
            arrow.label.clone()
        };
        Some(Arrow {
            from,
            to,
            label,
            ..arrow.clone()
        })
    };
    Diagram {
        lanes: diagram.lanes.iter().skip(n_initial).map(lane).collect(),
        cards: diagram.cards.iter().skip(n_initial).map(card).collect(),
        arrows: diagram.arrows.iter().filter_map(arrow).collect(),
    }
}

/// Puts the rows into the order in which their sessions begin.
fn by_beginning(diagram: &mut Diagram, moments: &[Moment]) {
    let mut order: Vec<usize> = Vec::new();
    for card in moments.iter().flat_map(|moment| &moment.cards) {
        let lane = diagram.cards[*card].lane;
        if !order.contains(&lane) {
            order.push(lane);
        }
    }
    diagram.lanes = order
        .iter()
        .map(|lane| diagram.lanes[*lane].clone())
        .collect();
    for card in &mut diagram.cards {
        card.lane = order
            .iter()
            .position(|lane| *lane == card.lane)
            .unwrap_or(0);
    }
}

/// The columns, by when what is in them began.
fn moments(diagram: &Diagram, span: impl Fn(usize) -> Span) -> Vec<Moment> {
    let mut spans: Vec<(Span, usize)> = (0..diagram.cards.len())
        .map(|card| (span(card), card))
        .collect();
    spans.sort_by(|(a, i), (b, j)| {
        a.from
            .total_cmp(&b.from)
            .then(a.to.total_cmp(&b.to))
            .then(i.cmp(j))
    });
    let mut moments: Vec<Moment> = Vec::new();
    for (span, card) in spans {
        let lane = diagram.cards[card].lane;
        let is_free = |moment: &Moment| {
            moment
                .cards
                .iter()
                .all(|other| diagram.cards[*other].lane != lane)
        };
        match moments
            .last_mut()
            .filter(|moment| span.from < moment.ended && is_free(moment))
        {
            Some(moment) => {
                moment.cards.push(card);
                moment.ended = moment.ended.min(span.to);
            }
            None => moments.push(Moment {
                cards: vec![card],
                from: span.from,
                ended: span.to,
            }),
        }
    }
    moments
}

/// Left and right side of a column.
fn sides(moment: &Moment, layout: &Layout) -> (f32, f32) {
    let areas = moment.cards.iter().map(|card| layout.cards[*card].rect);
    let area = areas.fold(Rect::NOTHING, Rect::union);
    (area.left(), area.right())
}

/// What the columns are: times of the file, or places in the order.
fn draw_axis(
    scene: &mut Scene,
    (moments, layout): (&[Moment], &Layout),
    times: Option<(&Clock, &Origin)>,
    has_gaps: bool,
) {
    let title = match times.map(|(_, origin)| origin.seconds_per_tick()) {
        None => "order",
        Some(None) if times.is_some_and(|(_, origin)| origin.times_are_events) => "events",
        Some(None) => "time (ticks)",
        Some(Some(_)) => "time",
    };
    let y = AXIS / 2.0;
    let at = if has_gaps { y - 7.0 } else { y };
    scene.text(
        (pos2(14.0, at), Align::Left),
        FONT,
        title.to_owned(),
        Role::Legend,
        None,
    );
    let mut title_end = 14.0 + width(title, FONT);
    if has_gaps {
        let text = "gaps compressed";
        title_end = title_end.max(14.0 + width(text, FONT));
        scene.text(
            (pos2(14.0, y + 7.0), Align::Left),
            FONT,
            text.to_owned(),
            Role::Legend,
            None,
        );
    }
    for (n, moment) in moments.iter().enumerate() {
        let (left, right) = sides(moment, layout);
        let time = |(clock, origin): (&Clock, &Origin)| origin.time(clock.time(moment.from, true));
        let text = times.map_or_else(|| (n + 1).to_string(), time);
        scene.text(
            (pos2(left.max(title_end + TAIL), y), Align::Left),
            FONT,
            text,
            Role::Legend,
            None,
        );
        scene.line(
            Path::line(pos2(left, AXIS - 4.0), pos2(right, AXIS - 4.0)),
            Role::Rule,
            None,
        );
    }
}

/// Where moments between and within columns are.
struct Places<'a> {
    moments: &'a [Moment],
    layout: &'a Layout,
    /// What happens between two columns: when faults begin and end, and transactions end, ascending.
    events: Vec<f64>,
    /// When the faults began that lasted until the first column, ascending.
    before: Vec<f64>,
}

impl<'a> Places<'a> {
    fn new(
        whole: &History,
        clock: &Clock,
        (moments, spans): (&'a [Moment], &[Span]),
        layout: &'a Layout,
    ) -> Places<'a> {
        let faults = whole.cluster().faults();
        let first = moments.first().map_or(0.0, |moment| moment.from);
        let place = |time: i64| clock.place(time, true);
        let lasting = faults
            .iter()
            .filter(|fault| fault.end.is_none_or(|end| place(end) > first));
        let mut before: Vec<f64> = lasting
            .map(|fault| place(fault.start))
            .filter(|start| *start < first)
            .collect();
        before.sort_by(f64::total_cmp);
        before.dedup();
        let faults = faults
            .iter()
            .flat_map(|fault| [Some(fault.start), fault.end])
            .flatten();
        let ended = spans.iter().map(|span| span.to);
        let mut events: Vec<f64> = faults
            .map(|time| clock.place(time, true))
            .chain(ended)
            .collect();
        events.retain(|event| *event <= clock.real.length);
        events.sort_by(f64::total_cmp);
        events.dedup();
        Places {
            moments,
            layout,
            events,
            before,
        }
    }

    fn sides(&self, moment: &Moment) -> (f32, f32) {
        sides(moment, self.layout)
    }

    fn x(&self, since: f64) -> f32 {
        let Some(at) = self.moments.iter().rposition(|moment| moment.from <= since) else {
            let share = self.before.partition_point(|event| *event < since) as f32
                / self.before.len().max(1) as f32;
            return self
                .moments
                .first()
                .map_or(0.0, |moment| self.sides(moment).0 - APART * (1.0 - share));
        };
        let (moment, next) = (&self.moments[at], self.moments.get(at + 1));
        let (left, right) = self.sides(moment);
        if since <= moment.ended {
            // Within a column as far to the right as its first end is away.
            return left
                + (right - left)
                    * ((since - moment.from) / (moment.ended - moment.from).max(1e-9)) as f32;
        }
        // What happened until the next one is equally far from each other.
        let until = next.map_or(f64::INFINITY, |next| next.from);
        let after = |time: f64| self.events.partition_point(|event| *event <= time);
        let between =
            &self.events[after(moment.ended)..self.events.partition_point(|event| *event < until)];
        let share = (between.partition_point(|event| *event < since) + 1) as f32
            / (between.len() + 1) as f32;
        let end = next.map_or(self.layout.bounds.right(), |next| self.sides(next).0);
        right + (end - right) * share
    }
}

/// A line from each card that outlasted its column to where it ended, with the `time` of that where there is room.
fn draw_tails(
    scene: &mut Scene,
    places: &Places<'_>,
    spans: &[Span],
    time: impl Fn(f64) -> String,
) {
    for moment in places.moments {
        for &card in moment
            .cards
            .iter()
            .filter(|card| spans[**card].to > moment.ended)
        {
            let area = places.layout.cards[card].rect.translate(vec2(0.0, AXIS));
            let (y, end) = (area.top() + TAIL, places.x(spans[card].to));
            if end > area.right() {
                scene.line(
                    Path::line(pos2(area.right(), y), pos2(end, y)),
                    Role::Tail,
                    None,
                );
                scene.line(
                    Path::line(pos2(end, y - TAIL / 2.0), pos2(end, y + TAIL / 2.0)),
                    Role::Tail,
                    None,
                );
                let text = format!("to {}", time(spans[card].to));
                if width(&text, FONT) + 2.0 * TAIL < end - area.right() {
                    scene.text(
                        (pos2(end - TAIL, y - TAIL), Align::Right),
                        FONT,
                        text,
                        Role::Legend,
                        None,
                    );
                }
            }
        }
    }
}

/// The faults of a cluster from column to column.
fn draw_faults(scene: &mut Scene, whole: &History, clock: &Clock, places: &Places<'_>) {
    let (all, layout) = (whole.cluster().faults(), places.layout);
    let since = |time: i64| clock.place(time, true);
    let last = clock.real.length;
    let x = |time: i64| places.x(since(time));
    let area = Rect::from_min_max(
        layout.bounds.min + vec2(0.0, AXIS),
        layout.bounds.max + vec2(0.0, AXIS),
    );
    let first = places.moments.first().map_or(0.0, |moment| moment.from);
    let is_seen = |fault: &&FaultSpan| {
        since(fault.start) <= last && fault.end.is_none_or(|end| since(end) > first)
    };
    let begun = all.iter().filter(is_seen).take(FAULTS);
    let time = |time: i64| whole.origin().time(time);
    let lasting = begun.map(|fault| {
        let end = fault
            .end
            .filter(|end| since(*end) <= last)
            .map_or(area.right(), x);
        let until = fault.end.map_or_else(|| "the end".to_owned(), time);
        Lasting::new(fault, x(fault.start), end).at(format!("{} to {until}", time(fault.start)))
    });
    let lasting: Vec<Lasting> = lasting.filter(|fault| fault.to > fault.from).collect();
    let mut drawn = Scene::new(area);
    faults::draw_bands(&mut drawn, &lasting, area);
    scene.bounds.max.y = area.bottom() + faults::draw_bars(&mut drawn, &lasting, area, FONT);
    // Above the rows, below what is in them.
    let rows = 2 * layout.lanes.len();
    scene.marks.splice(rows..rows, drawn.marks);
    scene.names.append(&mut drawn.names);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_at_the_same_time_shares_a_column() {
        let history = isoscope_formats::text::parse(
            "a: [w x 1]@0..10 [w x 2]@30..40\nb: [r x 1]@5..8 [r x 2]@9..50\n",
        )
        .expect("a history in our notation");
        let all: Vec<_> = history.transactions().collect();
        let diagram = super::super::diagram(&super::super::Subject {
            history: &history,
            transactions: &all,
            edges: &[],
            cycle: &[],
            operations: &[],
            shown: &|_| true,
            all_operations: true,
            n_operations: &super::super::operations_in(&history),
        });
        let interval = |card: usize| history.interval(diagram.cards[card].transaction);
        let span = |card: usize| {
            interval(card).map_or(Span::default(), |i| Span {
                from: i.start as f64,
                to: i.end as f64,
            })
        };
        let columns: Vec<Vec<usize>> = moments(&diagram, span)
            .into_iter()
            .map(|moment| moment.cards)
            .collect();
        assert_eq!(columns, [vec![0, 2], vec![3, 1]]);
        let drawn = scene(&diagram, &history, &history);
        // Both columns have a transaction that outlasts the other one.
        let n_tails = drawn
            .marks
            .iter()
            .filter(|mark| mark.role == Role::Tail)
            .count();
        assert_eq!(n_tails, 4, "two lines with an end");
        let texts: Vec<String> = drawn
            .marks
            .into_iter()
            .filter_map(|mark| match mark.shape {
                super::super::scene::Shape::Text { text, .. } => Some(text),
                _ => None,
            })
            .collect();
        assert!(
            ["time (ticks)", "0", "9", "w(x) = 2"]
                .iter()
                .all(|text| texts.contains(&(*text).to_owned())),
            "{texts:?}"
        );
    }
}
