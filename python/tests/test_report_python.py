"""`report` and `recourse` of the estimators: no browser needed."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor, datasets


def data_of(path):
    """What a page was told."""
    text = path.read_text("utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found.group(1))["reports"][0]


@pytest.fixture(scope="module")
def fitted(deliveries):
    X, y = deliveries
    return RuleRegressor(max_complexity=16).fit(X, y), X, y


def test_a_page_from_a_frame(fitted, tmp_path):
    model, X, y = fitted
    model.report(tmp_path / "page.html", X, y)
    told = data_of(tmp_path / "page.html")
    assert told["table"]["used"] == len(X) and told["table"]["training"] is True
    assert told["table"]["measures"][told["chosen"]]["r2"] == pytest.approx(model.score(X, y), rel=1e-7)
    assert told["table"]["fingerprint_of"] == "values" and len(told["table"]["fingerprint"]) == 64
    model.report(tmp_path / "less.html", X)
    assert data_of(tmp_path / "less.html")["table"]["labelled"] is False
    model.report(tmp_path / "alone.html")
    assert data_of(tmp_path / "alone.html")["table"] is None
    small = model.at(rules=1)
    small.report(tmp_path / "small.html")
    told = data_of(tmp_path / "small.html")
    assert told["sizes"][told["start"]]["rules"] == 1 and told["start"] != told["chosen"]


def test_the_same_page_as_from_a_file(fitted, tmp_path, command):
    model, X, y = fitted
    model.save(tmp_path / "m.json")
    X.assign(minutes=y).to_csv(tmp_path / "t.csv", index=False)
    command("report", tmp_path / "m.json", tmp_path / "t.csv", "-o", tmp_path / "file.html")
    model.report(tmp_path / "frame.html", X, y)
    file, frame = data_of(tmp_path / "file.html"), data_of(tmp_path / "frame.html")
    for own in ("name", "fingerprint", "fingerprint_of"):
        del file["table"][own], frame["table"][own]
    assert file == frame


def test_classes_and_counts(tmp_path):
    X, y = datasets.friedman1(300, seed=2)
    several = RuleClassifier(max_rules=3).fit(X, np.digitize(y, [11, 17]))
    several.report(tmp_path / "c.html", X, np.digitize(y, [11, 17]))
    told = data_of(tmp_path / "c.html")
    accuracy = told["table"]["measures"][told["chosen"]]["accuracy"]
    assert accuracy == pytest.approx(several.score(X, np.digitize(y, [11, 17])))
    exposure = np.linspace(0.5, 2, 300)
    counts = RuleRegressor(loss="poisson", max_rules=3).fit(X, np.round(y), exposure=exposure)
    counts.report(tmp_path / "p.html", X, np.round(y), exposure=exposure)
    assert data_of(tmp_path / "p.html")["table"]["training"] is True
    with pytest.raises(ValueError, match="exposure"):
        counts.report(tmp_path / "q.html", X, np.round(y))
    assert not (tmp_path / "q.html").exists()


def test_bad_input_writes_nothing(fitted, tmp_path):
    model, X, y = fitted
    path = tmp_path / "page.html"
    with pytest.raises(ValueError, match="y has 3 rows"):
        model.report(path, X, y[:3])
    with pytest.raises(ValueError, match="need X"):
        model.report(path, y=y)
    with pytest.raises(ValueError):
        model.report(path, X.drop(columns="km"), y)
    with pytest.raises(OSError):
        model.report(tmp_path / "nowhere" / "page.html", X, y)
    with pytest.raises(Exception, match="not fitted"):
        RuleRegressor().report(path)
    assert list(tmp_path.iterdir()) == []


def test_recourse_does_what_it_says(fitted):
    model, X, _ = fitted
    row = X.iloc[[5]]
    now = model.predict(row)[0]
    found = model.recourse(row, below=now - 4)
    assert found.attrs == {"met": False, "complete": True}
    assert list(found.columns) == ["answer", "column", "now", "change", "example", "steps", "prediction"]
    assert len(found) > 0
    for _, changes in found.groupby("answer"):
        other = row.copy()
        for column, example in zip(changes["column"], changes["example"], strict=True):
            other[column] = other[column].astype(object)
            other[column] = example == "true" if column == "express" else example
        predicted = model.predict(other.infer_objects())[0]
        assert predicted < now - 4 and predicted == pytest.approx(changes["prediction"].iloc[0], abs=1e-12)
    locked = model.recourse(row, below=now - 4, lock=list(found["column"].unique()))
    assert not set(locked["column"]) & set(found["column"])
    assert model.recourse(row, above=now - 100).attrs["met"] is True
    assert model.recourse(X.iloc[5], below=now - 4).equals(found)


def test_recourse_to_a_class():
    X, y = datasets.friedman1(300, seed=2)
    frame = pd.DataFrame(np.asarray(X)).add_prefix("x")
    labels = np.array(["low", "mid", "high"])[np.digitize(y, [11, 17])]
    model = RuleClassifier(max_rules=4).fit(frame, labels)
    for i in range(10):
        now = model.predict(frame.iloc[[i]])[0]
        wanted = next(c for c in model.classes_ if c != now)
        for _, changes in model.recourse(frame.iloc[[i]], change_to=wanted).groupby("answer"):
            other = frame.iloc[[i]].copy()
            other[list(changes["column"])] = list(changes["example"])
            assert model.predict(other)[0] == wanted


def test_recourse_refuses_what_makes_no_sense(fitted):
    model, X, _ = fitted
    row = X.iloc[[0]]
    for options, words in (
        ({}, "name one of"),
        ({"below": 1, "above": 2}, "name one of"),
        ({"change_to": "snow"}, "classifier"),
        ({"below": float("nan")}, "not a number"),
        ({"below": 1, "lock": ["kilometres"]}, "no such column"),
    ):
        with pytest.raises(ValueError, match=words):
            model.recourse(row, **options)
    with pytest.raises(ValueError, match="one row"):
        model.recourse(X, below=1)
