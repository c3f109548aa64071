//! The environment variables of this process, read without JavaScript.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{CStr, OsString};
use std::sync::{Arc, Mutex, PoisonError};

use napi_derive::napi;
use warpline_core::home::Environment;
use warpline_core::json::JsString;

/// What was read last: it seldom changes from call to call.
static LAST: Mutex<Option<Last>> = Mutex::new(None);

struct Last {
    /// Each with the NUL behind it.
    bytes: Vec<u8>,
    environment: Arc<Environment>,
}

/// A variable of this process; `null` where it is not set, or is no text.
#[napi(catch_unwind)]
pub fn process_variable(name: String) -> Option<String> {
    env::var(name).ok()
}

/// The variables of this process and its working directory, the same as long as nothing changes. `None`
/// where JavaScript might see other ones: what is no text, has no name, or is there twice.
pub(crate) fn environment(cwd: &str) -> Option<Arc<Environment>> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(last) = &*last
        && last.environment.cwd.as_os_str() == cwd
        && are(&last.bytes)
    {
        return Some(last.environment.clone());
    }
    let bytes: Vec<u8> = entries().flat_map(CStr::to_bytes_with_nul).copied().collect();
    let variables: Vec<(OsString, OsString)> = env::vars_os().collect();
    let environment = Arc::new(Environment { vars: texts(&variables)?, cwd: cwd.into() });
    *last = Some(Last { bytes, environment: environment.clone() });
    Some(environment)
}

#[cfg(not(target_vendor = "apple"))]
fn list() -> *const *const libc::c_char {
    unsafe extern "C" {
        static environ: *const *const libc::c_char;
    }
    // SAFETY: the C library has it, and it is no more than read.
    unsafe { environ }
}

#[cfg(target_vendor = "apple")]
fn list() -> *const *const libc::c_char {
    // SAFETY: it takes nothing, and what it gives is never null.
    unsafe { *libc::_NSGetEnviron() }.cast_const().cast()
}

/// The variables as the C library has them. Called on the main thread of JavaScript alone, which is the one
/// that changes them, and not kept beyond that call.
fn entries<'a>() -> impl Iterator<Item = &'a CStr> {
    let mut next = list();
    std::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        // SAFETY: nobody changes the list meanwhile; a null pointer ends it, and each entry before that is a
        // text that ends in NUL.
        unsafe {
            let entry = *next;
            next = next.add(1);
            if entry.is_null() {
                next = std::ptr::null();
                return None;
            }
            Some(CStr::from_ptr(entry))
        }
    })
}

/// Whether the variables are these.
fn are(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    for entry in entries() {
        match rest.strip_prefix(entry.to_bytes_with_nul()) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.is_empty()
}

fn texts(variables: &[(OsString, OsString)]) -> Option<BTreeMap<String, JsString>> {
    let mut texts = BTreeMap::new();
    for (name, value) in variables {
        let (name, value) = (name.to_str()?, value.to_str()?);
        let is_odd = name.is_empty() || name.starts_with('=');
        if is_odd || texts.insert(name.to_owned(), JsString::from(value)).is_some() {
            return None;
        }
    }
    Some(texts)
}
