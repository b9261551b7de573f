"""Data in: arrays and data frames to the engine's tables.

Every column becomes one of: numbers (float64, not copied where they lie in one piece), booleans, codes into names, text
whose meaning the engine finds as it does in CSV, or dates, which it leaves out with a warning. Nothing here imports
pandas, Polars or PyArrow unless the data are theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._validate import WHOLE, beyond, too_large
from .exceptions import tell

Cells = tuple[Any, ...]

ROUNDED = (
    "{what} holds whole numbers beyond 2**53, which are rounded to the nearest float64; "
    "if they are names rather than sizes, use categorical_features, or leave them out"
)
_PLAIN = (str, bool, int, float, np.bool_, np.integer, np.floating)
_NEITHER = "column {name!r} holds {dtype}, which is neither number nor text: drop it or convert it"


def library(X: Any) -> str:
    """Whose table `X` is: `pandas`, `polars`, `arrow` (anything with the Arrow PyCapsule interface) or `array`."""
    for name in ("pandas", "polars"):
        module = sys.modules.get(name)
        if module is not None and isinstance(X, module.DataFrame):
            return name
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
        series = tuple(m.Series for m in (polars, pandas) if m is not None)
        if not isinstance(X, series) and not hasattr(X, "__array__"):
            return "arrow"
        if type(X).__module__.startswith("pyarrow") and hasattr(X, "column_names"):
            return "arrow"
    return "array"


def opened(X: Any) -> Any:
    """`X` itself, or a stream of Arrow data as a table with columns that can be asked for."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError("X is a LazyFrame, a plan for data: call .collect() first")
    if library(X) != "arrow" or type(X).__name__ == "Table" and type(X).__module__.startswith("pyarrow"):
        return X
    try:
        import pyarrow as pa
    except ImportError:
        if "polars" in sys.modules:
            return sys.modules["polars"].DataFrame(X)
        raise ImportError("reading Arrow data needs pyarrow: pip install pyarrow") from None
    if hasattr(X, "__arrow_c_stream__"):
        return pa.table(X)
    return pa.Table.from_batches([pa.record_batch(X)])


def columns_of(X: Any) -> list[Any]:
    """The names of a data frame's columns."""
    return list(X.column_names) if library(X) == "arrow" else list(X.columns)


def rows_of(X: Any) -> int:
    """How many rows an array or a data frame has."""
    return int(X.num_rows) if library(X) == "arrow" else len(X)


def free_name(wish: Any, otherwise: str, taken: set[str]) -> str:
    """A column name that is not taken: the wish if there is one."""
    name = wish if isinstance(wish, str) and wish else otherwise
    while name in taken:
        name += "_"
    return name


def names_that_are_no_text(X: Any) -> list[Any] | None:
    """The names of a pandas frame's columns if none of them is text."""
    if library(X) != "pandas":
        return None
    names = columns_of(X)
    return None if any(isinstance(name, str) for name in names) else names


def refuse_text(table: _native.Table, numeric: Collection[str]) -> None:
    """An error where a column of the model's numbers holds none."""
    found = table.not_numeric(list(numeric))
    if found is None:
        return
    name, row, text = found
    column = f"X[{name!r}]"
    if text.count(",") == 1:
        column += ".str.replace(',', '.')"
    raise ValueError(
        f"column {name!r} held numbers when the model was fitted, but holds the text {text!r} at index {row}: convert "
        f"it, as with pd.to_numeric({column}, errors='coerce')"
    )


def table(
    X: Any,
    which: Sequence[int],
    names: Sequence[str],
    categorical: list[str],
    keep: bool,
    text: bool,
    threads: int | None,
    spelled: Collection[str] = (),
    numeric: Collection[str] = (),
) -> _native.Table:
    """The columns `which` of `X` under their `names`. `text` says whether columns that are not numbers are welcome,
    `threads` how many may copy columns of an array that do not lie in one piece; with None these are read where they
    are. Of the columns in `categorical` and `spelled`, dates and whole numbers that float64 does not hold are taken as
    text. Columns in `numeric` are known to hold numbers: where they are text, what is no number is missing.
    """
    spelled = {*categorical, *spelled}
    if library(X) == "array":
        whole = X.dtype.kind in "iu" and beyond(X[:, which])
        if not whole and X.dtype not in (np.float64, np.float32):
            X = _matrix(X[:, which], names)
            which = range(len(which))
        if not whole:
            return _native.Table.of_array(X, list(which), list(names), categorical, threads)
    read = _READERS[library(X)]
    cells = []
    for i, name in zip(which, names, strict=True):
        cell = read(X, i, name, name in spelled)
        if cell[1] == "text" and name in numeric:
            cell = (name, "numerals", *cell[2:])
        if cell[1] == "booleans" and name in numeric:
            cell = _numbers(name, np.where(cell[2] < 0, np.nan, cell[2]))
        if not text and cell[1] in ("codes", "text"):
            raise ValueError(
                f"column {name!r} holds categories, but categorical_features is None: "
                "use categorical_features='from_dtype', or encode it"
            )
        if cell[1] == "rounded":
            if not keep:
                tell(ROUNDED.format(what=f"column {name!r}"))
            cell = (name, "numbers", cell[2])
        cells.append(cell)
    return _native.Table.of_columns(cells, categorical, list(names) if keep else [])


def _matrix(X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
    """The numbers of an array, column by column in memory; an error names one that is too large."""
    try:
        return X.astype(np.float64, order="F")
    except OverflowError:
        pass
    for column, name in enumerate(names):
        try:
            X[:, column].astype(np.float64)
        except OverflowError:
            raise too_large(X[:, column], f"column {name!r}") from None
    raise ValueError("X holds numbers that are too large for float64")


def as_arrow(X: Any, features: int) -> Any:
    """The columns of a pandas frame as Arrow's, so that a file of them is read as the frame would be. Those after the
    first `features` are the target and the like, and stay as they are.
    """
    import pandas as pd
    import pyarrow as pa

    def column(i: int) -> Any:
        values = X.iloc[:, i]
        if i >= features:
            return pa.Array.from_pandas(values)
        if pd.api.types.is_object_dtype(values.dtype) and values.isna().all():
            return pa.nulls(len(values))
        name, kind, *cells = _pandas(X, i, str(X.columns[i]), False)
        if kind == "dates":
            return pa.Array.from_pandas(values)
        if kind in ("numbers", "rounded"):
            # Whole numbers keep their digits, which categories need.
            whole = pd.api.types.is_integer_dtype(values.dtype)
            return pa.Array.from_pandas(values) if whole else pa.array(cells[0])
        codes = cells[0]
        if kind == "booleans":
            return pa.array(codes == 1, mask=codes < 0)
        names = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(cells[1], pa.large_string()))
        # What text means, say numbers, is found by the engine; categories are what they are.
        return names.dictionary_decode() if kind == "text" else names

    return pa.table([column(i) for i in range(X.shape[1])], names=[str(name) for name in X.columns])


def tell_of_columns(table: _native.Table) -> None:
    """Warns of what the engine left out, and of how it understood text."""
    for text in table.warnings:
        tell(text)


def label(value: Any) -> str:
    """A category as the engine names it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return _native.plain(float(value))
    return str(value)


def _numbers(name: str, values: NDArray[Any]) -> Cells:
    return (name, "numbers", np.asarray(values, dtype=np.float64))


def _rounded(name: str, values: NDArray[Any]) -> Cells:
    """Whole numbers that float64 does not hold, as the nearest that it does."""
    return (name, "rounded", np.asarray(values, dtype=np.float64))


def _are_beyond(least: Any, most: Any) -> bool:
    """Whether whole numbers from `least` to `most`, if there are any, may not be held by float64."""
    return least is not None and most is not None and bool(least < -WHOLE or most > WHOLE)


def _codes(name: str, codes: Any, names: Iterable[Any]) -> Cells:
    codes, names = np.asarray(codes, dtype=np.int64), list(names)
    known = [not _is_missing(n) for n in names]
    if not all(known):
        # A dictionary of Arrow's may have a value that is missing. Code -1, which has no name, is the last place.
        codes = np.append(np.where(known, np.cumsum(known) - 1, -1), -1)[codes]
        names = [n for n, there in zip(names, known, strict=True) if there]
    return (name, "codes", codes, [label(n) for n in names])


def _is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NaT or pandas' NA."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _ordered(cells: Cells) -> Cells:
    """Categories that are in order. One alone has none."""
    name, _, codes, names = cells
    levels = in_order(name, names)
    return (name, "codes", codes, names) if len(levels) < 2 else (name, "ordered", codes, names)


def in_order(name: str, categories: Iterable[Any]) -> list[str]:
    """Ordered categories as the engine names them, without those that are missing; an error if two have one name."""
    levels = [label(category).strip() for category in categories if not _is_missing(category)]
    levels = [level for level in levels if level]
    for place, level in enumerate(levels):
        if level in levels[:place]:
            raise ValueError(f"column {name!r} has two ordered categories {level!r}, blanks aside: rename one of them")
    return levels


def _text(name: str, codes: Any, names: Iterable[Any], *, spelled: bool) -> Cells:
    """Text, which is categories if it is to be `spelled` and else whatever it looks like."""
    return (name, "codes" if spelled else "text", *_codes(name, codes, names)[2:])


def _booleans(name: str, numbers: NDArray[Any]) -> Cells:
    """False and true from 0 and 1; NaN is missing."""
    return (name, "booleans", np.where(np.isnan(numbers), -1, numbers).astype(np.int64))


def _array(X: Any, i: int, name: str, spelled: bool) -> Cells:
    column = X[:, i]
    if not beyond(column):
        return _numbers(name, column)
    if not spelled:
        return _rounded(name, column)
    names, codes = np.unique(column, return_inverse=True)
    return _codes(name, codes, names)


def _pandas(X: Any, i: int, name: str, spelled: bool) -> Cells:
    pd = sys.modules["pandas"]
    column = X.iloc[:, i]
    dtype = column.dtype
    types = pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        cells = _codes(name, column.cat.codes, column.cat.categories)
        return _ordered(cells) if dtype.ordered else cells
    if isinstance(dtype, pd.SparseDtype):
        raise TypeError(f"column {name!r} is sparse, but dense data is required: use .sparse.to_dense()")
    if types.is_complex_dtype(dtype):
        raise ValueError("Complex data not supported")
    if types.is_bool_dtype(dtype):
        return _booleans(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_integer_dtype(dtype) and (there := column.dropna()).size and _are_beyond(there.min(), there.max()):
        return _beyond(pd, column, name, spelled)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return _numbers(name, column.to_numpy())
    if types.is_numeric_dtype(dtype):
        return _numbers(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return _dates(pd, column, name, spelled)
    if types.is_object_dtype(dtype):
        return _objects(pd, column, name, spelled)
    if str(dtype).startswith("null"):
        return _numbers(name, np.full(len(column), np.nan))
    if str(dtype).startswith("dictionary"):
        return _codes(name, *pd.factorize(column))
    if types.is_string_dtype(dtype):
        return _text(name, *pd.factorize(column), spelled=spelled)
    raise TypeError(_NEITHER.format(name=name, dtype=dtype))


def _beyond(pd: Any, column: Any, name: str, spelled: bool) -> Cells:
    """Whole numbers that float64 does not hold."""
    if spelled:
        return _codes(name, *pd.factorize(column))
    return _rounded(name, _floats(column, name))


def _floats(column: Any, name: str) -> NDArray[Any]:
    """The numbers of a pandas column as float64; an error names one that is too large."""
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except OverflowError:
        raise too_large(column, f"column {name!r}") from None


def _dates(pd: Any, column: Any, name: str, spelled: bool) -> Cells:
    """Dates as text, whose parts the engine finds; spans and periods of time only where they are to be `spelled`."""
    typed = pd.api.types.is_datetime64_any_dtype(column.dtype)
    if not typed and not pd.api.types.is_object_dtype(column.dtype) and not spelled:
        return (name, "dates")
    if not typed:
        return _text(name, *pd.factorize(column.astype(str).where(column.notna())), spelled=spelled)
    if isinstance(column.dtype, pd.ArrowDtype):
        import pyarrow as pa

        return _arrow(pa.table({name: pa.array(column)}), 0, name, spelled)
    codes, moments = pd.factorize(column)
    # With the time in any case: whether a column has one does not depend on which rows of it are there.
    if spelled:
        return _text(name, codes, map(str, moments), spelled=spelled)
    clocks = pd.DatetimeIndex(moments).tz_localize(None).to_numpy()
    return _text(name, codes, np.datetime_as_string(clocks, unit="s").tolist(), spelled=spelled)


def _objects(pd: Any, column: Any, name: str, spelled: bool) -> Cells:
    """A column of Python objects, by what they are."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "string":
        return _text(name, *pd.factorize(column), spelled=spelled)
    if kind in ("mixed", "mixed-integer") and all(isinstance(value, _PLAIN) for value in column.dropna()):
        # As it would be written to CSV.
        return _text(name, *pd.factorize(column.map(label, na_action="ignore")), spelled=spelled)
    if kind == "boolean":
        return _booleans(name, column.astype("boolean").to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "integer" and _are_beyond((there := column.dropna()).min(), there.max()):
        return _beyond(pd, column, name, spelled)
    if kind in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
        return _numbers(name, _floats(column, name))
    if kind in ("datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"):
        return _dates(pd, column, name, spelled)
    odd = next((i for i, v in enumerate(column) if not isinstance(v, _PLAIN) and pd.isna(v) is not True), 0)
    raise TypeError(
        f"column {name!r} mixes kinds of values ({kind}), such as {type(column.iloc[odd]).__name__} at index {odd}: "
        f"make it numbers or text, as with X[{name!r}].astype(str)"
    )


def _polars(X: Any, i: int, name: str, spelled: bool) -> Cells:
    pl = sys.modules["polars"]
    column = X.to_series(i)
    dtype = column.dtype
    large = dtype.is_integer() and _are_beyond(column.min(), column.max())
    if (dtype.is_numeric() or dtype == pl.Null) and not (large and spelled):
        return (_rounded if large else _numbers)(name, column.cast(pl.Float64).to_numpy())
    if dtype == pl.Boolean:
        return _booleans(name, column.cast(pl.Float64).to_numpy())
    if dtype.is_temporal():
        if not spelled and dtype not in (pl.Date, pl.Datetime):
            return (name, "dates")
        text = column.dt.to_string("iso") if dtype in (pl.Date, pl.Datetime) else column.cast(pl.String)
        names = text.drop_nulls().unique(maintain_order=True)
        codes = text.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(-1)
        return _text(name, codes.to_numpy(), names.to_list(), spelled=spelled)
    if dtype == pl.Enum:
        codes = column.to_physical().cast(pl.Int64).fill_null(-1)
        return _ordered(_codes(name, codes.to_numpy(), dtype.categories.to_list()))
    if not large and dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise TypeError(_NEITHER.format(name=name, dtype=dtype))
    text = column.cast(pl.String)
    names = text.drop_nulls().unique(maintain_order=True)
    codes = text.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(-1)
    return _text(name, codes.to_numpy(), names.to_list(), spelled=spelled or dtype != pl.String)


def _arrow(X: Any, i: int, name: str, spelled: bool) -> Cells:
    import pyarrow as pa
    import pyarrow.compute as pc

    column, kind = X.column(i), X.schema.field(i).type
    types = pa.types
    ends = pc.min_max(column).as_py() if types.is_integer(kind) else {"min": None, "max": None}
    large = _are_beyond(ends["min"], ends["max"])
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        if not (large and spelled):
            return (_rounded if large else _numbers)(name, _arrow_numbers(pa, column))
    elif types.is_boolean(kind):
        return _booleans(name, _arrow_numbers(pa, pc.cast(column, pa.int8())))
    elif types.is_temporal(kind):
        if not spelled and not (types.is_date(kind) or types.is_timestamp(kind)):
            return (name, "dates")
        if types.is_timestamp(kind):
            column = pc.cast(_clocks(pc, column, kind), pa.timestamp("s"), safe=False)
    elif types.is_dictionary(kind):
        cells = _arrow_codes(pa, pc, name, column)
        return _ordered(cells) if kind.ordered else cells
    elif not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
        raise TypeError(_NEITHER.format(name=name, dtype=kind))
    _, _, codes, names = _arrow_codes(pa, pc, name, pc.dictionary_encode(pc.cast(column, pa.large_string())))
    return _text(name, codes, names, spelled=spelled)


def _clocks(pc: Any, column: Any, kind: Any) -> Any:
    """Moments as the clocks of their own time zone showed them, as pandas and Polars write them."""
    if kind.tz is None:
        return column
    try:
        return pc.local_timestamp(column)
    except ValueError:
        # Arrow looks for time zones on the machine, where there may be none; pandas brings them along.
        import pandas as pd
        import pyarrow as pa

        local = pd.Series(column.to_pandas()).dt.tz_localize(None)
        return pa.chunked_array([pa.array(local, type=pa.timestamp(kind.unit))])


def _arrow_numbers(pa: Any, column: Any) -> NDArray[Any]:
    if column.type != pa.float64():
        # Rounded where it must be, as everywhere else.
        column = column.cast(pa.float64(), safe=False)
    if column.num_chunks == 1 and column.null_count == 0:
        array: NDArray[Any] = column.chunk(0).to_numpy(zero_copy_only=True)
        return array
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _without_missing(pa: Any, pc: Any, chunk: Any) -> Any:
    """A dictionary array whose dictionary has no value that is missing: Arrow does not put others together."""
    known = np.asarray(chunk.dictionary.is_valid())
    places = np.append(np.where(known, np.cumsum(known) - 1, -1), -1)
    codes = places[np.asarray(pc.fill_null(chunk.indices.cast(pa.int64()), -1))]
    codes = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(codes, chunk.dictionary.drop_null(), ordered=chunk.type.ordered)


def _arrow_codes(pa: Any, pc: Any, name: str, column: Any) -> Cells:
    if any(chunk.dictionary.null_count for chunk in column.chunks):
        column = pa.chunked_array([_without_missing(pa, pc, chunk) for chunk in column.chunks])
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return _codes(name, [], [])
    codes = pa.chunked_array([pc.fill_null(c.indices.cast(pa.int64()), -1) for c in column.chunks])
    return _codes(name, codes.to_numpy(), column.chunk(0).dictionary.to_pylist())


_READERS: dict[str, Callable[[Any, int, str, bool], Cells]] = {
    "array": _array,
    "pandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
}
