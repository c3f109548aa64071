//! `board`, `tasks`, `ack`, `defer`, `done`: what a home tells a person, and the answers to it.

mod notices;
mod tasks;

pub(super) use notices::{acknowledge, show, unread};
pub(super) use tasks::{defer, done, list};
