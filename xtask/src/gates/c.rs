//! Gates of the C and C++ side.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Outcome, Verdict};
use crate::cmake::{Build, PROGRAMS};
use crate::context::Context;
use crate::setup::{CLANG, CLANGXX};
use crate::shell;

pub(super) const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

/// The names of clang's two compilers here.
pub(super) fn clang_pair() -> Result<(&'static str, &'static str), String> {
    let pair = shell::first(CLANG).zip(shell::first(CLANGXX));
    pair.ok_or_else(|| "clang is not on the path".to_owned())
}

/// What stands on ExecuTorch's own headers compiles in the gate `executorch`.
const ON_EXECUTORCH: [&str; 1] = ["cache_registry.h"];

/// Every header alone, twice, in every language version that it is for.
pub(super) fn headers(context: &Context) -> Outcome {
    let (clang, clangxx) = clang_pair()?;
    let include = context.root.join("include");
    let source = context.scratch("headers")?;
    let headers = headers_in(&include)?;
    for header in headers.iter().filter(|header| !ON_EXECUTORCH.iter().any(|name| header.ends_with(name))) {
        let text =
            format!("#include \"{0}\"\n#include \"{0}\"\nint main(void) {{ return 0; }}\n", header.display());
        let mut languages = vec![("cpp", "c++17", "g++", clangxx), ("cpp", "c++20", "g++", clangxx)];
        // The one for C; what else ends in .h is named as ExecuTorch names its C++ headers.
        if header.ends_with("include/kvcore.h") {
            languages.extend([("c", "c99", "gcc", clang), ("c", "c11", "gcc", clang)]);
        }
        for (extension, standard, gcc, clang) in languages {
            let file = source.join(format!("alone.{extension}"));
            shell::write(&file, &text)?;
            // Not -isystem: warnings in the header count.
            let mut flags = format!("-std={standard} {WARNINGS} -fsyntax-only -Iinclude -Iinclude/compat");
            if extension == "cpp" {
                flags += " -fno-exceptions -fno-rtti";
            }
            for compiler in [gcc, clang] {
                shell::capture(context.tool(compiler, &flags).arg(&file))?;
            }
        }
    }
    if headers.is_empty() {
        Err("there is no header".into())
    } else {
        Ok(Verdict::Passed(format!("{} headers", headers.len())))
    }
}

fn headers_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut headers = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            headers.extend(headers_in(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "h" || extension == "hpp") {
            headers.push(path);
        }
    }
    headers.sort();
    Ok(headers)
}

/// Again what the tests did, but for what only compiles.
pub(super) fn gcc(context: &Context) -> Outcome {
    Build::new("gcc", ("gcc", "g++")).run(context, PROGRAMS).map(Verdict::Passed)
}

/// With the shared library and the packages.
pub(super) fn clang(context: &Context) -> Outcome {
    let build = Build::new("clang", clang_pair()?).option("-DKVCORE_SHARED=ON");
    build.run(context, &[]).map(Verdict::Passed)
}

pub(super) fn address(context: &Context) -> Outcome {
    let build = Build::new("address", clang_pair()?).option("-DKVCORE_SANITIZE=address,undefined");
    build.run(context, PROGRAMS).map(Verdict::Passed)
}

/// The tests of what stands on ExecuTorch's runtime, with its wheel.
pub(super) fn executorch(context: &Context) -> Outcome {
    let wheel = context.scratch("executorch")?;
    let mut setup = context.tool("bash", "examples/executorch/setup.sh");
    if let Err(output) = shell::capture(setup.arg(&wheel)) {
        let reason = output.lines().find(|line| line.contains("cannot fetch")).map(str::to_owned);
        return reason.map(Verdict::Skipped).ok_or(output);
    }
    let folder = wheel.join("executorch");
    let build = Build::new("executorch", ("gcc", "g++"))
        .option(format!("-DKVCORE_EXECUTORCH_DIR={}", folder.display()));
    build.run(context, &["-R", "compat|executorch"]).map(Verdict::Passed)
}
