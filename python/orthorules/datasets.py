"""The data sets of the demonstration, computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["friedman1", "tic_tac_toe"]


def _split(name: str, target: str, rows: int = 0, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    import pandas as pd

    frame = pd.DataFrame(_native.generate(name, rows, seed))
    return frame.drop(columns=target), frame[target]


def tic_tac_toe() -> tuple[pd.DataFrame, pd.Series]:
    """The 958 positions in which tic-tac-toe can end when x moves first, and whether x wins (`yes` or `no`).

    Nine columns, one for each square, with the values `x`, `o` and `blank`.
    """
    X, y = _split("tic_tac_toe", "x_wins")
    return X.astype("category"), y


def friedman1(rows: int = 1000, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Friedman's first function with noise of variance 1.

    Ten uniform columns `x1` to `x10`; `y = 10 sin(π x1 x2) + 20 (x3 − ½)² + 10 x4 + 5 x5 + noise`.
    """
    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    return _split("friedman1", "y", rows, seed)
