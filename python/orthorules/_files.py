"""Models from files and text, whichever side wrote them."""

from __future__ import annotations

from os import PathLike
from typing import Any

from . import _native
from ._classifier import RuleClassifier
from ._regressor import RuleRegressor


def _home(model: _native.Model) -> Any:
    return RuleClassifier if model.task == "classification" else RuleRegressor


def load(path: str | PathLike[str]) -> RuleRegressor | RuleClassifier:
    """The model in the file at `path`, as the estimator that fits its task."""
    model = _native.Model.load(path)
    fitted: RuleRegressor | RuleClassifier = _home(model)._of(model)
    return fitted


def from_json(text: str) -> RuleRegressor | RuleClassifier:
    """The model of a JSON document, as the estimator that fits its task."""
    model = _native.Model.from_json(text)
    fitted: RuleRegressor | RuleClassifier = _home(model)._of(model)
    return fitted
