"""Scores that are computed from the lines that `show` prints, and from nothing else, are those of the engine."""

import math
import os
import re

import numpy as np
import pytest
from export_random import Draw, draw, plain

COUNT = 150
TRAINED = 100
NAMES = ["age", "x1", "home state", "größe", "date.month", "late fee", "is_new", "if", "unless x", "below", "in"]
LEVELS = ["low", "mid", "high", "2", "1.5", "no", "New York", "日本", "a-b", "missing", "in", "a,b", "{x", "<= 3", "x}"]
NUMBER = r"[+-]\d[\d.]*(?:e-?\d+)?"
LINE = re.compile(rf"\s*((?:{NUMBER}\s+)+)((?:×\S+\s+)?)((?:if|unless|always|per|for each)\b.*)$")
COVERED = re.compile(r"\s{2,}\d+\s+[<>]?\d+%$")
# How far a number may be from what is printed of it with three digits.
PRECISION = 0.00502


class Told(Draw):
    """A random model that knows how many training rows each rule covers, so that exceptions are named."""

    names, levels = NAMES, LEVELS

    def document(self):
        document = super().document()
        for about in ("exposure", "offset"):
            document.pop(about, None)
        document |= {"rows": TRAINED, "target": "y"}
        for column in document["columns"]:
            column["missing"] = self.one([0, 0, 7])
        for part in document.get("one_vs_rest", [document]):
            for rule in part["rules"]:
                rule["covered"] = int(self.random.integers(1, TRAINED))
        return document

    def values(self, column, document):
        found = [plain(value) for value in super().values(column, document)]
        if column["missing"] == 0:
            # An exception takes for granted that there is a value, as there was in training.
            usual = {"numeric": 2.5, "boolean": True}.get(column["kind"], column.get("levels", [""])[0])
            found = [usual if value is None or not str(value).strip() else value for value in found]
        if column["kind"] == "numeric":
            return np.array([math.nan if value is None else value for value in found])
        return np.array(found, dtype=object)


def bare(text):
    """A name or a level without its quotes; none here has any inside."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


class Reader:
    """Reads conditions as a person does who knows the columns."""

    def __init__(self, document):
        self.columns = {column["name"]: column for column in document["columns"]}

    def cell(self, row, name):
        """A number, a level, or None."""
        value = row.get(name)
        if value is None or value != value:
            return None
        if self.columns[name]["kind"] == "numeric":
            return float(value)
        return str(value).lower() if isinstance(value, bool) else str(value).strip() or None

    def code(self, row, name):
        """What a number stands for, if it is a special code."""
        codes = self.columns[name].get("special", [])
        return next((code["name"] for code in codes if code["value"] == self.cell(row, name)), None)

    def place(self, name, text):
        """What is compared: a number, or the place of a level."""
        column, text = self.columns[name], bare(text)
        if column["kind"] == "numeric":
            return float(text)
        return column["levels"].index(text) if text in column["levels"] else None

    def at_most(self, name, low, high):
        places = [self.place(name, side) if isinstance(side, str) else side for side in (low, high)]
        return None not in places and places[0] <= places[1]

    def holds(self, clause, row):
        # A longer name may begin with a shorter one. In quotes stand names that could be taken for something else.
        for spelled in sorted([*self.columns, *(f'"{name}"' for name in self.columns)], key=len, reverse=True):
            name = bare(spelled)
            value = self.cell(row, name)
            if clause in (f"{spelled} missing", f"{spelled} present"):
                return (value is None) == clause.endswith("missing")
            code = self.code(row, name)
            for word in ("is not", "is"):
                if clause.startswith(f"{spelled} {word} "):
                    is_that = code == bare(clause[len(spelled) + len(word) + 2 :]).replace('\\"', '"')
                    return value is not None and not is_that if word == "is not" else is_that
            if code is not None:
                # A code is no number.
                value = None
            if f" <= {spelled} <= " in clause:
                low, high = clause.split(f" <= {spelled} <= ")
                return value is not None and self.at_most(name, low, value) and self.at_most(name, value, high)
            for sign in ("<=", ">=", "=", "!=", "in {", "not in {"):
                if not clause.startswith(f"{spelled} {sign}"):
                    continue
                rest = clause[len(spelled) + len(sign) + 1 :].removeprefix(" ")
                if value is None:
                    return False
                if sign == "<=":
                    return self.at_most(name, value, rest)
                if sign == ">=":
                    return self.at_most(name, rest, value)
                if "in" in sign:
                    quoted = r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)'
                    named = {(a or b).strip() for a, b in re.findall(quoted, rest.removesuffix("}"))}
                    return (value in named) == (sign == "in {")
                is_same = value == (float(rest) if isinstance(value, float) else bare(rest))
                return is_same == (sign == "=")
        raise AssertionError(clause)

    def steps(self, text, row):
        """How often a line counts for a row."""
        if text.startswith("always"):
            return 1.0
        if text.startswith("if "):
            return float(all(self.holds(clause, row) for clause in text[3:].split(" & ")))
        if text.startswith("unless "):
            assert " & " not in text
            return float(not self.holds(text[7:], row))
        above = re.fullmatch(r"for each (\S+) that (.*) is above (\S+), up to (\S+)", text)
        below = re.fullmatch(r"for each (\S+) that (.*) is below (\S+), down to (\S+)", text)
        line = re.fullmatch(r"per (\S+) of (.*), from (\S+) to (\S+) \(0 at (\S+)\)", text)
        per, name, *ends = (above or below or line).groups()
        x, per, ends = self.cell(row, bare(name)), float(per), [float(end) for end in ends]
        if x is None or self.code(row, bare(name)) is not None:
            return 0.0
        if above:
            return max(0.0, min(x, ends[1]) - ends[0]) / per
        if below:
            return max(0.0, ends[0] - max(x, ends[1])) / per
        return (min(max(x, ends[0]), ends[1]) - ends[2]) / per


def lists(shown, classes):
    """Of each score its lines: the weight, the factor where there is one, and the text."""
    scores, lines = [], []
    for line in shown.splitlines():
        if " complexity " in line and not line.startswith(" "):
            scores.append([])
        found = LINE.match(line)
        if found:
            weights, factor = found[1].split(), found[2].strip().removeprefix("×")
            lines.append([weights, float(factor) if factor else None, COVERED.sub("", found[3]).rstrip()])
            scores[-1].append(lines[-1])
        elif lines and lines[-1][2].endswith("&"):
            lines[-1][2] += " " + line.strip()
    if len(scores) == 1 and len(scores[0][0][0]) > 1:
        # One list with a column for each class.
        return [[(float(w[k]), factor, text) for w, factor, text in scores[0]] for k in range(classes)]
    return [[(float(w), factor, text) for (w,), factor, text in score] for score in scores]


@pytest.fixture(scope="module")
def cases():
    return [draw(number, seed=33, kind=Told) for number in range(COUNT)]


def differences(case, command, folder, spoil=lambda shown: shown):
    """Rows whose score does not follow from what is printed; and the texts that were read."""
    path = folder / "m.json"
    case.model.save(path)
    shown = spoil(command("show", path, env={**os.environ, "COLUMNS": "200"}))
    read = lists(shown, len(case.labels))
    assert len(read) == case.scores.shape[1], shown
    reader, wrong = Reader(case.document), []
    for i, row in enumerate(case.frame.to_dict("records")):
        for score, lines in zip(case.scores[i], read, strict=True):
            parts = [(weight, factor, reader.steps(text, row)) for weight, factor, text in lines]
            largest = max(abs(weight) for weight, _, _ in parts)
            doubt = sum(PRECISION * abs(weight * steps) + 1e-9 * largest * abs(steps) for weight, _, steps in parts)
            if not abs(sum(weight * steps for weight, _, steps in parts) - score) <= doubt + 1e-9:
                wrong.append((i, "score", shown))
            if case.model._model.loss in ("poisson", "gamma"):
                logarithm = sum(math.log(factor) * steps for _, factor, steps in parts)
                if not abs(logarithm - score) <= sum(PRECISION * abs(steps) for _, _, steps in parts) + 1e-9:
                    wrong.append((i, "factor", shown))
    return wrong, {text for lines in read for _, _, text in lines}


def test_the_printed_lines_give_the_score(cases, command, tmp_path):
    texts = set()
    for case in cases:
        wrong, read = differences(case, command, tmp_path)
        assert not wrong, (case.number, wrong[0][:2], case.frame.iloc[wrong[0][0]].to_dict(), wrong[0][2])
        texts |= read
    # All wordings were among them.
    wordings = [r"unless .* = ", r"unless .* in \{", r"if .* not in \{", r" <= .* <= ", r" missing", r" present"]
    wordings += [r" & ", r"is above", r"is below", r"^per ", r">= mid", r"!= ", r">= -?[\d.]+$"]
    assert not [wording for wording in wordings if not any(re.search(wording, text) for text in texts)]


CHANGED = [("+", "-"), ("<=", ">="), ("below", "above"), ("unless", "if"), ("×", "×9")]


@pytest.mark.parametrize(("said", "other"), CHANGED)
def test_a_changed_word_is_noticed(cases, command, tmp_path, said, other):
    def spoil(shown):
        lines = [line.replace(said, other, 1) if LINE.match(line) else line for line in shown.splitlines()]
        return "\n".join(lines).replace("down to", "up to" if said == "below" else "down to")

    # Words may be levels, too; so not every model needs to notice.
    noticed = 0
    for case in cases[:60]:
        try:
            noticed += bool(differences(case, command, tmp_path, spoil)[0])
        except (AssertionError, AttributeError, ValueError):
            continue
    assert noticed > 0
