//! Running other programs, and reading what they say.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs to the end in silence. Output is what the program wrote to both streams, in order; a failure carries it too.
pub(crate) fn capture(command: &mut Command) -> Result<String, String> {
    execute(command, false)
}

/// Like `capture`, and shows the output while it comes.
pub(crate) fn stream(command: &mut Command) -> Result<String, String> {
    println!("$ {}", line(command));
    execute(command, true)
}

/// Runs a program that has to fail, and returns what it said.
pub(crate) fn capture_failure(command: &mut Command) -> Result<String, String> {
    match capture(command) {
        Ok(output) => Err(format!("{output}`{}` went well, and should have failed", line(command))),
        Err(output) => Ok(output),
    }
}

fn execute(command: &mut Command, show: bool) -> Result<String, String> {
    let line = line(command);
    let failed = |error: io::Error| format!("`{line}`: {error}");
    let (reader, writer) = io::pipe().map_err(failed)?;
    command.stdin(Stdio::null()).stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let mut child = command.spawn().map_err(failed)?;
    // The pipe ends when its last writer is gone, and `command` holds one.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut output = String::new();
    for bytes in BufReader::new(reader).split(b'\n') {
        let text = String::from_utf8_lossy(&bytes.map_err(failed)?).into_owned();
        if show {
            println!("{text}");
        }
        output += &text;
        output.push('\n');
    }
    io::stdout().flush().map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(output) } else { Err(format!("{output}`{line}` ended with {status}\n")) }
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    for word in &mut words {
        if word.is_empty() || word.contains(char::is_whitespace) {
            *word = format!("'{word}'");
        }
    }
    words.join(" ")
}

/// Where a program is, if it is on the path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The first of some programs that is there.
pub(crate) fn first(programs: &[&'static str]) -> Option<&'static str> {
    programs.iter().copied().find(|program| find(program).is_some())
}

/// Reads a text file; the message of a failure names it.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file; the message of a failure names it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
