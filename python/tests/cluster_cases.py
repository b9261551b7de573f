"""Tables and options that fits on clusters are tried with, and the bytes that the command line writes."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd

ROWS = 1200


def table(rows=ROWS, seed=3):
    """Numbers, missing values, categories, flags, weights and exposures, and a target of every kind."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{i}": np.round(random.normal(size=rows) * 40) / 4 for i in range(4)})
    frame["big"] = random.normal(size=rows)
    frame["level"] = random.choice(["north", "south", "east", "west", "7"], size=rows)
    frame["flag"] = random.random(rows) < 0.3
    score = frame["x0"] / 8 + (frame["x1"] > 2) * 1.5 - (frame["level"] == "east") * frame["big"] + frame["flag"]
    frame.loc[random.random(rows) < 0.1, "x2"] = np.nan
    frame.loc[random.random(rows) < 0.1, "level"] = None
    frame["w"] = np.round(random.random(rows) * 3, 2) + 0.05
    frame["whole"] = random.integers(0, 4, rows).astype(float)
    frame["e"] = random.random(rows) + 0.5
    noisy = score + random.normal(size=rows)
    frame["number"] = noisy * 1000
    frame["count"] = np.floor(np.exp(np.clip(noisy, 0, 3)))
    frame["amount"] = np.exp(noisy / 2)
    frame["two"] = np.where(noisy > 0.5, "yes", "no")
    frame["three"] = np.select([noisy > 1, noisy > 0], ["high", "mid"], "low")
    frame["o"] = np.round(random.normal(size=rows) / 3, 3)
    return frame


ROLES = ["w", "whole", "e", "o", "number", "count", "amount", "two", "three"]
# What needs no rows in one place. By default small tables are brought together all the same.
PLAIN = (["--polish", "off", "--reg-lambda", "2"], {"polish": "off", "reg_lambda": 2.0})
STAYING = {"gather": "never"}


def staying(target, weight, exposure, options, kind, parameters):
    """No rows leave their partitions, although the table is small."""
    return target, weight, exposure, [*options, *PLAIN[0]], kind, {**parameters, **PLAIN[1], **STAYING}


# Target, weight, exposure, options of the command line, and those of the estimator.
CASES = {
    "regression": staying("number", None, None, [], "RuleRegressor", {}),
    "weights": staying("number", "w", None, [], "RuleRegressor", {}),
    "whole weights": staying("number", "whole", None, [], "RuleRegressor", {}),
    "two classes": staying("two", None, None, [], "RuleClassifier", {}),
    "three classes": ("three", "w", None, [], "RuleClassifier", STAYING),
    "one against the rest": (
        "three", None, None, ["--multiclass", "one-vs-rest"], "RuleClassifier",
        {"multiclass": "one-vs-rest", **STAYING},
    ),
    "counts": staying("count", "w", "e", ["--task", "poisson"], "RuleRegressor", {"loss": "poisson"}),
    "amounts": staying("amount", None, "e", ["--task", "gamma"], "RuleRegressor", {"loss": "gamma"}),
    "nested": ("number", None, None, ["--path", "nested"], "RuleRegressor", {"path": "nested", **STAYING}),
    "beam": staying(
        "two", None, None, ["--search", "beam", "--beam-width", "3"], "RuleClassifier",
        {"search": "beam", "beam_width": 3},
    ),
    "monotone": staying(
        "number", None, None, ["--monotone", "x0=+1"], "RuleRegressor", {"monotonic_cst": {"x0": 1}},
    ),
    "paper": ("count", None, "e", ["--task", "poisson", "--preset", "cob"], "RuleRegressor",
              {"loss": "poisson", "preset": "cob", **STAYING}),
    "offsets": staying("number", "w", None, [], "RuleRegressor", {}),
    "offsets of counts": staying("count", "w", "e", ["--task", "poisson"], "RuleRegressor", {"loss": "poisson"}),
    "offsets of amounts": staying("amount", None, None, ["--task", "gamma"], "RuleRegressor", {"loss": "gamma"}),
    # All rows are brought to one place.
    "offsets, defaults": ("number", None, None, [], "RuleRegressor", {}),
    "offsets, defaults of counts": ("count", None, "e", ["--task", "poisson"], "RuleRegressor", {"loss": "poisson"}),
    "defaults": ("number", None, None, [], "RuleRegressor", {}),
    "defaults, whole weights": ("number", "whole", None, [], "RuleRegressor", {}),
    "defaults, two classes": ("two", "w", None, [], "RuleClassifier", {}),
    "defaults, counts": ("count", "w", "e", ["--task", "poisson"], "RuleRegressor", {"loss": "poisson"}),
    "defaults, monotone": (
        "amount", None, "e", ["--task", "gamma", "--monotone", "x0=+1"], "RuleRegressor",
        {"loss": "gamma", "monotonic_cst": {"x0": 1}},
    ),
    "brought together": ("number", None, None, PLAIN[0], "RuleRegressor", PLAIN[1]),
    "brought together, three classes": ("three", "w", None, [], "RuleClassifier", {}),
    "brought together, one against the rest": (
        "three", None, None, ["--multiclass", "one-vs-rest"], "RuleClassifier", {"multiclass": "one-vs-rest"},
    ),
    "brought together, nested": (
        "number", "w", None, ["--path", "nested"], "RuleRegressor", {"path": "nested", "gather": "auto"},
    ),
    "brought together, paper": (
        "count", None, "e", ["--task", "poisson", "--preset", "cob"], "RuleRegressor",
        {"loss": "poisson", "preset": "cob"},
    ),
    "trends": ("number", "w", None, ["--terms", "linear"], "RuleRegressor", {"terms": "linear"}),
    "offsets, trends of counts": (
        "count", None, "e", ["--task", "poisson", "--terms", "hinge"], "RuleRegressor",
        {"loss": "poisson", "terms": "hinge"},
    ),
    "trends, three classes": ("three", None, None, ["--terms", "linear"], "RuleClassifier", {"terms": "linear"}),
    "polish": (
        "number", None, None, ["--polish", "full", "--reg-lambda", "cv"], "RuleRegressor",
        {"polish": "full", "reg_lambda": "cv"},
    ),
}  # fmt: skip

EVEN = [k * ROWS // 16 for k in range(1, 16)]
# Empty ones at both ends, of one row, and one with nearly all rows.
ODD = [0, 0, 1, 2, 9, ROWS - 3, ROWS - 3, ROWS]


# Cases with offsets, beside what else they have.
OFFSETS = {name: name.startswith("offsets") for name in CASES}


def few_trips(model, name, text):
    """Whether a fit did not ask more often than for the nodes that it searched, which are those of the rules in
    `text`."""

    def searched(part):
        parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        own = part["nodes"] - 1 if isinstance(part, dict) and "nodes" in part else 0
        return own + sum(searched(inner) for inner in parts)

    # A list for each class is that of one size alone, and the search came by others.
    listed = searched(json.loads(text)) if name != "one against the rest" else model.searched_
    return len(model.rounds_) <= 5 + min(model.searched_, listed)


class Expected:
    """The bytes that the command line writes, by case."""

    def __init__(self, folder, complexity):
        self._folder, self._complexity, self._known = folder, complexity, {}

    def __call__(self, name):
        if name not in self._known:
            target, weight, exposure, options, *_ = CASES[name]
            offset = "o" if OFFSETS[name] else None
            named = {"--weight": weight, "--exposure": exposure, "--offset": offset}
            roles = [part for flag, column in named.items() if column for part in (flag, column)]
            source, model = self._folder / "table.parquet", self._folder / "model.json"
            left_out = [c for c in ROLES if c not in (target, weight, exposure, offset)]
            table().drop(columns=left_out).to_parquet(source, index=False)
            command = [sys.executable, "-m", "orthorules", "fit", str(source), "--target", target, "--cv", "none"]
            limits = ["--max-complexity", str(self._complexity), "-o", str(model), "--quiet"]
            subprocess.run([*command, *roles, *options, *limits], check=True, capture_output=True)
            self._known[name] = model.read_text()
        return self._known[name]
