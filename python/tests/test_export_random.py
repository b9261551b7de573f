"""Random models in every target that runs here; `experiments/export_trials.py` draws more of them."""

import pytest
from export_random import draw
from export_trials import TARGETS, missing

COUNT = 40


@pytest.fixture(scope="module")
def cases():
    return [draw(number) for number in range(COUNT)]


def test_every_kind_of_model_is_drawn(cases):
    """So that what follows is about all of them."""
    losses = {(case.model._model.loss, case.several) for case in cases}
    assert {("squared", False), ("logistic", False), ("logistic", True), ("poisson", False), ("gamma", False)} <= losses
    assert any(set(case.kinds.values()) == {"categorical"} for case in cases)
    assert any(any(case.reasons) for case in cases) and any(case.model._model.offset for case in cases)


@pytest.mark.parametrize("target", TARGETS)
def test_random_models_have_the_numbers_of_the_engine(cases, target):
    if missing(target):
        pytest.skip(f"SKIPPED: {target} was not run: {missing(target)} is not here (make test-tools)")
    assert TARGETS[target](cases) == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_changed_score_is_noticed(target):
    if missing(target):
        pytest.skip(f"SKIPPED: {target} was not run: {missing(target)} is not here (make test-tools)")
    case = draw(3)
    case.scores = case.scores + 1e-9
    assert TARGETS[target]([case]) == [(3, "numbers")]
