"""The exported Scorecard in a PMML evaluator, on 10,000 rows."""

import json
import xml.etree.ElementTree as xml

import pytest
from export_cases import CHANGES, MODELS, ROWS, case, close, judged, plain, table
from export_tools import program

SPACE = {"p": "http://www.dmg.org/PMML-4_4"}


@pytest.fixture(scope="module")
def evaluator():
    pypmml = pytest.importorskip("pypmml", reason="SKIPPED: PMML was not run: pypmml is not installed")
    program("java", "PMML")
    return lambda text: pypmml.Model.fromString(text)


def records():
    """The rows, without what is missing; truth values as text."""
    frame = table()
    found = []
    for values in zip(*(frame[name] for name in frame), strict=True):
        row = {name: plain(value) for name, value in zip(frame, values, strict=True)}
        spell = lambda v: str(v).lower() if isinstance(v, bool) else v  # noqa: E731
        found.append({name: spell(value) for name, value in row.items() if value is not None})
    return found


# The evaluator takes milliseconds for a row: one model has all rows, the others those in front.
FRONT = 500
COUNTS = {name: ROWS if name == "logistic" else FRONT for name in MODELS}


def evaluate(evaluator, text, count):
    # JSON has no infinity, but a number that is read as one.
    rows = json.dumps(records()[:count]).replace("Infinity", "1e999")
    return json.loads(evaluator(text).predict(rows))


def names(case, what):
    return [f"{what}_{label}" for label in case.labels]


@pytest.mark.parametrize("name", MODELS)
def test_numbers_and_reasons_are_those_of_the_engine(name, evaluator):
    count = COUNTS[name]
    wanted = judged(name, table().iloc[:count])
    text = wanted.model.export("pmml")
    found = evaluate(evaluator, text, count)
    scores = names(wanted, "score") if wanted.several else ["score"]
    assert close([[row[s] for s in scores] for row in found], wanted.scores, 1e-12)
    means = names(wanted, "probability") if wanted.several else ["prediction"]
    expected = wanted.predictions if wanted.several else wanted.predictions[:, -1:]
    assert close([[row[m] for m in means] for row in found], expected, 1e-12)
    fields = xml.fromstring(text).findall(".//p:TransformationDictionary/p:DerivedField[@displayName]", SPACE)
    texts = {f"{field.get('name')}_holds": field.get("displayName") for field in fields}
    for row, reasons in zip(found, wanted.reasons, strict=True):
        assert {texts[n] for n in texts if row[n] == 1} == {text for text, _ in reasons}
        if not wanted.several:
            codes = [row.get(f"reason_{k}") for k in range(1, len(reasons) + 1)]
            codes = [code for code in codes if code not in (None, "none")]
            raising = sorted((w for w in reasons.values() if w > 0), reverse=True)
            assert [reasons[code, None] for code in codes[: len(raising)]] == raising


@pytest.mark.parametrize(("name", "number", "other"), CHANGES)
def test_a_changed_number_is_noticed(name, number, other, evaluator):
    wanted = judged(name, table().iloc[:FRONT])
    text = wanted.model.export("pmml")
    spoiled = text.replace(f">{number}</Constant>", f">{other}</Constant>")
    assert spoiled != text
    assert not close([[row["score"]] for row in evaluate(evaluator, spoiled, FRONT)], wanted.scores, 1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_the_document_holds_every_name(name):
    """What an XML reader gets back is what went in, whatever the names."""
    wanted = case(name)
    document = xml.fromstring(wanted.model.export("pmml"))
    assert [field.get("name") for field in document.findall("p:DataDictionary/p:DataField", SPACE)] == wanted.used
    assert len(document.findall(".//p:Scorecard", SPACE)) == wanted.scores.shape[1]
    cards = document.findall(".//p:Scorecard", SPACE)
    told = {a.get("reasonCode") for card in cards for a in card.findall(".//p:Attribute", SPACE)} - {"none"}
    assert told >= {text for row in wanted.reasons for text, _ in row}
