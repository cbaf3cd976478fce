"""Checks the manifests for Zephyr, ESP-IDF and PlatformIO with their tools' own code; the last line counts the checks.

usage: manifests.py ROOT VERSION, with kconfiglib, pyyaml, idf-component-manager and platformio importable.
"""

import importlib.util
import os
import sys
import tempfile

import kconfiglib
import yaml
from idf_component_tools.manager import ManifestManager
from platformio.package.manifest.parser import ManifestParserFactory
from platformio.package.manifest.schema import ManifestSchema

# What kvcore's Kconfig takes from Zephyr's.
ZEPHYR = ("XTENSA", "CPU_CORTEX_M0", "CPU_CORTEX_M0PLUS", "CPU_CORTEX_M1", "CPU_CORTEX_M4", "RISCV", "RISCV_ISA_EXT_A")

checked = 0


def expect(what, expected, found):
    global checked
    checked += 1
    if expected != found:
        raise SystemExit(f"{what}: {found!r} instead of {expected!r}")


def kconfig(root, **values):
    """The configuration of an image for a board that sets these of Zephyr's symbols and chooses these of kvcore's."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "Kconfig")
        with open(path, "w", encoding="utf-8") as file:
            for name in ZEPHYR:
                file.write(f"config {name}\n\tbool\n\tdefault {values.get(name, 'n')}\n\n")
            file.write(f'source "{root}/zephyr/Kconfig"\n')
        # Warnings of symbols that nobody defines too.
        os.environ["KCONFIG_WARN_UNDEF"] = "y"
        config = kconfiglib.Kconfig(path, warn_to_stderr=False)
        expect("warnings of Kconfig", [], config.warnings)
        for name, value in values.items():
            if name not in ZEPHYR:
                config.syms[name].set_value(value)
        return {name: symbol.str_value for name, symbol in config.syms.items()}


def check_zephyr(root):
    with open(f"{root}/zephyr/module.yml", encoding="utf-8") as file:
        module = yaml.safe_load(file)
    expect("module.yml", {"name": "kvcore", "build": {"cmake": "zephyr", "kconfig": "zephyr/Kconfig"}}, module)
    expect("module.yml's files", [True, True],
           [os.path.isfile(f"{root}/{name}") for name in ("zephyr/CMakeLists.txt", "zephyr/Kconfig")])
    expect("off unless asked for", "n", kconfig(root)["KVCORE"])
    m4 = kconfig(root, CPU_CORTEX_M4="y", KVCORE="y")
    expect("lock of an M4", "n", m4["KVCORE_CRITICAL_SECTION"])
    expect("limits", ("16", "16"), (m4["KVCORE_MAX_CACHES"], m4["KVCORE_MAX_BUILDERS"]))
    expect("lock of an M0", "y", kconfig(root, CPU_CORTEX_M0="y", KVCORE="y")["KVCORE_CRITICAL_SECTION"])
    expect("lock of imc", "y", kconfig(root, RISCV="y", KVCORE="y")["KVCORE_CRITICAL_SECTION"])
    imac = kconfig(root, RISCV="y", RISCV_ISA_EXT_A="y", KVCORE="y")
    expect("lock of imac", "n", imac["KVCORE_CRITICAL_SECTION"])
    expect("Xtensa", "n", kconfig(root, XTENSA="y", KVCORE="y")["KVCORE"])
    large = kconfig(root, KVCORE="y", KVCORE_MAX_CACHES="1025")
    expect("a limit beyond its range", "16", large["KVCORE_MAX_CACHES"])
    expect("a limit", "1024", kconfig(root, KVCORE="y", KVCORE_MAX_CACHES="1024")["KVCORE_MAX_CACHES"])
    std = kconfig(root, KVCORE="y", KVCORE_BUILD_STD="y")
    expect("toolchain that builds core", "nightly", std["KVCORE_TOOLCHAIN"])


def check_esp_idf(root, version):
    manager = ManifestManager(f"{root}/idf_component.yml", "kvcore", upload_mode=True)
    manifest = manager.load()
    expect("idf_component.yml's version", version, str(manifest.version))
    expect("Xtensa chips", [], [chip for chip in manifest.targets if chip in ("esp32", "esp32s2", "esp32s3")])


def check_platformio(root, version):
    manifest = ManifestParserFactory.new_from_file(f"{root}/library.json").as_dict()
    # PlatformIO looks licences up on the internet.
    expect("library.json's licence", "MIT OR Apache-2.0", manifest.pop("license"))
    expect("library.json's version", version, ManifestSchema().load_manifest(manifest)["version"])
    spec = importlib.util.spec_from_file_location("build", f"{root}/platformio/build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    hard = ["-mthumb", "-mfloat-abi=hard"]
    expect("an M0+", "thumbv6m-none-eabi", build.rust_target("cortex-m0plus", "rp2040", []))
    expect("an M4", "thumbv7em-none-eabi", build.rust_target("cortex-m4", "stm32f407vgt6", []))
    expect("an M4F", "thumbv7em-none-eabihf", build.rust_target("cortex-m4", "stm32f407vgt6", hard))
    expect("an M3", "thumbv7m-none-eabi", build.rust_target("cortex-m3", "stm32f103c8t6", hard))
    expect("an ESP32-C3", "riscv32imc-unknown-none-elf", build.rust_target("", "esp32c3", []))
    expect("an ESP32", None, build.rust_target("", "esp32", []))
    for target, lock in (("thumbv6m-none-eabi", True), ("thumbv7em-none-eabi", False)):
        words = build.command(target, "folder", "nightly", "-Zbuild-std=core")
        expect(f"features for {target}", lock, "capi,panic-handler,critical-section" in words)
        expect(f"words for {target}", ["cargo", "+nightly", "rustc", "-Zbuild-std=core"], words[:3] + words[-1:])


def main():
    root, version = sys.argv[1:]
    check_zephyr(root)
    check_esp_idf(root, version)
    check_platformio(root, version)
    print(f"{checked} checks")


main()
