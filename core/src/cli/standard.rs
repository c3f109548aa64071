//! The standard streams of a command: output for its results alone, input for its answers alone.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use crate::error::{Error, Result};

use super::input::Input;
use super::writer::Writer;

/// Where the descriptors 0, 1 and 2 led before plugin code ran.
static STREAMS: OnceLock<io::Result<Streams>> = OnceLock::new();

struct Streams {
    out: OwnedFd,
    err: OwnedFd,
    input: Input,
}

/// Gives what descriptors 1, 2 and 0 led to: for results, for everything else, and for answers.
///
/// From here on, to the end of the process, descriptor 1 itself leads to standard error: bytes that
/// plugin code writes past the streams of its language, and the output of programs it starts, must
/// not get between results. Descriptor 0 has nothing to read: a plugin that asked would take an answer
/// meant for the command, or wait for one that nobody knows is wanted. Plugin code that closes a
/// descriptor takes none of the three away.
pub(super) fn streams() -> Result<(Writer, Writer, Input)> {
    match STREAMS.get_or_init(set_aside) {
        Ok(Streams { out, err, input }) => Ok((
            Writer::descriptor(out, out.is_terminal()),
            Writer::descriptor(err, err.is_terminal()),
            input.clone(),
        )),
        Err(error) => Err(Error::Host {
            message: format!("the standard streams cannot be set aside: {error}"),
        }),
    }
}

/// Standard output and standard error, left where they lead.
pub(super) fn as_they_are() -> (Writer, Writer) {
    let (out, err) = (io::stdout(), io::stderr());
    let terminal = (out.is_terminal(), err.is_terminal());
    (Writer::descriptor(out, terminal.0), Writer::descriptor(err, terminal.1))
}

fn set_aside() -> io::Result<Streams> {
    // No program that is started inherits the copies.
    let out = io::stdout().as_fd().try_clone_to_owned()?;
    let err = io::stderr().as_fd().try_clone_to_owned()?;
    let input = Input::descriptor(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(Streams { out, err, input })
}
