//! Faults on purpose: the file operations of a home are counted, and one of them fails or is the
//! last thing that this process does. Only tests are built with this.

#[cfg(not(debug_assertions))]
compile_error!("`fault-injection` is for tests: it has no place in a release build");

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

pub use super::disk::Operation;

/// What tells a library that was built with this from one that was not.
pub const MARKER: &str = "this build can be made to fail on purpose";

/// What happens at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends before the operation.
    StopBefore,
    /// The process ends when half of the bytes are written, of an operation that writes some.
    StopInside,
    /// The process ends after the operation.
    StopAfter,
    /// The operation is not done, and fails with this errno.
    Fail(i32),
    /// Half of the bytes are written, then there is no room for more. What does not write fails.
    Short,
    /// There is no room from here on: whatever needs some fails, a write after its first half.
    Full,
    /// The disk is gone from here on: everything fails, the first write after its first half.
    Gone,
}

/// An operation that passed, with the path it was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// What was done.
    pub operation: Operation,
    /// To what.
    pub path: PathBuf,
}

/// What was asked for, and how far it is.
#[derive(Debug, Default)]
struct Plan {
    armed: bool,
    fault: Option<(usize, Fault)>,
    passed: Vec<Passed>,
}

static PLAN: Mutex<Plan> = Mutex::new(Plan { armed: false, fault: None, passed: Vec::new() });

fn plan() -> MutexGuard<'static, Plan> {
    PLAN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the file operations of this process from now on, from 1; at the point that is named, if one
/// is, the fault happens.
pub fn arm(fault: Option<(usize, Fault)>) {
    std::hint::black_box(MARKER);
    *plan() = Plan { armed: true, fault, passed: Vec::new() };
}

/// Ends what [`arm`] began and says which operations passed.
pub fn disarm() -> Vec<Passed> {
    std::mem::take(&mut *plan()).passed
}

/// The fault of the operation that passes now, if it has one.
fn pass(operation: Operation, path: &Path) -> Option<Fault> {
    let mut plan = plan();
    if !plan.armed {
        return None;
    }
    plan.passed.push(Passed { operation, path: path.to_owned() });
    let (point, fault) = plan.fault?;
    let number = plan.passed.len();
    match fault {
        _ if number == point => Some(fault),
        Fault::Full if number > point => Some(fault),
        Fault::Gone if number > point => Some(Fault::Fail(Errno::IO.raw_os_error())),
        _ => None,
    }
}

fn needs_room(operation: Operation) -> bool {
    match operation {
        Operation::Create
        | Operation::Write
        | Operation::Sync
        | Operation::Rename
        | Operation::Link
        | Operation::MakeDirectory => true,
        Operation::Look
        | Operation::List
        | Operation::Open
        | Operation::Read
        | Operation::Cut
        | Operation::Mode
        | Operation::SyncDirectory
        | Operation::Remove
        | Operation::RemoveDirectory
        | Operation::Lock
        | Operation::Unlock => false,
    }
}

fn no_room() -> io::Error {
    io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error())
}

fn gone() -> io::Error {
    io::Error::from_raw_os_error(Errno::IO.raw_os_error())
}

/// Does one operation at its point.
pub(super) fn at<T>(
    operation: Operation,
    path: &Path,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    match pass(operation, path) {
        None => act(),
        Some(Fault::StopBefore | Fault::StopInside) => std::process::abort(),
        Some(Fault::StopAfter) => {
            let _done = act();
            std::process::abort()
        }
        Some(Fault::Fail(errno)) => Err(io::Error::from_raw_os_error(errno)),
        Some(Fault::Gone) => Err(gone()),
        Some(Fault::Full) if !needs_room(operation) => act(),
        Some(Fault::Short | Fault::Full) => Err(no_room()),
    }
}

/// Writes bytes at a point.
pub(super) fn write_at(
    path: &Path,
    bytes: &[u8],
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (half, _) = bytes.split_at(bytes.len() / 2);
    match pass(Operation::Write, path) {
        None => write(bytes),
        Some(Fault::StopBefore) => std::process::abort(),
        Some(Fault::StopInside) => {
            let _written = write(half);
            std::process::abort()
        }
        Some(Fault::StopAfter) => {
            let _written = write(bytes);
            std::process::abort()
        }
        Some(Fault::Fail(errno)) => Err(io::Error::from_raw_os_error(errno)),
        Some(Fault::Short | Fault::Full) => write(half).and(Err(no_room())),
        Some(Fault::Gone) => write(half).and(Err(gone())),
    }
}
