//! The benchmarks: kvcore through its C interface against a C++ peer, in time and in instructions.

mod counts;
mod growth;
mod table;
mod times;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::Context;
use crate::shell;

const USAGE: &str = "\
usage: cargo xtask bench [OPTION …]

  (none)     times every operation on kvcore and on the C++ peer, and prints both with their ratio
  --check    fails when a target is missed: a ratio of times; with --counts, a ceiling of instructions
  --counts   counts instructions with callgrind instead of timing
  --record   counts, and writes benches/counts.toml anew
  --growth   how operations of a cell pool grow with it, beside a peer that scans its cells. Times; with --counts
             instructions; with --check those against benches/growth.toml and against the growth that a decode step may
             show; with --record they are written anew

CXX names another C++ compiler than g++. benches/README.md tells what is measured.
";

/// A program that measures, and its translation units; the peer's own is the first.
struct Harness {
    name: &'static str,
    units: &'static [&'static str],
}

const HARNESS: Harness =
    Harness { name: "harness", units: &["peer", "sides", "ops", "agree", "harness", "measure"] };

const GROWTH: Harness = Harness {
    name: "growth",
    units: &["growth/peer", "growth/sides", "growth/ops", "growth/agree", "growth/harness", "measure"],
};

const FLAGS: &str = "-std=c++17 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

/// What a run is asked for.
#[derive(Default)]
struct Options {
    check: bool,
    counts: bool,
    record: bool,
}

/// Builds the harness and measures; `root` is the checkout.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let (mut options, mut harness) = (Options::default(), &HARNESS);
    for arg in args {
        match arg.as_str() {
            "--check" => options.check = true,
            "--counts" => options.counts = true,
            "--record" => options.record = true,
            "--growth" => harness = &GROWTH,
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(());
            }
            _ => return Err(format!("`{arg}` is no option of the benchmarks\n\n{}", USAGE.trim_end())),
        }
    }
    let context = Context::find()?;
    let bench = Bench::build(&context, root, harness)?;
    if harness.name == GROWTH.name {
        growth::run(&bench, &options)
    } else if options.record {
        counts::record(&bench)
    } else if options.counts {
        counts::run(&bench, options.check)
    } else {
        times::run(&bench, options.check)
    }
}

/// A harness that is ready to run.
struct Bench {
    /// Where its sources and the recorded counts are.
    sources: PathBuf,
    /// Where it was built.
    folder: PathBuf,
    compiler: String,
    harness: &'static str,
}

impl Bench {
    /// Compiles every unit on its own, without link-time optimisation, and links the static library.
    fn build(context: &Context, root: &Path, harness: &Harness) -> Result<Self, String> {
        let bench = Self {
            sources: root.join("benches"),
            folder: context.scratch(&format!("bench-{}", harness.name))?,
            compiler: env::var("CXX").unwrap_or_else(|_| "g++".into()),
            harness: harness.name,
        };
        let archive = context.archive()?;
        let mut objects = Vec::new();
        for unit in harness.units {
            let object = bench.folder.join(unit.replace('/', "-")).with_extension("o");
            let source = bench.sources.join(unit).with_extension("cpp");
            let mut compile = Command::new(&bench.compiler);
            compile.args(FLAGS.split_whitespace()).arg("-I").arg(root.join("include"));
            compile.arg("-c").arg(source).arg("-o").arg(&object);
            shell::capture(&mut compile)?;
            objects.push(object);
        }
        let mut link = Command::new(&bench.compiler);
        link.args(objects).arg(archive).arg("-pthread").arg("-o").arg(bench.harness());
        shell::capture(&mut link)?;
        Ok(bench)
    }

    fn harness(&self) -> PathBuf {
        self.folder.join(self.harness)
    }

    /// The first line of what a program says of its version.
    fn version(program: &str) -> Result<String, String> {
        let text = shell::capture(Command::new(program).arg("--version"))?;
        Ok(text.lines().next().unwrap_or_default().into())
    }

    /// With what the measured code was compiled.
    fn compilers(&self) -> Result<[String; 2], String> {
        Ok([Self::version("rustc")?, Self::version(&self.compiler)?])
    }
}
