//! The C and C++ tests under ThreadSanitizer, which has to see inside the library.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::c::{WARNINGS, clang_pair};
use super::toolchain::{self, Source};
use super::{Outcome, Verdict};
use crate::cmake::Build;
use crate::context::Context;
use crate::shell;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Tests of one thread that take long or whose signals ThreadSanitizer holds back, and tests that only compile.
const OF_ONE_THREAD: &str = "interrupts|exhaustive|shadow|cases|generate|compile_fail|freestanding|consumer";

/// A race that only code inside the library commits: two threads let it write to the same place.
const RACE: &str = r"
#include <pthread.h>
#include <kvcore.h>
static uint64_t bytes;
static void *race(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        (void)kvc_pool_bytes(1, 1, 1, 8, &bytes);
    }
    return unused;
}
int main(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, race, NULL) != 0) {
        return 2;
    }
    race(NULL);
    return pthread_join(other, NULL);
}
";

/// Without an instrumented library there is nothing to see: its locks are unknown then, and what they guard looks raced
/// for. The gate `loom` remains.
pub(super) fn check(context: &Context) -> Outcome {
    toolchain::nightly(context)?;
    match toolchain::library_source(context)? {
        Some(source) => instrumented(context, &source),
        None => Ok(Verdict::Skipped(toolchain::NO_SOURCE.into())),
    }
}

fn instrumented(context: &Context, source: &Source) -> Outcome {
    let runtime = runtime(context)?;
    // The runtime that fits the library is that of its compiler, not that of clang.
    let libraries =
        format!("-Wl,--whole-archive {} -Wl,--no-whole-archive -ldl -lm -lpthread -lrt", runtime.display());
    let mut build = Build::new("thread", clang_pair()?)
        .option("-DKVCORE_SANITIZE=thread")
        .option("-DKVCORE_TOOLCHAIN=nightly")
        .option("-DKVCORE_CARGO_ARGS=-Zbuild-std=core")
        .option(format!("-DKVCORE_CARGO_TARGET={TARGET}"))
        .option("-DCMAKE_EXE_LINKER_FLAGS=-fno-sanitize-link-runtime")
        .option(format!("-DCMAKE_C_STANDARD_LIBRARIES={libraries}"))
        .option(format!("-DCMAKE_CXX_STANDARD_LIBRARIES={libraries}"))
        .variable("RUSTFLAGS", "-Zsanitizer=thread");
    if let Some((name, value)) = source.variable() {
        build = build.variable(name, value);
    }
    let tests = build.run(context, &["-E", OF_ONE_THREAD])?;
    sees_a_race(context, &build.folder(context)?, &libraries)?;
    Ok(Verdict::Passed(format!("{tests}; a race inside the library is seen")))
}

fn runtime(context: &Context) -> Result<PathBuf, String> {
    let folder = toolchain::nightly_sysroot(context)?.join(format!("lib/rustlib/{TARGET}/lib"));
    let runtime = folder.join("librustc-nightly_rt.tsan.a");
    if runtime.is_file() {
        Ok(runtime)
    } else {
        Err("the nightly toolchain has no runtime of ThreadSanitizer".into())
    }
}

/// The gate itself is checked: without the instrumented library it could not fail.
fn sees_a_race(context: &Context, folder: &Path, libraries: &str) -> Result<(), String> {
    let (clang, _) = clang_pair()?;
    let (source, program) = (folder.join("race.c"), folder.join("race"));
    shell::write(&source, RACE)?;
    let flags = format!("-std=c99 {WARNINGS} -fsanitize=thread -fno-sanitize-link-runtime -Iinclude");
    let mut compile = context.tool(clang, &flags);
    compile.arg(&source).arg(folder.join("libkvcore.a")).args(libraries.split(' '));
    shell::capture(compile.arg("-o").arg(&program))?;
    let output = shell::capture_failure(&mut Command::new(&program))?;
    if output.contains("data race") && output.contains("kvc_pool_bytes") {
        Ok(())
    } else {
        Err(format!("{output}the race inside kvc_pool_bytes was not reported"))
    }
}
