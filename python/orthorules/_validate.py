"""Checks that scikit-learn has no function for."""

from __future__ import annotations

import datetime
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The largest whole number up to which float64 holds every one.
WHOLE = 2**53

_TIMES = (np.datetime64, np.timedelta64, datetime.date, datetime.time, datetime.timedelta)


def required(estimator: Any, y: Any) -> None:
    """Says, in scikit-learn's words, that a target is missing."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )


def unmasked(values: Any, what: str) -> Any:
    """`values`, of which none may be masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    masked = np.ma.getmaskarray(values)
    if masked.any():
        place = int(np.flatnonzero(masked)[0])
        raise ValueError(f"{what} is masked at index {place}: fill it in or drop the row")
    return values.data


def numbers(values: Any, what: str) -> Any:
    """`values`, which may be neither masked nor dates."""
    values = unmasked(values, what)
    refuse_dates(values, what)
    return values


def matrix(X: Any) -> Any:
    """`X` as scikit-learn should see it: masked cells are missing, and dates are refused rather than taken as numbers."""
    refuse_dates(X, "X")
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype.kind in "biu":
        return np.where(np.ma.getmaskarray(X), np.nan, X.data.astype(np.float64))
    return X.filled(np.nan)


def refuse_dates(values: Any, what: str) -> None:
    """An error where an array holds dates or spans of time."""
    if not isinstance(values, np.ndarray):
        return
    kind = values.dtype.kind
    if kind == "O":
        found = next((t for t in {type(v) for v in values.flat} if issubclass(t, _TIMES)), None)
        if found is None:
            return
        dtype = found.__name__
        spans = issubclass(found, np.timedelta64 | datetime.timedelta)
    elif kind in "Mm":
        dtype, spans = str(values.dtype), kind == "m"
    else:
        return
    remedy = f"{what} / np.timedelta64(1, 'D')" if spans else f"({what} - {what}.min()) / np.timedelta64(1, 'D')"
    raise TypeError(f"{what} holds dates or times ({dtype}), and rules compare numbers: convert them, as with {remedy}")


def beyond(values: NDArray[Any]) -> bool:
    """Whether there are whole numbers that float64 may not hold."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.compressed()
    if values.dtype.kind in "iu":
        return bool(values.size) and (int(values.max()) > WHOLE or int(values.min()) < -WHOLE)
    if values.dtype.kind == "O":
        return any(isinstance(v, int | np.integer) and abs(int(v)) > WHOLE for v in values.flat)
    return False


def nullable(y: Any) -> Any:
    """`y` with pandas' own whole numbers as NumPy's: scikit-learn would make float64 of them."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(y, pandas.Series) or isinstance(y.dtype, np.dtype):
        return y
    types = pandas.api.types
    if not types.is_integer_dtype(y.dtype) or y.isna().any():
        return y
    return y.to_numpy(dtype=np.uint64 if types.is_unsigned_integer_dtype(y.dtype) else np.int64)


def integers(values: list[int]) -> NDArray[Any]:
    """An array that holds these numbers as they are."""
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if all(limits.min <= v <= limits.max for v in values):
            return np.array(values, dtype=dtype)
    return np.array(values, dtype=object)


def labels(y: Any) -> NDArray[Any]:
    """Labels that are Python objects as an array of what they are; others as they are."""
    array = np.asarray(nullable(unmasked(y, "y")))
    if array.dtype.kind != "O" or array.ndim != 1:
        return array
    kinds = {type(v) for v in array}
    if kinds and all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return array.astype(bool)
    if kinds and all(issubclass(kind, int | np.integer) and not issubclass(kind, bool) for kind in kinds):
        return integers([int(v) for v in array])
    if kinds and all(issubclass(kind, float | np.floating) for kind in kinds):
        return array.astype(np.float64)
    if not all(issubclass(kind, str) for kind in kinds):
        held = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"Unknown label type: y holds {held}, but labels are text, booleans or whole numbers: "
            "convert them, as with y.astype(str)"
        )
    return array
