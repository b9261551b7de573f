"""What a type checker must accept, and know, of a user's program. Read by mypy, never run."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import orthorules
from orthorules import RuleClassifier, RuleRegressor

X: NDArray[np.float64] = np.zeros((4, 2))

regressor = RuleRegressor(loss="poisson", max_rules=3, max_bins="exact").fit(X, X[:, 0], exposure=X[:, 1])
assert_type(regressor, RuleRegressor)
assert_type(regressor.at(rules=2), RuleRegressor)
assert_type(regressor.predict(X), NDArray[np.float64])
assert_type(regressor.why(X[:1]), str)
assert_type(regressor.complexity_, int)
assert_type(regressor.feature_importances_, NDArray[np.float64])
assert_type(RuleRegressor().fit(X, X[:, 0], eval_set=[(X, X[:, 0])]), RuleRegressor)
assert_type(RuleRegressor.load("model.json"), RuleRegressor)

classifier = RuleClassifier(positive="yes", class_weight={"yes": 2.0}).fit(X, X[:, 0], eval_set=(X, X[:, 0]))
assert_type(classifier.predict_proba(X), NDArray[np.float64])
assert_type(classifier.to_json(), str)
assert_type(orthorules.load("model.json"), RuleRegressor | RuleClassifier)
