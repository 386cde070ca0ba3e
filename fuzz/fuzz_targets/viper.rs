#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isoscope_fuzz::folder("viper", bytes, |n| format!("J{n}.log")));
