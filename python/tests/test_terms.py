"""Trends: terms that grow with a column of numbers."""

from __future__ import annotations

import types

import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor, datasets


@pytest.fixture(scope="module")
def fitted():
    X, y = datasets.friedman1(rows=600, seed=3)
    return X, y, RuleRegressor(terms="hinge", cv=None, max_complexity=14).fit(X, y)


def test_trends_are_rules_with_a_slope(fitted):
    X, y, model = fitted
    assert model.rules_["rule"].str.startswith("for each ").any()
    assert (model.rules_.loc[model.rules_["rule"].str.startswith("for each "), "conditions"] == 1).all()
    assert model.complexity_ <= 14
    rules = RuleRegressor(cv=None, max_complexity=14).fit(X, y)
    assert model.score(X, y) > rules.score(X, y)
    assert np.isclose(model.feature_importances_.sum(), 1)


def test_contributions_add_up_to_the_prediction(fitted):
    X, _, model = fitted
    frame = model.explain(X[:20])
    assert np.allclose(frame.groupby("row")["contribution"].sum(), model.predict(X[:20]))
    assert "by the trend for each " in model.why(X[:1])


def test_a_model_survives_its_file_and_its_export(fitted):
    X, _, model = fitted
    again = RuleRegressor.from_json(model.to_json())
    assert np.array_equal(again.predict(X), model.predict(X))
    module = types.ModuleType("exported")
    exec(model.export(to="python"), module.__dict__)
    rows = pd.DataFrame(X[:50], columns=[f"x{i}" for i in range(X.shape[1])]).to_dict("records")
    assert [module.predict(row) for row in rows] == list(model.predict(X[:50]))


def test_missing_numbers_add_nothing(fitted):
    X, _, model = fitted
    empty = np.full((1, X.shape[1]), np.nan)
    frame = model.explain(empty)
    assert (frame.loc[frame["rule"].str.startswith("for each "), "contribution"] == 0).all()


def test_several_classes_have_a_list_each():
    X, y = datasets.friedman1(rows=400, seed=4)
    labels = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    model = RuleClassifier(terms="linear", cv=None, max_complexity=24).fit(X, labels)
    assert model.predict_proba(X).shape == (400, 3)
    assert "class" in model.rules_


def test_what_cannot_be_is_said_in_one_line(fitted, tmp_path):
    X, y, model = fitted
    with pytest.raises(ValueError, match="terms"):
        RuleRegressor(terms="curves").fit(X, y)
    with pytest.raises(ValueError, match="search exact"):
        RuleRegressor(terms="linear", search="exact").fit(X, y)


def test_recourse_moves_along_the_trends_of_several_classes(fitted):
    X, y, _ = fitted
    labels = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    several = RuleClassifier(terms="linear", cv=None, max_complexity=24).fit(X, labels)
    other = (several.predict(X[:1])[0] + 1) % 3
    found = several.recourse(X[:1], change_to=other)
    assert len(found)
    for _, answer in found.groupby("answer"):
        row = X[:1].copy()
        for column, example in zip(answer["column"], answer["example"], strict=True):
            row[column] = float(example)
        assert several.predict(row)[0] == other


def test_recourse_moves_along_a_trend(fitted, tmp_path):
    X, _, model = fitted
    before = model.predict(X[:1])[0]
    found = model.recourse(X[:1], above=before + 1)
    assert len(found)
    for _, answer in found.groupby("answer"):
        row = X[:1].copy()
        for column, example in zip(answer["column"], answer["example"], strict=True):
            row[column] = float(example)
        after = model.predict(row)[0]
        assert after > before + 1
    model.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size > 10_000
