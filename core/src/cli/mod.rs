//! The command line: verbs become typed commands, commands become reports.

pub mod args;
pub mod text;
pub mod usage;
pub mod writer;
