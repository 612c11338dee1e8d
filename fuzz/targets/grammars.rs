#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| obverse_fuzz::grammars::check(input));
