//! The gates: deeper checks than the tests, each with a name, its time, and its output when it fails.

mod bench;
mod c;
mod demo;
mod firmware_rust;
pub(crate) mod image;
mod package;
mod readme;
mod rust;
pub(crate) mod toolchain;
mod tree;
mod tsan;

use std::io::Write;
use std::time::Instant;

use crate::context::Context;
use crate::dist::{self, frameworks, hygiene};
use crate::firmware;
use crate::setup;

/// What a gate found that nothing is wrong with.
pub(crate) enum Verdict {
    /// Passed; the note may be empty.
    Passed(String),
    /// This machine cannot tell, for this reason.
    Skipped(String),
}

impl Verdict {
    fn nothing_to_say() -> Self {
        Self::Passed(String::new())
    }
}

/// The output of the tool that failed, or what is wrong, is the error.
pub(crate) type Outcome = Result<Verdict, String>;

struct Gate {
    name: &'static str,
    check: fn(&Context) -> Outcome,
}

const GATES: &[Gate] = &[
    Gate { name: "format", check: rust::format },
    Gate { name: "clippy", check: rust::clippy },
    Gate { name: "docs", check: rust::docs },
    Gate { name: "xtask-tests", check: rust::xtask_tests },
    Gate { name: "doctests-nightly", check: rust::doctests_nightly },
    Gate { name: "msrv", check: rust::msrv },
    Gate { name: "limits", check: rust::limits },
    Gate { name: "loom", check: rust::loom },
    Gate { name: "header-is-generated", check: rust::header },
    Gate { name: "header-compiles", check: c::headers },
    Gate { name: "c-gcc", check: c::gcc },
    Gate { name: "c-clang", check: c::clang },
    Gate { name: "executorch", check: c::executorch },
    Gate { name: "c-address-sanitizer", check: c::address },
    Gate { name: "c-thread-sanitizer", check: tsan::check },
    Gate { name: "panic-free", check: image::panic_free },
    Gate { name: "undefined-symbols", check: image::undefined },
    Gate { name: "exported-symbols", check: image::exported },
    Gate { name: "readme", check: readme::programs },
    Gate { name: "demo-tokens", check: demo::tokens },
    Gate { name: "demo-maps", check: demo::maps },
    Gate { name: "demo-faults", check: demo::faults },
    Gate { name: "firmware-rust", check: firmware_rust::check },
    Gate { name: "dist", check: dist::gate },
    Gate { name: "symbol-hygiene", check: hygiene::check },
    Gate { name: "frameworks", check: frameworks::builds },
    Gate { name: "manifests", check: frameworks::manifests },
    Gate { name: "package", check: package::check },
    Gate { name: "machine-paths", check: tree::machine_paths },
    Gate { name: "bench-counts", check: bench::counts },
    Gate { name: "bench-ratios", check: bench::ratios },
    Gate { name: "firmware", check: firmware::decode },
    Gate { name: "firmware-shadow", check: firmware::shadow },
    Gate { name: "firmware-interrupts", check: firmware::interrupts },
    Gate { name: "budgets", check: firmware::budgets },
];

pub(crate) fn run(context: &Context, arguments: &[String]) -> Result<(), String> {
    if arguments == ["--list"] {
        for gate in GATES {
            println!("{}", gate.name);
        }
        return Ok(());
    }
    if let Some(unknown) = arguments.iter().find(|name| !GATES.iter().any(|gate| gate.name == *name)) {
        return Err(format!("there is no gate `{unknown}`; `cargo xtask ci --list` lists them"));
    }
    setup::ensure(setup::Scope::Gates)?;
    let start = Instant::now();
    let wanted = |gate: &&Gate| arguments.is_empty() || arguments.iter().any(|name| name == gate.name);
    let (mut passed, mut failed, mut skipped) = (0, Vec::new(), Vec::new());
    for gate in GATES.iter().filter(wanted) {
        match report(gate, context) {
            Ok(Verdict::Passed(_)) => passed += 1,
            Ok(Verdict::Skipped(_)) => skipped.push(gate.name),
            Err(_) => failed.push(gate.name),
        }
    }
    println!("\nin {:.0} s", start.elapsed().as_secs_f32());
    if !skipped.is_empty() {
        println!("skipped, this machine cannot tell: {}", skipped.join(" "));
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(" "));
    }
    println!("{passed} passed, {} failed", failed.len());
    if failed.is_empty() { Ok(()) } else { Err(crate::TOLD.into()) }
}

fn report(gate: &Gate, context: &Context) -> Outcome {
    print!("{:22} ", gate.name);
    // A terminal shows which gate runs now; a log does not care.
    let _ = std::io::stdout().flush();
    let start = Instant::now();
    let outcome = (gate.check)(context);
    let seconds = start.elapsed().as_secs_f32();
    match &outcome {
        Ok(Verdict::Passed(note)) => println!("{}", format!("ok      {seconds:5.1} s  {note}").trim_end()),
        Ok(Verdict::Skipped(reason)) => println!("SKIPPED {seconds:5.1} s  {reason}"),
        Err(output) => {
            println!("FAILED  {seconds:5.1} s");
            for line in output.lines() {
                println!("    {line}");
            }
        }
    }
    outcome
}
