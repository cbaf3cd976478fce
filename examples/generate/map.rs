//! The picture of `--map`: which row held which position, step by step.

use std::collections::BTreeMap;

use kvcore::LAYER_RING;

use crate::cells::{self, Cells, Worth};
use crate::modes::ROLLBACK;
use crate::report::Report;
use crate::svg::{Anchor, Boxes, Svg, gradient};
use crate::trace::{Event, Kind, Panel, Trace};

const WIDTH: f32 = 1000.0;
const LEFT: f32 = 62.0;
const RIGHT: f32 = 18.0;
const PLOT: f32 = WIDTH - LEFT - RIGHT;
/// Height of a panel's rows.
const PANEL: f32 = 270.0;
/// From the end of a panel's rows to the next one's.
const GAP: f32 = 56.0;
const TOP: f32 = 164.0;
const LEGEND: f32 = 92.0;
/// More rows than this are drawn in bands.
const MOST_ROWS: u32 = 360;
const SHADES: u32 = 72;

const CRISP: &str = "shape-rendering=\"crispEdges\"";
const SMALL: &str = "font-size=\"11\" fill=\"#555\"";
const REJECTED: &str = "fill=\"url(#rejected)\"";
const REWOUND: &str = "fill=\"url(#rewound)\"";
const OUTLINE: &str = "fill=\"none\" stroke=\"#111\" stroke-width=\"0.9\"";
/// On white, as lines pass behind it.
const PANEL_NAME: &str =
    "font-size=\"12.5\" font-weight=\"bold\" stroke=\"#fff\" stroke-width=\"4\" paint-order=\"stroke\"";
const EVICTED: &str = "fill=\"#d4145a\"";
const WRAP: &str = "fill=\"#111\"";
const REWIND_LINE: &str = "stroke=\"#b00020\" stroke-width=\"1.4\" stroke-dasharray=\"4 3\"";
const REWIND_TEXT: &str = "font-size=\"11.5\" fill=\"#b00020\"";

pub(crate) fn draw(report: &Report) -> String {
    let trace = &report.record.trace;
    let panels = trace.panels.len() as f32;
    let bottom = TOP + panels * PANEL + (panels - 1.0) * GAP;
    let mut map = Map {
        svg: Svg::new(WIDTH, bottom + 56.0 + LEGEND),
        trace,
        step: PLOT / trace.steps.len() as f32,
        longest: report.record.longest as u32,
    };
    map.svg.hatch("rejected", "#fbe3e8", "#d8315b");
    map.svg.hatch("rewound", "#ececec", "#a8a8a8");
    map.head(report.mode.name());
    let tops = (0..trace.panels.len()).map(|index| TOP + index as f32 * (PANEL + GAP));
    for (index, (panel, top)) in trace.panels.iter().zip(tops.clone()).enumerate() {
        map.panel(top, panel, &cells::of(trace, index));
    }
    map.steps(bottom);
    map.events(bottom);
    for (panel, top) in trace.panels.iter().zip(tops) {
        map.svg.text(LEFT, top - 10.0, Anchor::Start, PANEL_NAME, &name(panel));
    }
    map.legend(bottom + 62.0);
    map.svg.finish("Which row of the K/V pool held which position, step by step")
}

struct Map<'t> {
    svg: Svg,
    trace: &'t Trace,
    /// Width of a step.
    step: f32,
    /// Positions that there were.
    longest: u32,
}

impl Map<'_> {
    fn x(&self, step: usize) -> f32 {
        LEFT + step as f32 * self.step
    }

    fn head(&mut self, mode: &str) {
        let title = "Which row of the K/V pool held which position, step by step";
        self.svg.text(LEFT, 30.0, Anchor::Start, "font-size=\"19\" font-weight=\"bold\"", title);
        let about = format!(
            "The “{mode}” model of the generate example. Each column is one forward step, each line one row of a \
             layer’s pool."
        );
        self.svg.text(LEFT, 50.0, Anchor::Start, "font-size=\"12.5\" fill=\"#555\"", &about);
        self.acts();
        self.kinds();
    }

    /// The parts of the story, as brackets over the steps.
    fn acts(&mut self) {
        let acts: Vec<(usize, &str)> = self.trace.events.iter().filter_map(act).collect();
        for (index, &(from, name)) in acts.iter().enumerate() {
            let to = acts.get(index + 1).map_or(self.trace.steps.len(), |next| next.0);
            let (left, right) = (self.x(from) + 1.0, self.x(to) - 1.0);
            self.svg.text((left + right) / 2.0, 80.0, Anchor::Middle, "font-weight=\"bold\"", name);
            self.svg.line((left, 86.0), (right, 86.0), "stroke=\"#444\" stroke-width=\"1.5\"");
        }
    }

    /// What each step was for, as a strip.
    fn kinds(&mut self) {
        for kind in [Kind::Prefill, Kind::Decode, Kind::Draft] {
            let mut boxes = Boxes::default();
            for (index, _) in self.trace.steps.iter().enumerate().filter(|(_, step)| step.kind == kind) {
                boxes.add(self.x(index), 90.0, self.step, 10.0);
            }
            self.svg.boxes(&boxes, &format!("fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.8\"", colour(kind)));
        }
    }

    fn panel(&mut self, top: f32, panel: &Panel, cells: &Cells) {
        let row = PANEL / cells.rows as f32;
        self.svg.rect(LEFT, top, PLOT, PANEL, "fill=\"#fafafa\"");
        self.cells(top, cells);
        let mut outlines = Boxes::default();
        for write in &cells.writes {
            let y = top + write.row as f32 * row;
            outlines.add(self.x(write.step), y, self.step, write.len as f32 * row);
        }
        self.svg.boxes(&outlines, OUTLINE);
        let mut evicted = Boxes::default();
        for lost in &cells.evictions {
            evicted.add(self.x(lost.step) - 1.0, top + lost.row as f32 * row, 2.2, row);
        }
        self.svg.boxes(&evicted, EVICTED);
        self.svg.rect(LEFT, top, PLOT, PANEL, "fill=\"none\" stroke=\"#888\" stroke-width=\"0.8\"");
        self.wraps(top, cells);
        self.rows(top, row, cells.rows, panel.info.layer.sinks);
    }

    /// Everything that is drawn alike goes into one path.
    fn cells(&mut self, top: f32, cells: &Cells) {
        let row = PANEL / cells.rows as f32;
        let band = cells.rows.div_ceil(MOST_ROWS);
        let mut alike = BTreeMap::<(Worth, u32), Boxes>::new();
        for cell in cells.cells.iter().filter(|cell| cell.row.is_multiple_of(band)) {
            let shade = match cell.worth {
                Worth::Read | Worth::Idle => cell.position * SHADES / self.longest,
                Worth::Rejected | Worth::Rewound => 0,
            };
            let (x, y) = (self.x(cell.from), top + cell.row as f32 * row);
            let (width, height) = ((cell.to - cell.from) as f32 * self.step, band as f32 * row);
            alike.entry((cell.worth, shade)).or_default().add(x, y, width, height);
        }
        for ((worth, shade), boxes) in &alike {
            let colour = gradient(*shade as f32 / SHADES as f32);
            let style = match worth {
                Worth::Read => format!("fill=\"{colour}\" {CRISP}"),
                Worth::Idle => format!("fill=\"{colour}\" fill-opacity=\".3\" {CRISP}"),
                Worth::Rejected => REJECTED.to_owned(),
                Worth::Rewound => REWOUND.to_owned(),
            };
            self.svg.boxes(boxes, &style);
        }
    }

    fn wraps(&mut self, top: f32, cells: &Cells) {
        for &step in &cells.wraps {
            let x = self.x(step) + self.step / 2.0;
            self.svg.triangle(x, top - 1.0, WRAP);
        }
    }

    /// The axis of rows.
    fn rows(&mut self, top: f32, row: f32, rows: u32, sinks: u32) {
        for tick in (0..rows as usize).step_by(tick_distance(rows as usize, 7)) {
            let y = top + (tick as f32 + 0.5) * row;
            self.svg.line((LEFT - 4.0, y), (LEFT, y), "stroke=\"#888\"");
            self.svg.text(LEFT - 7.0, y + 4.0, Anchor::End, SMALL, &tick.to_string());
        }
        self.svg.upright_text(18.0, top + PANEL / 2.0, "fill=\"#333\"", "row of the pool");
        if sinks > 0 {
            let y = top + sinks as f32 * row;
            self.svg.line((LEFT, y), (LEFT + PLOT, y), "stroke=\"#111\" stroke-width=\"1.2\"");
            self.svg.text(LEFT - 22.0, y, Anchor::End, SMALL, "sinks");
        }
    }

    /// The axis of steps.
    fn steps(&mut self, bottom: f32) {
        let steps = self.trace.steps.len();
        for tick in (0..steps).step_by(tick_distance(steps, 14)) {
            let x = self.x(tick) + self.step / 2.0;
            self.svg.line((x, bottom), (x, bottom + 4.0), "stroke=\"#888\"");
            self.svg.text(x, bottom + 16.0, Anchor::Middle, SMALL, &tick.to_string());
        }
        self.svg.text(LEFT + PLOT / 2.0, bottom + 33.0, Anchor::Middle, "fill=\"#333\"", "step");
    }

    /// Rewinds cut through all panels.
    fn events(&mut self, bottom: f32) {
        let (mut free, mut y) = (0.0, 115.0);
        for (before, event) in &self.trace.events {
            let label = match event {
                Event::Act(_) => continue,
                Event::Rewind(length) => format!("rewind to length {length}"),
                Event::Clear(length) => format!("rewind to length {length} refused (evicted): cleared, read again"),
            };
            let x = self.x(*before);
            self.svg.line((x, 102.0), (x, bottom), REWIND_LINE);
            // A label that would leave the picture ends at its line; one that would hit another goes below it.
            let width = label.len() as f32 * 6.2;
            let fits = x + width < WIDTH;
            let left = if fits { x + 5.0 } else { x - 5.0 - width };
            y = if left < free { y + 13.0 } else { 115.0 };
            free = left + width;
            let (anchor, at) = if fits { (Anchor::Start, left) } else { (Anchor::End, x - 5.0) };
            self.svg.text(at, y, anchor, REWIND_TEXT, &label);
        }
    }

    fn legend(&mut self, top: f32) {
        self.positions(top);
        let [second, third, fourth] = [top + 26.0, top + 48.0, top + 70.0];
        let live = gradient(0.6);
        self.key(0, second, "read by attention", |svg, x, y| {
            svg.rect(x, y, 22.0, 12.0, &format!("fill=\"{live}\""));
        });
        self.key(1, second, "still there, outside the window", |svg, x, y| {
            svg.rect(x, y, 22.0, 12.0, &format!("fill=\"{live}\" fill-opacity=\".3\""));
        });
        self.key(2, second, "written in this step", |svg, x, y| {
            svg.rect(x, y, 22.0, 12.0, &format!("fill=\"{live}\""));
            svg.rect(x, y, 22.0, 12.0, OUTLINE);
        });
        self.key(3, second, "evicted: overwrote an older one", |svg, x, y| {
            svg.rect(x, y, 22.0, 12.0, &format!("fill=\"{live}\""));
            svg.rect(x - 1.0, y, 2.2, 12.0, EVICTED);
        });
        self.key(0, third, "draft, rejected", |svg, x, y| svg.rect(x, y, 22.0, 12.0, REJECTED));
        self.key(1, third, "taken back by a rewind or clear", |svg, x, y| svg.rect(x, y, 22.0, 12.0, REWOUND));
        self.key(2, third, "ring wraps to its first row", |svg, x, y| svg.triangle(x + 11.0, y + 9.0, WRAP));
        self.key(3, third, "rewind", |svg, x, y| svg.line((x, y + 6.0), (x + 22.0, y + 6.0), REWIND_LINE));
        let kinds = [(Kind::Prefill, "step of the prefill"), (Kind::Decode, "step of one token"), (Kind::Draft, "step with drafts")];
        for (column, (kind, text)) in kinds.into_iter().enumerate() {
            let style = format!("fill=\"{}\"", colour(kind));
            self.key(column, fourth, text, |svg, x, y| svg.rect(x + 6.0, y + 1.0, 10.0, 10.0, &style));
        }
    }

    /// The scale of colours.
    fn positions(&mut self, top: f32) {
        self.svg.text(LEFT, top, Anchor::Start, "", "colour: the position that the row holds, from 0");
        let (from, shade_width) = (LEFT + 268.0, 3.4);
        for shade in 0..SHADES {
            let style = format!("fill=\"{}\" {CRISP}", gradient(shade as f32 / SHADES as f32));
            self.svg.rect(from + shade as f32 * shade_width, top - 10.0, shade_width + 0.3, 12.0, &style);
        }
        let last = format!("to {}", self.longest.saturating_sub(1));
        self.svg.text(from + SHADES as f32 * shade_width + 8.0, top, Anchor::Start, "", &last);
    }

    /// An entry of the legend: a sample of 22 x 12, and what it means.
    fn key(&mut self, column: usize, y: f32, text: &str, sample: impl FnOnce(&mut Svg, f32, f32)) {
        let x = LEFT + [0.0, 186.0, 438.0, 668.0][column];
        sample(&mut self.svg, x, y - 10.0);
        self.svg.text(x + 30.0, y, Anchor::Start, "", text);
    }
}

fn act((before, event): &(usize, Event)) -> Option<(usize, &'static str)> {
    match event {
        Event::Act(name) => Some((*before, name)),
        Event::Rewind(_) | Event::Clear(_) => None,
    }
}

/// A round number, so that there are at most `ticks` and a half or so.
fn tick_distance(length: usize, ticks: usize) -> usize {
    let round = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    round.into_iter().find(|distance| length / distance <= ticks).unwrap_or(2000)
}

const fn colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Prefill => "#4a6fa5",
        Kind::Decode => "#b8c7d9",
        Kind::Draft => "#f0a04b",
    }
}

fn name(panel: &Panel) -> String {
    let layer = &panel.info.layer;
    if layer.kind != LAYER_RING {
        return format!("Full layer {}: one row for each position", panel.index);
    }
    let sinks = if layer.sinks == 0 { String::new() } else { format!("sinks {} + ", layer.sinks) };
    format!(
        "Sliding layer {}: {} rows = {sinks}window {} + largest step {} − 1 + rollback {ROLLBACK}, used again and again",
        panel.index, panel.info.rows, layer.window, panel.info.max_write
    )
}
