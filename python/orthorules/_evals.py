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
    """Rows with their targets, checked before the fit begins; weights, exposures and offsets where they are given."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    exposure: NDArray[np.float64] | None
    offset: NDArray[np.float64] | None


def pieces(eval_set: Any, most: int) -> list[tuple[Any, ...]]:
    """The sets in `eval_set`, each as X, y, weights, exposures and offsets; a set has at most this many parts."""
    if eval_set is None:
        return []
    sets = [eval_set] if isinstance(eval_set, tuple) else eval_set
    if not isinstance(sets, list) or not all(isinstance(s, tuple) and 2 <= len(s) <= most for s in sets):
        more = "(X, y, sample_weight, exposure), (X, y, sample_weight, exposure, offset), or " if most > 3 else ""
        raise ValueError(FORM.format(more=more))
    return [(*one, *[None] * (5 - len(one))) for one in sets]


class EvalMixin:
    """Measures every size on rows that were held out."""

    _model: _native.Model
    eval_risks_: pd.DataFrame

    def _held_out(
        self, eval_set: Any, needed: dict[str, bool], target: Callable[[Any], NDArray[Any]]
    ) -> list[HeldOut]:
        """The rows of `eval_set`, checked, their targets by `target`; `needed` says whether they need exposures and
        offsets, as those of the fit do."""
        held = []
        for i, parts in enumerate(pieces(eval_set, 3 if is_classifier(self) else 5)):
            try:
                held.append(self._one_set(parts, needed, target))
            except (ValueError, TypeError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"eval_set[{i}]: {error}") from None
        return held

    def _one_set(
        self, parts: tuple[Any, ...], needed: dict[str, bool], target: Callable[[Any], NDArray[Any]]
    ) -> HeldOut:
        """The rows of one set, checked."""
        X, y, weight, exposure, offset = parts
        X = self._validated(X, reset=False)  # type: ignore[attr-defined]
        y = target(y)
        _validate.same_length(X, y)
        for role, values, form in (("exposure", exposure, ""), ("offset", offset, ", offset")):
            if needed.get(role) and values is None:
                form = f"(X, y, sample_weight, exposure{form})"
                raise ValueError(f"needs {role}s, as {form}, since fit was called with {role}")
            if values is not None and not needed.get(role):
                raise ValueError(f"has {role}s, but fit was called without {role}")
        weight = None if weight is None else _validate.weights(weight, y)
        exposure = None if exposure is None else _validate.exposures(exposure, len(y))
        offset = None if offset is None else self._offsets(offset, len(y), exposure)  # type: ignore[attr-defined]
        return HeldOut(X, y, weight, exposure, offset)

    def _add_target(self, table: _native.Table, name: str, y: NDArray[Any]) -> None:
        """Adds targets to a table."""
        raise NotImplementedError

    def _judge(self, held: list[HeldOut]) -> None:
        """Measures every size on rows that were held out."""
        if not held:
            self.__dict__.pop("eval_risks_", None)
            return
        from ._frames import Frame

        frame = Frame(self._model.extents, columns=["rules", "complexity"])
        for i, rows in enumerate(held):
            table = self._table(rows.X)  # type: ignore[attr-defined]
            self._add_target(table, self._model.target, rows.y)
            taken = {*self._model.used_columns, self._model.target}
            names: list[str | None] = []
            roles = {"sample_weight": rows.weight, "exposure": rows.exposure, "offset": rows.offset}
            for wish, values in roles.items():
                names.append(None if values is None else _frame.free_name(None, wish, taken))
                if values is not None:
                    table.add(str(names[-1]), values)
            found = self._model.risks(table, *names)
            if len(self._model.parts(0)) > 1 and not self._model.shared:
                # The engine lists them by complexity; each has its own number of rules.
                found = sorted(found)
            frame[f"eval_{i}"] = [risk for _, _, risk in found]
        self.eval_risks_ = frame
