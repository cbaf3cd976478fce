//! Gates that cargo answers.

use std::process::Command;

use super::{Outcome, Verdict, toolchain};
use crate::context::{C_FEATURES, Context};
use crate::shell;

/// Feature sets, and whether they are for an archive, where only the library compiles.
const LINTED: &[(&str, bool)] = &[
    ("", false),
    ("capi", false),
    ("critical-section", false),
    ("defmt", false),
    ("capi,panic-handler", true),
    ("capi,panic-handler,critical-section", true),
];

pub(super) fn format(context: &Context) -> Outcome {
    shell::capture(&mut context.cargo("fmt --all --check"))?;
    Ok(Verdict::nothing_to_say())
}

pub(super) fn clippy(context: &Context) -> Outcome {
    for &(features, archive) in LINTED {
        let targets = if archive { "--lib" } else { "--all-targets" };
        let arguments = format!("clippy --locked {targets} --features={features} -- -D warnings");
        shell::capture(&mut context.cargo(&arguments))?;
    }
    shell::capture(&mut context.cargo("clippy --locked --all-targets --package xtask -- -D warnings"))?;
    Ok(Verdict::nothing_to_say())
}

pub(super) fn docs(context: &Context) -> Outcome {
    for features in ["", "capi"] {
        let mut command = context.cargo(&format!("doc --locked --no-deps --features={features}"));
        shell::capture(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(Verdict::nothing_to_say())
}

pub(super) fn xtask_tests(context: &Context) -> Outcome {
    shell::capture(&mut context.cargo("test --locked --package xtask"))?;
    Ok(Verdict::nothing_to_say())
}

/// Only a nightly compares the error codes of examples that must not compile.
pub(super) fn doctests_nightly(context: &Context) -> Outcome {
    toolchain::nightly(context)?;
    let target = context.scratch("nightly")?;
    let mut command = context.cargo("+nightly test --locked --doc --features capi --target-dir");
    shell::capture(command.arg(target))?;
    Ok(Verdict::nothing_to_say())
}

pub(super) fn msrv(context: &Context) -> Outcome {
    let version = context.manifest_value("rust-version")?;
    let toolchain = format!("+{version}");
    if shell::capture(Command::new("cargo").args([&toolchain, "-V"])).is_ok() {
        let target = context.scratch("msrv")?;
        let mut command =
            context.cargo(&format!("{toolchain} check --locked --lib --features capi --target-dir"));
        shell::capture(command.arg(target))?;
        return Ok(Verdict::Passed(format!("built with {version}")));
    }
    let lint = "clippy --locked --lib --features capi -- -D clippy::incompatible_msrv";
    shell::capture(&mut context.cargo(lint))?;
    Ok(Verdict::Passed(format!("no toolchain {version} here: clippy::incompatible_msrv instead of a build")))
}

/// Table sizes from the environment arrive in the library, and senseless ones are refused.
pub(super) fn limits(context: &Context) -> Outcome {
    let target = context.scratch("limits")?;
    let build = |variable: &str, value: &str| {
        let rustc = format!(
            "rustc --release --lib --crate-type staticlib --features {C_FEATURES} --locked --target-dir"
        );
        let mut command = context.cargo(&rustc);
        command.arg(&target).env(variable, value);
        command
    };
    for entries in ["4", "1024"] {
        shell::capture(&mut build("KVC_MAX_CACHES", entries))?;
        let program = target.join("consumer");
        let mut compile = context.tool("gcc", "-std=c99 -Iinclude tests/consumer/main.c");
        compile.arg(format!("-DEXPECTED_CACHES={entries}")).arg(target.join("release/libkvcore.a"));
        shell::capture(compile.arg("-o").arg(&program))?;
        shell::capture(&mut Command::new(&program))?;
    }
    for (variable, value) in [
        ("KVC_MAX_CACHES", "0"),
        ("KVC_MAX_CACHES", "1025"),
        ("KVC_MAX_BUILDERS", "some"),
        ("KVC_MAX_FOO", "1"),
    ] {
        let output = shell::capture_failure(&mut build(variable, value))?;
        if !output.contains(&format!("kvcore: {variable} is ")) {
            return Err(format!("{output}the message for {variable}={value} does not name it"));
        }
    }
    Ok(Verdict::nothing_to_say())
}

pub(super) fn loom(context: &Context) -> Outcome {
    let target = context.scratch("loom")?;
    let mut command = context.cargo("test --release --locked --test loom --target-dir");
    shell::capture(command.arg(target).env("RUSTFLAGS", "--cfg loom"))?;
    Ok(Verdict::nothing_to_say())
}

pub(super) fn header(context: &Context) -> Outcome {
    shell::capture(&mut context.cargo("test --locked --test header --features capi"))?;
    Ok(Verdict::nothing_to_say())
}
