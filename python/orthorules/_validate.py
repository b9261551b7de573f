"""Checks that scikit-learn has no function for."""

from __future__ import annotations

from typing import Any


def required(estimator: Any, y: Any) -> None:
    """Says, in scikit-learn's words, that a target is missing."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
