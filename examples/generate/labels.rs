//! Labels over a plot, in as many rows as it takes that none hides another.

use crate::svg::{Anchor, Svg};

/// Width of a letter. Fonts differ: this is more than most need, at sizes of 11 and 12.
const LETTER: f32 = 6.4;
const BOLD_LETTER: f32 = 7.4;

pub(crate) struct Label {
    text: String,
    left: f32,
    right: f32,
    anchor: Anchor,
    /// Where a line goes from the label down to the plot, if one does.
    pub(crate) stem: Option<f32>,
}

impl Label {
    /// In bold over `left..right`, in the middle if there is room, else from the left on, or up to the right if
    /// it would go beyond `end`.
    pub(crate) fn over(left: f32, right: f32, end: f32, text: &str) -> Self {
        let width = text.len() as f32 * BOLD_LETTER;
        let (left, anchor, stem) = if width <= right - left {
            (f32::midpoint(left, right) - width / 2.0, Anchor::Middle, None)
        } else if left + width <= end {
            (left, Anchor::Start, Some(left))
        } else {
            (right - width, Anchor::End, Some(right))
        };
        Self { text: text.to_owned(), left, right: left + width, anchor, stem }
    }

    /// Beside a line at `x`: right of it, unless that would go beyond `end`.
    pub(crate) fn beside(x: f32, end: f32, text: String) -> Self {
        const GAP: f32 = 5.0;
        let width = text.len() as f32 * LETTER;
        let fits = x + GAP + width < end;
        let left = if fits { x + GAP } else { x - GAP - width };
        let anchor = if fits { Anchor::Start } else { Anchor::End };
        Self { text, left, right: left + width, anchor, stem: Some(x) }
    }

    pub(crate) fn draw(&self, svg: &mut Svg, y: f32, style: &str) {
        let x = match self.anchor {
            Anchor::Start => self.left,
            Anchor::Middle => f32::midpoint(self.left, self.right),
            Anchor::End => self.right,
        };
        svg.text(x, y, self.anchor, style, &self.text);
    }

    /// Whether something that stands at `x` would cut through the text.
    fn covers(&self, x: Option<f32>) -> bool {
        x.is_some_and(|x| self.left < x && x < self.right)
    }

    /// Whether `self` in `row` and `other` in `other_row` spoil one another.
    fn clashes(&self, row: i32, other: &Self, other_row: i32) -> bool {
        let overlap = self.left < other.right && other.left < self.right;
        row == other_row && overlap
            || row <= other_row && self.covers(other.stem)
            || other_row <= row && other.covers(self.stem)
    }
}

/// The row of each label, counted upwards from the plot. `labels` come from left to right.
pub(crate) fn rows(labels: &[Label]) -> Vec<u32> {
    let mut placed = Vec::<(&Label, i32)>::new();
    // From the right: most texts begin at their line, so the one before goes above.
    for label in labels.iter().rev() {
        let free =
            |row: &i32| placed.iter().all(|(other, other_row)| !label.clashes(*row, other, *other_row));
        let row = (0..).take(labels.len() + 1).flat_map(|row| [row, -row]).find(free).unwrap_or_default();
        placed.push((label, row));
    }
    let lowest = placed.iter().map(|(_, row)| *row).min().unwrap_or(0);
    placed.iter().rev().map(|(_, row)| row.abs_diff(lowest)).collect()
}
