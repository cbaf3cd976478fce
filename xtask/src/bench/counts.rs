//! Instructions: counted by callgrind, so the same on every run; compared with `benches/counts.toml`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use super::{Bench, table};
use crate::{row, shell};

/// How much a count may grow before the check fails.
pub(super) const SLACK: f64 = 1.03;

/// The function of the harness in which instructions are counted; see `count_side` there.
const COUNTED: &str = "counted_batch";

/// Instructions of one operation, its loop in the harness included.
#[derive(Debug, PartialEq)]
pub(super) struct Count {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) ours: f64,
    pub(super) theirs: f64,
}

/// What was recorded of one operation.
#[derive(Debug, PartialEq)]
struct Recorded {
    id: String,
    measured: f64,
    ceiling: f64,
}

/// Counts and prints, beside what is recorded; with `check`, a count over its ceiling is a failure.
pub(super) fn run(bench: &Bench, check: bool) -> Result<(), String> {
    let counts = count(bench, &[])?;
    let text = shell::read(&file(bench))?;
    let recorded = parse(&text)?;
    let compilers = bench.compilers()?;
    tell_of_others(&text, &compilers);
    let mut rows = vec![row!["instructions", "kvcore", "peer", "recorded", "ceiling", "verdict"]];
    let mut wrong = Vec::new();
    for Count { id, title, ours, theirs } in &counts {
        let known = recorded.iter().find(|known| known.id == *id);
        let verdict = match known {
            None => "not recorded",
            Some(known) if *ours > known.ceiling => "over",
            Some(_) => "met",
        };
        if verdict != "met" {
            wrong.push(format!("{title}: {verdict}"));
        }
        let cell = |value: Option<f64>| value.map(|value| format!("{value:.1}")).unwrap_or_default();
        let (measured, ceiling) = (known.map(|known| known.measured), known.map(|known| known.ceiling));
        rows.push(row![
            title,
            cell(Some(*ours)),
            cell(Some(*theirs)),
            cell(measured),
            cell(ceiling),
            verdict
        ]);
    }
    table::print(&rows);
    if check && !wrong.is_empty() {
        return Err(format!("instructions: {}", wrong.join("; ")));
    }
    Ok(())
}

/// Says so where the counts on record are those of other compilers.
pub(super) fn tell_of_others(record: &str, compilers: &[String]) {
    for compiler in compilers {
        if !record.contains(&format!("{compiler:?}")) {
            println!("The counts on record are not those of {compiler}; compared all the same.");
        }
    }
}

/// Counts, and writes the record anew.
pub(super) fn record(bench: &Bench) -> Result<(), String> {
    let counts = count(bench, &[])?;
    let at = file(bench);
    shell::write(&at, &render(&counts, &bench.compilers()?)?)?;
    println!("{} operations recorded", counts.len());
    Ok(())
}

fn file(bench: &Bench) -> PathBuf {
    bench.sources.join("counts.toml")
}

/// Runs the harness in callgrind, which writes a sum after every counted batch: for each operation ours of n
/// and of 2n, then the peer's of n and of 2n.
pub(super) fn count(bench: &Bench, arguments: &[String]) -> Result<Vec<Count>, String> {
    let base = bench.folder.join("callgrind.out");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.args([format!("--toggle-collect={COUNTED}"), format!("--dump-after={COUNTED}")]);
    valgrind.arg(format!("--callgrind-out-file={}", base.display()));
    let output = shell::capture(valgrind.arg(bench.harness()).arg("count").args(arguments))?;
    let mut sums = (1..).map(|dump| sum_of(&base, dump));
    let mut next = || sums.next().unwrap_or_else(|| Err("no more sums".into()));
    let mut counts = Vec::new();
    for line in output.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, title, n] = cells[..] else { return Err(format!("the harness said `{line}`")) };
        let n: f64 = n.parse().map_err(|_| format!("the harness said `{line}`"))?;
        let mut side = || -> Result<f64, String> {
            let (short, long) = (next()?, next()?);
            Ok((long - short) / n)
        };
        counts.push(Count { id: id.into(), title: title.into(), ours: side()?, theirs: side()? });
    }
    Ok(counts)
}

/// The sum of one dump; the file goes, so that no later run takes it for its own.
fn sum_of(base: &std::path::Path, dump: u32) -> Result<f64, String> {
    let at = PathBuf::from(format!("{}.{dump}", base.display()));
    let text = shell::read(&at)?;
    std::fs::remove_file(&at).map_err(|error| format!("{}: {error}", at.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|sum| sum.trim().parse().ok()).ok_or_else(|| format!("no sum in {}", at.display()))
}

fn render(counts: &[Count], compilers: &[String; 2]) -> Result<String, String> {
    let [rustc, cxx] = compilers;
    let mut text = format!(
        "# Instructions an operation, its loop in the harness included, as callgrind counts them. Written by\n\
         # `cargo xtask bench --record`; `cargo xtask bench --counts --check` fails above a ceiling.\n\
         rustc = {rustc:?}\ncxx = {cxx:?}\n"
    );
    for Count { id, title, ours, theirs } in counts {
        let ceiling = ours * SLACK;
        let entry =
            format!("\n[{id}] # {title}\nmeasured = {ours:.1}\nceiling = {ceiling:.1}\npeer = {theirs:.1}\n");
        text.write_str(&entry).map_err(|error| error.to_string())?;
    }
    Ok(text)
}

/// Reads what `render` wrote.
fn parse(text: &str) -> Result<Vec<Recorded>, String> {
    let mut recorded: Vec<Recorded> = Vec::new();
    for line in text.lines() {
        if let Some((id, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            recorded.push(Recorded { id: id.into(), measured: f64::NAN, ceiling: f64::NAN });
        }
        let (Some(entry), Some((name, value))) = (recorded.last_mut(), line.split_once(" = ")) else {
            continue;
        };
        let value = value.parse().map_err(|_| format!("counts.toml: `{line}`"))?;
        match name {
            "measured" => entry.measured = value,
            "ceiling" => entry.ceiling = value,
            _ => {}
        }
    }
    match recorded.iter().find(|entry| entry.measured.is_nan() || entry.ceiling.is_nan()) {
        Some(entry) => Err(format!("counts.toml: [{}] lacks a number", entry.id)),
        None => Ok(recorded),
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Recorded, parse, render};

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let count = |id: &str, ours| Count { id: id.into(), title: format!("{id}, once"), ours, theirs: 9.5 };
        let compilers = ["rustc 1".to_owned(), "g++ (x) 2".to_owned()];
        let text = render(&[count("plan", 100.0), count("get", 10.25)], &compilers).expect("memory");
        let entry = |id: &str, measured, ceiling| Recorded { id: id.into(), measured, ceiling };
        assert_eq!(parse(&text), Ok(vec![entry("plan", 100.0, 103.0), entry("get", 10.2, 10.6)]));
        assert!(text.contains("\"g++ (x) 2\""));
    }

    #[test]
    fn a_broken_record_is_refused() {
        assert!(parse("[plan]\nmeasured = 1.0\n").is_err());
        assert!(parse("[plan]\nmeasured = many\nceiling = 2\n").is_err());
    }
}
