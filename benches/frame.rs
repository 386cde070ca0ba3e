//! What a frame costs, without a rasteriser: the code of the view and the tessellation of what it draws, on one thread.
//!
//! The graph is drawn while the pointer moves over it, so that nothing is repeated from the frame before; once fitted,
//! and once at its own size, where most of it is out of sight; then the same transactions over time. Prints the median and the slowest of many frames in
//! milliseconds of processor time, code and tessellation apart; arguments name other numbers of transactions.

use egui::{Event, Pos2, RawInput, Rect, pos2, vec2};
use isoscope::app::canvas::look::Look;
use isoscope::app::canvas::scene::{Drawn, DrawnAt};
use isoscope::app::canvas::sketch::Sketch;
use isoscope::app::canvas::{Canvas, Subject};
use isoscope::app::style;
use isoscope::diagram::layout::{lanes, sequence};
use isoscope::diagram::scene::scene;
use isoscope::diagram::{Arrow, Card, Diagram, Emphasis, Lane, Row, RowRole};
use isoscope::history::{OperationId, SessionId, TransactionId};
use isoscope::relations::Relation;
use std::sync::Arc;

/// How large what happened over time is drawn.
const ZOOM: f32 = 0.72;
/// Frames that are measured.
const FRAMES: usize = 60;

fn main() {
    println!(
        "{:>12} {:>8} {:>10}  {:>22}  {:>22}",
        "transactions", "edges", "view", "median ms", "slowest ms"
    );
    let asked: Vec<usize> = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    for n in if asked.is_empty() {
        vec![30, 200, 1000, 5000]
    } else {
        asked
    } {
        let sketch = sketch(n);
        let n_edges = sketch.diagram.arrows.len();
        for (view, own_size) in [("fitted", false), ("own size", true)] {
            let mut canvas = Canvas::default();
            measure((n, n_edges, view), |ui, frame, _| {
                if frame == 5 && own_size {
                    canvas.own_size();
                }
                let area = ui.available_rect_before_wrap();
                let _ = canvas.ui(ui, area, &sketch, Look::default(), Subject::Several);
            });
        }
        let columns = (0..n).map(|card| vec![card]).collect();
        let scene = scene(&sketch.diagram, &sequence(&sketch.diagram, columns));
        let middle = -scene.bounds.center().to_vec2() * ZOOM;
        measure((n, n_edges, "over time"), |ui, _, pointer| {
            let place = DrawnAt {
                origin: ui.max_rect().center() + middle,
                zoom: ZOOM,
                area: ui.max_rect(),
            };
            let drawn = Drawn {
                scene: &scene,
                place,
                look: &Look::default(),
            };
            drawn.paint(ui.painter());
            let _ = drawn.hit(pointer);
        });
    }
}

/// A graph in session columns, with about two edges for a transaction to others nearby.
fn sketch(n: usize) -> Arc<Sketch> {
    let mut random = fastrand::Rng::with_seed(n as u64);
    let n_lanes = (n / 6).clamp(2, 12);
    let lane = |s: usize| Lane {
        session: Some(SessionId::new(s)),
        title: format!("session {s}"),
    };
    let row = |card: usize, row: usize| Row {
        operation: OperationId::new(3 * card + row),
        text: format!("r(k{row}) = {card}"),
        value_at: 0,
        full: String::new(),
        place: format!("line {card}"),
        role: RowRole::Involved,
        proves: None,
    };
    let card = |card: usize| Card {
        transaction: TransactionId::new(card),
        lane: card % n_lanes,
        title: format!("T{card}"),
        status: "committed".to_owned(),
        rows: (0..3).map(|at| row(card, at)).collect(),
        folded: 22,
        others: Vec::new(),
    };
    let relations = [
        Relation::WriteRead,
        Relation::WriteWrite,
        Relation::AntiDependency,
        Relation::CommitOrder,
    ];
    let mut arrow = |edge: usize| {
        let from = random.usize(0..n - 1);
        let to = (from + random.usize(1..40)).min(n - 1);
        let relation = relations[random.usize(0..relations.len())];
        Arrow {
            edge,
            also: Vec::new(),
            numbers: Vec::new(),
            from,
            from_row: Some(random.usize(0..3)),
            to,
            to_row: Some(random.usize(0..3)),
            relation,
            label: format!("{} k{edge}", relation.code()),
            condition: None,
            is_decisive: false,
            emphasis: if edge.is_multiple_of(3) {
                Emphasis::Cycle
            } else {
                Emphasis::Evidence
            },
        }
    };
    let arrows = (0..2 * n).map(&mut arrow).collect();
    let diagram = Diagram {
        lanes: (0..n_lanes).map(lane).collect(),
        cards: (0..n).map(card).collect(),
        arrows,
    };
    let layout = lanes(&diagram);
    Arc::new(Sketch::new(diagram, layout))
}

fn measure(
    (n, n_edges, view): (usize, usize, &str),
    mut draw: impl FnMut(&mut egui::Ui, usize, Pos2),
) {
    let ctx = egui::Context::default();
    style::install(&ctx);
    let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(1280.0, 800.0));
    let mut times: Vec<(f64, f64)> = Vec::new();
    for frame in 0..FRAMES + 10 {
        let at = pos2(200.0 + frame as f32 * 7.0, 150.0 + frame as f32 * 5.0);
        let input = RawInput {
            screen_rect: Some(screen),
            time: Some(frame as f64 / 60.0),
            events: vec![Event::PointerMoved(at)],
            ..RawInput::default()
        };
        let start = cpu_milliseconds();
        let mut output = ctx.run_ui(input, |ui| draw(ui, frame, at));
        let code = cpu_milliseconds() - start;
        let start = cpu_milliseconds();
        let shapes = std::mem::take(&mut output.shapes);
        let primitives = ctx.tessellate(shapes, output.pixels_per_point);
        let tessellation = cpu_milliseconds() - start;
        assert!(!primitives.is_empty(), "something is drawn");
        output.drop_without_applying_deltas();
        if frame >= 10 {
            times.push((code, tessellation));
        }
    }
    times.sort_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
    let text = |(code, tessellation): (f64, f64)| {
        format!("{code:.2} + {tessellation:.2} = {:.2}", code + tessellation)
    };
    let (median, slowest) = (text(times[times.len() / 2]), text(times[times.len() - 1]));
    println!("{n:>12} {n_edges:>8} {view:>10}  {median:>22}  {slowest:>22}");
}

/// Processor time of this thread, milliseconds: what other programs do does not count.
#[cfg(unix)]
fn cpu_milliseconds() -> f64 {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("the system tells how much time was used");
    time.tv_sec() as f64 * 1e3 + time.tv_nsec() as f64 / 1e6
}

/// Wall time, milliseconds, where processor time is not told.
#[cfg(not(unix))]
fn cpu_milliseconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_secs_f64()
        * 1e3
}
