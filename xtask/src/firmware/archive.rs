//! Archives of the library for machines that this one only emulates.

use std::fs;
use std::path::PathBuf;

use crate::context::{C_FEATURES, Context};
use crate::gates::toolchain::Source;
use crate::shell;

/// What to build for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) triple: &'static str,
    pub(super) lock: Lock,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// The default: a bounded number of tries, then `KVC_ERR_BUSY`.
    Spin,
    /// Interrupts off.
    Critical,
}

impl Lock {
    fn features(self) -> &'static str {
        match self {
            Self::Spin => "",
            Self::Critical => ",critical-section",
        }
    }
}

/// Builds the library, optimised for size, and tells where it is. Each target and lock has a file of its own.
pub(super) fn build(context: &Context, source: &Source, target: Target) -> Result<PathBuf, String> {
    let Target { triple, lock } = target;
    // The gate of microcontrollers builds there too: `core` need not be built again.
    let folder = context.scratch("microcontrollers")?;
    let mut rustc = context.cargo(
        "+nightly rustc --profile size --lib --crate-type staticlib -Zbuild-std=core --locked --target",
    );
    rustc
        .args([triple, "--target-dir"])
        .arg(&folder)
        .arg(format!("--features={C_FEATURES}{}", lock.features()));
    source.apply(&mut rustc);
    if triple.starts_with("hexagon") {
        // Core's own source for this target uses it without saying so.
        rustc.env("RUSTFLAGS", "-Zcrate-attr=feature(target_feature_inline_always)");
    }
    shell::capture(rustc.args(["--", "-Zemit-stack-sizes"]))?;
    let built = folder.join(triple).join("size/libkvcore.a");
    let name = format!("libkvcore-{triple}{}.a", lock.features().replace(',', "-"));
    let archive = context.scratch("firmware")?.join(name);
    fs::copy(&built, &archive).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(archive)
}
