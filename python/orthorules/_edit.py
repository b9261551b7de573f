"""Edits of a fitted model, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from . import _native, _validate

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

COLUMNS = ["action", "rule", "to", "why", "author", "risk_before", "risk_after", "rows_changed", "largest_change"]
# Those that are there where some edit has them.
MORE = ["class", "value", "at_most", "at_least", "sign", "columns", "pair", "cv_before", "cv_after"]


class EditMixin:
    """Rules that go, come, stay or change, and weights that follow."""

    _model: _native.Model
    _size: int
    _before: _native.Model | None

    def edit(
        self,
        X: Any,
        y: Any,
        edits: Sequence[Mapping[str, Any]],
        refit: str = "weights",
        *,
        sample_weight: Any = None,
        exposure: Any = None,
        offset: Any = None,
        reg_lambda: float | None = None,
        cv: int | None = None,
    ) -> Self:
        """A new fitted model with other rules or weights; this one stays as it is.

        Each of `edits` is a dict with an `action`: "drop", "pin", "add", "change", "swap", "weight" or "forbid". Rules
        are written as `rules_` shows them: `{"action": "change", "rule": "age >= 64.5", "to": "age >= 65"}`. A reason
        may stand under "why". With `refit` "weights" all weights are fitted to `X` and `y` again, which should be what
        the model was learned from; with "search" the search goes on around what is pinned or new; with "none" they
        stay. What each edit cost is in `ledger_`. `cv` is a number of folds, which tell how well the weights do on
        other rows.
        """
        listed = [dict(edit) for edit in edits]
        return self._edited(X, y, listed, refit, sample_weight, exposure, offset, reg_lambda, cv)

    def refit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        exposure: Any = None,
        offset: Any = None,
        reg_lambda: float | None = None,
        cv: int | None = None,
    ) -> Self:
        """A new fitted model with the same rules, whose weights are all fitted to `X` and `y`."""
        return self._edited(X, y, None, "weights", sample_weight, exposure, offset, reg_lambda, cv)

    def alternatives(
        self,
        X: Any,
        y: Any,
        rule: str | int | None = None,
        *,
        without: Sequence[str] = (),
        sample_weight: Any = None,
        exposure: Any = None,
        offset: Any = None,
        reg_lambda: float | None = None,
    ) -> pd.DataFrame:
        """What could stand in a rule's place, and what it would cost, all weights fitted again to `X` and `y`.

        `rule` is the text of a rule, or its number from 1 on in the order of `rules_`; without it every rule is looked
        at. With `without`, the frame has what models cost that do without each of these columns. Costs are parts of the
        risk of the model.
        """
        from ._frames import Frame

        table, weight = self._known_table(X, y, "[]", "search", sample_weight, exposure, offset)
        wanted = None if rule is None else str(rule)
        names = [str(name) for name in without]
        found = json.loads(
            _native.alternatives(self._model, table, wanted, names, weight=weight, reg_lambda=reg_lambda)
        )
        if names and rule is None:
            columns = ["column", "risk", "cost"]
            return Frame([[other[key] for key in columns] for other in found["without"]], columns=columns)
        columns = ["rule", "risk", "cost", "shared_rows", "near_copies"]
        lines = [
            [one["rule"], *(other[key] for key in columns)] for one in found["rules"] for other in one["alternatives"]
        ]
        frame = Frame(lines, columns=["in_place_of", *columns])
        frame.attrs.update(risk=found["risk"], within_one_percent=found["within_one_percent"])
        return frame

    def _known_table(
        self, X: Any, y: Any, edits: str, refit: str, weight: Any, exposure: Any, offset: Any
    ) -> tuple[_native.Table, str | None]:
        """The columns of `X` that the model and edits need, with target and weights, and the name of the weights."""
        self._parts()  # type: ignore[attr-defined]  # Refuses what is not fitted.
        if self._model.exposure is not None and exposure is None:
            raise ValueError("the model was fitted with exposure: exposure is needed")
        # Reads the columns that new rules need, too.
        reader = clone(self)
        reader.__dict__.update(self.__dict__)
        reader._model = _native.wanting(self._model, edits, refit)
        table, rows = reader._used_table(X, exposure, offset)
        self._add_known(table, y, rows)  # type: ignore[attr-defined]
        if weight is None:
            return table, None
        name = "sample_weight"
        while name in reader._model.used_columns or name == self._model.target:
            name += "_"
        table.add(name, _validate.weights(weight, y))
        return table, name

    def _edited(
        self,
        X: Any,
        y: Any,
        edits: list[dict[str, Any]] | None,
        refit: str,
        weight: Any,
        exposure: Any,
        offset: Any,
        reg_lambda: float | None,
        cv: int | None,
    ) -> Self:
        document = None if edits is None else json.dumps(edits)
        table, name = self._known_table(X, y, document or "[]", refit, weight, exposure, offset)
        seed = self._seed()  # type: ignore[attr-defined]
        own = getattr(self, "reg_lambda", None)
        if reg_lambda is None and isinstance(own, int | float):
            # The penalty that the fit was asked for.
            reg_lambda = float(own)
        model = _native.edited(
            self._model, table, document, refit, weight=name, reg_lambda=reg_lambda, cv=cv, seed=seed
        )
        edited: Self = clone(self)
        edited.__dict__.update(self.__dict__)
        edited._model, edited._size, edited._before = model, model.chosen, self._model
        edited.__dict__.pop("eval_risks_", None)
        return edited

    @property
    def moved_(self) -> pd.DataFrame | None:
        """How the weights of the chosen size moved from the model that this one was made from by `edit`, `refit` or
        `fit(…, from_model=…)`: rule, before, after, and class with several classes. None if it was made from none.
        """
        from ._frames import Frame

        self._parts()  # type: ignore[attr-defined]
        if self._before is None:
            return None
        lines = json.loads(_native.moved(self._before, self._model))
        columns = [*(["class"] if any("class" in line for line in lines) else []), "rule", "before", "after"]
        return Frame([[line.get(key) for key in columns] for line in lines], columns=columns)

    @property
    def provenance_(self) -> dict[str, Any] | None:
        """Where the model comes from: "version", "options" that were not at their defaults, "table" with "fingerprint"
        and "rows", and "command" and "python", which make the same file again. None if its file does not tell.
        """
        self._parts()  # type: ignore[attr-defined]
        told = _native.provenance(self._model)
        return None if told is None else {**json.loads(told[0]), "python": told[1]}

    @property
    def ledger_(self) -> pd.DataFrame:
        """The edits that were made, in order: what was done and why, and what it did to the risk and to the rows."""
        from ._frames import Frame

        self._parts()  # type: ignore[attr-defined]
        entries = json.loads(_native.ledger(self._model))
        more = [key for key in MORE if any(key in entry for entry in entries)]
        columns = [*COLUMNS, *more]
        return Frame([[entry.get(key) for key in columns] for entry in entries], columns=columns)
