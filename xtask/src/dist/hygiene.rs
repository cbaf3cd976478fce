//! Gate: kvcore gets along with what else is in an image. Another Rust archive, either float ABI, either size of enums,
//! C++ without its library, newlib-nano.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive::{self, Archive};
use super::check::on_board;
use super::targets::{Board, Check, TARGETS, Target};
use crate::context::Context;
use crate::gates::{Outcome, Verdict, toolchain};
use crate::shell;

const HOST: &str = "x86_64-unknown-linux-gnu";
const SOFT: &str = "thumbv7em-none-eabi";
const HARD: &str = "thumbv7em-none-eabihf";
const CORTEX_M: [&str; 3] = ["thumbv6m-none-eabi", SOFT, HARD];
const ENUMS: [&str; 2] = ["-fshort-enums", "-fno-short-enums"];

const C: &str = "-std=gnu99 -Os -ffreestanding -ffunction-sections -Iinclude -c";
const CPP: &str = "-std=c++17 -Os -ffreestanding -ffunction-sections -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic \
                   -Wconversion -Wshadow -Werror -Iinclude -c";
/// newlib's assembly says nothing about the stack, on which `ld` remarks.
const LINK: &str = "-nostartfiles --specs=nano.specs -Wl,--gc-sections -Wl,--no-warn-execstack -Wl,-e,reset \
                    -T xtask/src/dist/check/image.ld";

/// Links every combination and runs it.
pub(crate) fn check(context: &Context) -> Outcome {
    toolchain::nightly(context)?;
    if toolchain::library_source(context)?.is_none() {
        return Ok(Verdict::Skipped(toolchain::NO_SOURCE.into()));
    }
    let folder = context.scratch("hygiene")?;
    let mut images = 0;
    for name in CORTEX_M {
        images += Bench::new(context, &folder, target(name)?)?.images()?;
    }
    control(context, &folder)?;
    host(context, &folder)?;
    Ok(Verdict::Passed(format!("{} images", images + 1)))
}

fn target(name: &str) -> Result<&'static Target, String> {
    TARGETS.iter().find(|target| target.name == name).ok_or_else(|| format!("there is no target {name}"))
}

/// One core, with both archives built for it.
struct Bench<'a> {
    context: &'a Context,
    folder: PathBuf,
    flags: String,
    board: &'static Board,
    kvcore: Archive,
    other: PathBuf,
}

impl<'a> Bench<'a> {
    fn new(context: &'a Context, folder: &Path, target: &'static Target) -> Result<Self, String> {
        let Check::Boards(toolchain, [board, ..]) = &target.check else {
            return Err(format!("{} runs on no board", target.name));
        };
        let kvcore = archive::build(context, target, folder)?;
        let other = other(context, folder, target)?;
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { context, folder, flags: format!("-mthumb {}", toolchain.flags), board, kvcore, other })
    }

    /// Both kinds of enums, with both archives in both orders, and the C++ consumer; answers how many ran.
    fn images(&self) -> Result<u32, String> {
        let (own, whole, other) = (arg(&self.kvcore.own), arg(&self.kvcore.whole), arg(&self.other));
        let everything = ["-Wl,--whole-archive", &own, &other, "-Wl,--no-whole-archive"];
        let orders: [&[&str]; 5] =
            [&[&own, &other], &[&other, &own], &[&whole, &other], &[&other, &whole], &everything];
        let mut images = 0;
        for enums in ENUMS {
            let start = self.compile("arm-none-eabi-gcc", C, enums, "xtask/src/dist/check/start.c")?;
            let two = self.compile("arm-none-eabi-gcc", C, enums, "xtask/src/dist/check/two.c")?;
            let renamed = format!("-Dmain=consumer_main {C}");
            let consumer = self.compile("arm-none-eabi-gcc", &renamed, enums, "tests/consumer/main.c")?;
            for archives in orders {
                self.run(&[&start, &two, &consumer], archives)?;
                images += 1;
            }
            let consumer = self.compile("arm-none-eabi-g++", CPP, enums, "tests/consumer/main.cpp")?;
            self.run(&[&start, &consumer], &[&own])?;
            images += 1;
            // Sizes, offsets and signatures, as both languages have them; and every function of the C++ header.
            self.compile("arm-none-eabi-gcc", "-std=c99 -Iinclude -c", enums, "tests/c/test_abi.c")?;
            self.compile("arm-none-eabi-g++", "-std=c++17 -Iinclude -c", enums, "tests/c/test_abi.cpp")?;
            self.compile("arm-none-eabi-g++", CPP, enums, "tests/cpp/freestanding.cpp")?;
        }
        Ok(images)
    }

    fn compile(&self, compiler: &str, options: &str, enums: &str, source: &str) -> Result<PathBuf, String> {
        let name = Path::new(source).file_name().unwrap_or_default().to_string_lossy();
        let object = self.folder.join(format!("{name}{enums}.o"));
        let mut call = self.context.tool(compiler, &format!("{} {enums} {options} {source}", self.flags));
        shell::capture(call.arg("-o").arg(&object))?;
        Ok(object)
    }

    fn link(&self, objects: &[&PathBuf], archives: &[&str]) -> (Command, PathBuf) {
        let image = self.folder.join("image");
        let mut call = self.context.tool("arm-none-eabi-gcc", &format!("{} {LINK}", self.flags));
        call.arg(format!("-Wl,--defsym=FLASH={}", self.board.flash));
        call.arg(format!("-Wl,--defsym=RAM={}", self.board.ram));
        call.args(objects).args(archives).arg("-o").arg(&image);
        (call, image)
    }

    fn run(&self, objects: &[&PathBuf], archives: &[&str]) -> Result<(), String> {
        let (mut call, image) = self.link(objects, archives);
        let output = shell::capture(&mut call)?;
        // newlib's own objects warn with -fno-short-enums; what is Rust's has no enum that another might see.
        if let Some(line) = output.lines().find(|line| line.contains("warning") && line.contains(".rcgu.o")) {
            return Err(line.to_owned());
        }
        shell::capture(&mut on_board(self.board, &image)).map(drop)
    }
}

fn arg(path: &Path) -> String {
    path.display().to_string()
}

/// The other archive.
fn other(context: &Context, folder: &Path, target: &Target) -> Result<PathBuf, String> {
    let package = folder.join("other");
    fs::create_dir_all(&package).map_err(|error| format!("{}: {error}", package.display()))?;
    let sources = context.root.join("xtask/src/dist/check");
    for (from, to) in [("other.toml", "Cargo.toml"), ("other.rs", "other.rs")] {
        shell::write(&package.join(to), &shell::read(&sources.join(from))?)?;
    }
    let manifest = arg(&package.join("Cargo.toml"));
    let folder = archive::static_library(context, target, &["--offline", "--manifest-path", &manifest])?;
    Ok(folder.join("libother.a"))
}

/// What has to be refused is: by the linker, an archive of the other float ABI; by the search for panics, code that panics.
fn control(context: &Context, folder: &Path) -> Result<(), String> {
    let (soft, hard) =
        (Bench::new(context, folder, target(SOFT)?)?, Bench::new(context, folder, target(HARD)?)?);
    let mut objects = Vec::new();
    for source in ["xtask/src/dist/check/start.c", "tests/consumer/main.c"] {
        objects.push(hard.compile("arm-none-eabi-gcc", C, ENUMS[0], source)?);
    }
    if archive::panic_trace(&hard.other)?.is_none() {
        return Err(
            "an archive that can panic shows no trace of it: the gate `dist` would see nothing".into()
        );
    }
    let (mut call, _) = hard.link(&[&objects[0], &objects[1]], &[&arg(&soft.kvcore.own)]);
    let output = shell::capture_failure(&mut call)?;
    if output.contains("uses VFP register arguments") {
        Ok(())
    } else {
        Err(format!("{output}the archives of both float ABIs are of one kind"))
    }
}

/// On this machine, where the archives leave C's functions to the C library.
fn host(context: &Context, folder: &Path) -> Result<(), String> {
    let kvcore = archive::build(context, target(HOST)?, folder)?;
    let other = other(context, folder, target(HOST)?)?;
    let consumer = folder.join("consumer.o");
    let mut compile =
        context.tool("gcc", "-std=c99 -Os -Iinclude -Dmain=consumer_main -c tests/consumer/main.c -o");
    shell::capture(compile.arg(&consumer))?;
    let image = folder.join("image");
    let mut link = context.tool("gcc", "-std=c99 -Os xtask/src/dist/check/two.c");
    link.arg(&consumer).arg(&kvcore.own).arg(&other).arg("-o").arg(&image);
    shell::capture(&mut link)?;
    shell::capture(&mut Command::new(&image)).map(drop)
}
