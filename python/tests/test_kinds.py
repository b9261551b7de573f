"""Kinds of columns: a data frame and the same table as CSV are the same to the engine."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from orthorules import RuleRegressor

ROWS = 240


def _with(values, *others):
    """`values`, with `others` spread over them."""
    column = list(values)
    for i, other in enumerate(others):
        column[7 + 11 * i] = other
    return column


NUMBERS = [f"{i % 60}.5" for i in range(ROWS)]
CLASSES = [str(i % 4) for i in range(ROWS)]
# A column of text, and what it is.
ODD = {
    "clean": (NUMBERS, "numeric"),
    "not available": (_with(NUMBERS, "n/a", "n/a", "#N/A"), "numeric"),
    "dashes": (_with(NUMBERS, "-", ".", "-", "?"), "numeric"),
    "spelled out": (_with(NUMBERS, "missing", "Unknown"), "numeric"),
    "spreadsheet": (_with(NUMBERS, "#DIV/0!", "#VALUE!"), "numeric"),
    "a stray path": (_with(NUMBERS, "see table.csv"), "numeric"),
    "two strays": (_with(NUMBERS, "a", "b"), "numeric"),
    "many strays": (_with(NUMBERS, *"abcdefgh"), "categorical"),
    "thousands": ([f"{1 + i % 9},{i % 1000:03}" for i in range(ROWS)], "numeric"),
    "dollars": ([f"${1 + i % 9},{i % 1000:03}.50" for i in range(ROWS)], "numeric"),
    "decimal commas": ([f"{i % 9},5" for i in range(ROWS)], "categorical"),
    "codes": (CLASSES, "numeric"),
    "codes and a token": (_with(CLASSES, "unknown"), "numeric"),
    "codes and a letter": (_with(CLASSES, "B"), "categorical"),
    "truth": (["True" if i % 3 else "false" for i in range(ROWS)], "boolean"),
    "words": (["red", "blue", "unknown"] * (ROWS // 3), "categorical"),
    "blanks": ([" 1 ", "2", "3.5 "] * (ROWS // 3), "numeric"),
    "empty cells": (_with(NUMBERS, None, None), "numeric"),
}


def kinds(model):
    return {column["name"]: column["kind"] for column in json.loads(model)["columns"]}


@pytest.fixture(scope="module")
def odd():
    y = np.arange(ROWS) % 60 + np.arange(ROWS) % 7
    return pd.DataFrame({name: cells for name, (cells, _) in ODD.items()}, dtype=object), y.astype(float)


FRAMES = {
    "object": lambda X: X,
    "string": lambda X: X.astype("string"),
    "polars": lambda X: pl.from_pandas(X),
    "arrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
}


@pytest.mark.parametrize("made", FRAMES)
def test_text_is_of_the_kind_that_csv_gives_it(odd, command, tmp_path, made):
    X, y = odd
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    command("fit", tmp_path / "t.csv", "--target", "y", "--max-rules", 2, "-o", tmp_path / "m.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RuleRegressor(max_rules=2).fit(FRAMES[made](X), y)
    expected = {name: kind for name, (_, kind) in ODD.items()}
    assert kinds((tmp_path / "m.json").read_text()) == expected
    assert kinds(model.to_json()) == expected


def test_strays_are_told_and_missing(odd):
    X, y = odd
    column = X[["a stray path"]]
    with pytest.warns(UserWarning, match='1 other value, first "see table.csv" in row 8, counted as missing'):
        model = RuleRegressor(max_rules=2).fit(column, y)
    numbers = pd.to_numeric(X["a stray path"], errors="coerce").to_frame()
    expected = RuleRegressor(max_rules=2).fit(numbers, y)
    assert model.to_json() == expected.to_json()
    # A few rows are enough to predict, and what is no number is missing.
    few = pd.DataFrame({"a stray path": ["1.5", "what?", "59.5"]})
    with pytest.warns(UserWarning, match="what"):
        assert (model.predict(few) == model.predict(few.apply(pd.to_numeric, errors="coerce"))).all()
    with pytest.raises(ValueError, match="a stray path"):
        model.predict(pd.DataFrame({"a stray path": ["what?", "who?"]}))


def test_objects_of_several_kinds_are_read_as_csv_would_be(odd):
    _, y = odd
    mixed = pd.DataFrame({"x": [*range(ROWS - 2), "n/a", 2.5], "c": [1, "a"] * (ROWS // 2)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RuleRegressor(max_rules=2).fit(mixed, y)
    assert kinds(model.to_json()) == {"x": "numeric", "c": "categorical"}


def test_categories_stay_categories(odd):
    X, y = odd
    model = RuleRegressor(max_rules=2).fit(X[["codes"]].astype("category"), y)
    assert kinds(model.to_json()) == {"codes": "categorical"}
    listed = RuleRegressor(max_rules=2, categorical_features=["codes"]).fit(X[["codes"]], y)
    assert kinds(listed.to_json()) == {"codes": "categorical"}
    assert (listed.predict(X[["codes"]]) == model.predict(X[["codes"]].astype("category"))).all()
