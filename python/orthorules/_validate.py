"""Checks that scikit-learn has no function for."""

from __future__ import annotations

import datetime
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, _num_samples

# The largest whole number up to which float64 holds every one.
WHOLE = 2**53

# What is to be done about numbers that are larger still.
_LARGEST = "numbers are at most 1.8e308: take its logarithm, or leave the row out"

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


def target(y: Any, estimator: Any) -> NDArray[np.float64]:
    """The numbers to predict, of which none may be missing."""
    y = numbers(y, "y")
    complete(y)
    try:
        return np.asarray(_check_y(y, y_numeric=True, estimator=estimator), dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        remedy = "convert it, as with pd.to_numeric(y), or use RuleClassifier if these are classes"
        raise _at_index(error, y, "y", remedy) from None


def weights(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """One weight for each row of `X`, at least 0."""
    sample_weight = numbers(sample_weight, "sample_weight")
    try:
        checked: NDArray[np.float64] = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    except (ValueError, TypeError, OverflowError) as error:
        raise _at_index(error, sample_weight, "sample_weight", "weights are numbers, at least 0") from None
    return checked


def exposures(values: Any, rows: int) -> NDArray[np.float64]:
    """One positive number for each row."""
    array = _of_rows(values, rows, "exposure", "exposures are positive numbers")
    return _good(array, np.isfinite(array) & (array > 0), "exposure must be positive and finite")


def offsets(values: Any, rows: int) -> NDArray[np.float64]:
    """One finite number for each row."""
    array = _of_rows(values, rows, "offset", "offsets are finite numbers")
    return _good(array, np.isfinite(array), "offset must be finite")


def _of_rows(values: Any, rows: int, name: str, what: str) -> NDArray[np.float64]:
    """One number for each row."""
    values = numbers(values, name)
    try:
        array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise _at_index(error, values, name, what) from None
    if array.shape != (rows,):
        raise ValueError(f"{name}.shape == {array.shape}, expected {(rows,)}!")
    return array


def _good(array: NDArray[np.float64], good: NDArray[np.bool_], want: str) -> NDArray[np.float64]:
    bad = np.flatnonzero(~good)
    if len(bad):
        raise ValueError(f"{want}, got {array[bad[0]]:g} at index {bad[0]}: leave such rows out")
    return array


def factors(offset: NDArray[np.float64], exposure: NDArray[np.float64] | None) -> None:
    """An error unless exposure × exp(offset) can be counted with."""
    with np.errstate(over="ignore"):
        found = np.exp(offset) * (1.0 if exposure is None else exposure)
    bad = np.flatnonzero(~((found >= 1e-100) & (found <= 1e100)))
    if len(bad):
        what = "exp(offset)" if exposure is None else "exposure × exp(offset)"
        raise ValueError(
            f"{what} must be from 1e-100 to 1e100, got {found[bad[0]]:g} with offset {offset[bad[0]]:g} "
            f"at index {bad[0]}"
        )


def known(model: Any, exposure: Any, offset: Any, rows: int) -> dict[str, NDArray[np.float64]]:
    """Exposures and offsets of this many rows, by the names that a model has for them."""
    found = {}
    if exposure is not None:
        if model.exposure is None:
            raise ValueError("exposure was passed, but the model was fitted without exposure")
        exposure = found[model.exposure] = exposures(exposure, rows)
    if offset is None and model.offset is not None:
        raise ValueError("the model was fitted with offset: pass one number for each row, as offset=…")
    if offset is not None:
        if model.offset is None:
            raise ValueError("offset was passed, but the model was fitted without offset")
        offset = found[model.offset] = offsets(offset, rows)
        if model.task != "regression":
            factors(offset, exposure)
    return found


def same_length(X: Any, y: Any) -> None:
    """An error unless there is a target for each row."""
    rows, targets = _num_samples(X), _num_samples(y)
    if rows != targets:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows, y has {targets}; "
            "every row needs its own target"
        )


def complete(y: Any) -> None:
    """An error where a target is missing: None, NaN, NaT or pandas' NA."""
    array = np.asarray(y)
    if array.ndim not in (1, 2):
        return
    holes = np.flatnonzero(_missing(array))
    if len(holes):
        more = f", and {len(holes) - 1} more" if len(holes) > 1 else ""
        raise ValueError(
            f"Input y contains NaN: the value at index {holes[0]} is missing{more}; fill it in or drop the row, "
            "as with keep = ~pd.isna(y) and fit(X[keep], y[keep])"
        )


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are missing."""
    missing: Any = np.zeros(array.shape, dtype=bool)
    pandas = sys.modules.get("pandas")
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype.kind in "mM":
        missing = np.isnat(array)
    elif array.dtype.kind == "O" and pandas is not None:
        missing = pandas.isna(array)
    elif array.dtype.kind == "O":
        missing = [v is None or isinstance(v, float) and math.isnan(v) for v in array.flat]
    return np.asarray(missing, dtype=bool)


def _at_index(error: Exception, values: Any, what: str, remedy: str) -> Exception:
    """An error like this one, with the place of the value that caused it and what to do, where that is known."""
    cells = np.asarray(values, dtype=object)
    if cells.ndim == 0:
        return error
    for place, value in enumerate(cells.flat):
        if not _is_number(value):
            remedy = _LARGEST if _is_too_large(value) else remedy
            return _longer(error, f": {what} holds {_shown(value)} at index {place}; {remedy}")
    for place, value in enumerate(cells.flat):
        if not math.isfinite(float(value)):
            return _longer(error, f" {what} holds {_shown(value)} at index {place}: fill it in or drop the row")
    return error


def _longer(error: Exception, more: str) -> Exception:
    """An error of the same kind that says more."""
    text = str(error).rstrip(".") if more.startswith(":") else str(error)
    return (TypeError if isinstance(error, TypeError) else ValueError)(text + more)


def _is_number(value: Any) -> bool:
    """Whether a value is a number, or text that spells one."""
    try:
        float(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def as_float(value: Any) -> float:
    """A number as float64; one that is too large is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_too_large(value: Any) -> bool:
    """Whether a value is a number beyond all that float64 holds."""
    try:
        float(value)
    except OverflowError:
        return True
    except (ValueError, TypeError):
        return False
    return False


def too_large(values: Any, what: str) -> ValueError:
    """An error that names the first of some values that no float64 holds."""
    place, value = next((at, value) for at, value in enumerate(values) if _is_too_large(value))
    return ValueError(f"{what} holds {_shown(value)} at index {place}; {_LARGEST}")


def _shown(value: Any) -> str:
    """A value in an error message: what it is, and how it begins."""
    if _is_too_large(value):
        # Python refuses to write numbers of very many digits.
        digits = int(int(value).bit_length() * math.log10(2)) + 1
        return f"a {'whole ' if isinstance(value, int) else ''}number of about {digits} digits"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = text if len(text) <= 40 else f"{text[:39]}…"
    return f"the text {text}" if isinstance(value, str) else f"{text} ({type(value).__name__})"


def not_numbers(error: Exception, X: Any, names: list[str] | None) -> Exception:
    """What scikit-learn says of an array, with the first cell that is no number and a remedy, if there is one."""
    try:
        array = np.asarray(X)
    except OverflowError:
        array = np.asarray(X, dtype=object)
    except ValueError:
        return error
    if array.ndim != 2 or array.dtype.kind not in "OUS":
        return error
    for column in range(array.shape[1]):
        for row, value in enumerate(array[:, column]):
            if not _is_number(value):
                name = f"x{column}" if names is None else names[column]
                remedy = "convert it to a number, or to np.nan if it is missing"
                if _is_too_large(value):
                    remedy = _LARGEST
                elif isinstance(value, str):
                    remedy = (
                        "an array holds numbers: convert it, or pass a data frame, as with "
                        "pd.DataFrame(X).infer_objects(), in which text becomes categories"
                    )
                return _longer(error, f": column {name!r} holds {_shown(value)} at index {row}; {remedy}")
    if array.dtype.kind in "US":
        return _longer(error, " All of it spells numbers: use X.astype(float)")
    return error


def matrix(X: Any) -> Any:
    """`X` as scikit-learn should see it: masked cells are missing, and dates are refused rather than taken as
    numbers."""
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


def label_target(y: Any, estimator: Any) -> NDArray[Any]:
    """The labels to predict, of which none may be missing."""
    y = nullable(unmasked(y, "y"))
    complete(y)
    known = labels(_check_y(y, estimator=estimator))
    # Whole numbers too large for any type of NumPy's are labels like others.
    if not (known.dtype.kind == "O" and beyond(known)):
        try:
            check_classification_targets(known)
        except ValueError as error:
            more = " Use RuleRegressor for numbers." if "continuous" in str(error) else ""
            raise _longer(error, more) from None
    return known


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
        # Where kinds are mixed, the first that differs from the first label.
        odd = next((i for i, v in enumerate(array) if type(v) is not type(array[0])), 0)
        raise ValueError(
            f"Unknown label type: y holds {held}, as {_shown(array[odd])} at index {odd}, but labels are text, "
            "booleans or whole numbers: convert them, as with y.astype(str)"
        )
    return array
