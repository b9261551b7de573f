"""What changed from one fitted model to another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pandas as pd

_RULES = ["change", "rule", "was", "weight_before", "weight_after"]
_EXAMPLES = ["row", "before", "after"]
_CLASSES = ["class", "class_before", "class_after"]


@dataclass(frozen=True)
class ModelDiff:
    """What `model.diff(other)` found. It is empty where both models say the same.

    Attributes
    ----------
    rules : DataFrame
        Rules that came, went, moved to other thresholds or levels, or have another weight.
    settings : DataFrame
        What the models are about and how they were learned, where that differs.
    edits : DataFrame
        Edits of the second model that the first does not have.
    rows : dict
        How many rows are predicted otherwise, by how much, and the risk of both models; empty without `X`.
    examples : DataFrame
        The rows that change most; empty without `X`. Rows are counted from 0.
    """

    rules: pd.DataFrame
    settings: pd.DataFrame
    edits: pd.DataFrame
    rows: dict[str, Any]
    examples: pd.DataFrame

    @property
    def empty(self) -> bool:
        """Whether both models say the same."""
        changed = self.rows.get("rows_changed", 0)
        return not changed and self.rules.empty and self.settings.empty and self.edits.empty

    def __repr__(self) -> str:
        if self.empty:
            return "The models say the same."
        parts = [
            text.to_string(index=False) for text in (self.settings, self.rules, self.edits) if not text.empty
        ]
        if self.rows:
            parts.append(f"{self.rows['rows_changed']} of {self.rows['rows']} rows are predicted otherwise.")
        return "\n\n".join(parts)


class DiffMixin:
    """Comparison with another fitted model."""

    _model: _native.Model
    _size: int

    def diff(
        self,
        other: Any,
        X: Any = None,
        y: Any = None,
        *,
        exposure: Any = None,
        offset: Any = None,
        examples: int = 5,
    ) -> ModelDiff:
        """What changed from this model to `other`, which was fitted to the same target.

        With `X` it says which rows are predicted otherwise, and with `y` how the risk changes. `examples` is the
        number of rows to list that change most.
        """
        if not isinstance(other, DiffMixin):
            raise TypeError(f"other must be a fitted RuleRegressor or RuleClassifier, got {type(other).__name__}")
        if isinstance(examples, bool) or not isinstance(examples, int) or examples < 0:
            raise ValueError(f"examples must be a whole number of at least 0, got {examples!r}")
        if X is None and y is not None:
            raise ValueError("y is given without X")
        self._parts()  # type: ignore[attr-defined]  # Refuses what is not fitted.
        other._parts()  # type: ignore[attr-defined]
        tables = None
        if X is not None:
            tables = (self._rows_of(X, y, exposure, offset), other._rows_of(X, y, exposure, offset))
        sizes = (self._model.extents[self._size][1], other._model.extents[other._size][1])
        return _frames(json.loads(_native.diff(self._model, other._model, sizes, tables, examples)))

    def _rows_of(self, X: Any, y: Any, exposure: Any, offset: Any) -> _native.Table:
        """`X` as this model reads it, with the target where it is known."""
        # A model without them does not need what the other one has.
        exposure = exposure if self._model.exposure is not None else None
        offset = offset if self._model.offset is not None else None
        table: _native.Table
        table, rows = self._used_table(X, exposure, offset)  # type: ignore[attr-defined]
        if y is not None:
            self._add_known(table, y, rows)  # type: ignore[attr-defined]
        return table


def _frames(found: dict[str, Any]) -> ModelDiff:
    from ._frames import Frame

    classes = any("class" in score for score in found["scores"])
    columns = ["class", *_RULES] if classes else _RULES
    lines: list[dict[str, Any]] = []
    for score in found["scores"]:
        own = {"class": score.get("class")}
        lines.extend({**own, **rule} for rule in score["rules"])
        if score["intercept_before"] != score["intercept_after"]:
            weights = {"weight_before": score["intercept_before"], "weight_after": score["intercept_after"]}
            lines.append({**own, "change": "weight", "rule": "(intercept)", **weights})
    rules = Frame([[line.get(key) for key in columns] for line in lines], columns=columns)
    settings = ["name", "before", "after"]
    rows = dict(found.get("rows", {}))
    examples = rows.pop("examples", [])
    for example in examples:
        example["row"] -= 1
    shown = [*_EXAMPLES, *(_CLASSES if any("class" in one for one in examples) else [])]
    edits = ["action", "rule", "to", "why", "author", "risk_before", "risk_after"]
    return ModelDiff(
        rules=rules,
        settings=Frame([[one[key] for key in settings] for one in found["settings"]], columns=settings),
        edits=Frame([[one.get(key) for key in edits] for one in found["edits"]], columns=edits),
        rows=rows,
        examples=Frame([[one.get(key) for key in shown] for one in examples], columns=shown),
    )
