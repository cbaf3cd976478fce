//! What the colours and marks of the picture mean: of those that it has.

use crate::cells::{Cells, Worth};
use crate::frame::{LEFT, OUTLINE, REWIND_LINE, tick_distance};
use crate::map::{EVICTED, REJECTED, REWOUND, WRAP};
use crate::svg::{Anchor, SHADES, Svg, gradient};
use crate::trace::{Event, Kind, Trace};

const COLUMNS: [f32; 3] = [0.0, 285.0, 600.0];
const LINE: f32 = 22.0;
const SMALL: &str = "font-size=\"11\" fill=\"#555\"";
/// Size of a sample.
const WIDTH: f32 = 22.0;
const HEIGHT: f32 = 12.0;

/// The colour of samples.
const LIVE: u32 = 43;

/// Draws a sample, whose upper left corner is at the given place.
type Sample = fn(&mut Svg, f32, f32);

/// Draws the legend below `top`, and answers where it ends.
pub(crate) fn draw(svg: &mut Svg, top: f32, trace: &Trace, pools: &[Cells], longest: u32) -> f32 {
    positions(svg, top, longest);
    let mut place = 0;
    let top = top + 44.0;
    for (shown, text, sample) in entries(trace, pools) {
        if shown {
            let (x, y) = (LEFT + COLUMNS[place % COLUMNS.len()], top + (place / COLUMNS.len()) as f32 * LINE);
            sample(svg, x, y - 10.0);
            svg.text(x + WIDTH + 8.0, y, Anchor::Start, "", text);
            place += 1;
        }
    }
    top + place.div_ceil(COLUMNS.len()) as f32 * LINE
}

/// The scale of colours.
fn positions(svg: &mut Svg, top: f32, longest: u32) {
    let (from, width) = (LEFT + 285.0, 610.0);
    svg.text(LEFT, top, Anchor::Start, "", "colour: the position that the row holds");
    for shade in 0..SHADES {
        let style = format!("fill=\"{}\" shape-rendering=\"crispEdges\"", gradient(shade));
        let shade_width = width / SHADES as f32;
        svg.rect(from + shade as f32 * shade_width, top - 10.0, shade_width, HEIGHT, &style);
    }
    for position in (0..longest as usize).step_by(tick_distance(longest as usize, 10)) {
        let x = from + (position as f32 + 0.5) / longest as f32 * width;
        svg.line((x, top + 2.0), (x, top + 6.0), "stroke=\"#888\"");
        svg.text(x, top + 17.0, Anchor::Middle, SMALL, &position.to_string());
    }
}

/// Each with whether the picture has it.
fn entries(trace: &Trace, pools: &[Cells]) -> [(bool, &'static str, Sample); 11] {
    let has = |worth| pools.iter().any(|pool| pool.held.iter().any(|cell| cell.worth == worth));
    let step = |kind| trace.steps.iter().any(|step| step.kind == kind);
    let rewinds = trace.events.iter().any(|(_, event)| !matches!(event, Event::Act(_)));
    [
        (step(Kind::Prefill), "step that reads text (prefill)", |svg, x, y| kind(svg, x, y, Kind::Prefill)),
        (step(Kind::Decode), "step of one token (decode)", |svg, x, y| kind(svg, x, y, Kind::Decode)),
        (step(Kind::Draft), "step of a token and drafts", |svg, x, y| kind(svg, x, y, Kind::Draft)),
        (true, "written in this step", |svg, x, y| {
            full(svg, x, y);
            svg.rect(x, y, WIDTH, HEIGHT, OUTLINE);
        }),
        (true, "read by attention", full),
        (has(Worth::Idle), "outside the window, kept for a rewind", |svg, x, y| {
            let style = format!("fill=\"{}\" fill-opacity=\".3\"", gradient(LIVE));
            svg.rect(x, y, WIDTH, HEIGHT, &style);
        }),
        (
            pools.iter().any(|pool| !pool.evictions.is_empty()),
            "evicted: an older position overwritten",
            |svg, x, y| {
                full(svg, x, y);
                svg.rect(x - 1.0, y, 2.2, HEIGHT, EVICTED);
            },
        ),
        (
            pools.iter().any(|pool| !pool.wraps.is_empty()),
            "the ring comes round to its first row",
            |svg, x, y| {
                svg.triangle(x + WIDTH / 2.0, y + 9.0, WRAP);
            },
        ),
        (has(Worth::Rejected), "draft, rejected after its step", |svg, x, y| {
            svg.rect(x, y, WIDTH, HEIGHT, REJECTED);
        }),
        (has(Worth::Rewound), "taken back by a rewind or clear", |svg, x, y| {
            svg.rect(x, y, WIDTH, HEIGHT, REWOUND);
        }),
        (rewinds, "rewind", |svg, x, y| {
            svg.line((x, y + HEIGHT / 2.0), (x + WIDTH, y + HEIGHT / 2.0), REWIND_LINE);
        }),
    ]
}

fn full(svg: &mut Svg, x: f32, y: f32) {
    svg.rect(x, y, WIDTH, HEIGHT, &format!("fill=\"{}\"", gradient(LIVE)));
}

fn kind(svg: &mut Svg, x: f32, y: f32, kind: Kind) {
    svg.rect(x + 6.0, y + 1.0, 10.0, 10.0, &format!("fill=\"{}\"", colour(kind)));
}

pub(crate) const fn colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Prefill => "#4a6fa5",
        Kind::Decode => "#b8c7d9",
        Kind::Draft => "#f0a04b",
    }
}
