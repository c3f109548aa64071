//! Reads a JSON file, changes one value, writes it beside and flushes it. Prints milliseconds.

use std::error::Error;
use std::fs::{File, read};
use std::io::Write;
use std::time::Instant;

use serde_json::{Value, from_slice, to_vec_pretty};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the path of the file")?;
    let start = Instant::now();
    let mut state: Value = from_slice(&read(&path)?)?;
    state["last_run_id"] = "one".into();
    let text = to_vec_pretty(&state)?;
    let mut file = File::create(path + ".floor")?;
    file.write_all(&text)?;
    file.sync_all()?;
    println!("{}", start.elapsed().as_secs_f64() * 1000.0);
    Ok(())
}
