//! The record of the counts, `benches/growth.toml`.

use std::fmt::{Display, Write};

use super::Curve;
use crate::bench::counts::SLACK;

/// What was recorded of one operation: ceilings by the cells of the pool.
#[derive(Debug, PartialEq)]
pub(super) struct Recorded {
    pub(super) id: String,
    pub(super) ceilings: Vec<(u32, f64)>,
}

pub(super) fn render(curves: &[Curve], compilers: &[String; 2]) -> Result<String, String> {
    let [rustc, cxx] = compilers;
    let mut text = format!(
        "# Instructions an operation in pools of so many cells, its loop in the harness included, as callgrind counts\n\
         # them. Written by `cargo xtask bench --growth --record`; `cargo xtask bench --growth --check` fails above a\n\
         # ceiling.\n\
         rustc = {rustc:?}\ncxx = {cxx:?}\n"
    );
    for Curve { id, title, points } in curves {
        let cells = list(points.iter().map(|point| point.cells));
        let numbers = |number: fn(&super::Point) -> f64| {
            list(points.iter().map(|point| format!("{:.1}", number(point))))
        };
        let (measured, theirs) = (numbers(|point| point.ours), numbers(|point| point.theirs));
        let ceiling = numbers(|point| point.ours * SLACK);
        let entry = format!(
            "\n[{id}] # {title}\ncells = {cells}\nmeasured = {measured}\nceiling = {ceiling}\npeer = {theirs}\n"
        );
        text.write_str(&entry).map_err(|error| error.to_string())?;
    }
    Ok(text)
}

fn list<T: Display>(items: impl Iterator<Item = T>) -> String {
    format!("[{}]", items.map(|item| item.to_string()).collect::<Vec<_>>().join(", "))
}

/// Reads what `render` wrote.
pub(super) fn parse(text: &str) -> Result<Vec<Recorded>, String> {
    let mut recorded = Vec::new();
    for entry in text.split("\n[").skip(1) {
        let id = entry.split(']').next().unwrap_or_default();
        let (cells, ceilings) = (numbers(entry, "cells"), numbers(entry, "ceiling"));
        let (Some(cells), Some(ceilings)) = (cells, ceilings) else {
            return Err(format!("growth.toml: [{id}] lacks a number"));
        };
        if cells.len() != ceilings.len() {
            return Err(format!("growth.toml: [{id}] has not a ceiling for each pool"));
        }
        recorded.push(Recorded { id: id.into(), ceilings: cells.into_iter().zip(ceilings).collect() });
    }
    Ok(recorded)
}

/// The list behind a name in an entry.
fn numbers<T: std::str::FromStr>(entry: &str, name: &str) -> Option<Vec<T>> {
    let line = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = ["))?;
    line.strip_suffix(']')?.split(", ").map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::curve;
    use super::{Recorded, parse, render};

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let compilers = ["rustc 1".to_owned(), "g++ (x) 2".to_owned()];
        let text =
            render(&[curve("step", [100.0, 200.0]), curve("cut", [1.0, 10.25])], &compilers).expect("memory");
        let entry = |id: &str, a, b| Recorded { id: id.into(), ceilings: vec![(512, a), (32768, b)] };
        assert_eq!(parse(&text), Ok(vec![entry("step", 103.0, 206.0), entry("cut", 1.0, 10.6)]));
        assert!(text.contains("\"g++ (x) 2\""));
    }

    #[test]
    fn a_broken_record_is_refused() {
        assert!(parse("\n[step]\ncells = [512]\n").is_err());
        assert!(parse("\n[step]\ncells = [512, 2048]\nceiling = [1.0]\n").is_err());
        assert!(parse("\n[step]\ncells = [512]\nceiling = [many]\n").is_err());
    }
}
