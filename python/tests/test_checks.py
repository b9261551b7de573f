"""scikit-learn's own checks, all of them, on the newest and on the oldest supported release."""

import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks

from orthorules import RuleClassifier, RuleRegressor


@parametrize_with_checks(
    [
        RuleRegressor(),
        RuleRegressor(loss="poisson", max_rules=5),
        RuleRegressor(loss="gamma", max_rules=5),
        RuleRegressor(preset="cob"),
        RuleRegressor(search="exact", max_complexity=6, node_limit=200),
        RuleClassifier(),
        RuleClassifier(preset="cob"),
        RuleClassifier(search="beam", n_jobs=1),
    ]
)
def test_estimator(estimator, check):
    check(estimator)


def test_release_is_supported():
    assert tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6)
