//! libFuzzer's driver of the target of this name.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| probelet_fuzz::target::recording::play(bytes));
