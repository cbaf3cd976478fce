//! Reads the table sizes of a registry from the environment of the build and writes them as constants.

use std::path::Path;
use std::{env, fs, process};

/// Name, default.
const LIMITS: [(&str, usize); 2] = [("KVC_MAX_CACHES", 16), ("KVC_MAX_BUILDERS", 16)];
/// A scan of a table happens under the lock.
const MOST: usize = 1024;

fn main() {
    if let Err(message) = run() {
        eprintln!("kvcore: {message}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    refuse_unknown()?;
    let mut constants = Vec::new();
    for (name, default) in LIMITS {
        println!("cargo::rerun-if-env-changed={name}");
        let value = limit(name, default)?;
        let constant = name.trim_start_matches("KVC_");
        constants.push(format!("pub(super) const {constant}: usize = {value};"));
    }
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run this through cargo")?;
    fs::write(Path::new(&out).join("limits.rs"), constants.join("\n")).map_err(|error| error.to_string())
}

fn limit(name: &str, default: usize) -> Result<usize, String> {
    let Some(text) = env::var_os(name) else { return Ok(default) };
    let text = text.to_string_lossy();
    match text.parse() {
        Ok(value @ 1..=MOST) => Ok(value),
        _ => Err(format!("{name} is {text:?}: a number from 1 to {MOST} was expected")),
    }
}

/// A misspelt limit must not be ignored in silence.
fn refuse_unknown() -> Result<(), String> {
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("KVC_MAX_") && !LIMITS.iter().any(|(known, _)| *known == name) {
            return Err(format!(
                "{name} is not a limit of the build; there are KVC_MAX_CACHES and KVC_MAX_BUILDERS"
            ));
        }
    }
    Ok(())
}
