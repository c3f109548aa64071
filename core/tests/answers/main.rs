//! A human's yes and no over whole homes: for programs that embed the crate, and against crashes.

mod crash;
mod grants;
mod library;
mod records;
mod single_place;
mod single_writer;
mod support;
