"""Frames, sizes, explanations, sentences and plots."""

import json
import pickle
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

from orthorules import RuleClassifier, RuleRegressor, datasets

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted(deliveries):
    X, y = deliveries
    return RuleRegressor(max_complexity=16).fit(X, y), X, y


@pytest.fixture(scope="module")
def several():
    X, y = datasets.friedman1(300, seed=2)
    return RuleClassifier(max_rules=3, multiclass="one-vs-rest").fit(X, np.digitize(y, [11, 17])), X


def test_rules(fitted):
    model, X, _ = fitted
    rules = model.rules_
    assert list(rules.columns[:4]) == ["rule", "weight", "conditions", "covered"]
    assert model.complexity_ == len(rules) + rules["conditions"].sum()
    assert np.allclose(rules["coverage"], rules["covered"] / len(X))
    assert RuleRegressor(max_rules=0).fit(X, np.arange(len(X))).rules_.empty


def test_path(fitted):
    model, X, y = fitted
    path = model.path_
    assert list(path.columns[:4]) == ["rules", "complexity", "train_risk", "cv_risk"]
    assert path["complexity"].is_monotonic_increasing and path["complexity"].iloc[0] == 0
    assert path["chosen"].sum() == 1 and path["chosen"].iloc[-1]
    for (_, line), predicted in zip(path.iterrows(), model.staged_predict(X), strict=True):
        assert np.mean((predicted - y) ** 2) == pytest.approx(line["train_risk"])


def test_another_size_needs_no_refit(fitted):
    model, X, _ = fitted
    stages = list(model.staged_predict(X))
    for i, (_, line) in enumerate(model.path_.iterrows()):
        other = model.at(complexity=int(line["complexity"]))
        assert (other.predict(X) == stages[i]).all()
        assert other.complexity_ == line["complexity"]
        assert other.path_["chosen"].to_numpy().nonzero()[0] == [i]
    assert model.at(rules=1).complexity_ == model.path_.query("rules == 1")["complexity"].max()
    assert model.complexity_ == model.path_["complexity"].max(), "the model itself stays as it is"


def test_sizes_of_several_classes(several):
    model, X = several
    small = model.at(rules=1)
    assert len(small.rules_) == 3
    assert len(list(model.staged_predict_proba(X))) == len(model._model.sizes)
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    assert model.at(complexity=model.complexity_).complexity_ == model.complexity_


def test_contributions_add_up(fitted, several):
    model, X, _ = fitted
    frame = model.explain(X)
    assert list(frame.columns) == ["row", "rule", "fired", "contribution"]
    assert len(frame) == len(X) * (1 + len(model.rules_))
    assert np.allclose(frame.groupby("row")["contribution"].sum(), model.predict(X))
    assert (frame["contribution"][~frame["fired"]] == 0).all()
    model, X = several
    frame = model.explain(X)
    scores = frame.groupby(["row", "class"])["contribution"].sum().unstack()
    assert np.allclose(scores[["0", "1", "2"]], model.decision_function(X))


def test_sentences(fitted, several):
    model, X, _ = fitted
    row = X[(X["weather"] == "snow") & (X["km"] > 8)].iloc[[0]]
    text = model.why(row)
    assert text.startswith("minutes is predicted to be ") and "since weather = snow" in text and text.endswith(".")
    assert model.why(row.iloc[0]) == text
    frame = model.explain(row)
    assert text.count("since") == frame["fired"].sum() - 1
    model, X = several
    assert "against the rest" in model.why(X.iloc[[0]])
    assert model.why(X.iloc[[0]]).startswith("The probability that y is ")


def _digits(text):
    """The significant digits of each number in a text, as far as it is one."""
    words = [word.strip("+−-%×;,") for word in text.split()]
    numbers = [
        word.split("e")[0] for word in words if word.replace(".", "").replace("e-", "").isdigit() and "." in word
    ]
    return [len(number.replace(".", "").lstrip("0")) for number in numbers]


def test_frames_print_few_digits_and_hold_all(fitted):
    model, X, _ = fitted
    row = X.iloc[[0]]
    frames = [model.rules_, model.path_, model.explain(row), model.recourse(row, above=1000.0)]
    frames.append(model.rules_[["weight"]])
    for frame in frames:
        for text in (str(frame), frame.to_string(), re.sub("<[^>]*>", " ", frame._repr_html_() or "")):
            assert all(digits <= 4 for digits in _digits(text)), text
            assert "-0.000000" not in text
    exact = json.loads(model.to_json())["path"][-1]["weights"]
    assert model.rules_["weight"].tolist() == exact
    lines = str(pd.concat([model.rules_[["weight"]] / 7, model.rules_[["weight"]] / 7e4])).splitlines()[1:]
    assert len({line.rindex(".") for line in lines}) == 1, "points stand below each other"
    with pd.option_context("display.float_format", "{:.1f}".format):
        assert f"{exact[0]:.1f}" in str(model.rules_)
    assert pickle.loads(pickle.dumps(model.rules_)).equals(model.rules_)
    assert str(model.rules_.assign(weight=[np.nan, *exact[1:]])).count("NaN") == 1


def test_words_count_trends_and_name_exceptions():
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, 600)
    state = np.where(np.arange(600) % 50 == 0, "AK", random.choice(["CA", "NY", "TX"], 600))
    X, y = pd.DataFrame({"x": x, "state": state}), 3 * x - 40 * (state == "AK") + random.normal(0, 0.1, 600)
    model = RuleRegressor(terms="linear", max_complexity=4).fit(X, y)
    shown = model._repr_html_inner()
    assert "<b>1 rule and 1 trend</b>, complexity 4" in shown
    assert ("unless state = AK" in shown) != ("if state = AK" in shown)
    assert model.why(pd.DataFrame({"x": [np.nan], "state": ["CA"]})).endswith(" not apply.")
    line = model.plot_path().get_legend().get_texts()[-1].get_text()
    assert line == "chosen: 1 rule and 1 trend, complexity 4"
    saved = json.loads(model.to_json())
    saved["rules"] = [{"conditions": [{"column": "state", "op": "!=", "value": "AK"}], "covered": 588}]
    saved["path"] = [{"rules": 1, "intercept": 0, "weights": [1.0], "train_risk": 1}]
    saved.pop("chosen_complexity", None)
    saved.pop("provenance")
    exception = RuleRegressor.from_json(json.dumps(saved | {"version": 1, "chosen": 1}))
    assert "unless state = AK" in exception._repr_html_inner()
    assert exception.rules_["rule"].tolist() == ["state != AK"]


def test_probabilities_are_never_quite_certain():
    from orthorules._look import share
    from orthorules._why import likely

    told = [likely(p) for p in (0.0, 1e-20, 0.0007, 0.12345, 0.99999, 1.0)]
    assert told == ["0", "less than 0.001", "0.0007", "0.123", "more than 0.999", "1"]
    shares = {0.0: "0%", 1e-9: "<1%", 0.005: "<1%", 0.0051: "1%", 0.5: "50%", 0.995: ">99%", 1.0: "100%"}
    assert [share(p) for p in shares] == list(shares.values())


def test_plots(fitted, several, tmp_path):
    import matplotlib.pyplot as plt

    for model, X in (fitted[:2], several):
        path, rules, row = model.plot_path(), model.plot_rules(), model.plot_contributions(X.iloc[[1]])
        assert path.get_xlabel().startswith("complexity")
        assert len(rules.patches) == len(model.rules_)
        assert row.get_xlabel()
        for ax in (path, rules, row):
            ax.figure.savefig(tmp_path / "plot.png")
    _, ax = plt.subplots()
    assert fitted[0].plot_path(ax=ax) is ax
    empty = RuleRegressor(max_rules=0).fit(fitted[1], fitted[2])
    empty.plot_rules(), empty.plot_path(), empty.plot_contributions(fitted[1].iloc[[0]])
    plt.close("all")


def test_cross_validation_shows_its_risks():
    X, y = datasets.friedman1(300, seed=2)
    model = RuleRegressor(max_complexity=20, cv=4, select="1se", random_state=1).fit(X, y)
    path = model.path_
    assert path[["cv_risk", "cv_se"]].notna().all(axis=None)
    chosen = path[path["chosen"]].iloc[0]
    assert chosen["complexity"] == model.complexity_
    assert chosen["cv_risk"] >= path["cv_risk"].min()
    assert any("cross-validation" in t.get_text() for t in model.plot_path().get_legend().get_texts())
    assert RuleRegressor.from_json(model.to_json()).path_.equals(path)
    for size in (model.at(rules=1), model.at(complexity=2), model.at(complexity=100)):
        again = RuleRegressor.from_json(size.to_json())
        assert again.complexity_ == size.complexity_ and again.path_["cv_risk"].notna().all()
    other = RuleRegressor(max_complexity=20, cv=4, select="1se", random_state=2).fit(X, y)
    assert not other.path_["cv_risk"].equals(path["cv_risk"])


def test_what_cross_validation_found():
    X, y = datasets.friedman1(300, seed=2)
    model = RuleRegressor(max_complexity=12, cv=4, random_state=1).fit(X, y)
    found = model.cv_results_
    own = found[found["terms"] == model.terms_]
    assert (own["reg_lambda"] == model.lambda_).all()
    assert own["cv_risk"].to_numpy() == pytest.approx(model.path_["cv_risk"].to_numpy())
    assert own.loc[own["chosen"], "complexity"].tolist() == [model.complexity_]
    others = found[found["terms"] != model.terms_]
    assert len(others) == 1 and not others["chosen"].any()
    given = RuleRegressor(max_complexity=12, reg_lambda=3).fit(X, y)
    assert (given.lambda_, given.terms_, len(given.cv_results_)) == (3.0, "rules", 0)


def test_cross_validation_of_several_classes():
    X, y = datasets.friedman1(300, seed=2)
    model = RuleClassifier(max_rules=3, cv=3, multiclass="one-vs-rest").fit(X, np.digitize(y, [11, 17]))
    together = model.path_.query("`class` == 'all'")
    assert together["cv_risk"].notna().all() and together["chosen"].sum() == 1
    assert together[together["chosen"]]["complexity"].item() == model.complexity_
    model.plot_path()


def test_folds_may_be_given():
    X, y = datasets.friedman1(300, seed=2)
    deal = np.arange(300) % 3
    splits = [(np.flatnonzero(deal != i), np.flatnonzero(deal == i)) for i in range(3)]
    by_list = RuleRegressor(max_rules=4, cv=splits).fit(X, y)
    by_splitter = RuleRegressor(max_rules=4, cv=PredefinedSplit(deal)).fit(X, y)
    by_group = RuleRegressor(max_rules=4, cv=3).fit(X, y, groups=deal)
    assert by_list.to_json() == by_splitter.to_json() == by_group.to_json()
    assert RuleRegressor(max_rules=4, cv=KFold(3)).fit(X, y).path_["cv_risk"].notna().all()
    for bad in (splits[:2], [splits[0]] * 3, [(t[:-1], r) for t, r in splits], ShuffleSplit(3)):
        with pytest.raises(ValueError, match="hold out every row once"):
            RuleRegressor(max_rules=4, cv=bad).fit(X, y)


def test_groups_stay_together():
    X, y = datasets.friedman1(300, seed=2)
    groups = np.repeat(["a", "b", "c", "d", "e", "f"], 50)
    model = RuleRegressor(max_rules=3, cv=3).fit(X, y, groups=groups)
    assert json.loads(model.to_json())["cv"]["groups"] == "groups"
    with pytest.raises(ValueError, match="too few for 7 folds"):
        RuleRegressor(max_rules=3, cv=7).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RuleRegressor(max_rules=3, cv=3).fit(X, y, groups=groups[:-1])


def test_bootstrap_shows_intervals():
    X, y = datasets.friedman1(200, seed=2)
    model = RuleRegressor(max_rules=3, bootstrap=20, random_state=0).fit(X, y)
    rules = model.rules_
    assert (rules["lower"] <= rules["upper"]).all() and rules["frequency"].between(0, 1).all()
    assert len(model.plot_rules().collections) == 1, "the intervals"
    smaller = model.at(rules=1)
    assert "lower" not in smaller.rules_
    assert RuleRegressor.from_json(smaller.to_json()).complexity_ == smaller.complexity_
    assert RuleRegressor.from_json(model.to_json()).rules_.equals(rules)


def test_plots_say_what_is_missing(fitted, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        fitted[0].plot_path()
    with pytest.raises(ImportError, match="pip install matplotlib"):
        fitted[0].plot_rules()


def test_data_sets():
    X, y = datasets.tic_tac_toe()
    assert X.shape == (958, 9) and (y == "yes").sum() == 626
    X, y = datasets.friedman1(rows=50, seed=3)
    assert X.shape == (50, 10) and y.name == "y"
    assert X.equals(datasets.friedman1(rows=50, seed=3)[0])
    with pytest.raises(ValueError, match="rows"):
        datasets.friedman1(rows=0)
