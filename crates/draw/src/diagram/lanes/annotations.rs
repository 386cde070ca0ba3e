//! What the user marked, in the lanes: bands behind them, and flags on transactions.

use super::{ADVANCE, FONT, Lanes};
use crate::diagram::path::Path;
use crate::diagram::scene::{Align, Mark, Scene, Shape};
use crate::diagram::text_size::{elide, printable, width};
use crate::diagram::theme::Role;
use emath::{Pos2, Rect, pos2, vec2};

/// Height of the strip along a marked stretch.
const STRIP: f32 = 16.0;
/// Height of a flag.
const FLAG: f32 = 9.0;
/// Maximum number of columns of a text at a flag.
const COLUMNS: usize = 28;

impl Lanes<'_> {
    /// Bands from the beginning to the end of each marked stretch, with its text at the top.
    pub(super) fn draw_stretches(&self, scene: &mut Scene) {
        let history = self.shown.history;
        for annotation in self.shown.annotations {
            let extent =
                self.shown
                    .timeline
                    .extent(&annotation.place, history, self.shown.true_time);
            let Some(span) = extent.filter(|_| annotation.place.transaction(history).is_none())
            else {
                continue;
            };
            let (from, to) = (
                self.x(span.from).max(self.plot.left()),
                self.x(span.to).min(self.plot.right()),
            );
            let area = Rect::from_x_y_ranges(from..=to.max(from + 2.0), self.plot.y_range());
            if from >= self.plot.right() || to < self.plot.left() {
                continue;
            }
            // Only a strip is filled: whatever ran there stays as legible as elsewhere.
            let strip = Rect::from_min_max(area.min, pos2(area.right(), area.top() + STRIP));
            scene.rect(strip, 0.0, Role::Note, None);
            for x in [area.left(), area.right()] {
                scene.line(
                    Path::line(pos2(x, area.top()), pos2(x, area.bottom())),
                    Role::Next,
                    None,
                );
            }
            self.caption(
                scene,
                area.left_top() + vec2(4.0, 8.0),
                area.width() - 8.0,
                &annotation.text,
            );
            scene.name(area, format!("Mark: {}", annotation.text), None);
        }
    }

    /// A flag on each marked transaction, with its text above it.
    pub(super) fn draw_flags(&self, scene: &mut Scene) {
        for annotation in self.shown.annotations {
            let transaction = annotation.place.transaction(self.shown.history);
            let area = transaction
                .and_then(|t| self.area_of(t))
                .filter(|area| area.intersects(self.plot));
            let Some(area) = area else { continue };
            let foot = pos2(area.left().max(self.plot.left()), area.top());
            flag(scene, foot);
            let room = COLUMNS as f32 * ADVANCE * FONT;
            self.caption(
                scene,
                foot + vec2(FLAG + 3.0, -FLAG / 2.0 - 3.0),
                room,
                &annotation.text,
            );
        }
    }

    /// A text over what is behind it, as much as has room.
    fn caption(&self, scene: &mut Scene, at: Pos2, room: f32, text: &str) {
        let room = room.min(self.plot.right() - at.x - 4.0);
        let text = elide(
            &printable(text),
            (room / (ADVANCE * FONT)).max(0.0) as usize,
        );
        if !text.is_empty() {
            let ground =
                Rect::from_min_size(at - vec2(2.0, 6.0), vec2(width(&text, FONT) + 4.0, 12.0));
            scene.rect(ground, 2.0, Role::Note, None);
            scene.text((at, Align::Left), FONT, text, Role::NoteText, None);
        }
    }
}

/// A flag whose pole ends at `foot`.
fn flag(scene: &mut Scene, foot: Pos2) {
    let top = foot - vec2(0.0, FLAG + 3.0);
    scene.line(Path::line(top, foot), Role::Next, None);
    let cloth = [top + vec2(FLAG, FLAG / 2.0), top, top + vec2(0.0, FLAG)];
    scene
        .marks
        .push(Mark::new(Shape::Head(cloth), Role::NoteText, None));
}
