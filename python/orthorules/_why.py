"""One prediction in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._look import INTERCEPT, OFFSET, number, signed


def as_table(row: Any) -> Any:
    """`row` as a table of one row."""
    if isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1):
        return np.asarray(row).reshape(1, -1)
    if type(row).__module__.startswith("pandas") and type(row).__name__ == "Series":
        return row.to_frame().T.infer_objects()
    return row


def one_row(model: Any, row: Any, offset: Any = None) -> Any:
    """The explanation of one row."""
    frame = model.explain(as_table(row), None if offset is None else np.ravel(offset))
    rows = frame["row"].max() + 1
    if rows != 1:
        raise ValueError(f"needs one row, got {rows}")
    return frame


def sentence(model: Any, row: Any, offset: Any = None) -> str:
    """What is predicted for `row` and which rules make it so."""
    frame = one_row(model, row, offset)
    native = model._model
    if "class" not in frame:
        return _one(frame, native, native.task, native.classes, model._parts())
    score = frame.groupby("class", sort=False)["contribution"].sum()
    best = score.idxmax()
    return _one(frame[frame["class"] == best], native, "rest", [best], model._parts(), score)


def chance(model: _native.Model, score: float, scores: Any = None) -> float:
    """The probability that a score stands for, where those of all classes are `scores`."""
    if model.shared:
        # The highest of them is 1: none is too large.
        return float(np.exp(score - np.max(scores)) / np.exp(scores - np.max(scores)).sum())
    return score if model.link == "identity" else float(1 / (1 + np.exp(-score)))


def likely(p: float) -> str:
    """A probability with three digits; only what is certain is 0 or 1."""
    if 0 < p < 0.0005:
        return "less than 0.001"
    return "more than 0.999" if 0.9995 < p < 1 else number(p, 3)


def _one(
    frame: Any, model: _native.Model, task: str, classes: list[str], parts: list[_native.Part], scores: Any = None
) -> str:
    target = model.target
    score = float(frame["contribution"].sum())
    if task == "regression":
        claim, unit = f"{target} is predicted to be {number(score)}", ""
    elif task in ("poisson", "gamma"):
        what = "rate" if task == "poisson" else "mean"
        claim, unit = f"the {what} of {target} is predicted to be {number(np.exp(score))}", " in its logarithm"
    else:
        rest = " against the rest" if task == "rest" and not model.shared else ""
        claim = f"the probability that {target} is {classes[-1]} is {likely(chance(model, score, scores))}{rest}"
        unit = {"identity": "", "softmax": " in its score"}.get(model.link, " in log-odds")
    base = float(frame.loc[frame["rule"] == INTERCEPT, "contribution"].iloc[0])
    known = frame.loc[frame["rule"] == OFFSET, "contribution"] if model.offset is not None else []
    rules = frame[frame["rule"] != INTERCEPT]
    rules = rules.iloc[: len(rules) - len(known)]
    fired = rules[rules["fired"]]
    # The largest reasons first.
    fired = fired.loc[fired["contribution"].abs().sort_values(ascending=False, kind="stable").index]
    trends = {rule.text for part in parts for rule in part.rules if rule.range is not None}
    since = {rule: "by the trend" if rule in trends else "since" for rule in fired["rule"]}
    reasons = [f"{signed(c)} {since[r]} {r}" for r, c in zip(fired["rule"], fired["contribution"], strict=True)]
    text = f"{claim}: {number(base)} to start with{unit}"
    text += "".join(f", {signed(float(c))} by the offset" for c in known)
    text += "".join(f", {reason}" for reason in reasons)
    idle = rules[~rules["fired"]]["rule"]
    if len(idle):
        sloping = sum(rule in trends for rule in idle)
        counts = [(len(idle) - sloping, "rule"), (sloping, "trend")]
        told = " and ".join(f"{n} {thing}{'' if n == 1 else 's'}" for n, thing in counts if n)
        text += f"; {told} {'does' if len(idle) == 1 else 'do'} not apply"
    # A column's name keeps its letters.
    return (text if task == "regression" else text[0].upper() + text[1:]) + "."
