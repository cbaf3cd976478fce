//! The table of sizes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::archive::Archive;

/// One target: what was built, and what its check did or said.
pub(super) struct Row<'a> {
    pub(super) archive: &'a Archive,
    pub(super) outcome: Result<String, String>,
}

impl Row<'_> {
    /// The output of the check that failed.
    pub(super) fn failure(&self) -> Option<String> {
        let output = self.outcome.as_ref().err()?;
        Some(format!("{}: the check failed\n{output}", self.archive.target.name))
    }
}

/// Markdown, for the terminal too.
pub(super) fn render(rows: &[Row<'_>]) -> String {
    let mut text = String::from(
        "# Sizes\n\n\
         Code: bytes of code and constants with every call of the interface; a linker that collects sections keeps what is\n\
         called. Archive: bytes of `libkvcore.a`. Asks for: what the image brings; `helpers` are the compiler's own (division,\n\
         atomics), and lib/TARGET/undefined.txt has every name.\n\n\
         | target | for | profile | lock | code | archive | asks for | checked how |\n\
         | --- | --- | --- | --- | ---: | ---: | --- | --- |\n",
    );
    for row in rows {
        let Archive { target, file_bytes, code_bytes, asks_for, .. } = row.archive;
        let names: BTreeSet<&str> = asks_for.iter().map(|name| short(name)).collect();
        let names = Vec::from_iter(names);
        let checked = row.outcome.as_deref().unwrap_or("FAILED");
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {code_bytes} | {file_bytes} | {} | {checked} |",
            target.name,
            target.cores,
            target.kind.profile(),
            target.lock.name(),
            names.join(" ")
        );
    }
    text
}

/// Names of one sort are told as one.
fn short(name: &str) -> &str {
    if name.starts_with("__aeabi_mem") {
        "__aeabi_mem*"
    } else if name.starts_with("__") {
        "helpers"
    } else {
        name
    }
}
