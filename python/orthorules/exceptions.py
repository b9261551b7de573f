"""What this package warns of. Its errors are Python's own: `ValueError` for values, `TypeError` for types."""

from __future__ import annotations

import os
import sys
import warnings

__all__ = ["DataWarning"]

_HERE = os.path.dirname(__file__)


class DataWarning(UserWarning):
    """Something about the data or the fit that a user should know although it does not stop the work.

    A column was left out, words among numbers count as missing, rows have weight 0, a class has a single row.
    `warnings.simplefilter("ignore", DataWarning)` silences them.
    """


def tell(text: str) -> None:
    """Warns the caller of this package: the warning names a line of theirs."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, DataWarning, stacklevel=level)
