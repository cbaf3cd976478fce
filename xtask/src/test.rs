//! The test command of the README.

use std::time::Instant;

use crate::cmake::{self, Build};
use crate::context::Context;
use crate::{setup, shell};

/// Feature sets whose tests differ. `panic-handler` is for archives: C tests cover it.
const FEATURES: [&str; 3] = ["capi", "capi,critical-section", ""];

#[derive(Default)]
struct Counts {
    passed: u32,
    failed: u32,
}

impl Counts {
    fn add(&mut self, (passed, failed): (u32, u32), went_well: bool) {
        self.passed += passed;
        // A build that fails has no test to blame.
        self.failed += if went_well { failed } else { failed.max(1) };
    }
}

pub(crate) fn run(context: &Context) -> Result<(), String> {
    let start = Instant::now();
    setup::ensure(setup::Scope::Tests)?;
    let mut counts = Counts::default();
    for features in FEATURES {
        let arguments = format!("test --locked --no-fail-fast --features={features}");
        let result = shell::stream(&mut context.cargo(&arguments));
        counts.add(cargo_counts(output(&result)), result.is_ok());
    }
    c_tests(context, &mut counts)?;
    println!("\nin {:.0} s", start.elapsed().as_secs_f32());
    println!("{} passed, {} failed", counts.passed, counts.failed);
    if counts.failed == 0 { Ok(()) } else { Err(crate::TOLD.into()) }
}

fn c_tests(context: &Context, counts: &mut Counts) -> Result<(), String> {
    for mut command in Build::new("gcc", ("gcc", "g++")).commands(context, &[])? {
        let result = shell::stream(&mut command);
        counts.add(cmake::counts(output(&result)), result.is_ok());
        if result.is_err() {
            // Without a configured tree there is nothing to build, without a build nothing to run.
            break;
        }
    }
    Ok(())
}

fn output(result: &Result<String, String>) -> &str {
    match result {
        Ok(output) | Err(output) => output,
    }
}

/// Passed and failed in what `cargo test` wrote, over all its programs.
fn cargo_counts(output: &str) -> (u32, u32) {
    // "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; …". What a test started to run a
    // part of its own program filters the others out, and is that test's business.
    let result = |line: &&str| line.starts_with("test result: ") && line.contains(" 0 filtered out");
    let mut counts = (0, 0);
    for line in output.lines().filter(result) {
        counts.0 += number_before(line, " passed");
        counts.1 += number_before(line, " failed");
    }
    counts
}

fn number_before(line: &str, word: &str) -> u32 {
    let number = line.split(word).next().and_then(|text| text.rsplit(' ').next());
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::cargo_counts;
    use crate::cmake;

    #[test]
    fn counts_are_summed_over_programs() {
        let output = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\nnoise 5 passed\n\
                      test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 6 filtered out\n\
                      test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(cargo_counts(output), (15, 2));
    }

    #[test]
    fn ctest_counts_failures_out_of_all() {
        assert_eq!(cmake::counts("\n97% tests passed, 1 tests failed out of 33\n"), (32, 1));
        assert_eq!(cmake::counts("No tests were found!!!\n"), (0, 0));
    }
}
