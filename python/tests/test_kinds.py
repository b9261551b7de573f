"""Kinds of columns: a data frame and the same table as CSV are the same to the engine."""

import decimal
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from orthorules import RuleRegressor

ROWS = 240
# A limit of time that no test reaches: a fit that has one goes without folds and polish, here and on the command line.
WHOLE = ("--time-limit", 1000)


def _with(values, *others):
    """`values`, with `others` spread over them."""
    column = list(values)
    for i, other in enumerate(others):
        column[7 + 11 * i] = other
    return column


def _cycle(*values):
    """`values` again and again."""
    return [values[i % len(values)] for i in range(ROWS)]


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
    "thousands and decimals": ([f"{1 + i % 9},{i % 1000:03}.{i % 7}" for i in range(ROWS)], "numeric"),
    "some thousands": ([f"{i * 100:,}" for i in range(ROWS)], "numeric"),
    "thousands and a stray": (_with([f"{i * 100:,}" for i in range(ROWS)], "about 1,000"), "numeric"),
    "broken thousands": (_cycle("1,23,456", "2,34,567", "12"), "categorical"),
    "euros": (_cycle("€12", "€13.50", "-€4"), "numeric"),
    "pounds and tokens": (_with(_cycle("£1,200", "£900", "£7"), "n/a", "-"), "numeric"),
    "currency codes": (_cycle("12 USD", "13 USD", "9 EUR"), "categorical"),
    "per cent": (_cycle("12%", "13%", "50%"), "categorical"),
    "decimal commas": ([f"{i % 9},5" for i in range(ROWS)], "categorical"),
    "thousands and decimal commas": (_cycle("1.234,5", "2.345,5", "3.456,5"), "categorical"),
    "either comma": (_cycle("1,234", "2,5", "3"), "categorical"),
    "one decimal comma": (_with(NUMBERS, "2,5"), "numeric"),
    "science": (_cycle("1e3", "2.5E-4", "-7e+2"), "numeric"),
    "signs": (_cycle("+1", "-2", "3"), "numeric"),
    "infinities": (_with(NUMBERS, "inf", "-inf", "Infinity"), "numeric"),
    "not a number": (_with(NUMBERS, "NaN", "nan"), "numeric"),
    "leading zeros": (_cycle("007", "008", "010"), "numeric"),
    "hexadecimal": (_cycle("0x1f", "0x2a", "0x3b"), "categorical"),
    "a typographic minus": (_cycle("\u22121", "\u22122", "3"), "categorical"),
    "numbers and words": (_cycle("1", "2", "many"), "categorical"),
    "numbers and truth": (_cycle("1", "0", "true"), "categorical"),
    "codes": (CLASSES, "numeric"),
    "codes and a token": (_with(CLASSES, "unknown"), "numeric"),
    "codes and a letter": (_with(CLASSES, "B", "B"), "categorical"),
    "codes and a word": (_with(CLASSES, "see ticket"), "numeric"),
    "truth": (["True" if i % 3 else "false" for i in range(ROWS)], "boolean"),
    "TRUTH": (_cycle("TRUE", "FALSE"), "boolean"),
    "truth with holes": (_with(_cycle("true", "false"), None, None), "boolean"),
    "truth and a token": (_with(_cycle("true", "false"), "n/a"), "categorical"),
    "only true": (_cycle("True"), "boolean"),
    "yes and no": (_cycle("yes", "no"), "categorical"),
    "t and f": (_cycle("t", "f"), "categorical"),
    "one and zero": (_cycle("1", "0"), "numeric"),
    "on and off": (_cycle("On", "Off"), "categorical"),
    "blank truth": (_cycle(" true", "False "), "boolean"),
    "all missing": ([None] * ROWS, "numeric"),
    "all tokens": (_cycle("n/a", "-"), "categorical"),
    "nearly all missing": (_with([None] * ROWS, "1", "2"), "numeric"),
    "constant number": (_cycle("7"), "numeric"),
    "constant word": (_cycle("seven"), "categorical"),
    "keys": ([f"order {i}" for i in range(ROWS)], "left out"),
    "numbers that count": ([str(i + 1) for i in range(ROWS)], "numeric"),
    "keys with a dash": ([f"76-{i:04}" for i in range(ROWS)], "left out"),
    "few keys": (_cycle(*(f"order {i}" for i in range(40))), "categorical"),
    "quotes and commas": (_cycle('say "so"', "a, b", "it's"), "categorical"),
    "umlauts": (_cycle("Köln", "Düren", "東京"), "categorical"),
    "words": (["red", "blue", "unknown"] * (ROWS // 3), "categorical"),
    "blanks": ([" 1 ", "2", "3.5 "] * (ROWS // 3), "numeric"),
    "empty cells": (_with(NUMBERS, None, None), "numeric"),
}


def kinds(model):
    return {column["name"]: column["kind"] for column in json.loads(model)["columns"]}


def learned(model):
    """Everything that a model says of its columns, and its rules."""
    document = json.loads(model)
    return document["columns"], document["rules"]


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
    command("fit", tmp_path / "t.csv", "--target", "y", "--max-rules", 2, *WHOLE, "-o", tmp_path / "m.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RuleRegressor(max_rules=2, time_limit=1000).fit(FRAMES[made](X), y)
    expected = {name: kind for name, (_, kind) in ODD.items() if kind != "left out"}
    written = (tmp_path / "m.json").read_text()
    assert kinds(written) == expected
    assert kinds(model.to_json()) == expected
    assert learned(model.to_json()) == learned(written), "levels and rules are the same as well"


def typed():
    """Columns that have a type, as Arrow tables have them."""
    count = np.arange(ROWS)
    holes = count % 7 == 0
    return pa.table({
        "float": pa.array(count % 30 + 0.5, mask=holes),
        "float32": pa.array((count % 30 + 0.5).astype("float32")),
        "int8": pa.array((count % 9).astype("int8"), mask=holes),
        "uint64": pa.array((count % 9).astype("uint64")),
        "decimal": pa.array([decimal.Decimal(int(i % 40)) / 4 for i in count], pa.decimal128(8, 2)),
        "truth": pa.array(count % 3 == 0),
        "truth with holes": pa.array(count % 3 == 0, mask=holes),
        "only null": pa.nulls(ROWS),
        "no float": pa.nulls(ROWS, pa.float64()),
        "no text": pa.nulls(ROWS, pa.string()),
        "dictionary": pa.array(_cycle("red", "green", None)).dictionary_encode(),
        "dictionary of digits": pa.array(_cycle("1", "2", "3")).dictionary_encode(),
        "dictionary of keys": pa.array([f"k{i}" for i in count]).dictionary_encode(),
        "text": pa.array(_cycle("red", "green", None)),
        "large text": pa.array(_cycle("1", "2.5", "n/a"), pa.large_string()),
        "truth in text": pa.array(_cycle("True", "false", None)),
        "keys": pa.array([f"k{i}" for i in count]),
        "constant": pa.array([3.0] * ROWS),
    })


TYPED = {
    "arrow": lambda t: t,
    "polars": pl.from_arrow,
    "pandas": lambda t: t.to_pandas(),
    "pandas arrow": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("made", TYPED)
@pytest.mark.parametrize("extension", ["parquet", "arrow"])
def test_types_are_of_the_kind_that_files_give_them(command, tmp_path, made, extension):
    table = typed()
    y = np.arange(ROWS) % 30 + 5.0 * (np.arange(ROWS) % 3 == 0)
    path = tmp_path / f"t.{extension}"
    whole = table.append_column("y", pa.array(y))
    if extension == "parquet":
        pyarrow.parquet.write_table(whole, path)
    else:
        with pa.ipc.new_file(path, whole.schema) as file:
            file.write_table(whole)
    command("fit", path, "--target", "y", "--max-rules", 4, *WHOLE, "-o", tmp_path / "m.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RuleRegressor(max_rules=4, time_limit=1000).fit(TYPED[made](table), y)
    found = kinds(model.to_json())
    assert found == kinds((tmp_path / "m.json").read_text())
    assert {"keys", "dictionary of keys"}.isdisjoint(found) and len(found) == len(table.column_names) - 2
    assert found["dictionary of digits"] == "categorical" and found["large text"] == "numeric"
    assert learned(model.to_json()) == learned((tmp_path / "m.json").read_text())


def test_predictions_agree_on_odd_columns(odd, command, tmp_path):
    """A model of the command line, on the same cells as text in a data frame and in CSV."""
    X, y = odd
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    command("fit", tmp_path / "t.csv", "--target", "y", "--max-rules", 12, "--cv", "none", "-o", tmp_path / "m.json")
    command("predict", tmp_path / "m.json", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    model = RuleRegressor.load(tmp_path / "m.json")
    assert len({rule.split()[0] for rule in model.rules_["rule"]}) > 2, "rules of several columns"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = model.predict(X)
    assert predicted == pytest.approx(pd.read_csv(tmp_path / "p.csv")["prediction"].to_numpy(), rel=1e-14)


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


def test_pandas_can_read_missing_words_as_the_command_line_does(command, tmp_path):
    # The list of the guide.
    words = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]
    cells = [words[i // 7 % len(words)] if i % 7 == 3 else f"{i % 60}.5" for i in range(ROWS)]
    kind = [words[i // 5 % len(words)] if i % 5 == 2 else ["n/a", "-nan", "basic", "<NA>"][i % 4] for i in range(ROWS)]
    y = np.arange(ROWS) % 60 + 9.0 * (np.arange(ROWS) % 4 == 2)
    pd.DataFrame({"x": cells, "kind": kind, "y": y}).to_csv(tmp_path / "t.csv", index=False)
    command("fit", tmp_path / "t.csv", "--target", "y", "--max-rules", 3, *WHOLE, "-o", tmp_path / "m.json")
    X = pd.read_csv(tmp_path / "t.csv", keep_default_na=False, na_values=words)
    model = RuleRegressor(max_rules=3, time_limit=WHOLE[1]).fit(X[["x", "kind"]], X["y"])
    assert learned((tmp_path / "m.json").read_text("utf-8")) == learned(model.to_json())
    # In a frame text is what it says.
    X = pd.DataFrame({"kind": np.array(["None", "NA", "?"] * 80, dtype=object)})
    (column,) = json.loads(RuleRegressor(max_rules=1).fit(X, y).to_json())["columns"]
    assert (column["levels"], column["missing"]) == (["?", "NA", "None"], 0)
