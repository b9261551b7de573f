"""What changed from one fitted model to another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor


def people(rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(5)
    X = pd.DataFrame({"age": random.integers(1, 80, rows), "sex": random.choice(["f", "m"], rows)})
    return X, np.where((X["sex"] == "f") != (random.random(rows) < 0.1), "yes", "no")


def test_a_model_does_not_differ_from_itself() -> None:
    X, y = people()
    model = RuleClassifier(cv=None, max_rules=3).fit(X, y)
    assert model.diff(model).empty and model.diff(model, X, y).empty
    assert repr(model.diff(model)) == "The models say the same."
    assert model.diff(model, X).rows["rows_changed"] == 0


def test_what_changed_is_told() -> None:
    X, y = people()
    model = RuleClassifier(cv=None, max_rules=2, terms="rules").fit(X, y)
    edited = model.edit(X, y, [{"action": "add", "rule": "age >= 70", "why": "asked for"}])
    found = model.diff(edited, X, y, examples=3)
    assert not found.empty and "came" in set(found.rules["change"]) and "age >= 70" in set(found.rules["rule"])
    assert list(found.edits["why"]) == ["asked for"] and len(found.examples) == 3
    before, after = model.predict_proba(X)[:, 1], edited.predict_proba(X)[:, 1]
    change = np.abs(after - before)
    assert found.rows["largest_change"] == pytest.approx(change.max(), abs=1e-15)
    assert found.rows["mean_change"] == pytest.approx((after - before).mean(), abs=1e-15)
    assert found.rows["rows_changed"] == int((change > 1e-9).sum())
    assert found.rows["classes_changed"] == int((model.predict(X) != edited.predict(X)).sum())
    first = found.examples.iloc[0]
    assert change[int(first["row"])] == change.max() and first["before"] == before[int(first["row"])]
    assert "came" in repr(found)


def test_what_cannot_be_compared_is_refused() -> None:
    X, y = people()
    model = RuleClassifier(cv=None, max_rules=2).fit(X, y)
    with pytest.raises(TypeError, match="other must be a fitted"):
        model.diff("model.json")
    with pytest.raises(ValueError, match="without X"):
        model.diff(model, y=y)
    with pytest.raises(ValueError, match="examples must be"):
        model.diff(model, X, examples=-1)
    numbers = RuleRegressor(cv=None, max_rules=2).fit(X, X["age"])
    with pytest.raises(ValueError, match="compared"):
        model.diff(numbers)
