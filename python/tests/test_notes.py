"""What a user should know although it does not stop the work is a warning, with a remedy in Python's terms."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor
from orthorules.exceptions import DataWarning

ROWS = 240
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(ROWS, 2))
y = (X[:, 0] > 0) + RANDOM.normal(0, 0.1, ROWS)


def notes(fit):
    """The texts of all warnings, each of which names a line of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert all(issubclass(w.category, DataWarning) and w.filename == __file__ for w in caught), caught
    return [str(w.message) for w in caught]


def test_nothing_is_said_of_ordinary_data():
    assert notes(lambda: RuleRegressor(max_rules=2).fit(X, y)) == []
    assert notes(lambda: RuleClassifier(max_rules=2).fit(X, y > 0.5)) == []


def test_classes_of_a_single_row():
    labels = np.where(X[:, 0] > 0, "a", "b").astype(object)
    labels[7] = "c"
    assert notes(lambda: RuleClassifier(max_rules=2).fit(X, labels)) == [
        'class "c" has a single row, from which little can be learned'
    ]
    labels[9] = "d"
    (text,) = notes(lambda: RuleClassifier(max_rules=2).fit(X, labels))
    assert text.startswith('2 classes have a single row, from which little can be learned, first "c"')


def test_many_classes():
    labels = np.arange(ROWS) % 60
    (text,) = notes(lambda: RuleClassifier(max_rules=1).fit(X, labels))
    assert text.startswith("the target has 60 classes")


def test_weights():
    (zero,) = notes(lambda: RuleRegressor(max_rules=2).fit(X, y, sample_weight=np.arange(ROWS) % 2))
    assert zero == "120 of 240 rows have weight 0 and are left out"
    (light,) = notes(lambda: RuleRegressor(max_rules=2).fit(X, y, sample_weight=np.full(ROWS, 1 / ROWS)))
    assert light.startswith("the weights of 240 rows sum to 1: ")


def test_weights_without_an_end():
    (text,) = notes(lambda: RuleClassifier(max_rules=1, reg_lambda=0.0).fit(X, X[:, 0] > 0))
    assert "a larger reg_lambda gives weights with a meaning" in text


def test_columns():
    frame = pd.DataFrame({
        "n": X[:, 0],
        "key": [f"it's {i}" for i in range(ROWS)],
        "comma": [f"{i % 9},5" for i in range(ROWS)],
        "dollars": [f"${1 + i % 9},000" for i in range(ROWS)],
    })
    said = {text.split('"')[1]: text for text in notes(lambda: RuleRegressor(max_rules=2).fit(frame, y))}
    assert set(said) == {"key", "comma", "dollars"}
    assert said["key"].endswith("keep it as categories with categorical_features=['key']")
    remedy = "X['comma'].str.replace(',', '.').astype(float)"
    assert said["comma"].endswith(remedy)
    assert eval(remedy, {"X": frame}).tolist()[:2] == [0.5, 1.5]
    assert not any("--" in text for text in said.values())
    quoted = frame.rename(columns={"key": 'it\'s "so" \\'})
    (text,) = [t for t in notes(lambda: RuleRegressor(max_rules=2).fit(quoted, y)) if "left out" in t]
    assert eval(text.split("categorical_features=")[1]) == ['it\'s "so" \\']


def test_columns_that_name_rows_or_groups_or_one_thing():
    patients = RANDOM.permutation(ROWS) // 3
    ordinary = {"zip": RANDOM.choice(np.arange(10_000, 99_999, 613), ROWS), "minute": RANDOM.integers(0, 1440, ROWS),
                "amount": np.exp(RANDOM.normal(6, 1, ROWS)).round()}
    frame = pd.DataFrame({
        "n": X[:, 0], "number": 2801 + 3 * np.arange(ROWS) + RANDOM.integers(0, 2, ROWS), "patient_id": patients,
        "it's 7": 7, "nothing": np.nan, **ordinary,
    })
    number, patient, constant = notes(lambda: RuleRegressor(max_rules=2).fit(frame, y))
    assert number.startswith('column "number" seems to number the rows') and "X.drop(columns='number')" in number
    assert patient.startswith('column "patient_id" has 80 values in 240 rows')
    assert "fit(…, groups=X['patient_id'])" in patient and "X.drop(columns='patient_id')" in patient
    assert constant == 'columns "it\'s 7", "nothing" have the same value in all rows: no rule can use it'
    rest = frame.drop(columns=["number", "patient_id", "it's 7", "nothing"])
    assert notes(lambda: RuleRegressor(max_rules=2, cv=3).fit(rest, y, groups=frame["patient_id"])) == []


def test_warnings_can_be_silenced_by_their_kind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        RuleRegressor(max_rules=2).fit(X, y, sample_weight=np.arange(ROWS) % 2)
    assert issubclass(DataWarning, UserWarning)
    program = "import orthorules; print(orthorules.exceptions.DataWarning.__name__)"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"DataWarning" + os.linesep.encode()
