#![doc = include_str!("../README.md")]

pub mod bundle;
pub mod chart;
mod digest;
mod dot;
mod drawing;
mod finding;
mod json;
pub mod lattice;
mod linear;
mod mermaid;
mod options;
mod order;
mod overrides;
mod page;
mod picture;
#[cfg(feature = "pipelines")]
pub mod pipeline;
#[cfg(feature = "png")]
mod png;
pub mod reproduce;
mod small_history;
mod svg;
mod tikz;
#[cfg(feature = "png")]
mod typesetter;
mod view;

pub use digest::{sha256, sha256_of_file};
pub use drawing::{ABOUT_DECISIVE, Drawing, draw};
pub use finding::{compose_finding, compose_finding_alone};
pub use linear::{ABOUT_LINEAR, linear_scene};
pub use options::{ComposeOptions, Evidence};
pub use order::{MOST_DRAWN, OrderSheet, ReadFrom, Stretch, compose_order, order_sheet};
pub use overrides::{Overrides, Part};
pub use page::page;
pub use picture::{Picture, PictureStep, TargetKey, compose};
#[cfg(feature = "png")]
pub use png::{Pixels, pixels};
pub use small_history::small_history;
pub use view::{View, anomaly, keys_of};

use std::path::Path;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExportKind {
    /// Vector picture; text stays text.
    Svg,
    /// Pixel picture at twice the size.
    #[cfg(feature = "png")]
    Png,
    /// Graph for Graphviz.
    Dot,
    /// Vector picture for LaTeX.
    Tikz,
    /// Graph for Mermaid, which issue trackers and wikis draw.
    Mermaid,
    /// Diagram, coordinates and steps as data.
    Json,
    /// The argument for an issue tracker.
    Markdown,
    /// The argument in plain text.
    Text,
}

/// How a kind of file is made.
pub struct Exporter {
    /// The kind.
    pub kind: ExportKind,
    /// Its display name.
    pub name: &'static str,
    /// File extensions, lower case, the usual one first.
    pub extensions: &'static [&'static str],
    /// The exporting function.
    pub run: fn(&Picture) -> Result<Vec<u8>, ExportError>,
}

/// All kinds, in the order of a menu.
pub const EXPORTERS: &[Exporter] = &[
    Exporter {
        kind: ExportKind::Svg,
        name: "SVG picture",
        extensions: &["svg"],
        run: |p| Ok(svg::export(p)),
    },
    #[cfg(feature = "png")]
    Exporter {
        kind: ExportKind::Png,
        name: "PNG picture",
        extensions: &["png"],
        run: png::export,
    },
    Exporter {
        kind: ExportKind::Dot,
        name: "Graphviz graph",
        extensions: &["dot", "gv"],
        run: |p| Ok(dot::export(p)),
    },
    Exporter {
        kind: ExportKind::Tikz,
        name: "TikZ picture",
        extensions: &["tex", "tikz"],
        run: |p| Ok(tikz::export(p)),
    },
    Exporter {
        kind: ExportKind::Mermaid,
        name: "Mermaid graph",
        extensions: &["mmd", "mermaid"],
        run: |p| Ok(mermaid::export(p)),
    },
    Exporter {
        kind: ExportKind::Json,
        name: "JSON data",
        extensions: &["json"],
        run: json::export,
    },
    Exporter {
        kind: ExportKind::Markdown,
        name: "Markdown report",
        extensions: &["md", "markdown"],
        run: |p| Ok(p.markdown.clone().into_bytes()),
    },
    Exporter {
        kind: ExportKind::Text,
        name: "Plain text",
        extensions: &["txt", "text"],
        run: |p| Ok(p.text.clone().into_bytes()),
    },
];

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The picture would need too many pixels to be legible within the cap.
    #[error("the picture is {width} by {height} units, too large for a PNG: export SVG instead")]
    TooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The renderer could not read the picture.
    #[cfg(feature = "png")]
    #[error("rendering the picture: {0}")]
    Render(#[from] resvg::usvg::Error),
    /// Writing the PNG failed.
    #[cfg(feature = "png")]
    #[error("writing PNG: {0}")]
    Png(#[from] ::png::EncodingError),
    /// Writing the JSON failed.
    #[error("writing JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl ExportKind {
    /// The row of this kind.
    pub fn exporter(self) -> &'static Exporter {
        EXPORTERS
            .iter()
            .find(|row| row.kind == self)
            .expect("every kind has a row")
    }

    /// Whether it draws what a picture [shows](View); the others are about the argument or the graph.
    pub fn is_picture(self) -> bool {
        match self {
            #[cfg(feature = "png")]
            ExportKind::Png => true,
            other => matches!(other, ExportKind::Svg | ExportKind::Tikz),
        }
    }

    /// Whether the order of a level that holds can be written as it.
    pub fn is_of_orders(self) -> bool {
        self.is_picture() || matches!(self, ExportKind::Markdown | ExportKind::Text)
    }

    /// The kind for a file extension.
    pub fn from_path(path: &Path) -> Option<ExportKind> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        EXPORTERS
            .iter()
            .find(|row| row.extensions.contains(&ending.as_str()))
            .map(|row| row.kind)
    }

    /// The usual file extension.
    pub fn extension(self) -> &'static str {
        self.exporter().extensions[0]
    }
}

/// A file of kind `kind`.
pub fn export(kind: ExportKind, picture: &Picture) -> Result<Vec<u8>, ExportError> {
    (kind.exporter().run)(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_choose_kinds_whatever_their_case() {
        for row in EXPORTERS {
            for ending in row.extensions {
                let path = format!("a.b/out.{}", ending.to_uppercase());
                assert_eq!(ExportKind::from_path(Path::new(&path)), Some(row.kind));
            }
            assert_eq!(row.kind.exporter().kind, row.kind);
        }
        assert_eq!(ExportKind::from_path(Path::new("svg")), None);
        assert_eq!(ExportKind::from_path(Path::new("x.bmp")), None);
    }
}
