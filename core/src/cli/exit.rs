//! The exit codes, each in one place: the program's help and the reference show this table.

/// It was done, and nothing failed.
pub const DONE: i32 = 0;
/// Something failed or was refused.
pub const FAILED: i32 = 1;
/// The advance could not run, and nothing was written; a scheduler may try again later.
pub const COULD_NOT_RUN: i32 = 75;
/// A signal ended it.
pub const INTERRUPTED: i32 = 130;

/// Every code with what it means, for a reader.
pub const TABLE: [(i32, &str); 4] = [
    (DONE, "done; nothing failed, though results may wait for an answer"),
    (FAILED, "wrong usage or a refusal, or something failed"),
    (COULD_NOT_RUN, "`advance` could not start and wrote nothing; try again later"),
    (INTERRUPTED, "interrupted by SIGINT, SIGTERM or SIGHUP; a second signal ends at once"),
];

/// The table as a section of a help text.
pub(super) fn help() -> String {
    TABLE.iter().map(|(code, meaning)| format!("\n  {code:<3}  {meaning}")).collect()
}
