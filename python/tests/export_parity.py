"""Runs exported models on rows of any table, and says what they answer. Tests and experiments share it."""

import json
import math
import re
import sqlite3
import struct

import numpy as np
from export_tools import run

# ---- Python ----


def module(text):
    """What an import of the module would define. It may import `math` and nothing else."""

    def only_math(name, *_):
        assert name == "math"
        return __import__(name)

    space = {"__builtins__": {**vars(__import__("builtins")), "__import__": only_math}}
    exec(compile(text, "exported.py", "exec"), space)
    return space


# ---- JavaScript ----

# Several models and their rows. Numbers that JSON does not have arrive as text, and results leave as bits.
MODULE_DRIVER = r"""
import { readFileSync, writeFileSync } from "node:fs";
const odd = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity, "-0": -0, undefined: undefined };
const entry = ([name, value]) => [name, value !== null && typeof value === "object" ? odd[value.odd] : value];
const bits = (x) => Buffer.from(new Float64Array([x]).buffer).toString("hex");
const pairs = (value) => Object.entries(value).map(([k, v]) => [k, bits(v)]);
const numbers = (value) => (typeof value === "number" ? bits(value) : pairs(value));
const told = [];
for (const [path, given] of JSON.parse(readFileSync("given.json", "utf8"))) {
  const { score, predict, reasons } = await import(path);
  const rows = given.map((row) => Object.fromEntries(row.map(entry)));
  told.push(rows.map((row) => [numbers(score(row)), numbers(predict(row)),
    reasons(row).map(([text, by]) => [text, numbers(by)])]));
}
writeFileSync("told.json", JSON.stringify(told));
"""


def _cell(value):
    if isinstance(value, float) and (not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)):
        names = {math.inf: "Infinity", -math.inf: "-Infinity", 0.0: "-0"}
        return {"odd": names.get(value, "NaN")}
    return value


def javascript(node, folder, texts, tables):
    """For each module and its rows what they say: scores, predictions and reasons, numbers as bits."""
    given = []
    for i, (text, rows) in enumerate(zip(texts, tables, strict=True)):
        (folder / f"model{i}.mjs").write_text(text, "utf-8")
        # Pairs, because JSON.parse would make a prototype of a property with that name.
        given.append([f"./model{i}.mjs", [[[name, _cell(value)] for name, value in row.items()] for row in rows]])
    (folder / "driver.mjs").write_text(MODULE_DRIVER, "utf-8")
    (folder / "given.json").write_text(json.dumps(given), "utf-8")
    run([node, "driver.mjs"], cwd=folder)
    return json.loads((folder / "told.json").read_text("utf-8"))


def number(bits):
    return struct.unpack("<d", bytes.fromhex(bits))[0]


def values(found, labels):
    """The numbers in what a module of JavaScript says of a row, in the order of the labels."""
    if isinstance(found, str):
        return [number(found)]
    by = {label: number(bits) for label, bits in found}
    assert set(by) == set(labels)
    return [by[label] for label in labels]


# ---- C ----

WARNINGS = "-std=c99 -Wall -Wextra -Werror -Wpedantic -Wno-overlength-strings".split()
SANITIZED = "-O2 -g -fsanitize=address,undefined".split()

# Reads rows as doubles and texts with their lengths in front, writes scores, predictions and the rules that fired. The
# headers of the models come first, so that names of a model may be macros while it is included.
DRIVER = """
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *text(void)
{
    int length;
    char *found;
    if (fread(&length, sizeof length, 1, stdin) != 1) exit(3);
    if (length < 0) return NULL;
    found = malloc((size_t)length + 1);
    if (fread(found, 1, (size_t)length, stdin) != (size_t)length) exit(3);
    found[length] = 0;
    return found;
}
static double number(void)
{
    double found;
    if (fread(&found, sizeof found, 1, stdin) != 1) exit(3);
    return found;
}
%(parts)s
int main(void)
{
    (void)text;
    (void)number;
    %(runs)s
    return 0;
}
"""

# One of several models, whose names are its own.
PART = """
%(own)s
#include "model%(place)d.c"
static void run%(place)d(void)
{
    int i, count, fired[ORTHORULES_RULES + 1];
    double numbers[%(scores)d];
    for (i = 0; i < %(rows)d; i++) {
        orthorules_row row = { 0 };
        %(calls)s
        count = orthorules_fired(&row, fired);
        fwrite(&count, sizeof count, 1, stdout);
        fwrite(fired, sizeof *fired, (size_t)count, stdout);
        %(frees)s
    }
    for (i = 0; i < ORTHORULES_RULES; i++) printf("%%s%%c", orthorules_texts[i], 0);
}
%(no_longer)s
"""


def names_of_fields(text):
    """The fields of the struct, in order."""
    body = text.split("typedef struct {")[1].split("} orthorules_row;")[0]
    declared = [line.split(";")[0].strip() for line in body.strip().splitlines()]
    return [field.split()[-1].lstrip("*") for field in declared]


def _encoded(rows, used, kinds):
    """The rows as the program reads them."""
    parts = []
    for row in rows:
        for name in used:
            value = row.get(name)
            if kinds.get(name, "numeric") == "numeric":
                parts.append(struct.pack("<d", math.nan if value is None else value))
            elif value is None or value != value:
                parts.append(struct.pack("<i", -1))
            else:
                spelled = str(value).encode() if isinstance(value, str) else (b"true" if value else b"0")
                parts.append(struct.pack("<i", len(spelled)) + spelled)
    return b"".join(parts)


def _part(place, text, case, rows, kinds):
    """The C of a model and what calls it."""
    fields = names_of_fields(text)
    is_number = [kinds.get(name, "numeric") == "numeric" for name in case.used]
    scores = case.scores.shape[1]
    if case.several:
        calls = "orthorules_score(&row, numbers); fwrite(numbers, sizeof *numbers, {0}, stdout);"
        calls += "orthorules_predict(&row, numbers); fwrite(numbers, sizeof *numbers, {0}, stdout);"
    else:
        calls = "numbers[0] = orthorules_score(&row); fwrite(numbers, sizeof *numbers, 1, stdout);"
        calls += "numbers[0] = orthorules_predict(&row); fwrite(numbers, sizeof *numbers, 1, stdout);"
    reads = ["number()" if number else "text()" for number in is_number] or ["0"]
    frees = [f"free((char *)row.{field});" for field, number in zip(fields, is_number, strict=False) if not number]
    # The order of evaluation of an initializer is not fixed, that of assignments is.
    assigned = " ".join(f"row.{field} = {read};" for field, read in zip(fields, reads, strict=True))
    own = sorted(set(re.findall(r"\b(?:orthorules_[a-z]+|rule_\d+|trend_\d+)\b", text)))
    defined = sorted(set(re.findall(r"^#define (\w+)", text, re.MULTILINE)))
    return PART % {
        "place": place,
        "own": "\n".join(f"#define {name} own{place}_{name}" for name in own),
        "no_longer": "\n".join(f"#undef {name}" for name in [*own, *defined]),
        "scores": scores,
        "rows": len(rows),
        "calls": assigned + calls.format(scores),
        "frees": " ".join(frees),
    }


def c(compiler, folder, given, flags):
    """For each text, case, rows and kinds: scores, predictions and the places of the rules that fired, row by row; and
    the texts of the rules. All models are in one program."""
    parts = []
    for place, (text, case, rows, kinds) in enumerate(given):
        (folder / f"model{place}.c").write_text(text, "utf-8")
        parts.append(_part(place, text, case, rows, kinds))
    runs = "\n    ".join(f"run{place}();" for place in range(len(given)))
    (folder / "driver.c").write_text(DRIVER % {"parts": "".join(parts), "runs": runs}, "utf-8")
    # Each by itself with every warning; then in a program.
    files = [f"model{place}.c" for place in range(len(given))]
    run([compiler, *WARNINGS, *flags, "-fsyntax-only", *files], cwd=folder)
    unset = "-Wno-missing-field-initializers"
    run([compiler, *WARNINGS, *flags, unset, "driver.c", "-o", "driver", "-lm"], cwd=folder)
    encoded = b"".join(_encoded(rows, case.used, kinds) for _, case, rows, kinds in given)
    output = run([folder / "driver"], input=encoded, cwd=folder)
    at, answers = 0, []
    for text, case, rows, _ in given:
        scores, found = case.scores.shape[1], []
        for _ in rows:
            numbers = struct.unpack_from(f"<{2 * scores}d", output, at)
            at += 16 * scores
            (count,) = struct.unpack_from("<i", output, at)
            found.append((numbers[:scores], numbers[scores:], struct.unpack_from(f"<{count}i", output, at + 4)))
            at += 4 + 4 * count
        rules = int(text.split("#define ORTHORULES_RULES ")[1].split()[0])
        *texts, _ = output[at:].split(b"\0", rules)
        at += sum(len(told) + 1 for told in texts)
        answers.append((found, [told.decode() for told in texts]))
    assert at == len(output)
    return answers


# ---- SQL ----


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def records(frame, kinds, plain):
    """The rows with a number each, None where a value is missing; NaN stays what it is."""
    odd = np.arange(len(frame)) % 2 == 0
    columns = [range(len(frame))]
    for name in frame:
        cells = [plain(v) for v in frame[name].tolist()]
        if kinds[name] == "numeric":
            # A missing number is NULL in one row and NaN in the next.
            cells = [math.nan if v is None and o else v for v, o in zip(cells, odd, strict=True)]
        columns.append(cells)
    return ["id", *frame], ["id", *(kinds[name] for name in frame)], list(zip(*columns, strict=True))


def fill_sqlite(connection, table, recorded):
    """Makes a table of records."""
    names, kinds, rows = recorded
    types = {"id": "INTEGER", "numeric": "REAL", "boolean": "BOOLEAN", "categorical": "TEXT"}
    columns = ", ".join(f"{quoted(n)} {types[k]}" for n, k in zip(names, kinds, strict=True))
    connection.execute(f"CREATE TABLE {quoted(table)} ({columns})")
    connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' * len(names))})", rows)


def fill_duckdb(connection, table, recorded):
    """Makes a table of records."""
    import pyarrow as pa

    names, kinds, rows = recorded
    types = {"id": "INTEGER", "numeric": "DOUBLE", "boolean": "BOOLEAN", "categorical": "VARCHAR"}
    columns = ", ".join(f"{quoted(n)} {types[k]}" for n, k in zip(names, kinds, strict=True))
    connection.execute(f"CREATE TABLE {quoted(table)} ({columns})")
    arrow = {"id": pa.int32(), "numeric": pa.float64(), "boolean": pa.bool_(), "categorical": pa.string()}
    columns = zip(zip(*rows, strict=True), kinds, strict=True)
    arrays = [pa.array(cells, arrow[kind], from_pandas=False) for cells, kind in columns]
    filled = pa.table(arrays, names=names)
    connection.execute(f"INSERT INTO {quoted(table)} SELECT * FROM filled")
    del filled


def with_mathematics():
    """A connection to SQLite; None if it has no mathematical functions."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT exp(1.0)")
    except sqlite3.OperationalError:
        return None
    return connection


def sql(connection, query, case, columns):
    """Scores and predictions by the number of the row, and the cells with reasons."""
    cursor = connection.execute(query)
    names, found = [column[0] for column in cursor.description], cursor.fetchall()
    return in_columns(names, found, case, columns)


def in_columns(names, found, case, columns):
    """What a query returned, taken apart."""
    assert names[: len(columns) + 1] == ["id", *columns]
    found = sorted(found, key=lambda row: row[0])
    assert [row[0] for row in found] == list(range(len(found)))
    added = names[len(columns) + 1 :]
    endings = [f"_{label}" for label in case.labels] if case.several else [""]
    assert added == [*(f"score{e}" for e in endings), *(f"prediction{e}" for e in endings), "reasons"]
    count = len(endings)
    cells = [row[-len(added) :] for row in found]
    return [row[:count] for row in cells], [row[count : 2 * count] for row in cells], [row[-1] for row in cells]


# ---- ONNX ----


def onnx(data, frame, plain):
    """The outputs of a graph by their names, and what it says of itself."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    inputs = {}
    # One column for each input: text without blanks around it, "" where it is missing.
    for wanted in session.get_inputs():
        cells = frame[wanted.name]
        if wanted.type == "tensor(double)":
            column = cells.to_numpy(dtype=np.float64)
        else:
            spelled = ["" if v is None else str(v).strip() for v in map(plain, cells)]
            column = np.array(spelled, dtype=object)
        inputs[wanted.name] = column.reshape(len(frame), 1)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True)), session.get_modelmeta()
