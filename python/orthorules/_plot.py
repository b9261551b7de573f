"""Pictures of a model. Only this file needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._colours import DOWN, UP
from ._look import INTERCEPT, importance, number, share, signed
from ._why import chance, one_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CALM, INK, PALE = "#4a6fa5", "#444444", "#8a8a8a"
# Letters on a line of a rule, how many more there may be for long names, and lines of it.
WIDTH, WIDEST, LINES = 46, 72, 3
# Rules in one picture, if no more are asked for.
MOST = 60
# Where risks differ by more than this factor, their logarithms are drawn.
DECADES = 30.0
# A risk of so little per cent is none.
NOTHING = 0.01


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


# ---- sizes ----


def path(model: Any, ax: Axes | None = None) -> Axes:
    """Risk against complexity, in per cent of the constant model's."""
    frame = model.path_
    ax = _axes(ax, 6.8, 4.2)
    if "class" not in frame:
        _one_path(ax, frame, model, several=False)
    elif frame["cv_risk"].notna().any():
        _one_path(ax, frame[frame["cv_risk"].notna()], model, several=True)
    else:
        _class_paths(ax, frame)
    return ax


def _one_path(ax: Axes, frame: Any, model: Any, several: bool) -> None:
    """Training and cross-validation, and the size that was chosen, of one score or of `several` classes together."""
    loss = model._model.loss
    known = frame["cv_risk"].notna().to_numpy()
    constant = float(frame["cv_risk" if known.any() else "train_risk"].iloc[0])
    unit = 100 / constant if constant > 0 else 1.0
    complexity = frame["complexity"].to_numpy()
    train, cv, error = (unit * frame[name].to_numpy(dtype=float) for name in ("train_risk", "cv_risk", "cv_se"))
    if np.isfinite(train).any():
        ax.plot(complexity, train, "o-", ms=3.5, lw=1.4, color=CALM, label="training")
    if known.any():
        ax.fill_between(complexity, cv - error, cv + error, color=DOWN, alpha=0.18, lw=0, label="± 1 standard error")
        ax.plot(complexity, cv, "s-", ms=3.5, lw=1.4, color=DOWN, label="cross-validation")
    place = int(np.flatnonzero(frame["chosen"])[0])
    best = cv if known.any() else train
    ax.axvline(complexity[place], color=INK, lw=0.8, ls=":")
    largest = max(model._parts(), key=lambda part: part.size.rules)
    text = f"chosen: {largest.counted}{' a class' if several else ''}, complexity {int(complexity[place])}"
    ax.plot(complexity[place], best[place], "o", ms=11, mfc="none", mec=INK, mew=1.6, label=text)
    shown = [train, cv - np.nan_to_num(error), cv + np.nan_to_num(error)]
    _scale(ax, [values[np.isfinite(values)] for values in shown], place == 0)
    if constant > 0:
        _name_risks(ax, "risk of all classes" if several else "risk")
        _right_axis(ax, loss, unit)
    else:
        ax.set_ylabel(f"mean {loss} loss")
    ax.legend(frameon=False, fontsize=9)


def _class_paths(ax: Axes, frame: Any) -> None:
    """A line for each class against the rest, named at its end."""
    import matplotlib as mpl

    groups = list(frame.groupby("class", sort=False))
    many = len(groups) > 10
    colours = mpl.colormaps["turbo" if many else "tab10"](np.linspace(0.06, 0.94, len(groups)) if many else range(10))
    ends, lines = [], []
    for (label, part), colour in zip(groups, colours, strict=False):
        constant = float(part["train_risk"].iloc[0])
        risk = part["train_risk"].to_numpy() * (100 / constant if constant > 0 else 1.0)
        complexity = part["complexity"].to_numpy()
        ax.plot(complexity, risk, "-", lw=1.4, color=colour)
        place = int(np.flatnonzero(part["chosen"])[0])
        ax.plot(complexity[place], risk[place], "o", ms=8, mfc="white", mec=colour, mew=1.6)
        ends.append((float(complexity[-1]), float(risk[-1]), _cut(str(label), 24), colour))
        lines.append(risk)
    ax.plot([], [], "o", ms=8, mfc="white", mec=INK, mew=1.6, label="chosen size of a class")
    _scale(ax, lines, any(part["chosen"].iloc[0] for _, part in groups))
    _name_risks(ax, "training risk")
    ax.set_xlabel("complexity (rules + conditions) of a class against the rest")
    ax.legend(frameon=False, fontsize=9)
    _name_ends(ax, ends)


def _scale(ax: Axes, lines: list[NDArray[np.float64]], keeps_constant: bool) -> None:
    """Limits within which the sizes with rules can be told apart. The constant model, the first of each line, is left
    out where it would take most of the height."""
    rest = np.concatenate([line[1:] for line in lines])
    first = max((float(line[0]) for line in lines if len(line)), default=0.0)
    right = max(1.0, ax.get_xlim()[1])
    ax.set_xlim(0, right)
    if not len(rest) or not (top := float(rest.max())) > (bottom := float(rest.min())):
        return
    keeps_constant = keeps_constant or first <= top + (top - bottom)
    if keeps_constant:
        top = max(top, first)
    if top > DECADES * (least := max(bottom, NOTHING)):
        ax.set_yscale("log")
        ax.set_ylim(least / 1.3, top * 1.3)
    else:
        ax.set_ylim(max(0.0, bottom - 0.08 * (top - bottom)), top + 0.08 * (top - bottom))
    if not keeps_constant:
        ax.annotate("↑ constant model: 100 %", (0, 1), (4, 4), "axes fraction", "offset points", color=PALE, fontsize=9)


def _name_risks(ax: Axes, what: str) -> None:
    """Axes in per cent of the constant model's risk."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("complexity (rules + conditions)")
    ax.set_ylabel(f"{what}, % of the constant model's")
    ax.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
    _plain_ticks(ax.yaxis)


def _right_axis(ax: Axes, loss: str, unit: float) -> None:
    """The risk itself, of which one is `unit` per cent; of squared loss its root, which has the unit of the target."""
    if loss == "squared":
        there, back = (lambda r: np.sqrt(np.maximum(r, 0) / unit)), (lambda r: np.square(r) * unit)
    else:
        there, back = (lambda r: np.divide(r, unit)), (lambda r: np.multiply(r, unit))
    right = ax.secondary_yaxis("right", functions=(there, back))
    right.set_ylabel("root of the mean squared error" if loss == "squared" else f"mean {loss} loss")
    right.spines["right"].set_visible(False)
    _plain_ticks(right.yaxis)


def _name_ends(ax: Axes, ends: list[tuple[float, float, str, Any]]) -> None:
    """Names at the right of lines, moved apart where they would overlap."""
    low, high = ax.get_ylim()
    log = ax.get_yscale() == "log"
    height = [(np.log(y / low) / np.log(high / low)) if log else (y - low) / (high - low) for _, y, _, _ in ends]
    order = np.argsort(height)
    gap = 0.052
    places = np.array([height[i] for i in order])
    # From below, each at least one line above the one before it; then as far back as there is room.
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + gap)
    places -= max(0.0, places[-1] - 1.0)
    right = max(x for x, _, _, _ in ends)
    ax.set_xlim(0, right * 1.02 or 1)
    for i, place in zip(order, places, strict=True):
        x, y, text, colour = ends[i]
        ax.annotate(
            text,
            (x, y),
            (1.02, place),
            "data",
            "axes fraction",
            va="center",
            fontsize=8.5,
            color=colour,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6, "alpha": 0.6, "shrinkA": 0, "shrinkB": 1},
        )


# ---- rules ----


def rules(model: Any, ax: Axes | None = None, top: int | None = None) -> Axes:
    """Weights and coverage, the most important first; with several classes one group of rows for each."""
    frame = model._weights().assign(importance=importance(model))
    several = "class" in frame
    groups = [("", frame)]
    if several:
        groups = [(part.label, frame[frame["class"] == part.label]) for part in model._parts()]
    most = max(1, MOST // len(groups)) if top is None and len(frame) > MOST else top
    chosen = [(label, _important(part, most), len(part)) for label, part in groups]
    names: list[str] = []
    bold: list[int] = []
    places: list[int] = []
    for label, part, all_of_them in chosen:
        if several:
            bold.append(len(names))
            left_out = "" if len(part) == all_of_them else f"  ({len(part)} of {all_of_them} rules)"
            names.append(f"{_cut(str(label), 40)}{left_out}")
        places.extend(range(len(names), len(names) + len(part)))
        names.extend(part["rule"])
    width = WIDTH if ax is not None else _width(names)
    names = [_broken(name, width) for name in names]
    lines = max((1 + name.count("\n") for name in names), default=1)
    ax = _axes(ax, 7.6 + 0.08 * (width - WIDTH), 1.0 + (0.14 + 0.16 * lines) * max(len(names), 1))
    if len(frame):
        import pandas as pd

        _bars(ax, pd.concat([part for _, part, _ in chosen]), np.array(places, dtype=np.float64))
    ax.axvline(0, color=INK, lw=0.8)
    _name_rows(ax, names, top=-1.1)
    for place in bold:
        ax.get_yticklabels()[place].set(fontweight="bold")
        if place:
            ax.axhline(place - 0.5, color=PALE, lw=0.5, alpha=0.6)
    ax.margins(x=0.06)
    _plain_ticks(ax.xaxis)
    ax.set_xlabel(f"added to {model._model.sum_of_weights}")
    return ax


def _important(frame: Any, most: int | None) -> Any:
    """The most important rules first."""
    return frame.sort_values("importance", ascending=False, kind="stable").head(len(frame) if most is None else most)


def _bars(ax: Axes, frame: Any, places: NDArray[np.float64]) -> None:
    """A bar for each weight, its interval where there is one, and numbers at the right, where no bar is in the way."""
    weights = frame["weight"].to_numpy(dtype=float)
    ax.barh(places, weights, height=0.62, color=[UP if w >= 0 else DOWN for w in weights], alpha=0.85)
    if "lower" in frame:
        ax.hlines(places, frame["lower"], frame["upper"], color=INK, lw=1.6)
    texts = [(signed(w), share(c)) for w, c in zip(weights, frame["coverage"], strict=True)]
    wide = max(6, *(len(weight) for weight, _ in texts))
    beside = [f" {weight:>{wide}}{rows:>6}" for weight, rows in texts]
    right = ax.secondary_yaxis("right")
    right.set_yticks([-0.8, *places], [f" {'weight':>{wide}}{'rows':>6}", *beside], family="monospace", fontsize=8.5)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def _width(rules: list[str]) -> int:
    """How many letters a line should have for every condition to fit, within limits."""
    longest = max((len(condition) for rule in rules for condition in rule.split(" & ")), default=0)
    return min(max(WIDTH, longest), WIDEST)


def _broken(text: str, width: int = WIDTH) -> str:
    """A rule in a few lines, which end between conditions where they can. A rule that needs more lines is shortened."""
    conditions = text.split(" & ")
    lines = _lines(conditions, width)
    if len(lines) > LINES:
        lines = _lines([_cut(condition, width) for condition in conditions], width)
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], f"… {_cut(lines[-1], width - 2)}"]
    return "\n".join(lines)


def _lines(conditions: list[str], width: int) -> list[str]:
    """Conditions in lines of this many letters, and a few more where they are joined."""
    lines: list[str] = []
    for condition in conditions:
        if lines and len(lines[-1]) + len(condition) + 3 <= width:
            lines[-1] += f" & {condition}"
            continue
        if lines:
            lines[-1] += " &"
        lines.extend(condition[start : start + width] for start in range(0, len(condition), width))
    return lines


def _cut(text: str, width: int) -> str:
    """`text`, or its ends where it is too long."""
    if len(text) <= width:
        return text
    tail = width // 2
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def _name_rows(ax: Axes, names: list[str], top: float = -0.6) -> None:
    """One row for each name, from the top."""
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_ylim(len(names) - 0.4, top)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _plain_ticks(axis: Any) -> None:
    """Numbers as everywhere else; few enough that long ones do not touch."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    longest = max(len(number(x, 3)) for x in axis.get_view_interval())
    most = 6 if axis.axis_name == "y" else max(2, min(6, 36 // longest))
    if axis.get_scale() != "log":
        axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda x, _: number(x, 6)))


# ---- one row ----


def contributions(model: Any, row: Any, ax: Axes | None = None, offset: Any = None) -> Axes:
    """A waterfall from the intercept to the score."""
    frame = one_row(model, row, offset)
    scores = None
    if "class" in frame:
        scores = frame.groupby("class", sort=False)["contribution"].sum()
        frame = frame[frame["class"] == scores.idxmax()]
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
    labels = [INTERCEPT, *rest["rule"], _outcome(model, score, frame, scores)]
    _name_rows(ax, [_broken(text) for text in labels])
    low, high = min(base, score, *starts, *ends, base), max(base, score, *starts, *ends, base)
    # The words are to the right of what they name.
    ax.set_xlim(low - 0.06 * span, high + 0.16 * span)
    _plain_ticks(ax.xaxis)
    ax.set_xlabel(model._model.sum_of_weights.removeprefix("the "))
    return ax


def _outcome(model: Any, score: float, frame: Any, scores: Any) -> str:
    native = model._model
    if native.task == "regression":
        return f"predicted {native.target}"
    if native.task in ("poisson", "gamma"):
        return f"{'rate' if native.task == 'poisson' else 'mean'}: {number(np.exp(score))}"
    who = frame["class"].iloc[0] if "class" in frame else native.classes[-1]
    return f"probability of {who}: {number(chance(native, score, scores), 3)}"
