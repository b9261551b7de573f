"""Writes python/orthorules/_parameters.py: the signature and the documentation of both estimators.

What the engine declares is read from schema/parameters.schema.json. What only Python has, or takes in more forms, is in
`OWN` and `WIDER`.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "schema" / "parameters.schema.json"
MODULE = ROOT / "python" / "orthorules" / "_parameters.py"

# Names that scikit-learn has for parameters of the engine.
RENAMED = {"n_jobs": "threads", "random_state": "seed", "monotonic_cst": "monotone"}
# The engine takes these through arguments of their own.
APART = ("preset", "cuts", *RENAMED.values())
CLASSES_ONLY = ("multiclass",)


class Parameter(NamedTuple):
    """An argument of an estimator."""

    name: str
    # Its type for type checkers, and its default, as source.
    annotation: str
    default: str
    # Its type for readers, and what it does.
    kind: str
    text: str


REGRESSOR = [
    Parameter(
        "loss",
        'Literal["squared", "poisson", "gamma"]',
        '"squared"',
        '{"squared", "poisson", "gamma"}, default="squared"',
        "Squared loss for numbers; Poisson deviance for counts, whose mean is exposure × rate; gamma deviance for "
        "positive amounts, whose spread grows with their mean.",
    ),
]
CLASSIFIER = [
    Parameter(
        "positive",
        "Any",
        "None",
        "label, optional",
        "Of two classes the one whose log-odds the weights add to. Default: the last in order.",
    ),
    Parameter(
        "class_weight",
        'Mapping[Any, float] | Literal["balanced"] | None',
        "None",
        'dict of label to float, or "balanced", optional',
        "What the rows of each class count, beside `sample_weight`. A class that the dict does not name counts 1. "
        '"balanced" gives every class the same sum of weights.',
    ),
]
# After the engine's parameters.
OWN = [
    Parameter(
        "categorical_features",
        "Any",
        '"from_dtype"',
        '"from_dtype", None, or list of names, indices or booleans, default="from_dtype"',
        "Columns to take as categories: text, categories and booleans by their types, and numbers that are listed "
        "here. None refuses columns that are not numbers.",
    ),
    Parameter(
        "special",
        "Mapping[str, Mapping[float, str]] | None",
        "None",
        "dict of str to dict of float to str, optional",
        "Numbers that stand for words, by column: {\"income\": {-9: \"refused\", -8: \"unknown\"}}. They are neither "
        "numbers nor missing: no threshold sees them, and a rule can say that income is refused.",
    ),
    Parameter(
        "n_jobs",
        "int | None",
        "-1",
        "int or None, default=-1",
        "{threads} -1 uses all cores, None 1 (or what joblib's context says).",
    ),
    Parameter("random_state", "Any", "None", "int, RandomState instance or None, default=None", "{seed}"),
    Parameter("verbose", "int", "0", "int, default=0", "1 shows progress, 2 every rule."),
    Parameter(
        "on_interrupt",
        'Literal["raise", "keep"]',
        '"raise"',
        '{"raise", "keep"}, default="raise"',
        "What Ctrl-C does to a fit: raise KeyboardInterrupt, or keep the rules found so far. A cross-validation or a "
        "bootstrap that was not finished is left out.",
    ),
]
# Parameters of the engine that take more forms in Python, or do more. A name between braces stands for what the engine
# says of it.
WIDER = {
    "sets": ("str | bool | None", '{"auto", "on", "off"} or bool, optional', "{sets}"),
    "cuts": ("Mapping[str, Any] | None", "dict of str to list of float, optional", "{cuts}"),
    "monotone": (
        "Any",
        "array-like of int of shape (n_features,) or dict of str to int, optional",
        "{monotone} A dict names columns; an array has one of these, or 0 for neither, for each feature. With classes "
        "the score is that of the last (of `positive`), and there may be no more than two.",
    ),
    "cv": (
        "Any",
        'int, "auto", splitter or list of splits, optional',
        "{cv} A warning tells where it would take longer. Folds are stratified by class and decided by `random_state`.",
    ),
    "require": ("Sequence[str] | None", "list of str, optional", "{require}"),
    "forbid": ("Sequence[str] | None", "list of str, optional", "{forbid}"),
    "interactions": (
        "Sequence[Sequence[str]] | None",
        "list of lists of names, optional",
        "{interactions} Each group is a list of names.",
    ),
    "column_cost": ("Mapping[str, float] | None", "dict of str to float, optional", "{column_cost}"),
    "bootstrap": ("int | None", "int, optional", "{bootstrap} `rules_` then has intervals and frequencies."),
}


def said(schema: dict[str, Any], name: str) -> tuple[str, str]:
    """What the engine says a parameter does, and the sentence about its default, if there is one."""
    does, default, words = schema["properties"][name]["description"].partition(" Default: ")
    return does, (default + words).strip()


def in_python(schema: dict[str, Any], text: str) -> str:
    """The text with the engine's words in place of names between braces, and Python's names of parameters."""
    filled = re.sub(r"\{([a-z_0-9]+)\}", lambda found: said(schema, found[1])[0], text)
    for name, engine in RENAMED.items():
        filled = filled.replace(f"`{engine}`", f"`{name}`")
    return filled


def number_type(property: dict[str, Any]) -> str:
    kinds = property["type"] if isinstance(property["type"], list) else [property["type"]]
    return {"integer": "int", "number": "float"}[kinds[0]]


def from_schema(schema: dict[str, Any], name: str) -> Parameter:
    """A parameter of the engine as an argument."""
    property = schema["properties"][name]
    default = property["default"]
    if "enum" in property:
        annotation = "str"
        kind = "{" + ", ".join(json.dumps(choice) for choice in property["enum"] if choice is not None) + "}"
    elif "anyOf" in property:
        number, word = number_type(property["anyOf"][0]), property["anyOf"][1]["const"]
        annotation, kind = f"{number} | str", f"{number} or {json.dumps(word)}"
    elif property["type"] == "array":
        # A list without items.
        annotation = kind = "list"
        default = None
    elif property["type"] == "object":
        # A dict without items.
        annotation = kind = "dict"
        default = None
    else:
        annotation = kind = number_type(property)
    if default is None:
        annotation, kind = f"{annotation} | None", f"{kind}, optional"
    else:
        kind = f"{kind}, default={json.dumps(default)}"
    source = "None" if default is None else json.dumps(default)
    text = f"{{{name}}}"
    if name in WIDER:
        annotation, kind, text = WIDER[name]
    given = next((python for python, engine in RENAMED.items() if engine == name), name)
    return Parameter(given, annotation, source, kind, in_python(schema, f"{text} {said(schema, name)[1]}".strip()))


def shared(schema: dict[str, Any]) -> list[Parameter]:
    """What both estimators have, in order."""
    last = {parameter.name for parameter in OWN}
    engine = [from_schema(schema, name) for name in schema["properties"]]
    own = [parameter._replace(text=in_python(schema, parameter.text)) for parameter in OWN]
    return [*(parameter for parameter in engine if parameter.name not in last), *own]


def entry(parameter: Parameter) -> str:
    """A parameter as docstrings list it."""
    filled = textwrap.fill(parameter.text, 115, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return f"    {parameter.name} : {parameter.kind}\n{filled}"


def base(name: str, about: str, parameters: list[Parameter]) -> str:
    """A class with these parameters."""
    signature = "".join(f"        {p.name}: {p.annotation} = {p.default},\n" for p in parameters)
    body = "".join(f"        self.{p.name} = {p.name}\n" for p in parameters)
    return f'''class {name}:
    """{about}"""

    def __init__(
        self,
        *,
{signature}    ) -> None:
{body}'''


def listed(names: list[str]) -> str:
    return "".join(f"    {json.dumps(name)},\n" for name in names)


def module(schema: dict[str, Any]) -> str:
    """The source of the module."""
    both = shared(schema)
    without = [parameter for parameter in both if parameter.name not in CLASSES_ONLY]
    names = [name for name in schema["properties"] if name not in APART]
    words = [name for name in names if "anyOf" in schema["properties"][name]]
    entries = "\n".join(entry(parameter) for parameter in [*REGRESSOR, *CLASSIFIER, *both])
    assert '"""' not in entries and "\\" not in entries
    renamed = "".join(f"    {json.dumps(name)}: {json.dumps(engine)},\n" for name, engine in RENAMED.items())
    return f'''"""The parameters of both estimators. `make parameters` writes this file.

It follows from the declarations in crates/orthorules/src/params/mod.rs. What only Python has is in
python/write_parameters.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

# Parameters that the engine knows by the same name.
ENGINE = (
{listed(names)})
# Those of them that are a number or a word.
NUMBER_OR_WORD = (
{listed(words)})
# And those that scikit-learn calls otherwise.
RENAMED = {{
{renamed}}}


{base("RegressorParameters", "What `RuleRegressor` is given.", [*REGRESSOR, *without])}

{base("ClassifierParameters", "What `RuleClassifier` is given.", [*CLASSIFIER, *both])}

# Every parameter as docstrings list it.
ENTRIES = """\\
{entries}"""
'''


def current() -> str:
    """What the file must hold."""
    return module(json.loads(SCHEMA.read_text("utf-8")))


if __name__ == "__main__":
    MODULE.write_text(current(), "utf-8")
