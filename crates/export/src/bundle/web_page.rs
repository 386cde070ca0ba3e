//! One file of HTML that opens offline: the picture is inside, nothing is loaded from anywhere.
//!
//! The page has a script and a style of its own, and a Content Security Policy that allows exactly these, by their
//! digests. So nothing that a history contains could act, even if it were not escaped.

use super::contents;
use super::html::{blocks, escape};
use super::{Brief, Made, Picture, operations, stage};
use crate::digest::source_of;
use crate::svg;
use isoscope_tell::counterexample::narrate;
use std::fmt::Write;

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
/// What the keys do.
const HELP: &str = include_str!("../../assets/report-help.html");

/// The whole page.
pub(super) fn web_page(made: &Made<'_>) -> String {
    let Made { brief, picture, .. } = made;
    let Brief {
        example,
        explanation,
        ..
    } = brief;
    let mut out = head(&narrate::headline(example, explanation), picture);
    let _ = writeln!(out, "<header>\n<h1>{}</h1>", escape(&explanation.title));
    let [summary, breaks, tested] = explanation.block();
    let _ = writeln!(out, "<p class=\"summary\">{}</p>", escape(&summary));
    for said in [breaks, tested] {
        let _ = writeln!(out, "<p class=\"breaks\">{}</p>", escape(&said));
    }
    out.push_str("</header>\n");
    out.push_str("<main>\n");
    out.push_str(&stage::stage(picture, explanation));
    out.push_str(&operations::operations(brief, picture));
    out.push_str(&blocks(&contents::beneath(made)));
    out.push_str("</main>\n<footer>\n");
    for fact in &picture.footer {
        let _ = writeln!(out, "<p>{}</p>", escape(fact));
    }
    let _ = writeln!(
        out,
        "</footer>\n{HELP}<script>{SCRIPT}</script>\n</body>\n</html>"
    );
    out
}

pub(super) fn head(title: &str, picture: &Picture) -> String {
    let style = format!("\n{STYLE}{}", svg::sheet(picture));
    // Nothing may be loaded, sent or run apart from these two; text can never become script.
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        source_of(SCRIPT),
        source_of(&style)
    );
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let _ = writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">"
    );
    let _ = writeln!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
    );
    let _ = writeln!(
        out,
        "<meta name=\"generator\" content=\"IsoScope {}\">",
        env!("CARGO_PKG_VERSION")
    );
    let _ = writeln!(
        out,
        "<title>{}</title>\n<style>{style}</style>\n</head>\n<body>",
        escape(title)
    );
    out
}
