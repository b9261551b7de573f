"""Names, defaults and docs of the parameters are those of the engine."""

import importlib.util
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest

from orthorules import RuleClassifier, RuleRegressor, _native
from orthorules._parameters import ENGINE, RENAMED

ENGLISH = {old: new for new, old in RENAMED.items()}
OWN = {"loss", "positive", "class_weight", "preset", "categorical_features", "special", "verbose", "on_interrupt"}

CLASSES_ONLY = {"multiclass"}
# Python has defaults of its own for these.
SPECIAL = {"n_jobs": -1, "random_state": None}


ROOT = Path(__file__).parents[2]


def writer():
    """The program that writes the signatures."""
    spec = importlib.util.spec_from_file_location("write_parameters", ROOT / "python" / "write_parameters.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_written_module_is_current():
    found = (ROOT / "python" / "orthorules" / "_parameters.py").read_text("utf-8")
    assert found == writer().current(), "python/orthorules/_parameters.py is stale: run `make parameters`"


def parameters():
    return [(ENGLISH.get(name, name), *rest) for name, *rest in _native.parameters()]


@pytest.mark.parametrize("estimator", [RuleRegressor, RuleClassifier])
def test_names_are_those_of_the_engine(estimator):
    names = set(inspect.signature(estimator).parameters)
    engine = {name for name, _, _, _ in parameters()}
    assert engine - names == (set() if estimator is RuleClassifier else CLASSES_ONLY)
    assert names - engine <= OWN
    assert engine - {"cuts", *RENAMED} == set(ENGINE)
    kinds = {p.kind for p in inspect.signature(estimator).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("estimator", [RuleRegressor, RuleClassifier])
def test_defaults_are_those_of_the_engine(estimator):
    given = inspect.signature(estimator).parameters
    for name, default, _, _ in parameters():
        if name not in given:
            continue
        value = given[name].default
        if name in SPECIAL:
            assert value == SPECIAL[name]
        elif default is None:
            assert value is None, f"{name}: the default depends on the fit"
        else:
            assert value == type(value)(default), name


@pytest.mark.parametrize("estimator", [RuleRegressor, RuleClassifier])
def test_docs_say_what_the_engine_says(estimator):
    docs = " ".join(inspect.getdoc(estimator).split())
    assert "{" not in re.sub(r'\{"[^}]*"\}|\{CA, NY, WA\}', "", docs)
    for name, default, words, purpose in parameters():
        if name in CLASSES_ONLY and estimator is not RuleClassifier:
            continue
        assert docs.count(f" {name} : ") == 1, name
        entry = re.split(r" \w+ : ", docs.split(f" {name} : ")[1])[0]
        assert purpose in entry, f"{name}: {purpose}"
        if default is None and name not in SPECIAL:
            assert f"Default: {words}." in entry, f"{name}: {words}"


@pytest.mark.parametrize("estimator", [RuleRegressor, RuleClassifier])
def test_docs_list_every_argument(estimator):
    docs = inspect.getdoc(estimator)
    listed = re.findall(r"^(\w+) : ", docs[: docs.index("Attributes\n")], re.MULTILINE)
    assert listed == list(inspect.signature(estimator).parameters)


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
    # What was asked for is kept, and is not the same.
    documents = [json.loads(model.fit(X, y).to_json()) for model in (RuleRegressor(preset="cob", max_rules=4), spelled)]
    kept = [document.pop("provenance") for document in documents]
    assert documents[0] == documents[1] and kept[0]["table"] == kept[1]["table"]
    changed = RuleRegressor(preset="cob", objective="gb", max_rules=4).fit(X, y)
    assert changed.to_json() == RuleRegressor(preset="cgb", max_rules=4).fit(X, y).to_json()
    assert _native.PRESETS[-1] == "cob" or "cob" in _native.PRESETS
