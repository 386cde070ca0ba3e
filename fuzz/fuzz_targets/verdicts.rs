//! Makes a small history of the input, checks it at every level, and has the evidence verified.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isoscope_fuzz::check(bytes));
