//! Machines that the firmware runs on, and how to compile, link and run a program for each.

use std::path::{Path, PathBuf};

use super::archive::{Lock, Target};
use crate::context::Context;
use crate::shell;

pub(super) struct Machine {
    pub(super) name: &'static str,
    pub(super) target: Target,
    /// The C compiler with the flags of the core.
    compiler: &'static str,
    /// Files of examples/firmware/port.
    port: &'static str,
    /// Linker script in examples/firmware/machines; none for a program of an operating system.
    script: Option<&'static str>,
    /// The emulator, to be followed by the program.
    emulator: &'static str,
}

impl Machine {
    /// Whether it has RAM for the shadow-pool test, and semihosting to tell it how long to go on.
    pub(super) fn runs_shadow(&self) -> bool {
        self.emulator.starts_with("qemu-system") && self.name != "microbit"
    }
}

/// What to make a program from; paths in the root.
pub(super) struct Program<'a> {
    pub(super) name: &'a str,
    pub(super) sources: &'a [&'a str],
    /// One more folder of headers.
    pub(super) headers: &'a str,
}

const fn spin(triple: &'static str) -> Target {
    Target { triple, lock: Lock::Spin }
}

const M0: Target = Target { triple: "thumbv6m-none-eabi", lock: Lock::Critical };
const M4: Target = spin("thumbv7em-none-eabihf");
const M33: Target = spin("thumbv8m.main-none-eabi");
const CORTEX_M: &str = "cortex_m.c semihosting.c libc.c";

macro_rules! arm {
    ($machine:literal) => {
        concat!("qemu-system-arm -M ", $machine, " -nographic -monitor none -serial none")
    };
}

pub(super) const MACHINES: &[Machine] = &[
    Machine {
        name: "microbit",
        target: M0,
        compiler: "arm-none-eabi-gcc -mthumb -mcpu=cortex-m0",
        port: CORTEX_M,
        script: Some("microbit.ld"),
        emulator: arm!("microbit"),
    },
    Machine {
        name: "mps2-an385",
        target: spin("thumbv7m-none-eabi"),
        compiler: "arm-none-eabi-gcc -mthumb -mcpu=cortex-m3",
        port: CORTEX_M,
        script: Some("mps2.ld"),
        emulator: arm!("mps2-an385"),
    },
    Machine {
        name: "mps2-an386",
        target: M4,
        compiler: "arm-none-eabi-gcc -mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16",
        port: CORTEX_M,
        script: Some("mps2.ld"),
        emulator: arm!("mps2-an386"),
    },
    Machine {
        name: "mps2-an386-critical",
        target: Target { triple: M4.triple, lock: Lock::Critical },
        compiler: "arm-none-eabi-gcc -mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16",
        port: CORTEX_M,
        script: Some("mps2.ld"),
        emulator: arm!("mps2-an386"),
    },
    Machine {
        name: "mps2-an500",
        target: M4,
        compiler: "arm-none-eabi-gcc -mthumb -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-sp-d16",
        port: CORTEX_M,
        script: Some("mps2.ld"),
        emulator: arm!("mps2-an500"),
    },
    Machine {
        name: "mps2-an505",
        target: M33,
        compiler: "arm-none-eabi-gcc -mthumb -mcpu=cortex-m33 -mfloat-abi=soft",
        port: CORTEX_M,
        script: Some("mps2_an505.ld"),
        emulator: arm!("mps2-an505"),
    },
    Machine {
        name: "mps3-an547",
        target: M33,
        compiler: "arm-none-eabi-gcc -mthumb -mcpu=cortex-m55 -mfloat-abi=soft",
        port: CORTEX_M,
        script: Some("mps3_an547.ld"),
        emulator: arm!("mps3-an547"),
    },
    Machine {
        name: "riscv-virt",
        target: spin("riscv32imac-unknown-none-elf"),
        compiler: "riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32 -mcmodel=medany \
                   -Wl,--no-warn-rwx-segments",
        port: "riscv.c semihosting.c libc.c",
        script: Some("riscv_virt.ld"),
        emulator: "qemu-system-riscv32 -M virt -bios none -nographic -monitor none -serial none",
    },
    Machine {
        name: "hexagon",
        target: spin("hexagon-unknown-none-elf"),
        compiler: "clang-14 --target=hexagon-unknown-none-elf -mv67 -fuse-ld=lld",
        port: "hexagon.c libc.c",
        script: Some("hexagon.ld"),
        emulator: "qemu-hexagon",
    },
    Machine {
        name: "aarch64",
        target: spin("aarch64-unknown-none"),
        compiler: "aarch64-linux-gnu-gcc",
        port: "hosted.c",
        script: None,
        emulator: "qemu-aarch64",
    },
    Machine {
        name: "s390x",
        target: spin("s390x-unknown-linux-gnu"),
        compiler: "s390x-linux-gnu-gcc",
        port: "hosted.c",
        script: None,
        emulator: "qemu-s390x",
    },
    Machine {
        name: "i686",
        target: spin("i686-unknown-linux-gnu"),
        compiler: "i686-linux-gnu-gcc",
        port: "hosted.c",
        script: None,
        emulator: "qemu-i386",
    },
];

/// Clean under all of these, and C99.
const WARNINGS: &str = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";
const FREESTANDING: &str =
    "-Os -ffreestanding -ffunction-sections -fdata-sections -nostdlib -Wl,--gc-sections";
/// What the emulator may take; a run needs seconds.
const LIMIT: &str = "--signal=KILL 120";

pub(super) fn find(name: &str) -> Result<&'static Machine, String> {
    MACHINES.iter().find(|machine| machine.name == name).ok_or_else(|| {
        let names: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
        format!("there is no machine `{name}`, but {}", names.join(" "))
    })
}

/// Compiles and links; beside the program lies the linker's map, with the ending `map`.
pub(super) fn link(
    context: &Context,
    machine: &Machine,
    program: &Program<'_>,
    archive: &Path,
) -> Result<PathBuf, String> {
    let example = context.root.join("examples/firmware");
    let image = context.scratch("firmware")?.join(format!("{}-{}.elf", program.name, machine.name));
    let (compiler, flags) = machine.compiler.split_once(' ').unwrap_or((machine.compiler, ""));
    let mut command = context.tool(compiler, flags);
    command.args(WARNINGS.split(' ')).arg("-I").arg(&example).arg("-I").arg(context.root.join("include"));
    command.arg("-I").arg(context.root.join(program.headers));
    command.args(program.sources.iter().map(|source| context.root.join(source)));
    command.args(machine.port.split(' ').map(|file| example.join("port").join(file)));
    command.arg(archive);
    match machine.script {
        None => drop(command.args(["-O2", "-static"])),
        Some(script) => {
            command.args(FREESTANDING.split(' ')).arg("-I").arg(example.join("port/libc"));
            command.arg("-T").arg(example.join("machines").join(script));
            command.arg(format!("-Wl,-Map={}", image.with_extension("map").display()));
            if compiler.ends_with("gcc") {
                command.arg("-L").arg(example.join("machines"));
                command.args([
                    "-fno-tree-loop-distribute-patterns",
                    "-Wl,-z,noexecstack,--fatal-warnings",
                    "-lgcc",
                ]);
            } else {
                command.args(["-fno-builtin", "-static"]);
            }
        }
    }
    shell::capture(command.arg("-o").arg(&image))?;
    Ok(image)
}

/// Runs a program, which has to end with 0, and returns what it wrote.
pub(super) fn run(
    context: &Context,
    machine: &Machine,
    image: &Path,
    words: &[&str],
    options: &[&str],
) -> Result<String, String> {
    let mut command = context.tool("timeout", LIMIT);
    command.args(machine.emulator.split_whitespace()).args(options);
    if machine.emulator.starts_with("qemu-system") {
        let arguments = words.iter().flat_map(|word| [",arg=", word]).collect::<String>();
        command.args(["-semihosting-config", &format!("enable=on,target=native{arguments}"), "-kernel"]);
    }
    shell::capture(command.arg(image)).map_err(|output| format!("{}:\n{output}", machine.name))
}
