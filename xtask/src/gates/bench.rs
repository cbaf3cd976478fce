//! The benchmarks as gates.

use std::env;
use std::process::Command;

use super::{Outcome, Verdict};
use crate::context::Context;
use crate::shell;

/// Instruction counts against the recorded ones, and how those of a cell pool grow with it.
pub(super) fn counts(context: &Context) -> Outcome {
    bench(context, &["bench", "--counts", "--check"])?;
    bench(context, &["bench", "--growth", "--check"])
}

/// Times against those of the peers measured beside them. The machine is shared: a burst of noise is no regression, so
/// what is missed has to be missed twice.
pub(super) fn ratios(context: &Context) -> Outcome {
    let check = || bench(context, &["bench", "--check"]);
    check().or_else(|first| check().map_err(|second| format!("{first}\nand again\n{second}")))
}

/// In a process of its own, so that the output can be kept for a failure.
fn bench(context: &Context, arguments: &[&str]) -> Outcome {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    shell::capture(command.current_dir(&context.root).args(arguments))?;
    Ok(Verdict::nothing_to_say())
}
