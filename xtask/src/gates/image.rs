//! Gates of what is in the library: no panics, nothing undefined, only the header's functions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, Verdict};
use crate::context::Context;
use crate::shell;

/// Traces of panics, formatting, unwinding and a heap among demangled symbols.
const FORBIDDEN: &[&str] = &[
    "core::panicking",
    "panic_fmt",
    "core::fmt",
    "rust_begin_unwind",
    "_Unwind_",
    "eh_personality",
    "__rust_alloc",
    "alloc::",
];

/// What a C library or the compiler's own always has.
const ASKED_OF_C: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "bcmp"];

/// An archive that can panic, in the same profile: an index that nobody checked.
const PANICS: &str = r#"
#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }
#[unsafe(no_mangle)]
pub extern "C" fn kvc_control(index: usize) -> u8 { b"some bytes"[index] }
"#;

/// Links every function of the header into one image and looks for traces of a panic in it.
pub(super) fn panic_free(context: &Context) -> Outcome {
    let folder = context.scratch("image")?;
    let functions = header_functions(context)?;
    let image = link(context, &folder, "kvcore", &functions, &context.archive()?)?;
    let traces = traces(&image)?;
    if !traces.is_empty() {
        return Err(format!("the image holds\n{}", traces.join("\n")));
    }
    let control =
        link(context, &folder, "control", &["kvc_control".to_owned()], &panicking_archive(&folder)?)?;
    if self::traces(&control)?.is_empty() {
        return Err("an image that can panic shows no trace of it: this gate would see nothing".into());
    }
    Ok(Verdict::Passed(format!("{} functions", functions.len())))
}

fn panicking_archive(folder: &Path) -> Result<PathBuf, String> {
    let (source, archive) = (folder.join("control.rs"), folder.join("libcontrol.a"));
    shell::write(&source, PANICS)?;
    let mut rustc = Command::new("rustc");
    rustc.args([
        "--crate-type=staticlib",
        "--edition=2024",
        "-Copt-level=3",
        "-Clto=fat",
        "-Ccodegen-units=1",
    ]);
    shell::capture(rustc.arg("-Cpanic=abort").arg(&source).arg("-o").arg(&archive))?;
    Ok(archive)
}

/// A program that refers to the functions and, with sections collected, holds what they reach and no more.
fn link(
    context: &Context,
    folder: &Path,
    name: &str,
    functions: &[String],
    archive: &Path,
) -> Result<PathBuf, String> {
    let (source, image) = (folder.join(format!("{name}.c")), folder.join(name));
    let text = format!(
        "typedef void (*function)(void);\nvoid {}(void);\nfunction volatile all[] = {{{}}};\n\
         int main(void) {{ return all[0] == 0; }}\n",
        functions.join("(void), "),
        functions.join(", ")
    );
    shell::write(&source, &text)?;
    let mut gcc = context.tool("gcc", "-std=c99 -Wl,--gc-sections");
    shell::capture(gcc.arg(&source).arg(archive).arg("-o").arg(&image))?;
    Ok(image)
}

fn traces(image: &Path) -> Result<Vec<String>, String> {
    Ok(nm(image, &["-C"])?.lines().filter(|line| is_trace(line)).map(str::to_owned).collect())
}

/// Traces of a panic in the library's own part of an archive.
pub(crate) fn traces_in_archive(archive: &Path) -> Result<Vec<String>, String> {
    let symbols = own_symbols(archive, &["-C"])?;
    Ok(symbols.into_iter().filter(|line| is_trace(line)).collect())
}

/// Whether a demangled symbol is one of a panic.
pub(crate) fn is_trace(symbol: &str) -> bool {
    FORBIDDEN.iter().any(|word| symbol.contains(word))
}

/// The library's own members ask nothing of others but what every C library has.
pub(super) fn undefined(context: &Context) -> Outcome {
    let symbols = own_symbols(&context.archive()?, &["-g"])?;
    // "0000000000000040 T name" or "                 U name"
    let wanted: BTreeSet<&str> =
        symbols.iter().filter_map(|line| line.trim_start().strip_prefix("U ")).collect();
    let surprises: Vec<&str> = wanted.iter().copied().filter(|name| !ASKED_OF_C.contains(name)).collect();
    if wanted.is_empty() {
        return Err("not even memcpy is undefined: nm was misread".into());
    }
    if surprises.is_empty() {
        Ok(Verdict::Passed(Vec::from_iter(wanted).join(" ")))
    } else {
        Err(format!("undefined: {}", surprises.join(" ")))
    }
}

/// The library's own members define the header's functions and nothing else that others can see.
pub(super) fn exported(context: &Context) -> Outcome {
    let symbols = own_symbols(&context.archive()?, &["-g", "--defined-only"])?;
    let exported: BTreeSet<String> =
        symbols.iter().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect();
    let declared: BTreeSet<String> = header_functions(context)?.into_iter().collect();
    if exported != declared {
        let extra: Vec<_> = exported.difference(&declared).collect();
        let missing: Vec<_> = declared.difference(&exported).collect();
        return Err(format!(
            "exported and not in the header: {extra:?}\nin the header and not exported: {missing:?}"
        ));
    }
    if let Some(name) = exported.iter().find(|name| !name.starts_with("kvc_")) {
        return Err(format!("{name} is not named kvc_…"));
    }
    Ok(Verdict::Passed(format!("{} functions", exported.len())))
}

/// What nm says of the archive's members that are not the compiler's helpers.
pub(crate) fn own_symbols(archive: &Path, arguments: &[&str]) -> Result<Vec<String>, String> {
    let output = nm(archive, arguments)?;
    let mut own = false;
    let mut symbols = Vec::new();
    for line in output.lines() {
        if let Some(member) = line.strip_suffix(':') {
            own = member.starts_with("kvcore-");
        } else if own && !line.is_empty() {
            symbols.push(line.to_owned());
        }
    }
    if symbols.is_empty() { Err("the archive has no member of the library".into()) } else { Ok(symbols) }
}

/// Names of the functions that the header declares and does not define itself.
pub(crate) fn header_functions(context: &Context) -> Result<Vec<String>, String> {
    let header = shell::read(&context.root.join("include/kvcore.h"))?;
    let functions: Vec<String> = header.lines().filter_map(declared_function).collect();
    if functions.is_empty() { Err("kvcore.h declares no function".into()) } else { Ok(functions) }
}

/// A declaration begins at the margin: "kvc_status_t kvc_length(const kvc_cache_t *cache, …".
fn declared_function(line: &str) -> Option<String> {
    let (before, _) = line.split_once('(')?;
    let name = before.rsplit([' ', '*']).next()?;
    let declares = !["#", "//", "typedef", "static", " ", "}"].iter().any(|start| line.starts_with(start));
    (declares && before.len() > name.len() && !name.is_empty()).then(|| name.to_owned())
}

/// Binutils' nm. No plugin: those of other compilers take Rust's members for theirs and complain.
fn nm(file: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("nm");
    shell::capture(command.args(arguments).args(["--plugin", "/dev/null"]).arg(file))
}

#[cfg(test)]
mod tests {
    use super::declared_function;

    #[test]
    fn declarations_are_told_from_the_rest() {
        assert_eq!(
            declared_function("kvc_status_t kvc_length(const kvc_cache_t *cache,"),
            Some("kvc_length".into())
        );
        assert_eq!(
            declared_function("const char *kvc_status_name(kvc_status_t status);"),
            Some("kvc_status_name".into())
        );
        for other in [
            "typedef void (*kvc_event_fn)(void *ctx);",
            "static inline bool kvc_check_header(void) { return true; }",
            "#define KVC_STORAGE(name, bytes) static uint64_t name",
            "// See kvc_length(cache).",
            "  kvc_status_t (*clear)(void *object);",
            "kvc_status_t status;",
        ] {
            assert_eq!(declared_function(other), None, "{other}");
        }
    }
}
