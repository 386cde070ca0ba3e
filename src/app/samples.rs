//! The histories that come with the program.

/// A bundled history.
#[derive(Debug)]
pub struct Sample {
    /// Its file name.
    pub file: &'static str,
    /// What it shows, in a few words.
    pub about: &'static str,
    /// Its contents.
    pub text: &'static str,
}

/// All of them, simplest first.
pub const ALL: &[Sample] = &[];

/// Name of the sample at a place, without its ending.
pub fn title(place: usize) -> String {
    ALL.get(place).map_or_else(String::new, |sample| sample.file.split('.').next().unwrap_or(sample.file).to_owned())
}
