"""The exported workbook, calculated by LibreOffice."""

import io
import re
import zipfile
from xml.sax.saxutils import escape

import numpy as np
import pytest
from export_cases import CHANGES, MODELS, ROWS, THRESHOLDS, case, close, judged, plain, table
from export_tools import program, run

openpyxl = pytest.importorskip("openpyxl", reason="SKIPPED: the workbook was not run: openpyxl is not installed")

# LibreOffice calculates files of others only when it is told to.
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">
<value>0</value></prop></item></oor:items>"""


def cases(rows):
    """Rows that cells can hold: no infinity, and no number that differs from a threshold in its last digit alone."""
    frame = table().iloc[:rows].copy()
    for name, thresholds in THRESHOLDS.items():
        values = frame[name].to_numpy(copy=True)
        values = np.where(np.isinf(values), np.sign(values) * 1e307, values)
        values = np.where(np.abs(values) < 1e-300, 0.0, values)
        for t in thresholds:
            values = np.where(np.isclose(values, t, rtol=1e-12, atol=1e-20), t, values)
        frame[name] = values
    return frame


def letters(number):
    found = ""
    while number:
        number, rest = divmod(number - 1, 26)
        found = chr(65 + rest) + found
    return found


def filled(data, frame, used):
    """The workbook with inputs on its first sheet, as they would be typed."""
    def cell(row, column, value):
        place = f"{letters(column)}{row}"
        if isinstance(value, bool):
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        if isinstance(value, float | int):
            return f'<c r="{place}"><v>{value!r}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'

    rows = {}
    for i, values in enumerate(zip(*(frame[name] for name in used), strict=True)):
        row = [cell(i + 2, 1, f"case {i}")]
        for k, value in enumerate(map(plain, values)):
            value = value.strip() if isinstance(value, str) else value
            if value not in (None, ""):
                row.append(cell(i + 2, k + 2, value))
        rows[i + 2] = "".join(row)
    source, target = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as changed:
        for item in source.namelist():
            content = source.read(item)
            if item == "xl/worksheets/sheet1.xml":
                text = content.decode()
                text = re.sub(r'(<row r="(\d+)"[^>]*>)', lambda m: m[1] + rows.get(int(m[2]), ""), text)
                content = text.encode()
            changed.writestr(item, content)
    return target.getvalue()


def calculated(folder, data):
    """The cells of the first sheet after LibreOffice has calculated them."""
    office = program("soffice", "the workbook")
    profile = folder / "profile" / "user"
    profile.mkdir(parents=True)
    (profile / "registrymodifications.xcu").write_text(SETTINGS, "utf-8")
    (folder / "model.xlsx").write_bytes(data)
    setting = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [office, setting, "--headless", "--convert-to", "xlsx", "--outdir", folder / "out", folder / "model.xlsx"]
    run(command, timeout=540)
    book = openpyxl.load_workbook(folder / "out" / "model.xlsx", data_only=True, read_only=True)
    header, *rows = book["Cases"].iter_rows(values_only=True)
    return [str(name) for name in header if name is not None], rows


def evaluate(folder, wanted, frame, data):
    header, rows = calculated(folder, filled(data, frame, wanted.used))
    assert header[1 : len(wanted.used) + 1] == wanted.used
    rows = rows[: len(frame)]
    first = [header.index(name) for name in header if name.startswith("score")]
    then = [header.index(name) for name in header if name.startswith("prediction")]
    scores = [[row[i] for i in first] for row in rows]
    means = [[row[i] for i in then] for row in rows]
    return scores, means, [row[header.index("reasons")] or "" for row in rows]


# One model on all rows, and one for each other way to a prediction on some.
SIZES = {"logistic": ROWS, "regression": 300, "identity": 300, "exposure": 300, "several": 300, "several_identity": 300}
SIZES |= {"offset": 300, "offset_constant": 300, "offset_counts": 300}
SIZES |= {"lines": 300, "hinges": 300, "hinge_classes": 300, "line_counts": 300, "several_trends": 300}


@pytest.mark.parametrize("name", SIZES)
def test_numbers_and_reasons_are_those_of_the_engine(name, tmp_path):
    frame = cases(SIZES[name])
    wanted = judged(name, frame)
    data = wanted.model.export("excel", cases=len(frame))
    scores, means, reasons = evaluate(tmp_path, wanted, frame, data)
    assert close(scores, wanted.scores, 1e-12)
    assert close(means, wanted.predictions if wanted.several else wanted.predictions[:, -1:], 1e-12)
    for found, expected in zip(reasons, wanted.reasons, strict=True):
        texts = {text for text, _ in expected}
        assert found == "; ".join(sorted(texts, key=wanted.sizes.get, reverse=True))


@pytest.mark.parametrize(("name", "number", "other"), CHANGES)
def test_a_changed_number_is_noticed(name, number, other, tmp_path):
    frame = cases(300)
    wanted = judged(name, frame)
    book = openpyxl.load_workbook(io.BytesIO(wanted.model.export("excel", cases=len(frame))))
    (changed,) = [c for row in book["Conditions"].iter_rows() for c in row if c.value == number]
    changed.value = other
    spoiled = io.BytesIO()
    book.save(spoiled)
    scores, _, _ = evaluate(tmp_path, wanted, frame, spoiled.getvalue())
    assert not close(scores, wanted.scores, 1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_numbers_stand_in_cells(name):
    """Every weight and threshold is a cell with all its digits, and no formula has one."""
    wanted = case(name)
    book = openpyxl.load_workbook(io.BytesIO(wanted.model.export("excel", cases=3)))
    numbers = {c.value for sheet in ("Rules", "Conditions") for row in book[sheet].iter_rows() for c in row}
    parts = wanted.model._model.parts(wanted.model._model.chosen)
    for part in parts:
        assert {part.size.intercept, *part.size.weights} <= numbers
    described = MODELS[name].get("one_vs_rest", [MODELS[name]])
    for trend in (r["trend"] for part in described for r in part["rules"] if "trend" in r):
        per = -trend["per"] if trend["zero"] == trend["to"] else trend["per"]
        assert {trend["from"], trend["to"], trend["zero"], per} <= numbers
    formulas = [c.value for sheet in book for row in sheet.iter_rows() for c in row if c.data_type == "f"]
    assert formulas and not any(re.search(r"\d\.\d", text) for text in formulas)
    assert len({len(row) for row in book["Cases"].iter_rows()}) == 1
    assert book["Cases"].max_row == 4


def test_rows_without_a_case_stay_empty(tmp_path):
    wanted = case("logistic")
    header, rows = calculated(tmp_path, wanted.model.export("excel", cases=5))
    assert all(cell in (None, "") for row in rows for cell in row)
    assert wanted.model.export("excel", cases=5) == wanted.model.export("excel", cases=5)
