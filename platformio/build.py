"""Builds kvcore with cargo for the board of a PlatformIO project, and links it.

A project may set in platformio.ini: custom_kvcore_target (Rust's name of the target), custom_kvcore_cargo_args (for
example -Zbuild-std=core) and custom_kvcore_toolchain (as rustup names it). With a core that has no compare-and-swap the
project defines kvc_port_irq_save and kvc_port_irq_restore.
"""

import os
import subprocess

ARM = {
    "cortex-m0": "thumbv6m-none-eabi",
    "cortex-m0plus": "thumbv6m-none-eabi",
    "cortex-m1": "thumbv6m-none-eabi",
    "cortex-m3": "thumbv7m-none-eabi",
    "cortex-m4": "thumbv7em-none-eabi",
    "cortex-m7": "thumbv7em-none-eabi",
    "cortex-m33": "thumbv8m.main-none-eabi",
    "cortex-m55": "thumbv8m.main-none-eabi",
}
WITH_FLOAT_ABI = ("thumbv7em-none-eabi", "thumbv8m.main-none-eabi")
ESP = {
    "esp32c2": "riscv32imc-unknown-none-elf",
    "esp32c3": "riscv32imc-unknown-none-elf",
    "esp32c5": "riscv32imac-unknown-none-elf",
    "esp32c6": "riscv32imac-unknown-none-elf",
    "esp32c61": "riscv32imac-unknown-none-elf",
    "esp32h2": "riscv32imac-unknown-none-elf",
    "esp32p4": "riscv32imafc-unknown-none-elf",
}
WITHOUT_CAS = ("thumbv6m-none-eabi", "riscv32imc-unknown-none-elf")


def rust_target(cpu, mcu, flags):
    """Rust's name of a board's target, or None; cpu and mcu as board files have them, flags as the compiler's."""
    target = ARM.get(cpu) or ESP.get(mcu)
    if target in WITH_FLOAT_ABI and "-mfloat-abi=hard" in flags:
        target += "hf"
    return target


def command(target, folder, toolchain, arguments):
    """The call of cargo that builds the archive."""
    features = "capi,panic-handler" + (",critical-section" if target in WITHOUT_CAS else "")
    words = ["cargo"] + (["+" + toolchain] if toolchain else [])
    words += ["rustc", "--profile", "size", "--lib", "--crate-type", "staticlib", "--locked", "--features", features]
    return words + ["--target", target, "--target-dir", folder] + arguments.split()


def build(project, library):
    """Runs cargo in the library's folder and adds what it built to the project's link."""
    board = project.BoardConfig()
    flags = [str(flag) for flag in project.get("CCFLAGS", []) + project.get("LINKFLAGS", [])]
    target = project.GetProjectOption("custom_kvcore_target", "") or rust_target(
        board.get("build.cpu", ""), board.get("build.mcu", ""), flags
    )
    if not target:
        raise SystemExit("kvcore: set custom_kvcore_target to Rust's name of this board's target")
    folder = os.path.join(project.subst("$BUILD_DIR"), "kvcore")
    toolchain = project.GetProjectOption("custom_kvcore_toolchain", "")
    arguments = project.GetProjectOption("custom_kvcore_cargo_args", "")
    subprocess.run(command(target, folder, toolchain, arguments), cwd=library, check=True)
    project.Append(LIBPATH=[os.path.join(folder, target, "size")], LIBS=["kvcore"])


if "Import" in globals():  # SCons runs this file; checks import it.
    Import("env", "pio_lib_builder")  # noqa: F821
    build(DefaultEnvironment(), pio_lib_builder.path)  # noqa: F821
