"""The parameters of both estimators. `make parameters` writes this file.

It follows from the declarations in crates/orthorules/src/params/mod.rs. What only Python has is in
python/write_parameters.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

# Parameters that the engine knows by the same name.
ENGINE = (
    "learner",
    "objective",
    "update",
    "intercept",
    "search",
    "beam_width",
    "bound",
    "node_limit",
    "time_limit",
    "memory_limit",
    "multiclass",
    "path",
    "polish",
    "length_penalty",
    "reg_lambda",
    "epsilon",
    "max_rules",
    "max_complexity",
    "max_conditions",
    "min_coverage",
    "smoothing",
    "max_bins",
    "thresholds",
    "sets",
    "terms",
    "require",
    "forbid",
    "interactions",
    "max_columns",
    "column_cost",
    "max_cost",
    "num_trees",
    "p0",
    "cv",
    "select",
    "bootstrap",
)
# Those of them that are a number or a word.
NUMBER_OR_WORD = (
    "reg_lambda",
    "max_bins",
    "cv",
)
# And those that scikit-learn calls otherwise.
RENAMED = {
    "n_jobs": "threads",
    "random_state": "seed",
    "monotonic_cst": "monotone",
}


class RegressorParameters:
    """What `RuleRegressor` is given."""

    def __init__(
        self,
        *,
        loss: Literal["squared", "poisson", "gamma"] = "squared",
        preset: str | None = None,
        learner: str = "boosting",
        objective: str = "onb",
        update: str = "corrective",
        intercept: str = "corrected",
        search: str = "greedy",
        beam_width: int | None = None,
        bound: str = "admissible",
        node_limit: int | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        path: str | None = None,
        polish: str | None = None,
        length_penalty: float = 1.0,
        reg_lambda: float | str | None = None,
        epsilon: float | None = None,
        max_rules: int | None = None,
        max_complexity: int | None = None,
        max_conditions: int | None = None,
        min_coverage: int | None = None,
        smoothing: float | None = None,
        max_bins: int | str = 32,
        thresholds: str = "round",
        sets: str | bool | None = None,
        terms: str = "auto",
        cuts: Mapping[str, Any] | None = None,
        monotonic_cst: Any = None,
        require: Sequence[str] | None = None,
        forbid: Sequence[str] | None = None,
        interactions: Sequence[Sequence[str]] | None = None,
        max_columns: int | None = None,
        column_cost: Mapping[str, float] | None = None,
        max_cost: float | None = None,
        num_trees: int = 1000,
        p0: float = 0.0,
        cv: Any = None,
        select: str | None = None,
        bootstrap: int | None = None,
        categorical_features: Any = "from_dtype",
        special: Mapping[str, Mapping[float, str]] | None = None,
        n_jobs: int | None = -1,
        random_state: Any = None,
        verbose: int = 0,
        on_interrupt: Literal["raise", "keep"] = "raise",
    ) -> None:
        self.loss = loss
        self.preset = preset
        self.learner = learner
        self.objective = objective
        self.update = update
        self.intercept = intercept
        self.search = search
        self.beam_width = beam_width
        self.bound = bound
        self.node_limit = node_limit
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.path = path
        self.polish = polish
        self.length_penalty = length_penalty
        self.reg_lambda = reg_lambda
        self.epsilon = epsilon
        self.max_rules = max_rules
        self.max_complexity = max_complexity
        self.max_conditions = max_conditions
        self.min_coverage = min_coverage
        self.smoothing = smoothing
        self.max_bins = max_bins
        self.thresholds = thresholds
        self.sets = sets
        self.terms = terms
        self.cuts = cuts
        self.monotonic_cst = monotonic_cst
        self.require = require
        self.forbid = forbid
        self.interactions = interactions
        self.max_columns = max_columns
        self.column_cost = column_cost
        self.max_cost = max_cost
        self.num_trees = num_trees
        self.p0 = p0
        self.cv = cv
        self.select = select
        self.bootstrap = bootstrap
        self.categorical_features = categorical_features
        self.special = special
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt


class ClassifierParameters:
    """What `RuleClassifier` is given."""

    def __init__(
        self,
        *,
        positive: Any = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        preset: str | None = None,
        learner: str = "boosting",
        objective: str = "onb",
        update: str = "corrective",
        intercept: str = "corrected",
        search: str = "greedy",
        beam_width: int | None = None,
        bound: str = "admissible",
        node_limit: int | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        multiclass: str | None = None,
        path: str | None = None,
        polish: str | None = None,
        length_penalty: float = 1.0,
        reg_lambda: float | str | None = None,
        epsilon: float | None = None,
        max_rules: int | None = None,
        max_complexity: int | None = None,
        max_conditions: int | None = None,
        min_coverage: int | None = None,
        smoothing: float | None = None,
        max_bins: int | str = 32,
        thresholds: str = "round",
        sets: str | bool | None = None,
        terms: str = "auto",
        cuts: Mapping[str, Any] | None = None,
        monotonic_cst: Any = None,
        require: Sequence[str] | None = None,
        forbid: Sequence[str] | None = None,
        interactions: Sequence[Sequence[str]] | None = None,
        max_columns: int | None = None,
        column_cost: Mapping[str, float] | None = None,
        max_cost: float | None = None,
        num_trees: int = 1000,
        p0: float = 0.0,
        cv: Any = None,
        select: str | None = None,
        bootstrap: int | None = None,
        categorical_features: Any = "from_dtype",
        special: Mapping[str, Mapping[float, str]] | None = None,
        n_jobs: int | None = -1,
        random_state: Any = None,
        verbose: int = 0,
        on_interrupt: Literal["raise", "keep"] = "raise",
    ) -> None:
        self.positive = positive
        self.class_weight = class_weight
        self.preset = preset
        self.learner = learner
        self.objective = objective
        self.update = update
        self.intercept = intercept
        self.search = search
        self.beam_width = beam_width
        self.bound = bound
        self.node_limit = node_limit
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.multiclass = multiclass
        self.path = path
        self.polish = polish
        self.length_penalty = length_penalty
        self.reg_lambda = reg_lambda
        self.epsilon = epsilon
        self.max_rules = max_rules
        self.max_complexity = max_complexity
        self.max_conditions = max_conditions
        self.min_coverage = min_coverage
        self.smoothing = smoothing
        self.max_bins = max_bins
        self.thresholds = thresholds
        self.sets = sets
        self.terms = terms
        self.cuts = cuts
        self.monotonic_cst = monotonic_cst
        self.require = require
        self.forbid = forbid
        self.interactions = interactions
        self.max_columns = max_columns
        self.column_cost = column_cost
        self.max_cost = max_cost
        self.num_trees = num_trees
        self.p0 = p0
        self.cv = cv
        self.select = select
        self.bootstrap = bootstrap
        self.categorical_features = categorical_features
        self.special = special
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt


# Every parameter as docstrings list it.
ENTRIES = """\
    loss : {"squared", "poisson", "gamma"}, default="squared"
        Squared loss for numbers; Poisson deviance for counts, whose mean is exposure × rate; gamma deviance for
        positive amounts, whose spread grows with their mean.
    positive : label, optional
        Of two classes the one whose log-odds the weights add to. Default: the last in order.
    class_weight : dict of label to float, or "balanced", optional
        What the rows of each class count, beside `sample_weight`. A class that the dict does not name counts 1.
        "balanced" gives every class the same sum of weights.
    preset : {"sgs", "sgb", "sxb", "cgb", "cob", "sirus"}, optional
        Start from a system of the paper instead of the defaults. Parameters that are given change it.
    learner : {"boosting", "sirus"}, default="boosting"
        Where rules come from. boosting: one at a time, each the best one to add. sirus: the stable ones of a
        random forest.
    objective : {"gs", "gb", "xgb", "ogb", "onb"}, default="onb"
        What a candidate rule is worth.
    update : {"corrective", "stagewise", "newton"}, default="corrective"
        Which weights move when a rule is added.
    intercept : {"corrected", "fixed", "none"}, default="corrected"
        What happens to the intercept: fitted with the weights, fitted once, or 0.
    search : {"greedy", "beam", "exact"}, default="greedy"
        How candidate rules are explored.
    beam_width : int, optional
        Candidates kept for each length, with `search` beam or exact. Default: 8; greedy search keeps 1.
    bound : {"admissible", "heuristic"}, default="admissible"
        What cuts branches of exact search. Only admissible proves its rules.
    node_limit : int, optional
        Most candidates that exact search may expand for one rule. Default: no limit.
    time_limit : float, optional
        Seconds for the whole fit once the table is read, with folds and draws. What is done by then is kept. After
        exact search rules of the beam follow, for half as long again. Default: no limit.
    memory_limit : int, optional
        Bytes for the sets of rows that exact search remembers, at least 16 MB. It ends with a gap when it needs
        more. Default: 1 GB.
    multiclass : {"shared", "one-vs-rest"}, optional
        With more than two classes: one list of rules with a weight for each class, or a list for each class.
        Default: shared; one-vs-rest with presets and `search` exact, and always with sirus or trends.
    path : {"nested", "best"}, optional
        Whether each size extends the one before it, or is the best found of its complexity. Default: best; nested
        above 4000000 rows, with `search` exact, another `update` or another `length_penalty`.
    polish : {"off", "light", "full"}, optional
        With `path` best, light looks for better rules in place of the five least useful ones of each size, full in
        place of all. Default: light for models of rules alone with at most two classes whose fit stays within
        seconds, else off.
    length_penalty : float, default=1.0
        Price of length: on a nested path the search maximises value² / (1 + conditions)^γ.
    reg_lambda : float or "cv", optional
        λ of the penalty ½ λ Σ weight² that keeps weights small. cv: chosen by folds, for the risk of all
        complexities. Default: chosen by folds with `cv` and where a fit stays within seconds; else 8 for
        regression, 1 for classes, 4 for gamma, the mean target for poisson.
    epsilon : float, optional
        Constant ε in the objective's denominator. Default: 1e-4 with `objective` ogb, else 0.
    max_rules : int, optional
        Most rules. Default: no limit.
    max_complexity : int, optional
        Most rules plus conditions, over all classes. Default: 50, or no limit with `max_rules`.
    max_conditions : int, optional
        Most conditions that a rule may have, at most 16 with sirus. Default: 3, no limit on a nested path, 2 with
        sirus.
    min_coverage : int, optional
        Fewest training rows that a rule may select. Default: 5, below 100 rows a twentieth of them; 1 with
        presets.
    smoothing : float, optional
        Rows within which thresholds share their scores in greedy and beam search. Matters on small tables.
        Default: 6 with `objective` onb and `path` best, else 0.
    max_bins : int or "exact", default=32
        Most intervals that a numeric column is cut into; exact tries every value.
    thresholds : {"round", "quantiles", "refine"}, default="round"
        Where a column with more values than `max_bins` is cut: at the roundest number near each quantile (round),
        or at the quantiles, as presets do. With refine rules are found at round cuts, and their thresholds may
        then move to finer ones beside them, if that pays.
    sets : {"auto", "on", "off"} or bool, optional
        Whether a condition may name several levels of a column, as in state in {CA, NY, WA}. It counts as one
        condition. auto: where a column has at least 8 levels. Default: auto; off with presets and `search` exact.
    terms : {"auto", "rules", "linear", "hinge"}, default="auto"
        What a model may have besides rules. linear: lines in columns of numbers. hinge: also lines that bend once.
        rules: nothing. auto: the folds of `cv` decide between rules and hinge; rules without folds, with several
        classes and with presets.
    cuts : dict of str to list of float, optional
        For numeric columns by name, the only thresholds to use. Default: `max_bins` decides.
    monotonic_cst : array-like of int of shape (n_features,) or dict of str to int, optional
        Numeric columns with which the score may only rise (+1) or only fall (-1), everything else being equal. A
        dict names columns; an array has one of these, or 0 for neither, for each feature. With classes the score
        is that of the last (of `positive`), and there may be no more than two. Default: none.
    require : list of str, optional
        Rules that every size has that has room for them, as age >= 65 & sex = female. The search goes on around
        them. Default: none.
    forbid : list of str, optional
        What no rule may use: a column, two columns together as A & B, or a condition as age >= 65. Default:
        nothing.
    interactions : list of lists of names, optional
        Groups of columns that may meet in a rule, as A,B;C,D. Columns that are in no group may meet each other.
        Each group is a list of names. Default: all columns may meet.
    max_columns : int, optional
        Most columns that the whole model may use. A date with all its parts is one column. Default: no limit.
    column_cost : dict of str to float, optional
        What columns cost, for `max_cost`. A column is paid for once by the whole model. Columns that are not named
        cost nothing. Default: nothing.
    max_cost : float, optional
        What the columns that the whole model uses may cost together. Default: no limit.
    num_trees : int, default=1000
        Trees of the forest of sirus.
    p0 : float, default=0.0
        Share of the trees of sirus that must have a rule.
    cv : int, "auto", splitter or list of splits, optional
        Folds of the cross-validation that chooses the size, terms if they are auto, and λ unless `reg_lambda` is
        given. auto: five folds where that takes a few seconds, else rows held out once for the size alone. A
        warning tells where it would take longer. Folds are stratified by class and decided by `random_state`.
        Default: none.
    select : {"simple", "best", "1se"}, optional
        Which size cross-validation chooses. simple: the simplest within 1 % of the least risk, and within half a
        per cent of the constant model's; of up to 200 rows the middle of the sizes near the least risk. best: that
        of least risk. 1se: the simplest within one standard error of it. Default: simple.
    bootstrap : int, optional
        Draws of the rows that tell how often each rule is found again and how far its weight moves. `rules_` then
        has intervals and frequencies. Default: none.
    categorical_features : "from_dtype", None, or list of names, indices or booleans, default="from_dtype"
        Columns to take as categories: text, categories and booleans by their types, and numbers that are listed
        here. None refuses columns that are not numbers.
    special : dict of str to dict of float to str, optional
        Numbers that stand for words, by column: {"income": {-9: "refused", -8: "unknown"}}. They are neither
        numbers nor missing: no threshold sees them, and a rule can say that income is refused.
    n_jobs : int or None, default=-1
        Worker threads. They do not change the result. -1 uses all cores, None 1 (or what joblib's context says).
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        1 shows progress, 2 every rule.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit: raise KeyboardInterrupt, or keep the rules found so far. A cross-validation or a
        bootstrap that was not finished is left out."""
