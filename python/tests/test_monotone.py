"""`monotonic_cst`: the promise holds at every size, in scikit-learn's forms and words."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

from orthorules import RuleClassifier, RuleRegressor


@pytest.fixture(scope="module")
def bump():
    """y rises at x0 = 0 and falls back halfway at 1; it falls with x1; x2 is noise."""
    random = np.random.default_rng(5)
    X = random.normal(size=(600, 3))
    X[random.random(X.shape) < 0.05] = np.nan
    y = (X[:, 0] > 0) - 0.5 * (X[:, 0] > 1) - (X[:, 1] > 0.3) + 0.2 * random.normal(size=600)
    return X, y


def turns(model, feature, sign):
    """Whether the score of some size goes the wrong way along a feature, the others being those of random rows."""
    random = np.random.default_rng(1)
    grid = np.concatenate([[-1e9], np.linspace(-3, 3, 61), [1e9]])
    for row in random.normal(size=(20, 3)):
        X = np.repeat(row[None, :], len(grid), axis=0)
        X[:, feature] = grid
        for size in range(len(model._model.sizes)):
            score = model._apply(X).scores(size)[0]
            if (sign * np.diff(score) < 0).any():
                return True
    return False


@pytest.mark.parametrize(
    "options", [{}, {"path": "nested"}, {"search": "beam"}, {"cv": 3}, {"preset": "cob", "max_rules": 8}]
)
@pytest.mark.parametrize("kind", ["squared", "poisson", "gamma", "classes"])
def test_the_score_never_turns_at_any_size(bump, kind, options):
    X, y = bump
    if kind == "classes":
        model, y = RuleClassifier(**options), y > 0
    else:
        y = {"squared": y, "poisson": np.floor(2 * np.exp(y)), "gamma": np.exp(y)}[kind]
        model = RuleRegressor(loss=kind, **options)
    free = model.fit(X, y)
    if kind != "classes" and not options:
        assert turns(free, 0, 1), "or there is nothing to see"
    bound = model.set_params(monotonic_cst=[1, -1, 0]).fit(X, y)
    assert not turns(bound, 0, 1) and not turns(bound, 1, -1)
    assert {0, 1} <= {int(name[1:]) for name in bound._model.used_columns}


def test_forms_are_those_of_scikit_learn(bump):
    X, y = bump
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name = RuleRegressor(monotonic_cst={"a": 1, "b": -1}).fit(frame, y)
    for other in ([1, -1, 0], np.array([1, -1, 0]), (1, -1, 0), pd.Series([1, -1, 0])):
        assert RuleRegressor(monotonic_cst=other).fit(frame, y).to_json() == by_name.to_json()
    document = json.loads(by_name.to_json())
    assert [column.get("monotone") for column in document["columns"]] == [1, -1, None]
    free = RuleRegressor().fit(X, y).to_json()
    assert free == RuleRegressor(monotonic_cst=None).fit(X, y).to_json()
    assert free == RuleRegressor(monotonic_cst=[0, 0, 0]).fit(X, y).to_json()
    assert "monotone" not in free


def test_search_over_constraints(bump):
    X, y = bump
    grid = GridSearchCV(RuleRegressor(max_rules=4), {"monotonic_cst": [None, [1, -1, 0], [-1, 0, 0]]}, cv=3).fit(X, y)
    assert grid.best_params_["monotonic_cst"] != [-1, 0, 0]


@pytest.mark.parametrize(
    "given",
    [[1, 0], [1, 0, 2], {"a": 1, "z": 1}, {"a": 3}],
    ids=["too few", "not a direction", "unknown name", "not a direction by name"],
)
def test_errors_are_those_of_scikit_learn(bump, given):
    X, y = bump
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="monotonic_cst") as theirs:
        HistGradientBoostingRegressor(monotonic_cst=given).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst") as ours:
        RuleRegressor(monotonic_cst=given).fit(X, y)
    assert str(ours.value) == str(theirs.value)


def test_what_cannot_be_promised_is_refused(bump):
    X, y = bump
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="not fitted on data with feature names"):
        RuleRegressor(monotonic_cst={"a": 1}).fit(X, y)
    with pytest.raises(ValueError, match="not supported for multiclass classification"):
        RuleClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.arange(600) % 3)
    text = frame.assign(a=pd.Categorical(np.where(frame["a"] > 0, "up", "down")))
    with pytest.raises(ValueError, match="Categorical features cannot have monotonic constraints"):
        RuleRegressor(monotonic_cst={"a": 1}).fit(text, y)
    dates = frame.assign(a=pd.Timedelta("1 day"))
    with pytest.raises(ValueError, match="'a' was left out"), pytest.warns(UserWarning):
        RuleRegressor(monotonic_cst={"a": 1}).fit(dates, y)
    with pytest.raises(ValueError, match="sirus"):
        RuleRegressor(monotonic_cst=[1, 0, 0], preset="sirus").fit(X, y)
    for odd in (1, "up", [[1, 0, 0]]):
        with pytest.raises(ValueError, match="monotonic_cst must be"):
            RuleRegressor(monotonic_cst=odd).fit(X, y)


def test_the_positive_class_is_meant(bump):
    X, y = bump
    model = RuleClassifier(positive=False, monotonic_cst=[-1, 0, 0]).fit(X, y > 0)
    low, high = np.array([[-2.0, 0, 0]]), np.array([[2.0, 0, 0]])
    assert model.predict_proba(high)[0, 0] <= model.predict_proba(low)[0, 0]
    assert not turns(model, 0, -1)
