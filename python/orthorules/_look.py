"""Looking at a model: frames of rules and sizes, reasons for predictions, plots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.axes import Axes

INTERCEPT = "always (intercept)"
OFFSET = "offset"
# Risk and standard error where there was no cross-validation.
UNKNOWN = [np.nan, np.nan]


class LookMixin:
    """What a fitted estimator shows of itself."""

    _model: _native.Model
    _size: int

    @property
    def rules_(self) -> pd.DataFrame:
        """The rules of the chosen size, one a row, in the order in which they were found.

        Where classes share their rules, each class has a column `weight_LABEL`.
        """
        frame = self._weights()
        if not self._model.shared:
            return frame
        labels = [part.label for part in self._parts()]
        count = len(frame) // len(labels)
        wide = frame.iloc[:count].drop(columns=["class", "weight"])
        place = 1
        for name in ("weight", "lower", "upper"):
            wide = wide.drop(columns=name, errors="ignore")
            if name in frame:
                for k, label in enumerate(labels):
                    values = frame[name].iloc[k * count : (k + 1) * count]
                    wide.insert(place, f"{name}_{label}", values.to_numpy(dtype=float))
                    place += 1
        return wide

    def _weights(self) -> pd.DataFrame:
        """The rules of the chosen size, those of every class below each other."""
        from ._frames import Frame

        rows = []
        parts = self._parts()
        total = self._model.rows
        sure = self._uncertainty()
        for e, part in enumerate(parts):
            rules, size = part.rules, part.size
            for place, (k, weight) in enumerate(zip(size.members, size.weights, strict=True)):
                rule = rules[k]
                row: dict[str, Any] = {"class": part.label, "rule": rule.text, "weight": weight}
                if sure:
                    row["lower"], row["upper"], row["frequency"] = sure[e][place]
                row |= {
                    "conditions": rule.conditions,
                    "covered": rule.covered,
                    "coverage": rule.covered / total if total else None,
                    "value": rule.value,
                    "bound": rule.bound,
                    "proven": rule.proven,
                }
                rows.append(row)
        columns = ["class", "rule", "weight", "conditions", "covered", "coverage", "value", "bound", "proven"]
        frame = Frame(rows) if rows else Frame(columns=columns)
        return frame if len(parts) > 1 else frame.drop(columns="class")

    @property
    def path_(self) -> pd.DataFrame:
        """Every size, one a row (for each list of rules): rules, complexity, risks, which one is chosen."""
        from ._frames import Frame

        rows = []
        parts = self._parts()
        if self._model.shared:
            # Classes that share their rules have one path.
            parts = parts[:1]
        several = len(parts) > 1
        judged = self._model.cv
        cv = {} if several else {(rules, complexity): found for rules, complexity, *found in judged}
        for part in parts:
            for place, size in enumerate(part.path):
                found = cv.get((size.rules, size.complexity), UNKNOWN)
                risks = [size.train_risk, *found]
                rows.append(_line(part.label, size.rules, size.complexity, risks, place == part.place))
        if several:
            # Cross-validation judges all classes together.
            chosen = sum(part.size.complexity for part in parts)
            for rules, complexity, *found in judged:
                rows.append(_line("all", rules, complexity, [np.nan, *found], complexity == chosen))
        frame = Frame(rows)
        return frame if several else frame.drop(columns="class")

    @property
    def lambda_(self) -> float | None:
        """λ of the penalty that the folds of `cv` chose, or the one that was given. None where neither is known."""
        cv = self._cross_validation()
        if cv is not None:
            return float(cv["reg_lambda"])
        given = getattr(self, "reg_lambda", None)
        return None if given is None or isinstance(given, str) else float(given)

    @property
    def terms_(self) -> str:
        """What the folds of `cv` chose, or what was asked for: "rules", "linear" or "hinge"."""
        cv = self._cross_validation()
        given = getattr(self, "terms", "auto")
        return str(cv.get("terms", "rules")) if cv is not None else "rules" if given == "auto" else str(given)

    @property
    def cv_results_(self) -> pd.DataFrame:
        """What cross-validation found: every size of the model, then other terms at the size that they would have had.

        One line each: terms, reg_lambda, complexity, cv_risk, the standard error cv_se of that risk, the standard error
        cv_difference_se of its difference to the least risk (of other terms: to the chosen ones), and chosen. Without
        cross-validation there are no lines.
        """
        from ._frames import Frame

        columns = ["terms", "reg_lambda", "complexity", "cv_risk", "cv_se", "cv_difference_se", "chosen"]
        cv = self._cross_validation()
        if cv is None:
            return Frame(columns=columns)
        own = {"terms": cv.get("terms", "rules"), "reg_lambda": cv["reg_lambda"]}
        _, chosen = self._model.extents[self._size]
        rows = [{**own, **size, "chosen": size["complexity"] == chosen} for size in cv["path"]]
        rows += [{**other, "cv_se": np.nan, "chosen": False} for other in cv.get("others", [])]
        return Frame(rows)[columns]

    def _cross_validation(self) -> dict[str, Any] | None:
        """What the model file says of cross-validation."""
        found: dict[str, Any] | None = json.loads(self._model.to_json()).get("cv")
        return found

    def _parts(self) -> list[_native.Part]:
        """The scores, each at the chosen size."""
        raise NotImplementedError

    def _uncertainty(self) -> list[list[tuple[float, float, float]]]:
        """What a bootstrap found of the rules, if it was about the size that is shown."""
        return self._model.uncertainty if self._size == self._model.chosen else []

    def explain(self, X: Any, offset: Any = None) -> pd.DataFrame:
        """Which rules hold for which rows, and what each adds to the score. A trend adds its weight for each step.

        A long frame with one line for each row and rule, the intercept first: `row` (counted from 0), `rule`, `fired`
        and `contribution`; with more than two classes also `class`. The contributions of a row add up to its score. A
        model that was fitted with offsets needs them; the last line of each row is its `offset`.
        """
        import pandas as pd

        from ._frames import Frame

        activations = self._apply(X, None, offset)  # type: ignore[attr-defined]
        offsets = activations.offsets()
        pieces = []
        parts = self._parts()
        several = len(parts) > 1
        for e, part in enumerate(parts):
            rules, size = part.rules, part.size
            members = size.members
            rows = len(activations.scores(self._size)[e])
            fired = [np.ones(rows, dtype=bool), *(activations.fires(e, k) for k in members)]
            amounts = [np.ones(rows), *(activations.amounts(e, k) for k in members)]
            weights = [size.intercept, *size.weights]
            texts = [INTERCEPT, *(rules[k].text for k in members)]
            if offsets is not None:
                fired, amounts = [*fired, np.ones(rows, dtype=bool)], [*amounts, offsets]
                weights, texts = [*weights, 1.0], [*texts, OFFSET]
            piece = Frame(
                {
                    "row": np.repeat(np.arange(rows), len(fired)),
                    "rule": np.tile(np.array(texts, dtype=object), rows),
                    "fired": np.column_stack(fired).ravel(),
                    "contribution": np.column_stack([a * w for a, w in zip(amounts, weights, strict=True)]).ravel(),
                }
            )
            if several:
                piece.insert(0, "class", part.label)
            pieces.append(piece)
        return pieces[0] if not several else pd.concat(pieces, ignore_index=True)

    def why(self, row: Any, offset: float | None = None) -> str:
        """A sentence that says where the prediction for one row comes from. `row` is a frame or array with one row."""
        from ._why import sentence

        return sentence(self, row, offset)

    def report(
        self, path: str | PathLike[str], X: Any = None, y: Any = None, exposure: Any = None, offset: Any = None
    ) -> None:
        """Writes one HTML page on which the model can be read, tried and argued over: whole or not at all.

        The page needs no network. With `X` it shows histograms and rows to try, with `y` also how well the model fits
        them. `X` and `y` should be what it was learned from; a model with exposures needs `exposure` beside `y`, one
        with offsets `offset` beside `X`.
        """
        self._parts()  # Refuses what is not fitted.
        if X is None:
            if y is not None or exposure is not None or offset is not None:
                raise ValueError("y, exposure and offset need X")
            self._model.report(path, self._size)
            return
        table, rows = self._used_table(X, exposure, offset)  # type: ignore[attr-defined]
        if y is not None:
            if self._model.exposure is not None and exposure is None:
                raise ValueError("y needs exposure, since the model was fitted with it")
            self._add_known(table, y, rows)  # type: ignore[attr-defined]
        self._model.report(path, self._size, table)

    def recourse(
        self,
        row: Any,
        *,
        change_to: Any = None,
        below: float | None = None,
        above: float | None = None,
        lock: Sequence[str] = (),
        exposure: Any = None,
        offset: Any = None,
        most: int = 5,
    ) -> pd.DataFrame:
        """What would change the prediction for one row: the least sets of changes, exactly.

        Name one goal: `change_to` a class, or a prediction `below` or `above` a number (of two classes, the probability
        of the last of the model's). `lock` lists columns that must stay. `row` is a frame or array with one row.

        A frame with one line for each change: `answer` (counted from 1), `column`, `now`, `change` (in words),
        `example` (a value that does it), `steps` (thresholds crossed) and `prediction` after all changes of the answer.
        Answers with fewer columns come first, then those with fewer steps. It is empty if nothing need or can change:
        `frame.attrs["met"]` says which, and `frame.attrs["complete"]` whether all smaller changes were looked at.
        """
        from ._recourse import frame

        goals = {"change_to": change_to, "below": below, "above": above}
        return frame(self, row, {k: v for k, v in goals.items() if v is not None}, list(lock), (exposure, offset), most)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Risk against complexity: training, cross-validation with standard errors where there is one, the chosen size.

        Risks are in per cent of the constant model's; the right axis has the risk itself, or its root for squared loss.
        With more than two classes the picture shows the cross-validated risk of all classes together, or else one line
        for each class.
        """
        from ._plot import path

        return path(self, ax)

    def plot_rules(self, ax: Axes | None = None, *, top: int | None = None) -> Axes:
        """The weight of every rule, with its interval where there is one, and the part of the rows it covers.

        The most important rules come first; with more than two classes each class has its own group. `top` limits the
        number of rules (of each class). Without it, a model of more than 60 rules is shortened to about as many.
        """
        from ._plot import rules

        return rules(self, ax, top)

    def plot_contributions(self, row: Any, ax: Axes | None = None, *, offset: float | None = None) -> Axes:
        """How the prediction for one row comes about, rule by rule. `row` is a frame or array with one row."""
        from ._plot import contributions

        return contributions(self, row, ax, offset)


def _line(label: str | None, rules: int, complexity: int, risks: list[float], chosen: bool) -> dict[str, Any]:
    """One size on the path; `risks` are those of training and cross-validation, and the latter's standard error."""
    names = ("train_risk", "cv_risk", "cv_se")
    measured = dict(zip(names, risks, strict=True))
    return {"class": label, "rules": rules, "complexity": complexity, **measured, "chosen": chosen}


def importance(model: Any) -> list[float]:
    """How much each rule in `rules_` moves the score, on average over the training rows.

    This is |w| · 2p(1 − p), where p is the share of the rows that the rule covers. For a trend it is what it would be
    if the numbers were spread evenly between its ends."""
    total = model._model.rows
    found = []
    for part in model._parts():
        rules, size = part.rules, part.size
        for k, weight in zip(size.members, size.weights, strict=True):
            # Half of the rows where a file does not say how many there were.
            covered = min(1.0, rules[k].covered / total) if total else 0.5
            ends = rules[k].range
            moved = 2 * covered * (1 - covered) if ends is None else 0.25 * (ends[1] - ends[0]) * covered
            found.append(abs(weight) * moved)
    return found


def number(x: float, digits: int = 4) -> str:
    """A number for people."""
    text = _native.readable(float(x), digits)
    return f"−{text[1:]}" if text.startswith("-") else text


def signed(x: float, digits: int = 3) -> str:
    """A number with its sign."""
    return f"{'−' if x < 0 else '+'}{number(abs(x), digits)}"


def share(part: float | None) -> str:
    """A part of the rows in per cent, without pretending that a few are none or nearly all are all."""
    if part is None or not np.isfinite(part):
        return ""
    if 0.995 <= part < 1:
        return ">99%"
    return "<1%" if 0 < part <= 0.005 else f"{100 * part:.0f}%"
