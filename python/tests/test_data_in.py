"""Every way in gives the same table, and numbers are not copied where they need not be."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from orthorules import RuleClassifier, RuleRegressor

LAYOUTS = {
    "C": lambda X: np.ascontiguousarray(X),
    "Fortran": lambda X: np.asfortranarray(X),
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": lambda X: _frozen(X),
}


def _frozen(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def matrix(rows=300):
    random = np.random.default_rng(0)
    X = random.integers(0, 40, (rows, 5)).astype(float)
    return X, X[:, 0] + 5 * (X[:, 1] > 20) + random.normal(size=rows)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "float16"])
def test_arrays_of_any_kind_and_layout(layout, dtype):
    X, y = matrix()
    expected = RuleRegressor(max_rules=5).fit(X, y)
    other = LAYOUTS[layout](X.astype(dtype))
    model = RuleRegressor(max_rules=5).fit(other, y)
    assert model.to_json() == expected.to_json()
    assert (model.predict(other) == expected.predict(X)).all()


def test_large_arrays_in_any_layout():
    X, y = matrix(70_000)
    expected = RuleRegressor(max_rules=3, n_jobs=1).fit(np.asfortranarray(X), y).to_json()
    assert RuleRegressor(max_rules=3, n_jobs=2).fit(X, y).to_json() == expected
    assert RuleRegressor(max_rules=3).fit(X.astype("float32"), y).to_json() == expected


@pytest.mark.parametrize("layout", ["C", "strided", "reversed", "read-only"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_whatever_a_fit_does_with_rows_the_layout_does_not_matter(layout, dtype):
    """Cross-validation, draws and rows of weight 0 take rows out of columns that are read where they lie."""
    X, y = matrix(2500)
    X[::7, 2] = np.nan
    weight = np.arange(len(y)) % 3
    options = {"max_rules": 3, "cv": 2, "bootstrap": 20, "random_state": 0, "categorical_features": [3]}
    for model, target in ((RuleRegressor(**options), y), (RuleClassifier(**options), np.digitize(y, [20, 40]))):
        expected = model.fit(np.asfortranarray(X), target, sample_weight=weight).to_json()
        assert model.fit(LAYOUTS[layout](X.astype(dtype)), target, sample_weight=weight).to_json() == expected


def test_an_array_that_goes_away_and_comes_back():
    """The table holds on to the memory that it reads; the estimator does not once it is fitted."""
    import gc
    import sys

    X, y = matrix(3000)
    before = sys.getrefcount(X)
    model = RuleRegressor(max_rules=2).fit(X, y)
    expected = model.to_json()
    gc.collect()
    assert sys.getrefcount(X) == before
    assert RuleRegressor(max_rules=2).fit(X.copy(), y.copy()).to_json() == expected


def test_booleans_and_lists():
    X, y = matrix()
    truth = X > 20
    expected = RuleRegressor(max_rules=3).fit(truth.astype(float), y)
    assert RuleRegressor(max_rules=3).fit(truth, y).to_json() == expected.to_json()
    assert RuleRegressor(max_rules=3).fit(truth.astype(int).tolist(), y.tolist()).to_json() == expected.to_json()


def test_missing_numbers_are_welcome():
    X, y = matrix()
    X[::3, 0] = np.nan
    model = RuleRegressor().fit(X, y + 50 * np.isnan(X[:, 0]))
    assert "x0 missing" in list(model.rules_["rule"]) or "x0 present" in list(model.rules_["rule"])
    assert np.isfinite(model.predict(X)).all()


class Capsule:
    """Nothing but the Arrow PyCapsule interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def frames(X):
    plain = X.astype({"weather": object})
    return {
        "pandas object": plain,
        "pandas string": X.astype({"weather": "string"}),
        "pandas category": X.astype({"weather": "category"}),
        "pandas nullable": X.astype({"weather": "string", "express": "boolean", "hour": "Int16", "km": "Float64"}),
        "pandas arrow": plain.convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.from_pandas(plain),
        "polars categorical": pl.from_pandas(plain).with_columns(pl.col("weather").cast(pl.Categorical)),
        "arrow table": pa.Table.from_pandas(plain),
        "arrow dictionary": pa.Table.from_pandas(X.astype({"weather": "category"})),
        "arrow chunks": pa.concat_tables([pa.Table.from_pandas(plain[:200]), pa.Table.from_pandas(plain[200:])]),
        "arrow batch": pa.RecordBatch.from_pandas(plain),
        "capsule": Capsule(pa.Table.from_pandas(plain)),
    }


def test_data_frames_agree(deliveries):
    X, y = deliveries
    given = frames(X)
    expected = RuleRegressor(max_rules=6).fit(given["pandas object"], y)
    assert {"weather", "express"} <= set(" ".join(expected.rules_["rule"]).split())
    for name, frame in given.items():
        model = RuleRegressor(max_rules=6).fit(frame, y)
        assert model.to_json() == expected.to_json(), name
        assert (model.predict(frame) == expected.predict(given["pandas object"])).all(), name
        assert list(model.feature_names_in_) == list(X.columns), name


def test_numbers_are_not_copied():
    X, _ = matrix(200_000)
    frame = pd.DataFrame(np.asfortranarray(X), columns=list("abcde"))
    import tracemalloc

    from orthorules import _frame

    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        tracemalloc.start()
        for i in range(5):
            _, kind, values = _frame._READERS[_frame.library(data)](data, i, "a", False)
            assert kind == "numbers" and values.dtype == np.float64 and values.flags.c_contiguous
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert used < X.nbytes / 5, type(data)


def test_numbers_may_be_categories(deliveries):
    X, y = deliveries
    for listed in (["hour"], [1], [False, True, False, False]):
        model = RuleRegressor(categorical_features=listed, max_complexity=60).fit(X, y)
        kinds = {c["name"]: c["kind"] for c in json.loads(model.to_json())["columns"]}
        assert kinds == {"km": "numeric", "hour": "categorical", "weather": "categorical", "express": "boolean"}
        assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="categorical_features is None"):
        RuleRegressor(categorical_features=None).fit(X, y)
    numeric = X.assign(hour=X["hour"].astype("category"))
    kinds = {c["name"]: c["kind"] for c in json.loads(RuleRegressor().fit(numeric, y).to_json())["columns"]}
    assert kinds["hour"] == "categorical"


def test_booleans_may_come_as_numbers(deliveries):
    X, y = deliveries
    model = RuleRegressor().fit(X, y)
    assert (model.predict(X.assign(express=X["express"].astype(int))) == model.predict(X)).all()
    with pytest.raises(ValueError, match="trained on booleans"):
        model.predict(X.assign(express=2))


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_identifiers_are_left_out_with_advice_and_dates_are_not(deliveries, library):
    X, y = deliveries
    X = X.assign(
        day=[datetime.datetime(2024, 1, 1) + datetime.timedelta(days=i % 9) for i in range(len(X))],
        key=[f"order {i}" for i in range(len(X))],
    )
    X = {"pandas": lambda: X, "polars": lambda: pl.from_pandas(X), "arrow": lambda: pa.Table.from_pandas(X)}[library]()
    with pytest.warns(UserWarning) as caught:
        model = RuleRegressor(max_rules=3).fit(X, y)
    texts = [str(w.message) for w in caught]
    assert not any("'day'" in t.replace('"', "'") for t in texts)
    assert any("'key'" in t.replace('"', "'") and t.endswith("categorical_features=['key']") for t in texts)
    assert model.n_features_in_ == 6
    assert np.isfinite(model.predict(X)).all()
    parts = {"day.year", "day.month", "day.weekday"}
    names = {column["name"] for column in json.loads(model.to_json())["columns"]}
    assert parts < names and "key" not in names
    kept = RuleRegressor(max_rules=3, categorical_features=["day", "key"]).fit(X, y)
    assert len(json.loads(kept.to_json())["columns"]) == 6


def test_columns_are_checked_as_scikit_learn_does(deliveries):
    X, y = deliveries
    model = RuleRegressor(max_rules=3).fit(X, y)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(X.assign(more=1))
    with pytest.raises(ValueError, match="now missing"):
        model.predict(X.drop(columns="km"))
    table = pa.Table.from_pandas(X)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(table.select(X.columns[::-1].tolist()))


def test_unnamed_columns_are_numbered():
    X, y = matrix()
    frame = pd.DataFrame(X)
    model = RuleRegressor(max_rules=3).fit(frame, y)
    assert not hasattr(model, "feature_names_in_")
    assert (model.predict(frame) == model.predict(X)).all()


@pytest.mark.parametrize("names", [[2019, 2020, 2021, 2022, 2023], [5, 4, 3, 2, 1], [0.5, 1.5, 2.5, 3.5, 4.5]])
def test_names_that_are_numbers_are_kept(names):
    X, y = matrix()
    frame = pd.DataFrame(X, columns=names)
    model = RuleRegressor(max_rules=6, terms="rules", cv=None).fit(frame, y)
    shown = {condition.split()[0] for rule in model.rules_["rule"] for condition in rule.split(" & ")}
    quoted = [f'"{name}"' for name in names]
    assert set(quoted[:2]) <= shown <= set(quoted), "a rule tells a name that is a number from a number"
    assert not hasattr(model, "feature_names_in_"), "scikit-learn has names only where all are text"
    assert (model.predict(frame) == model.predict(X)).all()
    plain = RuleRegressor(max_rules=6, terms="rules", cv=None).fit(X, y)
    assert (plain.predict(X) == model.predict(frame)).all()
    with pytest.raises(ValueError, match="feature names should match .* in this order"):
        model.predict(frame[names[::-1]])
    again = RuleRegressor.from_json(model.to_json())
    assert (again.predict(frame[names[::-1]]) == model.predict(frame)).all(), "a loaded model goes by names"
    assert model.fit(X, y).to_json() == plain.to_json(), "names do not outlive a fit"


def test_names_that_are_numbers_can_be_referred_to():
    X, y = matrix()
    frame = pd.DataFrame(X, columns=[2019, 2020, 2021, 2022, 2023])
    fixed = {"max_rules": 6, "terms": "rules", "cv": None}
    model = RuleRegressor(**fixed, cuts={2019: [10, 20]}, monotonic_cst={2020: 1}).fit(frame, y)
    thresholds = {rule.split()[2] for rule in model.rules_["rule"] if rule.startswith('"2019" ')}
    assert thresholds and thresholds <= {"10", "20"}
    raised = frame.copy()
    raised[2020] += 5
    assert (model.predict(raised) >= model.predict(frame)).all()
    with pytest.raises(ValueError, match="unexpected feature names"):
        RuleRegressor(monotonic_cst={1999: 1}).fit(frame, y)
    model = RuleRegressor(max_rules=6, terms="rules", cv=None, categorical_features=["2019"]).fit(frame, y)
    assert json.loads(model.to_json())["columns"][0]["kind"] == "categorical"
    with pytest.raises(ValueError, match="no feature 2019 of 5: whole numbers count the features from 0, .*'2019'"):
        RuleRegressor(categorical_features=[2019]).fit(frame, y)


def test_columns_that_are_merely_counted_keep_their_order():
    X, y = matrix()
    model = RuleRegressor(max_rules=3, terms="rules", cv=None).fit(pd.DataFrame(X), y)
    assert any(rule.startswith("x0 ") for rule in model.rules_["rule"])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(X)[[4, 3, 2, 1, 0]])


def test_sparse_is_refused():
    X, y = matrix()
    for sparse in (scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X)):
        with pytest.raises(TypeError, match="dense data is required"):
            RuleRegressor().fit(sparse, y)
    with pytest.raises(TypeError, match="dense data is required"):
        RuleRegressor().fit(pd.DataFrame(X).astype(pd.SparseDtype("float")), y)


def test_a_plan_for_data_is_not_data(deliveries):
    X, y = deliveries
    model = RuleRegressor(max_rules=2).fit(X, y)
    plan = pl.from_pandas(X).lazy()
    for use in (lambda: RuleRegressor().fit(plan, y), lambda: model.predict(plan)):
        with pytest.raises(TypeError, match=r"LazyFrame.*\.collect\(\)"):
            use()


def test_odd_columns_are_refused(deliveries):
    X, y = deliveries
    with pytest.raises(TypeError, match="'mixed' mixes"):
        RuleRegressor().fit(X.assign(mixed=[1, ("a",)] * 300), y)
    with pytest.raises(TypeError, match="neither number nor text"):
        RuleRegressor().fit(pl.from_pandas(X).with_columns(lists=pl.Series([[1]] * 600)), y)
    with pytest.raises(TypeError, match="neither number nor text"):
        RuleRegressor().fit(pa.table({"a": [[1]] * 600}), y)
    with pytest.raises(ValueError, match="two columns are called|unique column names"):
        RuleRegressor().fit(pd.concat([X, X], axis=1), y)
    with pytest.raises(ValueError, match="could not convert string"):
        RuleRegressor().fit(np.array([["a", "b"]] * 600, dtype=object), y)


def test_labels_of_any_kind():
    X, y = matrix()
    truth = y > np.median(y)
    kinds = {
        "bool": truth,
        "int": truth.astype(int) * 7 - 3,
        "float": truth.astype(float),
        "text": np.where(truth, "yes", "no"),
        "object": np.where(truth, "yes", "no").astype(object),
        "series": pd.Series(np.where(truth, "yes", "no"), dtype="category", name="won"),
        "polars": pl.Series("won", np.where(truth, "yes", "no")),
    }
    probabilities = []
    for name, labels in kinds.items():
        model = RuleClassifier(max_rules=3).fit(X, labels)
        predicted = model.predict(X)
        assert predicted.dtype.kind == model.classes_.dtype.kind, name
        assert (predicted == np.asarray(labels)).mean() > 0.8, name
        probabilities.append(model.predict_proba(X))
    for other in probabilities[1:]:
        assert (other == probabilities[0]).all()
