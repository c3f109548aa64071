//! Feeds the fuzzer's bytes to `bodies`: skill_result.
#![no_main]

#[path = "../limit.rs"]
mod limit;

libfuzzer_sys::fuzz_target!(|data: &[u8]| warpline_fuzz_bodies::run("skill_result", data));
