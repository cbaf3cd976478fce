//! `cargo xtask dist`: archives for every target in one folder, each checked as far as this machine can, and a table.

mod archive;
mod check;
pub(crate) mod frameworks;
pub(crate) mod hygiene;
mod layout;
mod phones;
mod table;
mod targets;

use std::env;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::gates::{Outcome, Verdict, toolchain};
use crate::{setup, shell};
use targets::{TARGETS, Target};

pub(crate) const USAGE: &str = "\
usage: cargo xtask dist [--out DIR] [TARGET …]
       cargo xtask dist --list

Makes DIR/kvcore-VERSION (DIR: dist in cargo's target folder) with headers, packages for CMake and pkg-config, and an
archive for each target, or for those named; links an application with each and runs it where that is possible.
";

struct Options {
    out: PathBuf,
    targets: Vec<&'static Target>,
}

pub(crate) fn run(context: &Context, arguments: &[String]) -> Result<(), String> {
    match arguments {
        [only] if only == "--list" => {
            for target in TARGETS {
                println!("{:30} {}", target.name, target.cores);
            }
            return Ok(());
        }
        [only] if only == "--help" => {
            print!("{USAGE}");
            return Ok(());
        }
        _ => {}
    }
    let options = Options::parse(context, arguments)?;
    setup::ensure(setup::Scope::Gates)?;
    println!("{}", make(context, &options)?);
    Ok(())
}

/// The gate: everything is built, and passes its check.
pub(crate) fn gate(context: &Context) -> Outcome {
    toolchain::nightly(context)?;
    if toolchain::library_source(context)?.is_none() {
        return Ok(Verdict::Skipped(toolchain::NO_SOURCE.into()));
    }
    make(context, &Options::parse(context, &[])?)?;
    Ok(Verdict::Passed(format!("{} targets", TARGETS.len())))
}

impl Options {
    fn parse(context: &Context, arguments: &[String]) -> Result<Self, String> {
        let mut out = context.target.join("dist");
        let mut targets = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--out" {
                let folder = words.next().ok_or_else(|| format!("--out wants a folder\n\n{USAGE}"))?;
                out = env::current_dir().map_err(|error| error.to_string())?.join(folder);
            } else {
                let target = TARGETS.iter().find(|target| target.name == word);
                targets.push(target.ok_or_else(|| format!("there is no target `{word}`\n\n{USAGE}"))?);
            }
        }
        if targets.is_empty() {
            targets = TARGETS.iter().collect();
        }
        Ok(Self { out, targets })
    }
}

/// Answers the table; fails where a check failed, with the table and all that the checks said.
fn make(context: &Context, options: &Options) -> Result<String, String> {
    let version = context.manifest_value("version")?;
    let folder = options.out.join(format!("kvcore-{version}"));
    layout::begin(context, &folder, &version)?;
    let mut archives = Vec::new();
    for target in &options.targets {
        archives.push(archive::build(context, target, &folder)?);
        layout::pkg_config(&folder, target, &version)?;
    }
    phones::android(&folder, &options.targets, &version)?;
    phones::xcframework(&folder, &options.targets)?;
    let mut rows = Vec::new();
    for archive in &archives {
        let outcome = check::check(context, archive, &folder);
        rows.push(table::Row { archive, outcome });
    }
    let text = table::render(&rows);
    shell::write(&folder.join("SIZES.md"), &text)?;
    let failed: Vec<String> = rows.iter().filter_map(table::Row::failure).collect();
    if failed.is_empty() {
        Ok(format!("{text}\nin {}", shown(context, &folder)))
    } else {
        Err(format!("{text}\n{}", failed.join("\n")))
    }
}

/// A folder as one would name it from the checkout.
fn shown(context: &Context, folder: &Path) -> String {
    folder.strip_prefix(&context.root).unwrap_or(folder).display().to_string()
}

/// Where an archive of this target is.
fn library(folder: &Path, target: &Target) -> PathBuf {
    folder.join("lib").join(target.name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Context, Options, TARGETS};

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        let context = Context { root: "/checkout".into(), target: "/target".into() };
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        Options::parse(&context, &arguments)
    }

    #[test]
    fn all_targets_or_those_named() {
        assert_eq!(parse(&[]).unwrap().targets.len(), TARGETS.len());
        let named = parse(&["hexagon-unknown-none-elf", "--out", "/somewhere"]).unwrap();
        assert_eq!(named.targets[0].cores, "Hexagon");
        assert_eq!((named.targets.len(), named.out.as_path()), (1, Path::new("/somewhere")));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(parse(&["z80"]).is_err());
        assert!(parse(&["--out"]).is_err());
    }

    #[test]
    fn no_target_is_listed_twice() {
        for (i, target) in TARGETS.iter().enumerate() {
            assert!(TARGETS[i + 1..].iter().all(|other| other.name != target.name));
        }
    }
}
