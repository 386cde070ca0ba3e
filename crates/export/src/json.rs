//! JSON: diagram, coordinates and steps, for programs that draw or read them.

use super::{ExportError, Picture};
use emath::{Pos2, Rect};
use isoscope_check::checkers::{CountedOrder, Level};
use isoscope_draw::diagram::{Emphasis, RowRole};
use isoscope_tell::counterexample::Orders;
use serde_json::{Value, json};

/// The picture as data, schema `isoscope.picture/1`. Coordinates are units at zoom 1, y downwards; rectangles are
/// `[left, top, width, height]`, lines are lists of points.
pub(super) fn export(picture: &Picture) -> Result<Vec<u8>, ExportError> {
    let (diagram, layout) = (&picture.diagram, &picture.layout);
    let lanes = diagram
        .lanes
        .iter()
        .enumerate()
        .map(|(lane, content)| json!({"title": content.title, "rect": layout.lanes.get(lane).map(|r| rect(*r))}));
    let cards = diagram.cards.iter().zip(&layout.cards).map(|(card, space)| {
        let rows = card.rows.iter().zip(&space.rows).map(|(row, space)| {
            let involved = row.role == RowRole::Involved;
            json!({"text": row.text, "place": row.place, "involved": involved, "rect": rect(*space)})
        });
        json!({
            "title": card.title, "status": card.status, "lane": card.lane, "folded": card.folded,
            "rect": rect(space.rect), "rows": rows.collect::<Vec<_>>(),
        })
    });
    let arrows = diagram.arrows.iter().zip(&layout.routes).map(|(arrow, route)| {
        json!({
            "edge": arrow.edge, "also": arrow.also, "number": arrow.numbers.first(), "numbers": arrow.numbers, "kind": arrow.relation.code(), "label": arrow.text(),
            "from": arrow.from, "from_row": arrow.from_row, "to": arrow.to, "to_row": arrow.to_row,
            "cycle": arrow.emphasis == Emphasis::Cycle, "rejected": arrow.emphasis == Emphasis::Rejected,
            "line": route.path.flatten(6).into_iter().map(point).collect::<Vec<_>>(),
            "label_rect": rect(route.label),
        })
    });
    let steps = picture
        .steps
        .iter()
        .map(|s| json!({"lead": s.heading, "number": s.number, "text": s.text, "edges": s.edges}));
    let mut document = json!({
        "schema": "isoscope.picture/1",
        "title": picture.title,
        "subtitle": picture.subtitle,
        "verdicts": picture.verdicts,
        "facts": picture.facts,
        "details": picture.details,
        "bounds": rect(layout.bounds),
        "lanes": lanes.collect::<Vec<_>>(),
        "cards": cards.collect::<Vec<_>>(),
        "arrows": arrows.collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
        "conclusion": picture.conclusion,
        "footer": picture.footer,
    });
    if let Some(orders) = orders(picture) {
        document["orders"] = orders;
    }
    let mut bytes = serde_json::to_vec_pretty(&document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The weakest levels broken and all that hold, on every order; and the order that makes the difference, if one does, with
/// the edges without any one of which the level holds. None if that is not known.
fn orders(picture: &Picture) -> Option<Value> {
    let Orders {
        held,
        broken,
        difference,
        ..
    } = &picture.orders;
    broken.weakest()?;
    let codes =
        |levels: &mut dyn Iterator<Item = Level>| levels.map(Level::code).collect::<Vec<_>>();
    let difference = difference.as_ref().map(|difference| {
        let order = match difference.order {
            CountedOrder::Plain => "nothing",
            CountedOrder::Session => "sessions",
            CountedOrder::RealTime => "real-time",
            CountedOrder::KeyRealTime => "real-time-per-key",
            CountedOrder::CommitRealTime => "real-time-of-commits",
        };
        let without = codes(&mut difference.without.iter().copied());
        json!({"level": difference.level.code(), "order": order, "without": without, "edges": picture.decisive})
    });
    Some(json!({
        "weakest_broken": codes(&mut picture.orders.weakest_broken().into_iter()),
        "satisfied": codes(&mut held.iter()),
        "difference": difference,
    }))
}

fn number(value: f32) -> Value {
    json!((f64::from(value) * 100.0).round() / 100.0)
}

fn point(p: Pos2) -> Value {
    json!([number(p.x), number(p.y)])
}

fn rect(r: Rect) -> Value {
    json!([
        number(r.left()),
        number(r.top()),
        number(r.width()),
        number(r.height())
    ])
}
