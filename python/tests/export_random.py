"""Random models and rows: every kind of column, condition, trend and loss; names and values that are hard to write."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

import orthorules

ROWS = 40
EXPOSURE, OFFSET = "exposure 'e'", 'offset "o"'
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
NAMES = [
    'a"b', "x;--", "größe 日本", "two\nlines*/", "<![CDATA[ ]]>", "select", "it's `quoted` \\", "flag", "size <= ?",
    "order_date.month", "when.hour", "row", "value", "number", "text", "truth", "_text", "math", "fired", "label",
    "double", "M_PI", "I", "NULL", "NAN", "isnan", "INFINITY", "exp", "strlen", "None", "lambda", "constructor",
    "__proto__", "hasOwnProperty", "Number", "Math", "rule_0", "trend_0", "orthorules_is", "data", "scored", "1st",
    "a b", "a-b", "a_b", "${home}", "%s", "??/", "\\n", "x" * 60, "é", "é", "emoji 🙂", "true", "rowid", "reason",
    "</script>", "holds", "\ttab", "linux", "errno", "signgam", "OVERFLOW", "FP_NAN", "this", "_", "__", "-", "'", "`",
]  # fmt: skip
LEVELS = [
    "it's", 'say "x"', "x;--", "*/", "<![CDATA[", "new\nline", "back\\slash", "${home}", "日本", "??/", "a & b", "3",
    "lo", "Lo", "LO", "lo ng", "0", "1", "-1.5", "yes", "no", "é", "🙂", "\\", "'", '"', "`", "</script>", "%d", "\\n",
    "constructor", "a,b", "[x]", "{y}", "tab\tinside",
]  # fmt: skip
TASKS = ["squared", "logistic", "identity", "poisson", "gamma", "shared", "one_vs_rest"]


@dataclass
class RandomCase:
    """A model, rows for it and what the engine says of them."""

    number: int
    model: object
    document: dict  # the model's file
    kinds: dict  # of every column of the frame, numbers of exposures and offsets included
    frame: pd.DataFrame
    used: list  # the columns that are read, in order
    labels: list
    scores: np.ndarray
    predictions: np.ndarray
    reasons: list  # for each row, the texts of the rules that apply to it

    @property
    def several(self):
        return self.scores.shape[1] > 1

    def rows(self):
        """The rows as dictionaries; missing values are absent, None or NaN by turns."""
        columns = [[plain(v) for v in self.frame[name].tolist()] for name in self.frame]
        found = []
        for i, values in enumerate(zip(*columns, strict=True)):
            row = dict(zip(self.frame, values, strict=True))
            if i % 3 == 0:
                row = {name: value for name, value in row.items() if value is not None}
            elif i % 3 == 1:
                row = {name: math.nan if value is None else value for name, value in row.items()}
            found.append(row)
        return found


def plain(value):
    if value is None or value is pd.NA:
        return None
    return None if value != value else value


class Draw:
    """One random model."""

    names, levels = NAMES, LEVELS

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def chance(self, share):
        return self.random.random() < share

    def one(self, things):
        return things[int(self.random.integers(len(things)))]

    def some(self, things, least, most):
        count = int(self.random.integers(least, min(most, len(things)) + 1))
        return [things[i] for i in self.random.permutation(len(things))[:count]]

    def number(self):
        drawn = [
            lambda: float(self.random.integers(-9, 10)),
            lambda: float(np.round(self.random.normal() * 40, 2)),
            lambda: float(self.random.normal() * 40),
            lambda: self.one([0.1 + 0.2, 1 / 3, 1e-7, -1e-7, 123456.789, 1e15 + 0.5, -0.0, 2.0**53 + 2, 1e-300, 1e300]),
        ]
        return self.one(drawn[:3] if self.chance(0.85) else drawn)()

    def columns(self):
        names, seen = [], set()
        for name in self.some(self.names, 1, 6):
            if name.casefold() not in seen:
                names.append(name)
                seen.add(name.casefold())
        # Now and then all columns are of one kind, so that an export needs nothing for the others.
        kinds = ["numeric", "categorical", "ordered", "boolean", "weekday"]
        kinds = [self.one(kinds)] if self.chance(0.3) else kinds
        found = []
        for name in names:
            kind = self.one(kinds)
            if kind == "weekday":
                found.append({"name": f"{name}.weekday", "kind": "ordered", "levels": WEEKDAYS})
            elif kind == "numeric":
                found.append({"name": name, "kind": kind} | self.special())
            elif kind == "boolean":
                found.append({"name": name, "kind": kind, "levels": ["false", "true"]})
            else:
                levels = self.some(self.levels, 2, 8)
                found.append({"name": name, "kind": kind, "levels": sorted(levels) if kind[0] == "c" else levels})
        return found

    def special(self):
        """Numbers of a column that stand for words."""
        if self.chance(0.6):
            return {}
        numbers = {x for x in self.some([-9.0, -8.0, 0.0, 3.0, 1 / 3, 0.1 + 0.2, 1e15 + 0.5, self.number()], 1, 3)}
        names = self.some(["refused", 'it\'s "not" known', "a */ b", "日本", "not asked", "-- ;"], 3, 3)
        return {"special": [{"value": x, "name": name} for x, name in zip(sorted(numbers), names, strict=False)]}

    def condition(self, column):
        name, kind = column["name"], column["kind"]
        if column.get("special") and self.chance(0.4):
            named = self.one(column["special"])["name"]
            return {"column": name, "op": self.one(["is", "is not"]), "value": named}
        signs = {"numeric": ["<=", ">="] * 3, "ordered": ["<=", ">=", "=", "!=", "in", "not in"]}
        op = self.one([*signs.get(kind, ["=", "!=", "in", "not in"]), "missing", "present"])
        if op in ("missing", "present"):
            return {"column": name, "op": op}
        if kind == "numeric":
            return {"column": name, "op": op, "value": self.number()}
        if op in ("in", "not in"):
            levels = self.some(column["levels"], 1, 5)
            if kind == "categorical" and self.chance(0.2):
                levels.append("never seen")
            return {"column": name, "op": op, "value": levels}
        return {"column": name, "op": op, "value": self.one(column["levels"])}

    def trend(self, column):
        low, high = sorted([self.number(), self.number()])
        # Ends that differ by little beside their size would make a slope of rounding alone.
        if not (low < high and abs(low) < 1e6 and abs(high) < 1e6):
            low, high = -3.5, 17.25
        middle = low + (high - low) * self.random.random()
        zero = self.one([low, high, middle if low < middle < high else low])
        per = self.one([1.0, 10.0, 0.7, 1 / 3, float(high - low)])
        trend = {"column": column["name"], "from": low, "to": high, "zero": zero, "per": per}
        return {"conditions": [], "trend": trend}

    def rules(self, columns, trends):
        numeric = [c for c in columns if c["kind"] == "numeric"]
        found = []
        for _ in range(int(self.random.integers(0 if self.chance(0.1) else 1, 9))):
            if trends and numeric and self.chance(0.35):
                found.append(self.trend(self.one(numeric)))
            else:
                chosen = [self.one(columns) for _ in range(int(self.random.integers(1, 4)))]
                found.append({"conditions": [self.condition(c) for c in chosen]})
        return list({json.dumps(r): r for r in found}.values())

    def size(self, rules, scale):
        members = list(range(len(rules)))
        if members and self.chance(0.3):
            members = self.some(members, 1, len(members))
        weights = (self.random.normal(size=len(members)) * scale).tolist()
        intercept = self.random.normal() * scale
        about = {"rules": len(members), "intercept": intercept, "weights": weights, "train_risk": 1.0}
        return about | ({} if members == list(range(len(members))) else {"members": members})

    def document(self):
        task = self.one(TASKS)
        columns, scale = self.columns(), self.one([0.05, 0.3, 1.0])
        about = {"format": "orthorules-model", "version": 3, "columns": columns, "target": self.one(["y", 'y */ "\n'])}
        loss = task if task in ("squared", "poisson", "gamma") else "logistic"
        about |= {"loss": loss, "task": {"squared": "regression", "logistic": "classification"}.get(loss, loss)}
        labels = self.some(["a\"b'", "select", "日本 */", "no\n*/", "it's `\"\\${x}", "1", "0"], 3, 5)
        if task in ("poisson", "gamma") and self.chance(0.5):
            about["exposure"] = EXPOSURE
        if loss != "logistic" and self.chance(0.3):
            about["offset"] = OFFSET
        if task == "identity":
            about["link"] = "identity"
        if task == "one_vs_rest":
            parts = []
            for label in labels:
                rules = self.rules(columns, trends=True)
                size = self.size(rules, scale)
                parts.append({"class": label, "rules": rules, "path": [size], "chosen": size["rules"]})
            return about | {"classes": labels, "one_vs_rest": parts}
        rules = self.rules(columns, trends=task != "shared")
        if task == "shared":
            weights = self.random.normal(0, scale, (len(rules) + 1, len(labels))).tolist()
            size = {"rules": len(rules), "intercepts": weights[0], "weights": weights[1:], "train_risk": 1.0}
            about |= {"multiclass": "shared"}
        else:
            labels, size = labels[:2], self.size(rules, scale)
        if loss == "logistic":
            about["classes"] = labels
        return about | {"rules": rules, "path": [size], "chosen": size["rules"]}

    def values(self, column, document):
        if column["kind"] == "numeric":
            lists = [document, *document.get("one_vs_rest", [])]
            ends = []
            for r in (r for each in lists for r in each.get("rules", [])):
                own = [c for c in r["conditions"] if c["column"] == column["name"] and "value" in c]
                ends += [c["value"] for c in own if not isinstance(c["value"], str)]
                if r.get("trend", {}).get("column") == column["name"]:
                    ends += [r["trend"][end] for end in ("from", "to", "zero")]
            beside = [x for t in ends for x in (t, t, math.nextafter(t, -math.inf), math.nextafter(t, math.inf))]
            special = [math.nan, math.nan, math.inf, -math.inf, -0.0, 0.0, 1e300, 3.0, *beside]
            special += [code["value"] for code in column.get("special", [])] * 3
            return [self.one(special) if self.chance(0.5) else self.number() for _ in range(ROWS)]
        if column["kind"] == "boolean":
            return pd.array([self.one([True, False, None]) for _ in range(ROWS)], dtype="boolean")
        levels = column["levels"]
        others = ["unseen", "", "  ", None, None, f" {levels[0]} ", levels[0].upper(), "never seen"]
        return np.array([self.one(levels) if self.chance(0.7) else self.one(others) for _ in range(ROWS)], dtype=object)


def draw(number, seed=1, kind=Draw):
    """A random model, its rows and what the engine says of them."""
    by = kind([seed, number])
    document = by.document()
    model = orthorules.from_json(json.dumps(document))
    features = pd.DataFrame({c["name"]: by.values(c, document) for c in document["columns"]})
    frame, engine = features.copy(), model._model
    exposure = offset = None
    if engine.exposure:
        frame[EXPOSURE] = exposure = by.random.choice([0.25, 1.0, 2.0, 3.5], ROWS)
    if engine.offset:
        frame[OFFSET] = offset = by.random.choice([-1.5, 0.1 + 0.2, -0.0, 2.0], ROWS)
    applied = model._apply(features, exposure, offset)
    scores = np.array(applied.scores(engine.chosen)).T
    kinds = {c["name"]: "categorical" if c["kind"] == "ordered" else c["kind"] for c in document["columns"]}
    kinds |= {name: "numeric" for name in frame if name not in kinds}
    predictions = applied.predict(engine.chosen).reshape(ROWS, -1)
    reasons, used = [set() for _ in range(ROWS)], set()
    lists = document.get("one_vs_rest", [document])
    for e, part in enumerate(engine.parts(engine.chosen)):
        # Where classes share their rules there is one list.
        described = lists[min(e, len(lists) - 1)]["rules"]
        for k in part.size.members:
            for i in np.flatnonzero(applied.fires(e, k)):
                reasons[i].add(part.rules[k].text)
            used.update(c["column"] for c in described[k]["conditions"])
            used.update({described[k]["trend"]["column"]} if "trend" in described[k] else ())
    columns = [c["name"] for c in document["columns"] if c["name"] in used]
    columns += [name for name in (engine.exposure, engine.offset) if name]
    labels = list(engine.classes)
    return RandomCase(number, model, document, kinds, frame, columns, labels, scores, predictions, reasons)
