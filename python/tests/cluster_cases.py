"""Tables and options that fits on clusters are tried with, and the bytes that the command line writes."""

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
    return frame


ROLES = ["w", "whole", "e", "number", "count", "amount", "two", "three"]
# With these no rows leave their partitions, although the table is small.
STAYING = (["--polish", "off", "--reg-lambda", "2"], {"polish": "off", "reg_lambda": 2.0})


def staying(target, weight, exposure, options, kind, parameters):
    return target, weight, exposure, [*options, *STAYING[0]], kind, {**parameters, **STAYING[1]}


# Target, weight, exposure, options of the command line, and those of the estimator.
CASES = {
    "regression": staying("number", None, None, [], "RuleRegressor", {}),
    "weights": staying("number", "w", None, [], "RuleRegressor", {}),
    "whole weights": staying("number", "whole", None, [], "RuleRegressor", {}),
    "two classes": staying("two", None, None, [], "RuleClassifier", {}),
    "three classes": ("three", "w", None, [], "RuleClassifier", {}),
    "one against the rest": (
        "three", None, None, ["--multiclass", "one-vs-rest"], "RuleClassifier", {"multiclass": "one-vs-rest"},
    ),
    "counts": staying("count", "w", "e", ["--task", "poisson"], "RuleRegressor", {"loss": "poisson"}),
    "amounts": staying("amount", None, "e", ["--task", "gamma"], "RuleRegressor", {"loss": "gamma"}),
    "nested": ("number", None, None, ["--path", "nested"], "RuleRegressor", {"path": "nested"}),
    "beam": staying(
        "two", None, None, ["--search", "beam", "--beam-width", "3"], "RuleClassifier",
        {"search": "beam", "beam_width": 3},
    ),
    "monotone": staying(
        "number", None, None, ["--monotone", "x0=+1"], "RuleRegressor", {"monotonic_cst": {"x0": 1}},
    ),
    "paper": ("count", None, "e", ["--task", "poisson", "--preset", "cob"], "RuleRegressor",
              {"loss": "poisson", "preset": "cob"}),
    # All rows are brought to one place.
    "defaults": ("number", None, None, [], "RuleRegressor", {}),
    "defaults, whole weights": ("number", "whole", None, [], "RuleRegressor", {}),
    "defaults, two classes": ("two", "w", None, [], "RuleClassifier", {}),
    "defaults, counts": ("count", "w", "e", ["--task", "poisson"], "RuleRegressor", {"loss": "poisson"}),
    "defaults, monotone": (
        "amount", None, "e", ["--task", "gamma", "--monotone", "x0=+1"], "RuleRegressor",
        {"loss": "gamma", "monotonic_cst": {"x0": 1}},
    ),
    "polish": (
        "number", None, None, ["--polish", "full", "--reg-lambda", "cv"], "RuleRegressor",
        {"polish": "full", "reg_lambda": "cv"},
    ),
}  # fmt: skip

EVEN = [k * ROWS // 16 for k in range(1, 16)]
# Empty ones at both ends, of one row, and one with nearly all rows.
ODD = [0, 0, 1, 2, 9, ROWS - 3, ROWS - 3, ROWS]


class Expected:
    """The bytes that the command line writes, by case."""

    def __init__(self, folder, complexity):
        self._folder, self._complexity, self._known = folder, complexity, {}

    def __call__(self, name):
        if name not in self._known:
            target, weight, exposure, options, *_ = CASES[name]
            roles = [*(["--weight", weight] if weight else []), *(["--exposure", exposure] if exposure else [])]
            source, model = self._folder / "table.parquet", self._folder / "model.json"
            left_out = [c for c in ROLES if c not in (target, weight, exposure)]
            table().drop(columns=left_out).to_parquet(source, index=False)
            command = [sys.executable, "-m", "orthorules", "fit", str(source), "--target", target, "--cv", "none"]
            limits = ["--max-complexity", str(self._complexity), "-o", str(model), "--quiet"]
            subprocess.run([*command, *roles, *options, *limits], check=True, capture_output=True)
            self._known[name] = model.read_text()
        return self._known[name]
