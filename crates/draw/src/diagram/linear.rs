//! Operations on one key as bars over time, the order in which they may have taken effect as points on them, and
//! those that cannot come next.
//!
//! Moments are as far apart as the bars need, so that idle time takes no room.

use super::path::Path;
use super::scene::{Align, Scene};
use super::text_size::width;
use super::theme::Role;
use super::{Emphasis, Target};
use emath::{Pos2, Rect, pos2, vec2};
use isoscope_model::history::{Outcome, TransactionId};

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The transaction.
    pub transaction: TransactionId,
    /// Its session, as a place among the rows.
    pub row: usize,
    /// When it began, and when it ended; none where it may have taken effect at any later time, or never.
    pub ran: (i64, Option<i64>),
    /// `S1#2 w 1`, `S3#1 r 4`.
    pub text: String,
    /// Its place in the order, from 1, and the value of the key after it; none where it is not in the order.
    pub taken: Option<(usize, String)>,
    /// That its read should have returned something else, where it would have to come next.
    pub expected: Option<String>,
}

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub struct Linear {
    /// The names of the sessions, from above.
    pub rows: Vec<String>,
    /// The calls.
    pub calls: Vec<Call>,
    /// What is to be known of earlier ones.
    pub before: Option<String>,
}

const FONT: f32 = 13.0;
const SMALL: f32 = 12.5;
const BAR: f32 = 26.0;
/// Height of a row: a bar, its number above it and what it should have returned below it.
const ROW: f32 = 66.0;
/// Least distance of two moments.
const APART: f32 = 14.0;
/// Distance of two points of the order.
const STEP: f32 = 26.0;
/// Radius of a point of the order.
const DOT: f32 = 4.5;

/// The scene. O(calls²).
pub fn scene(linear: &Linear) -> Scene {
    let left = linear
        .rows
        .iter()
        .map(|name| width(name, SMALL))
        .fold(0.0, f32::max)
        + 24.0;
    let places = Places::new(linear, left);
    let above = if linear.before.is_some() { 24.0 } else { 0.0 };
    let (right, bottom) = (places.right + 24.0, linear.rows.len() as f32 * ROW + 8.0);
    let all = Rect::from_min_max(pos2(0.0, -above), pos2(right, bottom));
    let mut scene = Scene::new(all);
    if let Some(before) = &linear.before {
        let at = (pos2(8.0, 10.0 - above), Align::Left);
        scene.text(at, SMALL, before.clone(), Role::Legend, None);
    }
    for (row, name) in linear.rows.iter().enumerate() {
        let y = top_of(row) + BAR / 2.0;
        let text = (pos2(8.0, y), Align::Left);
        scene.text(text, SMALL, name.clone(), Role::LaneTitle, None);
        let line = Path::line(pos2(left, y), pos2(right - 8.0, y));
        scene.line(line, Role::Rule, None);
    }
    let mut points: Vec<(usize, Pos2, &str)> = Vec::new();
    for (place, call) in linear.calls.iter().enumerate() {
        if let Some((number, after)) = &call.taken {
            let at = pos2(places.points[place], top_of(call.row));
            points.push((*number, at, after));
        }
    }
    points.sort_by_key(|(number, ..)| *number);
    for pair in points.windows(2) {
        scene.line(Path::line(pair[0].1, pair[1].1), Role::Next, None);
    }
    // Over the line, which would strike their texts out.
    for (place, call) in linear.calls.iter().enumerate() {
        draw_call(&mut scene, call, places.bar(linear, place));
    }
    for (_, at, after) in points {
        let point = Rect::from_center_size(at, vec2(2.0 * DOT, 2.0 * DOT));
        scene.rect(point, DOT, Role::Number(None), None);
        let text = (at + vec2(DOT + 4.0, -9.0), Align::Left);
        let plate = Rect::from_min_size(
            text.0 - vec2(2.0, SMALL / 2.0),
            vec2(width(after, SMALL) + 4.0, SMALL),
        );
        scene.rect(plate, 0.0, Role::Page, None);
        scene.text(text, SMALL, after.to_owned(), Role::Legend, None);
    }
    scene
}

/// The upper side of the bars of a row.
fn top_of(row: usize) -> f32 {
    row as f32 * ROW + 24.0
}

fn draw_call(scene: &mut Scene, call: &Call, bar: Rect) {
    let target = Some(Target::Transaction(call.transaction));
    let (outcome, emphasis) = match (&call.expected, &call.taken) {
        (Some(_), _) => (Outcome::Aborted, Emphasis::Cycle),
        (None, Some(_)) => (Outcome::Committed, Emphasis::Cycle),
        (None, None) => (Outcome::Committed, Emphasis::Evidence),
    };
    // Red is left to what cannot come next.
    let is_open = call.ran.1.is_none() && call.expected.is_none();
    if is_open {
        scene.rect(bar, 4.0, Role::Page, target);
    }
    let role = match is_open {
        true => Role::Guess,
        false => Role::Bar(outcome, emphasis),
    };
    scene.rect(bar, 4.0, role, target);
    let at = (bar.center(), Align::Center);
    scene.text(at, FONT, call.text.clone(), Role::RowText, target);
    if let Some(expected) = &call.expected {
        let at = (pos2(bar.left(), bar.bottom() + 10.0), Align::Left);
        scene.text(at, SMALL, expected.clone(), Role::FaultText, target);
    }
    let order = call
        .taken
        .as_ref()
        .map_or_else(String::new, |(number, after)| {
            format!(", number {number} of the order, after it {after}")
        });
    scene.name(bar, format!("{}{order}", call.text), target);
}

/// Where moments and points are.
struct Places {
    /// Every begin and end, ascending, with its x.
    moments: Vec<(i64, f32)>,
    /// By call: the x of its point in the order.
    points: Vec<f32>,
    right: f32,
}

impl Places {
    fn new(linear: &Linear, left: f32) -> Places {
        let mut times: Vec<i64> = linear
            .calls
            .iter()
            .flat_map(|call| [Some(call.ran.0), call.ran.1])
            .flatten()
            .collect();
        times.sort_unstable();
        times.dedup();
        let mut places = Places {
            moments: times.into_iter().map(|time| (time, left)).collect(),
            points: vec![left; linear.calls.len()],
            right: left,
        };
        // Bars want room for their texts, points for their numbers: each pass moves moments to the right.
        for _ in 0..=linear.calls.len() {
            if !places.spread(linear, left) {
                break;
            }
        }
        let ends = (0..linear.calls.len()).map(|place| places.bar(linear, place).right());
        places.right = ends.fold(left, f32::max);
        let expected = linear.calls.iter().enumerate().filter_map(|(place, call)| {
            let text = call.expected.as_ref()?;
            Some(places.bar(linear, place).left() + width(text, SMALL))
        });
        places.right = expected.fold(places.right, f32::max);
        places
    }

    /// Moves moments and points to the right where there is too little room. Whether any was moved.
    fn spread(&mut self, linear: &Linear, left: f32) -> bool {
        let before = (self.moments.clone(), self.points.clone());
        let mut x = left;
        for place in 0..self.moments.len() {
            let time = self.moments[place].0;
            let ends_here = linear.calls.iter().filter(|call| call.ran.1 == Some(time));
            let needed = ends_here.map(|call| self.at(call.ran.0) + needed(call));
            let points = linear.calls.iter().zip(&self.points);
            let points =
                points.filter(|(call, _)| call.ran.1 == Some(time) && call.taken.is_some());
            let last = points.map(|(_, point)| point + DOT);
            let least = needed.chain(last).fold(x, f32::max);
            self.moments[place].1 = least.max(self.moments[place].1);
            x = self.moments[place].1 + APART;
        }
        let mut order: Vec<(usize, usize)> = linear
            .calls
            .iter()
            .enumerate()
            .filter_map(|(place, call)| Some((call.taken.as_ref()?.0, place)))
            .collect();
        order.sort_unstable();
        let mut x = left;
        for (_, place) in order {
            let call = &linear.calls[place];
            self.points[place] = (self.at(call.ran.0) + 2.0 * DOT)
                .max(x)
                .max(self.points[place]);
            let after = call
                .taken
                .as_ref()
                .map_or(0.0, |(_, after)| width(after, SMALL));
            x = self.points[place] + STEP.max(2.0 * DOT + after + 12.0);
        }
        before != (self.moments.clone(), self.points.clone())
    }

    /// Where a moment is.
    fn at(&self, time: i64) -> f32 {
        let place = self.moments.partition_point(|(known, _)| *known < time);
        self.moments.get(place).map_or(0.0, |(_, x)| *x)
    }

    fn bar(&self, linear: &Linear, place: usize) -> Rect {
        let call = &linear.calls[place];
        let from = self.at(call.ran.0);
        let last = self.moments.last().map_or(from, |(_, x)| *x);
        let to = match call.ran.1 {
            Some(end) => self.at(end),
            None => (last + APART).max(from + needed(call)),
        };
        Rect::from_min_max(
            pos2(from, top_of(call.row)),
            pos2(to, top_of(call.row) + BAR),
        )
    }
}

/// Width of a call's text in its bar.
fn needed(call: &Call) -> f32 {
    width(&call.text, FONT) + 16.0
}
