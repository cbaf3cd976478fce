//! The demo: both languages tell the same story, and the picture is one.

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
        let (ours, theirs) = (said(&in_rust, prompt)?, said(&in_c, prompt)?);
        if ours.is_empty() || ours != theirs {
            return Err(format!("Rust says\n{}\nC says\n{}", ours.join("\n"), theirs.join("\n")));
        }
        compared += ours.len();
    }
    Ok(Verdict::Passed(format!("{compared} lines of tokens agree")))
}

fn said(program: &Path, prompt: &str) -> Result<Vec<String>, String> {
    let output = shell::capture(Command::new(program).args(["--prompt", prompt]))?;
    Ok(output.lines().filter(|line| line.starts_with("tokens ")).map(str::to_owned).collect())
}

pub(super) fn map(context: &Context) -> Outcome {
    let map = context.scratch("demo")?.join("map.svg");
    let mut demo = context.cargo("run --release --locked --example generate -- --map");
    shell::capture(demo.arg(&map))?;
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
    shell::capture(check.arg(&map))?;
    Ok(Verdict::nothing_to_say())
}
