//! Gates: the manifests for Zephyr, ESP-IDF and PlatformIO, and builds of their CMake code in projects that stand in for
//! the SDKs, which this machine cannot fetch.

use std::path::PathBuf;

use super::archive::llvm;
use super::check::{first, in_user_mode, on_board};
use super::targets::MICROBIT;
use crate::context::Context;
use crate::gates::{Outcome, Verdict, toolchain};
use crate::{setup, shell};

const PACKAGES: [&str; 4] =
    ["kconfiglib==14.1.0", "pyyaml==6.0.4", "idf-component-manager==3.1.2", "platformio==6.2.0"];

/// Each manifest by the code of the tool that it is for.
pub(crate) fn manifests(context: &Context) -> Outcome {
    let packages = context.scratch("manifests/packages")?;
    let mut install =
        context.tool("python3", "-m pip install --quiet --disable-pip-version-check --upgrade --target");
    if !packages.join("platformio").is_dir()
        && let Err(output) = shell::capture(install.arg(&packages).args(PACKAGES))
    {
        return Ok(Verdict::Skipped(format!("pip cannot fetch the tools: {}", output.trim())));
    }
    let mut check = context.tool("python3", "xtask/src/dist/check/manifests.py");
    check.arg(&context.root).arg(context.manifest_value("version")?);
    check.env("PYTHONPATH", &packages).env("PYTHONDONTWRITEBYTECODE", "1");
    // Both tools keep a folder of settings.
    check.env("PLATFORMIO_CORE_DIR", packages.with_file_name("platformio"));
    check.env("IDF_TOOLS_PATH", packages.with_file_name("espressif"));
    let output = shell::capture(&mut check)?;
    Ok(Verdict::Passed(output.lines().last().unwrap_or_default().to_owned()))
}

/// The choice of targets, and images with the module and with the component.
pub(crate) fn builds(context: &Context) -> Outcome {
    toolchain::nightly(context)?;
    let Some(source) = toolchain::library_source(context)? else {
        return Ok(Verdict::Skipped(toolchain::NO_SOURCE.into()));
    };
    for script in ["cmake/dist/test_target.cmake", "zephyr/test_target.cmake"] {
        shell::capture(&mut context.tool("cmake", &format!("-P {script}")))?;
    }
    let zephyr = build(context, &source, "zephyr", "thumbv6m-none-eabi", &zephyr_on_m0(context))?;
    shell::capture(&mut on_board(&MICROBIT, &zephyr))?;
    for (chip, isa) in [("esp32c3", "rv32imc"), ("esp32c6", "rv32imac")] {
        let target = format!("{}-unknown-none-elf", isa.replace("rv", "riscv"));
        let esp_idf = build(context, &source, "esp-idf", &target, &esp_idf(chip, isa)?)?;
        shell::capture(&mut in_user_mode("qemu-riscv32", &esp_idf))?;
    }
    Ok(Verdict::Passed("Zephyr on Cortex-M0, ESP-IDF on ESP32-C3 and C6".into()))
}

/// Configures and builds the project that stands in for an SDK, which has to choose this target; tells where its program
/// is.
fn build(
    context: &Context,
    source: &toolchain::Source,
    name: &str,
    target: &str,
    options: &[String],
) -> Result<PathBuf, String> {
    let folder = context.scratch(&format!("frameworks/{name}"))?;
    let mut configure = context.tool("cmake", "--fresh -G Ninja -DCMAKE_SYSTEM_NAME=Generic -B");
    configure.arg(&folder).arg("-S").arg(format!("xtask/src/dist/check/{name}"));
    configure.arg(format!("-DROOT={}", context.root.display())).args(options);
    let mut build = context.tool("cmake", "--build");
    build.arg(&folder);
    for command in [&mut configure, &mut build] {
        source.apply(command);
        shell::capture(command)?;
    }
    if !shell::read(&folder.join("build.ninja"))?.contains(&format!("--target {target} ")) {
        return Err(format!("{name}: another target than {target} was chosen"));
    }
    Ok(folder.join("check"))
}

/// With a lock of critical sections and a registry smaller than the default.
fn zephyr_on_m0(context: &Context) -> Vec<String> {
    let script = context.root.join("xtask/src/dist/check/image.ld");
    let mut options = vec![
        "-DCMAKE_SYSTEM_PROCESSOR=arm".to_owned(),
        "-DCMAKE_C_COMPILER=arm-none-eabi-gcc".to_owned(),
        "-DCMAKE_C_FLAGS=-mcpu=cortex-m0 -mthumb -ffreestanding -Os".to_owned(),
        format!(
            "-DCMAKE_EXE_LINKER_FLAGS=-nostartfiles --specs=nano.specs -Wl,--gc-sections,--no-warn-execstack,-e,reset,\
             --defsym=FLASH={},--defsym=RAM={} -T \"{}\"",
            MICROBIT.flash,
            MICROBIT.ram,
            script.display()
        ),
        "-DCONFIG_KVCORE_TOOLCHAIN=nightly".to_owned(),
        "-DCONFIG_KVCORE_MAX_CACHES=8".to_owned(),
        "-DCONFIG_KVCORE_MAX_BUILDERS=4".to_owned(),
    ];
    let set = [
        "ARM",
        "CPU_CORTEX_M0",
        "KVCORE",
        "KVCORE_NEEDS_CRITICAL_SECTION",
        "KVCORE_CRITICAL_SECTION",
        "KVCORE_BUILD_STD",
    ];
    options.extend(set.iter().map(|symbol| format!("-DCONFIG_{symbol}=y")));
    options
}

fn esp_idf(chip: &str, isa: &str) -> Result<Vec<String>, String> {
    let ar = shell::find(llvm("ar")?).unwrap_or_default();
    Ok(vec![
        format!("-DIDF_TARGET={chip}"),
        "-DCMAKE_SYSTEM_PROCESSOR=riscv32".to_owned(),
        format!("-DCMAKE_C_COMPILER={}", first(setup::CLANG)?),
        "-DCMAKE_C_COMPILER_TARGET=riscv32-unknown-elf".to_owned(),
        format!("-DCMAKE_C_FLAGS=-march={isa} -mabi=ilp32 -mno-relax -ffreestanding -fno-builtin -Os"),
        format!("-DLINKER={}", first(setup::LLD)?),
        format!("-DCMAKE_AR={}", ar.display()),
        "-DKVCORE_TOOLCHAIN=nightly".to_owned(),
        "-DKVCORE_CARGO_ARGS=-Zbuild-std=core".to_owned(),
    ])
}
