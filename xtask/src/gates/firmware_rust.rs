//! The firmware in Rust: its defmt frames tell what must have happened to its cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Outcome, Verdict, toolchain};
use crate::context::Context;
use crate::shell;

const FOLDER: &str = "examples/firmware_rust";
const TARGET: &str = "thumbv7m-none-eabi";
/// The lock that spins, and the one that turns interrupts off.
const FEATURES: [&str; 2] = ["", "critical-section"];

/// Runs it in an emulator with either lock, decodes the frames, and compares them with the log in its folder.
pub(super) fn check(context: &Context) -> Outcome {
    toolchain::nightly(context)?;
    let Some(source) = toolchain::library_source(context)? else {
        return Ok(Verdict::Skipped(toolchain::NO_SOURCE.into()));
    };
    let example = Example {
        folder: context.root.join(FOLDER),
        target: context.scratch("firmware-rust")?,
        context,
        source,
    };
    shell::capture(&mut example.cargo("fmt -p firmware_rust -p decode --check"))?;
    let expected = shell::read(&example.folder.join("expected.log"))?;
    let decoder = example.decoder()?;
    for features in FEATURES {
        let firmware = example.build(features)?;
        let log = example.run(&firmware, &decoder);
        log.and_then(|log| compare(&expected, &log))
            .map_err(|output| format!("{output}with features \"{features}\""))?;
    }
    Ok(Verdict::Passed(format!("{} lines of log with either lock", expected.lines().count())))
}

struct Example<'c> {
    folder: PathBuf,
    target: PathBuf,
    context: &'c Context,
    source: toolchain::Source,
}

impl Example<'_> {
    /// A call of cargo in the folder of the firmware, whose settings it finds there.
    fn cargo(&self, arguments: &str) -> Command {
        let mut command = self.context.cargo(arguments);
        command.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// Lints and builds the firmware.
    fn build(&self, features: &str) -> Result<PathBuf, String> {
        let options = format!("--release --locked -Zbuild-std=core --features={features}");
        for (task, lints) in [("clippy", " -- -D warnings"), ("build", "")] {
            let mut command = self.cargo(&format!("+nightly {task} {options}{lints}"));
            self.source.apply(&mut command);
            shell::capture(&mut command)?;
        }
        Ok(self.target.join(TARGET).join("release/firmware_rust"))
    }

    /// Builds the decoder, away from the firmware's settings: it runs on this machine.
    fn decoder(&self) -> Result<PathBuf, String> {
        let arguments = format!("build --locked --manifest-path {FOLDER}/decode/Cargo.toml --target-dir");
        let mut command = self.context.cargo(&arguments);
        // Nobody debugs it, and it builds faster.
        command.arg(&self.target).env("CARGO_PROFILE_DEV_DEBUG", "0");
        shell::capture(&mut command)?;
        Ok(self.target.join("debug/decode"))
    }

    /// The log of a run whose exit status counts no failure.
    fn run(&self, firmware: &Path, decoder: &Path) -> Result<String, String> {
        let machine = "20 qemu-system-arm -M mps2-an385 -nographic -monitor none -serial none \
                       -semihosting-config enable=on,target=native -kernel";
        let mut emulator = self.context.tool("timeout", machine);
        let run = emulator.arg(firmware).stdin(Stdio::null()).output();
        // Frames are no text.
        let run = run.map_err(|error| format!("`timeout`: {error}"))?;
        let frames = self.target.join("frames");
        fs::write(&frames, run.stdout).map_err(|error| format!("{}: {error}", frames.display()))?;
        let log = shell::capture(Command::new(decoder).args([firmware, &frames]))?;
        if run.status.success() {
            return Ok(log);
        }
        let output = String::from_utf8_lossy(&run.stderr);
        Err(format!("{log}{output}the firmware ended with {}\n", run.status))
    }
}

/// Shows the log and the first line that differs.
fn compare(expected: &str, log: &str) -> Result<(), String> {
    if expected == log {
        return Ok(());
    }
    let same = expected.lines().zip(log.lines()).take_while(|(wanted, found)| wanted == found).count();
    let wanted = expected.lines().nth(same).unwrap_or("the end");
    Err(format!("{log}line {} of the log should be\n{wanted}\n", same + 1))
}
