//! What users choose about a page.

use super::overrides::Overrides;
use super::sha256_of_file;
use super::view::View;
use isoscope_draw::diagram::layout::{Arranged, LayoutStyle};
use isoscope_model::history::History;
use isoscope_model::relations::{EdgeIndex, Relation};
use std::collections::BTreeSet;
use std::path::Path;

/// How a page is composed.
#[derive(Clone, Debug, Default)]
pub struct ComposeOptions {
    /// Which layout; one that cannot handle the diagram is replaced by lanes.
    pub layout: LayoutStyle,
    /// Whether operations unrelated to the argument are shown too.
    pub all_operations: bool,
    /// Relations that are not drawn.
    pub hidden: Vec<Relation>,
    /// Which evidence is drawn in addition to the contradiction.
    pub evidence: Evidence,
    /// Whether orders that were ruled out are drawn, with what would have followed from them.
    pub alternatives: bool,
    /// The case that is drawn alone: an index into the [case tree](isoscope_tell::counterexample::case_tree); none, or the
    /// root: the part that a picture can show.
    pub case: Option<usize>,
    /// What stays and what is left out by choice.
    pub overrides: Overrides,
    /// A picture made before, for example one with cards moved by hand; what it has of the diagram stays where it is, if it
    /// has all of it.
    pub drawn: Option<Arranged>,
    /// What the picture shows; files without pictures are always about the graph.
    pub view: View,
    /// SHA-256 of the file the history was read from.
    pub sha256: Option<String>,
}

impl ComposeOptions {
    /// The usual page, with the fingerprint of the file that `whole` was read from if it can still be read.
    pub fn for_history(whole: &History) -> ComposeOptions {
        let path = &whole.origin().path;
        let sha256 = (!path.is_empty())
            .then(|| sha256_of_file(Path::new(path)).ok())
            .flatten();
        ComposeOptions {
            sha256,
            ..ComposeOptions::default()
        }
    }
}

/// Which edges are drawn in addition to those of the contradiction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// All of the argument.
    #[default]
    All,
    /// None: the bare contradiction.
    None,
    /// Evidence with these relations.
    Of(Vec<Relation>),
    /// These.
    Pinned(BTreeSet<EdgeIndex>),
}

impl std::str::FromStr for Evidence {
    type Err = String;

    /// `all`, `none`, or relations: `SO,WR`.
    fn from_str(text: &str) -> Result<Evidence, String> {
        match text.to_ascii_lowercase().as_str() {
            "all" => return Ok(Evidence::All),
            "none" => return Ok(Evidence::None),
            _ => {}
        }
        let relation = |code: &str| {
            let found = Relation::ALL
                .into_iter()
                .find(|relation| relation.code().eq_ignore_ascii_case(code.trim()));
            found.ok_or_else(|| {
                let codes = Relation::ALL.map(|relation| relation.code());
                format!(
                    "`{code}` is no evidence, expected all, none, or some of {}",
                    codes.join(", ")
                )
            })
        };
        text.split(',')
            .map(relation)
            .collect::<Result<Vec<_>, _>>()
            .map(Evidence::Of)
    }
}
