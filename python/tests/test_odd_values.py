"""Values that NumPy and scikit-learn would bend without a word: masks, dates, and whole numbers beyond 2**53."""

import datetime
import decimal
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import orthorules
from orthorules import RuleClassifier, RuleRegressor

BIG = 2**60


def matrix(rows=200):
    random = np.random.default_rng(3)
    X = random.integers(0, 30, (rows, 3)).astype(float)
    return X, X[:, 0] + 9 * (X[:, 1] > 12) + random.normal(size=rows)


# ---- masks ----


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool", "object"])
def test_masked_cells_are_missing(dtype):
    X, y = matrix()
    X = X > 12 if dtype == "bool" else X
    mask = np.zeros(X.shape, dtype=bool)
    mask[::5, 1] = True
    masked = np.ma.masked_array(X.astype(dtype), mask=mask)
    y = y + 40 * mask[:, 1]
    expected = RuleRegressor(max_rules=4).fit(np.where(mask, np.nan, X), y)
    assert any("x1 missing" in rule or "x1 present" in rule for rule in expected.rules_["rule"])
    model = RuleRegressor(max_rules=4).fit(masked, y)
    assert model.to_json() == expected.to_json()
    assert (model.predict(masked) == expected.predict(np.where(mask, np.nan, X))).all()


def test_masked_targets_and_weights_are_refused():
    X, y = matrix()
    masked = np.ma.masked_array(np.ones(len(y)), mask=np.arange(len(y)) == 7)
    for use in (
        lambda: RuleRegressor().fit(X, np.ma.masked_array(y, mask=masked.mask)),
        lambda: RuleClassifier().fit(X, np.ma.masked_array(y > 20, mask=masked.mask)),
        lambda: RuleRegressor().fit(X, y, sample_weight=masked),
        lambda: RuleRegressor(loss="poisson").fit(X, abs(y), exposure=masked),
        lambda: RuleRegressor(cv=2).fit(X, y, groups=np.ma.masked_array(np.arange(len(y)), mask=masked.mask)),
    ):
        with pytest.raises(ValueError, match="is masked at index 7: fill it in or drop the row"):
            use()


def test_a_mask_that_hides_nothing_changes_nothing():
    X, y = matrix()
    bare = np.ma.masked_array
    expected = RuleRegressor(max_rules=3).fit(X, y, sample_weight=np.arange(len(y)) % 3)
    model = RuleRegressor(max_rules=3).fit(bare(X), bare(y), sample_weight=bare(np.arange(len(y)) % 3))
    assert model.to_json() == expected.to_json()


# ---- dates ----


@pytest.mark.parametrize(
    "X",
    [
        np.arange(40).reshape(20, 2).astype("datetime64[D]"),
        np.arange(40).reshape(20, 2).astype("datetime64[ns]"),
        np.arange(40).reshape(20, 2).astype("timedelta64[h]"),
        np.ma.masked_array(np.arange(40).reshape(20, 2).astype("datetime64[D]"), mask=False),
        np.array([[1, datetime.datetime(2024, 1, 1)]] * 20, dtype=object),
        np.array([[np.datetime64("NaT"), 1]] * 20, dtype=object),
        np.array([[datetime.timedelta(1), 1]] * 20, dtype=object),
    ],
)
def test_arrays_of_dates_are_refused_with_advice(X):
    with pytest.raises(TypeError, match=r"X holds dates or times \(.*convert them, as with .*np.timedelta64"):
        RuleRegressor().fit(X, np.arange(20.0))


def test_dates_are_no_numbers_to_learn_or_weigh():
    X, y = matrix()
    dates = np.arange(len(y)).astype("datetime64[D]")
    for use in (
        lambda: RuleRegressor().fit(X, dates),
        lambda: RuleRegressor().fit(X, dates - dates[0]),
        lambda: RuleRegressor().fit(X, y, sample_weight=dates - dates[0]),
        lambda: RuleRegressor(loss="poisson").fit(X, abs(y), exposure=dates),
    ):
        with pytest.raises(TypeError, match="holds dates or times"):
            use()
    model = RuleClassifier(max_rules=2).fit(X, np.where(y > 20, dates[0], dates[1]))
    assert model.classes_.dtype.kind == "M" and set(model.predict(X)) <= {dates[0], dates[1]}


@pytest.mark.parametrize("library", ["pandas", "objects", "polars", "arrow"])
def test_dates_that_are_categories_are_so_when_predicting_too(library):
    days = [datetime.datetime(2024, 1, 1 + i % 3) if i % 7 else None for i in range(210)]
    y = np.array([30.0 if d is None else 10.0 * (d.day == 2) for d in days])
    frame = {
        "pandas": lambda: pd.DataFrame({"day": pd.to_datetime(pd.Series(days))}),
        "objects": lambda: pd.DataFrame({"day": pd.Series([d and d.date() for d in days], dtype=object)}),
        "polars": lambda: pl.DataFrame({"day": days}),
        "arrow": lambda: pa.table({"day": days}),
    }[library]()
    model = RuleRegressor(categorical_features=["day"], max_rules=2, reg_lambda=0.0).fit(frame, y)
    levels = json.loads(model.to_json())["columns"][0]["levels"]
    assert len(levels) == 3 and all(level.startswith("2024-01-0") for level in levels), levels
    assert np.allclose(model.predict(frame), y)


# ---- whole numbers ----


@pytest.mark.parametrize(
    "labels",
    [
        np.array([BIG, BIG + 1]),
        np.array([2**53, 2**53 + 1]),
        np.array([-BIG - 1, -BIG, 3]),
        np.array([2**63, 2**63 + 1, 7], dtype=np.uint64),
        np.array([BIG, BIG + 1], dtype=object),
        np.array([2**70, 2**70 + 1, -5], dtype=object),
        [BIG, BIG + 1],
        pd.Series([BIG, BIG + 1], dtype="Int64"),
        pl.Series([BIG, BIG + 1]),
    ],
    ids=["int64", "just beyond", "three", "uint64", "objects", "huge", "list", "nullable", "polars"],
)
def test_large_labels_stay_distinct(labels, tmp_path):
    X, y = matrix()
    place = (np.digitize(X[:, 1], [12, 22]) % len(labels)).astype(int)
    if isinstance(labels, list):
        y = [labels[i] for i in place]
    elif isinstance(labels, pl.Series):
        y = labels[place.tolist()]
    else:
        y = labels[place] if isinstance(labels, np.ndarray) else labels.iloc[place]
    exact = [int(v) for v in labels]
    model = RuleClassifier(max_rules=3, reg_lambda=0.0).fit(X, y)
    assert model.classes_.tolist() == sorted(exact)
    truth = [exact[i] for i in place]
    assert model.predict(X).tolist() == truth
    assert model.score(X, y) == 1.0
    path = tmp_path / "model.json"
    model.save(path)
    for other in (orthorules.load(path), pickle.loads(pickle.dumps(model)), RuleClassifier.from_json(model.to_json())):
        assert other.classes_.tolist() == sorted(exact)
        assert other.predict(X).tolist() == truth
    if len(labels) == 2:
        turned = RuleClassifier(max_rules=3, reg_lambda=0.0, positive=min(exact)).fit(X, y)
        assert turned._model.classes == [str(max(exact)), str(min(exact))]
        assert turned.predict(X).tolist() == truth


def test_labels_of_the_command_line_agree(command, tmp_path):
    X, _ = matrix()
    labels = np.where(X[:, 1] > 12, BIG + 1, BIG)
    model = RuleClassifier(max_rules=2).fit(X, pd.Series(labels, name="label"))
    model.save(tmp_path / "m.json")
    pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(label=labels).to_csv(tmp_path / "t.csv", index=False)
    shown = command("evaluate", tmp_path / "m.json", tmp_path / "t.csv")
    assert "accuracy" in shown


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([True, False], dtype=object), "b"),
        (np.array([1, 2], dtype=object), "i"),
        (np.array([1.0, 2.0], dtype=object), "f"),
        (np.array([np.str_("a"), np.str_("b")], dtype=object), "O"),
        (np.array([np.str_("a"), np.str_("b")]), "U"),
        (np.array([1, 2], dtype=np.uint64), "u"),
    ],
)
def test_labels_that_are_objects_are_what_they_hold(labels, kind):
    X, _ = matrix()
    y = labels[(X[:, 1] > 12).astype(int)]
    model = RuleClassifier(max_rules=2).fit(X, y)
    assert model.classes_.dtype.kind == kind
    assert model.score(X, y) == 1.0
    plain = RuleClassifier(max_rules=2).fit(X, np.array(labels.tolist())[(X[:, 1] > 12).astype(int)])
    assert plain.to_json() == model.to_json()


@pytest.mark.parametrize(
    "labels",
    [
        [decimal.Decimal(1), decimal.Decimal(2)],
        [1, "a"],
        [True, 2],
        [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)],
    ],
)
def test_other_labels_are_refused_with_advice(labels):
    X, _ = matrix()
    y = np.array(labels, dtype=object)[(X[:, 1] > 12).astype(int)]
    with pytest.raises(ValueError, match=r"Unknown label type: y holds .*convert them, as with y.astype\(str\)"):
        RuleClassifier().fit(X, y)


def test_decimals_are_numbers():
    X, y = matrix()
    y = y.round(3)
    expected = RuleRegressor(max_rules=3).fit(X, y).to_json()
    exact = np.vectorize(lambda v: decimal.Decimal(str(v)), otypes=[object])
    assert RuleRegressor(max_rules=3).fit(exact(X), exact(y)).to_json() == expected
    names = ["x0", "x1", "x2"]
    assert RuleRegressor(max_rules=3).fit(pd.DataFrame(exact(X), columns=names), y).to_json() == expected


FRAMES = {
    "array": lambda a: a[:, None],
    "uint64": lambda a: a.astype(np.uint64)[:, None],
    "pandas": lambda a: pd.DataFrame({"x0": a}),
    "nullable": lambda a: pd.DataFrame({"x0": pd.array(a, dtype="Int64")}),
    "pandas arrow": lambda a: pd.DataFrame({"x0": a}).convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda a: pd.DataFrame({"x0": a.astype(object)}),
    "polars": lambda a: pl.DataFrame({"x0": a}),
    "arrow": lambda a: pa.table({"x0": a}),
}


@pytest.mark.parametrize("library", FRAMES)
def test_large_whole_numbers_are_rounded_aloud_or_kept_as_categories(library):
    values = BIG + np.arange(300) % 3
    y = 10.0 * (np.arange(300) % 3 == 1)
    X = FRAMES[library](values)
    with pytest.warns(
        UserWarning, match=r"column 'x0' holds whole numbers beyond 2\*\*53, which are rounded"
    ) as caught:
        model = RuleRegressor(max_rules=2).fit(X, y)
    rounded, constant = caught
    assert "which are rounded" in str(rounded.message) and rounded.filename == __file__
    assert "the same value in all rows" in str(constant.message), "the three are one number to float64"
    assert len(model.rules_) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        small = FRAMES[library](np.arange(300) % 3 + 2**53 - 2)
        assert len(RuleRegressor(max_rules=2).fit(small, y).rules_) > 0
        model = RuleRegressor(max_rules=2, reg_lambda=0.0, categorical_features=[0]).fit(X, y)
        assert json.loads(model.to_json())["columns"][0]["levels"] == [str(BIG), str(BIG + 1), str(BIG + 2)]
        assert np.allclose(model.predict(X), y)
        assert np.allclose(model.predict(FRAMES[library](values[:1])), y[:1])


def test_large_whole_numbers_among_objects_are_rounded_aloud():
    values = (BIG + np.arange(40) % 3)[:, None]
    for X in (values.astype(object), np.ma.masked_array(values, mask=False)):
        with pytest.warns(UserWarning, match="X holds whole numbers beyond") as caught:
            RuleRegressor(max_rules=2).fit(X, np.arange(40.0))
        assert caught[0].filename == __file__


# ---- the index of a data frame ----


def test_an_index_in_an_arrow_table_is_no_feature(deliveries):
    X, y = deliveries
    shuffled = X.sample(frac=1.0, random_state=0)
    table = pa.Table.from_pandas(shuffled)
    assert "__index_level_0__" in table.column_names
    expected = RuleRegressor(max_rules=4).fit(shuffled, y[shuffled.index])
    with pytest.warns(UserWarning, match='"__index_level_0__" left out: it is the index of a pandas data frame'):
        model = RuleRegressor(max_rules=4).fit(table, y[shuffled.index])
    assert json.loads(model.to_json())["columns"] == json.loads(expected.to_json())["columns"]
    assert (model.predict(table) == expected.predict(shuffled)).all()
    named = pa.Table.from_pandas(shuffled.rename_axis("order"))
    model = RuleRegressor(max_rules=4).fit(named, y[shuffled.index])
    assert "order" in [c["name"] for c in json.loads(model.to_json())["columns"]]


@pytest.mark.parametrize("ordered", [False, True])
def test_pieces_of_a_column_may_have_dictionaries_with_values_that_are_missing(ordered):
    """Each with another order of the places, and in order or not."""
    y = np.tile([1.0, 5.0, 2.0, 7.0], 20)
    text = ["low", None, "mid", "top"] * 20
    names = ["low", "mid", None, "top"], ["low", "mid", "top", None]
    places = [{name: place for place, name in enumerate(each)} for each in names]
    pieces = [
        pa.DictionaryArray.from_arrays(pa.array([by[name] for name in part]), pa.array(each), ordered=ordered)
        for part, each, by in zip((text[:40], text[40:]), names, places, strict=True)
    ]
    model = RuleRegressor(max_rules=3).fit(pa.table({"d": pa.chunked_array(pieces)}), y)
    if ordered:
        plain = pd.DataFrame({"d": pd.Categorical(text, categories=["low", "mid", "top"], ordered=True)})
    else:
        plain = pa.table({"d": pa.array(text).dictionary_encode()})
    assert model.to_json() == RuleRegressor(max_rules=3).fit(plain, y).to_json()


@pytest.mark.parametrize("library", ["arrow", "pandas"])
def test_a_dictionary_of_arrow_may_hold_a_value_that_is_missing(library):
    y = np.tile([1.0, 5.0, 2.0, 5.0], 10)
    for names in (["a", None, "b"], [1.5, None, float("nan")]):
        packed = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None] * 10), pa.array(names))
        X = pa.table({"d": packed})
        X = X.to_pandas(types_mapper=pd.ArrowDtype) if library == "pandas" else X
        model = RuleRegressor(max_rules=3).fit(X, y)
        (column,) = json.loads(model.to_json())["columns"]
        assert column["levels"] == [str(name) for name in names if name is not None and name == name]
        assert column["missing"] == (20 if "a" in names else 30)
