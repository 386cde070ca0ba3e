//! The plot: a panel per figure, as SVG or PNG.

use crate::figures::Figure;
use crate::panel::{HEIGHT, Panel, WIDTH};
use crate::table::Row;
use anyhow::Context;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Pixels of a unit.
const SCALE: f32 = 2.0;

/// Where to draw to, known to be possible before hours of measuring.
pub(crate) struct Output {
    path: PathBuf,
    is_png: bool,
}

impl Output {
    pub(crate) fn new(path: &Path) -> anyhow::Result<Output> {
        let is_png = match path.extension().and_then(|ending| ending.to_str()) {
            Some("png") => true,
            Some("svg") => false,
            _ => anyhow::bail!("{}: a plot ends in .svg or .png", path.display()),
        };
        Ok(Output {
            path: path.to_owned(),
            is_png,
        })
    }

    /// Draws the figures that have numbers for an axis.
    pub(crate) fn write(&self, figures: &[(Figure, Vec<Row>)]) -> anyhow::Result<()> {
        let panels: Vec<Panel> = figures
            .iter()
            .filter_map(|(figure, rows)| Panel::new(figure, rows))
            .collect();
        anyhow::ensure!(
            !panels.is_empty(),
            "no figure has a parameter that can be an axis"
        );
        let svg = svg(&panels);
        let bytes = if self.is_png {
            png(&svg)?
        } else {
            svg.into_bytes()
        };
        std::fs::write(&self.path, bytes).with_context(|| self.path.display().to_string())
    }
}

fn svg(panels: &[Panel]) -> String {
    let height = HEIGHT * panels.len() as f64;
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">"#
    );
    let _ = writeln!(
        out,
        r#"<rect width="{WIDTH}" height="{height}" fill="white"/>"#
    );
    for (place, panel) in panels.iter().enumerate() {
        let y = HEIGHT * place as f64;
        let _ = writeln!(
            out,
            r#"<g transform="translate(0 {y})" font-family="Hack, monospace">"#
        );
        // Lines are not filled; texts and dots are.
        out.push_str(&panel.draw().replace("<path ", "<path fill=\"none\" "));
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// With the font of the window, the only one known to be there.
fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    let mut options = usvg::Options {
        font_family: "Hack".to_owned(),
        ..Default::default()
    };
    options
        .fontdb_mut()
        .load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    let tree = usvg::Tree::from_str(svg, &options)?;
    let (width, height) = (
        (tree.size().width() * SCALE) as u32,
        (tree.size().height() * SCALE) as u32,
    );
    let mut pixmap = Pixmap::new(width, height).context("a plot without pixels")?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixmap.as_mut(),
    );
    // The ground is white and opaque.
    let colours: Vec<u8> = pixmap
        .data()
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colours)?;
    writer.finish()?;
    Ok(bytes)
}
