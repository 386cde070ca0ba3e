//! PNG: the SVG, rendered at twice its size.

use super::page::page;
use super::svg::{Reader, write};
use super::typesetter::Typesetter;
use super::{ExportError, Picture};
use isoscope_draw::diagram::scene::{Scene, Shape};
use isoscope_draw::diagram::theme::Role;
use isoscope_draw::fonts;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Pixels per unit.
const SCALE: f32 = 2.0;
/// Maximum number of pixels of a picture.
const MAX_PIXELS: f32 = 16_000_000.0;
/// With fewer pixels per unit, the text is illegible.
const MIN_SCALE: f32 = 0.5;

/// A picture as pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green and blue of each, row by row.
    pub rgb: Vec<u8>,
}

/// The picture as PNG: its [`pixels`].
pub(super) fn export(picture: &Picture) -> Result<Vec<u8>, ExportError> {
    encode(&pixels(picture)?)
}

/// The pixels of the picture. A page of more than 4 million square units gets fewer pixels per unit; one that would be
/// illegible is refused.
pub fn pixels(picture: &Picture) -> Result<Pixels, ExportError> {
    let page = page(picture);
    let (width, height) = (page.bounds.width(), page.bounds.height());
    let scale = SCALE.min((MAX_PIXELS / (width * height)).sqrt());
    let too_large = || ExportError::TooLarge {
        width: width as u32,
        height: height as u32,
    };
    if scale < MIN_SCALE {
        return Err(too_large());
    }
    let lacking = lacking(&page);
    let with_installed =
        (!lacking.is_empty()).then(|| Typesetter::new(fonts::fallback(lacking).faces));
    let typesetter = with_installed.as_ref().unwrap_or(&BUNDLED_ONLY);
    let stretches = |text: &str, role: Role| typesetter.stretches(text, role.is_prose());
    let tree = usvg::Tree::from_str(
        &write(picture, &page, Reader::Renderer(&stretches)),
        typesetter.options(),
    )?;
    let (pixel_width, pixel_height) = (
        (width * scale).floor() as u32,
        (height * scale).floor() as u32,
    );
    let mut pixmap = Pixmap::new(pixel_width, pixel_height).ok_or_else(too_large)?;
    // The page is opaque, but its last row and column may not fill their pixels.
    pixmap.fill(resvg::tiny_skia::Color::WHITE);
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    let opaque = pixmap.data().chunks_exact(4);
    let opaque = opaque.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]);
    Ok(Pixels {
        width: pixmap.width(),
        height: pixmap.height(),
        rgb: opaque.collect(),
    })
}

/// With the bundled fonts only, so that pictures are the same on every machine.
static BUNDLED_ONLY: LazyLock<Typesetter> = LazyLock::new(|| Typesetter::new(Vec::new()));

/// The characters of a page that the bundled fonts lack.
fn lacking(page: &Scene) -> BTreeSet<char> {
    let texts = page.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    fonts::lacking(texts)
}

fn encode(pixels: &Pixels) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut bytes, pixels.width, pixels.height);
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    encoder.set_compression(::png::Compression::Balanced);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels.rgb)?;
    writer.finish()?;
    Ok(bytes)
}
