//! Where things are, and how this project calls its own tools.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell;

/// What an archive for C is built with.
pub(crate) const C_FEATURES: &str = "capi,panic-handler";

/// The folders of this checkout.
pub(crate) struct Context {
    pub(crate) root: PathBuf,
    /// Cargo's target folder; all that xtask writes is in there.
    pub(crate) target: PathBuf,
}

impl Context {
    pub(crate) fn find() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent folder")?;
        if !root.join("Cargo.toml").is_file() {
            return Err(
                "the folder that xtask was built in is gone: run `cargo xtask` in the checkout".into()
            );
        }
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => env::current_dir().map_err(|error| error.to_string())?.join(folder),
            None => root.join("target"),
        };
        Ok(Self { root: root.to_owned(), target })
    }

    /// A folder of a task's own, created if need be. It stays from run to run.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.target.join("xtask").join(name);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// A call of cargo in the root; `arguments` as one would type them.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        self.tool("cargo", arguments)
    }

    /// A call of a program in the root; `arguments` as one would type them, without quotes.
    pub(crate) fn tool(&self, program: &str, arguments: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).args(arguments.split_whitespace());
        command
    }

    /// A string that Cargo.toml sets at the margin, as `version = "1.2.3"`.
    pub(crate) fn manifest_value(&self, name: &str) -> Result<String, String> {
        let manifest = shell::read(&self.root.join("Cargo.toml"))?;
        let value = manifest.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        let value = value.ok_or_else(|| format!("Cargo.toml states no {name}"))?;
        Ok(value.trim_matches('"').to_owned())
    }

    /// Builds the static library for C and tells where it is.
    pub(crate) fn archive(&self) -> Result<PathBuf, String> {
        let rustc = format!("rustc --release --lib --crate-type staticlib --features {C_FEATURES} --locked");
        shell::capture(&mut self.cargo(&rustc))?;
        Ok(self.target.join("release/libkvcore.a"))
    }
}
