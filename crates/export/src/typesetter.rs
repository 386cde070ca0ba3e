//! The font for each character of a PNG.
//!
//! By default the renderer sets a whole line in another font as soon as that has all its characters, and loses letters
//! where two fonts join different ones. So each stretch of a text names its font, and nothing is left to choose.

use super::svg::Stretch;
use isoscope_draw::fonts::{BUNDLED, Face};
use isoscope_model::history::{END_OF_ISOLATE, ISOLATE, is_isolate};
use resvg::usvg::{self, FontFamily, FontResolver, fontdb};
use skrifa::charmap::Charmap;
use skrifa::{FontRef, MetadataProvider};
use std::sync::Arc;

/// Invisible characters that begin a line in the font that follows them.
const NOTHING: [char; 2] = [ISOLATE, END_OF_ISOLATE];

/// The fonts of a renderer.
pub(super) struct Typesetter {
    options: usvg::Options<'static>,
    /// The bundled ones, then the installed ones.
    fonts: Vec<(Arc<Vec<u8>>, u32)>,
}

impl Typesetter {
    /// With the bundled fonts and these.
    pub(super) fn new(installed: Vec<Face>) -> Typesetter {
        let bundled = BUNDLED.iter().map(|data| (Arc::new(data.to_vec()), 0));
        let installed = installed
            .into_iter()
            .map(|face| (Arc::new(face.data), face.index));
        let fonts: Vec<(Arc<Vec<u8>>, u32)> = bundled.chain(installed).collect();
        let mut options = usvg::Options {
            font_family: "Hack".to_owned(),
            ..Default::default()
        };
        let load = |(data, index): &(Arc<Vec<u8>>, u32)| {
            let loaded = options
                .fontdb_mut()
                .load_font_source(fontdb::Source::Binary(data.clone()));
            loaded.get(*index as usize).copied()
        };
        let ids: Vec<Option<fontdb::ID>> = fonts.iter().map(load).collect();
        let select = move |font: &usvg::Font, _: &mut Arc<fontdb::Database>| {
            font.families().iter().find_map(|family| match family {
                FontFamily::Named(name) => place_of(name).and_then(|place| *ids.get(place)?),
                _ => None,
            })
        };
        options.font_resolver = FontResolver {
            select_font: Box::new(select),
            select_fallback: Box::new(|_, _, _| None),
        };
        Typesetter { options, fonts }
    }

    pub(super) fn options(&self) -> &usvg::Options<'static> {
        &self.options
    }

    /// The stretches of a text, each with its font family if that is not the usual one.
    pub(super) fn stretches(&self, text: &str, is_prose: bool) -> Vec<Stretch> {
        let usual = usize::from(is_prose);
        let maps: Vec<Option<Charmap<'_>>> = self
            .fonts
            .iter()
            .map(|(data, index)| characters(data, *index))
            .collect();
        let mut stretches: Vec<(usize, String)> = Vec::new();
        for c in text.chars() {
            let has = |place: &usize| {
                maps[*place]
                    .as_ref()
                    .is_some_and(|map| map.map(c).is_some())
            };
            let place = match stretches.last() {
                _ if c.is_ascii() || is_isolate(c) => usual,
                // What joins the previous character stays in its font.
                Some((before, _)) if *before != usual && has(before) => *before,
                _ => std::iter::once(usual)
                    .chain(0..maps.len())
                    .find(has)
                    .unwrap_or(usual),
            };
            match stretches.last_mut() {
                Some((before, stretch)) if *before == place => stretch.push(c),
                _ => stretches.push((place, c.to_string())),
            }
        }
        // Letters that join are kept together only in the font that the line begins with.
        let joins = |(_, stretch): &&(usize, String)| {
            stretch.chars().any(|c| matches!(c as u32, 0x600..=0x10FF))
        };
        let joining = stretches
            .iter()
            .find(joins)
            .map(|(place, _)| *place)
            .filter(|place| *place != usual);
        if let Some(place) = joining {
            stretches.insert(0, (place, NOTHING.iter().collect()));
        }
        let named = |(place, stretch)| ((place != usual).then(|| family(place)), stretch);
        stretches.into_iter().map(named).collect()
    }
}

fn characters(data: &[u8], index: u32) -> Option<Charmap<'_>> {
    FontRef::from_index(data, index)
        .ok()
        .map(|font| font.charmap())
}

/// The internal name of a font.
fn family(place: usize) -> String {
    format!("font-{place}")
}

/// The index of the font of this name; the first two have names of their own.
fn place_of(family: &str) -> Option<usize> {
    match family {
        "Hack" => Some(0),
        "Ubuntu" => Some(1),
        _ => family.strip_prefix("font-")?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_usual_font_lacks_is_set_in_another() {
        let typesetter = Typesetter::new(Vec::new());
        let set = |text: &str, is_prose| typesetter.stretches(text, is_prose);
        assert_eq!(
            set("r(x) = 3 → ⟂", false),
            [(None, "r(x) = 3 → ⟂".to_owned())]
        );
        let hack = Some("font-0".to_owned());
        let expected = [
            (None, "T1 ".to_owned()),
            (hack, "→".to_owned()),
            (None, " T2".to_owned()),
        ];
        assert_eq!(set("T1 → T2", true), expected);
        assert_eq!(set("🔑1", false)[0].0.as_deref(), Some("font-2"));
        // A character that no font has is a box of the usual one.
        assert_eq!(set("\u{2068}键\u{2069}", false).len(), 1);
    }
}
