"""The exported ES module in Node, on 10,000 rows: scores to the bit, reasons as `explain` has them."""

import json
import math
import struct

import numpy as np
import pytest
from export_cases import CHANGES, MODELS, case, close, ordered, rows, same_bits
from export_tools import program, run

# Numbers that JSON does not have arrive as text, and results leave as bits.
DRIVER = r"""
import { readFileSync, writeFileSync } from "node:fs";
const { score, predict, reasons } = await import(process.argv[2]);
const odd = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity, "-0": -0, undefined: undefined };
const entry = ([name, value]) => [name, value !== null && typeof value === "object" ? odd[value.odd] : value];
const rows = JSON.parse(readFileSync(process.argv[3], "utf8")).map((row) => Object.fromEntries(row.map(entry)));
const bits = (x) => Buffer.from(new Float64Array([x]).buffer).toString("hex");
const pairs = (value) => Object.entries(value).map(([k, v]) => [k, bits(v)]);
const numbers = (value) => (typeof value === "number" ? bits(value) : pairs(value));
const told = rows.map((row) => [numbers(score(row)), numbers(predict(row)),
  reasons(row).map(([text, by]) => [text, numbers(by)])]);
writeFileSync(process.argv[4], JSON.stringify(told));
"""


def cell(value):
    if isinstance(value, float) and (not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)):
        names = {math.inf: "Infinity", -math.inf: "-Infinity", 0.0: "-0"}
        return {"odd": names.get(value, "NaN")}
    return value


def evaluate(folder, text):
    node = program("node", "JavaScript")
    (folder / "model.mjs").write_text(text, "utf-8")
    (folder / "driver.mjs").write_text(DRIVER, "utf-8")
    # Pairs, because JSON.parse would make a prototype of a property with that name.
    encoded = [[[name, cell(value)] for name, value in row.items()] for row in rows()]
    (folder / "rows.json").write_text(json.dumps(encoded), "utf-8")
    run([node, "driver.mjs", folder / "model.mjs", "rows.json", "told.json"], cwd=folder)
    return json.loads((folder / "told.json").read_text("utf-8"))


def number(bits):
    return struct.unpack("<d", bytes.fromhex(bits))[0]


def values(case, found, labels):
    if isinstance(found, str):
        return [number(found)]
    by = {label: number(bits) for label, bits in found}
    assert set(by) == set(labels)
    return [by[label] for label in labels]


@pytest.mark.parametrize("name", MODELS)
def test_numbers_and_reasons_are_those_of_the_engine(name, tmp_path):
    wanted = case(name)
    told = evaluate(tmp_path, wanted.model.export("javascript"))
    assert same_bits([values(wanted, t[0], wanted.labels) for t in told], wanted.scores)
    found = np.array([values(wanted, t[1], wanted.labels) for t in told])
    # JavaScript has an exponential of its own.
    with np.errstate(invalid="ignore"):
        apart = np.abs(found - wanted.predictions)
        near = (found == wanted.predictions) | (apart <= 1e-15 * np.abs(wanted.predictions))
    assert near.all() and close(found, wanted.predictions, 1e-15)
    for (_, _, reasons), expected in zip(told, wanted.reasons, strict=True):
        if wanted.several:
            found = {(text, label): number(bits) for text, by in reasons for label, bits in by}
            sizes = [max(abs(number(bits)) for _, bits in by) for _, by in reasons]
        else:
            found = {(text, None): number(bits) for text, bits in reasons}
            sizes = [number(bits) for _, bits in reasons]
        assert found == expected and ordered(sizes)


@pytest.mark.parametrize(("name", "number", "other"), CHANGES)
def test_a_changed_number_is_noticed(name, number, other, tmp_path):
    wanted = case(name)
    text = wanted.model.export("javascript")
    spoiled = text.replace(str(number), str(other))
    assert spoiled != text
    told = evaluate(tmp_path, spoiled)
    assert not same_bits([values(wanted, t[0], []) for t in told], wanted.scores)


def test_null_is_no_zero_and_text_no_number(tmp_path):
    node = program("node", "JavaScript")
    (tmp_path / "model.mjs").write_text(case("regression").model.export("javascript"), "utf-8")
    check = """
    import assert from "node:assert";
    import { score } from "./model.mjs";
    const names = ['a"b', "select", "it's `quoted` \\\\"];
    for (const name of names) {
      assert.strictEqual(score({ [name]: null }), score({}));
      assert.strictEqual(score({ [name]: undefined }), score({}));
      assert.strictEqual(score({ [name]: 30n }), score({ [name]: 30 }));
      assert.strictEqual(score({ [name]: "30" }), score({ [name]: 30 }));
      for (const wrong of ["", "thirty"]) assert.throws(() => score({ [name]: wrong }), /needs a number/);
    }
    assert.notStrictEqual(score({ 'a"b': 30 }), score({}));
    assert.strictEqual(score({ flag: true }), score({ flag: 1 }));
    assert.strictEqual(score(Object.create({ 'a"b': 30 })), score({}));
    """
    (tmp_path / "check.mjs").write_text(check, "utf-8")
    run([node, "check.mjs"], cwd=tmp_path)
