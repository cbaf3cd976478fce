//! Measures what the library costs on three cores: flash, RAM, stack, instructions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive;
use super::budgets::Figure;
use super::machine::{self, Machine, Program};
use super::{DECODE, map, symbols};
use crate::context::Context;
use crate::gates::image;
use crate::gates::toolchain::Source;
use crate::shell;

/// Name in the table, machine, the nm that reads its images.
const CORES: [(&str, &str, &str); 3] = [
    ("m0", "microbit", "arm-none-eabi-nm"),
    ("m4", "mps2-an386", "arm-none-eabi-nm"),
    ("riscv", "riscv-virt", "riscv64-unknown-elf-nm"),
];

const MEASURE: Program<'_> = Program {
    name: "measure",
    sources: &["examples/firmware/measure.c", "examples/firmware/stack.c", "examples/firmware/print.c"],
    headers: "include",
};

const MEASURE_BATCH: Program<'_> = Program {
    name: "measure_batch",
    sources: &["examples/firmware/measure_batch.c", "examples/firmware/stack.c", "examples/firmware/print.c"],
    headers: "include",
};

/// What was measured.
pub(super) struct Measured {
    pub(super) figures: Vec<Figure>,
    /// The stack of every call.
    pub(super) details: String,
}

/// Measures all. Fails where a call fails, or where the archive holds what it must not.
pub(super) fn all(context: &Context, source: &Source) -> Result<Measured, String> {
    let plugin = plugin(context)?;
    let mut all = Measured { figures: Vec::new(), details: String::new() };
    for (core, machine, nm) in CORES {
        let machine = machine::find(machine)?;
        let archive = archive::build(context, source, machine.target)?;
        symbols::check(machine, &archive)?;
        let mut measured = flash_and_ram(context, machine, &archive)?;
        measured.push(("stack_largest_frame", largest_frame(&archive)?));
        let program = machine::link(context, machine, &MEASURE, &archive)?;
        let bench = Bench { context, machine, program, plugin: &plugin, nm };
        let batch = machine::link(context, machine, &MEASURE_BATCH, &archive)?;
        let output = machine::run(context, machine, &bench.program, &[], &[])?
            + &machine::run(context, machine, &batch, &[], &[])?;
        measured.extend(objects_and_stack(&output)?);
        all.details += &stacks(core, &output);
        measured.extend(bench.instructions()?);
        if core == "m0" {
            measured.push(("instructions_critical_section", bench.longest_critical_section()?));
        }
        all.figures.extend(measured.into_iter().map(|(name, value)| Figure { core, name, value }));
    }
    Ok(all)
}

/// What a small firmware calls: one cache, the registry, a session.
const CORE: [&str; 11] = [
    "kvc_sequence_init",
    "kvc_registry_global",
    "kvc_session_open",
    "kvc_registry_get",
    "kvc_length",
    "kvc_can_extend",
    "kvc_seq_plan",
    "kvc_seq_commit",
    "kvc_rewind",
    "kvc_session_close",
    "kvc_cache_release",
];

/// The library's part of images with few calls, with those of the example, with every call that serves one sequence, and with every call
/// of the header.
fn flash_and_ram(
    context: &Context,
    machine: &Machine,
    archive: &Path,
) -> Result<Vec<(&'static str, u64)>, String> {
    let core = CORE.map(str::to_owned);
    let every = image::header_functions(context)?;
    let one_sequence: Vec<String> = every.iter().filter(|name| is_one_sequence(name)).cloned().collect();
    let core = contribution(&link_calls(context, machine, archive, "core", &core)?)?;
    let example = contribution(&machine::link(context, machine, &DECODE, archive)?)?;
    let one_sequence = contribution(&link_calls(context, machine, archive, "one_sequence", &one_sequence)?)?;
    let every = contribution(&link_calls(context, machine, archive, "every_call", &every)?)?;
    let sum = |parts: &BTreeMap<String, u64>, names: &[&str]| -> u64 {
        names.iter().filter_map(|name| parts.get(*name)).sum()
    };
    // The values that `.data` begins with are in flash too.
    let flash = [".text", ".rodata", ".data", ".ARM.exidx"];
    Ok(vec![
        ("flash_core", sum(&core, &flash)),
        ("flash_example", sum(&example, &flash)),
        ("flash_one_sequence", sum(&one_sequence, &flash)),
        ("flash_every_call", sum(&every, &flash)),
        ("ram_static", sum(&every, &[".data", ".bss"])),
    ])
}

/// A call of the one-sequence cache, or of what all kinds share.
fn is_one_sequence(name: &str) -> bool {
    !["kvc_batch_", "kvc_cells_", "kvc_rows_", "kvc_tree_"].iter().any(|prefix| name.starts_with(prefix))
}

fn contribution(program: &Path) -> Result<BTreeMap<String, u64>, String> {
    let parts = map::contributions(&shell::read(&program.with_extension("map"))?);
    if parts.get(".text").copied().unwrap_or(0) == 0 {
        return Err(format!("{}: the map shows no code of the library", program.display()));
    }
    Ok(parts)
}

/// A program that refers to these functions, and does nothing.
fn link_calls(
    context: &Context,
    machine: &Machine,
    archive: &Path,
    name: &str,
    functions: &[String],
) -> Result<PathBuf, String> {
    let text = format!(
        "typedef void (*function)(void);\nvoid {}(void);\nfunction volatile all[] = {{{}}};\n\
         int main(void) {{ return all[0] == 0; }}\n",
        functions.join("(void), "),
        functions.join(", ")
    );
    let source = context.scratch("firmware")?.join(name).with_extension("c");
    shell::write(&source, &text)?;
    let source = source.display().to_string();
    machine::link(context, machine, &Program { name, sources: &[&source], headers: "include" }, archive)
}

/// The compiler's own word on the largest stack frame of a function.
fn largest_frame(archive: &Path) -> Result<u64, String> {
    let output = shell::capture(Command::new("llvm-readelf-14").arg("--stack-sizes").arg(archive))?;
    let mut own = false;
    let mut largest = None;
    // "File: …/libkvcore.a(kvcore-….o)", then lines as "  152  kvc_seq_plan".
    for line in output.lines() {
        if line.starts_with("File: ") {
            own = line.contains("(kvcore-");
        } else if own {
            let bytes = line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
            largest = largest.max(bytes);
        }
    }
    largest.ok_or_else(|| "llvm-readelf-14 finds no stack sizes of the library".into())
}

/// The plugin that counts instructions.
fn plugin(context: &Context) -> Result<PathBuf, String> {
    let plugin = context.scratch("firmware")?.join("count.so");
    let flags = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -shared -fPIC -O2 \
                 -Wl,--unresolved-symbols=ignore-all examples/firmware/plugin/count.c -o";
    shell::capture(context.tool("gcc", flags).arg(&plugin))?;
    Ok(plugin)
}

/// Lines as "bytes registry 1768" and "stack kvc_seq_plan 168".
fn objects_and_stack(output: &str) -> Result<Vec<(&'static str, u64)>, String> {
    let figure = |kind: &str, name: &str| -> Option<u64> {
        let lines = output.lines().filter_map(|line| line.strip_prefix(kind)?.trim().split_once(' '));
        lines.filter(|(found, _)| name.is_empty() || *found == name).filter_map(|(_, n)| n.parse().ok()).max()
    };
    let bytes = |name: &str| figure("bytes", name).ok_or_else(|| format!("{output}no size of a {name}"));
    let deepest = figure("stack", "").ok_or_else(|| format!("{output}no stack was measured"))?;
    Ok(vec![
        ("ram_sequence_34_layers", bytes("sequence_34_layers")?),
        ("ram_cells_128", bytes("cells_128")?),
        ("ram_rows_4", bytes("rows_4")?),
        ("ram_registry", bytes("registry")?),
        ("ram_session", bytes("session")?),
        ("ram_plan", bytes("plan")?),
        ("stack_deepest_call", deepest),
    ])
}

/// Lines as "m4 kvc_seq_plan 168 bytes of stack".
fn stacks(core: &str, output: &str) -> String {
    let lines = output.lines().filter_map(|line| line.strip_prefix("stack "));
    lines.flat_map(|line| [core, " ", line, " bytes of stack\n"]).collect()
}

/// The measuring program on one machine.
struct Bench<'a> {
    context: &'a Context,
    machine: &'a Machine,
    program: PathBuf,
    plugin: &'a Path,
    nm: &'a str,
}

impl Bench<'_> {
    /// The dearest of each kind of call.
    fn instructions(&self) -> Result<Vec<(&'static str, u64)>, String> {
        let (output, counts) = self.count("begin_count", "end_count")?;
        let names: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("count ")).collect();
        if names.len() != counts.len() || names.first() != Some(&"empty") {
            return Err(format!("{output}{} stretches were counted, not {}", counts.len(), names.len()));
        }
        let dearest = |wanted: &str| {
            let found = names.iter().zip(&counts).filter(|(name, _)| **name == wanted);
            // What the counting itself takes is no cost of the call.
            found.map(|(_, count)| count - counts[0]).max().ok_or_else(|| format!("no {wanted} was counted"))
        };
        Ok(vec![
            ("instructions_plan_first", dearest("plan_first")?),
            ("instructions_plan_again", dearest("plan_again")?),
            ("instructions_plan_step", dearest("plan_step")?),
            ("instructions_commit", dearest("commit")?),
            ("instructions_registry_get", dearest("registry_get")?),
        ])
    }

    fn longest_critical_section(&self) -> Result<u64, String> {
        let (output, counts) = self.count("kvc_port_irq_save", "kvc_port_irq_restore")?;
        counts.into_iter().max().ok_or_else(|| format!("{output}no critical section was counted"))
    }

    /// What the program says, and the instructions of each stretch between the entries of two functions.
    fn count(&self, begin: &str, end: &str) -> Result<(String, Vec<u64>), String> {
        let log = self.program.with_extension("counts");
        let (begin, end) = (self.address(begin)?, self.address(end)?);
        let plugin = format!("{},begin=0x{begin},end=0x{end}", self.plugin.display());
        let log_name = log.display().to_string();
        let options = ["-plugin", &plugin, "-d", "plugin", "-D", &log_name];
        let output = machine::run(self.context, self.machine, &self.program, &[], &options)?;
        let counts = shell::read(&log)?.lines().filter_map(|line| line.parse().ok()).collect();
        Ok((output, counts))
    }

    /// Where a function is, in hexadecimal digits.
    fn address(&self, function: &str) -> Result<String, String> {
        let symbols = shell::capture(Command::new(self.nm).arg(&self.program))?;
        let mut lines = symbols.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|words| words.last() == Some(&function));
        line.map(|words| words[0].to_owned()).ok_or_else(|| format!("the program has no {function}"))
    }
}
