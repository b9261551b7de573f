"""Models go from Python to the command line and back without changing a bit."""

import csv
import errno
import html
import io
import json
import os
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import orthorules
from orthorules import RuleClassifier, RuleRegressor, datasets


def printed(text, column):
    return np.array([float(row[column]) for row in csv.DictReader(io.StringIO(text))])


def test_both_sides_have_one_version(command):
    assert command("--version").split()[-1] == orthorules.__version__


def test_the_same_table_gives_the_same_model(command, deliveries, tmp_path):
    X, y = deliveries
    frame = X.assign(minutes=y)
    frame.to_parquet(tmp_path / "t.parquet")
    command("fit", tmp_path / "t.parquet", "--target", "minutes", "-o", tmp_path / "m.json", "--quiet", "--cv", "none")
    model = RuleRegressor().fit(X, y)
    assert json.loads(model.to_json()) == json.loads((tmp_path / "m.json").read_text())
    model.save(tmp_path / "p.json")
    assert (tmp_path / "p.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_both_sides_say_the_same_of_weights(command, deliveries, tmp_path):
    X, y = deliveries
    for model in (RuleRegressor(max_rules=2).fit(X, y), RuleClassifier(max_rules=2).fit(X, y > y.median())):
        model.save(tmp_path / "m.json")
        meaning = model._model.meaning
        assert meaning in command("show", tmp_path / "m.json")
        assert html.escape(meaning) in model._repr_html_inner()


def test_python_to_command_line(command, deliveries, tmp_path):
    X, y = deliveries
    X.to_parquet(tmp_path / "t.parquet")
    model = RuleRegressor(max_complexity=20).fit(X, y)
    for size in (model, model.at(rules=1), model.at(complexity=7)):
        size.save(tmp_path / "m.json")
        text = command("predict", tmp_path / "m.json", tmp_path / "t.parquet")
        assert (printed(text, text.split("\n")[0].split(",")[0]) == size.predict(X)).all()


def test_command_line_to_python(command, tmp_path):
    X, y = datasets.tic_tac_toe()
    X.astype(str).assign(x_wins=y).to_csv(tmp_path / "t.csv", index=False)
    command("fit", tmp_path / "t.csv", "--target", "x_wins", "-o", tmp_path / "m.json", "--quiet", "--cv", "none")
    text = command("predict", tmp_path / "m.json", tmp_path / "t.csv")
    model = orthorules.load(tmp_path / "m.json")
    assert isinstance(model, RuleClassifier)
    assert list(model.classes_) == ["no", "yes"]
    head = text.split("\n")[0].split(",")
    yes = next(c for c in head if "yes" in c)
    assert (printed(text, yes) == model.predict_proba(X)[:, 1]).all()
    assert model.to_json() == (tmp_path / "m.json").read_text()


def test_loaded_models_match_columns_by_name(deliveries, tmp_path):
    X, y = deliveries
    model = RuleRegressor(max_rules=5).fit(X, y)
    model.save(tmp_path / "m.json")
    loaded = RuleRegressor.load(tmp_path / "m.json")
    mixed = X[X.columns[::-1]].assign(more="x")
    assert (loaded.predict(mixed) == model.predict(X)).all()
    assert (loaded.predict(pa.Table.from_pandas(mixed)) == model.predict(X)).all()
    with pytest.raises(ValueError, match='needs column "km": no such column'):
        loaded.predict(X.drop(columns="km"))
    assert loaded.rules_.equals(model.rules_)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]),
        np.array([3, 11]),
        np.array([0.5, 1.5]).astype(float) * 2,
        np.array(["1", "2"]),
        np.array(["no", "yes"]),
        np.array([2, 10, 30]),
    ],
)
def test_labels_survive_a_file(labels):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = labels[np.digitize(X[:, 0], np.linspace(-0.5, 0.5, len(labels) + 1)[1:-1])]
    model = RuleClassifier(max_rules=3).fit(X, y)
    loaded = orthorules.from_json(model.to_json())
    assert list(loaded.classes_) == list(model.classes_)
    assert (loaded.predict(X) == model.predict(X)).all()
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()


def test_exposure_survives_a_file(tmp_path, command):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(300, 2)), columns=["age", "power"])
    exposure = pd.Series(random.uniform(0.2, 2, 300), name="years")
    y = pd.Series(random.poisson(exposure * np.exp(X["age"] > 0)), name="claims")
    model = RuleRegressor(loss="poisson", max_rules=3).fit(X, y, exposure=exposure)
    model.save(tmp_path / "m.json")
    X.assign(years=exposure).to_parquet(tmp_path / "t.parquet")
    text = command("predict", tmp_path / "m.json", tmp_path / "t.parquet")
    expected = model.predict(X, exposure=exposure)
    assert (printed(text, text.split("\n")[0].split(",")[0]) == expected).all()
    loaded = orthorules.load(tmp_path / "m.json")
    assert loaded.loss == "poisson"
    assert (loaded.predict(X, exposure=exposure) == expected).all()


@pytest.mark.skipif(os.name != "posix", reason="modes and links are those of POSIX")
def test_a_file_that_is_replaced_keeps_its_mode_and_links(tmp_path, deliveries):
    model = RuleRegressor(max_rules=2).fit(*deliveries)
    path, link = tmp_path / "m.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o600)
    link.symlink_to(path)
    model.save(link)
    assert link.is_symlink() and orthorules.load(path).to_json() == model.to_json()
    assert path.stat().st_mode & 0o777 == 0o600
    nowhere = tmp_path / "nowhere.json"
    nowhere.symlink_to(tmp_path / "absent.json")
    with pytest.raises(ValueError, match="leads to no file"):
        model.save(nowhere)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "m.json", "nowhere.json"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_a_full_disk_is_an_os_error(deliveries):
    with pytest.raises(OSError) as caught:
        RuleRegressor(max_rules=2).fit(*deliveries).save("/dev/full")
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no device without an end")
def test_a_device_without_an_end_is_no_model():
    with pytest.raises(ValueError, match="more than 256 MiB"):
        orthorules.load("/dev/zero")


def test_infinite_cells_make_models_that_load(tmp_path):
    """Thresholds are finite, whatever the column holds, so that the file can be read again."""
    x = np.array([-np.inf] * 5 + [1.0, 2.0] * 5 + [np.inf] * 5)
    y = np.repeat([0.0, 4.0, 9.0], [5, 10, 5])
    model = RuleRegressor(max_rules=2).fit(pd.DataFrame({"x": x}), y)
    assert any("1e308" in rule for rule in model.rules_["rule"])
    model.save(tmp_path / "m.json")
    for again in (orthorules.load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert (again.predict(pd.DataFrame({"x": x})) == model.predict(pd.DataFrame({"x": x}))).all()
