//! The picture of `--map`: which row held which position, step by step.

use std::collections::BTreeMap;

use kvcore::LAYER_RING;

use crate::cells::{self, Cells, Worth};
use crate::labels::{self, Label};
use crate::legend;
use crate::modes::ROLLBACK;
use crate::report::Report;
use crate::svg::{Anchor, Boxes, SHADES, Svg, gradient};
use crate::trace::{Event, Kind, Panel, Trace};

pub(crate) const LEFT: f32 = 84.0;
const RIGHT: f32 = 18.0;
/// Width of all steps together, unless there are so many that they need more.
const PLOT: f32 = 1000.0 - LEFT - RIGHT;
const LEAST_STEP: f32 = 4.0;
/// Height of a panel's rows, and how far its name is above them.
const PANEL: f32 = 270.0;
const NAME: f32 = 11.0;
/// Height of a row of labels.
const LINE: f32 = 14.0;
/// More rows than this are drawn in bands.
const MOST_ROWS: u32 = 360;

const CRISP: &str = "shape-rendering=\"crispEdges\"";
const GREY: &str = "font-size=\"12.5\" fill=\"#555\"";
const AXIS: &str = "font-size=\"11\" fill=\"#555\"";
const TICK: &str = "stroke=\"#888\"";
const BRACKET: &str = "stroke=\"#444\" stroke-width=\"1.5\"";
const STEM: &str = "stroke=\"#444\" stroke-width=\"0.8\"";
const BOLD: &str = "font-weight=\"bold\"";
pub(crate) const REJECTED: &str = "fill=\"url(#rejected)\"";
pub(crate) const REWOUND: &str = "fill=\"url(#rewound)\"";
pub(crate) const OUTLINE: &str = "fill=\"none\" stroke=\"#111\" stroke-width=\"0.9\"";
pub(crate) const EVICTED: &str = "fill=\"#d4145a\"";
pub(crate) const WRAP: &str = "fill=\"#111\"";
pub(crate) const REWIND_LINE: &str = "stroke=\"#b00020\" stroke-width=\"1.4\" stroke-dasharray=\"4 3\"";
const REWIND_TEXT: &str = "font-size=\"11.5\" fill=\"#b00020\"";

const TITLE: &str = "Which row of the K/V pool held which position, step by step";
const HOW_TO_READ: &str = "A row keeps its colour while it holds the same position. \
     Attention reads the full colours, not the pale ones.";

pub(crate) fn draw(report: &Report) -> String {
    let trace = &report.record.trace;
    let steps = trace.steps.len();
    let step = (PLOT / steps as f32).max(LEAST_STEP);
    let mut map = Map {
        svg: Svg::default(),
        trace,
        step,
        plot: step * steps as f32,
        longest: report.record.longest as u32,
    };
    map.svg.hatch("rejected", "#fbe3e8", "#d8315b");
    map.svg.hatch("rewound", "#ececec", "#a8a8a8");
    let pools: Vec<Cells> = (0..trace.panels.len()).map(|index| cells::of(trace, index)).collect();
    let strip = map.head(report.mode.name());
    let mut y = map.rewinds(strip + 10.0);
    for (panel, pool) in trace.panels.iter().zip(&pools) {
        map.svg.text(LEFT, y + 26.0, Anchor::Start, "font-size=\"12.5\" font-weight=\"bold\"", &name(panel));
        map.panel(y + 26.0 + NAME, panel, pool);
        y += 26.0 + NAME + PANEL;
    }
    map.steps(y);
    let bottom = legend::draw(&mut map.svg, y + 66.0, trace, &pools, map.longest);
    map.svg.finish(TITLE, LEFT + map.plot + RIGHT, bottom)
}

struct Map<'t> {
    svg: Svg,
    trace: &'t Trace,
    /// Width of a step, and of all.
    step: f32,
    plot: f32,
    /// Positions that there were.
    longest: u32,
}

impl Map<'_> {
    fn x(&self, step: usize) -> f32 {
        LEFT + step as f32 * self.step
    }

    /// Answers where the strip of steps begins.
    fn head(&mut self, mode: &str) -> f32 {
        self.svg.text(LEFT, 30.0, Anchor::Start, "font-size=\"19\" font-weight=\"bold\"", TITLE);
        let about = format!(
            "The “{mode}” model of the generate example. Each column is one forward step, each line one row of a \
             layer’s pool."
        );
        self.svg.text(LEFT, 51.0, Anchor::Start, GREY, &about);
        self.svg.text(LEFT, 68.0, Anchor::Start, GREY, HOW_TO_READ);
        let strip = self.acts(76.0);
        self.kinds(strip);
        strip
    }

    /// The parts of the story, as brackets over the steps. Answers where they end.
    fn acts(&mut self, top: f32) -> f32 {
        let starts: Vec<(usize, &str)> = self.trace.events.iter().filter_map(act).collect();
        let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([self.trace.steps.len()]);
        // A part that took no step has no bracket.
        let acts = starts.iter().zip(ends).filter(|((start, _), end)| start < end);
        let (brackets, labels): (Vec<_>, Vec<_>) = acts
            .map(|((start, name), end)| {
                let (left, right) = (self.x(*start) + 1.0, self.x(end) - 1.0);
                ((left, right), Label::over(left, right, LEFT + self.plot, name))
            })
            .unzip();
        let rows = labels::rows(&labels);
        let bracket = top + height(&rows) + 6.0;
        for ((label, (left, right)), row) in labels.iter().zip(brackets).zip(rows) {
            let y = bracket - 6.0 - row as f32 * LINE;
            label.draw(&mut self.svg, y, BOLD);
            self.svg.line((left, bracket), (right, bracket), BRACKET);
            if let (Some(x), true) = (label.stem, row > 0) {
                self.svg.line((x, y + 3.0), (x, bracket), STEM);
            }
        }
        bracket + 4.0
    }

    /// What each step was for, as a strip.
    fn kinds(&mut self, y: f32) {
        let gap = (self.step / 10.0).min(0.8);
        for kind in [Kind::Prefill, Kind::Decode, Kind::Draft] {
            let mut boxes = Boxes::default();
            for (index, _) in self.trace.steps.iter().enumerate().filter(|(_, step)| step.kind == kind) {
                boxes.add(self.x(index) + gap / 2.0, y, self.step - gap, 10.0);
            }
            self.svg.boxes(&boxes, &format!("fill=\"{}\"", legend::colour(kind)));
        }
    }

    /// Names the rewinds, below `top`. Answers where the names end.
    fn rewinds(&mut self, top: f32) -> f32 {
        let labels: Vec<Label> = self
            .trace
            .events
            .iter()
            .filter_map(|(before, event)| Some((*before, rewind(event)?)))
            .map(|(before, text)| Label::beside(self.x(before), LEFT + self.plot, text))
            .collect();
        let rows = labels::rows(&labels);
        let bottom = top + height(&rows) + 4.0;
        for (label, row) in labels.iter().zip(rows) {
            let y = bottom - 4.0 - row as f32 * LINE;
            label.draw(&mut self.svg, y, REWIND_TEXT);
            self.rewind_line(label.stem, y - 9.0, bottom);
        }
        bottom
    }

    fn rewind_line(&mut self, x: Option<f32>, top: f32, bottom: f32) {
        if let Some(x) = x {
            self.svg.line((x, top), (x, bottom), REWIND_LINE);
        }
    }

    fn panel(&mut self, top: f32, panel: &Panel, pool: &Cells) {
        let row = PANEL / pool.rows as f32;
        self.svg.rect(LEFT, top, self.plot, PANEL, "fill=\"#fafafa\"");
        self.cells(top, pool);
        let (mut outlines, mut evicted) = (Boxes::default(), Boxes::default());
        for write in &pool.writes {
            let y = top + write.row as f32 * row;
            outlines.add(self.x(write.step), y, self.step, write.len as f32 * row);
        }
        for lost in &pool.evictions {
            let (y, width) = (top + lost.row as f32 * row, (self.step / 3.0).min(2.2));
            evicted.add(self.x(lost.step) - width / 2.0, y, width, lost.len as f32 * row);
        }
        self.svg.boxes(&outlines, OUTLINE);
        self.svg.boxes(&evicted, EVICTED);
        self.svg.rect(LEFT, top, self.plot, PANEL, "fill=\"none\" stroke=\"#888\" stroke-width=\"0.8\"");
        for &step in &pool.wraps {
            self.svg.triangle(self.x(step) + self.step / 2.0, top - 1.0, WRAP);
        }
        for (before, _) in self.trace.events.iter().filter(|(_, event)| rewind(event).is_some()) {
            self.rewind_line(Some(self.x(*before)), top, top + PANEL);
        }
        self.rows(top, row, pool.rows, panel.info.layer.sinks);
    }

    /// Everything that is drawn alike goes into one path.
    fn cells(&mut self, top: f32, pool: &Cells) {
        let row = PANEL / pool.rows as f32;
        let band = pool.rows.div_ceil(MOST_ROWS);
        let mut alike = BTreeMap::<(Worth, u32), Boxes>::new();
        for cell in pool.held.iter().filter(|cell| cell.row.is_multiple_of(band)) {
            let shade = match cell.worth {
                Worth::Read | Worth::Idle => cell.position * SHADES / self.longest,
                Worth::Rejected | Worth::Rewound => 0,
            };
            let (x, y) = (self.x(cell.from), top + cell.row as f32 * row);
            let (width, height) = ((cell.to - cell.from) as f32 * self.step, band as f32 * row);
            alike.entry((cell.worth, shade)).or_default().add(x, y, width, height);
        }
        for ((worth, shade), boxes) in &alike {
            let colour = gradient(*shade);
            let style = match worth {
                Worth::Read => format!("fill=\"{colour}\" {CRISP}"),
                Worth::Idle => format!("fill=\"{colour}\" fill-opacity=\".3\" {CRISP}"),
                Worth::Rejected => REJECTED.to_owned(),
                Worth::Rewound => REWOUND.to_owned(),
            };
            self.svg.boxes(boxes, &style);
        }
    }

    /// The axis of rows.
    fn rows(&mut self, top: f32, row: f32, rows: u32, sinks: u32) {
        for tick in (0..rows as usize).step_by(tick_distance(rows as usize, 7)) {
            let y = top + (tick as f32 + 0.5) * row;
            self.svg.line((LEFT - 4.0, y), (LEFT, y), TICK);
            self.svg.text(LEFT - 7.0, y + 4.0, Anchor::End, AXIS, &tick.to_string());
        }
        self.svg.upright_text(20.0, top + PANEL / 2.0, "fill=\"#333\"", "row of the pool");
        if sinks > 0 && sinks < rows {
            let y = top + sinks as f32 * row;
            self.svg.line((LEFT, y), (LEFT + self.plot, y), "stroke=\"#111\" stroke-width=\"1.2\"");
            self.svg.text(LEFT - 24.0, top + sinks as f32 * row / 2.0 + 4.0, Anchor::End, AXIS, "sinks");
        }
    }

    /// The axis of steps.
    fn steps(&mut self, top: f32) {
        let steps = self.trace.steps.len();
        for tick in (0..steps).step_by(tick_distance(steps, (steps / 16).max(14))) {
            let x = self.x(tick) + self.step / 2.0;
            self.svg.line((x, top), (x, top + 4.0), TICK);
            self.svg.text(x, top + 16.0, Anchor::Middle, AXIS, &tick.to_string());
        }
        self.svg.text(
            LEFT + PLOT / 2.0,
            top + 33.0,
            Anchor::Middle,
            "fill=\"#333\"",
            "step (one forward each)",
        );
    }
}

/// Height of that many rows of labels.
fn height(rows: &[u32]) -> f32 {
    rows.iter().max().map_or(0.0, |most| (most + 1) as f32 * LINE)
}

fn act((before, event): &(usize, Event)) -> Option<(usize, &'static str)> {
    match event {
        Event::Act(name) => Some((*before, name)),
        Event::Rewind(_) | Event::Clear(_) => None,
    }
}

fn rewind(event: &Event) -> Option<String> {
    match event {
        Event::Act(_) => None,
        Event::Rewind(length) => Some(format!("rewind to length {length}")),
        Event::Clear(length) => {
            Some(format!("rewind to length {length} refused (evicted): cleared, read again"))
        }
    }
}

/// A round number, so that there are at most `ticks` and a half or so.
pub(crate) fn tick_distance(length: usize, ticks: usize) -> usize {
    let round = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    round.into_iter().find(|distance| length / distance <= ticks).unwrap_or(2000)
}

fn name(panel: &Panel) -> String {
    let layer = &panel.info.layer;
    if layer.kind != LAYER_RING {
        return format!("Full layer {}: one row for each position", panel.index);
    }
    let sinks = if layer.sinks == 0 { String::new() } else { format!("sinks {} + ", layer.sinks) };
    format!(
        "Sliding layer {}: {} rows = {sinks}window {} + largest step {} − 1 + rollback {ROLLBACK}, \
         used again and again",
        panel.index, panel.info.rows, layer.window, panel.info.max_write
    )
}
