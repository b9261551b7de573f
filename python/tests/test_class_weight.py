"""Rows count more or less by their class."""

import json

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from orthorules import RuleClassifier, datasets


@pytest.fixture(scope="module")
def rare():
    X, y = datasets.friedman1(rows=600, seed=4)
    return X, np.where(y > 20, "high", "low")


def without_name(model):
    """A model without the name that its column of weights has."""
    document = json.loads(model.to_json())
    assert document.pop("weight")
    return document


def test_a_dict_multiplies_weights(rare):
    X, y = rare
    weight = np.arange(len(y)) % 3 + 1.0
    model = RuleClassifier(max_rules=4, class_weight={"high": 3}).fit(X, y, sample_weight=weight)
    spelled = RuleClassifier(max_rules=4).fit(X, y, sample_weight=weight * np.where(y == "high", 3, 1))
    assert without_name(model) == without_name(spelled)
    alone = RuleClassifier(max_rules=4, class_weight={"high": 3}).fit(X, y)
    assert without_name(alone) == without_name(RuleClassifier(max_rules=4).fit(X, y, np.where(y == "high", 3, 1)))


def test_balanced_classes_weigh_the_same(rare):
    X, y = rare
    share = (y == "high").mean()
    assert share < 0.25
    balanced = np.where(y == "high", 0.5 / share, 0.5 / (1 - share))
    model = RuleClassifier(max_rules=4, class_weight="balanced").fit(X, y)
    assert without_name(model) == without_name(RuleClassifier(max_rules=4).fit(X, y, balanced))
    plain = RuleClassifier(max_rules=4).fit(X, y)
    found = [(m.predict(X[y == "high"]) == "high").mean() for m in (plain, model)]
    assert found[1] > found[0], "more of the rare class is found"


def test_balance_counts_a_row_of_weight_two_as_two_rows(rare):
    X, y = rare
    weight = np.where(y == "high", 2.0, 1.0)
    model = RuleClassifier(max_rules=3, class_weight="balanced").fit(X, y, sample_weight=weight)
    total = weight.sum()
    factors = {label: total / 2 / weight[y == label].sum() for label in ("high", "low")}
    expected = weight * np.where(y == "high", factors["high"], factors["low"])
    assert without_name(model) == without_name(RuleClassifier(max_rules=3).fit(X, y, expected))


@pytest.mark.parametrize("given", [{}, None])
def test_nothing_changes_without_weights(rare, given):
    X, y = rare
    expected = RuleClassifier(max_rules=3).fit(X, y)
    model = RuleClassifier(max_rules=3, class_weight=given).fit(X, y)
    assert (model.predict_proba(X) == expected.predict_proba(X)).all()


def test_numbers_and_truth_values_are_labels_too(rare):
    X, y = rare
    text = RuleClassifier(max_rules=3, class_weight={"low": 0.5}).fit(X, y).predict_proba(X)
    truth = RuleClassifier(max_rules=3, class_weight={True: 0.5}).fit(X, y == "low").predict_proba(X)
    whole = RuleClassifier(max_rules=3, class_weight={7: 0.5}).fit(X, np.where(y == "low", 7, 3)).predict_proba(X)
    assert (truth == text).all() and (whole == text).all()


def test_several_classes_and_searches(rare):
    X, _ = rare
    y = np.digitize(X["x4"], [0.1, 0.3])
    model = RuleClassifier(max_rules=3, class_weight="balanced").fit(X, y)
    assert list(model.classes_) == [0, 1, 2]
    assert cross_val_score(RuleClassifier(max_rules=3, class_weight="balanced"), X, y, cv=3).mean() > 0.8
    without = RuleClassifier(max_rules=3, class_weight={0: 0}).fit(X, y)
    assert list(without.classes_) == [1, 2], "rows that weigh nothing are not there"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("even", "class_weight"),
        ({"high": -1}, "class_weight must be at least 0"),
        ({"high": np.nan}, "class_weight must be at least 0 and finite"),
        ({"medium": 2}, "medium|high"),
        ({"high": 0}, "only one class: 'low'"),
    ],
)
def test_bad_weights_are_refused(rare, given, message):
    X, y = rare
    with pytest.raises(ValueError, match=message):
        RuleClassifier(class_weight=given).fit(X, y)
