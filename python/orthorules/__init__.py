"""Readable rule ensembles that predict well: scikit-learn estimators over a Rust engine.

>>> from orthorules import RuleRegressor, datasets
>>> X, y = datasets.friedman1(rows=500, seed=1)
>>> model = RuleRegressor(max_rules=4).fit(X, y)
>>> print(model.rules_[["rule", "weight"]])  # doctest: +SKIP

Importing the package loads NumPy and the engine. scikit-learn is loaded with the first estimator, pandas with the first
data frame, matplotlib with the first plot.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._native import __version__

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import exceptions as exceptions
    from ._classifier import RuleClassifier as RuleClassifier
    from ._files import from_json as from_json
    from ._files import load as load
    from ._regressor import RuleRegressor as RuleRegressor

_HOMES = {
    "RuleRegressor": "._regressor",
    "RuleClassifier": "._classifier",
    "load": "._files",
    "from_json": "._files",
}

__all__ = ["RuleClassifier", "RuleRegressor", "__version__", "datasets", "exceptions", "from_json", "load"]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "exceptions"):
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
