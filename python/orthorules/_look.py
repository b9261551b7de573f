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
        sure = self._uncertainty()
        for e, (ensemble, step, texts) in enumerate(self._parts()):
            for place, (k, weight) in enumerate(zip(_members(step), step["weights"], strict=True)):
                rule = ensemble["rules"][k]
                row = {"class": ensemble.get("class"), "rule": texts[k], "weight": weight}
                if sure:
                    low, high = sure[e]["rules"][place]["interval"]
                    row |= {"lower": low, "upper": high, "frequency": sure[e]["rules"][place]["frequency"]}
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
        several = len(self._ensembles) > 1  # type: ignore[attr-defined]
        judged = self._document.get("cv", {}).get("path", [])  # type: ignore[attr-defined]
        cv = {(step["rules"], step["complexity"]): step for step in judged}
        for ensemble, chosen, _ in self._parts():
            for step in ensemble["path"]:
                found = {} if several else cv.get((step["rules"], step["complexity"]), {})
                rows.append(_line(ensemble.get("class"), step, found, step is chosen))
        if several:
            # Cross-validation judges all classes together.
            size = sum(step["complexity"] for _, step, _ in self._parts())
            rows += [_line("all", step, step, step["complexity"] == size) for step in judged]
        frame = pd.DataFrame(rows)
        return frame if several else frame.drop(columns="class")

    def _parts(self) -> list[tuple[dict[str, Any], dict[str, Any], list[str]]]:
        """For every ensemble: itself, its step at the chosen size, the texts of its rules."""
        ensembles: list[dict[str, Any]] = self._ensembles  # type: ignore[attr-defined]
        places = self._model.sizes[self._size]  # type: ignore[attr-defined]
        texts = self._model.rule_texts  # type: ignore[attr-defined]
        return [(e, e["path"][p], t) for e, p, t in zip(ensembles, places, texts, strict=True)]

    def _uncertainty(self) -> list[dict[str, Any]]:
        """What a bootstrap found of the rules, if it was about the size that is shown."""
        found = self._document.get("bootstrap")  # type: ignore[attr-defined]
        same = self._size == self._model.chosen  # type: ignore[attr-defined]
        return found["ensembles"] if found and same else []

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


def _line(label: str | None, step: dict[str, Any], cv: dict[str, Any], chosen: bool) -> dict[str, Any]:
    """One size on the path."""
    return {
        "class": label,
        "rules": step["rules"],
        "complexity": step["complexity"],
        "train_risk": step.get("train_risk", np.nan),
        "cv_risk": cv.get("cv_risk", np.nan),
        "cv_se": cv.get("cv_se", np.nan),
        "chosen": chosen,
    }


def number(x: float, digits: int = 4) -> str:
    """A number for people."""
    return _native.rounded(float(x), digits)


def signed(x: float, digits: int = 3) -> str:
    """A number with its sign."""
    return f"{'−' if x < 0 else '+'}{number(abs(x), digits)}"
