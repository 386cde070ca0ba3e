#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isoscope_fuzz::folder("cobra", bytes, |n| format!("T{n}.log")));
