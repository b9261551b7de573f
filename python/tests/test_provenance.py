"""Where models come from: the lines of Python that a model keeps make the same file, as the command does."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

import orthorules
from orthorules import RuleClassifier, RuleRegressor


@pytest.fixture
def table() -> pd.DataFrame:
    random = np.random.default_rng(5)
    rows = 220
    frame = pd.DataFrame(
        {
            "it's": random.integers(0, 20, rows).astype(float),
            'a,"b"': random.normal(size=rows).round(2),
            "$(x) y": random.choice(["CA", "NY", "TX", "WA"], rows),
            "size": random.choice(["low", "mid", "high"], rows),
            "w": random.integers(1, 4, rows).astype(float),
            "years": random.choice([0.5, 1.0, 2.0], rows),
            "o": random.normal(size=rows).round(1),
            "g": random.integers(0, 12, rows).astype(float),
        }
    )
    signal = 2.0 * (frame["it's"] > 9) + 1.5 * (frame["$(x) y"] == "CA") + 0.5 * random.normal(size=rows)
    return frame.assign(
        y=signal.round(3),
        kind=np.where(signal > 1.5, "yes", "no"),
        two=(signal > 1.5).astype(float),
        flag=signal > 1.5,
        three=np.digitize(signal, [0.7, 2.2]).astype(float),
        count=np.clip(np.round(signal), 0, None),
        amount=np.exp(signal).round(3),
    )


TARGETS = ["y", "kind", "two", "flag", "three", "count", "amount"]
# The model calls the columns of weights and groups otherwise than the frame that they come from.
RENAMED = pytest.mark.xfail(reason="names of weights and groups are lost between the frame and the model", strict=True)
# The command line's presets say what becomes of several classes, also where numbers are predicted.
PRESET = pytest.mark.xfail(reason="the command of a preset names --multiclass, which a regressor lacks", strict=True)
OPTIONS = [
    ["--target", "y"],
    ["--target", "y", "--cv", "none", "--seed", "7", "--max-rules", "3"],
    pytest.param(["--target", "y", "--weight", "w", "--terms", "linear", "--reg-lambda", "0.5"], marks=RENAMED),
    ["--target", "y", "--offset", "o", "--monotone", "it's=+1", "--max-complexity", "9"],
    pytest.param(["--target", "y", "--cv", "4", "--cv-groups", "g", "--select", "best"], marks=RENAMED),
    ["--target", "y", "--ordered", "size=low<mid<high", "--sets", "on"],
    ["--target", "y", "--categorical", "g", "--max-bins", "8"],
    ["--target", "y", "--require", "\"it's\" >= 5", "--forbid", "size", "--cuts", "it's=5,10"],
    ["--target", "y", "--interactions", "it's,size;\"a,\"\"b\"\"\"", "--search", "beam", "--beam-width", "4"],
    pytest.param(["--target", "y", "--preset", "cob", "--max-rules", "4"], marks=PRESET),
    ["--target", "kind", "--positive", "no", "--select", "1se", "--cv", "3"],
    ["--target", "kind", "--preset", "sirus", "--num-trees", "40"],
    ["--target", "two", "--bootstrap", "20", "--max-rules", "2"],
    ["--target", "two", "--positive", "0"],
    ["--target", "two", "--task", "regression"],
    ["--target", "flag", "--search", "exact", "--max-rules", "2", "--max-conditions", "2"],
    ["--target", "three", "--task", "classification", "--multiclass", "one-vs-rest", "--max-complexity", "12"],
    ["--target", "count", "--task", "poisson", "--exposure", "years", "--polish", "off"],
    ["--target", "amount", "--task", "gamma", "--length-penalty", "0.5"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options[1:])[:40])
def test_the_lines_of_python_make_the_same_file(command, table, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    without = [name for name in TARGETS if name != options[1]]
    table.to_parquet("TABLE")
    table.to_parquet("t.parquet")
    command("fit", "t.parquet", *options, "--ignore", ",".join(without), "-o", "m.json", "--quiet")
    told = json.loads(command("show", "m.json", "--provenance", "--json"))
    exec(told["python"], {})
    written = (tmp_path / "MODEL").read_text()
    assert json.loads(written)["provenance"]["options"].get("ignore") is None, "a frame has no column to ignore"
    same = json.loads((tmp_path / "m.json").read_text())
    own = json.loads(written)
    # The frame lacks the columns that the command ignores: that is all that differs.
    removed = same["provenance"]["options"].pop("ignore")
    assert sorted(removed) == sorted(without)
    words = shlex.split(same["provenance"]["command"])
    place = words.index("--ignore")
    del words[place : place + 2]
    assert shlex.split(own["provenance"].pop("command")) == words
    del same["provenance"]["command"]
    assert own == same


def test_command_line_and_python_write_the_same_bytes(command, table, tmp_path):
    for target, extra in [("y", []), ("kind", []), ("three", ["--task", "classification"]), ("two", [])]:
        frame = table.drop(columns=[name for name in TARGETS if name != target])
        frame.to_parquet(tmp_path / "t.parquet")
        command("fit", tmp_path / "t.parquet", "--target", target, *extra, "-o", tmp_path / "m.json", "--quiet")
        estimator = RuleRegressor(cv="auto") if target == "y" else RuleClassifier(cv="auto")
        labels = frame[target].astype(int) if target in ("three", "two") else frame[target]
        estimator.fit(frame.drop(columns=target), labels).save(tmp_path / "p.json")
        assert (tmp_path / "p.json").read_bytes() == (tmp_path / "m.json").read_bytes(), target
        told = estimator.provenance_
        assert told["command"].startswith(f"orthorules fit TABLE --target {target}") and told["table"]["rows"] == 220
        assert told["version"] == orthorules.__version__


def test_files_without_provenance_have_none(table):
    X, y = table[["it's"]], table["y"]
    document = json.loads(RuleRegressor(max_rules=1).fit(X, y).to_json())
    del document["provenance"]
    document["version"] = 1
    assert RuleRegressor.from_json(json.dumps(document)).provenance_ is None


def test_a_fit_goes_on_from_a_model(command, table, tmp_path):
    X, y = table[["it's", 'a,"b"', "$(x) y"]], table["y"]
    first = RuleRegressor(max_rules=2, cv=None).fit(X, y)
    before = [str(rule) for rule in first.rules_["rule"]]
    grown = RuleRegressor(max_rules=4, cv=None).fit(X, 2 * y, from_model=first)
    after = [str(rule) for rule in grown.rules_["rule"]]
    assert set(before) <= set(after) and len(after) > len(before)
    assert first.moved_ is None and "from" in grown.provenance_["options"]
    moved = grown.moved_.set_index("rule")
    for rule in before:
        assert moved.loc[rule, "before"] != moved.loc[rule, "after"]
    assert moved["before"].isna().any()
    # A path does as well, and so does the command line.
    first.save(tmp_path / "first.json")
    again = RuleRegressor(max_rules=4, cv=None).fit(X, 2 * y, from_model=tmp_path / "first.json")
    assert again.to_json() == grown.to_json()
    X.assign(y=2 * y).to_parquet(tmp_path / "t.parquet")
    told = json.loads(
        command(
            *("fit", tmp_path / "t.parquet", "--target", "y", "--max-rules", "4", "--cv", "none", "--json"),
            *("--from", tmp_path / "first.json", "-o", tmp_path / "m.json"),
        )
    )
    assert (tmp_path / "m.json").read_text() == grown.to_json()
    assert [line["rule"] for line in told["weights"]] == list(grown.moved_["rule"])
    refitted = first.refit(X, 3 * y)
    assert list(refitted.moved_["rule"]) == [*before, "always (intercept)"]


def test_what_does_not_go_on_is_refused(table):
    X, y = table[["it's", "$(x) y"]], table["y"]
    first = RuleRegressor(max_rules=2, cv=None).fit(X, y)
    for fit, told in [
        (lambda: RuleRegressor().fit(X[["$(x) y"]], y, from_model=first), "it's"),
        (lambda: RuleRegressor(loss="poisson").fit(X, table["count"].rename("y"), from_model=first), "task regression"),
        (lambda: RuleRegressor().fit(X, y.rename("z"), from_model=first), "predicts \"y\""),
        (lambda: RuleRegressor(forbid=["it's"]).fit(X, y, from_model=first), "forbidden"),
        (lambda: RuleRegressor(max_rules=1).fit(X, y, from_model=first), "max_rules 1"),
    ]:
        with pytest.raises(ValueError, match=told) as raised:
            fit()
        assert "\n" not in str(raised.value)
    with pytest.raises(TypeError, match="from_model must be"):
        RuleRegressor().fit(X, y, from_model=3)
