//! The folder of a distribution: what all targets share, and each target's package for pkg-config.

use std::fs;
use std::path::Path;

use super::library;
use super::targets::Target;
use crate::context::Context;
use crate::shell;

const PACKAGE: &str = "lib/cmake/kvcore";

/// A new folder with headers, licences, and the package for CMake. What an earlier run left there goes.
pub(super) fn begin(context: &Context, folder: &Path, version: &str) -> Result<(), String> {
    if folder.exists() {
        if !folder.join(PACKAGE).is_dir() {
            return Err(format!("{} is there, and nothing that this command made", folder.display()));
        }
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    copy_headers(&context.root.join("include"), &folder.join("include"))?;
    let package = folder.join(PACKAGE);
    create(&package)?;
    let templates = context.root.join("cmake/dist");
    for name in ["kvcoreConfig.cmake", "kvcoreTarget.cmake"] {
        shell::write(&package.join(name), &shell::read(&templates.join(name))?)?;
    }
    let text = shell::read(&templates.join("kvcoreConfigVersion.cmake.in"))?.replace("@VERSION@", version);
    shell::write(&package.join("kvcoreConfigVersion.cmake"), &text)?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        shell::write(&folder.join(name), &shell::read(&context.root.join(name))?)?;
    }
    shell::write(&folder.join("README.md"), &shell::read(&templates.join("README.md"))?)
}

/// `lib/TARGET/pkgconfig/kvcore.pc`; the whole folder may be moved.
pub(super) fn pkg_config(folder: &Path, target: &Target, version: &str) -> Result<(), String> {
    let place = library(folder, target).join("pkgconfig");
    create(&place)?;
    let text = format!(
        "prefix=${{pcfiledir}}/../../..\nlibdir=${{prefix}}/lib/{}\nincludedir=${{prefix}}/include\n\n\
         Name: kvcore\nDescription: Integer bookkeeping of a KV cache that lives outside the model's graph\n\
         Version: {version}\nLibs: -L${{libdir}} -lkvcore\nCflags: -I${{includedir}}\n",
        target.name
    );
    shell::write(&place.join("kvcore.pc"), &text)
}

/// The headers of a folder and of those in it.
pub(super) fn copy_headers(from: &Path, to: &Path) -> Result<(), String> {
    create(to)?;
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy_headers(&path, &to.join(name))?;
        } else if path.extension().is_some_and(|extension| extension == "h" || extension == "hpp") {
            shell::write(&to.join(name), &shell::read(&path)?)?;
        }
    }
    Ok(())
}

pub(super) fn create(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
