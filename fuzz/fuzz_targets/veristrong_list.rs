#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isoscope_fuzz::file("veristrong-list", bytes));
