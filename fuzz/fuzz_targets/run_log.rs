//! Feeds the fuzzer's bytes to `bodies`: run_log.
#![no_main]

#[path = "../limit.rs"]
mod limit;

libfuzzer_sys::fuzz_target!(|data: &[u8]| warpline_fuzz_bodies::run("run_log", data));
