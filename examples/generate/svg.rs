//! The little of SVG that the picture needs.

use std::fmt::{Display, Write};

#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing that grows at its end: what comes later lies on top.
pub(crate) struct Svg {
    body: String,
    width: f32,
    height: f32,
}

/// A coordinate, with as many digits as one can see.
struct Short(f32);

impl Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Rectangles drawn alike, as one path.
#[derive(Default)]
pub(crate) struct Boxes(String);

impl Boxes {
    pub(crate) fn add(&mut self, x: f32, y: f32, width: f32, height: f32) {
        let [x, y, w, h] = [x, y, width, height].map(Short);
        let back = Short(-width);
        // Writing to a string does not fail.
        let _ = write!(self.0, "M{x} {y}h{w}v{h}h{back}z");
    }
}

impl Svg {
    pub(crate) const fn new(width: f32, height: f32) -> Self {
        Self { body: String::new(), width, height }
    }

    /// `style` is made of attributes, as in all that follows.
    pub(crate) fn boxes(&mut self, boxes: &Boxes, style: &str) {
        if !boxes.0.is_empty() {
            let _ = writeln!(self.body, "<path d=\"{}\" {style}/>", boxes.0);
        }
    }

    pub(crate) fn rect(&mut self, x: f32, y: f32, width: f32, height: f32, style: &str) {
        let [x, y, w, h] = [x, y, width, height].map(Short);
        let _ = writeln!(self.body, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {style}/>");
    }

    pub(crate) fn line(&mut self, from: (f32, f32), to: (f32, f32), style: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(Short);
        let _ = writeln!(self.body, "<path d=\"M{x1} {y1}L{x2} {y2}\" {style}/>");
    }

    pub(crate) fn text(&mut self, x: f32, y: f32, anchor: Anchor, style: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let [x, y] = [x, y].map(Short);
        let _ =
            writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" {style}>{text}</text>");
    }

    /// Text that reads upwards.
    pub(crate) fn upright_text(&mut self, x: f32, y: f32, style: &str, text: &str) {
        let turn = format!("transform=\"rotate(-90 {} {})\" {style}", Short(x), Short(y));
        self.text(x, y, Anchor::Middle, &turn, text);
    }

    /// A small triangle that stands on its point.
    pub(crate) fn triangle(&mut self, x: f32, y: f32, style: &str) {
        let [x, y] = [x - 4.0, y - 6.0].map(Short);
        let _ = writeln!(self.body, "<path d=\"M{x} {y}h8l-4 6z\" {style}/>");
    }

    /// A fill of slanted lines, to be used as `url(#name)`.
    pub(crate) fn hatch(&mut self, name: &str, ground: &str, line: &str) {
        let _ = writeln!(
            self.body,
            "<pattern id=\"{name}\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect width=\"4\" height=\"4\" fill=\"{ground}\"/>\
             <rect width=\"1.6\" height=\"4\" fill=\"{line}\"/></pattern>"
        );
    }

    pub(crate) fn finish(self, title: &str) -> String {
        let (width, height) = (Short(self.width), Short(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" \
             fill=\"#222\">\n<title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// From dark violet over green to yellow in steps that look even, as the viridis scale does. `at` is from 0
/// to 1.
pub(crate) fn gradient(at: f32) -> String {
    const STOPS: [[f32; 3]; 10] = [
        [68.0, 1.0, 84.0],
        [72.0, 40.0, 120.0],
        [62.0, 73.0, 137.0],
        [49.0, 104.0, 142.0],
        [38.0, 130.0, 142.0],
        [31.0, 158.0, 137.0],
        [53.0, 183.0, 121.0],
        [110.0, 206.0, 88.0],
        [181.0, 222.0, 43.0],
        [253.0, 231.0, 37.0],
    ];
    let at = at.clamp(0.0, 1.0) * 8.999;
    let (stop, part) = (at as usize, at.fract());
    let mix = |channel: usize| {
        let [a, b] = [STOPS[stop], STOPS[stop + 1]].map(|colour| colour[channel]);
        (a + (b - a) * part) as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}
