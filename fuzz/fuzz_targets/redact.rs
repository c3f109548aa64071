//! Feeds the fuzzer's bytes to `bodies`: redact.
#![no_main]

#[path = "../limit.rs"]
mod limit;

libfuzzer_sys::fuzz_target!(|data: &[u8]| warpline_fuzz_bodies::run("redact", data));
