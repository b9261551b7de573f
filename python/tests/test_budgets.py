"""Budgets of columns: how many columns a model uses, and what they cost."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from orthorules import RuleClassifier, RuleRegressor


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(36)
    X = pd.DataFrame({name: rng.integers(0, 50, 300) for name in ("age", "mri", "pay", "sex")})
    y = 3.0 * (X["age"] > 25) + 5.0 * (X["mri"] > 20) + 2.0 * (X["pay"] > 10) + rng.normal(size=300)
    return X, y.to_numpy()


def used(model: Any) -> set[str]:
    document = json.loads(model.to_json())
    lists = document.get("one_vs_rest", [document])
    rules = [rule for part in lists for rule in part["rules"]]
    names = {condition["column"] for rule in rules for condition in rule["conditions"]}
    return names | {rule["trend"]["column"] for rule in rules if rule.get("trend")}


@pytest.mark.parametrize("terms", ["rules", "hinge"])
def test_a_model_uses_at_most_so_many_columns(table: Any, terms: str) -> None:
    X, y = table
    model = RuleRegressor(max_columns=2, terms=terms).fit(X, y)
    assert len(used(model)) == 2
    assert json.loads(model.to_json())["budget"] == {"max_columns": 2}
    assert clone(model).max_columns == 2


def test_columns_are_paid_for_once(table: Any) -> None:
    X, y = table
    model = RuleRegressor(column_cost={"mri": np.float64(20), "age": 1}, max_cost=20.5).fit(X, y)
    assert not {"mri", "age"} <= used(model)
    whole = RuleRegressor(column_cost={"mri": 20, "age": 1}, max_cost=21).fit(X, y)
    assert {"mri", "age"} <= used(whole)
    cheap = RuleRegressor(column_cost={"mri": 20}, max_cost=0).fit(X, y)
    assert "mri" not in used(cheap)


@pytest.mark.parametrize("multiclass", ["shared", "one-vs-rest"])
def test_classes_share_one_budget(table: Any, multiclass: str) -> None:
    X, y = table
    labels = np.digitize(y, [3, 6])
    model = RuleClassifier(max_columns=2, multiclass=multiclass).fit(X, labels)
    assert 0 < len(used(model)) <= 2


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"max_columns": 0}, "max_columns must be at least 1"),
        ({"max_cost": 3}, "max_cost needs column_cost"),
        ({"column_cost": {"mri": 3}}, "column_cost needs max_cost"),
        ({"column_cost": {"mri": -3}, "max_cost": 3}, "column_cost must be numbers of at least 0"),
        ({"column_cost": {"mri": float("nan")}, "max_cost": 3}, "column_cost must be numbers of at least 0"),
        ({"column_cost": {"mrt": 3}, "max_cost": 3}, 'column_cost "mrt": no such column'),
        ({"column_cost": {"mri": 3}, "max_cost": float("nan")}, "max_cost"),
        ({"max_columns": 1, "require": ["mri >= 3 & age >= 2"]}, "the required rule needs 2 columns"),
    ],
)
def test_budgets_that_make_no_sense_are_refused(table: Any, parameters: dict[str, Any], told: str) -> None:
    X, y = table
    with pytest.raises(ValueError, match=told):
        RuleRegressor(**parameters).fit(X, y)


def test_costs_are_a_dict(table: Any) -> None:
    X, y = table
    with pytest.raises(TypeError, match="column_cost must be a dict"):
        RuleRegressor(column_cost=["mri"], max_cost=3).fit(X, y)  # type: ignore[arg-type]


def test_edits_keep_to_the_budget(table: Any) -> None:
    X, y = table
    model = RuleRegressor(max_columns=2, terms="rules").fit(X, y)
    other = min(set(X.columns) - used(model))
    with pytest.raises(ValueError, match="then the rules use 3 columns"):
        model.edit(X, y, edits=[{"action": "add", "rule": f"{other} >= 3"}])
    first = min(used(model))
    edited = model.edit(X, y, edits=[{"action": "forbid", "columns": [first]}], refit="search")
    assert len(used(edited)) <= 2
    assert first not in used(edited)
