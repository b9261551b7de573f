"""The exported ES module in Node, on 10,000 rows: scores to the bit, reasons as `explain` has them."""

import numpy as np
import pytest
from export_cases import CHANGES, MODELS, case, close, ordered, rows, same_bits
from export_parity import javascript, number, values
from export_tools import program, run


def evaluate(folder, text):
    (told,) = javascript(program("node", "JavaScript"), folder, [text], [rows()])
    return told


@pytest.mark.parametrize("name", MODELS)
def test_numbers_and_reasons_are_those_of_the_engine(name, tmp_path):
    wanted = case(name)
    told = evaluate(tmp_path, wanted.model.export("javascript"))
    assert same_bits([values(t[0], wanted.labels) for t in told], wanted.scores)
    found = np.array([values(t[1], wanted.labels) for t in told])
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
    assert not same_bits([values(t[0], []) for t in told], wanted.scores)


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
