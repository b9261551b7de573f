"""Classes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import BaseRules
from ._doc import documented
from ._frame import free_name, label
from ._parameters import ClassifierParameters
from ._validate import beyond, integers, label_target, labels, required, same_length, weights

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")


@documented
class RuleClassifier(ClassifierParameters, ClassifierMixin, BaseRules):  # type: ignore[misc]
    """Additive rules for classes, by logistic loss.

    With two classes a row's log-odds are the sum of the weights of all rules that hold. With more, every rule has a
    weight for each class, and probabilities are the softmax of the sums; or, if `multiclass` says so, there is one list
    of rules for each class against the rest.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray
        The labels, in order.
    cv_measures_ : dict
        How well the chosen size predicts rows that folds held out: `auc` (with more than two classes the mean of those
        of each against all others), `accuracy` and `log_loss`. Empty without cross-validation.
    {attributes}

    Examples
    --------
    >>> from orthorules import RuleClassifier, datasets
    >>> X, y = datasets.tic_tac_toe()
    >>> model = RuleClassifier(search="beam", beam_width=50).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    classes_: NDArray[Any]

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        eval_set: Any = None,
        from_model: Any = None,
    ) -> RuleClassifier:
        """Learns rules.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            NumPy, pandas, Polars, PyArrow or anything with the Arrow PyCapsule interface. NaN is a missing value.
        y : array of shape (n_samples,)
            Labels: text, booleans or whole numbers.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as the row twice.
        groups : array of shape (n_samples,), optional
            Rows of one group stay together in cross-validation and bootstrap.
        eval_set : tuple (X, y), or list of tuples, optional
            Rows that take no part in the fit. `eval_risks_` is the risk of every size on them. A tuple may go on with
            weights: (X, y, sample_weight).
        from_model : fitted estimator or path of a model, optional
            The fit goes on from its rules and trends: they stay, with weights that are fitted to X and y, and the
            search goes on around them. `moved_` tells how weights moved.
        """
        required(self, y)
        name = getattr(y, "name", None)
        X = self._validated(X, reset=True)
        y = label_target(y, self)
        same_length(X, y)
        weight = None if sample_weight is None else weights(sample_weight, y)
        # A row of weight 0 is a row that is not there.
        classes = np.unique(y if weight is None else y[weight > 0])
        weight = self._weighted_classes(classes, y, weight)
        classes = classes if weight is None else np.unique(y[weight > 0])
        if len(classes) < 2:
            only = f": {classes.tolist()[0]!r}" if len(classes) else ""
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, "
                f"but the data contains only one class{only}"
            )
        if self.monotonic_cst is not None and len(classes) > 2:
            raise ValueError("monotonic constraints are not supported for multiclass classification.")
        positive = self._positive(classes)
        held = self._held_out(eval_set, {}, partial(self._judged, classes))
        table = self._training_table(X)
        target = free_name(name, "y", set(self._names()))
        _add_labels(table, target, classes, y)
        self._learn(table, "classification", y, target, weight, None, groups, positive, from_model=from_model)
        self.classes_ = classes
        self._judge(held)
        return self

    def _weighted_classes(
        self, classes: NDArray[Any], y: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """What the rows count with `class_weight`."""
        if self.class_weight is None or not len(classes):
            return weight
        codes = _codes(classes, y)
        rows = np.ones(len(y)) if weight is None else weight
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            # A row of weight 2 counts as two rows here too.
            factors = rows.sum() / (len(classes) * np.bincount(codes, rows, len(classes)))
        else:
            factors = compute_class_weight(self.class_weight, classes=classes, y=classes)
        if not (np.isfinite(factors).all() and (factors >= 0).all()):
            raise ValueError(f"class_weight must be at least 0 and finite, got {self.class_weight!r}")
        weighted: NDArray[np.float64] = rows * factors[codes]
        return weighted

    def _judged(self, classes: NDArray[Any], y: Any) -> NDArray[Any]:
        """Labels that predictions can be compared with: all are among the `classes`."""
        known = label_target(y, self)
        new = np.flatnonzero(~np.isin(known, classes))
        if len(new):
            raise ValueError(
                f"y holds {known[new[:1]].tolist()[0]!r} at index {new[0]}, which is no class of the training rows: "
                "leave such rows out"
            )
        return known

    def _add_target(self, table: _native.Table, name: str, y: NDArray[Any]) -> None:
        _add_labels(table, name, self.classes_, y)

    def _positive(self, classes: NDArray[Any]) -> str | None:
        if self.positive is None:
            return None
        if len(classes) > 2:
            raise ValueError(f"positive needs two classes, but there are {len(classes)}")
        if self.positive not in classes:
            raise ValueError(f"positive is {self.positive!r}, but the classes are {classes.tolist()}")
        return label(classes[list(classes).index(self.positive)])

    def _columns(self) -> list[int]:
        """For every class in order, its place among the engine's."""
        known = self._model.classes
        return [known.index(name) for name in _labels(self.classes_)[1]]

    def _probabilities(self, activations: _native.Activations, size: int) -> NDArray[np.float64]:
        columns = self._columns()
        return activations.predict(size).reshape(-1, len(columns))[:, columns]

    def _predicted(self, activations: _native.Activations, size: int) -> NDArray[Any]:
        order = np.argsort(self._columns())
        predicted: NDArray[Any] = self.classes_[order[activations.labels(size)]]
        return predicted

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        return self._predicted(self._apply(X), self._size)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class, in the order of `classes_`."""
        return self._probabilities(self._apply(X), self._size)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The log-odds of the last of two classes; with more, the score of each class."""
        scores = self._apply(X).scores(self._size)
        if len(scores) == 1:
            # A score that is a probability turns at one half.
            score = scores[0] - 0.5 if self._model.link == "identity" else scores[0]
            return score if self._columns() == [0, 1] else -score
        return np.column_stack([scores[c] for c in self._columns()])

    @property
    def cv_measures_(self) -> dict[str, float]:
        """How well the chosen size predicts rows that folds held out; empty without cross-validation."""
        check_is_fitted(self)
        found = self._model.cv_measures
        if found is None or self._size != self._model.chosen:
            return {}
        measures = zip(("auc", "accuracy", "log_loss"), found, strict=True)
        return {name: value for name, value in measures if value is not None}

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predictions of every size in `path_`, from the constant on."""
        for activations, size in self._staged(X):
            yield self._predicted(activations, size)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Probabilities at every size in `path_`, from the constant on."""
        for activations, size in self._staged(X):
            yield self._probabilities(activations, size)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows whose class is predicted."""
        known = labels(y)
        if known.dtype.kind == "O" and beyond(known):
            return float(np.average(self.predict(X) == known, weights=sample_weight))
        return float(super().score(X, known, sample_weight))

    def _add_known(self, table: _native.Table, y: Any, rows: int) -> None:
        known = label_target(y, self)
        if len(known) != rows:
            raise ValueError(f"y has {len(known)} rows, X has {rows}")
        unknown = [value for value in known if value not in self.classes_]
        if unknown:
            raise ValueError(f"y holds {unknown[0]!r}, but the classes are {self.classes_.tolist()}")
        self._add_target(table, self._model.target, known)

    def _adopt(self, model: _native.Model) -> None:
        if model.task != "classification":
            raise ValueError("this is the model of a regressor: use RuleRegressor.load or orthorules.load")
        names, kind = model.classes, model.target_kind
        if kind == "boolean" and set(names) == {"false", "true"}:
            self.classes_ = np.array([False, True])
        elif kind == "numeric":
            if any(_native.plain(float(name)) != name for name in names) and all(map(_INTEGER.fullmatch, names)):
                self.classes_ = integers(sorted(int(name) for name in names))
                return
            numbers = np.array(sorted(float(name) for name in names))
            whole = (numbers == np.round(numbers)).all() and (np.abs(numbers) < 2**53).all()
            self.classes_ = numbers.astype(np.int64) if whole else numbers
        else:
            self.classes_ = np.array(sorted(names), dtype=object)


def _codes(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.intp]:
    """The place of each label among the classes; any place for rows that are of none, since their weight is 0."""
    return np.searchsorted(classes, y).clip(max=len(classes) - 1)


def _add_labels(table: _native.Table, name: str, classes: NDArray[Any], y: NDArray[Any]) -> None:
    """Adds the labels `y` to a table."""
    kind, names = _labels(classes)
    values = y if kind == "numeric" else _codes(classes, y)
    table.add_labels(name, kind, np.ascontiguousarray(values, dtype=np.float64), names)


def _labels(classes: NDArray[Any]) -> tuple[str, list[str]]:
    """What the labels are, and their texts as the engine has them."""
    if classes.dtype.kind == "b":
        return "boolean", [label(c) for c in classes]
    if beyond(classes):
        return "spelled", [str(int(c)) for c in classes]
    if classes.dtype.kind in "iuf":
        return "numeric", [_native.plain(float(c)) for c in classes]
    return "categorical", [label(c) for c in classes]
