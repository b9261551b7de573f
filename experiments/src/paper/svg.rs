//! A few marks on axes, as SVG.

use std::fmt::Write;

/// Text as it may stand in HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A plot in the making. Coordinates are those of the data; a logarithmic axis takes logarithms before it comes here.
pub(crate) struct Plot {
    width: f64,
    height: f64,
    x: (f64, f64),
    y: (f64, f64),
    bottom: f64,
    body: String,
}

const LEFT: f64 = 56.0;
const TOP: f64 = 44.0;
const RIGHT: f64 = 12.0;

impl Plot {
    pub(crate) fn new(title: &str, (width, height): (f64, f64), x: (f64, f64), y: (f64, f64)) -> Self {
        let widen = |(a, b): (f64, f64)| if b > a { (a, b) } else { (a - 0.5, a + 0.5) };
        let mut plot = Self { width, height, x: widen(x), y: widen(y), bottom: 40.0, body: String::new() };
        plot.label(width / 2.0, 18.0, "middle", &format!("<tspan font-weight=\"600\">{}</tspan>", escape(title)));
        plot
    }

    /// Room for long names below the axis.
    pub(crate) fn with_bottom(mut self, bottom: f64) -> Self {
        self.bottom = bottom;
        self
    }

    fn px(&self, x: f64) -> f64 {
        LEFT + (x - self.x.0) / (self.x.1 - self.x.0) * (self.width - LEFT - RIGHT)
    }

    fn py(&self, y: f64) -> f64 {
        let y = y.clamp(self.y.0, self.y.1);
        TOP + (self.y.1 - y) / (self.y.1 - self.y.0) * (self.height - TOP - self.bottom)
    }

    fn label(&mut self, x: f64, y: f64, anchor: &str, markup: &str) {
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{markup}</text>");
    }

    pub(crate) fn y_axis(&mut self, ticks: &[(f64, String)], name: &str) {
        for (at, text) in ticks {
            let (y, right) = (self.py(*at), self.width - RIGHT);
            let _ = writeln!(
                self.body,
                "<line x1=\"{LEFT}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
            );
            self.label(LEFT - 5.0, y + 4.0, "end", &escape(text));
        }
        let middle = (TOP + self.height - self.bottom) / 2.0;
        let _ = writeln!(
            self.body,
            "<text transform=\"translate(12 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(name)
        );
    }

    pub(crate) fn x_axis(&mut self, ticks: &[(f64, String)], name: &str) {
        let (base, right) = (self.height - self.bottom, self.width - RIGHT);
        let _ = writeln!(
            self.body,
            "<line x1=\"{LEFT}\" x2=\"{right:.1}\" y1=\"{base:.1}\" y2=\"{base:.1}\" stroke=\"#888\"/>"
        );
        for (at, text) in ticks {
            let x = self.px(*at);
            let end = base + 4.0;
            let _ = writeln!(
                self.body,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{base:.1}\" y2=\"{end:.1}\" stroke=\"#888\"/>"
            );
            self.label(x, base + 16.0, "middle", &escape(text));
        }
        self.label(self.width / 2.0, self.height - 6.0, "middle", &escape(name));
    }

    /// Text beside a point, `right` and `down` of it.
    pub(crate) fn note(&mut self, (x, y): (f64, f64), right: f64, down: f64, anchor: &str, text: &str) {
        let (px, py) = (self.px(x) + right, self.py(y) + down);
        self.label(px, py, anchor, &escape(text));
    }

    /// Names below the axis, written upwards, at 0, 1, 2, …
    pub(crate) fn x_names<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let base = self.height - self.bottom + 8.0;
        for (i, name) in names.enumerate() {
            let x = self.px(i as f64) + 4.0;
            let _ = writeln!(
                self.body,
                "<text transform=\"translate({x:.1} {base:.1}) rotate(-90)\" text-anchor=\"end\">{}</text>",
                escape(name)
            );
        }
    }

    pub(crate) fn line(&mut self, points: &[(f64, f64)], color: &str, width: f64) {
        let text: Vec<String> = points.iter().map(|&(x, y)| format!("{:.1},{:.1}", self.px(x), self.py(y))).collect();
        let _ = writeln!(
            self.body,
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" points=\"{}\"/>",
            text.join(" ")
        );
    }

    /// A line that stays at each value until the next.
    pub(crate) fn steps(&mut self, points: &[(f64, f64)], color: &str, width: f64) {
        let mut corners: Vec<(f64, f64)> = Vec::new();
        for &(x, y) in points {
            corners.extend(corners.last().map(|&(_, before)| (x, before)));
            corners.push((x, y));
        }
        self.line(&corners, color, width);
    }

    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, color: &str, title: &str) {
        let (px, py) = (self.px(x), self.py(y));
        let _ = writeln!(
            self.body,
            "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{radius}\" fill=\"{color}\" \
             fill-opacity=\".75\"><title>{}</title></circle>",
            escape(title)
        );
    }

    /// A bar from `low` to `high`, `half` wide to each side.
    pub(crate) fn bar(&mut self, x: f64, half: f64, (low, high): (f64, f64), color: &str) {
        let (left, right, top, base) = (self.px(x - half), self.px(x + half), self.py(high), self.py(low));
        let (width, height) = (right - left, (base - top).max(0.5));
        let _ = writeln!(
            self.body,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\" \
             fill-opacity=\".6\"/>"
        );
    }

    /// Names of colours, one beside the other below the title.
    pub(crate) fn legend<'n>(&mut self, names: impl Iterator<Item = (&'n str, &'n str)>) {
        let mut x = LEFT;
        for (name, color) in names {
            let _ = writeln!(self.body, "<rect x=\"{x:.1}\" y=\"24\" width=\"9\" height=\"9\" fill=\"{color}\"/>");
            self.label(x + 12.0, 32.0, "start", &escape(name));
            x += 20.0 + 6.8 * name.len() as f64;
        }
    }

    pub(crate) fn finish(self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             font-family=\"system-ui, sans-serif\" font-size=\"11\"><rect width=\"{w}\" height=\"{h}\" \
             fill=\"#fff\"/>\n{}</svg>\n",
            self.body,
            w = self.width,
            h = self.height
        )
    }
}

/// Several plots of the same size side by side, in rows of `across`.
pub(crate) fn panels(plots: &[String], (width, height): (f64, f64), across: usize) -> String {
    let rows = plots.len().div_ceil(across);
    let (w, h) = (width * across.min(plots.len()) as f64, height * rows as f64);
    let mut svg =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\">\n");
    for (i, plot) in plots.iter().enumerate() {
        let (x, y) = (width * (i % across) as f64, height * (i / across) as f64);
        let _ = write!(svg, "<g transform=\"translate({x} {y})\">{plot}</g>");
    }
    svg + "</svg>\n"
}
