//! The crate as users get it.

use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

use super::{Outcome, Verdict};
use crate::context::Context;
use crate::shell;

/// Without these a user of the crate, of the header or of the licence is stuck.
const NEEDED: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "src/lib.rs",
    "src/model.md",
    "include/kvcore.h",
    "include/kvcore.hpp",
    "include/kvcore/base.hpp",
    "CMakeLists.txt",
    "cmake/cargo.cmake",
    "cmake/install.cmake",
    "cmake/kvcoreConfig.cmake.in",
    "cmake/kvcore.pc.in",
    "examples/generate/main.rs",
    "examples/generate_c/main.c",
];

/// What only this repository needs.
const UNWANTED: &[&str] = &[".ci/", ".cargo/", "xtask/", "fuzz/", "target/"];

pub(super) fn check(context: &Context) -> Outcome {
    let list = shell::capture(&mut context.cargo("package --quiet --locked --allow-dirty --list"))?;
    let files: Vec<&str> = list.lines().collect();
    if let Some(missing) = NEEDED.iter().find(|file| !files.contains(file)) {
        return Err(format!("{list}the package lacks {missing}"));
    }
    if let Some(file) = files.iter().find(|file| UNWANTED.iter().any(|folder| file.starts_with(folder))) {
        return Err(format!("the package has {file}, which is of no use outside the repository"));
    }
    // Cargo compiles what it packed.
    shell::capture(&mut context.cargo("package --locked --allow-dirty"))?;
    build_for_c(context)?;
    Ok(Verdict::Passed(format!("{} files", files.len())))
}

/// CMake builds and installs the packed files, away from this workspace.
fn build_for_c(context: &Context) -> Result<(), String> {
    let folder = env::temp_dir().join(format!("kvcore-package-{}", process::id()));
    let result = build_in(context, &folder);
    // What stays would only take space.
    let _ = fs::remove_dir_all(&folder);
    result
}

fn build_in(context: &Context, folder: &Path) -> Result<(), String> {
    let name = format!("kvcore-{}", context.manifest_value("version")?);
    let packed = context.target.join("package").join(format!("{name}.crate"));
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    shell::capture(Command::new("tar").arg("-xf").arg(packed).arg("-C").arg(folder))?;
    let (build, prefix) = (folder.join("build"), folder.join("prefix"));
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(folder.join(name)).arg("-B").arg(&build).arg("-DKVCORE_BUILD_TESTS=OFF");
    shell::capture(&mut configure)?;
    shell::capture(Command::new("cmake").arg("--build").arg(&build))?;
    shell::capture(Command::new("cmake").arg("--install").arg(&build).arg("--prefix").arg(&prefix))?;
    let installed = prefix.join("include/kvcore.h");
    if installed.is_file() { Ok(()) } else { Err("the packed files install no header".into()) }
}
