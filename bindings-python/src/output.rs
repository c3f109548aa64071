//! The standard output of a command, for its results alone.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use warpline_core::cli::writer::Writer;
use warpline_core::error::{Error, Result};

/// Where descriptor 1 led before it was set aside.
static RESULTS: OnceLock<io::Result<OwnedFd>> = OnceLock::new();

/// Gives a writer for what descriptor 1 led to. The descriptor itself leads to standard error from here
/// on, to the end of the process: bytes that plugin code writes past `sys.stdout`, and the output of
/// programs it starts, must not get between results.
pub(crate) fn results() -> Result<Writer> {
    match RESULTS.get_or_init(set_aside) {
        Ok(results) => Ok(Writer::descriptor(results, results.is_terminal())),
        Err(error) => {
            Err(Error::Host { message: format!("standard output cannot be set aside: {error}") })
        }
    }
}

fn set_aside() -> io::Result<OwnedFd> {
    // No program that is started inherits the copy.
    let results = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(results)
}
