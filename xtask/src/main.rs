//! What the project does to itself: set-up, tests, gates, benchmarks. `cargo xtask` lists the commands.

mod bench;
mod cmake;
mod context;
mod dist;
mod firmware;
mod gates;
mod setup;
mod shell;
mod test;

use std::process::ExitCode;

use context::Context;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  setup           install what tests and gates need (Debian packages; only those that are missing)
  test            set up and run the tests: Rust with every feature set that matters, then C and C++ with CMake
  ci [GATE …]     set up and run the gates, or only those named; the last line counts them
  ci --list       the gates, one a line
  firmware [MACHINE …] the example for microcontrollers in emulators, on every machine or those named;
                  `cargo xtask firmware --record` measures anew and writes tests/budgets.toml
  dist [--out DIR] [TARGET …]
                  archives for every target in one folder, checked, and a table of their sizes
  bench [OPTION …] the benchmarks; `cargo xtask bench --help` tells more

Ends with 0 when all went well, 1 when something failed, 2 for a command line that makes no sense.
";

/// The message of a failure that the output has told already.
const TOLD: &str = "";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let context = match Context::find() {
        Ok(context) => context,
        Err(message) => return failed(&message),
    };
    let result = match command.as_str() {
        "setup" if rest.is_empty() => setup::ensure(setup::Scope::Gates),
        "test" if rest.is_empty() => test::run(&context),
        "ci" => gates::run(&context, &rest),
        "firmware" => firmware::run(&context, &rest),
        "bench" => bench::run(&context.root, &rest),
        "dist" => dist::run(&context, &rest),
        "" | "help" | "--help" | "-h" => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        "setup" | "test" => return confused(&format!("`{command}` takes no arguments")),
        _ => return confused(&format!("there is no command `{command}`")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => failed(&message),
    }
}

fn failed(message: &str) -> ExitCode {
    if message != TOLD {
        eprintln!("xtask: {message}");
    }
    ExitCode::FAILURE
}

fn confused(complaint: &str) -> ExitCode {
    eprint!("xtask: {complaint}\n\n{USAGE}");
    ExitCode::from(2)
}
