//! Linking the application of `tests/consumer` with an archive, and running it, as far as this machine can.

use std::path::Path;
use std::process::Command;

use super::archive::Archive;
use super::library;
use super::targets::{Board, Check, Kind, Platform, Toolchain};
use crate::context::Context;
use crate::{setup, shell};

/// What was done, in the words of the table.
pub(super) fn check(context: &Context, archive: &Archive, folder: &Path) -> Result<String, String> {
    match &archive.target.check {
        Check::Boards(toolchain, boards) => {
            for board in *boards {
                let script = context.root.join("xtask/src/dist/check/image.ld");
                let place = format!(
                    ";--defsym=FLASH={};--defsym=RAM={};-T;{};-e;reset",
                    board.flash,
                    board.ram,
                    script.display()
                );
                run_linked(context, archive, folder, toolchain, &place, |program| on_board(board, program))?;
            }
            let names: Vec<&str> = boards.iter().map(|board| board.name).collect();
            Ok(format!("linked and run: QEMU {}", names.join(", ")))
        }
        Check::User(toolchain, emulator) => {
            run_linked(context, archive, folder, toolchain, "", |program| in_user_mode(emulator, program))?;
            Ok(format!("linked and run: {emulator}"))
        }
        Check::Android(toolchain, emulator, abi) => {
            run_linked(context, archive, folder, toolchain, "", |program| in_user_mode(emulator, program))?;
            shared_library(context, archive, folder, toolchain, abi)?;
            Ok(format!("linked without Android's C library and run: {emulator}; .so link-checked"))
        }
        Check::Libc(compiler, emulator) => libc(context, archive, folder, compiler, emulator),
        Check::Apple(platform) => apple(context, folder, platform),
    }
}

/// Builds the application with CMake's find_package and without a C library; it has to pass, and its control to fail.
fn run_linked(
    context: &Context,
    archive: &Archive,
    folder: &Path,
    toolchain: &Toolchain,
    place: &str,
    command: impl Fn(&Path) -> Command,
) -> Result<(), String> {
    let build = context.scratch(&format!("dist-check/{}", archive.target.name))?;
    let freestanding = archive.target.kind == Kind::Metal;
    let abi = match &archive.target.check {
        // Without the NDK, CMake refuses the name of the system.
        Check::Android(_, _, abi) => format!("-DANDROID=ON -DANDROID_ABI={abi}"),
        _ => String::new(),
    };
    let mut configure =
        context.tool("cmake", "--fresh -G Ninja -S xtask/src/dist/check -DCMAKE_SYSTEM_NAME=Generic");
    configure.args(abi.split_whitespace()).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_C_COMPILER={}", first(setup::CLANG)?));
    configure.arg(format!("-DCMAKE_C_COMPILER_TARGET={}", toolchain.triple));
    configure.arg(format!("-DCMAKE_C_FLAGS={}", toolchain.flags));
    configure.arg(format!("-DCMAKE_SYSTEM_PROCESSOR={}", toolchain.processor));
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", folder.display()));
    configure.arg(format!("-DKVCORE_FREESTANDING={}", if freestanding { "ON" } else { "OFF" }));
    configure.arg(format!("-DCONSUMER={}", context.root.join("tests/consumer/main.c").display()));
    configure.arg(format!("-DLINKER={}", first(setup::LLD)?));
    // The compiler's helpers, which the NDK's own linker brings.
    let helpers = if freestanding { String::new() } else { format!(";{}", archive.whole.display()) };
    configure.arg(format!("-DLINK_ARGUMENTS=--gc-sections{helpers}{place}"));
    let said = shell::capture(&mut configure)?;
    let cache = shell::read(&build.join("build.ninja"))?;
    if !cache.contains(&format!("lib/{}/lib", archive.target.name)) {
        return Err(format!("{said}find_package chose another archive than that of {}", archive.target.name));
    }
    shell::capture(context.tool("cmake", "--build").arg(&build))?;
    shell::capture(&mut command(&build.join("check")))?;
    shell::capture_failure(&mut command(&build.join("control"))).map(drop)
}

/// An emulated board that ends with the program's status.
pub(super) fn on_board(board: &Board, program: &Path) -> Command {
    let mut qemu = limited("qemu-system-arm");
    qemu.args(["-M", board.name, "-nographic", "-monitor", "none", "-serial", "none"]);
    qemu.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(program);
    qemu
}

pub(super) fn in_user_mode(emulator: &str, program: &Path) -> Command {
    let mut words = emulator.split_whitespace();
    let mut qemu = limited(words.next().unwrap_or_default());
    qemu.args(words).arg(program);
    qemu
}

/// A program that must not hang the machine.
fn limited(program: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args(["60", program]);
    command
}

pub(super) fn first(programs: &[&'static str]) -> Result<&'static str, String> {
    shell::first(programs).ok_or_else(|| format!("{} is not on the path", programs.join(" or ")))
}

/// As the NDK's CMake links a module with the package in prefab's folder.
fn shared_library(
    context: &Context,
    archive: &Archive,
    folder: &Path,
    toolchain: &Toolchain,
    abi: &str,
) -> Result<(), String> {
    let prefab = folder.join("android/prefab");
    let module = prefab.join("modules/kvcore");
    let libs = module.join(format!("libs/android.{abi}"));
    for file in [prefab.join("prefab.json"), module.join("module.json"), libs.join("abi.json")] {
        shell::capture(context.tool("python3", "-m json.tool").arg(file))?;
    }
    let out = context.scratch("dist-check/android")?.join(format!("lib{abi}.so"));
    let mut clang = context.tool(
        first(setup::CLANG)?,
        "-shared -fPIC -Os -ffreestanding -fno-builtin -nostdlib -fuse-ld=lld -Wl,--no-undefined -Wl,--fatal-warnings \
         -Wl,-z,max-page-size=16384 tests/consumer/main.c xtask/src/dist/check/memory.c",
    );
    clang.arg(format!("--target={}", toolchain.triple)).arg("-I").arg(module.join("include"));
    clang.arg(libs.join("libkvcore.a")).arg(&archive.whole).arg("-o").arg(out);
    shell::capture(&mut clang).map(drop)
}

/// With a C library: by a Makefile and pkg-config, and where it is this machine's also by CMake, in C and C++.
fn libc(
    context: &Context,
    archive: &Archive,
    folder: &Path,
    compiler: &str,
    emulator: &str,
) -> Result<String, String> {
    let build = context.scratch(&format!("dist-check/{}", archive.target.name))?;
    let consumer = context.root.join("tests/consumer");
    let mut make = context.tool("make", "-B LDFLAGS=-static main");
    make.current_dir(&build).arg(format!("CC={compiler}")).arg(format!("VPATH={}", consumer.display()));
    make.env("PKG_CONFIG_PATH", library(folder, archive.target).join("pkgconfig"));
    shell::capture(make.arg("-f").arg(consumer.join("Makefile")))?;
    let program = build.join("main");
    if !emulator.is_empty() {
        shell::capture(&mut in_user_mode(emulator, &program))?;
        return Ok(format!("linked by a Makefile and run: {emulator}"));
    }
    shell::capture(&mut Command::new(&program))?;
    let mut configure = context.tool("cmake", "--fresh -G Ninja -S tests/consumer -B");
    configure.arg(build.join("cmake")).arg(format!("-DCMAKE_PREFIX_PATH={}", folder.display()));
    shell::capture(&mut configure)?;
    shell::capture(context.tool("cmake", "--build").arg(build.join("cmake")))?;
    shell::capture(context.tool("ctest", "--no-tests=error --test-dir").arg(build.join("cmake")))?;
    Ok("linked by a Makefile and by CMake, and run".into())
}

/// Links a dynamic library with what the XCFramework holds. The linker refuses objects of another platform.
fn apple(context: &Context, folder: &Path, platform: &Platform) -> Result<String, String> {
    let framework = folder.join("kvcore.xcframework");
    let read = "import plistlib, sys; plistlib.load(open(sys.argv[1], 'rb'))";
    shell::capture(context.tool("python3", "-c").arg(read).arg(framework.join("Info.plist")))?;
    let slice = framework.join(platform.folder);
    let out = context.scratch(&format!("dist-check/{}", platform.linker))?;
    let object = out.join("main.o");
    let mut clang =
        context.tool(first(setup::CLANG)?, "-std=c99 -Os -ffreestanding -c tests/consumer/main.c");
    clang.arg(format!("--target={}", platform.triple)).arg("-I").arg(slice.join("Headers"));
    shell::capture(clang.arg("-o").arg(&object))?;
    let mut link = context.tool(first(setup::LD64)?, "-arch arm64 -dylib -undefined error -fatal_warnings");
    link.args(["-platform_version", platform.linker, "14.0", "17.0"])
        .arg(&object)
        .arg(slice.join("libkvcore.a"));
    link.arg(context.root.join("xtask/src/dist/check/libSystem.tbd")).arg("-o").arg(out.join("check.dylib"));
    shell::capture(&mut link)?;
    Ok("link-checked: ld64.lld".into())
}
