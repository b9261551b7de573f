"""Rows that judge every size of a fit without taking part in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
