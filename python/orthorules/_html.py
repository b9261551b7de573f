"""A fitted model in a notebook: scikit-learn's box, and the rules as a table."""

from __future__ import annotations

from html import escape
from typing import Any

from . import _native
from ._colours import DOWN, UP
from ._look import INTERCEPT, share, signed

_STYLE = (
    "<style>.orthorules{font:13px/1.5 system-ui,sans-serif;margin:.4em 0;max-width:60em}"
    ".orthorules table{border-collapse:collapse;margin:.4em 0}"
    ".orthorules th{font-weight:600;text-align:left;padding:.15em .9em;border-bottom:1px solid currentColor}"
    ".orthorules td{text-align:left;padding:.15em .9em;border-bottom:1px solid rgba(128,128,128,.25)}"
    ".orthorules td.n,.orthorules th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".orthorules .bar{display:inline-block;height:.75em;border-radius:2px;vertical-align:middle}"
    ".orthorules .half{width:4.2em;padding:.15em 0}.orthorules .left{text-align:right}"
    ".orthorules .note{opacity:.7}</style>"
)


class HtmlMixin:
    """The representation of a fitted model."""

    def _repr_html_inner(self) -> str:
        box: str = super()._repr_html_inner()  # type: ignore[misc]
        return box + rules_table(self) if hasattr(self, "_model") else box

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle and hasattr(self, "_model"):
            bundle["text/html"] += rules_table(self)
        return bundle


def rules_table(model: Any) -> str:
    """The rules of a fitted model as an HTML table."""
    native: _native.Model = model._model
    rows = native.rows
    parts: list[_native.Part] = model._parts()
    text = [_STYLE, '<div class="orthorules">']
    if native.shared:
        text.append(_shared_table(parts, rows))
        parts = []
    for part in parts:
        rules, size = part.rules, part.size
        title = part.counted if part.label is None else f"{escape(part.label)} against the rest: {part.counted}"
        text.append(f"<div><b>{title}</b>, complexity {size.complexity}</div>")
        text.append('<table><tr><th class="n">weight</th><th></th><th></th><th>rule</th><th class="n">rows</th></tr>')
        largest = max((abs(w) for w in size.weights), default=1.0) or 1.0
        for k, weight in zip(size.members, size.weights, strict=True):
            covered = rules[k].covered
            part_of_rows = f" · {share(covered / rows)}" if rows else ""
            text.append(_line(weight, largest, rules[k].told, f"{covered:,}{part_of_rows}"))
        text.append(_line(size.intercept, None, INTERCEPT, ""))
        text.append("</table>")
    text.append(f'<div class="note">{escape(native.meaning)}</div></div>')
    return "".join(text)


def _shared_table(parts: list[_native.Part], rows: int | None) -> str:
    """Rules that several classes share, with a column of weights for each class."""
    first = parts[0]
    sizes = [part.size for part in parts]
    heads = "".join(f'<th class="n">{escape(str(part.label))}</th>' for part in parts)

    def line(weights: list[float], rule: str, covered: str) -> str:
        cells = "".join(f'<td class="n">{signed(weight)}</td>' for weight in weights)
        return f'<tr>{cells}<td>{escape(rule)}</td><td class="n">{escape(covered)}</td></tr>'

    lines = []
    rules = first.rules
    for place, k in enumerate(first.size.members):
        covered = rules[k].covered
        part_of_rows = f" · {share(covered / rows)}" if rows else ""
        lines.append(line([size.weights[place] for size in sizes], rules[k].told, f"{covered:,}{part_of_rows}"))
    lines.append(line([size.intercept for size in sizes], INTERCEPT, ""))
    title = f"<div><b>{first.counted}</b>, complexity {first.size.complexity}, with a weight for each class</div>"
    return f'{title}<table><tr>{heads}<th>rule</th><th class="n">rows</th></tr>{"".join(lines)}</table>'


def _line(weight: float, largest: float | None, rule: str, rows: str) -> str:
    width = 0.0 if largest is None else 4 * abs(weight) / largest
    colour = DOWN if weight < 0 else UP
    bar = f'<span class="bar" style="width:{width:.2f}em;background:{colour}"></span>' if width else ""
    left, right = (bar, "") if weight < 0 else ("", bar)
    return (
        f'<tr><td class="n">{signed(weight)}</td><td class="half left">{left}</td><td class="half">{right}</td>'
        f'<td>{escape(rule)}</td><td class="n">{escape(rows)}</td></tr>'
    )


__all__ = ["HtmlMixin", "rules_table"]
