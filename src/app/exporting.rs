//! Writing exports off the frame.

use super::App;
use super::files::write_whole;
use super::picture::{Argument, Picture};
use super::state::Document;
use super::tasks::{Failure, Task};
use super::tree::Catalogue;
use super::vocabulary::{Banner, Tone};
use crate::checkers::lattice::Promise;
use crate::control::Control;
use crate::diagram::scene::Scene;
use crate::export::bundle::{self, Brief};
use crate::export::{self, ComposeOptions, Evidence, ExportKind, Pixels, View, compose, export};
use crate::files;
use crate::health::Health;
use crate::history::{Annotation, History};
use crate::relations::Relation;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writing; the answer is the path written, or what went wrong.
pub(super) static EXPORT: Task<Result<PathBuf, String>> = Task {
    is_of_history: false,
    replaces: false,
    ..Task::new(
        "export",
        Failure::Message("The export ended unexpectedly"),
        |app, result| match result {
            Ok(path) => app.state.tell_all(Banner::written(&path)),
            Err(text) => app.state.tell(Tone::Problem, text),
        },
    )
};

/// Drawing a picture for the clipboard.
pub(super) static COPY: Task<Result<Pixels, String>> = Task {
    is_of_history: false,
    ..Task::new(
        "picture",
        Failure::Message("The picture could not be drawn"),
        |app, result| match result {
            Ok(pixels) => {
                let size = [pixels.width as usize, pixels.height as usize];
                let image = egui::ColorImage::from_rgb(size, &pixels.rgb);
                app.state.copied_picture = Some(image);
                app.state
                    .tell(Tone::Done, "The picture is on the clipboard: paste it");
            }
            Err(text) => app.state.tell(Tone::Problem, text),
        },
    )
};

/// Laying out the page that is being exported, to be seen before it is written.
pub(super) static PREVIEW: Task<Arc<Scene>> = Task {
    shows_progress: false,
    ..Task::new("preview", Failure::Silent, |app, page| {
        if let Some(form) = &mut app.state.export {
            form.preview = Some(page);
        }
    })
};

impl App {
    /// Puts the argument on the clipboard in some form.
    pub(super) fn copy_argument(&mut self, ctx: &egui::Context, form: fn(&Argument) -> &String) {
        let document = self.state.document.as_ref();
        if let Some(picture) = document.and_then(Document::current_picture) {
            ctx.copy_text(form(&picture.argument).clone());
            self.state
                .tell(Tone::Done, "The argument is on the clipboard");
        }
    }

    /// Asks for the page of the export dialog as it would be written now.
    pub(super) fn prepare_preview(&mut self) {
        let Some(form) = &mut self.state.export else {
            return;
        };
        let wanted = (form.view, form.style);
        if form.previewed.replace(wanted) == Some(wanted) {
            return;
        }
        form.preview = None;
        if let Some(what) = self.drawn_on(wanted.0) {
            self.ask(&PREVIEW, move |_| {
                Some(Arc::new(export::page(&what.page(wanted.1))))
            });
        }
    }
}

/// What to write.
pub struct What {
    /// The argument.
    pub picture: Arc<Picture>,
    /// The whole history.
    pub history: Arc<History>,
    /// What a picture shows.
    pub view: View,
    /// Relations whose edges are not drawn.
    pub hidden: BTreeSet<Relation>,
}

/// How a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStyle {
    /// With the steps of the argument.
    pub with_argument: bool,
    /// On a dark ground.
    pub is_dark: bool,
}

impl What {
    /// The page in this style.
    fn page(&self, style: PageStyle) -> export::Picture {
        let argument = &self.picture.argument;
        let options = ComposeOptions {
            hidden: self.hidden.iter().copied().collect(),
            drawn: Some(self.picture.sketch.arranged()),
            view: self.view.clone(),
            ..self.picture.options(&self.history)
        };
        let (example, explanation) = (&argument.counterexample, &argument.explanation);
        let page = compose(example, explanation, &self.history, &options);
        let is_dark = style.is_dark;
        let page = export::Picture { is_dark, ..page };
        match style.with_argument {
            true => page,
            false => export::Picture {
                steps: Vec::new(),
                conclusion: String::new(),
                details: Vec::new(),
                ..page
            },
        }
    }
}

impl PageStyle {
    /// With the argument, as it is printed.
    pub const WHOLE: PageStyle = PageStyle {
        with_argument: true,
        is_dark: false,
    };
}

/// The picture with its headline, without the argument.
pub(super) fn pixels(what: &What) -> Result<Pixels, String> {
    let style = PageStyle {
        with_argument: false,
        is_dark: false,
    };
    export::pixels(&what.page(style)).map_err(|error| error.to_string())
}

/// Writes one file in a style, and returns its path.
pub(super) fn write(
    what: &What,
    (kind, path, style): (ExportKind, &Path, PageStyle),
    control: &Control,
) -> Result<PathBuf, String> {
    let page = what.page(style);
    let bytes = export(kind, &page).map_err(|error| error.to_string())?;
    // A job cancelled in time leaves no file.
    control.check().map_err(|interrupt| interrupt.to_string())?;
    write_whole(path, &bytes)?;
    Ok(path.to_owned())
}

/// The ending of a report in one file.
pub const PAGE: &str = "html";

/// A report to write.
pub struct Report {
    /// A new folder; if it exists, another name next to it is used. Or an HTML file, which is the page of the report.
    pub folder: PathBuf,
    /// The argument.
    pub picture: Arc<Picture>,
    /// The whole history.
    pub history: Arc<History>,
    /// Everything found in it.
    pub catalogue: Arc<Catalogue>,
    /// Whether it can be trusted.
    pub health: Arc<Health>,
    /// The history's file, for the command line in the report.
    pub file: String,
    /// What the user marked in it.
    pub annotations: Vec<Annotation>,
    /// What was promised.
    pub promise: Option<&'static Promise>,
}

/// Writes a report, and returns its folder.
pub(super) fn write_report(what: &Report, control: &Control) -> Result<PathBuf, String> {
    let argument = &what.picture.argument;
    let violation = what
        .catalogue
        .violation(argument.shown)
        .ok_or("the anomaly is gone")?;
    let mut options = what.picture.options(&what.history);
    if options.overrides.kept.is_empty() {
        // A report must convince by itself: evidence that is only folded in the window is in it.
        options.evidence = Evidence::All;
    }
    let is_page = what.folder.extension().is_some_and(|ending| ending == PAGE);
    let folder = match is_page {
        true => what.folder.clone(),
        false => free_name(&what.folder),
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let brief = Brief {
        example: &argument.counterexample,
        explanation: &argument.explanation,
        violation,
        whole: &what.history,
        findings: &what.catalogue.findings,
        health: &what.health,
        options: &options,
        promise: what.promise,
        isolation: None,
        annotations: &what.annotations,
        command: format!(
            "isoscope report '{}' --violation {} -o '{name}'",
            what.file, argument.shown
        ),
    };
    if is_page {
        let page = bundle::page(&brief, control).map_err(|error| error.to_string())?;
        write_whole(&folder, &page)?;
        return Ok(folder);
    }
    let report = bundle::bundle(&brief, control).map_err(|error| error.to_string())?;
    control.check().map_err(|interrupt| interrupt.to_string())?;
    files::write_folder(&folder, &report).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// The path, or the first numbered one that does not exist yet.
pub(super) fn free_name(path: &Path) -> PathBuf {
    let numbered = |n: u32| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{n}"));
        path.with_file_name(name)
    };
    let mut names = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| path.to_owned())
}
