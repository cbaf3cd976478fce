//! What all pictures of rows over steps have: the story above, a panel for each pool, the axes.

use crate::labels::{self, Label};
use crate::legend;
use crate::svg::{Anchor, Boxes, Svg};
use crate::trace::{Event, Kind};

pub(crate) const LEFT: f32 = 84.0;
const RIGHT: f32 = 18.0;
/// Width of all steps together, unless there are so many that they need more.
const PLOT: f32 = 1000.0 - LEFT - RIGHT;
const LEAST_STEP: f32 = 4.0;
/// Height of a panel's rows, and how far its name is above them.
pub(crate) const PANEL: f32 = 270.0;
const NAME: f32 = 11.0;
/// Height of a row of labels.
const LINE: f32 = 14.0;

pub(crate) const CRISP: &str = "shape-rendering=\"crispEdges\"";
const GREY: &str = "font-size=\"12.5\" fill=\"#555\"";
pub(crate) const AXIS: &str = "font-size=\"11\" fill=\"#555\"";
const TICK: &str = "stroke=\"#888\"";
const BRACKET: &str = "stroke=\"#444\" stroke-width=\"1.5\"";
const STEM: &str = "stroke=\"#444\" stroke-width=\"0.8\"";
const BOLD: &str = "font-weight=\"bold\"";
pub(crate) const OUTLINE: &str = "fill=\"none\" stroke=\"#111\" stroke-width=\"0.9\"";
pub(crate) const REWIND_LINE: &str = "stroke=\"#b00020\" stroke-width=\"1.4\" stroke-dasharray=\"4 3\"";
const REWIND_TEXT: &str = "font-size=\"11.5\" fill=\"#b00020\"";

pub(crate) struct Frame<'t> {
    pub(crate) svg: Svg,
    /// What each step was for.
    kinds: Vec<Kind>,
    events: &'t [(usize, Event)],
    /// Width of a step, and of all.
    pub(crate) step: f32,
    pub(crate) plot: f32,
}

impl<'t> Frame<'t> {
    pub(crate) fn new(kinds: Vec<Kind>, events: &'t [(usize, Event)]) -> Self {
        let step = (PLOT / kinds.len() as f32).max(LEAST_STEP);
        let plot = step * kinds.len() as f32;
        Self { svg: Svg::default(), kinds, events, step, plot }
    }

    pub(crate) fn x(&self, step: usize) -> f32 {
        LEFT + step as f32 * self.step
    }

    /// Steps at which each part of the story begins and ends, and its name.
    pub(crate) fn parts(&self) -> Vec<(usize, usize, &'static str)> {
        let starts: Vec<_> = self.events.iter().filter_map(act).collect();
        let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([self.kinds.len()]);
        let parts = starts.iter().zip(ends).map(|((start, name), end)| (*start, end, *name));
        // A part that took no step has no bracket.
        parts.filter(|(start, end, _)| start < end).collect()
    }

    /// Title, explanations, story. Answers where the first panel may begin.
    pub(crate) fn head(&mut self, title: &str, about: &str, how_to_read: &str) -> f32 {
        self.svg.text(LEFT, 30.0, Anchor::Start, "font-size=\"19\" font-weight=\"bold\"", title);
        self.svg.text(LEFT, 51.0, Anchor::Start, GREY, about);
        self.svg.text(LEFT, 68.0, Anchor::Start, GREY, how_to_read);
        let strip = self.acts(76.0);
        self.strip(strip);
        self.marks(strip + 10.0)
    }

    /// The parts of the story, as brackets over the steps. Answers where they end.
    fn acts(&mut self, top: f32) -> f32 {
        let parts = self.parts().into_iter();
        let (brackets, labels): (Vec<_>, Vec<_>) = parts
            .map(|(start, end, name)| {
                let (left, right) = (self.x(start) + 1.0, self.x(end) - 1.0);
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

    /// What each step was for.
    fn strip(&mut self, y: f32) {
        let gap = (self.step / 10.0).min(0.8);
        for kind in [Kind::Prefill, Kind::Decode, Kind::Draft] {
            let mut boxes = Boxes::default();
            for (index, _) in self.kinds.iter().enumerate().filter(|(_, step)| **step == kind) {
                boxes.add(self.x(index) + gap / 2.0, y, self.step - gap, 10.0);
            }
            self.svg.boxes(&boxes, &format!("fill=\"{}\"", legend::colour(kind)));
        }
    }

    /// Names what happened between steps, below `top`. Answers where the names end.
    fn marks(&mut self, top: f32) -> f32 {
        let labels: Vec<Label> = self
            .events
            .iter()
            .filter_map(|(before, event)| Some((*before, mark(event)?)))
            .map(|(before, text)| Label::beside(self.x(before), LEFT + self.plot, text))
            .collect();
        let rows = labels::rows(&labels);
        let bottom = top + height(&rows) + 4.0;
        for (label, row) in labels.iter().zip(rows) {
            let y = bottom - 4.0 - row as f32 * LINE;
            label.draw(&mut self.svg, y, REWIND_TEXT);
            self.mark_line(label.stem, y - 9.0, bottom);
        }
        bottom
    }

    fn mark_line(&mut self, x: Option<f32>, top: f32, bottom: f32) {
        if let Some(x) = x {
            self.svg.line((x, top), (x, bottom), REWIND_LINE);
        }
    }

    /// Names a panel below `y` and gives it its ground. Answers where its rows begin.
    pub(crate) fn open(&mut self, y: f32, name: &str) -> f32 {
        self.svg.text(LEFT, y + 26.0, Anchor::Start, "font-size=\"12.5\" font-weight=\"bold\"", name);
        let top = y + 26.0 + NAME;
        self.svg.rect(LEFT, top, self.plot, PANEL, "fill=\"#fafafa\"");
        top
    }

    /// Puts the frame around a panel's contents. Answers where it ends.
    pub(crate) fn close(&mut self, top: f32, rows: u32) -> f32 {
        self.svg.rect(LEFT, top, self.plot, PANEL, "fill=\"none\" stroke=\"#888\" stroke-width=\"0.8\"");
        for (before, _) in self.events.iter().filter(|(_, event)| mark(event).is_some()) {
            self.mark_line(Some(self.x(*before)), top, top + PANEL);
        }
        let row = PANEL / rows as f32;
        for tick in (0..rows as usize).step_by(tick_distance(rows as usize, 7)) {
            let y = top + (tick as f32 + 0.5) * row;
            self.svg.line((LEFT - 4.0, y), (LEFT, y), TICK);
            self.svg.text(LEFT - 7.0, y + 4.0, Anchor::End, AXIS, &tick.to_string());
        }
        self.svg.upright_text(20.0, top + PANEL / 2.0, "fill=\"#333\"", "row of the pool");
        top + PANEL
    }

    /// The axis of steps, below the last panel.
    pub(crate) fn steps(&mut self, top: f32) {
        let steps = self.kinds.len();
        for tick in (0..steps).step_by(tick_distance(steps, (steps / 16).max(14))) {
            let x = self.x(tick) + self.step / 2.0;
            self.svg.line((x, top), (x, top + 4.0), TICK);
            self.svg.text(x, top + 16.0, Anchor::Middle, AXIS, &tick.to_string());
        }
        let (x, y) = (LEFT + PLOT / 2.0, top + 33.0);
        self.svg.text(x, y, Anchor::Middle, "fill=\"#333\"", "step (one forward each)");
    }

    /// The whole picture.
    pub(crate) fn finish(self, title: &str, bottom: f32) -> String {
        self.svg.finish(title, LEFT + self.plot + RIGHT, bottom)
    }
}

/// Height of that many rows of labels.
fn height(rows: &[u32]) -> f32 {
    rows.iter().max().map_or(0.0, |most| (most + 1) as f32 * LINE)
}

fn act((before, event): &(usize, Event)) -> Option<(usize, &'static str)> {
    match event {
        Event::Act(name) => Some((*before, name)),
        Event::Rewind(_) | Event::Clear(_) | Event::Note(_) => None,
    }
}

/// What a line through the panels says.
fn mark(event: &Event) -> Option<String> {
    match event {
        Event::Act(_) => None,
        Event::Rewind(length) => Some(format!("rewind to length {length}")),
        Event::Clear(length) => {
            Some(format!("rewind to length {length} refused (evicted): cleared, read again"))
        }
        Event::Note(text) => Some(text.clone()),
    }
}

/// A round number, so that there are at most `ticks` and a half or so.
pub(crate) fn tick_distance(length: usize, ticks: usize) -> usize {
    let round = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    round.into_iter().find(|distance| length / distance <= ticks).unwrap_or(2000)
}
