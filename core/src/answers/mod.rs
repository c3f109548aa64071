//! A human's yes and no: what the commands `approve`, `deny` and `revoke` do, for programs too.
//!
//! | answer | function |
//! |---|---|
//! | yes, to whatever is asked of these plugins: a parked result, or else a grant | [`approve`] |
//! | this parked result counts | [`apply`] |
//! | this plugin may act, for a while | [`merge_grant`], or [`write_grant`] in advance |
//! | no plugin may act any more | [`revoke_grant`] |
//! | not this proposal | [`deny`] |
//! | that no is taken back | [`remove_denials`] |
//! | this task is done, or for later | [`complete_task`], [`defer_task`] |
//! | this run never was | [`forget_runs`] |
//! | this event is seen | [`acknowledgements::update`](crate::home::acknowledgements::update) |
//!
//! [`is_approved`] tells whether a plugin may act. None of them calls a handler.
//!
//! Every writer takes the state lock, reads its document afresh, changes its own keys alone, appends
//! the trace of it to the events and then writes, so that two answers cannot undo each other. A
//! caller who was refused finds the documents as they were, but for parked results of older builds that nobody
//! could answer. The calls block while they wait for the lock, up to ten seconds: an async caller gives them a thread where that matters.
//!
//! ```
//! use warpline_core::answers::{MergeRequest, is_approved, merge_grant, revoke_grant};
//! use warpline_core::clock::Instant;
//! use warpline_core::home::Paths;
//! use warpline_core::schema::grant::Scopes;
//!
//! # fn main() -> warpline_core::error::Result<()> {
//! # let home = tempfile::tempdir().expect("a directory").path().join("home");
//! let paths = Paths::new(home);
//! let mailer = "mailer".into();
//! let scopes = Scopes::of(vec!["mailer".into()]);
//! let request = MergeRequest { scopes, ttl_ms: Some(60_000), replace: false, long: false };
//! merge_grant(&paths, &request, Instant::now())?;
//! assert!(is_approved(&paths, &mailer, Instant::now()));
//! revoke_grant(&paths, Instant::now())?;
//! assert!(!is_approved(&paths, &mailer, Instant::now()));
//! # Ok(())
//! # }
//! ```
//!
//! A program that answers in a person's place takes that person's responsibility: nothing here can
//! tell whether anybody was asked.

mod denials;
mod parked;
#[cfg(test)]
mod races;
mod records;
mod tasks;

pub use crate::decide::denial::Denied;
pub use crate::decide::gate::Answer;
pub use crate::decide::grant::{MergeRequest, Merged};
pub use crate::home::approval::{Revoked, is_approved, merge_grant, revoke_grant, write_grant};

pub use denials::{Removed, deny, remove_denials};
pub use parked::{Approved, Parked, Terms, apply, approve};
pub use records::{Forgotten, forget_runs};
pub use tasks::{complete_task, defer_task};

use crate::json::JsString;
use crate::schema::manifest::Manifest;

/// A plugin that is answered: its directory name and its manifest.
pub type Named<'a> = (&'a JsString, &'a Manifest);
