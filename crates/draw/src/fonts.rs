//! Which characters the bundled fonts lack, and which installed fonts have them.
//!
//! Bundled are the fonts of the window's toolkit: Latin, Greek, Cyrillic, signs and most emoji. Installed fonts are looked
//! for only when a text needs more, so that other pictures are the same on every machine and no start becomes slower.

use isoscope_model::history::is_hidden;
use resvg::usvg::fontdb::{Database, FaceInfo, Stretch, Style, Weight};
use skrifa::charmap::Charmap;
use skrifa::{FontRef, MetadataProvider};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The bundled fonts: monospaced, proportional, emoji and signs.
pub const BUNDLED: [&[u8]; 4] = [
    epaint_default_fonts::HACK_REGULAR,
    epaint_default_fonts::UBUNTU_LIGHT,
    epaint_default_fonts::NOTO_EMOJI_REGULAR,
    epaint_default_fonts::EMOJI_ICON,
];

static BUNDLED_CHARACTERS: LazyLock<Vec<Charmap<'static>>> = LazyLock::new(|| {
    let fonts = BUNDLED.iter().filter_map(|data| FontRef::new(data).ok());
    fonts.map(|font| font.charmap()).collect()
});

/// What this machine has installed. Reading it takes a fraction of a second.
static INSTALLED: LazyLock<Database> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    fonts
});

/// A font of this machine.
#[derive(Clone, Debug)]
pub struct Face {
    /// Its name.
    pub name: String,
    /// Its file.
    pub data: Vec<u8>,
    /// Its place in the file.
    pub index: u32,
}

/// What this machine has for characters that the bundled fonts lack.
#[derive(Clone, Debug, Default)]
pub struct Fallback {
    /// Fonts, none of them in vain.
    pub faces: Vec<Face>,
    /// Characters that none of its fonts has.
    pub missing: BTreeSet<char>,
}

/// The characters of texts that no bundled font has. O(length), fast for ASCII.
pub fn lacking<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<char> {
    let foreign = texts
        .into_iter()
        .filter(|text| !text.is_ascii())
        .flat_map(str::chars);
    let all: BTreeSet<char> = foreign
        .filter(|c| !c.is_ascii() && !is_hidden(*c))
        .collect();
    all.into_iter()
        .filter(|c| BUNDLED_CHARACTERS.iter().all(|font| font.map(*c).is_none()))
        .collect()
}

/// The fewest installed fonts that have these characters: in each step the one that has most of the rest. The first
/// call looks at all installed fonts, so it does not belong in a frame.
pub fn fallback(lacking: BTreeSet<char>) -> Fallback {
    let mut found = Fallback {
        faces: Vec::new(),
        missing: lacking,
    };
    if found.missing.is_empty() {
        return found;
    }
    let mut rest: Vec<(&FaceInfo, BTreeSet<char>)> = INSTALLED
        .faces()
        .map(|face| (face, characters(face, &found.missing)))
        .filter(|(_, characters)| !characters.is_empty())
        .collect();
    while let Some((face, characters)) = rest
        .iter()
        .max_by_key(|(face, characters)| (characters.len(), likeness(face)))
        .cloned()
    {
        found.missing.retain(|c| !characters.contains(c));
        let data = INSTALLED.with_face_data(face.id, |data, _| data.to_vec());
        found.faces.extend(data.map(|data| Face {
            name: face.post_script_name.clone(),
            data,
            index: face.index,
        }));
        rest.iter_mut()
            .for_each(|(_, other)| other.retain(|c| !characters.contains(c)));
        rest.retain(|(_, characters)| !characters.is_empty());
    }
    found
}

/// The characters among these that a font has an outline of; one of coloured pixels only is of no use.
fn characters(face: &FaceInfo, wanted: &BTreeSet<char>) -> BTreeSet<char> {
    let found = INSTALLED.with_face_data(face.id, |data, index| {
        let font = FontRef::from_index(data, index).ok()?;
        let (characters, outlines) = (font.charmap(), font.outline_glyphs());
        let is_there = |c: &char| {
            characters
                .map(*c)
                .is_some_and(|glyph| outlines.get(glyph).is_some())
        };
        Some(wanted.iter().copied().filter(is_there).collect())
    });
    found.flatten().unwrap_or_default()
}

/// How much a font is like the bundled ones: upright, of usual weight and width, without serifs.
fn likeness(face: &FaceInfo) -> (bool, bool, Reverse<u16>, bool, Reverse<&str>) {
    let name = face.post_script_name.as_str();
    (
        face.style == Style::Normal,
        face.stretch == Stretch::Normal,
        Reverse(face.weight.0.abs_diff(Weight::NORMAL.0)),
        name.contains("Sans"),
        Reverse(name),
    )
}

/// What to say when a machine has no font for characters; none for none.
pub fn advice(missing: &BTreeSet<char>) -> Option<String> {
    let scripts: BTreeSet<(&str, &str)> = missing.iter().map(|c| script(*c)).collect();
    let packages: BTreeSet<&str> = scripts.iter().map(|(_, package)| *package).collect();
    let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
    let (last, others) = names.split_last()?;
    let names = if others.is_empty() {
        (*last).to_owned()
    } else {
        format!("{} and {last}", others.join(", "))
    };
    let packages = packages.into_iter().collect::<Vec<_>>().join(" ");
    Some(format!(
        "This machine has no font for {names}: the window and PNG show boxes, SVG and text keep the names \
         (on Debian: apt install {packages})"
    ))
}

/// What a character is written in, and the Debian package that has a font for it.
fn script(c: char) -> (&'static str, &'static str) {
    const NOTO: &str = "fonts-noto-core";
    const CJK: &str = "fonts-noto-cjk";
    match c as u32 {
        0x590..=0x5FF | 0xFB1D..=0xFB4F => ("Hebrew", NOTO),
        0x600..=0x6FF | 0x750..=0x77F | 0x870..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFF => {
            ("Arabic", NOTO)
        }
        0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF => ("Korean", CJK),
        0x3040..=0x30FF | 0x31F0..=0x31FF => ("Japanese", CJK),
        0x2E80..=0x303F
        | 0x3100..=0x312F
        | 0x31A0..=0x31EF
        | 0x3200..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF => ("Chinese", CJK),
        0xFE30..=0xFE4F | 0xFF00..=0xFFEF | 0x2_0000..=0x3_FFFF => ("Chinese", CJK),
        0x2190..=0x2BFF | 0x1_F000..=0x1_FBFF => ("emoji", "fonts-symbola"),
        _ => ("some scripts", NOTO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bundled_needs_no_other_font() {
        assert!(
            lacking([
                "x = 3",
                "žluťoučký",
                "ключ",
                "κλειδί",
                "→ ≠ ⟂ … ·",
                "🔑 ☃",
                "\u{2068}\u{202e}"
            ])
            .is_empty()
        );
        assert_eq!(
            lacking(["שלום", "مفتاح", "键 鍵 キー 열쇠"]).len(),
            4 + 5 + 6
        );
        assert!(fallback(BTreeSet::new()).faces.is_empty());
    }

    #[test]
    fn a_font_is_found_or_advised() {
        let wanted = lacking(["שלום", "مفتاح", "键 キー 열쇠"]);
        let found = fallback(wanted.clone());
        for c in &wanted {
            let has = |face: &Face| {
                FontRef::from_index(&face.data, face.index)
                    .is_ok_and(|f| f.charmap().map(*c).is_some())
            };
            assert_ne!(
                found.faces.iter().any(has),
                found.missing.contains(c),
                "{c}"
            );
        }
        let said = advice(&wanted).expect("there is much to advise");
        for word in [
            "Arabic",
            "Chinese",
            "Hebrew",
            "Japanese and Korean",
            "apt install fonts-noto-cjk fonts-noto-core",
        ] {
            assert!(said.contains(word), "{said}");
        }
        assert_eq!(advice(&BTreeSet::new()), None);
    }
}
