"""Bad input: scikit-learn's exceptions, one sentence each, and never a panic."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import orthorules
from orthorules import RuleClassifier, RuleRegressor

X = np.arange(40.0).reshape(20, 2)
y = np.arange(20.0)
labels = np.arange(20) % 2


@pytest.mark.parametrize(
    ("X", "y", "exception", "message"),
    [
        (X, y[:-1], ValueError, "inconsistent numbers of samples: X has 20 rows, y has 19"),
        (X, np.where(y == 3, np.nan, y), ValueError, "Input y contains NaN"),
        (X, np.where(y == 3, np.inf, y), ValueError, "Input y contains infinity"),
        (X, None, ValueError, "requires y to be passed"),
        (X[:, 0], y, ValueError, "Expected 2D array"),
        (X[:0], y[:0], ValueError, "0 sample"),
        (X[:, :0], y, ValueError, "0 feature"),
        (pd.DataFrame(X)[:0], y[:0], ValueError, "0 sample"),
        (pd.DataFrame(index=range(20)), y, ValueError, "0 feature"),
        (X.astype(complex), y, ValueError, "Complex data not supported"),
        (np.full((20, 2), "a"), y, ValueError, "column 'x0' holds the text .* at index 0; .* pass a data frame"),
        (np.full((20, 2), "1.5"), y, ValueError, r"use X.astype\(float\)"),
        (pd.DataFrame({"a": ["x"] * 20, 1: [1.0] * 20}), y, TypeError, "string names"),
    ],
)
def test_data(X, y, exception, message):
    with pytest.raises(exception, match=message):
        RuleRegressor().fit(X, y)


def cell(value, row=4, column=1):
    """`X` as objects, one of them `value`."""
    array = X.astype(object)
    array[row, column] = value
    return array


@pytest.mark.parametrize(
    ("X", "exception", "message"),
    [
        (cell("far"), ValueError, "could not convert .* 'far': column 'x1' holds the text 'far' at index 4"),
        (cell("far"), ValueError, r"an array holds numbers: convert it, or pass a data frame, as with pd.DataFrame"),
        (cell(pd.NA), TypeError, r"column 'x1' holds <NA> \(NAType\) at index 4; .* np.nan if it is missing"),
        (cell([1, 2]), (TypeError, ValueError), r"'x1' holds \[1, 2\] \(list\) at index 4; convert it to a number"),
        (cell("x" * 99), ValueError, "holds the text 'x{38}… at index 4"),
        ([[1, "a"], [2, "b"]] * 10, ValueError, "column 'x1' holds the text 'a' at index 0"),
        ([[1, 2], [3]], ValueError, "inhomogeneous"),
        (pd.DataFrame({"a": [1, ("b",)] * 10}), TypeError, r"'a' mixes .*such as tuple at index 1: .*X\['a'\].astype"),
    ],
)
def test_cells_that_are_no_numbers_are_named(X, exception, message):
    with pytest.raises(exception, match=message):
        RuleRegressor().fit(X, y[: len(X)])


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("huge", [10**400, -(10**9000)], ids=["positive", "negative"])
def test_numbers_too_large_for_float64_are_named(huge):
    digits = "401" if huge > 0 else "9001"
    held = f"holds a whole number of about {digits} digits at index 4; numbers are at most 1.8e308"
    target = y.astype(object)
    target[4] = huge
    listed = [[huge if i == 4 else i, 0.5] for i in range(20)]
    frame = pd.DataFrame({"a": target, "b": 1.0})
    mixed = frame.assign(a=np.where(y == 7, None, np.where(y == 4, target, y + 0.5)))
    model = RuleRegressor(max_rules=2).fit(X, y)
    for cells, name in [(cell(huge), "x1"), (listed, "x0"), (frame, "a"), (mixed, "a")]:
        with pytest.raises(ValueError, match=f"column '{name}' {held}"):
            RuleRegressor().fit(cells, y)
    with pytest.raises(ValueError, match=f"column 'x1' {held}"):
        model.predict(cell(huge))
    for values in (target, target.tolist(), pd.Series(target), target[:, None]):
        with pytest.raises(ValueError, match=f"y {held}"):
            RuleRegressor().fit(X, values)
    with pytest.raises(ValueError, match=f"sample_weight {held}"):
        RuleRegressor().fit(X, y, sample_weight=abs(target))
    with pytest.raises(ValueError, match=f"exposure {held}"):
        RuleRegressor(loss="poisson").fit(X, y, exposure=abs(target) + 1)
    with pytest.raises(ValueError, match=f"y {held}"):
        model.score(X, target)
    with pytest.raises(ValueError, match=f"sample_weight {held}"):
        model.score(X, y, sample_weight=abs(target))


HUGE = {"whole": 2**1024 - 1, "third": Fraction(10**400, 3), "seventh": Fraction(-(10**9000), 7)}


@pytest.mark.parametrize("huge", HUGE.values(), ids=HUGE)
def test_numbers_just_too_large_and_fractions_are_named(huge):
    listed = [[huge if i == 4 else i, 0.5] for i in range(20)]
    with pytest.raises(ValueError, match=r"column 'x0' holds a (whole )?number of about \d+ digits at index 4; num"):
        RuleRegressor().fit(listed, y)


def test_parameters_too_large_for_float64_are_refused():
    for options in ({"cuts": {"x0": [1.0, 10**400]}}, {"reg_lambda": 10**400}, {"reg_lambda": Fraction(10**400)}):
        with pytest.raises(ValueError, match="got inf|finite"):
            RuleRegressor(**options).fit(X, y)
    with pytest.raises(ValueError, match="max_rules must be"):
        RuleRegressor(max_rules=10**5000).fit(X, y)


def test_objects_that_are_numbers_are_numbers():
    expected = RuleRegressor(max_rules=2).fit(X, y).to_json()
    assert RuleRegressor(max_rules=2).fit(X.astype(object), y.astype(object)).to_json() == expected
    holes = X.copy()
    holes[4, 1] = np.nan
    assert RuleRegressor(max_rules=2).fit(cell(None), y).to_json() == RuleRegressor(max_rules=2).fit(holes, y).to_json()


MISSING = {
    "NaN": np.where(y == 3, np.nan, y),
    "None": np.where(y == 3, None, y),
    "NA": pd.Series(y).astype("Int64").where(y != 3),
    "column": np.where(y == 3, np.nan, y)[:, None],
    "list": [None if v == 3 else v for v in y],
    "text": np.where(y == 3, None, np.where(y > 9, "many", "few")),
    "string": pd.Series(np.where(y > 9, "many", "few"), dtype="string").where(y != 3),
    "categories": pd.Series(np.where(y > 9, "many", "few"), dtype="category").where(y != 3),
    "dates": np.where(y == 3, np.datetime64("NaT"), np.datetime64("2024-01-01")),
}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_targets_are_named(kind):
    classes = kind in ("text", "string", "categories", "dates")
    for estimator in [RuleClassifier()] if classes else [RuleRegressor(), RuleClassifier()]:
        with pytest.raises(ValueError, match="y contains NaN: the value at index 3 is missing; .*drop.*pd.isna"):
            estimator.fit(X, MISSING[kind])


def test_targets_that_are_no_numbers_are_named():
    text = np.where(y == 3, "far", "1.5")
    for target in (text, text.astype(object), pd.Series(text), text.tolist()):
        with pytest.raises(ValueError, match=r"y holds the text 'far' at index 3; .*pd.to_numeric\(y\), or use RuleC"):
            RuleRegressor().fit(X, target)
    with pytest.raises(ValueError, match="y contains infinity .*inf .*at index 3"):
        RuleRegressor().fit(X, np.where(y == 3, np.inf, y))
    with pytest.raises(ValueError, match="Unknown label type: continuous.*Use RuleRegressor for numbers"):
        RuleClassifier().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="y holds int and str, as the text 'b' at index 1, but labels are"):
        RuleClassifier().fit(X, np.array([1, "b"] * 10, dtype=object))
    assert len(RuleRegressor(max_rules=1).fit(X, y.astype(str)).rules_) == 1, "text that spells numbers is numbers"


def test_text_where_numbers_were(deliveries):
    frame, minutes = deliveries
    model = RuleRegressor(max_rules=4).fit(frame, minutes)
    assert any("km" in rule for rule in model.rules_["rule"])
    far = frame.assign(km=["far", "near"] * 300)
    with pytest.raises(ValueError, match=r"'km' held numbers .* 'far' at index 0: .*pd.to_numeric\(X\['km'\], "):
        model.predict(far)
    with pytest.raises(ValueError, match="'km' held numbers"):
        model.predict(far.astype({"km": "category"}))
    commas = frame.assign(km=frame["km"].map(lambda v: str(v).replace(".", ",")))
    with pytest.raises(ValueError, match=r"text '9,4' at index .*X\['km'\].str.replace\(',', '.'\)"):
        model.predict(commas.assign(km=["9,4", "0,5"] * 300))
    loaded = orthorules.from_json(model.to_json())
    with pytest.raises(ValueError, match="'km' held numbers"):
        loaded.predict(far)
    array = RuleRegressor(max_rules=2).fit(X, y)
    with pytest.raises(ValueError, match="column 'x1' holds the text 'far' at index 4"):
        array.predict(cell("far"))


def test_truth_values_where_numbers_were():
    flags = pd.DataFrame({"flag": np.arange(20) % 2})
    model = RuleRegressor(max_rules=1).fit(flags, flags["flag"] * 3.0)
    assert (model.predict(flags.astype(bool)) == model.predict(flags)).all()


def test_no_message_speaks_of_flags():
    """Every message is in Python's terms."""
    wrong = [
        lambda: RuleRegressor().fit(X, MISSING["None"]),
        lambda: RuleRegressor().fit(X, y, sample_weight=["a"] * 20),
        lambda: RuleRegressor(loss="poisson").fit(X, y, exposure=["a"] * 20),
        lambda: RuleRegressor(loss="poisson").fit(X, y, exposure=y),
        lambda: RuleRegressor(cv=30).fit(X, y),
        lambda: RuleRegressor(beam_width=4).fit(X, y),
        lambda: RuleRegressor(cuts={"a": [1]}).fit(X, y),
    ]
    for use in wrong:
        with pytest.raises((ValueError, TypeError)) as caught:
            use()
        assert "--" not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "exception", "message"),
    [
        ({"loss": "absolute"}, ValueError, "loss must be"),
        ({"objective": "abc"}, ValueError, "objective must be one of gs, gb"),
        ({"max_bins": 1}, ValueError, "max_bins must be from 2 to 65535, or exact"),
        ({"max_rules": -1}, ValueError, "max_rules must be"),
        ({"max_rules": 2.5}, ValueError, "max_rules must be"),
        ({"max_rules": [1]}, TypeError, "max_rules must be a number"),
        ({"max_rules": True}, TypeError, "max_rules must be a number"),
        ({"reg_lambda": -1.0}, ValueError, "reg_lambda must be"),
        ({"reg_lambda": float("nan")}, ValueError, "reg_lambda must be"),
        ({"beam_width": 4}, ValueError, "needs search beam"),
        ({"search": "beam", "beam_width": 2**63}, ValueError, "beam_width must be from 1 to 10000"),
        ({"bootstrap": 10**12}, ValueError, "from 20 to 1000000 draws"),
        ({"learner": "sirus", "num_trees": 2**64 - 1}, ValueError, "num_trees must be from 1 to 1000000"),
        ({"n_jobs": 20_000}, ValueError, "threads must be from 1 to 1024"),
        ({"reg_lambda": 1e308}, ValueError, "reg_lambda must be a number from 0 to 1e100"),
        ({"preset": "best"}, ValueError, "preset must be one of"),
        ({"n_jobs": 0}, ValueError, "n_jobs == 0"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"cuts": [1.0]}, TypeError, "cuts must be a dict"),
        ({"cuts": {"nothing": [1.0]}}, ValueError, "no such column"),
        ({"cuts": {"x0": [np.inf]}}, ValueError, "finite"),
        ({"categorical_features": "all"}, ValueError, "categorical_features must be"),
        ({"categorical_features": ["nothing"]}, ValueError, "no feature called 'nothing'"),
        ({"categorical_features": [5]}, ValueError, "no feature 5 of 2"),
        ({"on_interrupt": "stop"}, ValueError, "on_interrupt must be"),
    ],
)
def test_parameters(parameters, exception, message):
    with pytest.raises(exception, match=message):
        RuleRegressor(**parameters).fit(X, y)


def test_targets():
    with pytest.raises(ValueError, match="only one class: 1"):
        RuleClassifier().fit(X, np.ones(20, dtype=int))
    with pytest.raises(ValueError, match="only one class: 0"):
        RuleClassifier().fit(X, labels, sample_weight=labels == 0)
    with pytest.raises(ValueError, match="Unknown label type"):
        RuleClassifier().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="at least 0"):
        RuleRegressor(loss="poisson").fit(X, y - 5)
    with pytest.raises(ValueError, match="positive is 3"):
        RuleClassifier(positive=3).fit(X, labels)
    with pytest.raises(ValueError, match="needs two classes"):
        RuleClassifier(positive=1).fit(X, np.arange(20) % 3)


def test_weights_and_exposures():
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        RuleRegressor().fit(X, y, sample_weight=-y)
    with pytest.raises(ValueError, match="sample_weight.shape"):
        RuleRegressor().fit(X, y, sample_weight=y[:-1])
    with pytest.raises(ValueError, match="sample_weight holds the text 'a' at index 2; weights are numbers"):
        RuleRegressor().fit(X, y, sample_weight=[1, 1, "a", *[1] * 17])
    with pytest.raises(ValueError, match="Input sample_weight contains NaN.* at index 3"):
        RuleRegressor().fit(X, y, sample_weight=MISSING["NaN"])
    with pytest.raises(ValueError):
        RuleRegressor().fit(X, y, sample_weight=0 * y)
    with pytest.raises(ValueError, match="needs loss='poisson'"):
        RuleRegressor().fit(X, y, exposure=y + 1)
    poisson = RuleRegressor(loss="poisson")
    with pytest.raises(ValueError, match="exposure must be positive and finite, got 0 at index 0: leave such rows out"):
        poisson.fit(X, y, exposure=y)
    with pytest.raises(ValueError, match="exposure.shape"):
        poisson.fit(X, y, exposure=y[:-1] + 1)
    with pytest.raises(ValueError, match="fitted without exposure"):
        poisson.fit(X, y).predict(X, exposure=y + 1)


def test_nothing_works_before_fit():
    model = RuleRegressor()
    uses = [
        lambda: model.predict(X),
        lambda: model.explain(X),
        lambda: model.rules_,
        lambda: model.path_,
        lambda: model.to_json(),
        lambda: model.at(rules=1),
        lambda: model.plot_path(),
        lambda: model.intercept_,
    ]
    for use in uses:
        with pytest.raises(NotFittedError):
            use()


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = RuleRegressor(max_rules=2).fit(X, y)
    before = model.to_json()
    model.set_params(max_bins=1)
    with pytest.raises(ValueError, match="max_bins"):
        model.fit(X, y)
    assert model.to_json() == before


def test_sizes_that_are_not_there():
    model = RuleRegressor(max_rules=2).fit(X, y)
    with pytest.raises(ValueError, match="no size with 7 rules; there are 0, 1, 2"):
        model.at(rules=7)
    with pytest.raises(ValueError, match="either rules or complexity"):
        model.at()
    with pytest.raises(ValueError, match="either rules or complexity"):
        model.at(rules=1, complexity=2)
    with pytest.raises(ValueError, match="at least 0"):
        model.at(complexity=-1)
    with pytest.raises(ValueError, match="needs one row, got 20"):
        model.why(X)


def test_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        orthorules.load(tmp_path / "none.json")
    with pytest.raises(ValueError, match="is a directory"):
        orthorules.load(tmp_path)
    model = RuleRegressor(max_rules=2).fit(X, y)
    later = model.to_json().replace('"version": 3', '"version": 99')
    with pytest.raises(ValueError, match="version 99, this program reads versions 1 to 3: use a newer release"):
        RuleRegressor.from_json(later)
    for text in ("", "{}", "[1]", "null", model.to_json()[:-30]):
        with pytest.raises(ValueError, match="model"):
            orthorules.from_json(text)
    with pytest.raises(ValueError, match="model of a regressor"):
        RuleClassifier.from_json(model.to_json())
    with pytest.raises(ValueError, match="model of a classifier"):
        RuleRegressor.from_json(RuleClassifier(max_rules=2).fit(X, labels).to_json())
    with pytest.raises(OSError):
        model.save(tmp_path / "no folder" / "model.json")
