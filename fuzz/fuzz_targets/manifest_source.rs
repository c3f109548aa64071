//! Feeds the fuzzer's bytes to `bodies`: manifest_source.
#![no_main]

#[path = "../limit.rs"]
mod limit;

libfuzzer_sys::fuzz_target!(|data: &[u8]| warpline_fuzz_bodies::run("manifest_source", data));
