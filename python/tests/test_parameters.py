"""Names, defaults and docs of the parameters are those of the engine."""

import inspect
import re

import numpy as np
import pytest

from orthorules import RuleClassifier, RuleRegressor, _native
from orthorules._base import ENGINE, RENAMED

ENGLISH = {old: new for new, old in RENAMED.items()}
OWN = {"loss", "positive", "class_weight", "preset", "categorical_features", "verbose", "on_interrupt"}

CLASSES_ONLY = {"multiclass"}


def parameters():
    return [(ENGLISH.get(name, name), default, purpose) for name, default, _, purpose in _native.parameters()]


@pytest.mark.parametrize("estimator", [RuleRegressor, RuleClassifier])
def test_names_are_those_of_the_engine(estimator):
    names = set(inspect.signature(estimator).parameters)
    engine = {name for name, _, _ in parameters()}
    assert engine - names == (set() if estimator is RuleClassifier else CLASSES_ONLY)
    assert names - engine <= OWN
    assert engine - {"cuts", *RENAMED} == set(ENGINE)
    kinds = {p.kind for p in inspect.signature(estimator).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("estimator", [RuleRegressor, RuleClassifier])
def test_defaults_are_those_of_the_engine(estimator):
    given = inspect.signature(estimator).parameters
    special = {"n_jobs": -1, "random_state": None}
    for name, default, _ in parameters():
        if name not in given:
            continue
        value = given[name].default
        if name in special:
            assert value == special[name]
        elif re.fullmatch(r"`\w+`|\d+", default):
            assert value == type(value)(default.strip("`")), name
        else:
            assert value is None, f"{name}: {default} depends on more than the parameter"


@pytest.mark.parametrize("estimator", [RuleRegressor, RuleClassifier])
def test_docs_say_what_the_engine_says(estimator):
    docs = " ".join(inspect.getdoc(estimator).split())
    for name, default, purpose in parameters():
        if name in CLASSES_ONLY and estimator is not RuleClassifier:
            continue
        assert f" {name} : " in docs, name
        entry = docs.split(f" {name} : ")[1].lower()
        assert entry.find(purpose.lower()) in range(len(entry)), f"{name}: {purpose}"
        simple = re.fullmatch(r"`\w+`|\d+|none|all cores|any", default)
        assert simple or default.lower() in entry, f"{name}: {default}"


def test_every_parameter_reaches_the_engine(deliveries):
    """Each parameter, set alone to something it cannot be, is complained about by name."""
    X, y = deliveries
    for name in ENGINE:
        estimator = RuleClassifier if name in CLASSES_ONLY else RuleRegressor
        with pytest.raises(ValueError, match=name):
            estimator(**{name: "no such value"}).fit(X, y > np.median(y) if name in CLASSES_ONLY else y)


def test_presets_fill_in_what_is_left_at_its_default(deliveries):
    X, y = deliveries
    spelled = RuleRegressor(
        objective="ogb",
        intercept="fixed",
        path="nested",
        length_penalty=0.0,
        min_coverage=1,
        thresholds="quantiles",
        max_rules=4,
    )
    assert RuleRegressor(preset="cob", max_rules=4).fit(X, y).to_json() == spelled.fit(X, y).to_json()
    changed = RuleRegressor(preset="cob", objective="gb", max_rules=4).fit(X, y)
    assert changed.to_json() == RuleRegressor(preset="cgb", max_rules=4).fit(X, y).to_json()
    assert _native.PRESETS[-1] == "cob" or "cob" in _native.PRESETS
