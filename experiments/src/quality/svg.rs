//! The picture of average curves: test risk against complexity.

use super::curve::LEVELS;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
/// Left, right, top and bottom margins; the labels of the lines stand at the right.
const MARGINS: [f64; 4] = [56.0, 170.0, 20.0, 48.0];
const COLOURS: [&str; 10] =
    ["#0b6e4f", "#c1121f", "#1d4e89", "#e08e0b", "#7b2d8b", "#3a86a8", "#8a5a44", "#6b705c", "#d6477b", "#222222"];

/// Where a complexity is drawn.
fn x(level: f64) -> f64 {
    let [left, right, ..] = MARGINS;
    left + (level - 1.0) / (LEVELS as f64 - 1.0) * (WIDTH - left - right)
}

/// Where a risk is drawn, if the axis ends at `floor`.
fn y(risk: f64, floor: f64) -> f64 {
    let [_, _, top, bottom] = MARGINS;
    top + (1.0 - risk) / (1.0 - floor) * (HEIGHT - top - bottom)
}

/// A line chart of relative risk by complexity 1..=50 for each named curve, the first drawn boldest.
pub(crate) fn chart(title: &str, curves: &[(String, Vec<f64>)]) -> String {
    let lowest = curves.iter().flat_map(|(_, c)| c).copied().fold(1.0f64, f64::min);
    let floor = (lowest * 10.0).floor() / 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<title>{title}</title>\n<rect width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    draw_axes(&mut svg, floor);
    draw_curves(&mut svg, curves, floor);
    svg.push_str("</svg>\n");
    svg
}

fn draw_axes(svg: &mut String, floor: f64) {
    let [left, right, _, bottom] = MARGINS;
    let mut tick = floor;
    while tick < 1.0 + 1e-9 {
        let at = y(tick, floor);
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444444\">{tick:.1}</text>",
            WIDTH - right,
            left - 8.0,
            at + 4.0
        );
        tick += 0.1;
    }
    for level in (10..=LEVELS).step_by(10) {
        let (at, base) = (x(level as f64), HEIGHT - bottom + 18.0);
        let _ =
            writeln!(svg, "<text x=\"{at:.1}\" y=\"{base:.1}\" text-anchor=\"middle\" fill=\"#444444\">{level}</text>");
    }
    let (middle, base) = (x(25.5), HEIGHT - 10.0);
    let _ = writeln!(
        svg,
        "<text x=\"{middle:.1}\" y=\"{base:.1}\" text-anchor=\"middle\" fill=\"#444444\">complexity: rules + \
         conditions</text>"
    );
    let centre = y(f64::midpoint(1.0, floor), floor);
    let _ = writeln!(
        svg,
        "<text x=\"14\" y=\"{centre:.1}\" text-anchor=\"middle\" fill=\"#444444\" \
         transform=\"rotate(-90 14 {centre:.1})\">test risk (constant model: 1)</text>"
    );
}

/// The curves, and their labels in the order of the lines' ends, pushed apart where they would overlap.
fn draw_curves(svg: &mut String, curves: &[(String, Vec<f64>)], floor: f64) {
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by(|&a, &b| curves[b].1[LEVELS - 1].total_cmp(&curves[a].1[LEVELS - 1]));
    let mut last = f64::NEG_INFINITY;
    for index in order {
        let (name, curve) = &curves[index];
        let colour = COLOURS[index % COLOURS.len()];
        let points: Vec<String> =
            curve.iter().enumerate().map(|(i, r)| format!("{:.1},{:.1}", x(i as f64 + 1.0), y(*r, floor))).collect();
        let width = if index == 0 { 3.5 } else { 1.8 };
        let weight = if index == 0 { "bold" } else { "normal" };
        last = y(curve[LEVELS - 1], floor).max(last + 15.0);
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\" font-weight=\"{weight}\">{name}</text>",
            points.join(" "),
            WIDTH - MARGINS[1] + 8.0,
            last + 4.0
        );
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_curve_is_drawn_and_named() {
        let curves = [("ours".to_owned(), vec![0.5; 50]), ("theirs".to_owned(), vec![0.7; 50])];
        let svg = super::chart("risk", &curves);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains(">ours<") && svg.contains(">theirs<") && svg.ends_with("</svg>\n"));
    }
}
