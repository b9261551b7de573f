"""Rows that judge every size without taking part in the fit."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from orthorules import RuleClassifier, RuleRegressor, datasets


@pytest.fixture(scope="module")
def friedman():
    return datasets.friedman1(rows=300, seed=1), datasets.friedman1(rows=200, seed=2)


def test_risks_are_those_of_every_size(friedman):
    (X, y), (fresh, truth) = friedman
    model = RuleRegressor(max_complexity=20).fit(X, y, eval_set=(fresh, truth))
    risks = model.eval_risks_
    assert list(risks.columns) == ["rules", "complexity", "eval_0"]
    assert risks[["rules", "complexity"]].equals(model.path_[["rules", "complexity"]])
    expected = [np.mean((p - truth) ** 2) for p in model.staged_predict(fresh)]
    assert risks["eval_0"].to_numpy() == pytest.approx(expected)
    assert model.to_json() == RuleRegressor(max_complexity=20).fit(X, y).to_json(), "the fit is the same"


def test_the_training_rows_have_the_training_risk(friedman):
    (X, y), (fresh, truth) = friedman
    weight = np.arange(len(y)) % 3
    model = RuleRegressor(max_rules=5).fit(X, y, sample_weight=weight, eval_set=[(X, y, weight), (fresh, truth)])
    assert list(model.eval_risks_.columns[2:]) == ["eval_0", "eval_1"]
    assert model.eval_risks_["eval_0"].to_numpy() == pytest.approx(model.path_["train_risk"].to_numpy())


def test_two_and_more_classes(friedman):
    (X, y), (fresh, truth) = friedman
    for cuts, labels in (([14], ["low", "high"]), ([11, 17], ["low", "middle", "high"])):
        names = np.array(labels)
        train, test = names[np.digitize(y, cuts)], names[np.digitize(truth, cuts)]
        model = RuleClassifier(max_rules=4).fit(X, train, eval_set=[(fresh, test), (fresh, test, np.arange(200.0))])
        staged = list(model.staged_predict_proba(fresh))
        for column, weight in (("eval_0", None), ("eval_1", np.arange(200.0))):
            expected = [log_loss(test, p, labels=model.classes_, sample_weight=weight) for p in staged]
            assert model.eval_risks_[column].to_numpy() == pytest.approx(expected)


def test_exposures():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 2))
    exposure = random.uniform(0.5, 3, 500)
    y = random.poisson(exposure * np.exp(X[:, 0] > 0))
    model = RuleRegressor(loss="poisson", max_rules=3)
    model.fit(X[:300], y[:300], exposure=exposure[:300], eval_set=(X[:300], y[:300], None, exposure[:300]))
    assert model.eval_risks_["eval_0"].to_numpy() == pytest.approx(model.path_["train_risk"].to_numpy())
    with pytest.raises(ValueError, match=r"eval_set\[0\]: needs exposures"):
        model.fit(X, y, exposure=exposure, eval_set=(X, y))
    with pytest.raises(ValueError, match=r"eval_set\[0\]: has exposures, but"):
        model.fit(X, y, eval_set=(X, y, None, exposure))
    with pytest.raises(ValueError, match=r"eval_set\[0\]: .*at least 0, got -1 at index 0"):
        model.fit(X, y, eval_set=(X, y - 1 - y[0]))


def test_data_frames_of_any_kind(deliveries):
    X, y = deliveries
    model = RuleRegressor(max_rules=4).fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    expected = [np.mean((p - y[400:]) ** 2) for p in model.staged_predict(X[400:])]
    assert model.eval_risks_["eval_0"].to_numpy() == pytest.approx(expected)
    odd = X[400:].rename(columns={"km": "miles"})
    with pytest.raises(ValueError, match=r"eval_set\[0\]: The feature names should match"):
        RuleRegressor().fit(X[:400], y[:400], eval_set=(odd, y[400:]))


def test_the_attribute_is_there_only_if_rows_were_given(friedman):
    (X, y), (fresh, truth) = friedman
    model = RuleRegressor(max_rules=2)
    assert not hasattr(model.fit(X, y), "eval_risks_")
    model.fit(X, y, eval_set=(fresh, truth))
    assert pickle.loads(pickle.dumps(model)).eval_risks_.equals(model.eval_risks_)
    assert model.at(rules=1).eval_risks_.equals(model.eval_risks_)
    assert not hasattr(model.fit(X, y), "eval_risks_")
    assert not hasattr(clone(model), "eval_risks_")
    assert "eval" not in json.loads(model.to_json())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: [X, y], r"eval_set must be \(X, y\)"),
        (lambda X, y: (X,), r"eval_set must be \(X, y\)"),
        (lambda X, y: X, r"eval_set must be \(X, y\)"),
        (lambda X, y: (X, y, y, y, y, y), r"eval_set must be \(X, y\)"),
        (lambda X, y: (X, y[:-1]), r"eval_set\[0\]: .*X has 200 rows, y has 199"),
        (lambda X, y: [(X, y), (X, y.where(y.index != 3))], r"eval_set\[1\]: .*index 3 is missing"),
        (lambda X, y: (X.iloc[:, 1:], y), r"eval_set\[0\]: .*feature names"),
        (lambda X, y: (X, y, -y), r"eval_set\[0\]: Negative values"),
    ],
)
def test_bad_sets_are_refused_before_the_fit(friedman, make, message):
    (X, y), (fresh, truth) = friedman
    with pytest.raises(ValueError, match=message):
        RuleRegressor(max_complexity=10_000).fit(X, y, eval_set=make(fresh, pd.Series(truth)))


def test_classes_that_were_not_learned_are_refused(friedman):
    (X, y), (fresh, truth) = friedman
    with pytest.raises(ValueError, match=r"eval_set\[0\]: y holds 2 at index \d+, which is no class of the training"):
        RuleClassifier().fit(X, y > 14, eval_set=(fresh, np.digitize(truth, [11, 17])))
    with pytest.raises(ValueError, match=r"eval_set must be \(X, y\), \(X, y, sample_weight\) or a list"):
        RuleClassifier().fit(X, y > 14, eval_set=(fresh, truth > 14, truth, truth))
