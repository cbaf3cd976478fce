//! The picture of `--pool --map`: whose each cell was, step by step.

use std::collections::BTreeMap;

use kvcore::LAYER_RING;

use crate::frame::{CRISP, Frame, LEFT, OUTLINE, PANEL, REWIND_LINE};
use crate::legend;
use crate::map::REJECTED;
use crate::owners::{LETTERS, Owner, OwnerPanel, Owners};
use crate::pool_record::PoolReport;
use crate::svg::{Anchor, Boxes, Svg};
use crate::trace::Kind;

/// Of the system prompt, and of A, B and C.
const COLOURS: [&str; LETTERS.len()] = ["#8c8c9a", "#3f7fd0", "#e8943a", "#44a266"];
const TITLE: &str = "Whose the cells of the K/V pool were, step by step";
const HOW_TO_READ: &str = "A cell has the colour of the conversation that owns it, and stripes when several do. White cells \
     are free.";
const LETTER: &str = "font-size=\"10.5\" font-weight=\"bold\" fill=\"#fff\" stroke=\"#333\" stroke-width=\"2.2\" \
     paint-order=\"stroke\"";
/// Letters need that much height, and width for each.
const LETTER_HEIGHT: f32 = 11.0;
const LETTER_WIDTH: f32 = 8.5;

pub(crate) fn draw(report: &PoolReport) -> String {
    let owners = &report.record.owners;
    let kinds = owners.steps.iter().map(|step| step.kind).collect();
    let mut frame = Frame::new(kinds, &owners.events);
    frame.svg.hatch("rejected", "#fbe3e8", "#d8315b");
    let shared = shared(owners);
    for owner in &shared {
        let colours: Vec<&str> = owner.talks().map(|talk| COLOURS[talk]).collect();
        frame.svg.stripes(&owner.letters(), &colours);
    }
    let about = format!(
        "The “{}” model of the generate example. S: the system prompt; A, B, C: conversations. Each column is one step.",
        report.name
    );
    let mut y = frame.head(TITLE, &about, HOW_TO_READ);
    for (index, panel) in owners.panels.iter().enumerate() {
        let top = frame.open(y, &name(panel, owners.panels.len()));
        cells(&mut frame, top, owners, index);
        y = frame.close(top, panel.info.rows);
        letters(&mut frame, top, owners, index);
    }
    frame.steps(y);
    let bottom = legend(&mut frame.svg, y + 66.0, &shared);
    frame.finish(TITLE, bottom)
}

/// The ways in which cells were shared.
fn shared(owners: &Owners) -> Vec<Owner> {
    let cells = owners.steps.iter().flat_map(|step| &step.cells).flatten();
    let mut shared: Vec<Owner> = cells.copied().filter(|owner| owner.talks().count() > 1).collect();
    shared.sort_unstable();
    shared.dedup();
    shared
}

fn fill(owner: Owner) -> String {
    let mut talks = owner.talks();
    match (owner.is_wrong(), talks.next(), talks.next()) {
        (true, ..) | (_, None, _) => REJECTED.to_owned(),
        (_, Some(_), Some(_)) => format!("fill=\"url(#{})\"", owner.letters()),
        (_, Some(talk), None) => format!("fill=\"{}\"", COLOURS[talk]),
    }
}

/// Everything that is drawn alike goes into one path; a cell that stays the same is one box.
fn cells(frame: &mut Frame<'_>, top: f32, owners: &Owners, panel: usize) {
    let rows = owners.panels[panel].info.rows as usize;
    let height = PANEL / rows as f32;
    let mut alike = BTreeMap::<Owner, Boxes>::new();
    for row in 0..rows {
        let of = |step: usize| owners.steps[step].cells[panel][row];
        let mut from = 0;
        for to in 1..=owners.steps.len() {
            if to == owners.steps.len() || of(to) != of(from) {
                let (x, width) = (frame.x(from), (to - from) as f32 * frame.step);
                if !of(from).is_free() {
                    alike.entry(of(from)).or_default().add(x, top + row as f32 * height, width, height);
                }
                from = to;
            }
        }
    }
    for (owner, boxes) in &alike {
        frame.svg.boxes(boxes, &format!("{} {CRISP}", fill(*owner)));
    }
    let mut written = Boxes::default();
    for (index, step) in owners.steps.iter().enumerate() {
        for (row, len) in runs(&step.written[panel]) {
            written.add(frame.x(index), top + row as f32 * height, frame.step, len as f32 * height);
        }
    }
    frame.svg.boxes(&written, OUTLINE);
}

/// Consecutive cells, as first cell and count.
fn runs(cells: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted = cells.to_vec();
    sorted.sort_unstable();
    let mut runs = Vec::<(u32, u32)>::new();
    for cell in sorted {
        match runs.last_mut() {
            Some((first, len)) if *first + *len == cell => *len += 1,
            _ => runs.push((cell, 1)),
        }
    }
    runs
}

/// Writes into each block of cells whose it is, in the middle of each part of the story.
fn letters(frame: &mut Frame<'_>, top: f32, owners: &Owners, panel: usize) {
    for (start, end, _) in frame.parts() {
        let cells = &owners.steps[start.midpoint(end)].cells[panel];
        let height = PANEL / cells.len() as f32;
        let (x, width) = (f32::midpoint(frame.x(start), frame.x(end)), frame.x(end) - frame.x(start));
        let mut from = 0;
        for block in cells.chunk_by(|a, b| a == b) {
            let (owner, text) = (block[0], block[0].letters());
            let room =
                block.len() as f32 * height >= LETTER_HEIGHT && text.len() as f32 * LETTER_WIDTH <= width;
            if room && !owner.is_free() && !owner.is_wrong() {
                let y = top + (from as f32 + block.len() as f32 / 2.0) * height;
                frame.svg.text(x, y + 4.0, Anchor::Middle, LETTER, &text);
            }
            from += block.len();
        }
    }
}

/// Answers where it ends.
fn legend(svg: &mut Svg, top: f32, shared: &[Owner]) -> f32 {
    const COLUMN: f32 = 225.0;
    const LINE: f32 = 22.0;
    let mut entries = Vec::new();
    for (talk, letter) in LETTERS.iter().enumerate() {
        let owner = if talk == 0 { "system prompt alone".into() } else { format!("conversation {letter}") };
        entries.push((format!("fill=\"{}\"", COLOURS[talk]), owner));
    }
    for owner in shared {
        let letters: Vec<String> = owner.letters().chars().map(String::from).collect();
        entries.push((fill(*owner), format!("shared by {}", letters.join(", "))));
    }
    entries.push((REJECTED.to_owned(), "draft, wrong: released".into()));
    entries.push((OUTLINE.to_owned(), "written in this step".into()));
    for (kind, text) in [
        (Kind::Prefill, "step that reads text"),
        (Kind::Decode, "one token each"),
        (Kind::Draft, "trees of drafts"),
    ] {
        entries.push((format!("fill=\"{}\"", legend::colour(kind)), text.into()));
    }
    let place = |index: usize| (LEFT + (index % 4) as f32 * COLUMN, top + (index / 4) as f32 * LINE);
    for (index, (style, text)) in entries.iter().enumerate() {
        let (x, y) = place(index);
        svg.rect(x, y - 10.0, 22.0, 12.0, style);
        svg.text(x + 30.0, y, Anchor::Start, "", text);
    }
    let (x, y) = place(entries.len());
    svg.line((x, y - 4.0), (x + 22.0, y - 4.0), REWIND_LINE);
    svg.text(x + 30.0, y, Anchor::Start, "", "rows changed between steps");
    y + LINE
}

fn name(panel: &OwnerPanel, panels: usize) -> String {
    let rows = panel.info.rows;
    match (panels, panel.info.layer.kind) {
        (1, _) => format!("One pool of {rows} cells for all layers"),
        (_, LAYER_RING) => format!(
            "Pool of the sliding layers, {rows} cells: what is {} positions back is let go of",
            panel.info.layer.window
        ),
        _ => format!("Pool of the full layer, {rows} cells"),
    }
}
