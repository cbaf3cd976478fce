//! Gates of the files themselves.

use super::{Outcome, Verdict};
use crate::context::Context;
use crate::shell;

/// Folders that only somebody's own machine has. Here without slashes, so that this file does not offend.
const PRIVATE: [&str; 4] = ["root", "work", "home", "Users"];

/// No file that is committed, or about to be, names a folder of somebody's machine.
pub(super) fn machine_paths(context: &Context) -> Outcome {
    let list = shell::capture(&mut context.tool("git", "ls-files --cached --others --exclude-standard -z"))?;
    let mut findings = Vec::new();
    let mut read = 0;
    for file in list.split('\0').filter(|file| !file.trim().is_empty()) {
        // What is no text has no paths to read; a file that was deleted has none either.
        let Ok(text) = std::fs::read_to_string(context.root.join(file)) else { continue };
        read += 1;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| names_a_machine(line)) {
            findings.push(format!("{file}:{}: {line}", number + 1));
        }
    }
    match (read, findings.is_empty()) {
        (0, _) => Err("git lists no files".into()),
        (_, false) => Err(findings.join("\n")),
        (_, true) => Ok(Verdict::Passed(format!("{read} files"))),
    }
}

/// An absolute path begins at one of the private folders: "at /x/y", not "a/x/y".
fn names_a_machine(line: &str) -> bool {
    PRIVATE.iter().any(|folder| {
        let path = format!("/{folder}/");
        line.match_indices(&path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|letter| letter.is_alphanumeric() || "._-~}/*".contains(letter))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{PRIVATE, names_a_machine};

    #[test]
    fn absolute_paths_are_told_from_parts_of_others() {
        for folder in PRIVATE {
            assert!(names_a_machine(&format!("see /{folder}/somebody/notes")));
            assert!(names_a_machine(&format!("/{folder}/somebody")));
            assert!(names_a_machine(&format!("\"/{folder}/x\"")));
            assert!(!names_a_machine(&format!("https://example.org/{folder}/page")));
            assert!(!names_a_machine(&format!("target/{folder}/libkvcore.a")));
        }
    }
}
