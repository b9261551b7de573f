"""Dates by their parts, categories in order, and rows unlike those in training: as on the command line."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
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
    frame = pd.DataFrame(
        {"c": pd.Categorical(["b", "a", "c", None] * 30, categories=["c", "x", "b", "a"], ordered=True)}
    )
    y = np.tile([5.0, 5.0, 0.0, 0.0], 30)
    model = RuleRegressor().fit(frame, y)
    assert "c >= b" in texts(model) or "c <= x" in texts(model)
    np.testing.assert_allclose(model.predict(frame.iloc[:1]), 5, atol=0.7)


def zoned(zone):
    """Times at which clocks show 22 hours and later, where sales are high."""
    when = pd.date_range("2024-01-01", periods=600, freq="7h", tz="UTC").tz_convert(zone)
    return pd.DataFrame({"when": when}), np.asarray(5.0 + 20 * (when.hour >= 22))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "+05:30", "UTC", None])
def test_hours_are_those_of_clocks_in_every_library_and_file(command, tmp_path, zone):
    frame, y = zoned(zone if zone != "+05:30" else "UTC+05:30")
    model = RuleRegressor(max_rules=1).fit(frame, y)
    assert texts(model) in ("when.hour >= 22", "when.hour <= 21")
    expected, predicted = model.to_json(), model.predict(frame)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    polars = pl.from_arrow(arrow) if zone != "+05:30" else pl.DataFrame({"when": frame["when"].dt.tz_localize(None)})
    spelled = frame.assign(when=frame["when"].astype(str))
    objects = frame.assign(when=frame["when"].astype(object))
    backed = frame.astype({"when": pd.ArrowDtype(arrow.schema.field("when").type)})
    for other in (polars, arrow, spelled, objects, backed):
        assert RuleRegressor(max_rules=1).fit(other, y).to_json() == expected
        np.testing.assert_array_equal(model.predict(other), predicted)
    model.save(tmp_path / "m.json")
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    frame.to_feather(tmp_path / "t.feather")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.feather", "t.csv"):
        command("predict", tmp_path / "m.json", tmp_path / name, "-o", tmp_path / "p.csv")
        np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv").iloc[:, -1], predicted)


def test_dates_at_midnight_have_an_hour_as_in_other_libraries():
    days = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=100)})
    y = np.asarray(days["when"].dt.day_of_week >= 5, dtype=float)
    expected = RuleRegressor(max_rules=2).fit(days, y).to_json()
    assert RuleRegressor(max_rules=2).fit(pl.from_pandas(days), y).to_json() == expected
    assert RuleRegressor(max_rules=2).fit(pa.Table.from_pandas(days), y).to_json() == expected


@pytest.mark.parametrize("wide", [False, True], ids=["64 bits", "96 bits"])
def test_files_without_a_time_zone_are_told(command_told, tmp_path, wide):
    """Parquet keeps moments without their zone, unless the types of Arrow stand beside them."""
    frame, y = zoned("Europe/Berlin")
    table = pa.Table.from_pandas(frame.assign(y=y), preserve_index=False)
    pq.write_table(table, tmp_path / "good.parquet", use_deprecated_int96_timestamps=wide)
    pq.write_table(table, tmp_path / "lost.parquet", use_deprecated_int96_timestamps=wide, store_schema=False)
    model = tmp_path / "m.json"
    flags = ("--target", "y", "--max-rules", 1, "--cv", "none", "-o", model)
    note = 'note: column "when" is read in UTC: its file does not tell the time zone'
    for name, told in [("lost", True), ("good", False)]:
        path = tmp_path / f"{name}.parquet"
        for arguments in [("fit", path, *flags), ("fit", path, *flags, "--memory-limit", "64MB")]:
            assert (note in command_told(*arguments)) == told, arguments
    for name, told in [("lost", True), ("good", False)]:
        path = tmp_path / f"{name}.parquet"
        for arguments in [
            ("predict", model, path, "-o", tmp_path / "p.csv"),
            ("evaluate", model, path),
            ("explain", model, path, "--row", 1),
            ("report", model, path, "-o", tmp_path / "r.html"),
        ]:
            assert command_told(*arguments).count(note) == int(told), arguments
