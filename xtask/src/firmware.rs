//! The example for microcontrollers, examples/firmware, in emulators: the same tokens on every machine, the shadow-pool
//! test, calls in interrupts, and the table of what the library costs.

mod archive;
mod budgets;
mod machine;
mod map;
mod measure;
mod symbols;

use crate::context::Context;
use crate::gates::toolchain::{self, Source};
use crate::gates::{Outcome, Verdict};
use crate::shell;
use archive::Lock;
use machine::{MACHINES, Machine, Program};

const TABLE: &str = "tests/budgets.toml";

const DECODE: Program<'_> = Program {
    name: "decode",
    sources: &[
        "examples/firmware/main.c",
        "examples/firmware/backend.c",
        "examples/firmware/model.c",
        "examples/firmware/print.c",
    ],
    headers: "include",
};

const SHADOW: Program<'_> = Program {
    name: "shadow",
    sources: &[
        "tests/c/test_shadow.c",
        "tests/c/shadow.c",
        "tests/c/naive.c",
        "tests/c/models.c",
        "tests/c/runs.c",
        "examples/firmware/checks.c",
        "examples/firmware/print.c",
    ],
    headers: "tests/c",
};
/// Operations of each seed.
const OPERATIONS: &str = "20000";

const INTERRUPTS: Program<'_> = Program {
    name: "interrupts",
    sources: &["examples/firmware/interrupts.c", "examples/firmware/print.c"],
    headers: "include",
};
/// The clock follows the instructions, so that the timer fires at the same places in every run.
const CLOCK: &[&str] = &["-icount", "shift=10"];

/// `cargo xtask firmware [MACHINE …]`, or `--record`.
pub(crate) fn run(context: &Context, arguments: &[String]) -> Result<(), String> {
    crate::setup::ensure(crate::setup::Scope::Gates)?;
    let source = source(context)?.ok_or(toolchain::NO_SOURCE)?;
    if arguments == ["--record"] {
        let measured = measure::all(context, &source)?;
        print!("{}", measured.details);
        return shell::write(&context.root.join(TABLE), &budgets::write(&measured.figures));
    }
    let named: Result<Vec<&Machine>, String> = arguments.iter().map(|name| machine::find(name)).collect();
    let machines = if arguments.is_empty() { MACHINES.iter().collect() } else { named? };
    let expected = host(context)?;
    for machine in machines {
        decode_on(context, &source, machine, &expected)?;
        println!("{}: {} lines as on the host", machine.name, expected.lines().count());
    }
    print!("{expected}");
    Ok(())
}

fn source(context: &Context) -> Result<Option<Source>, String> {
    toolchain::nightly(context)?;
    toolchain::library_source(context)
}

/// A gate that needs the source of Rust's library.
fn gate(context: &Context, check: fn(&Context, &Source) -> Result<String, String>) -> Outcome {
    match source(context)? {
        Some(source) => check(context, &source).map(Verdict::Passed),
        None => Ok(Verdict::Skipped(toolchain::NO_SOURCE.into())),
    }
}

/// Every machine prints the tokens that this one prints.
pub(crate) fn decode(context: &Context) -> Outcome {
    gate(context, |context, source| {
        let expected = host(context)?;
        for machine in MACHINES {
            decode_on(context, source, machine, &expected)?;
        }
        Ok(format!("{} machines", MACHINES.len()))
    })
}

/// The same sources as a program of this machine, with both compilers.
fn host(context: &Context) -> Result<String, String> {
    let archive = context.archive()?;
    let program = context.scratch("firmware")?.join("host");
    let mut texts = Vec::new();
    for compiler in ["gcc", "clang-14"] {
        let flags = "-std=c99 -O1 -g -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude \
                     -Iexamples/firmware -fsanitize=undefined -fno-sanitize-recover=all";
        let mut command = context.tool(compiler, flags);
        command.args(DECODE.sources).arg("examples/firmware/port/hosted.c").arg(&archive);
        shell::capture(command.arg("-o").arg(&program))?;
        texts.push(shell::capture(&mut context.tool(&program.to_string_lossy(), ""))?);
    }
    if texts[0] != texts[1] {
        return Err(format!("two compilers, two texts:\n{}", texts.concat()));
    }
    Ok(texts.remove(0))
}

fn decode_on(context: &Context, source: &Source, machine: &Machine, expected: &str) -> Result<(), String> {
    let archive = archive::build(context, source, machine.target)?;
    let image = machine::link(context, machine, &DECODE, &archive)?;
    let text = machine::run(context, machine, &image, &[], &[])?;
    if text == expected {
        Ok(())
    } else {
        Err(format!("{} prints\n{text}the host\n{expected}", machine.name))
    }
}

/// The test with a shadow of the pools, where its rows fit.
pub(crate) fn shadow(context: &Context) -> Outcome {
    gate(context, |context, source| {
        let mut notes = Vec::new();
        for machine in MACHINES.iter().filter(|machine| machine.runs_shadow()) {
            let archive = archive::build(context, source, machine.target)?;
            let image = machine::link(context, machine, &SHADOW, &archive)?;
            let text = machine::run(context, machine, &image, &["shadow", OPERATIONS], &[])?;
            let checks = text.lines().find(|line| line.starts_with("checks ")).unwrap_or_default();
            notes.push(format!("{} {checks}", machine.name));
        }
        Ok(notes.join(", "))
    })
}

/// The timer's interrupt calls what the code below it uses.
pub(crate) fn interrupts(context: &Context) -> Outcome {
    gate(context, |context, source| {
        let mut notes = Vec::new();
        for name in ["microbit", "mps2-an385", "mps2-an386", "mps2-an386-critical"] {
            let machine = machine::find(name)?;
            let archive = archive::build(context, source, machine.target)?;
            let image = machine::link(context, machine, &INTERRUPTS, &archive)?;
            let words: &[&str] = match machine.target.lock {
                Lock::Spin => &["interrupts"],
                Lock::Critical => &["interrupts", "never-busy"],
            };
            let text = machine::run(context, machine, &image, words, CLOCK)?;
            let figure = |label: &str| text.lines().find_map(|line| line.strip_prefix(label)).unwrap_or("no");
            notes.push(format!("{name}{} interrupts,{} busy", figure("interrupts"), figure("registry busy")));
        }
        Ok(notes.join("; "))
    })
}

/// What the library costs stays within the table.
pub(crate) fn budgets(context: &Context) -> Outcome {
    gate(context, |context, source| {
        let measured = measure::all(context, source)?;
        let table = shell::read(&context.root.join(TABLE))?;
        let (report, wrong) = budgets::compare(&table, &measured.figures)?;
        if wrong.is_empty() {
            Ok(format!("\n{report}"))
        } else {
            Err(format!("{}{report}{}", measured.details, wrong.join("\n")))
        }
    })
}
