"""The model file says it all: predictions computed from docs/model-file.md alone are those of the library and the
command line."""

import csv
import io
import json
import math
import random

import pandas as pd
import pytest
from conftest import ROOT

import orthorules

GOLDEN = ROOT / "crates" / "orthorules" / "tests" / "golden"


# The evaluator. It knows docs/model-file.md and nothing else; a row is a dict, a missing value is None.


def holds(condition, row):
    value = row[condition["column"]]
    op = condition["op"]
    if value is None or op in ("missing", "present"):
        return op == ("missing" if value is None else "present")
    return {
        "<=": lambda t: value <= t,
        ">=": lambda t: value >= t,
        "=": lambda level: value == level,
        "!=": lambda level: value != level,
        "in": lambda levels: value in levels,
        "not in": lambda levels: value not in levels,
    }[op](condition["value"])


def score(ensemble, size, row):
    total = size["intercept"]
    members = size.get("members", range(size["rules"]))
    for member, weight in zip(members, size["weights"], strict=True):
        if all(holds(condition, row) for condition in ensemble["rules"][member]["conditions"]):
            total += weight
    return total


def beside(model, total, row):
    """A score with the offset of the row, if the model has one."""
    return total + row[model["offset"]] if "offset" in model else total


def lists(model):
    """The ensembles of a document: one, or one for each class."""
    if model.get("multiclass") != "shared":
        return model.get("one_vs_rest", [model])

    def of_class(k):
        sizes = [
            {**size, "intercept": size["intercepts"][k], "weights": [each[k] for each in size["weights"]]}
            for size in model["path"]
        ]
        return {**model, "path": sizes}

    return [of_class(k) for k in range(len(model["classes"]))]


def chosen(ensembles):
    """The chosen size of each ensemble."""
    rules = max(e["chosen"] for e in ensembles)

    def size(ensemble):
        path, complexity = ensemble["path"], ensemble.get("chosen_complexity")
        same = [s for s in path if s["rules"] == rules and complexity in (None, s["complexity"])]
        return (same or [s for s in path if s["rules"] <= rules])[-1]

    return [size(e) for e in ensembles]


def logistic(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def predict(model, row):
    """A number, or the probability of each of `classes`."""
    ensembles = lists(model)
    scores = [beside(model, score(e, size, row), row) for e, size in zip(ensembles, chosen(ensembles), strict=True)]
    if model["task"] == "regression":
        return scores[0]
    if model["task"] in ("poisson", "gamma"):
        return row.get(model.get("exposure"), 1) * math.exp(scores[0])
    if model.get("multiclass") == "shared":
        shares = [math.exp(s - max(scores)) for s in scores]
        return [share / sum(shares) for share in shares]
    identity = model.get("link") == "identity"
    shares = [min(max(s, 0), 1) if identity else logistic(s) for s in scores]
    if len(shares) == 1:
        return [1 - shares[0] if identity else logistic(-scores[0]), shares[0]]
    total = sum(shares)
    return [s / total if total > 0 else 1 / len(shares) for s in shares]


# Tables with everything that a file may hold.

COLUMNS = ["size", "age", "kind", "fast", "days"]
EXTREMES = [math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53, 1e-300]


def rows(seed, count, new_levels):
    """Random rows; those to predict have levels that no model has seen."""
    draw = random.Random(seed)

    def number(low, high):
        chance = draw.random()
        return None if chance < 0.1 else draw.choice(EXTREMES) if chance < 0.25 else round(draw.uniform(low, high), 2)

    return [
        {
            "size": number(-4, 4),
            "age": number(18, 80),
            "kind": draw.choice(["a", "b", "c", None] + ["new", "=", "1.50"] * new_levels),
            "fast": draw.choice(["true", "false", None]),
            "days": round(draw.uniform(0.25, 90), 2),
        }
        for _ in range(count)
    ]


def targets(table, seed):
    draw = random.Random(seed)
    for row in table:
        signal = (row["size"] or 0) > 0.5
        signal += 2 * (row["kind"] == "a") - (row["fast"] is None) + ((row["age"] or 99) < 40) + draw.random()
        row["minutes"] = 5 + 3 * signal
        row["late"] = "yes" if signal > 1.6 else "no"
        row["claims"] = int(max(signal, 0) * row["days"] / 20)
        row["grade"] = "ABC"[min(int(max(signal, 0)), 2)]
    return table


def text(value):
    return "" if value is None else value if isinstance(value, str) else repr(value)


def write(path, table):
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(file, list(table[0]))
        out.writeheader()
        out.writerows({name: text(value) for name, value in row.items()} for row in table)


def frame(table):
    """The rows as a data frame with the types that the model was trained on."""
    made = pd.DataFrame({name: [row[name] for row in table] for name in COLUMNS})
    for name in ("size", "age", "days"):
        made[name] = made[name].astype("float64")
    made["fast"] = made["fast"].map({"true": True, "false": False}).astype("boolean")
    return made


def printed(output, model):
    """What `predict` printed, row by row: the prediction, or the probability of each of `classes`."""
    names = [f"probability_{label}" for label in model.get("classes", [])] or ["prediction"]
    return [[float(row[name]) for name in names] for row in csv.DictReader(io.StringIO(output))]


FITS = {
    "regression": ("minutes", []),
    "nested": ("minutes", ["--path", "nested", "--monotone", "age=-1"]),
    "exact": ("minutes", ["--search", "exact", "--max-conditions", "2", "--path", "nested", "--max-rules", "3"]),
    "two classes": ("late", []),
    "other class": ("late", ["--positive", "no", "--cv", "3"]),
    "closed form": ("late", ["--preset", "sxb"]),
    "counts": ("claims", ["--task", "poisson", "--exposure", "days"]),
    "counts alone": ("claims", ["--task", "poisson"]),
    "amounts": ("minutes", ["--task", "gamma", "--exposure", "days"]),
    "known part": ("minutes", ["--offset", "days"]),
    "known factor": ("minutes", ["--task", "gamma", "--offset", "days"]),
    "three classes": ("grade", []),
    "three classes, a list each": ("grade", ["--multiclass", "one-vs-rest"]),
    "forest of numbers": ("minutes", ["--preset", "sirus", "--num-trees", "50"]),
    "forest of classes": ("late", ["--preset", "sirus", "--num-trees", "50"]),
    "forest of three": ("grade", ["--preset", "sirus", "--num-trees", "50"]),
}


def close(a, b):
    """Equal but for the last digits of exponentials and divisions."""
    return a == b or abs(a - b) <= 1e-14 * abs(b) or abs(a - b) <= 1e-300


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_predictions_follow_from_the_file(command, tmp_path, name, seed):
    target, flags = FITS[name]
    names = ["minutes", "late", "claims", "grade"]
    ignored = [flag for other in names if other != target for flag in ("--ignore", other)]
    write(tmp_path / "learn.csv", targets(rows(seed, 200, False), seed))
    command("fit", tmp_path / "learn.csv", "--target", target, *flags, *ignored, "--max-complexity", 16,
            *(() if "--cv" in flags else ("--cv", "none")),
            "-o", tmp_path / "m.json", "--quiet")  # fmt: skip
    model = json.loads((tmp_path / "m.json").read_text())
    assert any(e["rules"] for e in lists(model))

    table = rows(seed + 100, 300, True)
    write(tmp_path / "new.csv", table)
    expected = [predict(model, row) for row in table]
    wide = [p if isinstance(p, list) else [p] for p in expected]
    shown = printed(command("predict", tmp_path / "m.json", tmp_path / "new.csv"), model)
    assert len(shown) == len(table)
    for ours, theirs in zip(wide, shown, strict=True):
        assert all(close(a, b) for a, b in zip(ours, theirs, strict=True)), (ours, theirs)

    loaded = orthorules.load(tmp_path / "m.json")
    if model["task"] == "classification":
        predicted = loaded.predict_proba(frame(table)).tolist()
        place = [list(map(str, loaded.classes_)).index(label) for label in model["classes"]]
        predicted = [[row[c] for c in place] for row in predicted]
    else:
        known = {role: [row["days"] for row in table] for role in ("exposure", "offset") if role in model}
        predicted = [[x] for x in loaded.predict(frame(table), **known).tolist()]
    for ours, theirs in zip(wide, predicted, strict=True):
        assert all(close(a, b) for a, b in zip(ours, theirs, strict=True)), (ours, theirs)
    # Sums are the same to the last bit.
    if model["task"] == "regression":
        assert wide == predicted == shown


def test_golden_files_are_predicted_by_the_document():
    with open(GOLDEN / "table.csv", newline="") as file:
        table = list(csv.DictReader(file))
    for row in table:
        for name, value in row.items():
            known = name in ("kind", "fast")
            row[name] = None if value == "" else value if known else float(value)
    models = [p for p in sorted(GOLDEN.glob("v*/*.json")) if not p.name.endswith(".expected.json")]
    assert len(models) >= 8
    for path in models:
        model = json.loads(path.read_text())
        expected = json.loads(path.with_suffix(".expected.json").read_text())
        ensembles = lists(model)
        for ensemble, sizes in zip(ensembles, expected["scores"], strict=True):
            for size, scores in zip(ensemble["path"], sizes, strict=True):
                assert [beside(model, score(ensemble, size, row), row) for row in table] == scores, path
        for row, theirs in zip(table, expected["predictions"], strict=True):
            ours = predict(model, row)
            pairs = zip(ours, theirs, strict=True) if isinstance(ours, list) else [(ours, theirs)]
            assert all(close(a, b) for a, b in pairs), (path, ours, theirs)
