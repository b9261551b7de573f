"""One list of rules with a weight for each class."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from orthorules import RuleClassifier, datasets, load

LABELS = np.array(["high", "low", "middle"])


@pytest.fixture(scope="module")
def fitted():
    X, y = datasets.friedman1(400, seed=2)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [11, 17])]
    return RuleClassifier(max_complexity=16).fit(X, labels), X, labels


def test_rules_have_a_weight_for_each_class(fitted):
    model, X, _ = fitted
    rules = model.rules_
    names = [f"weight_{label}" for label in model.classes_]
    assert list(rules.columns[:5]) == ["rule", *names, "conditions"]
    assert np.allclose(rules[names].sum(axis=1), 0, atol=1e-9), "the weights of a rule add up to 0"
    assert model.complexity_ == len(rules) + rules["conditions"].sum(), "rules that are shared count once"
    assert np.allclose(rules["coverage"], rules["covered"] / len(X))
    assert len(model.intercept_) == 3


def test_probabilities_are_the_softmax_of_the_scores(fitted):
    model, X, y = fitted
    scores = model.decision_function(X)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities, shares / shares.sum(axis=1, keepdims=True))
    assert (model.predict(X) == model.classes_[probabilities.argmax(axis=1)]).all()
    assert model.score(X, y) > 0.75
    risks = [-np.log(p[np.arange(len(y)), np.searchsorted(LABELS, y)]).mean() for p in model.staged_predict_proba(X)]
    assert np.allclose(risks, model.path_["train_risk"])
    explained = model.explain(X).groupby(["row", "class"])["contribution"].sum().unstack()
    assert np.allclose(explained[LABELS], scores)


def test_sizes_files_and_pictures(fitted, tmp_path):
    model, X, _ = fitted
    path = model.path_
    assert "class" not in path and path["chosen"].sum() == 1
    for complexity in path["complexity"]:
        assert model.at(complexity=int(complexity)).complexity_ == complexity
    again = RuleClassifier.from_json(model.to_json())
    assert (again.predict_proba(X) == model.predict_proba(X)).all() and again.to_json() == model.to_json()
    text = model.why(X.iloc[[0]])
    assert text.startswith("The probability that y is ") and "against the rest" not in text
    picture = model.plot_rules()
    assert len(picture.patches) == 3 * len(model.rules_)
    model.plot_path()
    model.plot_contributions(X.iloc[[1]])
    plt.close("all")
    html = model._repr_mimebundle_()["text/html"]
    assert "with a weight for each class" in html
    model.report(tmp_path / "page.html", X)
    assert '"multiclass":"shared"' in (tmp_path / "page.html").read_text()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_cross_validation_and_bootstrap_know_classes(fitted):
    _, X, y = fitted
    model = RuleClassifier(max_complexity=10, cv=3, bootstrap=20, random_state=0).fit(X, y)
    assert model.path_["cv_risk"].notna().all()
    rules = model.rules_
    for label in LABELS:
        assert (rules[f"lower_{label}"] <= rules[f"upper_{label}"]).all()
    assert rules["frequency"].between(0, 1).all()


@pytest.mark.parametrize("two", [False, True])
def test_measures_of_the_chosen_size_are_of_rows_held_out(fitted, two, tmp_path):
    _, X, y = fitted
    y = y == "high" if two else y
    fit = {"max_complexity": 10, "reg_lambda": 1.0, "random_state": 0}
    model = RuleClassifier(cv=4, **fit).fit(X, y)
    measures = model.cv_measures_
    assert list(measures) == ["auc", "accuracy", "log_loss"]
    chosen = model.path_[model.path_["chosen"]].iloc[0]
    assert np.isclose(measures["log_loss"], chosen["cv_risk"], rtol=1e-9)
    # Rows held out are predicted worse than those that were learned from.
    assert 0.5 < measures["accuracy"] <= model.score(X, y) and measures["log_loss"] > chosen["train_risk"]
    assert 0.5 < measures["auc"] < 1
    model.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").cv_measures_ == measures
    assert model.at(complexity=3).cv_measures_ == {} == RuleClassifier(cv=None, **fit).fit(X, y).cv_measures_


def test_exact_search_proves_what_classes_share(fitted):
    _, X, y = fitted
    exact = {"search": "exact", "max_rules": 1, "max_conditions": 2, "max_bins": 8}
    shared = RuleClassifier(multiclass="shared", **exact).fit(X, y)
    assert shared._model.shared and shared.rules_["proven"].all()
    assert not RuleClassifier(**exact).fit(X, y)._model.shared


def test_a_list_for_each_class_on_request(fitted):
    _, X, y = fitted
    each = RuleClassifier(max_complexity=16, multiclass="one-vs-rest").fit(X, y)
    assert "class" in each.rules_ and not each._model.shared
    assert not RuleClassifier(preset="cob", max_rules=1).fit(X, y)._model.shared
    with pytest.raises(ValueError, match="multiclass shared"):
        RuleClassifier(terms="linear", multiclass="shared").fit(X, y)
    with pytest.raises(ValueError, match="multiclass must be one of shared"):
        RuleClassifier(multiclass="both").fit(X, y)
