"""Rows that judge every size of a fit without taking part in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from . import _frame, _native, _validate

if TYPE_CHECKING:
    import pandas as pd

FORM = "eval_set must be (X, y), (X, y, sample_weight) or {more}a list of these"


@dataclass
class HeldOut:
    """Rows with their targets, checked before the fit begins; weights and exposures where they are given."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    exposure: NDArray[np.float64] | None


def pieces(eval_set: Any, most: int) -> list[tuple[Any, ...]]:
    """The sets in `eval_set`, each as X, y, weights and exposures; a set has at most so many parts."""
    if eval_set is None:
        return []
    sets = [eval_set] if isinstance(eval_set, tuple) else eval_set
    if not isinstance(sets, list) or not all(isinstance(s, tuple) and 2 <= len(s) <= most for s in sets):
        more = "(X, y, sample_weight, exposure), or " if most == 4 else ""
        raise ValueError(FORM.format(more=more))
    return [(*one, *[None] * (4 - len(one))) for one in sets]


class EvalMixin:
    """Measures every size on rows that were held out."""

    _model: _native.Model
    eval_risks_: pd.DataFrame

    def _held_out(self, eval_set: Any, exposed: bool, target: Callable[[Any], NDArray[Any]]) -> list[HeldOut]:
        """The rows of `eval_set`, checked, their targets by `target`; `exposed` says whether they need exposures, as
        those of the fit do."""
        held = []
        for i, parts in enumerate(pieces(eval_set, 3 if is_classifier(self) else 4)):
            try:
                held.append(self._one_set(parts, exposed, target))
            except (ValueError, TypeError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"eval_set[{i}]: {error}") from None
        return held

    def _one_set(self, parts: tuple[Any, ...], exposed: bool, target: Callable[[Any], NDArray[Any]]) -> HeldOut:
        """The rows of one set, checked."""
        X, y, weight, exposure = parts
        X = self._validated(X, reset=False)  # type: ignore[attr-defined]
        y = target(y)
        _validate.same_length(X, y)
        if exposed and exposure is None:
            raise ValueError("needs exposures, as (X, y, sample_weight, exposure), since fit was called with exposure")
        if exposure is not None and not exposed:
            raise ValueError("has exposures, but fit was called without exposure")
        weight = None if weight is None else _validate.weights(weight, y)
        exposure = None if exposure is None else _validate.exposures(exposure, len(y))
        return HeldOut(X, y, weight, exposure)

    def _add_target(self, table: _native.Table, name: str, y: NDArray[Any]) -> None:
        """Adds targets to a table."""
        raise NotImplementedError

    def _judge(self, held: list[HeldOut]) -> None:
        """Measures every size on rows that were held out."""
        if not held:
            self.__dict__.pop("eval_risks_", None)
            return
        import pandas as pd

        frame = pd.DataFrame(self._model.extents, columns=["rules", "complexity"])
        for i, rows in enumerate(held):
            table = self._table(rows.X)  # type: ignore[attr-defined]
            self._add_target(table, self._model.target, rows.y)
            taken = {*self._model.used_columns, self._model.target}
            names: list[str | None] = []
            for values, wish in ((rows.weight, "sample_weight"), (rows.exposure, "exposure")):
                names.append(None if values is None else _frame.free_name(None, wish, taken))
                if values is not None:
                    table.add(str(names[-1]), values)
            found = self._model.risks(table, *names)
            if len(self._model.parts(0)) > 1 and not self._model.shared:
                # The engine lists them by complexity; each has its own number of rules.
                found = sorted(found)
            frame[f"eval_{i}"] = [risk for _, _, risk in found]
        self.eval_risks_ = frame
