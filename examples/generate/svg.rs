//! The little of SVG that the picture needs.

use std::fmt::{Display, Write};

/// Colours of [`gradient`].
pub(crate) const SHADES: u32 = 72;

#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing that grows at its end: what comes later lies on top.
#[derive(Default)]
pub(crate) struct Svg {
    body: String,
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

    /// A fill of slanted stripes in these colours, to be used as `url(#name)`.
    pub(crate) fn stripes(&mut self, name: &str, colours: &[&str]) {
        const WIDTH: usize = 5;
        let size = WIDTH * colours.len();
        let _ = write!(
            self.body,
            "<pattern id=\"{name}\" width=\"{size}\" height=\"{size}\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\">"
        );
        for (index, colour) in colours.iter().enumerate() {
            let x = index * WIDTH;
            let _ =
                write!(self.body, "<rect x=\"{x}\" width=\"{WIDTH}\" height=\"{size}\" fill=\"{colour}\"/>");
        }
        let _ = writeln!(self.body, "</pattern>");
    }

    /// The whole picture, on white: it must be readable on a dark page too.
    pub(crate) fn finish(self, title: &str, width: f32, height: f32) -> String {
        let (width, height) = (Short(width), Short(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" \
             fill=\"#222\">\n<title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// From dark violet over green to yellow in steps that look even, as the viridis scale does. `shade` is less
/// than [`SHADES`].
pub(crate) fn gradient(shade: u32) -> String {
    const STOPS: [[u32; 3]; 10] = [
        [68, 1, 84],
        [72, 40, 120],
        [62, 73, 137],
        [49, 104, 142],
        [38, 130, 142],
        [31, 158, 137],
        [53, 183, 121],
        [110, 206, 88],
        [181, 222, 43],
        [253, 231, 37],
    ];
    const BETWEEN: u32 = SHADES / (STOPS.len() as u32 - 1);
    let (stop, part) = ((shade / BETWEEN) as usize, shade % BETWEEN);
    let mix = |channel: usize| {
        let [a, b] = [STOPS[stop], STOPS[stop + 1]].map(|colour| colour[channel]);
        (a * (BETWEEN - part) + b * part) / BETWEEN
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}
