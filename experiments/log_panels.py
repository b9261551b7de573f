"""Curves on logarithmic axes, drawn without a library."""

import pathlib

import numpy as np

WIDTH, HEIGHT = 300, 240


def svg(path: pathlib.Path, panels: dict[str, dict[str, list[tuple[float, float]]]]) -> None:
    """Panels of curves, both axes logarithmic."""
    colours = ["#1b6ca8", "#c8553d", "#588b8b", "#8d6a9f", "#d4a017", "#666666"]
    parts = []
    for number, (title, lines) in enumerate(panels.items()):
        points = [p for line in lines.values() for p in line]
        low, high = np.log10(np.min(points, axis=0)), np.log10(np.max(points, axis=0))
        span = np.maximum(high - low, 1e-9)
        left, top = number * WIDTH, 0

        def place(point):
            x, y = (np.log10(point) - low) / span
            return left + 50 + x * (WIDTH - 70), top + HEIGHT - 40 - y * (HEIGHT - 80)

        parts.append(f'<text x="{left + 50}" y="20" font-weight="bold">{title}</text>')
        for k, (name, line) in enumerate(lines.items()):
            path_points = " ".join("{:.1f},{:.1f}".format(*place(p)) for p in line)
            colour = colours[k % len(colours)]
            parts.append(f'<polyline points="{path_points}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += ['<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="{}"/>'.format(*place(p), colour) for p in line]
            # Cost grows, so the lower right is free.
            y = HEIGHT - 43 - 11 * (len(lines) - 1 - k)
            parts.append(f'<text x="{left + WIDTH - 20}" y="{y}" text-anchor="end" fill="{colour}">{name}</text>')
        for value, anchor in ((low[0], "start"), (high[0], "end")):
            x, _ = place((10 ** value, 10 ** low[1]))
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 22}" text-anchor="{anchor}">{10 ** value:,.0f}</text>')
        for value in (low[1], high[1]):
            _, y = place((10 ** low[0], 10 ** value))
            parts.append(f'<text x="{left + 45}" y="{y:.1f}" text-anchor="end">{10 ** value:.2g} s</text>')
    total = WIDTH * len(panels)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{HEIGHT}" viewBox="0 0 {total} {HEIGHT}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n",
        encoding="utf-8",
    )
