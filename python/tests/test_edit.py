"""Edits of fitted models, fits with wishes, and alternatives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor


def houses(rows: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "size": random.integers(40, 140, rows),
            "garden": random.choice(["yes", "no"], rows),
            "age": random.uniform(0, 80, rows),
        }
    )
    y = 1000 + 500.0 * (X["size"] > 90) + 250 * (X["garden"] == "yes") - 3 * X["age"] + random.normal(0, 20, rows)
    return X, y.to_numpy()


def risk(model: RuleRegressor, X: pd.DataFrame, y: np.ndarray) -> float:
    return float(np.mean((model.predict(X) - y) ** 2))


def test_edits_return_a_new_model_and_say_what_they_cost() -> None:
    X, y = houses()
    model = RuleRegressor(max_complexity=10, cv=None).fit(X, y)
    before = model.to_json()
    assert model.edit(X, y, []).to_json() == before and len(model.ledger_) == 0
    first = model.rules_["rule"].iloc[0]
    edits = [{"action": "drop", "rule": first, "why": "a proxy"}, {"action": "pin", "rule": "size >= 100"}]
    edited = model.edit(X, y, edits)
    assert model.to_json() == before
    assert first not in set(edited.rules_["rule"]) and "size >= 100" in set(edited.rules_["rule"])
    ledger = edited.ledger_
    assert list(ledger["action"]) == ["drop", "pin"] and ledger["why"].iloc[0] == "a proxy"
    assert ledger["risk_before"].iloc[0] == pytest.approx(risk(model, X, y))
    assert ledger["risk_after"].iloc[1] == pytest.approx(risk(edited, X, y))
    again = RuleRegressor.from_json(edited.to_json())
    assert np.array_equal(again.predict(X), edited.predict(X))
    with pytest.raises(ValueError, match="the model has no rule"):
        model.edit(X, y, [{"action": "drop", "rule": "size >= 1.25"}])
    with pytest.raises(ValueError, match="there is no key"):
        model.edit(X, y, [{"action": "drop", "rul": first}])


def test_weights_follow_other_rows() -> None:
    X, y = houses()
    model = RuleRegressor(max_complexity=8, reg_lambda=1.0).fit(X, y)
    doubled = model.refit(X, 2 * y)
    assert doubled.predict(X) == pytest.approx(2 * model.predict(X), rel=1e-6)
    weight = np.where(X["garden"] == "yes", 2.0, 1.0)
    weighted = model.refit(X, y, sample_weight=weight)
    assert risk(weighted, X[X["garden"] == "yes"], y[X["garden"] == "yes"]) <= risk(
        model, X[X["garden"] == "yes"], y[X["garden"] == "yes"]
    )


def test_wishes_hold() -> None:
    X, y = houses()
    model = RuleRegressor(max_complexity=12, require=["size >= 77"], forbid=["age"]).fit(X, y)
    assert "size >= 77" in set(model.rules_["rule"]) and not any("age" in rule for rule in model.rules_["rule"])
    apart = RuleRegressor(max_complexity=20, interactions=[["size"], ["garden", "age"]]).fit(X, y)
    assert not any("size" in rule and ("garden" in rule or "age" in rule) for rule in apart.rules_["rule"])
    with pytest.raises(ValueError, match="require must be a list"):
        RuleRegressor(require="size >= 3").fit(X, y)
    searched = model.edit(X, y, [{"action": "forbid", "columns": ["garden"]}], refit="search")
    assert not any("garden" in rule for rule in searched.rules_["rule"])


def test_alternatives() -> None:
    X, y = houses()
    model = RuleRegressor(max_complexity=8, reg_lambda=1.0).fit(X, y)
    found = model.alternatives(X, y, rule=model.rules_["rule"].iloc[0])
    assert list(found.columns) == ["in_place_of", "rule", "risk", "cost", "shared_rows", "near_copies"]
    assert len(found) > 0 and found["risk"].is_monotonic_increasing
    without = model.alternatives(X, y, without=["size", "garden"])
    assert list(without["column"]) == ["size", "garden"] and (without["cost"] > 0).all()


def test_classes() -> None:
    X, y = houses()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [1100, 1450])]
    model = RuleClassifier(max_complexity=8).fit(X, labels)
    edited = model.edit(X, labels, [{"action": "add", "rule": "age >= 60", "why": "old"}])
    assert "age >= 60" in " ".join(edited.rules_["rule"]) and edited.predict_proba(X).shape == (200, 3)


REFUSED = [
    ([{"action": "drop", "rule": "size >= x"}], "character 9"),
    ([{"action": "add", "rule": "siez >= 3"}], 'no column "siez".*did you mean "size"'),
    ([{"action": "add", "rule": "garden = perhaps"}], 'no level "perhaps"'),
    ([{"action": "forbid", "columns": ["sizes"]}], "no such column"),
    ([{"action": "add", "rule": "size >= 3", "because": "law"}], 'no key "because"'),
    ([{"action": "strike", "rule": "size >= 3"}], "action must be"),
    ([{"action": "pin", "rule": "size >= 3"}, {"action": "forbid", "columns": ["size"]}], "is pinned.*forbidden"),
]


@pytest.mark.parametrize(("edits", "told"), REFUSED)
def test_bad_edits_are_refused_in_one_line(edits: list[dict[str, object]], told: str) -> None:
    X, y = houses()
    model = RuleRegressor(max_complexity=6, cv=None).fit(X, y)
    before = model.to_json()
    with pytest.raises(ValueError, match=told) as raised:
        model.edit(X, y, edits)
    assert "\n" not in str(raised.value) and model.to_json() == before


def test_wishes_that_contradict_each_other_are_refused() -> None:
    X, y = houses()
    for wishes, told in [
        ({"require": ["size >= 3"], "forbid": ["size"]}, "required rule.*forbidden"),
        ({"require": ["size >= 3 & age >= 4"], "interactions": [["size"], ["age"]]}, "keep .* apart"),
        ({"require": ["size >= 50 & size <= 60"], "monotonic_cst": {"size": 1}}, "monotone"),
        ({"require": ["size >="]}, "require.*character"),
        ({"forbid": ["colour = red"]}, "forbid.*colour"),
    ]:
        with pytest.raises(ValueError, match=told) as raised:
            RuleRegressor(max_complexity=6, **wishes).fit(X, y)
        assert "\n" not in str(raised.value)
    model = RuleRegressor(max_complexity=6, cv=None).fit(X, y)
    with pytest.raises(ValueError, match="size|garden"):
        model.edit(X[["age"]], y, [{"action": "add", "rule": "age >= 3"}])


def test_recourse_of_an_edited_model_reaches_its_goal() -> None:
    X, y = houses()
    edited = RuleRegressor(max_complexity=8, cv=None).fit(X, y).edit(X, y, [{"action": "pin", "rule": "size >= 100"}])
    row = X.iloc[[int(np.argmin(edited.predict(X)))]]
    goal = float(np.median(edited.predict(X)))
    answers = edited.recourse(row, above=goal)
    assert answers["answer"].nunique() > 0
    for _, answer in answers.groupby("answer"):
        changed = row.copy()
        for column, example in zip(answer["column"], answer["example"], strict=True):
            changed[column] = example
        assert edited.predict(changed)[0] > goal
