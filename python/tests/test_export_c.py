"""The exported C file, compiled with every warning and sanitizer, on 10,000 rows: scores to the bit."""

import math
import struct

import numpy as np
import pytest
from export_cases import CHANGES, KINDS, MODELS, ROWS, case, close, rows, same_bits
from export_tools import program, run

FLAGS = "-std=c99 -O2 -Wall -Wextra -Werror -Wpedantic -Wno-overlength-strings -g -fsanitize=address,undefined".split()

# Reads a row as doubles and texts with their lengths in front, writes scores, predictions and the rules that fired.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include "model.c"
%(sizes)s
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
int main(void)
{
    int i, count, fired[ORTHORULES_RULES + 1];
    double numbers[SCORES];
    (void)text;
    (void)number;
    for (i = 0; i < %(rows)d; i++) {
        orthorules_row row = { %(fields)s };
        %(calls)s
        count = orthorules_fired(&row, fired);
        fwrite(&count, sizeof count, 1, stdout);
        fwrite(fired, sizeof *fired, (size_t)count, stdout);
        %(frees)s
    }
    for (i = 0; i < ORTHORULES_RULES; i++) printf("%%s%%c", orthorules_texts[i], 0);
    return 0;
}
"""


def names_of_fields(text):
    """The fields of the struct, in order."""
    body = text.split("typedef struct {")[1].split("} orthorules_row;")[0]
    declared = [line.split(";")[0].strip() for line in body.strip().splitlines()]
    return [field.split()[-1].lstrip("*") for field in declared]


def encoded(names):
    """The rows as the program reads them."""
    parts = []
    for row in rows():
        for name in names:
            value = row.get(name)
            if KINDS.get(name, "numeric") == "numeric":
                parts.append(struct.pack("<d", math.nan if value is None else value))
            elif value is None or value != value:
                parts.append(struct.pack("<i", -1))
            else:
                spelled = str(value).encode() if isinstance(value, str) else (b"true" if value else b"0")
                parts.append(struct.pack("<i", len(spelled)) + spelled)
    return b"".join(parts)


def evaluate(folder, case, text):
    """Scores, predictions, and the texts of the rules that fired."""
    compiler = program("cc", "C")
    fields = names_of_fields(text)
    is_number = [KINDS.get(name, "numeric") == "numeric" for name in case.used]
    scores = case.scores.shape[1]
    if case.several:
        calls = "orthorules_score(&row, numbers); fwrite(numbers, sizeof *numbers, SCORES, stdout);"
        calls += "orthorules_predict(&row, numbers); fwrite(numbers, sizeof *numbers, SCORES, stdout);"
    else:
        calls = "numbers[0] = orthorules_score(&row); fwrite(numbers, sizeof *numbers, 1, stdout);"
        calls += "numbers[0] = orthorules_predict(&row); fwrite(numbers, sizeof *numbers, 1, stdout);"
    reads = ["number()" if number else "text()" for number in is_number] or ["0"]
    frees = [f"free((char *)row.{field});" for field, number in zip(fields, is_number, strict=False) if not number]
    # The order of evaluation of an initializer is not fixed, that of assignments is.
    assigned = " ".join(f"row.{field} = {read};" for field, read in zip(fields, reads, strict=True))
    driver = DRIVER % {
        "rows": ROWS,
        "sizes": f"#define SCORES {scores}",
        "fields": "0",
        "calls": assigned + calls,
        "frees": " ".join(frees),
    }
    (folder / "model.c").write_text(text, "utf-8")
    (folder / "driver.c").write_text(driver, "utf-8")
    # By itself with every warning; then in a program.
    run([compiler, *FLAGS, "-c", "model.c", "-o", "model.o"], cwd=folder)
    run([compiler, *FLAGS, "-Wno-missing-field-initializers", "driver.c", "-o", "driver", "-lm"], cwd=folder)
    output = run([folder / "driver"], input=encoded(case.used), cwd=folder)
    at, found = 0, []
    for _ in range(ROWS):
        numbers = struct.unpack_from(f"<{2 * scores}d", output, at)
        at += 16 * scores
        (count,) = struct.unpack_from("<i", output, at)
        found.append((numbers[:scores], numbers[scores:], struct.unpack_from(f"<{count}i", output, at + 4)))
        at += 4 + 4 * count
    return found, [text.decode() for text in output[at:].split(b"\0")[:-1]]


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
