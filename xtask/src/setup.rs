//! What the machine needs beside Rust and a C compiler, and how to get it.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::shell;

/// Who needs it: the tests of the README, or the gates too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Scope {
    Tests,
    Gates,
}

enum Probe {
    /// One of these programs is on the path.
    Program(&'static [&'static str]),
    /// The first of these compilers that is there takes this text, with these flags.
    Compiles(&'static [&'static str], &'static [&'static str], &'static str),
}

struct Need {
    scope: Scope,
    probe: Probe,
    package: &'static str,
}

pub(crate) const CLANG: &[&str] = &["clang-14", "clang"];
pub(crate) const CLANGXX: &[&str] = &["clang++-14", "clang++"];
pub(crate) const LLD: &[&str] = &["ld.lld-14", "ld.lld"];
/// The linker for Mach-O.
pub(crate) const LD64: &[&str] = &["ld64.lld-14", "ld64.lld"];
pub(crate) const LLVM_AR: &[&str] = &["llvm-ar-14", "llvm-ar"];
/// Each can tell whether an SVG file is well-formed.
pub(crate) const XML: &[&str] = &["xmllint", "rsvg-convert"];

const MAIN: &str = "int main(void) { return 0; }\n";
const DOCTEST: &str = "#include <doctest/doctest.h>\n";

const NEEDS: &[Need] = &[
    Need { scope: Scope::Tests, probe: Probe::Compiles(&["cc"], &["-xc"], MAIN), package: "gcc" },
    Need { scope: Scope::Tests, probe: Probe::Program(&["g++"]), package: "g++" },
    Need { scope: Scope::Tests, probe: Probe::Program(&["make"]), package: "make" },
    Need { scope: Scope::Tests, probe: Probe::Program(&["cmake"]), package: "cmake" },
    Need { scope: Scope::Tests, probe: Probe::Program(&["ninja"]), package: "ninja-build" },
    Need { scope: Scope::Tests, probe: Probe::Program(&["pkg-config"]), package: "pkg-config" },
    Need {
        scope: Scope::Tests,
        probe: Probe::Compiles(&["g++"], &["-xc++", "-fsyntax-only"], DOCTEST),
        package: "doctest-dev",
    },
    Need { scope: Scope::Gates, probe: Probe::Program(CLANG), package: "clang-14" },
    Need {
        scope: Scope::Gates,
        probe: Probe::Compiles(CLANG, &["-xc", "-fsanitize=address"], MAIN),
        package: "libclang-rt-14-dev",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Compiles(&["g++"], &["-xc++", "-fsyntax-only"], "#include <gtest/gtest.h>\n"),
        package: "libgtest-dev",
    },
    Need { scope: Scope::Gates, probe: Probe::Program(&["pip3"]), package: "python3-pip" },
    Need { scope: Scope::Gates, probe: Probe::Program(&["valgrind"]), package: "valgrind" },
    Need { scope: Scope::Gates, probe: Probe::Program(&["xz"]), package: "xz-utils" },
    Need { scope: Scope::Gates, probe: Probe::Program(&["qemu-system-arm"]), package: "qemu-system-arm" },
    Need { scope: Scope::Gates, probe: Probe::Program(XML), package: "libxml2-utils" },
    Need { scope: Scope::Gates, probe: Probe::Program(&["arm-none-eabi-gcc"]), package: "gcc-arm-none-eabi" },
    Need {
        scope: Scope::Gates,
        probe: Probe::Compiles(
            &["arm-none-eabi-gcc"],
            &["-xc", "-c", "-mcpu=cortex-m4"],
            "#include <string.h>\n",
        ),
        package: "libnewlib-arm-none-eabi",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Compiles(
            &["arm-none-eabi-g++"],
            &["-xc++", "-c", "-mcpu=cortex-m4"],
            "#include <utility>\n",
        ),
        package: "libstdc++-arm-none-eabi-dev",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Program(&["riscv64-unknown-elf-gcc"]),
        package: "gcc-riscv64-unknown-elf",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Program(&["qemu-system-riscv32"]),
        package: "qemu-system-misc",
    },
    Need { scope: Scope::Gates, probe: Probe::Program(&["qemu-hexagon"]), package: "qemu-user" },
    Need { scope: Scope::Gates, probe: Probe::Program(&["ld.lld-14"]), package: "lld-14" },
    Need { scope: Scope::Gates, probe: Probe::Program(&["llvm-readelf-14"]), package: "llvm-14" },
    Need {
        scope: Scope::Gates,
        probe: Probe::Program(&["aarch64-linux-gnu-gcc"]),
        package: "gcc-aarch64-linux-gnu",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Program(&["s390x-linux-gnu-gcc"]),
        package: "gcc-s390x-linux-gnu",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Program(&["i686-linux-gnu-gcc"]),
        package: "gcc-i686-linux-gnu",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Compiles(&["aarch64-linux-gnu-gcc"], &["-xc", "-static"], MAIN),
        package: "libc6-dev-arm64-cross",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Compiles(&["s390x-linux-gnu-gcc"], &["-xc", "-static"], MAIN),
        package: "libc6-dev-s390x-cross",
    },
    Need {
        scope: Scope::Gates,
        probe: Probe::Compiles(&["i686-linux-gnu-gcc"], &["-xc", "-static"], MAIN),
        package: "libc6-dev-i386-cross",
    },
];

/// Installs what is missing, or says what to install.
pub(crate) fn ensure(scope: Scope) -> Result<(), String> {
    let packages = missing(scope);
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    let by_hand = format!("missing here: {list} (names of Debian packages); install them and run this again");
    if shell::find("apt-get").is_none() {
        return Err(format!("{by_hand}. Only on Debian does this set-up do it itself"));
    }
    if !is_root() {
        return Err(format!("{by_hand}, as root: apt-get install --no-install-recommends {list}"));
    }
    println!("setup: installing {list}");
    apt(&["update", "-qq"])?;
    let mut install = vec!["install", "-qq", "-y", "--no-install-recommends"];
    install.extend(&packages);
    apt(&install)?;
    match missing(scope).as_slice() {
        [] => Ok(()),
        still => Err(format!("installed, and still not found: what {} should bring", still.join(" "))),
    }
}

fn missing(scope: Scope) -> Vec<&'static str> {
    let needed = NEEDS.iter().filter(|need| need.scope <= scope);
    needed.filter(|need| !need.probe.succeeds()).map(|need| need.package).collect()
}

impl Probe {
    fn succeeds(&self) -> bool {
        match self {
            Self::Program(names) => shell::first(names).is_some(),
            Self::Compiles(names, flags, source) => {
                shell::first(names).is_some_and(|compiler| compiles(compiler, flags, source))
            }
        }
    }
}

fn compiles(compiler: &str, flags: &[&str], source: &str) -> bool {
    let folder = std::env::temp_dir();
    let program = folder.join(format!("kvcore-probe-{}", std::process::id()));
    let mut command = Command::new(compiler);
    command.args(flags).arg("-o").arg(&program).arg("-");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let succeeded = child.is_ok_and(|mut child| {
        let written = child
            .stdin
            .take()
            .is_some_and(|mut stdin| std::io::Write::write_all(&mut stdin, source.as_bytes()).is_ok());
        child.wait().is_ok_and(|status| status.success()) && written
    });
    // Nothing to remove when the probe failed.
    let _ = std::fs::remove_file(program);
    succeeded
}

fn is_root() -> bool {
    shell::capture(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0")
}

fn apt(arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments);
    shell::capture(&mut command).map(drop).map_err(|mut output| {
        let _ = write!(output, "the set-up needs Debian's package archive");
        output
    })
}
