"""Pictures of a model. Only this file needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._colours import DOWN, UP
from ._look import INTERCEPT, number, signed
from ._why import chance, one_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CALM, INK = "#4a6fa5", "#444444"


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
        trained = part[part["train_risk"].notna()]
        name = "training" if label is None else str(label)
        colour = CALM if label is None else None
        if len(trained):
            line = ax.plot(trained["complexity"], trained["train_risk"], "o-", ms=3.5, lw=1.4, label=name, color=colour)
            colour = line[0].get_color()
        known = part[part["cv_risk"].notna()]
        if len(known):
            name = "cross-validation ± 1 standard error" + ("" if label is None else ", all classes")
            ax.errorbar(
                known["complexity"],
                known["cv_risk"],
                yerr=known["cv_se"],
                fmt="s-",
                color=DOWN,
                ms=3.5,
                lw=1.4,
                elinewidth=0.8,
                capsize=2,
                label=name,
            )
        for _, chosen in part[part["chosen"]].iterrows():
            risk = chosen["cv_risk"] if np.isfinite(chosen["cv_risk"]) else chosen["train_risk"]
            edge = INK if label is None or len(known) else colour
            ax.plot(chosen["complexity"], risk, "o", ms=11, mfc="none", mec=edge, mew=1.6)
            if label is None or len(known):
                ax.axvline(chosen["complexity"], color=INK, lw=0.8, ls=":")
                count = int(chosen["rules"])
                text = f"chosen: {count} rule{'' if count == 1 else 's'}" + ("" if label is None else " each")
                ax.plot([], [], "o", ms=9, mfc="none", mec=INK, label=text)
    ax.set(xlabel="complexity (rules + conditions)", ylabel=f"mean {model._model.loss} loss")
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
    shown = [_broken(text) for text in labels]
    ax = _axes(ax, 7.2, 1.0 + 0.3 * max(len(frame), 1) + 0.14 * sum(text.count("\n") for text in shown))
    places = np.arange(len(frame))
    ax.barh(places, weights, height=0.62, color=[UP if w >= 0 else DOWN for w in weights], alpha=0.85)
    if "lower" in frame:
        ax.hlines(places, frame["lower"], frame["upper"], color=INK, lw=1.6)
    # Numbers in a column of their own, where no bar is in the way.
    beside = [f"{signed(w):>7}{_share(c):>6}" for w, c in zip(weights, frame["coverage"], strict=True)]
    right = ax.secondary_yaxis("right")
    right.set_yticks([-0.8, *places], [f"{'weight':>7}{'rows':>6}", *beside], family="monospace", fontsize=8.5)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)
    ax.axvline(0, color=INK, lw=0.8)
    _name_rows(ax, shown, top=-1.1)
    ax.margins(x=0.06)
    ax.set_xlabel(f"added to {model._model.sum_of_weights}")
    return ax


def _share(part: float | None) -> str:
    """A part of the rows in per cent, without pretending that a few are none."""
    if part is None or not np.isfinite(part):
        return ""
    return "<1%" if 0 < part < 0.005 else f"{100 * part:.0f}%"


def _broken(text: str, width: int = 46) -> str:
    """A rule in lines that end between conditions."""
    lines: list[str] = []
    for condition in text.split(" & "):
        if lines and len(lines[-1]) + len(condition) + 3 <= width:
            lines[-1] += f" & {condition}"
        else:
            lines.append(condition)
    return " &\n".join(lines)


def _name_rows(ax: Axes, names: list[str], top: float = -0.6) -> None:
    """One row for each name, from the top."""
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_ylim(len(names) - 0.4, top)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


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
    _name_rows(ax, [_broken(text) for text in labels])
    low, high = min(base, score, *starts, *ends, base), max(base, score, *starts, *ends, base)
    # The words are to the right of what they name.
    ax.set_xlim(low - 0.06 * span, high + 0.16 * span)
    ax.set_xlabel(model._model.sum_of_weights.removeprefix("the "))
    return ax


def _outcome(model: Any, score: float, frame: Any) -> str:
    native = model._model
    if native.task == "regression":
        return f"predicted {native.target}"
    if native.task == "poisson":
        return f"rate {number(np.exp(score))}"
    who = frame["class"].iloc[0] if "class" in frame else native.classes[-1]
    return f"probability of {who} {number(chance(native, score), 3)}"
