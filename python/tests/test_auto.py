"""What is learned with cv="auto", the default of the command line: Python writes the same bytes."""

import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor

ROWS = 320


def table(seed):
    """Numbers with gaps, text, and four targets."""
    random = np.random.default_rng(seed)
    x, u = random.uniform(0, 10, ROWS).round(2), random.normal(0, 1, ROWS).round(2)
    level = random.choice(["north", "south", "west"], ROWS)
    score = (x > 4) + 0.2 * x * (level == "west") + random.normal(0, 0.6, ROWS)
    frame = pd.DataFrame({"x": x, "u": u, "level": level})
    frame.loc[::19, "u"] = np.nan
    targets = {
        "regression": score.round(3),
        "two classes": np.where(score > 1.2, "yes", "no"),
        "several classes": np.array(["low", "middle", "high"], dtype=object)[np.digitize(score, [0.8, 1.8])],
        "counts": random.poisson(np.exp(0.5 * score)),
    }
    return frame, targets


ESTIMATORS = {
    "regression": (RuleRegressor, {}, []),
    "two classes": (RuleClassifier, {}, []),
    "several classes": (RuleClassifier, {}, ["--task", "classification"]),
    "counts": (RuleRegressor, {"loss": "poisson"}, ["--task", "poisson"]),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("rows", [60, ROWS])
def test_python_and_the_command_line_agree_with_folds(command, tmp_path, kind, rows):
    frame, targets = table(11)
    frame, y = frame[:rows], pd.Series(targets[kind][:rows], name="target")
    make, parameters, flags = ESTIMATORS[kind]
    frame.assign(target=y).to_parquet(tmp_path / "t.parquet")
    limits = ["--max-complexity", 16, "-o", tmp_path / "m.json", "--quiet"]
    command("fit", tmp_path / "t.parquet", "--target", "target", *flags, *limits)
    model = make(max_complexity=16, cv="auto", **parameters).fit(frame, y)
    assert model.to_json() == (tmp_path / "m.json").read_text()
    assert len(model.cv_results_) > 0
    # Without folds as on the command line, too: the largest size.
    command("fit", tmp_path / "t.parquet", "--target", "target", "--cv", "none", *flags, *limits)
    plain = make(max_complexity=16, cv=None, **parameters).fit(frame, y)
    assert plain.to_json() == (tmp_path / "m.json").read_text()
    assert len(plain.cv_results_) == 0 and plain.complexity_ >= model.complexity_


def test_a_preset_has_the_same_default(command, tmp_path):
    frame, targets = table(3)
    y = pd.Series(targets["regression"], name="target")
    frame.assign(target=y).to_parquet(tmp_path / "t.parquet")
    limits = ["--max-complexity", 10, "-o", tmp_path / "m.json", "--quiet"]
    command("fit", tmp_path / "t.parquet", "--target", "target", "--preset", "cob", *limits)
    model = RuleRegressor(preset="cob", max_complexity=10, cv="auto").fit(frame, y)
    assert model.to_json() == (tmp_path / "m.json").read_text()


def test_too_few_rows_are_told(recwarn):
    model = RuleRegressor(cv="auto").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 1.0])
    assert any("not cross-validated" in str(warning.message) for warning in recwarn)
    assert len(model.cv_results_) == 0
