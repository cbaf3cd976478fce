//! Builds for microcontrollers.

use std::process::Command;

use super::{Outcome, Verdict, image, toolchain};
use crate::context::{C_FEATURES, Context};
use crate::shell;

struct Core {
    target: &'static str,
    features: &'static str,
}

const CORES: [Core; 2] = [
    Core { target: "thumbv6m-none-eabi", features: ",critical-section" },
    Core { target: "thumbv7em-none-eabihf", features: "" },
];

/// Builds, finds no trace of a panic, and tells the size with every call kept.
pub(super) fn check(context: &Context) -> Outcome {
    toolchain::nightly(context)?;
    let Some(source) = toolchain::library_source(context)? else {
        return Ok(Verdict::Skipped(toolchain::NO_SOURCE.into()));
    };
    let folder = context.scratch("microcontrollers")?;
    let mut notes = Vec::new();
    for core in &CORES {
        let mut build = context
            .cargo("+nightly rustc --profile size --lib --crate-type staticlib -Zbuild-std=core --locked");
        build.arg(format!("--features={C_FEATURES}{}", core.features));
        build.args(["--target", core.target, "--target-dir"]).arg(&folder);
        source.apply(&mut build);
        shell::capture(&mut build)?;
        let archive = folder.join(core.target).join("size/libkvcore.a");
        let traces = image::traces_in_archive(&archive)?;
        if !traces.is_empty() {
            return Err(format!("{} holds\n{}", core.target, traces.join("\n")));
        }
        let bytes = own_bytes(&shell::capture(Command::new("size").args(["-A", "-d"]).arg(&archive))?);
        if bytes == 0 {
            return Err(format!("{}: `size` finds no code of the library", core.target));
        }
        notes.push(format!("{} {bytes} bytes", core.target));
    }
    Ok(Verdict::Passed(notes.join(", ")))
}

/// Code and constants of the library's own members in what `size -A` wrote:
/// "kvcore-….o  (ex libkvcore.a):", then lines as ".text.kvc_length  40  0".
fn own_bytes(output: &str) -> u64 {
    let mut own = false;
    let mut bytes = 0;
    for line in output.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        if line.ends_with("):") {
            own = first.starts_with("kvcore-");
        } else if own && (first.starts_with(".text") || first.starts_with(".rodata")) {
            bytes += words.next().and_then(|size| size.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    bytes
}
