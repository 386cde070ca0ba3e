//! PNG: the SVG, rendered at twice its size.

use super::page::page;
use super::svg::{Bold, write};
use super::{ExportError, Picture};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use std::sync::LazyLock;

/// Pixels of a unit.
const SCALE: f32 = 2.0;
/// Most pixels of a picture.
const MAX_PIXELS: f32 = 16_000_000.0;
/// With fewer pixels for a unit, nothing can be read.
const MIN_SCALE: f32 = 0.5;

/// The picture as PNG. A page of more than 4 million square units gets fewer pixels for a unit; one that could not be
/// read then is refused.
pub(super) fn export(picture: &Picture) -> Result<Vec<u8>, ExportError> {
    let page = page(picture);
    let (width, height) = (page.bounds.width(), page.bounds.height());
    let scale = SCALE.min((MAX_PIXELS / (width * height)).sqrt());
    let too_large = || ExportError::TooLarge { width: width as u32, height: height as u32 };
    if scale < MIN_SCALE {
        return Err(too_large());
    }
    let tree = usvg::Tree::from_str(&write(picture, &page, Bold::Stroke), &OPTIONS)?;
    let (pixel_width, pixel_height) = ((width * scale).floor() as u32, (height * scale).floor() as u32);
    let mut pixmap = Pixmap::new(pixel_width, pixel_height).ok_or_else(too_large)?;
    // Nothing of the page is transparent, but its last row and column may not fill their pixels.
    pixmap.fill(resvg::tiny_skia::Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    encode(&pixmap)
}

/// The renderer knows one font, that of the window, so pictures are the same on every machine.
static OPTIONS: LazyLock<usvg::Options<'static>> = LazyLock::new(|| {
    let mut options = usvg::Options { font_family: "Hack".to_owned(), ..Default::default() };
    options.fontdb_mut().load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    options.fontdb_mut().set_monospace_family("Hack");
    options
});

fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, ExportError> {
    let opaque: Vec<u8> = pixmap.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut bytes = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    encoder.set_compression(::png::Compression::Balanced);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&opaque)?;
    writer.finish()?;
    Ok(bytes)
}
