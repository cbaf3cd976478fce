//! The targets of a distribution: whom each is for, how it is built, how it can be checked on this machine.

/// One archive and its variants.
pub(super) struct Target {
    /// Rust's name of it; its folder is called so too.
    pub(super) name: &'static str,
    /// What it runs on.
    pub(super) cores: &'static str,
    pub(super) kind: Kind,
    pub(super) lock: Lock,
    /// Flags of rustc that this target alone needs when `core` is built from source.
    pub(super) rustflags: &'static str,
    pub(super) check: Check,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Size first; a second archive brings what an image without a C library lacks.
    Metal,
    /// There is an operating system and its C library.
    Hosted,
}

impl Kind {
    /// The profile of cargo.
    pub(super) fn profile(self) -> &'static str {
        match self {
            Self::Metal => "size",
            Self::Hosted => "release",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    Spin,
    /// The core has no compare-and-swap: the firmware brings `kvc_port_irq_save` and `kvc_port_irq_restore`.
    CriticalSection,
}

impl Lock {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::CriticalSection => "critical section",
        }
    }
}

/// How the consumer's application is linked with the archive, and what runs it.
pub(super) enum Check {
    /// Without a C library, in emulated boards.
    Boards(Toolchain, &'static [Board]),
    /// Without a C library, in QEMU's user mode: the program and its arguments.
    User(Toolchain, &'static str),
    /// As `User`, and linked as a shared library as the NDK does, for this ABI in its words.
    Android(Toolchain, &'static str, &'static str),
    /// With a compiler and its C library, by CMake and by a Makefile; run by this program, or by none.
    Libc(&'static str, &'static str),
    /// Linked as a dynamic library, for this platform as `ld64.lld` names it.
    Apple(Platform),
}

/// What CMake is told of the compiler, which is clang.
pub(super) struct Toolchain {
    pub(super) triple: &'static str,
    pub(super) flags: &'static str,
    /// `CMAKE_SYSTEM_PROCESSOR`.
    pub(super) processor: &'static str,
}

/// A board of `qemu-system-arm`, and where its memories begin.
pub(super) struct Board {
    pub(super) name: &'static str,
    pub(super) flash: &'static str,
    pub(super) ram: &'static str,
}

/// A platform of Apple's as its tools name it.
#[derive(Clone, Copy)]
pub(super) struct Platform {
    pub(super) linker: &'static str,
    pub(super) triple: &'static str,
    /// The folder in an XCFramework.
    pub(super) folder: &'static str,
    /// `SupportedPlatformVariant` there; empty: none.
    pub(super) variant: &'static str,
}

pub(super) const MICROBIT: Board = Board { name: "microbit", flash: "0", ram: "0x20000000" };
const AN385: Board = Board { name: "mps2-an385", flash: "0", ram: "0x20000000" };
const AN386: Board = Board { name: "mps2-an386", flash: "0", ram: "0x20000000" };
const AN500: Board = Board { name: "mps2-an500", flash: "0", ram: "0x20000000" };
const AN505: Board = Board { name: "mps2-an505", flash: "0x10000000", ram: "0x38000000" };
const AN547: Board = Board { name: "mps3-an547", flash: "0", ram: "0x20000000" };

const IOS: Platform =
    Platform { linker: "ios", triple: "arm64-apple-ios14.0", folder: "ios-arm64", variant: "" };
const SIMULATOR: Platform = Platform {
    linker: "ios-simulator",
    triple: "arm64-apple-ios14.0-simulator",
    folder: "ios-arm64-simulator",
    variant: "simulator",
};

const fn metal(name: &'static str, cores: &'static str, lock: Lock, check: Check) -> Target {
    Target { name, cores, kind: Kind::Metal, lock, rustflags: "", check }
}

const fn hosted(name: &'static str, cores: &'static str, check: Check) -> Target {
    Target { name, cores, kind: Kind::Hosted, lock: Lock::Spin, rustflags: "", check }
}

const fn clang(triple: &'static str, flags: &'static str, processor: &'static str) -> Toolchain {
    Toolchain { triple, flags, processor }
}

pub(super) const TARGETS: &[Target] = &[
    metal(
        "thumbv6m-none-eabi",
        "Cortex-M0, M0+, M1",
        Lock::CriticalSection,
        Check::Boards(clang("thumbv6m-none-eabi", "-mcpu=cortex-m0", "cortex-m0"), &[MICROBIT]),
    ),
    metal(
        "thumbv7m-none-eabi",
        "Cortex-M3",
        Lock::Spin,
        Check::Boards(clang("thumbv7m-none-eabi", "-mcpu=cortex-m3", "cortex-m3"), &[AN385]),
    ),
    metal(
        "thumbv7em-none-eabi",
        "Cortex-M4, M7",
        Lock::Spin,
        Check::Boards(
            clang("thumbv7em-none-eabi", "-mcpu=cortex-m4 -mfloat-abi=soft", "cortex-m4"),
            &[AN386, AN500],
        ),
    ),
    metal(
        "thumbv7em-none-eabihf",
        "Cortex-M4F, M7F",
        Lock::Spin,
        Check::Boards(
            clang("thumbv7em-none-eabihf", "-mcpu=cortex-m4 -mfloat-abi=hard", "cortex-m4"),
            &[AN386, AN500],
        ),
    ),
    metal(
        "thumbv8m.main-none-eabi",
        "Cortex-M33, M55, M85",
        Lock::Spin,
        Check::Boards(
            clang("thumbv8m.main-none-eabi", "-mcpu=cortex-m33 -mfloat-abi=soft", "cortex-m33"),
            &[AN505, AN547],
        ),
    ),
    metal(
        "thumbv8m.main-none-eabihf",
        "Cortex-M33F, M55F, M85F",
        Lock::Spin,
        Check::Boards(
            clang("thumbv8m.main-none-eabihf", "-mcpu=cortex-m33 -mfloat-abi=hard", "cortex-m33"),
            &[AN505, AN547],
        ),
    ),
    metal(
        "armv7r-none-eabi",
        "Cortex-R4, R5, R7, R8",
        Lock::Spin,
        Check::User(
            clang("armv7r-none-eabi", "-mcpu=cortex-r5 -mfloat-abi=soft", "cortex-r5"),
            "qemu-arm -cpu cortex-r5",
        ),
    ),
    metal(
        "armv7r-none-eabihf",
        "Cortex-R4F, R5F, R7F, R8F",
        Lock::Spin,
        Check::User(
            clang("armv7r-none-eabihf", "-mcpu=cortex-r5 -mfloat-abi=hard", "cortex-r5"),
            "qemu-arm -cpu cortex-r5f",
        ),
    ),
    metal(
        "riscv32imac-unknown-none-elf",
        "RISC-V 32 with atomics",
        Lock::Spin,
        Check::User(
            clang("riscv32-unknown-elf", "-march=rv32imac -mabi=ilp32 -mno-relax", "riscv32"),
            "qemu-riscv32",
        ),
    ),
    metal(
        "riscv32imc-unknown-none-elf",
        "RISC-V 32 without atomics",
        Lock::CriticalSection,
        Check::User(
            clang("riscv32-unknown-elf", "-march=rv32imc -mabi=ilp32 -mno-relax", "riscv32"),
            "qemu-riscv32",
        ),
    ),
    Target {
        name: "hexagon-unknown-none-elf",
        cores: "Hexagon",
        kind: Kind::Metal,
        lock: Lock::Spin,
        // `core` uses it for this target and declares it for others only.
        rustflags: "-Zcrate-attr=feature(target_feature_inline_always)",
        check: Check::User(clang("hexagon-unknown-none-elf", "-mv67", "hexagon"), "qemu-hexagon"),
    },
    metal(
        "aarch64-unknown-none",
        "AArch64 bare metal",
        Lock::Spin,
        Check::User(clang("aarch64-none-elf", "", "aarch64"), "qemu-aarch64"),
    ),
    hosted("x86_64-unknown-linux-gnu", "Linux x86-64", Check::Libc("gcc", "")),
    hosted(
        "aarch64-unknown-linux-gnu",
        "Linux AArch64",
        Check::Libc("aarch64-linux-gnu-gcc", "qemu-aarch64"),
    ),
    hosted(
        "aarch64-linux-android",
        "Android arm64",
        Check::Android(clang("aarch64-linux-android21", "", "aarch64"), "qemu-aarch64", "arm64-v8a"),
    ),
    hosted(
        "armv7-linux-androideabi",
        "Android armv7",
        Check::Android(clang("armv7a-linux-androideabi21", "", "armv7-a"), "qemu-arm", "armeabi-v7a"),
    ),
    hosted("aarch64-apple-ios", "iOS arm64", Check::Apple(IOS)),
    hosted("aarch64-apple-ios-sim", "iOS simulator arm64", Check::Apple(SIMULATOR)),
];
