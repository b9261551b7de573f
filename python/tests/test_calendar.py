"""Dates by their parts, categories in order, and rows unlike those in training: as on the command line."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import orthorules
from orthorules import RuleRegressor

SIZES = ["small", "medium", "large", "huge"]


def orders():
    """Sales are high at weekends, in December, and for large sizes."""
    days = pd.date_range("2023-01-01 03:00", periods=500, freq="17h")
    size = np.arange(500) * 13 % 4
    sales = 10 + 20.0 * (days.day_of_week >= 5) + 15 * (days.month == 12) + 8 * (size >= 2)
    frame = pd.DataFrame({"when": days, "size": pd.Categorical.from_codes(size, SIZES, ordered=True)})
    return frame, np.asarray(sales)


def texts(model):
    return " & ".join(model.rules_["rule"])


def told(frame):
    """The rules of a fit to a frame of any library."""
    model = RuleRegressor(max_complexity=12).fit(frame, orders()[1])
    return texts(model), model.predict(frame)


def test_dates_and_orders_are_those_of_every_library(command, tmp_path):
    frame, y = orders()
    rules, predicted = told(frame)
    assert ("when.weekday >= Sat" in rules) or ("when.weekday <= Fri" in rules), rules
    assert ("size >= large" in rules) or ("size <= medium" in rules), rules
    polars = pl.DataFrame({
        "when": pl.Series(frame["when"].to_numpy()).dt.cast_time_unit("us"),
        "size": pl.Series(frame["size"].astype(str).to_list(), dtype=pl.Enum(SIZES)),
    })
    spelled = frame.assign(when=frame["when"].astype(str))
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    for other in (polars, spelled, arrow):
        assert told(other)[0] == rules
        np.testing.assert_array_equal(told(other)[1], predicted)
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    order = "size=" + "<".join(SIZES)
    flags = ("--ordered", order, "--cv", "none", "--max-complexity", 12, "-o", tmp_path / "m.json")
    command("fit", tmp_path / "t.csv", "--target", "y", *flags)
    loaded = orthorules.load(tmp_path / "m.json")
    assert texts(loaded) == rules
    np.testing.assert_allclose(loaded.predict(frame), predicted)


def test_importances_are_those_of_the_columns_that_were_given():
    frame, y = orders()
    model = RuleRegressor(max_complexity=12).fit(frame, y)
    assert list(model.feature_names_in_) == ["when", "size"]
    assert model.feature_importances_.shape == (2,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[0] > model.feature_importances_[1] > 0


def test_parts_may_be_given_instead_of_dates(tmp_path):
    frame, y = orders()
    model = RuleRegressor(max_complexity=12).fit(frame, y)
    model.save(tmp_path / "m.json")
    loaded = orthorules.load(tmp_path / "m.json")
    parts = pd.DataFrame({
        "when.year": frame["when"].dt.year,
        "when.month": frame["when"].dt.month,
        "when.weekday": frame["when"].dt.day_name().str[:3],
        "when.hour": frame["when"].dt.hour,
        "size": frame["size"].astype(str),
    })
    np.testing.assert_array_equal(loaded.predict(parts), model.predict(frame))


def test_levels_that_were_not_in_training_are_told():
    frame, y = orders()
    model = RuleRegressor(max_complexity=12).fit(frame, y)
    strange = frame.assign(size="tiny").iloc[:50]
    with pytest.warns(orthorules.exceptions.DataWarning, match="size has levels that were not in training in 50"):
        model.predict(strange)


def test_an_order_is_kept_where_levels_do_not_occur():
    frame = pd.DataFrame({"c": pd.Categorical(["b", "a", "c", None] * 30, categories=["c", "x", "b", "a"], ordered=True)})
    y = np.tile([5.0, 5.0, 0.0, 0.0], 30)
    model = RuleRegressor().fit(frame, y)
    assert "c >= b" in texts(model) or "c <= x" in texts(model)
    np.testing.assert_allclose(model.predict(frame.iloc[:1]), 5, atol=0.7)
