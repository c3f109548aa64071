//! The most memory that one target may hold: an allocation beyond ends the process, which is a crash.

use std::alloc::System;

use cap::Cap;

/// Bytes. The largest inputs take less than a tenth of it.
const MOST: usize = 512 * 1024 * 1024;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MOST);
