//! What an archive for a microcontroller must not hold, and what it may ask of the rest of the image.

use std::path::Path;
use std::process::Command;

use super::archive::Lock;
use super::machine::Machine;
use crate::gates::image;
use crate::shell;

/// Bytes: every C library has them. Arm's compilers call them by names of their own.
const BYTES: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "bcmp"];
const ARM_BYTES: &[&str] = &["__aeabi_memcpy", "__aeabi_memmove", "__aeabi_memset", "__aeabi_memclr"];
/// Whole numbers that a core cannot divide, multiply or count the zeros of itself. No float is among them.
const HELPERS: &[&str] = &[
    "__clzsi2",
    "__aeabi_uidiv",
    "__aeabi_uidivmod",
    "__aeabi_uldivmod",
    "__aeabi_lmul",
    "__aeabi_llsr",
    "__aeabi_llsl",
    "__udivsi3",
    "__umodsi3",
    "__udivdi3",
    "__umoddi3",
    "__muldi3",
    "__lshrdi3",
    "__ashldi3",
];
/// The firmware's lock.
const PORT: &[&str] = &["kvc_port_irq_save", "kvc_port_irq_restore"];

/// No panic, formatting, heap or unwinding, and nothing undefined but bytes, helpers and the lock.
pub(super) fn check(machine: &Machine, archive: &Path) -> Result<(), String> {
    let traces = image::traces_in_archive(archive)?;
    if !traces.is_empty() {
        return Err(format!("{}: the library holds\n{}", machine.name, traces.join("\n")));
    }
    let sections = shell::capture(Command::new("size").args(["-A", "-d"]).arg(archive))?;
    if let Some(table) = own_unwinding_table(&sections) {
        return Err(format!("{}: the library brings the unwinding table {table}", machine.name));
    }
    let symbols = image::own_symbols(archive, &["-g"])?;
    let wanted: Vec<&str> = symbols.iter().filter_map(|line| line.trim_start().strip_prefix("U ")).collect();
    if wanted.is_empty() {
        return Err("not even memcpy is undefined: nm was misread".into());
    }
    let critical = machine.target.lock == Lock::Critical;
    let surprises: Vec<&str> = wanted.into_iter().filter(|name| !may_ask_for(name, critical)).collect();
    if surprises.is_empty() {
        Ok(())
    } else {
        Err(format!("{}: the library asks for {}", machine.name, surprises.join(" ")))
    }
}

/// In what `size -A` wrote: "kvcore-….o  (ex libkvcore.a):", then lines as ".text.kvc_length  40  0". Arm's
/// ".ARM.exidx" only says that there is none, in 8 bytes for the whole library.
fn own_unwinding_table(sections: &str) -> Option<&str> {
    let mut own = false;
    sections.lines().find_map(|line| {
        let name = line.split_whitespace().next().unwrap_or_default();
        if line.ends_with("):") {
            own = name.starts_with("kvcore-");
        }
        let table =
            [".eh_frame", ".ARM.extab", ".gcc_except_table"].iter().any(|start| name.starts_with(start));
        (own && table).then_some(name)
    })
}

fn may_ask_for(name: &str, critical: bool) -> bool {
    // Their variants for aligned bytes end with 4 or 8.
    let plain = name.strip_suffix(['4', '8']).unwrap_or(name);
    BYTES.contains(&name)
        || ARM_BYTES.contains(&plain)
        || HELPERS.contains(&name)
        || (critical && PORT.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::{may_ask_for, own_unwinding_table};

    #[test]
    fn only_the_librarys_own_tables_count() {
        let text = "kvcore-1.o   (ex libkvcore.a):\n.text.kvc  40  0\n";
        assert_eq!(own_unwinding_table(text), None);
        let foreign = format!("{text}core-2.o   (ex libkvcore.a):\n.eh_frame  8  0\n");
        assert_eq!(own_unwinding_table(&foreign), None);
        assert_eq!(own_unwinding_table(&format!("{text}.ARM.extab.kvc  8  0\n")), Some(".ARM.extab.kvc"));
    }

    #[test]
    fn floats_and_heaps_are_surprises() {
        for name in ["memcpy", "__aeabi_memclr8", "__aeabi_uidivmod", "__udivdi3"] {
            assert!(may_ask_for(name, false), "{name}");
        }
        for name in ["__aeabi_fadd", "__adddf3", "malloc", "kvc_port_irq_save", "memcpy8", "strlen"] {
            assert!(!may_ask_for(name, false), "{name}");
        }
        assert!(may_ask_for("kvc_port_irq_save", true));
    }
}
