//! Times: what the harness measured, its table, and the check of the ratios.

use std::process::Command;

use super::{Bench, table};
use crate::{row, shell};

/// Processes that are timed: where the system puts stacks and heaps differs between them, and moves times a
/// little.
const PROCESSES: usize = 5;

/// One operation, in nanoseconds.
#[derive(Clone)]
pub(super) struct Timing {
    pub(super) id: String,
    pub(super) title: String,
    our_min: f64,
    pub(super) our_median: f64,
    their_min: f64,
    pub(super) their_median: f64,
    /// Median over the rounds of the peer's time by ours.
    pub(super) ratio: f64,
    /// The ratio that is wanted; 0: none.
    least_ratio: f64,
    /// The design's ceiling for kvcore; 0: none.
    most_ns: f64,
}

impl Timing {
    /// From a line of the harness.
    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.split('\t');
        let id = cells.next()?.into();
        let title = cells.next()?.into();
        let mut number = || cells.next()?.parse().ok();
        Some(Self {
            id,
            title,
            our_min: number()?,
            our_median: number()?,
            their_min: number()?,
            their_median: number()?,
            ratio: number()?,
            least_ratio: number()?,
            most_ns: number()?,
        })
    }

    /// The medians of several processes, and the least of their minima.
    fn merge(runs: &[&Self]) -> Option<Self> {
        let median = |number: fn(&Self) -> f64| {
            let mut numbers: Vec<f64> = runs.iter().map(|run| number(run)).collect();
            numbers.sort_by(f64::total_cmp);
            numbers[numbers.len() / 2]
        };
        let min = |number: fn(&Self) -> f64| runs.iter().map(|run| number(run)).fold(f64::INFINITY, f64::min);
        Some(Self {
            our_min: min(|run| run.our_min),
            our_median: median(|run| run.our_median),
            their_min: min(|run| run.their_min),
            their_median: median(|run| run.their_median),
            ratio: median(|run| run.ratio),
            ..(*runs.first()?).clone()
        })
    }

    fn is_missed(&self) -> bool {
        self.ratio < self.least_ratio
    }

    fn row(&self) -> Vec<String> {
        let pair = |min: f64, median: f64| format!("{min:.1} / {median:.1}");
        let target = if self.least_ratio > 0.0 { format!("{}x", self.least_ratio) } else { String::new() };
        let ceiling = if self.most_ns > 0.0 { format!("{} ns", self.most_ns) } else { String::new() };
        let verdict = match (self.least_ratio > 0.0, self.is_missed(), self.most_ns > 0.0) {
            (_, true, _) => "missed",
            _ if self.most_ns > 0.0 && self.our_median > self.most_ns => "over",
            (true, ..) | (.., true) => "met",
            _ => "",
        };
        let (ours, theirs) = (pair(self.our_min, self.our_median), pair(self.their_min, self.their_median));
        row![self.title, ours, theirs, format!("{:.2}x", self.ratio), target, ceiling, verdict]
    }
}

/// Times everything and prints it; with `check`, a ratio below its target is a failure. (Never a time: machines
/// differ.)
pub(super) fn run(bench: &Bench, check: bool) -> Result<(), String> {
    let timings = measure(bench, PROCESSES, &[])?;
    let heading = row!["ns, min / median", "kvcore", "peer", "ratio", "target", "ceiling", "verdict"];
    let rows: Vec<_> = std::iter::once(heading).chain(timings.iter().map(Timing::row)).collect();
    println!("{}", bench.compilers()?.join("; "));
    table::print(&rows);
    let missed: Vec<&str> =
        timings.iter().filter(|timing| timing.is_missed()).map(|timing| timing.title.as_str()).collect();
    if check && !missed.is_empty() {
        return Err(format!("a ratio is below its target: {}", missed.join("; ")));
    }
    Ok(())
}

/// Runs the harness in some processes.
pub(super) fn measure(bench: &Bench, processes: usize, arguments: &[String]) -> Result<Vec<Timing>, String> {
    let mut runs = Vec::new();
    for _ in 0..processes {
        let output = shell::capture(Command::new(bench.harness()).arg("time").args(arguments))?;
        let parse = |line: &str| Timing::parse(line).ok_or_else(|| format!("the harness said `{line}`"));
        runs.push(output.lines().map(parse).collect::<Result<Vec<_>, _>>()?);
    }
    let operations = runs.iter().map(Vec::len).min().unwrap_or(0);
    let merged = |at: usize| Timing::merge(&runs.iter().map(|run| &run[at]).collect::<Vec<_>>());
    (0..operations).map(merged).collect::<Option<Vec<_>>>().ok_or_else(|| "nothing was timed".into())
}
