//! Pictures: every layout keeps its promises, every export is well formed, and the same input gives the same bytes.
//!
//! With `ISOSCOPE_PICTURES` set to a folder, the pictures of these tests are written there to be looked at.

use crate::common;

use isoscope::checkers::{
    self, Level, LevelSet, Pattern, Proof, Question, Supposed, Verdict, Violation, ViolationId,
    Witness,
};
use isoscope::control::Control;
use isoscope::counterexample::{self, Counterexample, Minimality, Shows, explain};
use isoscope::diagram::layout::{self, LayoutStyle, Problem, lanes, lanes_moved, problems};
use isoscope::diagram::scene::{Mark, Shape, scene};
use isoscope::diagram::theme::Role;
use isoscope::diagram::{Arrow, Card, Condition, Diagram, Emphasis, Lane, Row, RowRole, Target};
use isoscope::export::{
    ComposeOptions, EXPORTERS, Evidence, ExportKind, Picture, View, compose, export, keys_of, page,
    sha256,
};
use isoscope::formats::{self, text};
use isoscope::history::{History, KeyId, OperationId, SessionId, TransactionId, TransactionSet};
use isoscope::relations::{Axiom, Edge, EdgeIndex, Reason, Relation};
use resvg::usvg;

/// A transaction by its name, `⊥` for the initial one.
fn transaction(history: &History, name: &str) -> TransactionId {
    if name == "⊥" {
        return TransactionId::INITIAL;
    }
    history
        .transactions()
        .find(|&t| history.transaction_name(t) == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// The operation of a transaction with this text.
fn operation(history: &History, t: TransactionId, text: &str) -> OperationId {
    history
        .operations_of(t)
        .find(|&o| history.operation_text(o) == text)
        .unwrap_or_else(|| panic!("no {text}"))
}

/// `T1 WR T2 w(x) = 1 > r(x) = 1`: an edge with its operations; `-` where it has none.
fn edge(history: &History, text: &str, because: Reason) -> Edge {
    let mut words = text.splitn(4, ' ');
    let mut word = || words.next().expect("four words");
    let (from, code, to, operations) = (word(), word(), word(), word());
    let relation = Relation::ALL
        .into_iter()
        .find(|r| r.code() == code)
        .expect("a relation");
    let (from, to) = (transaction(history, from), transaction(history, to));
    let (a, b) = operations.split_once(" > ").expect("two operations");
    let find = |t: TransactionId, text: &str| (text != "-").then(|| operation(history, t, text));
    let (from_operation, to_operation) = (find(from, a), find(to, b));
    let key = from_operation
        .or(to_operation)
        .map(|o| history.operation(o).key);
    Edge {
        from,
        to,
        relation,
        key,
        from_operation,
        to_operation,
        because,
    }
}

fn example(
    history: History,
    pattern: Pattern,
    edges: Vec<Edge>,
    proof: Proof,
    broken: &[Level],
) -> Counterexample {
    let (history, renaming) = history.restrict(&TransactionSet::full(&history), |_| true);
    let mut transactions: Vec<TransactionId> =
        edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    transactions.sort();
    transactions.dedup();
    let verdict = |level: Level| {
        if broken.contains(&level) {
            (level, Verdict::Violated)
        } else {
            (level, Verdict::Satisfied(Witness::Reads))
        }
    };
    let key = edges.iter().find_map(|edge| edge.key);
    Counterexample {
        shows: Shows::Chosen,
        n_transactions_of_whole: history.n_transactions(),
        level: *broken.first().expect("something is broken"),
        violation: Violation {
            id: ViolationId {
                pattern,
                ordinal: 1,
            },
            also: Vec::new(),
            levels: LevelSet::upward(broken[0]),
            key,
            transactions,
            operations: Vec::new(),
            edges,
            proof,
            implied: false,
            group: 1,
            place: None,
        },
        verdicts: Level::WITHOUT_TIMES.into_iter().map(verdict).collect(),
        minimality: Minimality::Irreducible,
        operation_minimality: Minimality::Irreducible,
        history,
        renaming,
    }
}

const ABOVE_RC: [Level; 5] = [
    Level::ReadAtomic,
    Level::TransactionalCausalConsistency,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

/// The fractured read of a real history: three transactions, two sessions.
fn fractured_read() -> Counterexample {
    let history =
        text::parse("2: T295 [w 4 3285, w 7 1, w 8 2] T297 [w 4 3335, w 0 3328]\n3: T393 [r 0 3328, r 4 3285, w 9 1]")
            .expect("the notation is right");
    let visible = Reason::Visible {
        axiom: Axiom::ReadAtomic,
        reader: transaction(&history, "T393"),
        read: operation(&history, transaction(&history, "T393"), "r(4) = 3285"),
        seen: vec![1],
    };
    let edges = vec![
        edge(&history, "T295 SO T297 - > -", Reason::SessionOrder),
        edge(
            &history,
            "T297 WR T393 w(0) = 3328 > r(0) = 3328",
            Reason::Reads,
        ),
        edge(
            &history,
            "T295 WR T393 w(4) = 3285 > r(4) = 3285",
            Reason::Reads,
        ),
        edge(&history, "T297 CM T295 w(4) = 3335 > w(4) = 3285", visible),
    ];
    example(
        history,
        Pattern::FracturedReadCO,
        edges,
        Proof::Cycle(vec![0, 3]),
        &ABOVE_RC,
    )
}

fn write_skew() -> Counterexample {
    let history = text::parse("a: [r x 0, r y 0, w x 1]\nb: [r x 0, r y 0, w y 2]")
        .expect("the notation is right");
    let overwrites = || Reason::Overwrites {
        writer: TransactionId::INITIAL,
        order: Vec::new(),
    };
    let edges = vec![
        edge(&history, "⊥ WR a1 - > r(y) = 0", Reason::Reads),
        edge(&history, "⊥ WR b1 - > r(x) = 0", Reason::Reads),
        edge(&history, "a1 RW b1 r(y) = 0 > w(y) = 2", overwrites()),
        edge(&history, "b1 RW a1 r(x) = 0 > w(x) = 1", overwrites()),
    ];
    example(
        history,
        Pattern::WriteSkew,
        edges,
        Proof::Cycle(vec![2, 3]),
        &[Level::Serializability],
    )
}

fn long_fork() -> Counterexample {
    let history =
        text::parse("a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1, r x 0]").expect("right");
    let overwrites = || Reason::Overwrites {
        writer: TransactionId::INITIAL,
        order: Vec::new(),
    };
    let edges = vec![
        edge(&history, "a1 WR c1 w(x) = 1 > r(x) = 1", Reason::Reads),
        edge(&history, "b1 WR d1 w(y) = 1 > r(y) = 1", Reason::Reads),
        edge(&history, "c1 RW b1 r(y) = 0 > w(y) = 1", overwrites()),
        edge(&history, "d1 RW a1 r(x) = 0 > w(x) = 1", overwrites()),
    ];
    let broken = [
        Level::PrefixConsistency,
        Level::SnapshotIsolation,
        Level::Serializability,
    ];
    example(
        history,
        Pattern::LongFork,
        edges,
        Proof::Cycle(vec![0, 2, 1, 3]),
        &broken,
    )
}

/// Eight transactions: whichever of two writers of x comes first, a cycle follows.
fn case_split() -> Counterexample {
    let history = text::parse(
        "1: T1 [w x 1, w a 1] T2 [r b 2, w c 3]\n\
         2: T3 [w x 2, w b 2] T4 [r a 1, w d 4]\n\
         3: T5 [r x 1, r d 4] T6 [w balance/0001 7, r c 3]\n\
         4: T7 [r x 2, r balance/0001 7] T8 [w e 1]",
    )
    .expect("the notation is right");
    let overwrites = |name: &str, order: Vec<EdgeIndex>| Reason::Overwrites {
        writer: transaction(&history, name),
        order,
    };
    let edges = vec![
        edge(&history, "T1 WR T4 w(a) = 1 > r(a) = 1", Reason::Reads),
        edge(&history, "T3 WR T2 w(b) = 2 > r(b) = 2", Reason::Reads),
        edge(&history, "T1 WR T5 w(x) = 1 > r(x) = 1", Reason::Reads),
        edge(&history, "T3 WR T7 w(x) = 2 > r(x) = 2", Reason::Reads),
        edge(&history, "T4 WR T5 w(d) = 4 > r(d) = 4", Reason::Reads),
        edge(&history, "T2 WR T6 w(c) = 3 > r(c) = 3", Reason::Reads),
        edge(
            &history,
            "T6 WR T7 w(balance/0001) = 7 > r(balance/0001) = 7",
            Reason::Reads,
        ),
        edge(&history, "T3 SO T4 - > -", Reason::SessionOrder),
        edge(&history, "T1 SO T2 - > -", Reason::SessionOrder),
        edge(&history, "T5 SO T6 - > -", Reason::SessionOrder),
        edge(&history, "T1 WW T3 w(x) = 1 > w(x) = 2", Reason::Assumed),
        edge(
            &history,
            "T5 RW T3 r(x) = 1 > w(x) = 2",
            overwrites("T1", vec![10]),
        ),
        edge(&history, "T3 WW T1 w(x) = 2 > w(x) = 1", Reason::Assumed),
        edge(
            &history,
            "T7 RW T1 r(x) = 2 > w(x) = 1",
            overwrites("T3", vec![12]),
        ),
    ];
    let question = Question::Order {
        key: edges[10].key.expect("it is about x"),
        writers: [edges[10].from, edges[10].to],
    };
    let cases = vec![
        (Supposed::Order(10), Proof::Cycle(vec![11, 7, 4])),
        (Supposed::Order(12), Proof::Cycle(vec![13, 8, 5, 6])),
    ];
    let proof = Proof::Cases { question, cases };
    example(
        history,
        Pattern::SERCycle,
        edges,
        proof,
        &[Level::Serializability],
    )
}

fn examples() -> Vec<(&'static str, Counterexample)> {
    vec![
        ("fractured-read", fractured_read()),
        ("write-skew", write_skew()),
        ("long-fork", long_fork()),
        ("case-split", case_split()),
    ]
}

fn picture(example: &Counterexample, options: &ComposeOptions) -> Picture {
    compose(example, &explain(example), &example.history, options)
}

fn keep(name: &str, kind: ExportKind, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("ISOSCOPE_PICTURES") {
        let path = std::path::Path::new(&folder).join(format!("{name}.{}", kind.extension()));
        std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Text for XML as a strict reader sees it.
fn parse_svg(bytes: &[u8]) -> usvg::Tree {
    let mut options = usvg::Options {
        font_family: "Hack".to_owned(),
        ..Default::default()
    };
    options
        .fontdb_mut()
        .load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    usvg::Tree::from_data(bytes, &options).expect("the SVG is well formed")
}

#[test]
fn every_export_of_every_example_is_well_formed_and_the_same_twice() {
    for (name, example) in examples() {
        let options = ComposeOptions {
            sha256: Some(sha256(name.as_bytes())),
            ..ComposeOptions::default()
        };
        let (once, twice) = (picture(&example, &options), picture(&example, &options));
        assert_eq!(problems(&once.diagram, &once.layout), [], "{name}");
        for row in EXPORTERS {
            let bytes = export(row.kind, &once).expect("small pictures can be exported");
            assert_eq!(
                bytes,
                export(row.kind, &twice).expect("twice"),
                "{name} as {}",
                row.name
            );
            keep(name, row.kind, &bytes);
            match row.kind {
                ExportKind::Svg => check_svg(&once, &bytes),
                ExportKind::Png => check_png(&once, &bytes),
                ExportKind::Dot => check_dot(&once, &bytes),
                ExportKind::Json => check_json(&once, &bytes),
                ExportKind::Tikz => check_tikz(&once, &bytes),
                ExportKind::Mermaid => check_mermaid(&once, &bytes),
                ExportKind::Markdown | ExportKind::Text => {
                    let text = String::from_utf8(bytes).expect("text is UTF-8");
                    assert!(
                        text.contains(&explain(&example).title.replace('_', "\\_")),
                        "{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_dark_page_differs_in_its_colours_only() {
    let light = picture(&fractured_read(), &ComposeOptions::default());
    let dark = Picture {
        is_dark: true,
        ..light.clone()
    };
    let svg = |picture: &Picture| {
        let bytes = export(ExportKind::Svg, picture).expect("it can be drawn");
        String::from_utf8(bytes).expect("it is text")
    };
    let (light, dark) = (svg(&light), svg(&dark));
    let ground = |svg: &str| {
        let rule = svg.split(".page { fill: #").nth(1).expect("a ground");
        u32::from_str_radix(&rule[..2], 16).expect("a colour")
    };
    assert!(ground(&light) > 0xe0 && ground(&dark) < 0x40);
    let body = |svg: &str| svg.split_once("</style>").map(|(_, body)| body.to_owned());
    assert_eq!(body(&light), body(&dark));
}

fn check_svg(picture: &Picture, bytes: &[u8]) {
    let tree = parse_svg(bytes);
    let bounds = page(picture).bounds;
    assert_eq!(
        (tree.size().width(), tree.size().height()),
        (bounds.width(), bounds.height())
    );
    let text = std::str::from_utf8(bytes).expect("SVG is UTF-8");
    for card in &picture.diagram.cards {
        assert!(
            text.contains(&format!(">{}</text>", card.title)),
            "{} stays text",
            card.title
        );
    }
    for relation in picture.diagram.relations() {
        assert!(
            text.contains(&format!(".edge.{}", relation.code())),
            "{relation:?} has a style"
        );
        assert!(
            text.contains(relation.name()),
            "{relation:?} is in the legend"
        );
    }
}

fn check_png(picture: &Picture, bytes: &[u8]) {
    let reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .expect("a PNG");
    let bounds = page(picture).bounds;
    assert_eq!(
        (reader.info().width, reader.info().height),
        (2 * bounds.width() as u32, 2 * bounds.height() as u32)
    );
}

fn check_dot(picture: &Picture, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("DOT is UTF-8");
    assert_eq!(
        text.matches(" -> ").count(),
        picture.diagram.arrows.len(),
        "{text}"
    );
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

/// One node for each text of the scene and one path for each other visible shape.
fn check_tikz(picture: &Picture, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("TikZ is UTF-8");
    let is_text = |shape: &Shape| matches!(shape, Shape::Text { .. });
    let n_texts = picture
        .scene
        .marks
        .iter()
        .filter(|mark| is_text(&mark.shape))
        .count();
    assert_eq!(text.matches("\\node[").count(), n_texts);
    let n_heads = picture
        .scene
        .marks
        .iter()
        .filter(|mark| matches!(mark.shape, Shape::Head(_)))
        .count();
    assert_eq!(text.matches("-- cycle;").count(), n_heads);
    assert!(text.contains("\\documentclass[tikz") && text.ends_with("\\end{document}\n"));
}

fn check_mermaid(picture: &Picture, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("Mermaid is UTF-8");
    let lines = |start: &str| {
        text.lines()
            .filter(|line| line.trim_start().starts_with(start))
            .count()
    };
    assert_eq!(lines("linkStyle "), picture.diagram.arrows.len());
    assert_eq!(lines("subgraph "), picture.diagram.lanes.len());
    assert_eq!(text.matches("<b>").count(), picture.diagram.cards.len());
}

fn check_json(picture: &Picture, bytes: &[u8]) {
    let json: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
    assert_eq!(json["schema"], "isoscope.picture/1");
    assert_eq!(
        json["cards"].as_array().map(Vec::len),
        Some(picture.diagram.cards.len())
    );
    assert_eq!(
        json["arrows"].as_array().map(Vec::len),
        Some(picture.diagram.arrows.len())
    );
    assert_eq!(
        json["steps"].as_array().map(Vec::len),
        Some(picture.steps.len())
    );
}

#[test]
fn text_on_a_page_is_legible_and_inside_the_page() {
    for (name, example) in examples() {
        check_texts(name, &picture(&example, &ComposeOptions::default()));
    }
}

fn check_texts(name: &str, picture: &Picture) {
    let page = page(picture);
    assert!(page.bounds.width() == 1000.0 || picture.is_wide, "{name}");
    for mark in &page.marks {
        let Shape::Text {
            at,
            align,
            size,
            bold,
            text,
            ..
        } = &mark.shape
        else {
            continue;
        };
        let width = if mark.role.is_prose() {
            isoscope::diagram::text_size::prose_width(text, *size, *bold)
        } else {
            isoscope::diagram::text_size::width(text, *size)
        };
        let left = match align {
            isoscope::diagram::scene::Align::Left | isoscope::diagram::scene::Align::After => at.x,
            isoscope::diagram::scene::Align::Center => at.x - width / 2.0,
            isoscope::diagram::scene::Align::Right => at.x - width,
        };
        assert!(
            left >= 0.0 && left + width <= page.bounds.width(),
            "{name}: `{text}` sticks out"
        );
        assert!(*size >= 11.0, "{name}: `{text}` is too small");
    }
}

/// What a card has to do with the argument is seen: an arrow touches it, or one of its rows has the number of the arrow
/// that it proves.
#[test]
fn no_card_of_a_sample_is_unconnected() {
    let control = Control::new();
    let mut proofs = 0;
    let files = std::fs::read_dir(common::repository("sample_histories")).expect("the samples");
    for path in files
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
    {
        let Ok(history) = formats::open(&path, None, &control) else {
            continue;
        };
        let options = checkers::Options {
            levels: Level::of(&history),
            ..checkers::Options::default()
        };
        let findings = isoscope::audit::check(&history, &options, &control, &|_| {});
        let examples = isoscope::audit::Examples::new(&history, &findings);
        for violation in findings
            .violations
            .iter()
            .filter(|violation| !violation.edges.is_empty())
        {
            let example = examples.of(violation, &control);
            // The least that the window draws.
            let options = ComposeOptions {
                evidence: Evidence::None,
                ..ComposeOptions::default()
            };
            let diagram = compose(
                &example.counterexample,
                &example.explanation,
                &history,
                &options,
            )
            .diagram;
            for (place, card) in diagram.cards.iter().enumerate() {
                let is_touched = diagram
                    .arrows
                    .iter()
                    .any(|arrow| arrow.from == place || arrow.to == place);
                let proven = card
                    .rows
                    .iter()
                    .filter_map(|row| row.proves.as_ref())
                    .flat_map(|(numbers, _)| numbers);
                let are_drawn =
                    proven.map(|n| diagram.arrows.iter().any(|arrow| arrow.numbers.contains(n)));
                let are_drawn: Vec<bool> = are_drawn.collect();
                proofs += are_drawn.len();
                let is_proof = !are_drawn.is_empty() && are_drawn.iter().all(|drawn| *drawn);
                assert!(
                    is_touched || is_proof,
                    "{}: {} of {}",
                    path.display(),
                    card.title,
                    violation.id
                );
            }
        }
    }
    assert!(
        proofs > 0,
        "no sample has a list that proves an arrow between others"
    );
}

/// Lanes, matrix and versions of what the samples violate: all of the anomaly is there, and nothing is cut.
#[test]
fn lanes_matrix_and_versions_are_exported_like_graphs() {
    let control = Control::new();
    for file in [
        "web-shop.txt",
        "lost-update.json",
        "real-time-cycle.txt",
        "case-split.txt",
        "long-fork.hist",
    ] {
        let path = common::repository("sample_histories").join(file);
        let history = formats::open(&path, None, &control).expect(file);
        let options = checkers::Options {
            levels: Level::of(&history),
            ..checkers::Options::default()
        };
        let findings = isoscope::audit::check(&history, &options, &control, &|_| {});
        let violation = findings.violations.first().expect("it violates a level");
        let example = isoscope::audit::Examples::new(&history, &findings).of(violation, &control);
        let picture = |view: View| {
            let options = ComposeOptions {
                view,
                ..ComposeOptions::default()
            };
            compose(
                &example.counterexample,
                &example.explanation,
                &history,
                &options,
            )
        };
        let lanes = picture(View::Lanes);
        let has = |target: Target| {
            lanes
                .scene
                .marks
                .iter()
                .any(|mark| mark.target == Some(target))
        };
        let small = &example.counterexample.history;
        assert!(
            small.transactions().all(|t| has(Target::Transaction(t))),
            "{file}: a transaction has no bar"
        );
        for arrow in &lanes.diagram.arrows {
            let is_of_initial = lanes.diagram.cards[arrow.from].transaction.is_initial();
            assert!(
                is_of_initial || has(Target::Edge(arrow.edge)),
                "{file}: {} is not drawn",
                arrow.label
            );
        }
        let matrix = picture(View::Matrix);
        let diagram = &matrix.diagram;
        let names: Vec<&str> = matrix
            .scene
            .names
            .iter()
            .map(|name| name.text.as_str())
            .collect();
        for arrow in &diagram.arrows {
            let is_edge = |mark: &&Mark| mark.target == Some(Target::Edge(arrow.edge));
            let marks: Vec<&Mark> = matrix.scene.marks.iter().filter(is_edge).collect();
            let says = |mark: &&Mark| matches!(&mark.shape, Shape::Text { text, .. } if *text == arrow.brief());
            assert!(
                marks.iter().any(says),
                "{file}: no cell says {}",
                arrow.label
            );
            let has = |role: Role| marks.iter().any(|mark| mark.role == role);
            assert!(
                has(Role::Edge(arrow.relation, arrow.emphasis)),
                "{file}: {} has no line",
                arrow.label
            );
            let [from, to] = [arrow.from, arrow.to].map(|card| {
                if diagram.cards[card].transaction.is_initial() {
                    "initial"
                } else {
                    diagram.cards[card].title.as_str()
                }
            });
            assert!(
                names.contains(&format!("Row {from}").as_str()),
                "{file}: {from} has no row"
            );
            assert!(
                names.contains(&format!("Column {to}").as_str()),
                "{file}: {to} has no column"
            );
            let ends = format!("{} from {from} to {to}", arrow.relation.code());
            let says = |name: &&str| {
                name.starts_with("Cell ") && (name.contains(&ends) || name.ends_with(&ends[3..]))
            };
            assert!(
                names.iter().any(says),
                "{file}: no cell {ends} in {names:?}"
            );
        }
        let mut pictures = vec![lanes, matrix];
        for key in keys_of(violation, &history) {
            let versions =
                picture(View::key(&history, key, violation, &control).expect("nothing stops it"));
            let is_version = |mark: &Mark| matches!(mark.role, Role::Bar(..));
            let n = versions
                .scene
                .marks
                .iter()
                .filter(|mark| is_version(mark))
                .count();
            assert!((2..=6).contains(&n), "{file}: {n} versions");
            pictures.push(versions);
        }
        for picture in &pictures {
            check_texts(file, picture);
            check_tikz(picture, &export(ExportKind::Tikz, picture).expect("TikZ"));
            let svg = export(ExportKind::Svg, picture).expect("SVG");
            assert_eq!(svg, export(ExportKind::Svg, picture).expect("SVG"));
            usvg::Tree::from_data(&svg, &usvg::Options::default()).expect("the SVG is well formed");
            export(ExportKind::Png, picture).expect("PNG");
        }
    }
}

#[test]
fn names_with_markup_and_control_characters_stay_well_formed() {
    let history = text::parse(
        "\"<a>&\\\"\\u0000\": [w \"k<&>\\u0001]]>\" 1] [r \"k<&>\\u0001]]>\" 1]\n\"漢字|{}\\\\\": [w \"⊥\" 2]",
    )
    .expect("the notation is right");
    let (a, b) = (TransactionId(0), TransactionId(1));
    let reads = Edge {
        from: a,
        to: b,
        relation: Relation::WriteRead,
        key: Some(KeyId(0)),
        from_operation: Some(OperationId(0)),
        to_operation: Some(OperationId(1)),
        because: Reason::Reads,
    };
    let back = Edge {
        from: b,
        to: a,
        relation: Relation::CommitOrder,
        because: Reason::Assumed,
        ..reads.clone()
    };
    let back = Edge {
        from_operation: Some(OperationId(1)),
        to_operation: Some(OperationId(0)),
        ..back
    };
    let proof = Proof::Cycle(vec![0, 1]);
    let example = example(
        history,
        Pattern::SERCycle,
        vec![reads, back],
        proof,
        &[Level::Serializability],
    );
    let picture = picture(
        &example,
        &ComposeOptions {
            all_operations: true,
            ..ComposeOptions::default()
        },
    );
    parse_svg(&export(ExportKind::Svg, &picture).expect("SVG"));
    for row in EXPORTERS {
        let bytes = export(row.kind, &picture).expect("it can be exported");
        assert!(!bytes.is_empty(), "{}", row.name);
    }
}

/// A random diagram: lanes with cards of up to five rows, edges of all kinds, parallel ones and self loops too.
fn random_diagram(seed: u64, n_cards: usize, n_lanes: usize, n_arrows: usize) -> Diagram {
    let mut random = fastrand::Rng::with_seed(seed);
    let initial = random.bool();
    let lane = |lane: usize| Lane {
        session: (lane > 0 || !initial).then(|| SessionId::new(lane)),
        title: format!("session {lane}"),
    };
    let n_lanes = n_lanes.clamp(1, n_cards.max(1));
    let mut lane_of: Vec<usize> = (0..n_cards)
        .map(|card| {
            if card < n_lanes {
                card
            } else {
                random.usize(0..n_lanes)
            }
        })
        .collect();
    lane_of.sort();
    let mut next_operation = 0;
    let cards: Vec<Card> = lane_of
        .iter()
        .enumerate()
        .map(|(card, &lane)| {
            let rows = (0..random.usize(0..5)).map(|_| {
                next_operation += 1;
                let (key, value) = (random.u32(0..30), random.u64(0..1_000_000_000));
                let head = format!("{}(k{key}) = ", if random.bool() { 'r' } else { 'w' });
                Row {
                    operation: OperationId(next_operation),
                    value_at: head.len(),
                    text: format!("{head}{value}"),
                    full: format!("{head}{value}"),
                    place: if random.bool() {
                        format!("line {}", random.u32(0..100_000))
                    } else {
                        String::new()
                    },
                    role: if random.bool() {
                        RowRole::Involved
                    } else {
                        RowRole::Context
                    },
                    proves: None,
                }
            });
            Card {
                transaction: TransactionId::new(card),
                lane,
                title: format!("T{card}"),
                status: "committed".to_owned(),
                rows: rows.collect(),
                folded: random.usize(0..3),
                others: Vec::new(),
            }
        })
        .collect();
    let arrows = (0..if n_cards == 0 { 0 } else { n_arrows })
        .map(|edge| {
            let relation = Relation::ALL[random.usize(0..7)];
            let from = random.usize(0..n_cards);
            // Neighbours in a lane are likely, as session order makes them.
            let to = if random.u8(0..4) == 0 {
                (from + 1) % n_cards
            } else {
                random.usize(0..n_cards)
            };
            let mut row = |card: usize| {
                (!cards[card].rows.is_empty()).then(|| random.usize(0..cards[card].rows.len()))
            };
            let has_rows = !matches!(relation, Relation::SessionOrder | Relation::CausalOrder);
            let (from_row, to_row) = if has_rows {
                (row(from), row(to))
            } else {
                (None, None)
            };
            Arrow {
                edge,
                also: Vec::new(),
                numbers: Vec::new(),
                from,
                from_row,
                to,
                to_row,
                relation,
                label: format!("{} k{}", relation.code(), "9".repeat(random.usize(0..12))),
                condition: None,
                is_decisive: false,
                emphasis: if random.u8(0..3) == 0 {
                    Emphasis::Cycle
                } else {
                    Emphasis::Evidence
                },
            }
        })
        .collect();
    let lanes = (0..if n_cards == 0 { 0 } else { n_lanes })
        .map(lane)
        .collect();
    Diagram {
        lanes,
        cards,
        arrows,
    }
}

/// A page with this diagram, to be looked at.
fn page_of(diagram: &Diagram, layout: layout::Layout) -> Picture {
    let drawn = scene(diagram, &layout);
    Picture {
        scene: drawn,
        diagram: diagram.clone(),
        layout,
        ..picture(&fractured_read(), &ComposeOptions::default())
    }
}

/// Sessions as rows: cards in columns, each further to the right than the one before in its session.
fn check_sequence(diagram: &Diagram, what: &str) {
    let mut next = vec![0; diagram.lanes.len()];
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for (place, card) in diagram.cards.iter().enumerate() {
        let column = next[card.lane].max(place % 4);
        next[card.lane] = column + 1;
        columns.resize(columns.len().max(column + 1), Vec::new());
        columns[column].push(place);
    }
    columns.retain(|column| !column.is_empty());
    let layout = layout::sequence(diagram, columns);
    assert_eq!(problems(diagram, &layout), [], "{what}");
    for (card, space) in diagram.cards.iter().zip(&layout.cards) {
        assert!(
            layout.lanes[card.lane].contains_rect(space.rect),
            "{what}: {} is outside of its row",
            card.title
        );
    }
    assert!(
        layout
            .lanes
            .windows(2)
            .all(|rows| rows[0].bottom() <= rows[1].top() + 0.01),
        "{what}"
    );
}

#[test]
fn lanes_keep_every_promise_on_small_random_diagrams() {
    for seed in 0..1500 {
        let mut random = fastrand::Rng::with_seed(seed);
        let n = random.usize(0..12);
        let diagram = random_diagram(seed, n, random.usize(1..6), random.usize(0..3 * n + 1));
        check_sequence(&diagram, &format!("seed {seed}"));
        let layout = lanes(&diagram);
        assert_eq!(problems(&diagram, &layout), [], "seed {seed}: {diagram:?}");
    }
}

#[test]
fn lanes_keep_every_promise_on_large_random_diagrams() {
    for (seed, n, n_lanes, n_arrows) in [
        (1, 30, 5, 54),
        (2, 60, 8, 120),
        (3, 100, 10, 190),
        (4, 200, 12, 400),
        (5, 70, 70, 140),
        (6, 40, 1, 90),
        (7, 25, 3, 400),
    ] {
        let diagram = random_diagram(seed, n, n_lanes, n_arrows);
        check_sequence(&diagram, &format!("seed {seed}"));
        let layout = lanes(&diagram);
        assert_eq!(problems(&diagram, &layout), [], "seed {seed}");
        assert_eq!(layout, lanes(&diagram), "seed {seed}");
        if n == 30 && std::env::var_os("ISOSCOPE_PICTURES").is_some() {
            let layered = layout::graphviz(&diagram).expect("30 cards are not too many");
            for (name, layout) in [("lanes-30", layout), ("layered-30", layered)] {
                let picture = page_of(&diagram, layout);
                keep(
                    name,
                    ExportKind::Png,
                    &export(ExportKind::Png, &picture).expect("PNG"),
                );
            }
        }
    }
}

#[test]
fn moving_cards_keeps_arrows_on_their_rows() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let diagram = random_diagram(seed, 6, 3, 9);
        let base = lanes(&diagram);
        assert_eq!(lanes_moved(&diagram, &base, &[]), base);
        let card = random.usize(0..6);
        let to = emath::pos2(random.f32() * 2000.0 - 500.0, random.f32() * 2000.0 - 500.0);
        let layout = lanes_moved(&diagram, &base, &[(card, to), (99, to)]);
        assert!((layout.cards[card].rect.min - to).length() < 0.01);
        let wrong = problems(&diagram, &layout);
        let broken = |p: &Problem| {
            matches!(
                p,
                Problem::LooseEnd(_)
                    | Problem::OutOfBounds
                    | Problem::Incomplete
                    | Problem::LabelOffLine(_)
            )
        };
        assert!(!wrong.iter().any(broken), "seed {seed}: {wrong:?}");
    }
}

#[test]
fn the_layered_layout_takes_every_shape_of_graph() {
    for (seed, n, n_arrows) in [
        (0, 0, 0),
        (1, 1, 0),
        (2, 1, 3),
        (3, 2, 6),
        (4, 10, 16),
        (5, 12, 40),
        (6, 30, 54),
    ] {
        let diagram = random_diagram(seed, n, 3, n_arrows);
        let layout = layout::graphviz(&diagram).expect("it is small enough");
        let wrong = problems(&diagram, &layout);
        let broken = |p: &Problem| {
            matches!(
                p,
                Problem::CardsOverlap(..) | Problem::OutOfBounds | Problem::Incomplete
            )
        };
        assert!(!wrong.iter().any(broken), "seed {seed}: {wrong:?}");
        for (arrow, route) in diagram.arrows.iter().zip(&layout.routes) {
            let (from, to) = (layout.cards[arrow.from].rect, layout.cards[arrow.to].rect);
            assert!(
                from.expand(1.0).contains(route.path.start),
                "seed {seed}: {arrow:?} starts at its source"
            );
            assert!(
                to.expand(1.0).contains(route.path.end()),
                "seed {seed}: {arrow:?} ends at its target"
            );
        }
        assert_eq!(
            layout,
            layout::graphviz(&diagram).expect("again"),
            "seed {seed}"
        );
    }
    assert!(layout::graphviz(&random_diagram(7, layout::MAX_CARDS + 1, 3, 0)).is_err());
}

#[test]
fn a_scene_answers_what_is_under_the_pointer() {
    let example = fractured_read();
    let picture = picture(&example, &ComposeOptions::default());
    let scene = scene(&picture.diagram, &picture.layout);
    for (card, space) in picture.diagram.cards.iter().zip(&picture.layout.cards) {
        let at = space.header.center();
        assert_eq!(
            scene.at(at, 4.0),
            Some(Target::Transaction(card.transaction))
        );
        for (row, rect) in card.rows.iter().zip(&space.rows) {
            assert_eq!(
                scene.at(rect.center(), 4.0),
                Some(Target::Operation(row.operation))
            );
        }
    }
    for (arrow, route) in picture.diagram.arrows.iter().zip(&picture.layout.routes) {
        assert_eq!(
            scene.at(route.label.center(), 4.0),
            Some(Target::Edge(arrow.edge))
        );
        let between = route.path.start.lerp(route.path.flatten(1)[1], 0.9) + emath::vec2(0.0, 2.0);
        let hit = scene.at(between, 4.0);
        assert!(
            matches!(hit, Some(Target::Edge(_) | Target::Transaction(_))),
            "{hit:?}"
        );
    }
    assert_eq!(
        scene.at(scene.bounds.max + emath::vec2(50.0, 50.0), 4.0),
        None
    );
}

#[test]
fn hidden_relations_and_folded_operations_are_not_drawn() {
    let example = fractured_read();
    let all = picture(&example, &ComposeOptions::default());
    assert_eq!(
        all.diagram
            .cards
            .iter()
            .map(|card| card.folded)
            .collect::<Vec<_>>(),
        [2, 0, 1]
    );
    let hidden = vec![Relation::CommitOrder, Relation::SessionOrder];
    let options = ComposeOptions {
        all_operations: true,
        hidden,
        layout: LayoutStyle::Layered,
        ..Default::default()
    };
    let fewer = picture(&example, &options);
    assert!(
        fewer
            .diagram
            .arrows
            .iter()
            .all(|arrow| arrow.relation == Relation::WriteRead)
    );
    assert!(fewer.diagram.cards.iter().all(|card| card.folded == 0));
    assert!(fewer.layout.lanes.is_empty(), "layers have no lanes");
}

#[test]
fn evidence_is_left_out_or_pinned_on_demand() {
    let example = fractured_read();
    let with = |evidence| {
        picture(
            &example,
            &ComposeOptions {
                evidence,
                ..ComposeOptions::default()
            },
        )
    };
    let (all, none) = (with(Evidence::All), with(Evidence::None));
    assert_eq!(all.diagram.arrows.len(), 4);
    assert!(!all.footer.iter().any(|fact| fact.contains("left out")));
    // The cycle is T295 SO T297 CM T295; T393, who only shows why, goes with its reads.
    let names = |picture: &Picture| {
        picture
            .diagram
            .cards
            .iter()
            .map(|card| card.title.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        none.diagram
            .arrows
            .iter()
            .map(|arrow| arrow.edge)
            .collect::<Vec<_>>(),
        [0, 3]
    );
    assert_eq!(names(&none), ["T295", "T297"]);
    assert!(none.footer.iter().any(|fact| fact == "evidence left out"));
    let pinned = with(Evidence::Pinned([1].into()));
    assert_eq!(
        pinned
            .diagram
            .arrows
            .iter()
            .map(|arrow| arrow.edge)
            .collect::<Vec<_>>(),
        [0, 1, 3]
    );
    assert_eq!(names(&pinned), ["T295", "T297", "T393"]);
    assert_eq!(with("wr".parse().expect("a relation")).diagram, all.diagram);
    assert!(
        "XY".parse::<Evidence>()
            .expect_err("no relation")
            .contains("SO, WR")
    );
}

#[test]
fn orders_that_were_ruled_out_are_drawn_on_demand() {
    for (name, example) in examples() {
        let options = ComposeOptions {
            alternatives: true,
            ..ComposeOptions::default()
        };
        let drawn = picture(&example, &options);
        assert_eq!(problems(&drawn.diagram, &drawn.layout), [], "{name}");
        let rejected: Vec<_> = drawn
            .diagram
            .arrows
            .iter()
            .filter(|arrow| arrow.emphasis == Emphasis::Rejected)
            .collect();
        let otherwise = drawn
            .steps
            .iter()
            .filter(|step| step.heading == "Otherwise")
            .count();
        assert_eq!(
            rejected
                .iter()
                .filter(|arrow| arrow.condition == Some(Condition::If))
                .count(),
            otherwise,
            "{name}"
        );
        for row in EXPORTERS {
            let bytes = export(row.kind, &drawn).expect("small pictures can be exported");
            keep(&format!("{name}-alternatives"), row.kind, &bytes);
        }
        if name == "fractured-read" {
            // Were T297's version newer, T393 would overlook it: if CM, then RW.
            let labels: Vec<String> = rejected.iter().map(|arrow| arrow.text()).collect();
            assert_eq!(labels, ["if CM 4", "then RW 4"]);
        }
    }
}

/// Two readers who saw two writes in opposite orders: each of the four sessions has a column.
#[test]
fn a_long_fork_is_drawn_in_columns_and_keeps_keys() {
    let control = Control::new();
    let path = common::repository("sample_histories/long-fork.hist");
    let history = formats::open(&path, None, &control).expect("a sample");
    let findings = checkers::check(&history, &checkers::Options::default(), &control, &|_| ());
    let violation = findings
        .violations
        .iter()
        .find(|v| v.id.pattern == checkers::Pattern::LongFork)
        .expect("listed");
    let example = counterexample::minimize(&history, violation, &control);
    let picture = picture(&example, &ComposeOptions::default());
    assert_eq!(page(&picture).bounds.width(), 1000.0);
    assert_eq!(picture.layout.lanes.len(), 4, "a column for each session");
    let sides: std::collections::BTreeSet<i32> = picture
        .layout
        .cards
        .iter()
        .map(|card| card.rect.left() as i32)
        .collect();
    assert_eq!(sides.len(), 4, "{sides:?}");
    assert!(
        picture
            .footer
            .iter()
            .any(|fact| fact
                == "all transactions of this counterexample were acknowledged as committed"),
        "what the cards do not say"
    );
    assert!(
        picture
            .diagram
            .arrows
            .iter()
            .all(|arrow| arrow.label.len() > arrow.relation.code().len())
    );
    assert_eq!(problems(&picture.diagram, &picture.layout), []);
}

/// What an arrow says is told in the line that has its number.
#[test]
fn arrows_have_the_numbers_of_their_lines() {
    for (name, example) in examples() {
        let picture = picture(&example, &ComposeOptions::default());
        for arrow in &picture.diagram.arrows {
            // Of many reads those that a conclusion quotes have no line of their own.
            assert!(
                !arrow.numbers.is_empty() || arrow.emphasis != Emphasis::Cycle,
                "{name}: {}",
                arrow.label
            );
            let Some(&number) = arrow.numbers.first() else {
                continue;
            };
            let step = picture
                .steps
                .iter()
                .find(|step| step.number == Some(number))
                .expect("a line");
            assert!(
                step.edges.contains(&arrow.edge),
                "{name}: {} is not told in {number}",
                arrow.label
            );
        }
    }
}

#[test]
fn a_layout_that_is_asked_for_is_made_where_it_can_be_read() {
    let example = fractured_read();
    let with = |layout| {
        picture(
            &example,
            &ComposeOptions {
                layout,
                ..ComposeOptions::default()
            },
        )
    };
    assert!(!with(LayoutStyle::Lanes).layout.lanes.is_empty());
    assert!(with(LayoutStyle::Layered).layout.lanes.is_empty());
    // Nine sessions in a row would be too small to read.
    let wide = random_diagram(3, 9, 9, 12);
    let room = emath::vec2(940.0, f32::INFINITY);
    assert!(layout::arrange(&wide, LayoutStyle::Lanes, room).scale(room) < layout::LEAST_SCALE);
    assert!(layout::arrange(&wide, LayoutStyle::Auto, room).scale(room) >= layout::LEAST_SCALE);
}

#[test]
fn a_picture_too_large_for_pixels_is_refused_in_words() {
    let mut large = picture(&fractured_read(), &ComposeOptions::default());
    large.diagram = random_diagram(1, 200, 1, 20);
    large.layout = lanes(&large.diagram);
    large.scene = scene(&large.diagram, &large.layout);
    large.scene.bounds.max.y = 200_000.0;
    let error = export(ExportKind::Png, &large).expect_err("200,000 units are too many");
    assert!(error.to_string().contains("export SVG instead"), "{error}");
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn the_first_violation_of_each_pattern_of_real_histories_is_drawn_without_fault() {
    let corpus = common::corpus();
    for file in ["mariadb_galera", "yugabyte_tcc", "pg_ser_bug"] {
        let control = Control::new();
        let path = corpus.join(format!("plume-text/bugs/{file}.txt"));
        let history = formats::open(&path, None, &control).expect("a history");
        let findings = checkers::check(&history, &checkers::Options::default(), &control, &|_| ());
        let mut last = None;
        for violation in &findings.violations {
            if last.replace(violation.id.pattern) == Some(violation.id.pattern) {
                continue;
            }
            let example = counterexample::minimize(&history, violation, &control);
            let picture = compose(
                &example,
                &explain(&example),
                &history,
                &ComposeOptions::for_history(&history),
            );
            let name = format!("{file} {}", violation.id);
            assert_eq!(problems(&picture.diagram, &picture.layout), [], "{name}");
            assert!(!picture.diagram.cards.is_empty(), "{name}");
            parse_svg(&export(ExportKind::Svg, &picture).expect("SVG"));
            if std::env::var_os("ISOSCOPE_PICTURES").is_some() {
                let bytes = export(ExportKind::Png, &picture).expect("PNG");
                keep(&name.replace([' ', '/'], "-"), ExportKind::Png, &bytes);
            }
        }
        assert_eq!(last.is_none(), findings.violations.is_empty(), "{file}");
    }
}
