//! What the library contributed to an image, from the map that GNU ld writes.

use std::collections::BTreeMap;

/// Bytes of the library's own members in each section of the image: ".text", ".data", ….
pub(super) fn contributions(map: &str) -> BTreeMap<String, u64> {
    let mut sections = BTreeMap::new();
    let mut section = String::new();
    // Before this heading are the sections that were thrown away.
    let kept = map.split("Linker script and memory map").nth(1).unwrap_or_default();
    for line in kept.lines() {
        // "/DISCARD/" is one, too.
        if line.starts_with(['.', '/']) {
            line.split_whitespace().next().unwrap_or_default().clone_into(&mut section);
        }
        if let Some(bytes) = own_bytes(line) {
            *sections.entry(section.clone()).or_default() += bytes;
        }
    }
    sections
}

/// " .text.name  0x00001234  0x28 …/libkvcore.a(kvcore-….o)", or the same without the name, which then was too long
/// for the line.
fn own_bytes(line: &str) -> Option<u64> {
    let (before, member) = line.rsplit_once('(')?;
    if !member.starts_with("kvcore-") {
        return None;
    }
    let sizes: Vec<u64> = before
        .split_whitespace()
        .filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok())
        .collect();
    sizes.get(1).copied()
}

#[cfg(test)]
mod tests {
    use super::contributions;

    #[test]
    fn only_what_was_kept_counts() {
        let map = "\
Discarded input sections

 .text.kvc_gone
                0x00000000       0x40 /a/libkvcore.a(kvcore-1.o)

Linker script and memory map

.text           0x00000000     0x1000
 .text.main     0x00000100       0x10 /tmp/main.o
 .text.kvc_long_name
                0x00000110       0x28 /a/libkvcore.a(kvcore-1.o)
 .text.kvc      0x00000138        0x8 /a/libkvcore.a(kvcore-1.o)
 .text.memcpy   0x00000140       0x10 /a/libkvcore.a(compiler_builtins-2.o)

.bss            0x20000000       0x10
 .bss.hook      0x20000000       0x0c /a/libkvcore.a(kvcore-1.o)
";
        let found = contributions(map);
        assert_eq!(found[".text"], 0x30);
        assert_eq!(found[".bss"], 12);
        assert_eq!(found.len(), 2);
    }
}
