//! The C and C++ programs of the README compile without warnings, link and run. (Its Rust is a doc test.)

use std::process::Command;

use super::c::{WARNINGS, clang_pair};
use super::{Outcome, Verdict};
use crate::context::Context;
use crate::shell;

pub(super) fn programs(context: &Context) -> Outcome {
    let text = shell::read(&context.root.join("README.md"))?;
    let folder = context.scratch("readme")?;
    let archive = context.archive()?;
    let (clang, clangxx) = clang_pair()?;
    let mut ran = 0;
    for (language, flags, compilers) in
        [("c", "-std=c99", ["gcc", clang]), ("cpp", "-std=c++17 -fno-exceptions -fno-rtti", ["g++", clangxx])]
    {
        for block in blocks(&text, language) {
            let (source, program) = (folder.join(format!("example.{language}")), folder.join("example"));
            shell::write(&source, block)?;
            for compiler in compilers {
                let mut compile = context.tool(compiler, &format!("{flags} {WARNINGS} -Iinclude"));
                shell::capture(compile.arg(&source).arg(&archive).arg("-o").arg(&program))?;
                shell::capture(&mut Command::new(&program))?;
                ran += 1;
            }
        }
    }
    if ran < 4 {
        return Err("the README shows C and C++, but not in ```c and ```cpp blocks".into());
    }
    Ok(Verdict::Passed(format!("{ran} programs")))
}

/// The fenced blocks of a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn blocks_are_of_their_language() {
        let text = "a\n```c\nint x;\n```\nb\n```cpp\nint y;\n```\n```c\nint z;\n```\n";
        assert_eq!(super::blocks(text, "c"), ["int x;\n", "int z;\n"]);
        assert_eq!(super::blocks(text, "cpp"), ["int y;\n"]);
    }
}
