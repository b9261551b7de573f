"""Models with every kind of condition and hostile names, rows of every odd value, and what the engine says of them."""

import json
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

import orthorules

ROWS = 10_000

# A threshold that stands nowhere else, so that an export can be spoiled by changing it.
SPOILED = 29.95

QUOTE, COMMENT, UNICODE, LINES = 'a"b', "x;--", "größe 日本", "two\nlines*/"
MARKUP, KEYWORD, TICKS, FLAG, DERIVED = "<![CDATA[ ]]>", "select", "it's `quoted` \\", "flag", "order_date.month"
ORDERED = "size <= ?"
YEARS = "years' \"exposure\""
KNOWN = "known; -- */ 'part'"

LEVELS = ["it's", 'say "x"', "x;--", "*/", "<![CDATA[", "new\nline", "back\\slash", "${home}"]
LEVELS += ["日本", "??/", "a & b", "3"]

COLUMNS = [
    {"name": QUOTE, "kind": "numeric"},
    {"name": COMMENT, "kind": "numeric"},
    {"name": UNICODE, "kind": "categorical", "levels": sorted(LEVELS)},
    {"name": LINES, "kind": "numeric"},
    {"name": "unused", "kind": "numeric"},
    {"name": MARKUP, "kind": "categorical", "levels": ["no", "yes"]},
    {"name": KEYWORD, "kind": "numeric"},
    {"name": TICKS, "kind": "numeric"},
    {"name": FLAG, "kind": "boolean", "levels": ["false", "true"]},
    {"name": DERIVED, "kind": "numeric"},
    {"name": ORDERED, "kind": "ordered", "levels": ["small", "it's", "large"]},
]


# What a column holds: numbers, truth values or text.
KINDS = {c["name"]: "categorical" if c["kind"] == "ordered" else c["kind"] for c in COLUMNS}


def condition(column, op, value=None):
    return {"column": column, "op": op} | ({} if value is None else {"value": value})


def rule(*conditions):
    return {"conditions": [condition(*c) for c in conditions]}


RULES = [
    rule((QUOTE, ">=", SPOILED)),
    rule((QUOTE, "<=", 1 / 3), (COMMENT, ">=", 0.1 + 0.2)),
    rule((UNICODE, "=", "it's"), (QUOTE, "present")),
    rule((UNICODE, "!=", 'say "x"')),
    rule((UNICODE, "missing")),
    rule((LINES, "missing"), (MARKUP, "!=", "no")),
    rule((MARKUP, "present"), (KEYWORD, "<=", -1e-7)),
    rule((KEYWORD, ">=", 0.0), (KEYWORD, "<=", 123456.789)),
    rule((TICKS, ">=", 5.0)),
    rule((TICKS, "<=", 5.0), (FLAG, "=", "true")),
    rule((FLAG, "!=", "true")),
    rule((FLAG, "missing"), (DERIVED, ">=", 6.0)),
    rule((DERIVED, "<=", 11.5), (DERIVED, ">=", 2.5), (UNICODE, "!=", "back\\slash"), (UNICODE, "!=", "x;--")),
    rule((ORDERED, "<=", "it's")),
    rule((ORDERED, ">=", "it's"), (DERIVED, "present")),
    rule((ORDERED, ">=", "large")),
    rule((ORDERED, "!=", "small"), (QUOTE, "missing")),
    *(rule((UNICODE, "=", level)) for level in LEVELS[1:]),
]

# Rules that name sets of levels; files of version 1 do not know them.
SETS = [
    rule((UNICODE, "in", [LEVELS[3], "it's", 'say "x"'])),
    rule((UNICODE, "not in", ["back\\slash", "x;--", LEVELS[-1]]), (QUOTE, "present")),
    rule((ORDERED, "in", ["small", "large"])),
    rule((UNICODE, "in", [f"level {i}" for i in range(40)] + [LEVELS[1]]), (MARKUP, "present")),
    rule((FLAG, "not in", ["true"]), (UNICODE, "not in", ["never seen", LEVELS[2]])),
]



def trend(column, low, high, zero, per):
    return {"conditions": [], "trend": {"column": column, "from": low, "to": high, "zero": zero, "per": per}}


# The step of a trend, which stands nowhere else either.
STEP = 12.85

# Lines through a point between their ends, and hinges that begin or end at one; two on the same column.
LINES_OF = [
    trend(QUOTE, -3.7, 61.3, 20.5, STEP),
    trend(LINES, -1e6, 1e6, 0.0, 1e4),
    trend(DERIVED, 0.1 + 0.2, 11.9, 6.1, 1 / 3),
]
HINGES = [
    trend(COMMENT, 0.1 + 0.2, 44.5, 0.1 + 0.2, 1.0),
    trend(QUOTE, -31.3, 1 / 3, 1 / 3, STEP),
    trend(QUOTE, 1 / 3, 66.6, 1 / 3, 10.0),
    trend(KEYWORD, -200.0, 0.0, 0.0, 0.7),
    trend(TICKS, 5.0, 5.5, 5.0, 100.0),
]


# Models in which one number, changed to another, must be noticed: a threshold, and the slopes of a line and of a hinge.
# That hinge goes down, and is turned when it is read: what it says is how far a value is below.
CHANGES = [("regression", SPOILED, 31.95), ("lines", STEP, 12.95), ("hinges", -STEP, -12.95)]


def numbers_of(rule, column):
    """The numbers of a rule that decide what it says of a column."""
    found = [c["value"] for c in rule["conditions"] if c["column"] == column and "value" in c]
    if rule.get("trend", {}).get("column") == column:
        found += [rule["trend"][end] for end in ("from", "to", "zero")]
    return found


THRESHOLDS = {
    column["name"]: sorted({t for r in RULES + LINES_OF + HINGES for t in numbers_of(r, column["name"])})
    for column in COLUMNS
    if column["kind"] == "numeric"
}


def document(**fields):
    return {"format": "orthorules-model", "version": 1, "columns": COLUMNS} | fields


def path(rules, seed, scale=1.0):
    """The sizes of an ensemble, the last one of chosen members."""
    random = np.random.default_rng(seed)

    def size(count, **more):
        weights = (random.normal(size=count) * scale).tolist()
        return {"rules": count, "intercept": random.normal() * scale, "weights": weights, "train_risk": 1.0} | more

    members = [k for k in reversed(range(len(rules))) if k % 7 != 3]
    return [size(0), size(3), size(len(members), members=members), size(len(rules))]


def single(seed=1, scale=1.0, chosen=len(RULES), **fields):
    return document(rules=RULES, path=path(RULES, seed, scale), chosen=chosen, **fields)


def with_sets(**fields):
    rules = SETS + RULES[:4]
    sizes = path(rules, 3)
    return document(version=2, rules=rules, path=sizes, chosen=sizes[-1]["rules"], **fields)


def with_trends(terms, scale=1.0, **fields):
    """Trends between rules."""
    rules = [term for pair in zip(terms, RULES, strict=False) for term in pair]
    sizes = path(rules, 4, scale)
    return document(version=2, rules=rules, path=sizes, chosen=sizes[-1]["rules"], **fields)


def only(*conditions):
    """A model whose rules read one column, so that an export needs nothing for any other kind."""
    rules = [rule(c) for c in conditions]
    about = {"task": "regression", "loss": "squared", "target": "y"}
    return document(rules=rules, path=path(rules, 6)[-1:], chosen=len(rules), **about)


def several(scale=1.0, terms=(), **fields):
    """Three classes, which share some rules and add them in different orders."""
    labels = ["a\"b'", "select", "日本 */"]
    ensembles = []
    for k, label in enumerate(labels):
        rules = [RULES[i] for i in np.random.default_rng(k).permutation(len(RULES))[:9]]
        rules += [RULES[0], *terms[k:]]
        rules = list({json.dumps(r): r for r in rules}.values())
        chosen = path(rules, k, scale)[-1]
        ensembles.append({"class": label, "rules": rules, "path": [chosen], "chosen": len(rules)})
    about = {"task": "classification", "loss": "logistic", "target": "kind", "classes": labels}
    return document(one_vs_rest=ensembles, **about) | fields


def shared(scale=1.0, rules=RULES, **fields):
    """Three classes with one list of rules."""
    labels = ["a\"b'", "select", "日本 */"]
    weights = np.random.default_rng(5).normal(0, scale, (len(rules) + 1, len(labels))).tolist()
    size = {"rules": len(rules), "intercepts": weights[0], "weights": weights[1:], "train_risk": 1.0}
    about = {"task": "classification", "loss": "logistic", "target": "kind", "classes": labels, "version": 2}
    listed = document(rules=rules, path=[size], chosen=len(rules), multiclass="shared", **fields)
    return listed | about


MODELS = {
    "regression": single(task="regression", loss="squared", target="y */ -- <!-- \n \"quoted\"", rows=1234),
    "members": single(task="regression", loss="squared", target="y", chosen=path(RULES, 1)[2]["rules"]),
    "constant": single(task="regression", loss="squared", target="y", chosen=0),
    "logistic": single(task="classification", loss="logistic", target="y", classes=["no\n*/", "it's `\"\\${x}"]),
    "extreme": single(task="classification", loss="logistic", target="y", classes=["0", "1"], scale=300.0),
    "identity": single(
        task="classification", loss="logistic", link="identity", target="y", classes=["__proto__", "1"], scale=0.3
    ),
    "poisson": single(task="poisson", loss="poisson", target="claims", scale=0.5),
    "exposure": single(task="poisson", loss="poisson", target="claims", exposure=YEARS, scale=0.5),
    "offset": single(version=2, task="regression", loss="squared", target="y", offset=KNOWN),
    "offset_constant": single(version=2, task="gamma", loss="gamma", target="y", offset=KNOWN, chosen=0),
    "offset_counts": with_trends(
        LINES_OF, 0.05, task="poisson", loss="poisson", target="claims", exposure=YEARS, offset=KNOWN
    ),
    "only_ordered": only((ORDERED, "<=", "it's"), (ORDERED, "=", "large")),
    "only_text": only((UNICODE, "=", "it's"), (UNICODE, "!=", "x;--")),
    "only_truth": only((FLAG, "=", "true"), (FLAG, "missing")),
    "only_numbers": only((QUOTE, ">=", SPOILED)),
    "sets": with_sets(task="regression", loss="squared", target="y"),
    "gamma": single(version=2, task="gamma", loss="gamma", target="amount", exposure=YEARS, scale=0.5),
    "several": several(),
    "several_identity": several(scale=0.4, link="identity"),
    "several_extreme": several(scale=400.0),
    "lines": with_trends(LINES_OF, task="regression", loss="squared", target="y"),
    "hinges": with_trends(HINGES, task="regression", loss="squared", target="y"),
    "line_classes": with_trends(LINES_OF, 0.2, task="classification", loss="logistic", target="y", classes=["0", "1"]),
    "hinge_classes": with_trends(HINGES, 0.2, task="classification", loss="logistic", target="y", classes=["0", "1"]),
    "line_counts": with_trends(LINES_OF, 0.05, task="poisson", loss="poisson", target="claims", exposure=YEARS),
    "hinge_counts": with_trends(HINGES, 0.05, task="poisson", loss="poisson", target="claims", exposure=YEARS),
    "several_trends": several(scale=0.2, terms=HINGES + LINES_OF, version=2),
    "shared": shared(),
    "shared_extreme": shared(scale=400.0),
    "shared_sets": shared(rules=SETS + RULES[:4]),
}


def numbers(random, thresholds):
    """Numbers of every kind, on thresholds and one step beside them."""
    beside = [x for t in thresholds for x in (t, math.nextafter(t, -math.inf), math.nextafter(t, math.inf))]
    special = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1e300, -1e300, 5e-324, 3.0, 7.0, 2.0**53 + 2, *beside]
    values = np.where(random.random(ROWS) < 0.5, random.choice(special, ROWS), random.normal(size=ROWS) * 40)
    values[: len(special)] = special
    return values


def texts(random, levels):
    """Seen and unseen levels, other capitals, blanks around, nothing at all."""
    others = ["unseen", "", "  ", "IT'S", "NO", None, None, f" {levels[0]} ", levels[0].upper(), "\\", "'", '"', "`"]
    return random.choice(np.array([*levels, *levels, *others], dtype=object), ROWS)


@cache
def table():
    """10,000 rows as a data frame."""
    random = np.random.default_rng(11)
    columns = {}
    for column in COLUMNS:
        name = column["name"]
        if column["kind"] == "numeric":
            columns[name] = numbers(random, THRESHOLDS[name])
        elif column["kind"] == "boolean":
            columns[name] = pd.array(random.choice(np.array([True, False, None], dtype=object), ROWS), dtype="boolean")
        else:
            columns[name] = texts(random, column["levels"])
    columns[YEARS] = random.choice([0.25, 1.0, 2.0, 3.5], ROWS)
    columns[KNOWN] = random.choice([-1.5, 0.1 + 0.2, -0.0, 2.0], ROWS)
    return pd.DataFrame(columns)


def plain(value):
    """A value as a program would hold it: None where it is missing."""
    if value is None or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return None if value != value else value


@cache
def rows():
    """The table as dictionaries: missing values are absent, None or NaN by turns."""
    frame = table()
    found = []
    for i, values in enumerate(zip(*(frame[name] for name in frame), strict=True)):
        row = {name: plain(value) for name, value in zip(frame, values, strict=True)}
        if i % 3 == 0:
            row = {name: value for name, value in row.items() if value is not None}
        elif i % 3 == 1:
            row = {name: math.nan if value is None else value for name, value in row.items()}
        found.append(row)
    return found


@dataclass
class Case:
    """A model and what the engine says of every row of the table."""

    name: str
    model: object
    labels: list  # the classes; empty where numbers are predicted
    scores: np.ndarray  # rows × scores
    predictions: np.ndarray  # rows × classes, or rows × 1
    reasons: list  # for each row, {(text, label or None): contribution}
    weights: dict  # {(text, label or None): weight}
    sizes: dict  # {text: how far it may move a score}
    used: list  # the columns that are read, in order

    @property
    def several(self):
        return self.scores.shape[1] > 1


@cache
def case(name):
    """A model, and what the engine says of the table."""
    return judged(name, table())


def judged(name, frame):
    """A model, and what the engine says of the rows of a data frame."""
    model = orthorules.from_json(json.dumps(MODELS[name]))
    engine, count = model._model, len(frame)
    exposure = frame[YEARS].to_numpy() if engine.exposure else None
    offset = frame[KNOWN].to_numpy() if engine.offset else None
    applied = model._apply(frame[[c["name"] for c in COLUMNS]], exposure, offset)
    scores = np.array(applied.scores(engine.chosen)).T
    predictions = applied.predict(engine.chosen).reshape(count, -1)
    reasons = [{} for _ in range(count)]
    used, weights, sizes = set(), {}, {}
    for e, part in enumerate(engine.parts(engine.chosen)):
        for k, weight in zip(part.size.members, part.size.weights, strict=True):
            text = part.rules[k].text
            label = part.label if len(engine.parts(engine.chosen)) > 1 else None
            amounts = applied.amounts(e, k)
            for i in np.flatnonzero(applied.fires(e, k)):
                reasons[i][text, label] = weight * amounts[i]
            described = MODELS[name]["one_vs_rest"][e] if "one_vs_rest" in MODELS[name] else MODELS[name]
            described = described["rules"][k]
            used.update(c["column"] for c in described["conditions"])
            largest = 1.0
            if "trend" in described:
                low, high, zero, per = (described["trend"][key] for key in ("from", "to", "zero", "per"))
                used.add(described["trend"]["column"])
                largest = max(abs(low - zero), abs(high - zero)) / per
            weights[text, label] = weight
            sizes[text] = max(abs(weight) * largest, sizes.get(text, 0.0))
    names = [c["name"] for c in COLUMNS if c["name"] in used]
    names += ([YEARS] if engine.exposure else []) + ([KNOWN] if engine.offset else [])
    return Case(name, model, list(engine.classes), scores, predictions, reasons, weights, sizes, names)


def same_bits(found, wanted):
    """Whether all numbers are the same, to the bit."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted)
    return found.shape == wanted.shape and bool((found.view(np.uint64) == wanted.view(np.uint64)).all())


def close(found, wanted, tolerance):
    """Whether all numbers are the same but for rounding."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    scale = np.maximum(1.0, np.abs(wanted))
    with np.errstate(invalid="ignore"):
        return bool(((found == wanted) | (np.abs(found - wanted) <= tolerance * scale)).all())


def ordered(contributions):
    """Whether contributions are the largest first, whichever way they go."""
    return all(abs(a) >= abs(b) for a, b in zip(contributions, contributions[1:], strict=False))
