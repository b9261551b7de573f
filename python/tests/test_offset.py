"""Offsets: a part of the score that is known, with weight 1."""

import json
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_validate

import orthorules
from orthorules import RuleClassifier, RuleRegressor


@pytest.fixture(scope="module")
def rows():
    """Columns, offsets, exposures, and a target for each loss."""
    random = np.random.default_rng(8)
    X = pd.DataFrame({"a": random.normal(size=400), "b": random.normal(size=400)})
    offset, exposure = random.normal(0, 0.8, 400), random.uniform(0.5, 3, 400)
    score = offset + 0.9 * (X["a"] > 0.3).to_numpy() - 0.6 * (X["b"] < -0.2).to_numpy()
    mean = exposure * np.exp(score)
    targets = {
        "squared": score + random.normal(0, 0.2, 400),
        "poisson": random.poisson(mean).astype(float),
        "gamma": mean * random.gamma(4, 0.25, 400),
    }
    return X, offset, exposure, targets


@pytest.mark.parametrize(
    ("loss", "constant"),
    [
        ("squared", lambda y, o: (y - o).mean()),
        ("poisson", lambda y, o: np.log(y.sum() / np.exp(o).sum())),
        ("gamma", lambda y, o: np.log((y / np.exp(o)).mean())),
    ],
)
def test_the_constant_model_has_a_closed_form(rows, loss, constant):
    X, offset, _, targets = rows
    y = targets[loss]
    model = RuleRegressor(loss=loss, max_rules=0).fit(X, y, offset=offset)
    assert model.intercept_ == pytest.approx(constant(y, offset), abs=1e-12)
    expected = offset + model.intercept_
    assert np.allclose(model.predict(X, offset=offset), expected if loss == "squared" else np.exp(expected), rtol=1e-14)


def test_squared_loss_fits_the_difference(rows):
    X, offset, _, targets = rows
    y = targets["squared"]
    model = RuleRegressor(cv=None).fit(X, y, offset=offset)
    other = RuleRegressor(cv=None).fit(X, y - offset)
    assert list(model.rules_["rule"]) == list(other.rules_["rule"])
    assert np.array_equal(model.predict(X, offset=offset), other.predict(X) + offset)
    assert model.score(X, y, offset=offset) > 0.9 > RuleRegressor(cv=None).fit(X, y).score(X, y)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_a_log_is_an_exposure(rows, loss):
    """exp(log(e)) is not e to the last bit."""
    X, _, exposure, targets = rows
    model = RuleRegressor(loss=loss, cv=4).fit(X, targets[loss], offset=np.log(exposure))
    other = RuleRegressor(loss=loss, cv=4).fit(X, targets[loss], exposure=exposure)
    assert list(model.rules_["rule"]) == list(other.rules_["rule"]) and len(model.rules_) > 0
    assert np.allclose(
        model.predict(X, offset=np.log(exposure)), other.predict(X, exposure=exposure), rtol=1e-9, atol=0
    )
    assert np.allclose(model.path_["cv_risk"], other.path_["cv_risk"], rtol=1e-9)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_weights_are_those_of_a_glm(rows, loss):
    """Newton's method on the design of the rules, with the offset in the linear predictor and the same ridge."""
    X, offset, exposure, targets = rows
    y, ridge = targets[loss], 2.5
    model = RuleRegressor(loss=loss, cv=None, reg_lambda=ridge, max_complexity=10)
    model.fit(X, y, exposure=exposure, offset=offset)
    explained = model.explain(X, offset=offset)
    names = ["always (intercept)", *model.rules_["rule"]]
    design = explained.pivot_table(index="row", columns="rule", values="fired", sort=False)[names].to_numpy(dtype=float)
    beta, penalty = np.zeros(len(names)), np.diag([0.0, *[ridge] * (len(names) - 1)])
    beta[0] = np.log(y.mean())
    for _ in range(60):
        mean = exposure * np.exp(offset + design @ beta)
        gradient, curvature = (mean - y, mean) if loss == "poisson" else (1 - y / mean, y / mean)
        beta -= np.linalg.solve(design.T * curvature @ design + penalty, design.T @ gradient + penalty @ beta)
    assert np.allclose([model.intercept_, *model.rules_["weight"]], beta, atol=1e-8)
    assert np.allclose(model.predict(X, exposure, offset), exposure * np.exp(offset + design @ beta), rtol=1e-8)


def test_everything_that_predicts_takes_it(rows, tmp_path):
    X, offset, exposure, targets = rows
    model = RuleRegressor(loss="poisson", max_rules=3).fit(X, targets["poisson"], exposure=exposure, offset=offset)
    predicted = model.predict(X, exposure, offset)
    assert np.array_equal(
        list(model.staged_predict(X, exposure, offset))[int(np.flatnonzero(model.path_["chosen"])[0])], predicted
    )
    frame = model.explain(X, offset=offset)
    assert (frame.groupby("row")["rule"].last() == "offset").all()
    score = frame.groupby("row")["contribution"].sum()
    assert np.allclose(exposure * np.exp(score), predicted)
    said = model.why(X[:1], offset=offset[0])
    assert "by the offset" in said and said.startswith("The rate of y is predicted to be")
    assert len(model.plot_contributions(X[:1], offset=offset[0]).get_yticklabels()) > 2
    changes = model.recourse(X[:1], above=predicted[0] * 1.2, exposure=exposure[:1], offset=offset[:1])
    assert changes.empty or (changes["prediction"] > predicted[0] * 1.2).all()
    model.report(tmp_path / "page.html", X, targets["poisson"], exposure, offset)
    document = json.loads(model.to_json())
    assert (document["version"], document["offset"]) == (3, "offset")
    again = orthorules.from_json(model.to_json())
    assert np.array_equal(again.predict(X, exposure, offset), predicted)
    module = types.ModuleType("exported")
    exec(model.export(to="python"), module.__dict__)
    cells = X.assign(exposure=exposure, offset=offset).to_dict("records")
    assert np.allclose([module.predict(row) for row in cells], predicted, rtol=1e-14)
    del cells[0]["offset"]
    assert np.isnan(module.score(cells[0]))


def test_rows_that_are_held_out_have_offsets(rows):
    X, offset, exposure, targets = rows
    y = targets["poisson"]
    model = RuleRegressor(loss="poisson", max_rules=3)
    model.fit(X, y, exposure=exposure, offset=offset, eval_set=(X, y, None, exposure, offset))
    assert np.allclose(model.eval_risks_["eval_0"], model.path_["train_risk"])
    plain = RuleRegressor(max_rules=3).fit(X, y, offset=offset, eval_set=(X, y, None, None, offset))
    assert np.allclose(plain.eval_risks_["eval_0"], plain.path_["train_risk"])
    with pytest.raises(ValueError, match=r"eval_set\[0\]: needs offsets, as \(X, y, sample_weight, exposure, offset\)"):
        model.fit(X, y, exposure=exposure, offset=offset, eval_set=(X, y, None, exposure))
    with pytest.raises(ValueError, match=r"eval_set\[0\]: has offsets, but fit was called without offset"):
        RuleRegressor().fit(X, y, eval_set=(X, y, None, None, offset))


def test_offsets_are_routed(rows):
    import sklearn

    X, offset, _, targets = rows
    with sklearn.config_context(enable_metadata_routing=True):
        model = RuleRegressor(max_rules=3).set_fit_request(offset=True).set_score_request(offset=True)
        scores = cross_validate(model, X, targets["squared"], params={"offset": offset}, cv=3)["test_score"]
    assert (scores > 0.8).all()


def test_bad_offsets_are_refused(rows):
    X, offset, _, targets = rows
    y = targets["poisson"]
    model, counts = RuleRegressor(max_rules=2), RuleRegressor(loss="poisson", max_rules=2)
    for bad, message in [
        (np.where(np.arange(400) == 7, np.nan, offset), "offset must be finite, got nan at index 7"),
        (np.where(np.arange(400) == 7, -np.inf, offset), "offset must be finite, got -inf at index 7"),
        (offset[:-1], "offset.shape"),
        (["a"] * 400, "offset"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(X, y, offset=bad)
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(X, y, offset=offset).predict(X, offset=bad)
    large = np.where(np.arange(400) == 5, 800.0, offset)
    with pytest.raises(
        ValueError, match=r"exp\(offset\) must be from 1e-100 to 1e100, got inf with offset 800 at index 5"
    ):
        counts.fit(X, y, offset=large)
    with pytest.raises(ValueError, match=r"exposure × exp\(offset\) must be .* at index 5"):
        counts.fit(X, y, offset=large / 4, exposure=np.where(np.arange(400) == 5, 1e90, 1.0))
    with pytest.raises(ValueError, match=r"got 0 with offset -800 at index 5"):
        counts.fit(X, y, offset=offset).predict(X, offset=-large)
    with pytest.raises(ValueError, match="the model was fitted with offset: pass one number for each row"):
        model.fit(X, y, offset=offset).predict(X)
    with pytest.raises(ValueError, match="offset was passed, but the model was fitted without offset"):
        model.fit(X, y).predict(X, offset=offset)
    with pytest.raises(ValueError, match="sirus takes no offset"):
        RuleRegressor(preset="sirus").fit(X, y, offset=offset)
    with pytest.raises(TypeError, match="offset"):
        RuleClassifier().fit(X, y > 1, offset=offset)
