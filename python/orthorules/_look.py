"""Looking at a model: frames of rules and sizes, reasons for predictions, plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

INTERCEPT = "always (intercept)"


class LookMixin:
    """What a fitted estimator shows of itself."""

    @property
    def rules_(self) -> pd.DataFrame:
        """The rules of the chosen size, one a row, in the order in which they were found."""
        import pandas as pd

        rows = []
        total = self._document.get("rows")  # type: ignore[attr-defined]
        for ensemble, step, texts in self._parts():
            for place, (k, weight) in enumerate(zip(_members(step), step["weights"], strict=True)):
                rule = ensemble["rules"][k]
                row = {"class": ensemble.get("class"), "rule": texts[k], "weight": weight}
                row |= _interval(step, place)
                row |= {
                    "conditions": len(rule["conditions"]),
                    "covered": rule.get("covered"),
                    "coverage": rule["covered"] / total if total and "covered" in rule else None,
                    "value": rule.get("value"),
                    "bound": rule.get("bound"),
                    "proven": rule.get("proven"),
                }
                rows.append(row)
        columns = ["class", "rule", "weight", "conditions", "covered", "coverage", "value", "bound", "proven"]
        frame = pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)
        return frame if len(self._ensembles) > 1 else frame.drop(columns="class")  # type: ignore[attr-defined]

    @property
    def path_(self) -> pd.DataFrame:
        """Every size, one a row (for each class, with more than two): rules, complexity, risks, which one is chosen."""
        import pandas as pd

        rows = []
        cv = _cross_validation(self._document)  # type: ignore[attr-defined]
        for ensemble, chosen, _ in self._parts():
            for step in ensemble["path"]:
                key = (step["rules"], step["complexity"])
                risk, error = cv.get(key, (np.nan, np.nan)) if ensemble.get("class") is None else (np.nan, np.nan)
                rows.append(
                    {
                        "class": ensemble.get("class"),
                        "rules": step["rules"],
                        "complexity": step["complexity"],
                        "train_risk": step["train_risk"],
                        "cv_risk": risk,
                        "cv_se": error,
                        "chosen": step is chosen,
                    }
                )
        frame = pd.DataFrame(rows)
        return frame if len(self._ensembles) > 1 else frame.drop(columns="class")  # type: ignore[attr-defined]

    def _parts(self) -> list[tuple[dict[str, Any], dict[str, Any], list[str]]]:
        """For every ensemble: itself, its step at the chosen size, the texts of its rules."""
        ensembles: list[dict[str, Any]] = self._ensembles  # type: ignore[attr-defined]
        places = self._model.sizes[self._size]  # type: ignore[attr-defined]
        texts = self._model.rule_texts  # type: ignore[attr-defined]
        return [(e, e["path"][p], t) for e, p, t in zip(ensembles, places, texts, strict=True)]

    def explain(self, X: Any) -> pd.DataFrame:
        """Which rules hold for which rows, and what each adds to the score.

        A long frame with one line for each row and rule, the intercept first: `row` (counted from 0), `rule`, `fired` and
        `contribution`; with more than two classes also `class`. The contributions of a row add up to its score.
        """
        import pandas as pd

        activations = self._apply(X)  # type: ignore[attr-defined]
        pieces = []
        several = len(self._ensembles) > 1  # type: ignore[attr-defined]
        for e, (ensemble, step, texts) in enumerate(self._parts()):
            members = list(_members(step))
            rows = len(activations.scores(self._size)[e])  # type: ignore[attr-defined]
            fired = [np.ones(rows, dtype=bool), *(activations.fires(e, k) for k in members)]
            weights = [step["intercept"], *step["weights"]]
            piece = pd.DataFrame(
                {
                    "row": np.repeat(np.arange(rows), len(fired)),
                    "rule": np.tile(np.array([INTERCEPT, *(texts[k] for k in members)], dtype=object), rows),
                    "fired": np.column_stack(fired).ravel(),
                    "contribution": np.column_stack([f * w for f, w in zip(fired, weights, strict=True)]).ravel(),
                }
            )
            if several:
                piece.insert(0, "class", ensemble["class"])
            pieces.append(piece)
        return pieces[0] if not several else pd.concat(pieces, ignore_index=True)

    def why(self, row: Any) -> str:
        """A sentence that says where the prediction for one row comes from. `row` is a frame or array with one row."""
        from ._why import sentence

        return sentence(self, row)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Risk against complexity: training, cross-validation with standard errors where there is one, the chosen size."""
        from ._plot import path

        return path(self, ax)

    def plot_rules(self, ax: Axes | None = None) -> Axes:
        """The weight of every rule, with its interval where there is one, and the part of the rows it covers."""
        from ._plot import rules

        return rules(self, ax)

    def plot_contributions(self, row: Any, ax: Axes | None = None) -> Axes:
        """How the prediction for one row comes about, rule by rule. `row` is a frame or array with one row."""
        from ._plot import contributions

        return contributions(self, row, ax)


def _members(step: dict[str, Any]) -> Any:
    """The rules of a size."""
    return step.get("members") or range(step["rules"])


def _interval(step: dict[str, Any], place: int) -> dict[str, float]:
    """The interval of a weight, where a bootstrap has found one."""
    intervals = step.get("intervals")
    return {} if not intervals else {"lower": intervals[place][0], "upper": intervals[place][1]}


def _cross_validation(document: dict[str, Any]) -> dict[tuple[int, int], tuple[float, float]]:
    """Risk and standard error of the sizes that cross-validation has judged, by rules and complexity."""
    return {}


def number(x: float, digits: int = 4) -> str:
    """A number for people."""
    return _native.rounded(float(x), digits)


def signed(x: float, digits: int = 3) -> str:
    """A number with its sign."""
    return f"{'−' if x < 0 else '+'}{number(abs(x), digits)}"
