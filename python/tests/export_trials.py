"""Random models in every target that runs here, against the engine: what is wrong, if anything is."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from export_cases import close, same_bits
from export_parity import (
    c,
    fill_duckdb,
    fill_sqlite,
    in_columns,
    javascript,
    module,
    number,
    onnx,
    records,
    sql,
    values,
    with_mathematics,
)
from export_random import ROWS, plain

TABLE = "the \"table\"; drop `x` -- '"


def told(case, scores, predictions, exact, tolerance):
    """What is wrong with the numbers of a case. Of two classes an export predicts the second."""
    right = same_bits(scores, case.scores) if exact else close(scores, case.scores, tolerance)
    wanted = case.predictions if len(predictions[0]) == case.predictions.shape[1] else case.predictions[:, -1:]
    return [] if right and close(predictions, wanted, tolerance) else ["numbers"]


def in_python(cases):
    wrong = []
    for case in cases:
        code, rows = module(case.model.export("python")), case.rows()
        scores = [code["score"](row) for row in rows]
        scores = [[score[label] for label in case.labels] if case.several else [score] for score in scores]
        predictions = [code["predict"](row) for row in rows]
        predictions = [list(p.values()) if case.labels else [p] for p in predictions]
        found = told(case, scores, predictions, True, 1e-15)
        reasons = [{text for text, _ in code["reasons"](row)} for row in rows]
        wrong += [(case.number, what) for what in found + (["reasons"] if reasons != case.reasons else [])]
    return wrong


def in_javascript(cases):
    node, wrong = shutil.which("node"), []
    with tempfile.TemporaryDirectory() as folder:
        texts = [case.model.export("javascript") for case in cases]
        answers = javascript(node, Path(folder), texts, [case.rows() for case in cases])
    for case, answer in zip(cases, answers, strict=True):
        scores = [values(row[0], case.labels) for row in answer]
        predictions = [values(row[1], case.labels) for row in answer]
        found = told(case, scores, predictions, True, 1e-15)
        reasons = [{text for text, _ in row[2]} for row in answer]
        assert all(np.isfinite(number(by)) for row in answer for _, by in row[2] if isinstance(by, str))
        wrong += [(case.number, what) for what in found + (["reasons"] if reasons != case.reasons else [])]
    return wrong


def in_c(cases):
    compiler, wrong = shutil.which("cc"), []
    with tempfile.TemporaryDirectory() as folder:
        given = [(case.model.export("c"), case, case.rows(), case.kinds) for case in cases]
        answers = c(compiler, Path(folder), given, ["-O0"])
    for case, (found, texts) in zip(cases, answers, strict=True):
        problems = told(case, [row[0] for row in found], [row[1] for row in found], True, 1e-15)
        reasons = [{texts[k] for k in fired} for _, _, fired in found]
        wrong += [(case.number, what) for what in problems + (["reasons"] if reasons != case.reasons else [])]
    return wrong


def in_sqlite(cases):
    wrong = []
    for case in cases:
        if case.several and {"true", "false"} & {name.lower() for name in case.used}:
            # SQLite loses columns with these names, so that there is no such query.
            wrong += [] if refused(case, "sqlite cannot hold the name") else [(case.number, "no refusal")]
            continue
        # A column that the model does not use would have another name in the answer.
        frame = case.frame[[name for name in case.frame if name in case.used or name.lower() not in ("true", "false")]]
        connection = with_mathematics()
        fill_sqlite(connection, TABLE, records(frame, case.kinds, plain))
        query = case.model.export("sql", dialect="sqlite", table=f'"{TABLE.replace(chr(34), chr(34) * 2)}"')
        scores, predictions, _ = sql(connection, query, case, list(frame))
        wrong += [(case.number, what) for what in told(case, scores, predictions, False, 1e-12)]
        connection.close()
    return wrong


def refused(case, message):
    try:
        case.model.export("sql", dialect="sqlite")
    except ValueError as error:
        return message in str(error)
    return False


def in_duckdb(cases):
    import duckdb

    wrong = []
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for case in cases:
        fill_duckdb(connection, TABLE, records(case.frame, case.kinds, plain))
        quoted = f'"{TABLE.replace(chr(34), chr(34) * 2)}"'
        cursor = connection.execute(case.model.export("sql", dialect="duckdb", table=quoted))
        names, found = [column[0] for column in cursor.description], cursor.fetchall()
        scores, predictions, _ = in_columns(names, found, case, list(case.frame))
        wrong += [(case.number, what) for what in told(case, scores, predictions, False, 1e-12)]
        connection.execute(f"DROP TABLE {quoted}")
    return wrong


def in_onnx(cases):
    wrong = []
    for case in cases:
        found, _ = onnx(case.model.export("onnx"), case.frame, plain)
        predictions = found["probabilities" if case.labels else "prediction"]
        assert found["score"].shape[0] == ROWS
        wrong += [(case.number, what) for what in told(case, found["score"], predictions, False, 1e-12)]
    return wrong


TARGETS = {
    "python": in_python,
    "javascript": in_javascript,
    "c": in_c,
    "sqlite": in_sqlite,
    "duckdb": in_duckdb,
    "onnx": in_onnx,
}


def missing(target):
    """What this machine lacks to run a target; nothing if it has all."""
    import importlib.util

    programs = {"javascript": "node", "c": "cc"}
    packages = {"duckdb": "duckdb", "onnx": "onnxruntime"}
    if target in programs and shutil.which(programs[target]) is None:
        return programs[target]
    if target in packages and importlib.util.find_spec(packages[target]) is None:
        return packages[target]
    if target == "sqlite" and with_mathematics() is None:
        return "mathematical functions of SQLite"
    return None
