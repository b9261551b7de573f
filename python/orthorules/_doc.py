"""What the parameters mean, once for both estimators."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T", bound=type)

PARAMETERS = """\
    preset : {"sgs", "sgb", "sxb", "cgb", "cob", "sirus"}, optional
        A system of the paper: its values take the place of parameters that are left at their defaults.
    learner : {"boosting", "sirus"}, default="boosting"
        Rules one at a time by boosting, or the stable ones of a random forest.
    objective : {"onb", "ogb", "xgb", "gb", "gs"}, default="onb"
        What a candidate query is worth.
    update : {"corrective", "stagewise", "newton"}, default="corrective"
        Which weights move when a rule is added.
    intercept : {"corrected", "fixed", "none"}, default="corrected"
        What happens to β₀.
    search : {"greedy", "beam", "exact"}, default="greedy"
        How candidates are explored.
    beam_width : int, optional
        Queries kept per length. Default: 1, or 8 with `beam` and `exact`.
    bound : {"admissible", "heuristic"}, default="admissible"
        What cuts branches of exact search.
    node_limit : int, optional
        Queries that exact search may expand for one rule.
    time_limit : float, optional
        Seconds for the search in a whole fit; after exact search the beam has half as long again.
    memory_limit : int, optional
        Bytes for the row sets that exact search keeps, at least 16 MB. Default: 1 GB.
{multiclass}    path : {"best", "nested"}, optional
        Whether a size extends the one before it. Default: `best` up to 4,000,000 rows and with γ = 1, else
        `nested`.
    polish : {"off", "light", "full"}, optional
        Whether rules of an ensemble are given up for better ones; with path `best`. `light` tries the five least useful
        rules of each size, `full` all of them, again and again. Default: `light` where a fit stays within seconds, else
        `off`.
    length_penalty : float, default=1.0
        γ: on a nested path the search maximises value² / (1 + length)^γ.
    reg_lambda : float or "cv", optional
        λ of the penalty ½ λ Σ βₖ²; `cv`: by folds, for the risk of all complexities. Default: `cv` where a fit
        stays within seconds, else 8 squared, 1 logistic, mean target poisson, 4 gamma.
    epsilon : float, optional
        ε in the objective's denominator. Default: 1e-4 for `ogb`, else 0.
    max_rules : int, optional
        Size limit.
    max_complexity : int, optional
        Limit on rules + conditions. Default: 50 unless `max_rules` is given.
    max_conditions : int, optional
        Longest rule. Default: 3 with path `best`, else none.
    min_coverage : int, optional
        Fewest training rows a rule may select. Default: 5, fewer below 100 rows.
    smoothing : float, optional
        Rows within which thresholds share their scores in greedy and beam search. Default: 6 with `onb` and path
        `best`, else 0.
    max_bins : int or "exact", default=32
        Thresholds per numeric column.
    thresholds : {"round", "quantiles"}, default="round"
        Where a column with more values than bins is cut: at the roundest number near each quantile, or at the quantiles.
    sets : {"on", "off"} or bool, optional
        Whether a condition may name several levels of a column: `state in {CA, NY, WA}`. It counts as one condition.
        Default: off.
    terms : {"rules", "linear", "hinge"}, default="rules"
        What else than rules a model may have: lines in columns of numbers, lines that bend once.
    cuts : dict of str to list of float, optional
        For columns by name, the only thresholds to use.
    monotonic_cst : array-like of int of shape (n_features,) or dict of str to int, optional
        For numeric columns by name, whether the score may only rise or only fall with them: 1 for rise, -1 for fall, 0 for
        neither; or an array with one of these for each feature. With classes the score is that of the last (of `positive`),
        and there may be no more than two.
    num_trees : int, default=1000
        Trees of `sirus`.
    p0 : float, default=0.0
        Share of the trees that must have a rule of `sirus`.
    cv : int, "auto", splitter or list of splits, optional
        Folds of the cross-validation that chooses λ and the size. `"auto"`: five where that takes a few seconds, and a
        warning where it does not. Stratified by class, decided by `random_state`; a given
        `reg_lambda` is kept.
    select : {"simple", "best", "1se"}, optional
        Which size cross-validation chooses: the least complex whose risk is above the least by at most 1 % of the constant
        model's, that of least risk, or the least complex within one standard error of it. Default: `simple` with `cv`.
    bootstrap : int, optional
        Draws that tell how sure rules and weights are: `rules_` then has intervals and frequencies.
    categorical_features : "from_dtype", None, or list of names, indices or booleans, default="from_dtype"
        Columns to take as categories: text, categories and booleans by their types, and numbers that are listed here.
        None refuses columns that are not numbers.
    n_jobs : int or None, default=-1
        Worker threads; does not change the result. -1 uses all cores, None 1 (or what joblib's context says).
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        1 shows progress, 2 every rule.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit: raise KeyboardInterrupt, or keep the rules found so far. A cross-validation or a
        bootstrap that was not finished is left out."""

# Only classifiers have it.
MULTICLASS = """\
    multiclass : {"shared", "one-vs-rest"}, optional
        One list of rules for all classes, or one for each, with more than two. Default: `shared`; `one-vs-rest` with
        `exact` and the paper's presets, and always with `sirus` and trends.
"""

ATTRIBUTES = """\
    rules_ : pandas.DataFrame
        The rules of the chosen size: text, weight, conditions, rows covered, certificate. Where classes share their rules
        there is a column `weight_LABEL` for each.
    path_ : pandas.DataFrame
        Every size with its complexity and risks.
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
    """Fills the shared lists into the docstring of an estimator."""
    if cls.__doc__:
        own = MULTICLASS if "multiclass" in vars(cls)["__init__"].__code__.co_varnames else ""
        filled = cls.__doc__.replace("    {parameters}", PARAMETERS.replace("{multiclass}", own))
        cls.__doc__ = filled.replace("    {attributes}", ATTRIBUTES)
    return cls


__all__ = ["ATTRIBUTES", "PARAMETERS", "documented"]
