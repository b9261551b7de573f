"""The exported C file, compiled with every warning and sanitizer, on 10,000 rows: scores to the bit."""

import json
import subprocess

import numpy as np
import pytest
from export_cases import CHANGES, KINDS, MODELS, case, close, rows, same_bits
from export_parity import SANITIZED, WARNINGS, c
from export_tools import program, run

import orthorules


def evaluate(folder, case, text):
    """Scores, predictions, and the texts of the rules that fired."""
    return c(program("cc", "C"), folder, [(text, case, rows(), KINDS)], SANITIZED)[0]


@pytest.mark.parametrize("name", MODELS)
def test_numbers_and_reasons_are_those_of_the_engine(name, tmp_path):
    wanted = case(name)
    found, texts = evaluate(tmp_path, wanted, wanted.model.export("c"))
    assert same_bits([f[0] for f in found], wanted.scores)
    predictions = wanted.predictions if wanted.several else wanted.predictions[:, -1:]
    assert close([f[1] for f in found], predictions, 1e-15)
    for (_, _, fired), expected in zip(found, wanted.reasons, strict=True):
        assert {texts[k] for k in fired} == {text for text, _ in expected}


@pytest.mark.parametrize(("name", "number", "other"), CHANGES)
def test_a_changed_number_is_noticed(name, number, other, tmp_path):
    wanted = case(name)
    text = wanted.model.export("c")
    spoiled = text.replace(str(number), str(other))
    assert spoiled != text
    found, _ = evaluate(tmp_path, wanted, spoiled)
    assert not same_bits([f[0] for f in found], wanted.scores)


def test_weights_are_told_beside_the_rules(tmp_path):
    """The tables of texts and weights add up to the score, so that reasons need no second look at the model."""
    for name in ("regression", "several", "hinges"):
        text = case(name).model.export("c")
        weights = text.split("const double orthorules_weights[")[-1].split("{")[1].split("}")[0]
        numbers = [float(w) for w in weights.replace("\n", " ").split(",")]
        table = np.array(numbers).reshape(-1, case(name).scores.shape[1])
        told = set(case(name).weights.values())
        assert told <= set(table.ravel())


def test_columns_may_be_called_as_macros_and_keywords_are(tmp_path):
    """Whatever the headers that the file includes define here, in every dialect of C and in C++."""
    compiler = program("cc", "C")
    headers = b"#include <math.h>\n#include <stddef.h>\n#include <string.h>\n"
    names = {"class", "template", "restrict", "co_await", "thread_local", "row", "score", "count", "rules", "I"}
    for dialect in ("-std=c99", "-std=gnu17"):
        defined = subprocess.run([compiler, dialect, "-dM", "-E", "-"], input=headers, capture_output=True, check=True)
        names |= {line.split()[1].split("(")[0] for line in defined.stdout.decode().splitlines()}
    names = sorted(name for name in names if not name.startswith("_"))
    assert {"FP_NAN", "M_PI", "NULL"} <= set(names)
    document = {
        "format": "orthorules-model",
        "version": 1,
        "task": "regression",
        "loss": "squared",
        "target": "y",
        "columns": [{"name": name, "kind": "numeric"} for name in names],
        "rules": [{"conditions": [{"column": name, "op": ">=", "value": 1.5}]} for name in names],
        "path": [{"rules": len(names), "intercept": 0.0, "weights": [1.0] * len(names), "train_risk": 1.0}],
        "chosen": len(names),
    }
    (tmp_path / "model.c").write_text(orthorules.from_json(json.dumps(document)).export("c"), "utf-8")
    for dialect in ("c99", "gnu17"):
        run([compiler, f"-std={dialect}", *WARNINGS[1:], "-c", "model.c", "-o", "model.o"], cwd=tmp_path)
    run([program("c++", "C++"), "-x", "c++", "-Wall", "-Werror", "-c", "model.c", "-o", "model.o"], cwd=tmp_path)
