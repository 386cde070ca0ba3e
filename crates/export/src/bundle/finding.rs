//! The report of what the rules of a workload see: the calls that show it, in words and over time.

use super::contents::also_in_the_log;
use super::html::{blocks, escape};
use super::web_page::head;
use crate::svg;
use crate::{ExportError, ExportKind, Picture, compose_finding, export};
use isoscope_model::history::{History, TransactionId, visible_line};
use isoscope_tell::document::{Block, Document, Reader, code, markdown, text};
use isoscope_tell::workload::{Told, told};
use std::fmt::Write;

/// The files of a report of the finding at a place: `report.md`, `report.html` and pictures; none if the history has
/// fewer findings. Errors: a picture that cannot be made.
pub fn finding_files(
    history: &History,
    place: usize,
    sha256: Option<&str>,
    command: &str,
) -> Result<Vec<(String, Vec<u8>)>, ExportError> {
    let Some((told, picture)) = told(history, place).zip(compose_finding(history, place, sha256))
    else {
        return Ok(Vec::new());
    };
    let facts = history
        .workload()
        .map_or(&[][..], |workload| &workload.facts);
    let calls = facts.get(place).into_iter().flat_map(|fact| &fact.calls);
    let calls: Vec<TransactionId> = calls.map(|call| call.transaction).collect();
    let document = document(history, &calls, &told, &picture, command);
    let tracker = Reader::Tracker {
        picture: "picture.svg",
        alt: &picture.title,
    };
    let mut files = vec![
        (
            "report.md".to_owned(),
            markdown(&document, tracker).into_bytes(),
        ),
        (
            "report.html".to_owned(),
            web_page(&document, &picture).into_bytes(),
        ),
    ];
    let kinds = [
        ExportKind::Svg,
        #[cfg(feature = "png")]
        ExportKind::Png,
    ];
    for kind in kinds {
        let name = format!("picture.{}", kind.extension());
        files.push((name, export(kind, &picture)?));
    }
    Ok(files)
}

fn document(
    history: &History,
    calls: &[TransactionId],
    told: &Told,
    picture: &Picture,
    command: &str,
) -> Document {
    let line = |line: &String| vec![text(line)];
    let mut report = Document::default();
    report.heading(1, &picture.title);
    report
        .blocks
        .push(Block::List(told.facts.iter().map(line).collect()));
    report.blocks.push(Block::Picture);
    report.heading(2, "The calls that show it");
    report
        .blocks
        .push(Block::Numbered(1, told.calls.iter().map(line).collect()));
    also_in_the_log(&mut report, history, calls);
    report.heading(2, "Regenerating this report");
    report.blocks.push(Block::Code {
        language: "sh",
        text: visible_line(command),
    });
    report.paragraph(vec![text("From "), code(picture.footer.join(" · "))]);
    report
}

fn web_page(document: &Document, picture: &Picture) -> String {
    let mut out = head(&picture.title, picture);
    let mut rest = document.clone();
    let heading = rest.blocks.remove(0);
    if let Block::Heading(_, title) = heading {
        let _ = writeln!(
            out,
            "<header>\n<h1>{}</h1>\n</header>\n<main>",
            escape(&title)
        );
    }
    let _ = writeln!(out, "<figure>{}</figure>", svg::figure(picture));
    out + &blocks(&rest) + "</main>\n</body>\n</html>\n"
}
