//! How the operations of a cell pool grow with it: kvcore beside a peer that scans its cells, in time and in instructions.

mod record;

use std::process::Command;

use super::{Bench, Options, counts, table, times};
use crate::shell;
use record::Recorded;

/// Cells of the pools.
const SIZES: [u32; 5] = [512, 2048, 8192, 32768, 131_072];

/// Processes that are timed.
const PROCESSES: usize = 3;

/// What a decode step in the second pool may cost, as a multiple of what it costs in the first, in instructions.
const GROWTH_FROM: u32 = 512;
const GROWTH_TO: u32 = 32768;
const MOST_GROWTH: f64 = 3.0;

/// Operations whose growth is bounded: their ids begin so.
const BOUNDED: &str = "decode_";

/// An operation in a pool of `cells`, on both sides.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    cells: u32,
    ours: f64,
    theirs: f64,
    /// Theirs by ours.
    ratio: f64,
}

/// An operation over all sizes, smallest first.
#[derive(Clone, Debug, PartialEq)]
struct Curve {
    id: String,
    title: String,
    points: Vec<Point>,
}

impl Curve {
    /// From what was measured, one size after the other; an id is `operation@cells`.
    fn gather(measured: impl IntoIterator<Item = (String, String, Point)>) -> Vec<Self> {
        let mut curves: Vec<Self> = Vec::new();
        for (id, title, point) in measured {
            match curves.iter_mut().find(|curve| curve.id == id) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Self { id, title, points: vec![point] }),
            }
        }
        curves
    }

    /// What the operation costs in the larger pool, as a multiple of what it costs in the smaller.
    fn growth(&self) -> Option<f64> {
        let at = |cells| self.points.iter().find(|point| point.cells == cells).map(|point| point.ours);
        Some(at(GROWTH_TO)? / at(GROWTH_FROM)?)
    }

    fn is_bounded(&self) -> bool {
        self.id.starts_with(BOUNDED)
    }

    /// Why it is wrong, if it is.
    fn growth_fault(&self) -> Option<String> {
        match self.growth() {
            _ if !self.is_bounded() => None,
            Some(growth) if growth <= MOST_GROWTH => None,
            Some(growth) => Some(format!("{}: grows {growth:.2}x, {MOST_GROWTH}x at most", self.title)),
            None => Some(format!("{}: not measured in both pools", self.title)),
        }
    }

    fn row(&self, digits: usize) -> Vec<String> {
        let cell = |point: &Point| {
            let Point { ours, theirs, ratio, .. } = point;
            format!("{ours:.digits$} / {theirs:.digits$}, {}", times_as_much(*ratio))
        };
        let mut row = vec![self.title.clone()];
        row.extend(self.points.iter().map(cell));
        row.push(self.growth().map(times_as_much).unwrap_or_default());
        row.push(if self.is_bounded() { format!("{MOST_GROWTH}x") } else { String::new() });
        row
    }
}

/// A ratio, as exactly as it matters.
fn times_as_much(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}x") } else { format!("{ratio:.0}x") }
}

/// Checks that both sides agree, then measures what is asked for.
pub(super) fn run(bench: &Bench, options: &Options) -> Result<(), String> {
    let sizes = SIZES.map(|cells| cells.to_string());
    shell::capture(Command::new(bench.harness()).arg("agree").args(&sizes))?;
    if options.record {
        let curves = counted(bench, &sizes)?;
        shell::write(&file(bench), &record::render(&curves, &bench.compilers()?)?)?;
        println!("{} operations recorded", curves.len());
        Ok(())
    } else if options.counts || options.check {
        compare(bench, &counted(bench, &sizes)?, options.check)
    } else {
        println!("{}", bench.compilers()?.join("; "));
        print("µs", &timed(bench, &sizes)?, 3);
        Ok(())
    }
}

fn file(bench: &Bench) -> std::path::PathBuf {
    bench.sources.join("growth.toml")
}

/// Prints the counts; with `check`, one over its ceiling is a failure, and a decode step that grows too much.
fn compare(bench: &Bench, curves: &[Curve], check: bool) -> Result<(), String> {
    print("instructions", curves, 0);
    let text = shell::read(&file(bench))?;
    counts::tell_of_others(&text, &bench.compilers()?);
    let recorded = record::parse(&text)?;
    let mut faults: Vec<String> = curves.iter().filter_map(Curve::growth_fault).collect();
    faults.extend(curves.iter().flat_map(|curve| record_faults(curve, &recorded)));
    for fault in &faults {
        println!("{fault}");
    }
    if check && !faults.is_empty() { Err(format!("growth: {}", faults.join("; "))) } else { Ok(()) }
}

/// Where a curve is over its ceilings, or not on record.
fn record_faults(curve: &Curve, recorded: &[Recorded]) -> Vec<String> {
    let ceiling = |cells| {
        let known = recorded.iter().find(|known| known.id == curve.id)?;
        known.ceilings.iter().find(|(at, _)| *at == cells).map(|(_, ceiling)| *ceiling)
    };
    let fault = |point: &Point| {
        let what = match ceiling(point.cells) {
            None => "not recorded".into(),
            Some(ceiling) if point.ours > ceiling => format!("{:.1}, {ceiling:.1} at most", point.ours),
            Some(_) => return None,
        };
        Some(format!("{} in {} cells: {what}", curve.title, point.cells))
    };
    curve.points.iter().filter_map(fault).collect()
}

fn print(unit: &str, curves: &[Curve], digits: usize) {
    println!(
        "kvcore / peer, peer as a multiple of kvcore; growth of kvcore from {GROWTH_FROM} to {GROWTH_TO} cells"
    );
    let mut heading = vec![unit.to_owned()];
    heading.extend(SIZES.map(|cells| format!("{cells} cells")));
    heading.extend(["growth".to_owned(), "target".to_owned()]);
    let rows: Vec<_> = std::iter::once(heading).chain(curves.iter().map(|curve| curve.row(digits))).collect();
    table::print(&rows);
}

/// Operation and cells of an id.
fn split(id: &str) -> Result<(String, u32), String> {
    let parts = id.split_once('@').and_then(|(id, cells)| Some((id.to_owned(), cells.parse().ok()?)));
    parts.ok_or_else(|| format!("the harness said `{id}`"))
}

fn counted(bench: &Bench, sizes: &[String]) -> Result<Vec<Curve>, String> {
    let point = |count: counts::Count| {
        let (id, cells) = split(&count.id)?;
        let counts::Count { title, ours, theirs, .. } = count;
        Ok((id, title, Point { cells, ours, theirs, ratio: theirs / ours }))
    };
    let measured = counts::count(bench, sizes)?.into_iter().map(point);
    Ok(Curve::gather(measured.collect::<Result<Vec<_>, String>>()?))
}

/// Medians, in µs.
fn timed(bench: &Bench, sizes: &[String]) -> Result<Vec<Curve>, String> {
    let point = |timing: times::Timing| {
        let (id, cells) = split(&timing.id)?;
        let (ours, theirs) = (timing.our_median / 1000.0, timing.their_median / 1000.0);
        Ok((id, timing.title, Point { cells, ours, theirs, ratio: timing.ratio }))
    };
    let measured = times::measure(bench, PROCESSES, sizes)?.into_iter().map(point);
    Ok(Curve::gather(measured.collect::<Result<Vec<_>, String>>()?))
}

#[cfg(test)]
mod tests {
    use super::{Curve, Point, record_faults, split};
    use crate::bench::growth::record::Recorded;

    pub(super) fn curve(id: &str, ours: [f64; 2]) -> Curve {
        let point = |cells, ours| Point { cells, ours, theirs: 2.0 * ours, ratio: 2.0 };
        let points = vec![point(512, ours[0]), point(32768, ours[1])];
        Curve { id: id.into(), title: format!("{id}, once"), points }
    }

    #[test]
    fn sizes_of_an_operation_are_one_curve() {
        let wanted = vec![curve("step", [5.0, 6.0]), curve("cut", [1.0, 2.0])];
        let measured = [0, 1].into_iter().flat_map(|size| {
            let point =
                move |curve: &Curve| (curve.id.clone(), curve.title.clone(), curve.points[size].clone());
            wanted.iter().map(point).collect::<Vec<_>>()
        });
        assert_eq!(Curve::gather(measured.collect::<Vec<_>>()), wanted);
        assert_eq!(split("step@512"), Ok(("step".into(), 512)));
        assert!(split("step").is_err() && split("step@many").is_err());
    }

    #[test]
    fn growth_of_a_decode_step_is_bounded() {
        assert_eq!(curve("decode_flat", [100.0, 300.0]).growth_fault(), None);
        assert!(curve("decode_flat", [100.0, 301.0]).growth_fault().is_some());
        assert_eq!(curve("clone", [100.0, 6400.0]).growth_fault(), None);
        let mut half = curve("decode_flat", [100.0, 100.0]);
        half.points.pop();
        assert!(half.growth_fault().is_some());
    }

    #[test]
    fn ceilings_are_of_one_size_each() {
        let known = |ceilings| [Recorded { id: "clone".into(), ceilings }];
        let curve = curve("clone", [100.0, 200.0]);
        assert!(record_faults(&curve, &known(vec![(512, 100.0), (32768, 200.0)])).is_empty());
        assert_eq!(record_faults(&curve, &known(vec![(512, 99.0), (32768, 200.0)])).len(), 1);
        assert_eq!(record_faults(&curve, &known(vec![(512, 100.0)])).len(), 1);
        assert_eq!(record_faults(&curve, &[]).len(), 2);
    }
}
