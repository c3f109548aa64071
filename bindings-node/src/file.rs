//! The home's place, and files that are whole or absent.

use std::path::PathBuf;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use warpline_core::home;

use crate::text::{blocking, environment, error};

/// The home that this environment (`{vars, cwd}`) leads to.
#[napi(catch_unwind)]
pub fn warpline_home(environment_json: String) -> Result<String> {
    let home = home::warpline_home(&environment(&environment_json)?);
    let home = home.map_err(|refusal| error(&refusal))?;
    Ok(home.to_string_lossy().into_owned())
}

/// The text of a file, or `null` where there is none. The path is absolute.
#[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
pub fn read_text<'env>(env: &'env Env, path: String) -> Result<PromiseRaw<'env, Option<String>>> {
    env.spawn_future(blocking(move || home::files::read_text(&PathBuf::from(path))))
}

/// Replaces a file in one step. The path is absolute.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn write_atomic<'env>(
    env: &'env Env,
    path: String,
    text: String,
) -> Result<PromiseRaw<'env, ()>> {
    env.spawn_future(blocking(move || {
        home::files::write_atomic(&PathBuf::from(path), text.as_bytes(), None)
    }))
}
