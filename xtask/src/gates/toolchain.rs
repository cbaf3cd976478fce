//! What of Rust beyond the stable toolchain is on this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::Context;
use crate::shell;

/// Fails where there is no nightly toolchain.
pub(crate) fn nightly(context: &Context) -> Result<(), String> {
    shell::capture(&mut context.cargo("+nightly -V")).map(drop).map_err(|output| {
        format!("{output}this gate needs a nightly toolchain: rustup toolchain install nightly")
    })
}

/// The folder of nightly's own files.
pub(crate) fn nightly_sysroot(context: &Context) -> Result<PathBuf, String> {
    let output = shell::capture(&mut context.tool("rustc", "+nightly --print sysroot"))?;
    Ok(PathBuf::from(output.trim()))
}

/// The source of the standard library, which nightly can build `core` from for any target.
pub(crate) enum Source {
    /// The component rust-src; cargo finds it.
    Component,
    /// A folder `library`; cargo has to be told.
    Folder(PathBuf),
}

impl Source {
    /// Lets a call of cargo with `-Zbuild-std` find the source.
    pub(crate) fn apply(&self, command: &mut Command) {
        if let Some((name, value)) = self.variable() {
            command.env(name, value);
        }
    }

    pub(crate) fn variable(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Component => None,
            Self::Folder(folder) => Some(("__CARGO_TESTS_ONLY_SRC_ROOT", folder.display().to_string())),
        }
    }
}

pub(crate) const NO_SOURCE: &str = "no source of Rust's library here: rustup component add rust-src --toolchain nightly, \
                                    or set KVC_RUST_LIBRARY to a folder `library` of the same version";

/// The component; the folder that KVC_RUST_LIBRARY names; an archive of it beside the checkout; the component anew,
/// from where rustup gets it.
pub(crate) fn library_source(context: &Context) -> Result<Option<Source>, String> {
    let component = nightly_sysroot(context)?.join("lib/rustlib/src/rust/library");
    if is_library(&component) {
        return Ok(Some(Source::Component));
    }
    if let Some(folder) = env::var_os("KVC_RUST_LIBRARY").map(PathBuf::from) {
        if is_library(&folder) {
            return Ok(Some(Source::Folder(folder)));
        }
        return Err(format!(
            "KVC_RUST_LIBRARY is {}, which is no folder `library` of Rust",
            folder.display()
        ));
    }
    if let Some(archive) = archive(context) {
        return unpack(context, &archive).map(|folder| Some(Source::Folder(folder)));
    }
    let mut add = context.tool("rustup", "component add rust-src --toolchain nightly");
    Ok((shell::capture(&mut add).is_ok() && is_library(&component)).then_some(Source::Component))
}

fn is_library(folder: &Path) -> bool {
    folder.join("core/src/lib.rs").is_file()
}

fn archive(context: &Context) -> Option<PathBuf> {
    let files = fs::read_dir(context.root.join("../shared/toolchain")).ok()?;
    files.flatten().map(|file| file.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rust-library-") && name.ends_with(".tar.xz")
    })
}

fn unpack(context: &Context, archive: &Path) -> Result<PathBuf, String> {
    let folder = context.scratch("rust-library")?;
    let library = folder.join("library");
    if !is_library(&library) {
        shell::capture(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(&folder))?;
    }
    if is_library(&library) {
        Ok(library)
    } else {
        Err("the archive of Rust's library has no folder `library`".into())
    }
}
