//! The picture of `--map`: which row held which position, step by step.

use std::collections::BTreeMap;

use kvcore::LAYER_RING;

use crate::cells::{self, Cells, Worth};
use crate::frame::{AXIS, CRISP, Frame, LEFT, OUTLINE, PANEL};
use crate::legend;
use crate::modes::ROLLBACK;
use crate::report::Report;
use crate::svg::{Anchor, Boxes, SHADES, gradient};
use crate::trace::Panel;

/// More rows than this are drawn in bands.
const MOST_ROWS: u32 = 360;

pub(crate) const REJECTED: &str = "fill=\"url(#rejected)\"";
pub(crate) const REWOUND: &str = "fill=\"url(#rewound)\"";
pub(crate) const EVICTED: &str = "fill=\"#d4145a\"";
pub(crate) const WRAP: &str = "fill=\"#111\"";

const TITLE: &str = "Which row of the K/V pool held which position, step by step";
const HOW_TO_READ: &str = "A row keeps its colour while it holds the same position. \
     Attention reads the full colours, not the pale ones.";

pub(crate) fn draw(report: &Report) -> String {
    let trace = &report.record.trace;
    let kinds = trace.steps.iter().map(|step| step.kind).collect();
    let mut map = Map { frame: Frame::new(kinds, &trace.events), longest: report.record.longest as u32 };
    map.frame.svg.hatch("rejected", "#fbe3e8", "#d8315b");
    map.frame.svg.hatch("rewound", "#ececec", "#a8a8a8");
    let pools: Vec<Cells> = (0..trace.panels.len()).map(|index| cells::of(trace, index)).collect();
    let about = format!(
        "The “{}” model of the generate example. Each column is one forward step, each line one row of a layer’s \
         pool.",
        report.mode.name()
    );
    let mut y = map.frame.head(TITLE, &about, HOW_TO_READ);
    for (panel, pool) in trace.panels.iter().zip(&pools) {
        let top = map.frame.open(y, &name(panel));
        map.panel(top, pool);
        y = map.frame.close(top, pool.rows);
        map.sinks(top, pool.rows, panel.info.layer.sinks);
    }
    map.frame.steps(y);
    let bottom = legend::draw(&mut map.frame.svg, y + 66.0, trace, &pools, map.longest);
    map.frame.finish(TITLE, bottom)
}

struct Map<'t> {
    frame: Frame<'t>,
    /// Positions that there were.
    longest: u32,
}

impl Map<'_> {
    fn panel(&mut self, top: f32, pool: &Cells) {
        let row = PANEL / pool.rows as f32;
        self.cells(top, pool);
        let (mut outlines, mut evicted) = (Boxes::default(), Boxes::default());
        let frame = &mut self.frame;
        for write in &pool.writes {
            let y = top + write.row as f32 * row;
            outlines.add(frame.x(write.step), y, frame.step, write.len as f32 * row);
        }
        for lost in &pool.evictions {
            let (y, width) = (top + lost.row as f32 * row, (frame.step / 3.0).min(2.2));
            evicted.add(frame.x(lost.step) - width / 2.0, y, width, lost.len as f32 * row);
        }
        frame.svg.boxes(&outlines, OUTLINE);
        frame.svg.boxes(&evicted, EVICTED);
        for &step in &pool.wraps {
            frame.svg.triangle(frame.x(step) + frame.step / 2.0, top - 1.0, WRAP);
        }
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
            let (x, y) = (self.frame.x(cell.from), top + cell.row as f32 * row);
            let (width, height) = ((cell.to - cell.from) as f32 * self.frame.step, band as f32 * row);
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
            self.frame.svg.boxes(boxes, &style);
        }
    }

    fn sinks(&mut self, top: f32, rows: u32, sinks: u32) {
        if sinks > 0 && sinks < rows {
            let y = top + sinks as f32 * PANEL / rows as f32;
            let frame = &mut self.frame;
            frame.svg.line((LEFT, y), (LEFT + frame.plot, y), "stroke=\"#111\" stroke-width=\"1.2\"");
            frame.svg.text(LEFT - 24.0, f32::midpoint(top, y) + 4.0, Anchor::End, AXIS, "sinks");
        }
    }
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
