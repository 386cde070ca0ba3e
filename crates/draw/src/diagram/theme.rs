//! Roles → colours, for light, dark and print. The only place with colours.
//!
//! Edge hues are near those of Okabe & Ito ("Color Universal Design", 2008). Strokes have a contrast of at least 3:1 and
//! text of at least 4.5:1 on their backgrounds (WCAG 2.2, 1.4.3 and 1.4.11), and any two relations can be distinguished
//! without red, green or blue cones (`color_vision`), which is why they differ in lightness, too. Colour is never the
//! only sign: every relation also has its own dash and its letters. What was observed is solid or dotted,
//! what was concluded is dashed; edges of the cycle are heavy and in full colour, evidence is thin and paler.

use super::Emphasis;
use isoscope_model::history::Outcome;
use isoscope_model::relations::Relation;
use std::fmt;

/// A colour, sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl Color {
    const fn hex(rgb: u32) -> Color {
        Color {
            r: (rgb >> 16) as u8,
            g: (rgb >> 8) as u8,
            b: rgb as u8,
        }
    }

    /// This colour mixed with `share` (0 to 1) of another.
    pub fn mixed(self, other: Color, share: f32) -> Color {
        let mix =
            |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
        Color {
            r: mix(self.r, other.r),
            g: mix(self.g, other.g),
            b: mix(self.b, other.b),
        }
    }

    /// A channel of sRGB in linear light, from 0 to 1.
    pub fn linear(channel: u8) -> f32 {
        let c = f32::from(channel) / 255.0;
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    }

    /// Relative luminance (WCAG 2.2).
    pub fn luminance(self) -> f32 {
        0.2126 * Color::linear(self.r)
            + 0.7152 * Color::linear(self.g)
            + 0.0722 * Color::linear(self.b)
    }

    /// Contrast of two colours, from 1 to 21 (WCAG 2.2).
    pub fn contrast(self, other: Color) -> f32 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }
}

/// The role of a shape; the theme defines its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The background of everything.
    Page,
    /// The background of a session column.
    Lane,
    /// Its name.
    LaneTitle,
    /// The background and border of a card: on the cycle, or evidence only.
    Card(Emphasis),
    /// Its name.
    CardTitle,
    /// Its outcome.
    CardStatus,
    /// The line under its header.
    CardRule,
    /// The background of an operation the argument is about.
    Row,
    /// The background of an operation shown for context: no colour, but an area to hover.
    ContextRow,
    /// An operation.
    RowText,
    /// Its place in the file.
    RowPlace,
    /// The count of operations not shown.
    Folded,
    /// An edge's line.
    Edge(Relation, Emphasis),
    /// Its arrow head.
    Head(Relation, Emphasis),
    /// The background of its label.
    Label(Relation, Emphasis),
    /// The text of its label.
    LabelText(Relation),
    /// The disc of a line's number; for an edge's line, in its colour.
    Number(Option<Relation>),
    /// The number in it.
    NumberText,
    /// A page's title.
    Title,
    /// The sentence under it.
    Subtitle,
    /// The first word of a step.
    Lead,
    /// The text of a step.
    Body,
    /// A line between parts of a page.
    Rule,
    /// From a card to where its transaction ended.
    Tail,
    /// A legend's text, and numbers on an axis.
    Legend,
    /// A page's last lines.
    Footer,
    /// The background and border of a transaction in a lane or of a version: how it ended, and whether it is of the
    /// anomaly.
    Bar(Outcome, Emphasis),
    /// Several transactions of a lane drawn together.
    Crowd,
    /// The background of the time in which there was any fault.
    Fault,
    /// The time in which one lasted.
    FaultBar,
    /// Its name, and what is wrong with a version.
    FaultText,
    /// The background of what the user marked.
    Note,
    /// Its text and its flag.
    NoteText,
    /// The arrow from a version to the next, and where much time passes in little space.
    Next,
    /// Between two versions that nothing recorded orders.
    Guess,
}

impl Role {
    /// Whether text of this role consists of sentences, set in a proportional font; names, values and operations are
    /// monospaced.
    pub fn is_prose(self) -> bool {
        matches!(
            self,
            Role::Title | Role::Subtitle | Role::Lead | Role::Body | Role::Legend | Role::Footer
        )
    }

    /// Class names in SVG, by which a picture can be restyled.
    pub fn class(self) -> String {
        let edge = |part: &str, relation: Relation, emphasis: Emphasis| {
            format!("{part} {} {}", relation.code(), emphasis_class(emphasis))
        };
        match self {
            Role::Page => "page".into(),
            Role::Lane => "lane".into(),
            Role::LaneTitle => "lane-title".into(),
            Role::Card(emphasis) => format!("card {}", emphasis_class(emphasis)),
            Role::CardTitle => "card-title".into(),
            Role::CardStatus => "card-status".into(),
            Role::CardRule => "card-rule".into(),
            Role::Row => "row".into(),
            Role::ContextRow => "context-row".into(),
            Role::RowText => "row-text".into(),
            Role::RowPlace => "row-place".into(),
            Role::Folded => "folded".into(),
            Role::Edge(relation, emphasis) => edge("edge", relation, emphasis),
            Role::Head(relation, emphasis) => edge("head", relation, emphasis),
            Role::Label(relation, emphasis) => edge("label", relation, emphasis),
            Role::LabelText(relation) => format!("label-text {}", relation.code()),
            Role::Number(relation) => format!("number {}", relation.map_or("none", Relation::code)),
            Role::NumberText => "number-text".into(),
            Role::Title => "title".into(),
            Role::Subtitle => "subtitle".into(),
            Role::Lead => "lead".into(),
            Role::Body => "body".into(),
            Role::Rule => "rule".into(),
            Role::Tail => "tail".into(),
            Role::Legend => "legend".into(),
            Role::Footer => "footer".into(),
            Role::Bar(outcome, emphasis) => {
                let ended = match outcome {
                    Outcome::Committed => "committed",
                    Outcome::Aborted => "aborted",
                    Outcome::Unknown => "unknown",
                };
                format!("bar {ended} {}", emphasis_class(emphasis))
            }
            Role::Crowd => "crowd".into(),
            Role::Fault => "fault".into(),
            Role::FaultBar => "fault-bar".into(),
            Role::FaultText => "fault-text".into(),
            Role::Note => "note".into(),
            Role::NoteText => "note-text".into(),
            Role::Next => "next".into(),
            Role::Guess => "guess".into(),
        }
    }
}

/// The class of an emphasis in SVG.
pub fn emphasis_class(emphasis: Emphasis) -> &'static str {
    match emphasis {
        Emphasis::Cycle => "cycle",
        Emphasis::Evidence => "evidence",
        Emphasis::Rejected => "rejected",
    }
}

/// A line's look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub color: Color,
    /// Its width.
    pub width: f32,
    /// Alternating lengths of dashes and gaps; empty for a solid line.
    pub dash: &'static [f32],
}

/// How a role looks. Text is filled.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Style {
    /// Fill of a shape, colour of text.
    pub fill: Option<Color>,
    /// Border or line.
    pub stroke: Option<Stroke>,
}

/// Dashes of a relation: alternating lengths of dashes and gaps.
fn dash(relation: Relation) -> &'static [f32] {
    match relation {
        Relation::SessionOrder => &[2.0, 4.0],
        Relation::WriteRead => &[],
        Relation::WriteWrite => &[16.0, 4.0],
        Relation::AntiDependency => &[10.0, 4.0],
        Relation::CausalOrder => &[14.0, 3.0, 5.0, 3.0],
        Relation::CommitOrder => &[6.0, 4.0],
        Relation::RealTime => &[2.0, 8.0],
    }
}

/// Whether a line of these dashes consists of dots.
pub fn is_dotted(dash: &[f32]) -> bool {
    !dash.is_empty() && dash.iter().step_by(2).all(|length| *length <= DOT)
}

/// Dashes no longer than this are dots.
const DOT: f32 = 2.0;

/// Dashes of what was ruled out, whatever its relation: pairs of dots.
const REJECTED: &[f32] = &[1.5, 3.0, 1.5, 9.0];

/// A set of colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theme {
    /// `light`, `dark`, `print`.
    pub name: &'static str,
    page: Color,
    lane: Color,
    card: Color,
    row: Color,
    ink: Color,
    faint_ink: Color,
    rule: Color,
    evidence_border: Color,
    /// In the order of [`Relation::ALL`].
    edges: [Color; 7],
    /// What is wrong: its background and its ink.
    bad: (Color, Color),
    /// What the user marked: its background and its ink.
    note: (Color, Color),
}

/// For a bright window.
pub const LIGHT: Theme = Theme {
    name: "light",
    page: Color::hex(0xFA_FA_FB),
    lane: Color::hex(0xF0_F2_F4),
    card: Color::hex(0xFF_FF_FF),
    row: Color::hex(0xE4_EE_F7),
    ink: Color::hex(0x1B_1F_24),
    faint_ink: Color::hex(0x59_60_69),
    rule: Color::hex(0xD3_D7_DC),
    evidence_border: Color::hex(0x80_87_90),
    edges: [
        Color::hex(0x5F_63_6A),
        Color::hex(0x07_5F_D7),
        Color::hex(0x83_28_01),
        Color::hex(0xB2_00_9E),
        Color::hex(0x02_3C_4C),
        Color::hex(0x88_5D_0E),
        Color::hex(0x05_58_42),
    ],
    bad: (Color::hex(0xFC_E9_E7), Color::hex(0x9B_1C_14)),
    note: (Color::hex(0xFB_EF_CB), Color::hex(0x6B_4E_00)),
};

/// For a dark window.
pub const DARK: Theme = Theme {
    name: "dark",
    page: Color::hex(0x1A_1D_22),
    lane: Color::hex(0x21_25_2B),
    card: Color::hex(0x29_2E_36),
    row: Color::hex(0x2B_3F_52),
    ink: Color::hex(0xEC_EE_F1),
    faint_ink: Color::hex(0xAF_B6_BF),
    rule: Color::hex(0x44_4B_55),
    evidence_border: Color::hex(0x8C_94_9E),
    edges: [
        Color::hex(0xC2_C2_C2),
        Color::hex(0x90_BF_FF),
        Color::hex(0xFE_81_02),
        Color::hex(0xD3_8D_BF),
        Color::hex(0x75_F5_FB),
        Color::hex(0xF3_DC_85),
        Color::hex(0x37_B9_6E),
    ],
    bad: (Color::hex(0x47_23_21), Color::hex(0xFF_A7_9F)),
    note: (Color::hex(0x3D_35_1E), Color::hex(0xF2_CE_73)),
};

/// For files and paper: black on white.
pub const PRINT: Theme = Theme {
    name: "print",
    page: Color::hex(0xFF_FF_FF),
    lane: Color::hex(0xF4_F5_F7),
    card: Color::hex(0xFF_FF_FF),
    ink: Color::hex(0x14_17_1A),
    faint_ink: Color::hex(0x55_5C_65),
    ..LIGHT
};

impl Theme {
    /// All themes.
    pub const ALL: [Theme; 3] = [LIGHT, DARK, PRINT];

    /// The background of everything.
    pub fn page(&self) -> Color {
        self.page
    }

    /// The colour of a relation.
    pub fn edge(&self, relation: Relation) -> Color {
        self.edges[relation as usize]
    }

    /// The colour of a relation, paler as far as it still has a contrast of 3:1 on all backgrounds.
    fn pale(&self, relation: Relation) -> Color {
        let color = self.edge(relation);
        // Dots have so little ink that they would disappear.
        let most = if is_dotted(dash(relation)) { 0.05 } else { 1.0 };
        let shares = [0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05]
            .into_iter()
            .filter(|share| *share <= most);
        let mut pale = shares.map(|share| color.mixed(self.page, share));
        let is_seen = |color: &Color| {
            [self.page, self.lane, self.card]
                .iter()
                .all(|g| color.contrast(*g) > 3.0)
        };
        pale.find(is_seen).unwrap_or(color)
    }

    /// How a role looks.
    pub fn style(&self, role: Role) -> Style {
        let fill = |color: Color| Style {
            fill: Some(color),
            stroke: None,
        };
        let line =
            |color: Color, width: f32, dash: &'static [f32]| Some(Stroke { color, width, dash });
        match role {
            Role::Page => fill(self.page),
            Role::Lane => fill(self.lane),
            Role::Card(Emphasis::Cycle) => Style {
                fill: Some(self.card),
                stroke: line(self.ink, 2.0, &[]),
            },
            Role::Card(Emphasis::Evidence | Emphasis::Rejected) => Style {
                fill: Some(self.card),
                stroke: line(self.evidence_border, 1.25, &[]),
            },
            Role::CardRule | Role::Rule => Style {
                fill: None,
                stroke: line(self.rule, 1.0, &[]),
            },
            Role::Tail => Style {
                fill: None,
                stroke: line(self.faint_ink, 1.4, &[]),
            },
            Role::Row => fill(self.row),
            Role::ContextRow => Style::default(),
            Role::CardTitle | Role::RowText | Role::Title | Role::Lead | Role::Body => {
                fill(self.ink)
            }
            Role::LaneTitle
            | Role::CardStatus
            | Role::RowPlace
            | Role::Folded
            | Role::Subtitle
            | Role::Legend
            | Role::Footer => fill(self.faint_ink),
            Role::Edge(relation, Emphasis::Rejected) => Style {
                fill: None,
                stroke: line(self.edge(relation), 1.5, REJECTED),
            },
            Role::Edge(relation, Emphasis::Cycle) => Style {
                fill: None,
                stroke: line(self.edge(relation), 2.6, dash(relation)),
            },
            Role::Edge(relation, Emphasis::Evidence) => Style {
                fill: None,
                stroke: line(self.pale(relation), 1.3, dash(relation)),
            },
            Role::Head(relation, Emphasis::Evidence) => fill(self.pale(relation)),
            Role::Head(relation, _) | Role::LabelText(relation) | Role::Number(Some(relation)) => {
                fill(self.edge(relation))
            }
            Role::Number(None) => fill(self.faint_ink),
            Role::NumberText => fill(self.card),
            Role::Label(relation, Emphasis::Rejected) => Style {
                fill: Some(self.card),
                stroke: line(self.edge(relation), 1.0, &[3.0, 2.0]),
            },
            Role::Label(relation, emphasis) => {
                let is_cycle = emphasis == Emphasis::Cycle;
                let (color, width) = if is_cycle {
                    (self.edge(relation), 1.4)
                } else {
                    (self.pale(relation), 1.0)
                };
                Style {
                    fill: Some(self.card),
                    stroke: line(color, width, &[]),
                }
            }
            Role::Bar(outcome, emphasis) => {
                let width = if emphasis == Emphasis::Cycle {
                    2.0
                } else {
                    1.25
                };
                let stroke = match outcome {
                    Outcome::Committed => return self.style(Role::Card(emphasis)),
                    Outcome::Aborted => line(self.bad.1, width, &[]),
                    Outcome::Unknown => line(self.bad.1, width, &[4.0, 3.0]),
                };
                Style {
                    fill: Some(self.card),
                    stroke,
                }
            }
            Role::Crowd => fill(self.rule),
            Role::Fault => fill(self.bad.0),
            Role::FaultBar => Style {
                fill: Some(self.bad.0),
                stroke: line(self.bad.1, 1.0, &[]),
            },
            Role::FaultText => fill(self.bad.1),
            Role::Note => fill(self.note.0),
            Role::NoteText => fill(self.note.1),
            Role::Next => Style {
                fill: Some(self.faint_ink),
                stroke: line(self.faint_ink, 1.4, &[]),
            },
            Role::Guess => Style {
                fill: None,
                stroke: line(self.faint_ink, 1.4, &[1.5, 4.0]),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::color_vision;

    #[test]
    fn strokes_and_texts_have_enough_contrast_in_all_themes() {
        for theme in Theme::ALL {
            for relation in Relation::ALL {
                let color = theme.edge(relation);
                for ground in [theme.page, theme.lane, theme.card, theme.row] {
                    assert!(
                        color.contrast(ground) >= 3.0,
                        "{} {relation:?} on {ground}",
                        theme.name
                    );
                }
                for ground in [theme.page, theme.lane, theme.card] {
                    assert!(
                        theme.pale(relation).contrast(ground) > 3.0,
                        "{} pale {relation:?}",
                        theme.name
                    );
                }
                assert!(
                    theme.pale(relation).contrast(theme.page) < color.contrast(theme.page),
                    "{relation:?}"
                );
                assert!(
                    color.contrast(theme.card) >= 4.5,
                    "{} {relation:?} label",
                    theme.name
                );
            }
            for ground in [theme.page, theme.lane, theme.card, theme.row] {
                for ink in [theme.ink, theme.faint_ink] {
                    assert!(
                        ink.contrast(ground) >= 4.5,
                        "{} {ink} on {ground}",
                        theme.name
                    );
                }
                assert!(
                    theme.evidence_border.contrast(ground) >= 3.0,
                    "{} border on {ground}",
                    theme.name
                );
            }
            for (ground, ink) in [theme.bad, theme.note] {
                assert!(
                    ink.contrast(ground) >= 4.5,
                    "{} {ink} on {ground}",
                    theme.name
                );
                assert!(
                    [theme.page, theme.lane]
                        .iter()
                        .all(|ground| ink.contrast(*ground) >= 4.5)
                );
            }
        }
    }

    #[test]
    fn relations_differ_without_red_green_or_blue_cones() {
        for theme in Theme::ALL {
            let named = Relation::ALL.map(|relation| (relation.code(), theme.edge(relation)));
            color_vision::assert_distinct(theme.name, &named);
        }
    }

    #[test]
    fn more_than_colour_shows_whether_a_transaction_committed() {
        let border =
            |outcome| Theme::ALL.map(|t| t.style(Role::Bar(outcome, Emphasis::Evidence)).stroke);
        let [committed, aborted, unknown] =
            [Outcome::Committed, Outcome::Aborted, Outcome::Unknown]
                .map(|outcome| border(outcome).map(|s| s.unwrap()));
        for ((c, a), u) in committed.iter().zip(&aborted).zip(&unknown) {
            assert!(c.color != a.color && a.color == u.color);
            assert!(a.dash.is_empty() && !u.dash.is_empty());
        }
        // Reds and greys of the two borders differ for everyone.
        for theme in Theme::ALL {
            color_vision::assert_distinct(
                theme.name,
                &[
                    ("committed", theme.evidence_border),
                    ("aborted", theme.bad.1),
                ],
            );
            color_vision::assert_distinct(
                theme.name,
                &[("committed", theme.ink), ("aborted", theme.bad.1)],
            );
        }
    }

    #[test]
    fn relations_differ_in_dash_and_colour() {
        for (i, a) in Relation::ALL.into_iter().enumerate() {
            for b in Relation::ALL.into_iter().skip(i + 1) {
                assert_ne!(dash(a), dash(b));
                assert!(
                    Theme::ALL
                        .iter()
                        .all(|theme| theme.edge(a) != theme.edge(b))
                );
            }
        }
    }

    #[test]
    fn contrast_is_that_of_the_standard() {
        let (black, white) = (Color::hex(0), Color::hex(0xFF_FF_FF));
        assert!((black.contrast(white) - 21.0).abs() < 0.01);
        assert_eq!(Color::hex(0x0A_0B_0C).to_string(), "#0a0b0c");
        assert_eq!(black.mixed(white, 0.5), Color::hex(0x80_80_80));
    }
}
