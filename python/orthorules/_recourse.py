"""What would change a prediction."""

from __future__ import annotations

from typing import Any

from ._why import as_table

COLUMNS = ["answer", "column", "now", "change", "example", "steps", "prediction"]


def frame(model: Any, row: Any, goals: dict[str, Any], lock: list[str], known: Any, most: int) -> Any:
    """The answers for one row, whose exposure and offset are `known`, as a data frame."""
    from ._frames import Frame

    if len(goals) != 1:
        raise ValueError("name one of change_to, below and above")
    if "change_to" in goals:
        goals = {"change_to": _class(model, goals["change_to"])}
    table, rows = model._used_table(as_table(row), *known)
    if rows != 1:
        raise ValueError(f"needs one row, got {rows}")
    met, complete, answers = model._model.recourse(table, model._size, **goals, lock=lock, most=most)
    wanted = goals.get("change_to", -1)
    lines = [
        (number, *change, prediction[wanted])
        for number, (changes, prediction) in enumerate(answers, start=1)
        for change in changes
    ]
    found = Frame(lines, columns=COLUMNS)
    found.attrs.update(met=met, complete=complete)
    return found


def _class(model: Any, label: Any) -> int:
    """The place of a label among the engine's classes."""
    if not hasattr(model, "classes_"):
        raise ValueError("change_to needs a classifier: use below or above")
    places = [i for i, known in enumerate(model.classes_) if known == label]
    if not places:
        raise ValueError(f"change_to must be one of {model.classes_.tolist()}, got {label!r}")
    return int(model._columns()[places[0]])
