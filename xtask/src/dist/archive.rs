//! Building one target's archives.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::library;
use super::targets::{Kind, Lock, Target};
use crate::context::{C_FEATURES, Context};
use crate::gates::{image, toolchain};
use crate::{setup, shell};

/// What was built for a target.
pub(super) struct Archive {
    pub(super) target: &'static Target,
    /// As rustc made it, with Rust's `core` and its compiler helpers.
    pub(super) whole: PathBuf,
    /// `libkvcore.a` in the folder.
    pub(super) own: PathBuf,
    /// Bytes of `libkvcore.a`: the library's own code, nothing of Rust's or the compiler's.
    pub(super) file_bytes: u64,
    /// Code and constants, with every call of the interface kept.
    pub(super) code_bytes: u64,
    /// What the image has to bring.
    pub(super) asks_for: BTreeSet<String>,
}

/// What every C library has.
const OF_C: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "bcmp", "bzero"];
/// What the firmware has, where the lock is a critical section.
const OF_PORT: &[&str] = &["kvc_port_irq_save", "kvc_port_irq_restore"];

/// Builds the target's archives into the distribution's folder.
pub(super) fn build(context: &Context, target: &'static Target, folder: &Path) -> Result<Archive, String> {
    let built = cargo(context, target)?;
    let lib = library(folder, target);
    fs::create_dir_all(&lib).map_err(|error| format!("{}: {error}", lib.display()))?;
    let own = lib.join("libkvcore.a");
    copy(&built, &own)?;
    if target.kind == Kind::Metal {
        copy(&built, &lib.join("libkvcore_freestanding.a"))?;
    }
    trim(context, &own)?;
    if let Some(trace) = panic_trace(&own)? {
        return Err(format!("{}: the archive holds {trace}", target.name));
    }
    let asks_for = asks_for(target, &own)?;
    let list: Vec<&str> = asks_for.iter().map(String::as_str).collect();
    shell::write(&lib.join("undefined.txt"), &(list.join("\n") + "\n"))?;
    let file_bytes = fs::metadata(&own).map_err(|error| error.to_string())?.len();
    Ok(Archive { target, code_bytes: code_bytes(&own)?, file_bytes, asks_for, whole: built, own })
}

/// The archive as rustc makes it.
fn cargo(context: &Context, target: &Target) -> Result<PathBuf, String> {
    let critical = if target.lock == Lock::CriticalSection { ",critical-section" } else { "" };
    let features = format!("--features={C_FEATURES}{critical}");
    let folder = static_library(context, target, &["--locked", &features])?;
    Ok(folder.join("libkvcore.a"))
}

/// Builds a package's static library and tells the folder. A target that rustup has installed needs nothing but stable
/// Rust.
pub(super) fn static_library(
    context: &Context,
    target: &Target,
    package: &[&str],
) -> Result<PathBuf, String> {
    let folder = context.scratch("dist")?;
    let profile = target.kind.profile();
    let mut libraries = context.tool("rustc", "--print target-libdir --target");
    let installed = shell::capture(libraries.arg(target.name))?;
    let mut build = if Path::new(installed.trim()).is_dir() {
        context.cargo("rustc")
    } else {
        toolchain::nightly(context)?;
        let source = toolchain::library_source(context)?.ok_or(toolchain::NO_SOURCE)?;
        let mut build = context.cargo("+nightly rustc -Zbuild-std=core");
        source.apply(&mut build);
        if !target.rustflags.is_empty() {
            build.env("RUSTFLAGS", target.rustflags);
        }
        build
    };
    build.args(["--lib", "--crate-type", "staticlib", "--profile", profile, "--target", target.name]);
    shell::capture(build.args(package).arg("--target-dir").arg(&folder))?;
    Ok(folder.join(target.name).join(profile))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", to.display()))
}

/// Leaves only the library's own members.
fn trim(context: &Context, archive: &Path) -> Result<(), String> {
    let mut trim = context.tool("cmake", "");
    trim.arg(format!("-DAR={}", llvm("ar")?)).arg(format!("-DARCHIVE={}", archive.display()));
    shell::capture(trim.arg("-P").arg(context.root.join("cmake/trim.cmake"))).map(drop)
}

/// A tool of LLVM, which reads the files of every target.
pub(super) fn llvm(tool: &str) -> Result<&'static str, String> {
    let names: &[&str] = match tool {
        "ar" => setup::LLVM_AR,
        "nm" => &["llvm-nm-14", "llvm-nm"],
        "size" => &["llvm-size-14", "llvm-size"],
        _ => &["llvm-objdump-14", "llvm-objdump"],
    };
    shell::first(names).ok_or_else(|| format!("llvm-{tool} is not on the path"))
}

/// A symbol that only code that can panic has; the archive may be for any target.
pub(super) fn panic_trace(archive: &Path) -> Result<Option<String>, String> {
    let mut nm = Command::new(llvm("nm")?);
    let symbols = shell::capture(nm.args(["-C", "--no-llvm-bc"]).arg(archive))?;
    Ok(symbols.lines().find(|line| image::is_trace(line)).map(str::to_owned))
}

/// What the archive leaves undefined; an error if that is more than a C library, a compiler and the port have.
fn asks_for(target: &Target, archive: &Path) -> Result<BTreeSet<String>, String> {
    let mut nm = Command::new(llvm("nm")?);
    let symbols = shell::capture(nm.arg("-g").arg(archive))?;
    // "00000028 T name" or "         U name"; Mach-O has one more underscore before each name.
    let undefined = symbols.lines().filter_map(|line| line.trim_start().strip_prefix("U "));
    let mach_o = target.name.contains("-apple-");
    let plain = |name: &str| {
        let own = if mach_o { name.strip_prefix('_').unwrap_or(name) } else { name };
        own.to_owned()
    };
    let names: BTreeSet<String> = undefined.map(plain).collect();
    let known = |name: &String| {
        let port = target.lock == Lock::CriticalSection && OF_PORT.contains(&name.as_str());
        OF_C.contains(&name.as_str()) || name.starts_with("__") || port
    };
    match names.iter().find(|name| !known(name)) {
        Some(surprise) => Err(format!("{}: the archive asks for {surprise}", target.name)),
        None => Ok(names),
    }
}

/// The sum of what `llvm-size -A` lists as code and constants: lines as ".text.kvc_length  40  0".
fn code_bytes(archive: &Path) -> Result<u64, String> {
    let mut size = Command::new(llvm("size")?);
    let sections = shell::capture(size.args(["-A", "-d"]).arg(archive))?;
    let mut bytes = 0;
    for line in sections.lines() {
        let mut words = line.split_whitespace();
        let section = words.next().unwrap_or_default();
        let kept = [".text", ".rodata", ".data.rel.ro", "__text", "__const", "__cstring", "__literal"];
        if kept.iter().any(|name| section.starts_with(name)) {
            bytes += words.next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    if bytes == 0 { Err(format!("{}: no code in it", archive.display())) } else { Ok(bytes) }
}
