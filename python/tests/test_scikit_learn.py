"""The estimators among scikit-learn's own tools."""

import json
import pickle

import numpy as np
import pytest
import sklearn
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import estimator_html_repr

from orthorules import RuleClassifier, RuleRegressor, datasets


@pytest.fixture(scope="module")
def friedman():
    return datasets.friedman1(rows=300, seed=1)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_clone_and_pickle(friedman, deliveries):
    X, y = friedman
    model = RuleRegressor(max_rules=4, cuts={"x1": [0.5]}, random_state=3)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.to_json() == model.to_json()
    smaller = pickle.loads(pickle.dumps(model.at(rules=2)))
    assert (smaller.predict(X) == model.at(rules=2).predict(X)).all()
    labels = RuleClassifier(max_rules=2).fit(X, y > 14)
    assert (pickle.loads(pickle.dumps(labels)).predict(X) == labels.predict(X)).all()


def test_pipelines_and_output_frames(deliveries):
    X, y = deliveries
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["weather"]), remainder="passthrough")
    pipeline = make_pipeline(encode, RuleRegressor(max_rules=4)).set_output(transform="pandas")
    pipeline.fit(X, y)
    assert pipeline.score(X, y) > 0.8
    assert "onehotencoder__weather_snow" in pipeline[-1].feature_names_in_
    scaled = make_pipeline(StandardScaler(), RuleRegressor(max_rules=4)).set_output(transform="polars")
    numbers = X[["hour", "km"]]
    assert (scaled.fit(numbers, y).predict(numbers) == scaled.predict(numbers)).all()


def test_searches(friedman):
    X, y = friedman
    grid = GridSearchCV(RuleRegressor(n_jobs=1), {"max_rules": [1, 8], "reg_lambda": [1.0, 1000.0]}, cv=3)
    assert grid.fit(X, y).best_params_["max_rules"] == 8
    assert cross_val_score(RuleRegressor(max_complexity=30), X, y).mean() > 0.6
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [11, 17])]
    assert cross_val_score(RuleClassifier(max_complexity=20), X, labels).mean() > 0.6


def test_processes_and_threads(friedman):
    X, y = friedman
    expected = RuleRegressor(max_rules=3).fit(X, y).to_json()
    for backend in ("loky", "threading"):
        work = (delayed(_fit)(X, y) for _ in range(3))
        assert Parallel(n_jobs=2, backend=backend)(work) == [expected] * 3


def _fit(X, y):
    return RuleRegressor(max_rules=3).fit(X, y).to_json()


def test_sample_weight_is_routed(friedman, routing):
    X, y = friedman
    weight = np.arange(len(y)) % 3
    model = RuleRegressor(max_rules=3).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    seen = cross_validate(
        make_pipeline(scaler, model), X, y, params={"sample_weight": weight}, return_estimator=True, cv=2
    )
    assert all("sample_weight" in fold[-1].to_json() for fold in seen["estimator"])


def test_exposure_is_routed(routing):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    exposure = random.uniform(0.5, 5, 400)
    y = random.poisson(exposure * np.exp(X[:, 0] > 0))
    model = RuleRegressor(loss="poisson", max_rules=2)
    model.set_fit_request(exposure=True).set_predict_request(exposure=True).set_score_request(exposure=True)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y, exposure=exposure)
    counts = pipeline.predict(X, exposure=exposure)
    assert np.allclose(counts, exposure * pipeline.predict(X))
    scores = cross_validate(model, X, y, params={"exposure": exposure}, cv=3)["test_score"]
    assert scores.mean() > 0.1
    assert pipeline.score(X, y, exposure=exposure) == pytest.approx(
        1 - mean_poisson_deviance(y, counts) / mean_poisson_deviance(y, np.full(400, y.mean()))
    )


def test_tags():
    for estimator in (RuleRegressor(), RuleClassifier()):
        tags = sklearn.utils.get_tags(estimator)
        assert tags.input_tags.allow_nan and tags.input_tags.categorical and not tags.input_tags.sparse
        assert tags.target_tags.required
    assert sklearn.utils.get_tags(RuleRegressor(loss="poisson")).target_tags.positive_only
    assert sklearn.utils.get_tags(RuleClassifier()).classifier_tags.multi_class


def test_html(friedman, deliveries):
    X, y = friedman
    model = RuleRegressor(max_rules=2)
    assert "orthorules" not in model._repr_mimebundle_()["text/html"]
    X, y = deliveries
    model.fit(X, y.rename("<minutes>"))
    html = model._repr_mimebundle_()["text/html"]
    assert html.startswith(estimator_html_repr(model)[:40])
    for rule in model.rules_["rule"]:
        assert rule.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in html
    assert "&lt;minutes&gt;" in html and "<minutes>" not in html
    assert "text/plain" in model._repr_mimebundle_()


def test_several_classes(friedman):
    X, y = friedman
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [11, 17])]
    model = RuleClassifier(max_rules=4, multiclass="one-vs-rest").fit(X, labels)
    assert list(model.classes_) == ["high", "low", "middle"]
    assert list(model.rules_["class"].unique()) == ["high", "low", "middle"]
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X)).all()
    assert model.decision_function(X).shape == (300, 3)
    assert model.intercept_.shape == (3,)
    one_by_one = 1 / (1 + np.exp(-model.decision_function(X)))
    assert np.allclose(one_by_one / one_by_one.sum(axis=1, keepdims=True), probabilities)


def test_the_positive_class_can_be_chosen(friedman):
    X, y = friedman
    labels = np.where(y > 14, "a", "b")
    for positive, order in ((None, ["a", "b"]), ("a", ["b", "a"])):
        model = RuleClassifier(max_rules=4, positive=positive).fit(X, labels)
        assert json.loads(model.to_json())["classes"] == order and list(model.classes_) == ["a", "b"]
        assert (model.predict(X) == labels).mean() > 0.85
        score, chance = model.decision_function(X), model.predict_proba(X)
        assert np.allclose(1 / (1 + np.exp(-score)), chance[:, 1])
        assert (np.where(score > 0, "b", "a") == model.predict(X)).all()
        # The weights are those of the chosen class.
        explained = model.explain(X).groupby("row")["contribution"].sum()
        assert np.allclose(explained, -score if positive == "a" else score)


def test_sirus(friedman):
    X, y = friedman
    model = RuleClassifier(preset="sirus", num_trees=50, max_rules=5).fit(X, y > 14)
    chance = model.predict_proba(X)[:, 1]
    assert np.allclose(np.clip(model.decision_function(X) + 0.5, 0, 1), chance)
    assert "log-odds" not in model.why(X.iloc[[0]])
