"""Numbers, counts and positive amounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from . import _native
from ._base import BaseRules
from ._doc import documented
from ._frame import free_name
from ._parameters import RegressorParameters
from ._validate import exposures, factors, offsets, required, same_length, target, weights

_TASKS = {"squared": "regression", "poisson": "poisson", "gamma": "gamma"}
# The power of the variance of each loss, by which scikit-learn names its deviance.
_POWERS = {"squared": 0, "poisson": 1, "gamma": 2}


@documented
class RuleRegressor(RegressorParameters, RegressorMixin, BaseRules):  # type: ignore[misc]
    """Additive rules for numbers (squared loss), counts and rates (Poisson loss) or positive amounts (gamma loss).

    A prediction is the sum of the weights of all rules that hold for a row, and its exponential with Poisson or gamma
    loss.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from orthorules import RuleRegressor, datasets
    >>> X, y = datasets.friedman1(rows=500, seed=1)
    >>> model = RuleRegressor(max_complexity=20).fit(X, y)
    >>> model.score(X, y) > 0.7
    True
    """

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        groups: Any = None,
        eval_set: Any = None,
        offset: Any = None,
        from_model: Any = None,
    ) -> RuleRegressor:
        """Learns rules.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            NumPy, pandas, Polars, PyArrow or anything with the Arrow PyCapsule interface. NaN is a missing value.
        y : array of shape (n_samples,)
            Numbers; with Poisson loss at least 0, with gamma loss above 0.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as the row twice.
        exposure : array of shape (n_samples,), optional
            With Poisson or gamma loss: the mean of y is exposure × rate.
        groups : array of shape (n_samples,), optional
            Rows of one group stay together in cross-validation and bootstrap.
        eval_set : tuple (X, y), or list of tuples, optional
            Rows that take no part in the fit. `eval_risks_` is the risk of every size on them. A tuple may go on with
            weights, exposures and offsets: (X, y, sample_weight, exposure, offset). None stands for weights that are
            all 1, and where fit had none for exposures.
        offset : array of shape (n_samples,), optional
            A part of the score that is known, with weight 1. With squared loss y is predicted as offset plus the sum of
            weights; with Poisson and gamma loss exp(offset) multiplies the mean, as exposure does.
        from_model : fitted estimator or path of a model, optional
            The fit goes on from its rules and trends: they stay, with weights that are fitted to X and y, and the
            search goes on around them. `moved_` tells how weights moved.
        """
        if self.loss not in _TASKS:
            raise ValueError(f"loss must be 'squared', 'poisson' or 'gamma', got {self.loss!r}")
        if exposure is not None and self.loss == "squared":
            raise ValueError("exposure needs loss='poisson' or loss='gamma'")
        required(self, y)
        name = getattr(y, "name", None)
        X = self._validated(X, reset=True)
        y = target(y, self)
        same_length(X, y)
        weight = None if sample_weight is None else weights(sample_weight, y)
        if exposure is not None:
            exposures(exposure, len(y))
        if offset is not None:
            self._offsets(offset, len(y), exposure)
        held = self._held_out(eval_set, {"exposure": exposure is not None, "offset": offset is not None}, self._judged)
        table = self._training_table(X)
        column = free_name(name, "y", set(self._names()))
        self._add_target(table, column, y)
        self._learn(table, _TASKS[self.loss], y, column, weight, exposure, groups, None, offset, from_model)
        self._judge(held)
        return self

    def _offsets(self, values: Any, rows: int, exposure: Any) -> NDArray[np.float64]:
        """One offset for each row, with which this loss can count."""
        offset = offsets(values, rows)
        if self.loss != "squared":
            factors(offset, None if exposure is None else exposures(exposure, rows))
        return offset

    def _judged(self, y: Any) -> NDArray[np.float64]:
        """Targets that predictions can be compared with."""
        checked = target(y, self)
        bad = {"squared": checked != checked, "poisson": checked < 0, "gamma": checked <= 0}[self.loss]
        if bad.any():
            place = int(np.flatnonzero(bad)[0])
            want = "above 0" if self.loss == "gamma" else "at least 0"
            raise ValueError(f"with loss={self.loss!r} y must be {want}, got {checked[place]:g} at index {place}")
        return checked

    def _add_target(self, table: _native.Table, name: str, y: NDArray[np.float64]) -> None:
        table.add(name, np.ascontiguousarray(y))

    def predict(self, X: Any, exposure: Any = None, offset: Any = None) -> NDArray[np.float64]:
        """Predicted means. With Poisson or gamma loss per unit of exposure, unless exposures are
        given. A model that was fitted with offsets needs them."""
        return self._apply(X, exposure, offset).predict(self._size)

    def staged_predict(self, X: Any, exposure: Any = None, offset: Any = None) -> Iterator[NDArray[np.float64]]:
        """Predictions of every size in `path_`, from the constant on."""
        for activations, size in self._staged(X, exposure, offset):
            yield activations.predict(size)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, offset: Any = None
    ) -> float:
        """R², or with Poisson and gamma loss D²: the part of the deviance of the mean that is explained."""
        # Not before it is needed: it takes longer to load than everything else.
        from sklearn.metrics import d2_tweedie_score

        predicted = self.predict(X, exposure, offset)
        known = target(y, self)
        if sample_weight is not None:
            sample_weight = weights(sample_weight, X)
        return float(d2_tweedie_score(known, predicted, sample_weight=sample_weight, power=_POWERS[self.loss]))

    def _add_known(self, table: _native.Table, y: Any, rows: int) -> None:
        known = target(y, self)
        if len(known) != rows:
            raise ValueError(f"y has {len(known)} rows, X has {rows}")
        self._add_target(table, self._model.target, known)

    def _adopt(self, model: _native.Model) -> None:
        if model.task == "classification":
            raise ValueError("this is the model of a classifier: use RuleClassifier.load or orthorules.load")
        self.loss = cast('Literal["squared", "poisson", "gamma"]', model.loss)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss != "squared"
        return tags
