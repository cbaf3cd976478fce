//! The demo: both languages tell the same story, its pictures are pictures, and wrong answers do not pass.

use std::path::Path;
use std::process::Command;

use super::{Outcome, Verdict};
use crate::cmake::Build;
use crate::context::Context;
use crate::setup::XML;
use crate::shell;

const PROMPTS: [&str; 2] =
    ["Once upon a time", "a, b; c: d — and \"e\" too, over and over and over and over."];

/// The Rust demo checks itself against a forward without a cache; the C one must say the same tokens.
pub(super) fn tokens(context: &Context) -> Outcome {
    shell::capture(&mut context.cargo("build --release --locked --example generate"))?;
    let build = Build::new("gcc", ("gcc", "g++"));
    let mut commands = build.commands(context, &[])?;
    commands[1].args(["--target", "generate_c"]);
    for command in &mut commands[..2] {
        shell::capture(command)?;
    }
    let in_rust = context.target.join("release/examples/generate");
    let in_c = build.folder(context)?.join("tests/generate_c");
    let mut compared = 0;
    for prompt in PROMPTS {
        let (ours, theirs) = (said(&in_rust, prompt, &[])?, said(&in_c, prompt, &[])?);
        if ours.is_empty() || ours != theirs {
            return Err(format!("Rust says\n{}\nC says\n{}", ours.join("\n"), theirs.join("\n")));
        }
        // Drafts do not change what is said.
        let with_trees = said(&in_rust, prompt, &["--tree"])?;
        if ours != with_trees {
            return Err(format!("it says\n{}\nand with trees\n{}", ours.join("\n"), with_trees.join("\n")));
        }
        compared += ours.len();
    }
    Ok(Verdict::Passed(format!("{compared} lines of tokens agree")))
}

fn said(program: &Path, prompt: &str, options: &[&str]) -> Result<Vec<String>, String> {
    let output = shell::capture(Command::new(program).args(["--prompt", prompt]).args(options))?;
    Ok(output.lines().filter(|line| line.starts_with("tokens ")).map(str::to_owned).collect())
}

/// Tests of the demo itself: what its comparison would notice. In a debug build they take minutes.
pub(super) fn faults(context: &Context) -> Outcome {
    shell::capture(&mut context.cargo("test --release --locked --example generate"))?;
    Ok(Verdict::nothing_to_say())
}

/// The single chats and those in a pool, each with its picture. They end with an error if they were not exact.
pub(super) fn maps(context: &Context) -> Outcome {
    for (name, options) in [("map.svg", ""), ("owners.svg", "--pool ")] {
        map(context, name, options)?;
    }
    Ok(Verdict::nothing_to_say())
}

fn map(context: &Context, name: &str, options: &str) -> Result<(), String> {
    let map = context.scratch("demo")?.join(name);
    let command = format!("run --release --locked --example generate -- {options}--map");
    shell::capture(context.cargo(&command).arg(&map))?;
    let text = shell::read(&map)?;
    if !text.contains("<svg") || !text.contains("<rect") {
        return Err("the map is no picture of rows".into());
    }
    let reader = shell::first(XML).ok_or("nothing here reads XML")?;
    let mut check = Command::new(reader);
    match reader {
        "xmllint" => check.arg("--noout"),
        _ => check.arg("--output").arg(map.with_extension("png")),
    };
    shell::capture(check.arg(&map)).map(drop)
}
