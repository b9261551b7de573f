"""Fits whose rows lie elsewhere: what every engine that carries messages shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._files import from_json
from ._progress import Progress
from ._regressor import _TASKS

# The bytes that were sent, those that came back, and the seconds in between.
Round = tuple[int, int, float]


class Missing(list):  # type: ignore[type-arg]
    """The numbers of partitions that a worker was asked for and does not have."""


def merged(replies: list[Any]) -> Any:
    """Replies of neighbours, in order, as one; or all that is missing."""
    missing = [number for reply in replies if isinstance(reply, Missing) for number in reply]
    if missing:
        return Missing(missing)
    while len(replies) > 1:
        pairs = [replies[i : i + 2] for i in range(0, len(replies), 2)]
        replies = [_native.merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return replies[0]


def refuse(local: Any, instead: str) -> None:
    """An error for what the engine does not hear of; row weights are passed as `instead`."""
    if getattr(local, "class_weight", None) is not None:
        raise ValueError(f"class_weight cannot be had on several machines: pass {instead}")


def _task(local: Any) -> str:
    if not hasattr(local, "loss"):
        return "classification"
    if local.loss not in _TASKS:
        raise ValueError(f"loss must be 'squared', 'poisson' or 'gamma', got {local.loss!r}")
    return _TASKS[local.loss]


def started(
    local: Any,
    names: dict[str, str | None],
    categorical: list[str],
    gather: Any,
    by_type: list[str] | None = None,
    ordered: dict[str, list[str]] | None = None,
) -> _native.Fit:
    """A fit that asks, with the parameters of an ordinary estimator; `names` has the target, weight, exposure and
    offset, `by_type` the columns that are categories because of their type, and `ordered` the levels of those in order.
    """
    if gather not in ("auto", "never"):
        raise ValueError(f"gather must be 'auto' or 'never', got {gather!r}")
    monotone = local.monotonic_cst
    if monotone is not None and not isinstance(monotone, dict):
        raise ValueError("monotonic_cst must be a dict of column names to -1, 0 or 1 here")
    positive = getattr(local, "positive", None)
    target = names["target"]
    if target is None:
        raise ValueError("the target is missing")
    return _native.Fit(
        target=target,
        task=_task(local),
        weight=names["weight"],
        exposure=names["exposure"],
        offset=names["offset"],
        positive=None if positive is None else str(positive),
        categorical=categorical,
        by_type=by_type or [],
        ordered=ordered or {},
        gather=gather,
        preset=local.preset,
        cuts=local._cuts(),
        special=local._special(),
        monotone={str(name): int(d) for name, d in (monotone or {}).items() if d},
        **local._options(None),
    )


def learned(local: Any, fit: _native.Fit, ask: Callable[[bytes], bytes]) -> tuple[Any, list[str], int]:
    """An ordinary estimator with the model that the fit comes to, what a user should know of it, and the nodes
    searched."""
    squared = getattr(local, "loss", None) == "squared"
    progress = Progress(int(local.verbose), squared) if local.verbose else None
    try:
        while (message := fit.ask()) is not None:
            fit.answer(ask(message))
            for step in fit.news():
                if progress is not None:
                    progress(*step)
        model, seconds, notes, searched = fit.result()
    finally:
        fit.stop()
        if progress is not None:
            progress.close()
    fitted = type(local)._of(model)
    fitted.set_params(**local.get_params(deep=False))
    fitted.seconds_ = dict(seconds)
    return fitted, notes, searched


def predicted(X: Any, text: str, method: str, known: dict[str, Any] | None = None) -> Any:
    """What the model in a document says of some rows, whose exposures and offsets may be `known`."""
    if len(X) == 0:
        # There is nothing to ask an estimator.
        model = from_json(text)
        classes = getattr(model, "classes_", None)
        shape = (0, len(classes)) if method == "predict_proba" and classes is not None else (0,)
        return np.empty(shape, dtype=classes.dtype if method == "predict" and classes is not None else np.float64)
    return getattr(from_json(text), method)(X, **(known or {}))
