"""What the docstrings of both estimators share."""

from __future__ import annotations

import inspect
import re
from typing import TypeVar

from ._parameters import ENTRIES

T = TypeVar("T", bound=type)

ATTRIBUTES = """\
    rules_ : pandas.DataFrame
        The rules of the chosen size: text, weight, conditions, rows covered, certificate. Where classes share their
        rules there is a column `weight_LABEL` for each.
    path_ : pandas.DataFrame
        Every size with its complexity and risks.
    lambda_ : float or None
        λ of the penalty, where folds chose it or it was given.
    terms_ : str
        What the model may have besides rules: "rules" for nothing, "linear" or "hinge".
    cv_results_ : pandas.DataFrame
        What cross-validation found of every size, and of other terms.
    intercept_ : float or ndarray
        β₀; one for each class, with more than two.
    complexity_ : int
        Rules plus conditions of the chosen size.
    feature_importances_ : ndarray of shape (n_features,)
        How much each feature moves the score on average over the training rows, as shares that sum to 1.
    eval_risks_ : pandas.DataFrame
        The risk of every size on the rows of `eval_set`, one column for each of its sets. Only there if `fit` was given
        any.
    n_features_in_, feature_names_in_
        What it was fitted to; names only when all of them are text.
    seconds_ : dict
        Where the time of the fit went.
    interrupted_ : bool
        Whether the fit was ended by Ctrl-C."""


def documented(cls: T) -> T:
    """Fills the shared lists into the docstring of an estimator: of parameters those that it has."""
    if cls.__doc__:
        entries = re.split(r"\n(?=    \w+ : )", ENTRIES)
        names = inspect.signature(cls).parameters
        own = [entry for entry in entries if entry.split(" : ")[0].strip() in names]
        filled = cls.__doc__.replace("    {parameters}", "\n".join(own))
        cls.__doc__ = filled.replace("    {attributes}", ATTRIBUTES)
    return cls


__all__ = ["ATTRIBUTES", "documented"]
