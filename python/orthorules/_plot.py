"""Pictures of a model. Only this file needs matplotlib."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ._look import INTERCEPT, number, signed
from ._why import chance, one_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UP, DOWN, CALM, INK = "#2a9d64", "#c8553d", "#4a6fa5", "#444444"


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def path(model: Any, ax: Axes | None = None) -> Axes:
    """Risk against complexity."""
    frame = model.path_
    ax = _axes(ax, 6.4, 4.0)
    groups = [(None, frame)] if "class" not in frame else list(frame.groupby("class", sort=False))
    for label, part in groups:
        name = "training" if label is None else str(label)
        line = ax.plot(part["complexity"], part["train_risk"], marker="o", ms=3.5, lw=1.4, label=name)
        colour = line[0].get_color() if label is not None else CALM
        line[0].set_color(colour)
        known = part[part["cv_risk"].notna()]
        if len(known):
            ax.errorbar(
                known["complexity"],
                known["cv_risk"],
                yerr=known["cv_se"],
                color=DOWN,
                marker="s",
                ms=3.5,
                lw=1.4,
                elinewidth=0.8,
                capsize=2,
                label="cross-validation ± 1 standard error",
            )
        chosen = part[part["chosen"]].iloc[-1]
        risk = chosen["cv_risk"] if np.isfinite(chosen["cv_risk"]) else chosen["train_risk"]
        ax.plot(chosen["complexity"], risk, marker="o", ms=11, mfc="none", mec=INK if label is None else colour, mew=1.6)
        if label is None:
            rules = int(chosen["rules"])
            ax.axvline(chosen["complexity"], color=INK, lw=0.8, ls=":")
            ax.plot([], [], marker="o", ms=9, mfc="none", mec=INK, ls="", label=f"chosen: {rules} rules")
    ax.set(xlabel="complexity (rules + conditions)", ylabel=f"mean {model._document['loss']} loss")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax


def rules(model: Any, ax: Axes | None = None) -> Axes:
    """Weights and coverage."""
    frame = model.rules_
    if "class" in frame:
        labels = [f"{c}: {r}" for c, r in zip(frame["class"], frame["rule"], strict=True)]
    else:
        labels = list(frame["rule"])
    weights = frame["weight"].to_numpy(dtype=float)
    ax = _axes(ax, 7.2, 1.0 + 0.42 * max(len(frame), 1))
    places = np.arange(len(frame))
    ax.barh(places, weights, height=0.62, color=[UP if w >= 0 else DOWN for w in weights], alpha=0.85)
    ends = weights.copy()
    if "lower" in frame:
        low, high = frame["lower"].to_numpy(dtype=float), frame["upper"].to_numpy(dtype=float)
        ax.hlines(places, low, high, color=INK, lw=1.6)
        ends = np.where(weights >= 0, np.maximum(ends, high), np.minimum(ends, low))
    span = float(np.ptp(np.append(ends, 0.0))) or 1.0
    for place, (weight, end, covered) in enumerate(zip(weights, ends, frame["coverage"], strict=True)):
        share = "" if covered is None or not np.isfinite(covered) else f"{signed(weight)}   {100 * covered:.0f}% of rows"
        gap = 0.012 * span if weight >= 0 else -0.012 * span
        side = "left" if weight >= 0 else "right"
        ax.text(end + gap, place, share or signed(weight), va="center", ha=side, fontsize=8.5, color=INK)
    ax.axvline(0, color=INK, lw=0.8)
    ax.set_yticks(places, ["\n".join(textwrap.wrap(text, 44)) for text in labels], fontsize=9)
    ax.invert_yaxis()
    # Room for the words beside the bars.
    low, high = min(0.0, *ends, 0.0), max(0.0, *ends, 0.0)
    ax.set_xlim(low - (0.34 * span if low < 0 else 0.02 * span), high + (0.34 * span if high > 0 else 0.02 * span))
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(_unit(model))
    return ax


def contributions(model: Any, row: Any, ax: Axes | None = None) -> Axes:
    """A waterfall from the intercept to the score."""
    frame = one_row(model, row)
    if "class" in frame:
        best = frame.groupby("class", sort=False)["contribution"].sum().idxmax()
        frame = frame[frame["class"] == best]
    frame = frame[frame["fired"]]
    rest = frame[frame["rule"] != INTERCEPT]
    rest = rest.loc[rest["contribution"].abs().sort_values(ascending=False, kind="stable").index]
    values = rest["contribution"].to_numpy(dtype=float)
    base = float(frame.loc[frame["rule"] == INTERCEPT, "contribution"].iloc[0])
    ends = base + np.cumsum(values)
    starts = ends - values
    score = float(ends[-1]) if len(ends) else base
    ax = _axes(ax, 7.2, 1.4 + 0.42 * (len(rest) + 2))
    span = float(np.ptp(np.concatenate([[base, score], starts, ends]))) or 1.0
    ax.barh(1 + np.arange(len(rest)), values, left=starts, height=0.62, color=[UP if v >= 0 else DOWN for v in values])
    for place, (start, end, value) in enumerate(zip(starts, ends, values, strict=True), 1):
        ax.text(max(start, end) + 0.012 * span, place, signed(value), va="center", fontsize=8.5, color=INK)
        ax.plot([end, end], [place - 0.31, place + 1.31], color=INK, lw=0.7, ls=":")
    for place, x in ((0, base), (len(rest) + 1, score)):
        ax.plot(x, place, marker="D", color=CALM, ms=7)
        ax.text(x + 0.025 * span, place, number(x), va="center", fontsize=9, color=INK)
    if len(rest):
        ax.plot([base, base], [0, 1.31], color=INK, lw=0.7, ls=":")
    labels = [INTERCEPT, *rest["rule"], _outcome(model, score, frame)]
    ax.set_yticks(range(len(rest) + 2), ["\n".join(textwrap.wrap(text, 44)) for text in labels], fontsize=9)
    ax.invert_yaxis()
    ax.margins(x=0.12)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(_unit(model))
    return ax


def _unit(model: Any) -> str:
    document = model._document
    if document["task"] == "regression":
        return f"added to {document['target']}"
    if document["task"] == "poisson":
        return f"added to the logarithm of {document['target']}"
    if document.get("link") == "identity":
        return "added to the probability of the class"
    if "one_vs_rest" in document:
        return "added to the log-odds of the class against the rest"
    return f"added to the log-odds of {document['target']} = {document['classes'][-1]}"


def _outcome(model: Any, score: float, frame: Any) -> str:
    document = model._document
    if document["task"] == "regression":
        return f"predicted {document['target']}"
    if document["task"] == "poisson":
        return f"rate {number(np.exp(score))}"
    who = frame["class"].iloc[0] if "class" in frame else document["classes"][-1]
    return f"probability of {who} {number(chance(document, score), 3)}"
