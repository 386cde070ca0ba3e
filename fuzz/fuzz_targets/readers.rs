//! Reads the input as a history file: in the format that `ISOSCOPE_FORMAT` names, else in the one that the first byte
//! picks. Where it asks for the `list` of formats, prints their names and ends.
#![no_main]

use std::sync::LazyLock;

static FORMAT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("ISOSCOPE_FORMAT").ok());

libfuzzer_sys::fuzz_target!(
    init: {
        if FORMAT.as_deref() == Some("list") {
            isoscope_fuzz::formats().for_each(|name| println!("{name}"));
            std::process::exit(0);
        }
    },
    |bytes: &[u8]| match (FORMAT.as_deref(), bytes) {
        (Some(format), bytes) => isoscope_fuzz::read_as(format, bytes),
        (None, [first, rest @ ..]) => isoscope_fuzz::read_as_format_at(*first, rest),
        (None, []) => {}
    }
);
