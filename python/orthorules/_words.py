"""Words and colours that tables and pictures of a model share."""

from __future__ import annotations

from typing import Any

UP, DOWN = "#2a9d64", "#c8553d"


def summed(document: dict[str, Any]) -> str:
    """What the weights of a model add up to."""
    target = document["target"]
    if document["task"] == "regression":
        return str(target)
    if document["task"] == "poisson":
        return f"the logarithm of the rate of {target}"
    if document.get("link") == "identity":
        return "the probability of the class"
    if "one_vs_rest" in document:
        return "the log-odds of the class against the rest"
    return f"the log-odds of {target} = {document['classes'][-1]}"
