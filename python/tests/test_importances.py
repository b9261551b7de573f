"""How much each feature moves the score."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

import orthorules
from orthorules import RuleClassifier, RuleRegressor, datasets


@pytest.fixture(scope="module")
def friedman():
    return datasets.friedman1(rows=400, seed=3)


def by_hand(model, X):
    """The mean distance of what each rule adds from the mean of that, shared among the columns in its text."""
    frame = model.explain(X)
    frame = frame[frame["rule"] != "always (intercept)"]
    spread = frame.groupby("rule")["contribution"].agg(lambda c: (c - c.mean()).abs().mean())
    moved = dict.fromkeys(X.columns, 0.0)
    for rule, much in spread.items():
        used = [name for name in X.columns if name in rule.split()]
        for name in used:
            moved[name] += much / len(used)
    return np.array(list(moved.values())) / sum(moved.values())


def test_importances_are_what_rules_add_on_average(friedman):
    X, y = friedman
    model = RuleRegressor(max_complexity=40).fit(X, y)
    assert any(rule.count("&") for rule in model.rules_["rule"]), "a rule of several columns"
    assert model.feature_importances_ == pytest.approx(by_hand(model, X))
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[:5].sum() > 0.9, "Friedman's function uses the first five"
    smaller = model.at(rules=2)
    assert smaller.feature_importances_ == pytest.approx(by_hand(smaller, X))


def test_importances_survive_files_and_have_a_place_for_each_feature(friedman, deliveries):
    X, y = deliveries
    key = [f"order {i}" for i in range(len(X))]
    with pytest.warns(orthorules.exceptions.DataWarning, match='"key" left out'):
        model = RuleRegressor(max_rules=5).fit(X.assign(key=key), y)
    assert model.feature_importances_.shape == (5,) and model.feature_importances_[-1] == 0
    again = orthorules.from_json(model.to_json())
    assert dict(zip(again.feature_names_in_, again.feature_importances_, strict=True)) == {
        name: much
        for name, much in zip(model.feature_names_in_, model.feature_importances_, strict=True)
        if name != "key"
    }


def test_classes_are_added_up(friedman):
    X, y = friedman
    model = RuleClassifier(max_rules=3).fit(X, np.digitize(y, [11, 17]))
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1) and (shares >= 0).all() and shares.shape == (10,)
    used = {rule.split()[0] for rules in model.rules_["rule"] for rule in rules.split(" & ")}
    assert {name for name, much in zip(X.columns, shares, strict=True) if much > 0} <= used | set(X.columns[:5])


def test_without_rules_nothing_matters(friedman):
    X, y = friedman
    model = RuleRegressor(max_rules=0).fit(X, y)
    assert model.feature_importances_.tolist() == [0.0] * 10
    with pytest.raises(NotFittedError):
        _ = RuleRegressor().feature_importances_
    assert not hasattr(RuleRegressor(), "feature_importances_")


def test_features_can_be_selected_by_them(friedman):
    X, y = friedman
    selector = SelectFromModel(RuleRegressor(max_complexity=30), threshold=0.01).fit(X, y)
    kept = selector.get_feature_names_out()
    assert {"x1", "x2", "x4"} <= set(kept) and len(kept) < 10
    assert isinstance(X[kept], pd.DataFrame)
