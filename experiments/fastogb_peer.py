"""fastogb 0.2.0 as the scripts beside this one compare with it: its settings, and tables on which both sides see the
same."""

import pandas

REG = 0.1


def binned(table: pandas.DataFrame) -> pandas.DataFrame:
    """The features, all but the last column, as bin numbers: strings as integers, five quantile bins where there are
    more values."""
    table = table.copy()
    for name in table.columns[:-1]:
        column = table[name]
        if not pandas.api.types.is_numeric_dtype(column):
            column = column.astype("category").cat.codes
        if column.nunique() > 5:
            column = pandas.qcut(column, 5, labels=False, duplicates="drop")
        table[name] = column.astype(float)
    return table


def estimator(rules: int, loss: str = "squared", search: str = "greedy", reg: float = REG, threads: int = 1, **options):
    """The orthogonal objective with corrective weights, not fitted yet."""
    import fastogb

    return fastogb.GeneralRuleBoostingEstimator(
        num_rules=rules,
        objective_function=fastogb.OrthogonalBoostingObjective,
        weight_update_method=fastogb.FullyCorrective(),
        loss=loss,
        reg=reg,
        search=search,
        objective_params={"epsilon": 1e-4},
        n_jobs=threads,
        **options,
    )
