"""Rules from tables that are spread over a Dask cluster: the model of one machine, to the last byte.

>>> from orthorules.dask import RuleRegressor  # doctest: +SKIP
>>> model = RuleRegressor(max_rules=9, client=client).fit("data/*.parquet", "target")  # doctest: +SKIP
>>> model.predict(frame)  # doctest: +SKIP

The rows of a large table stay on the workers as small codes. The fit runs here and asks the workers for counts, one
task for each worker and question. Workers keep nothing that cannot be made again from the data, so any of them may be
lost. Small tables are brought here, unless gather="never" says that rows are not to leave the workers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from . import _native
from ._classifier import RuleClassifier as LocalClassifier
from ._dask_rows import Cluster
from ._elsewhere import learned, predicted, refuse, started
from ._frame import free_name, in_order
from ._regressor import RuleRegressor as LocalRegressor
from .exceptions import tell

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RuleClassifier", "RuleRegressor"]


def _client(client: Any) -> Any:
    if client is not None:
        return client
    import distributed

    try:
        return distributed.get_client()
    except ValueError:
        raise ValueError("there is no Dask client: start one, or pass client=distributed.Client(...)") from None


def _blocks(collection: Any, what: str) -> list[Any]:
    """The partitions of a collection, in order, each still to be computed."""
    if not hasattr(collection, "to_delayed"):
        raise TypeError(f"{what} must be a Dask collection, got {type(collection).__name__}: use orthorules for others")
    if hasattr(collection, "rechunk") and getattr(collection, "ndim", 1) == 2:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


class _DistributedRules:
    """An estimator whose rows are on a Dask cluster."""

    _kind: ClassVar[Any]

    def __init__(self, *, client: Any = None, gather: str = "auto", **parameters: Any) -> None:
        self.client = client
        self.gather = gather
        self._parameters = parameters
        self._local = self._kind(**parameters)
        self._fitted = False

    def __repr__(self) -> str:
        kept = {} if self.gather == "auto" else {"gather": self.gather}
        given = ", ".join(f"{name}={value!r}" for name, value in {**self._parameters, **kept}.items())
        return f"orthorules.dask.{type(self).__name__}({given})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {"client": self.client, "gather": self.gather, **self._local.get_params(deep)}

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        *,
        categorical: list[str] | None = None,
        offset: Any = None,
    ) -> Self:
        """Learns rules.

        Parameters
        ----------
        X : Dask DataFrame or array, or text
            Text names Parquet, Arrow or CSV files that every worker can read: one file, a folder or a pattern. Each
            file is a partition. The order of partitions is the order of rows.
        y : Dask Series or array in the partitions of X; with files, the name of the column
        sample_weight, exposure, offset : as y, optional
        categorical : list of text, optional
            With files: columns of numbers that are categories.
        """
        local = self._local
        refuse(local, "sample_weight")
        client = _client(self.client)
        if isinstance(X, str | os.PathLike):
            files = [os.path.abspath(path) for path in _native.partition_files(os.fspath(X))]
            names = {"target": y, "weight": sample_weight, "exposure": exposure, "offset": offset}
            for role, name in names.items():
                if name is not None and not isinstance(name, str):
                    raise TypeError(f"with files, {role} must be the name of a column, got {type(name).__name__}")
            if not isinstance(y, str):
                raise TypeError("with files, y must be the name of the target")
            listed = categorical if categorical is not None else _listed(local.categorical_features)
            cluster = Cluster(client, [(i, path, "") for i, path in enumerate(files)], None, [])
            typed: tuple[list[str], dict[str, list[str]]] = ([], {})
        else:
            cluster, names, listed, typed = self._of_collections(client, X, y, sample_weight, exposure, offset)
        self._learn(cluster, names, listed, typed)
        return self

    def _of_collections(self, client: Any, X: Any, y: Any, weight: Any, exposure: Any, offset: Any) -> Any:
        local = self._local
        blocks = [_blocks(X, "X")]
        if hasattr(X, "columns"):
            columns = [str(name) for name in X.columns]
            typed = [str(name) for name, dtype in X.dtypes.items() if str(dtype) == "category"]
        else:
            columns, typed = [f"x{i}" for i in range(X.shape[1])], []
        given = local.categorical_features
        if given is None and typed:
            raise ValueError(
                f"column {typed[0]!r} holds categories, but categorical_features is None: "
                "use categorical_features='from_dtype', or encode it"
            )
        listed = [] if isinstance(given, str) else local._categorical(columns)
        taken, names = set(columns), dict[str, Any]()
        order: list[Any] = [columns]
        for role, values, default in (
            ("target", y, "y"),
            ("weight", weight, "sample_weight"),
            ("exposure", exposure, "exposure"),
            ("offset", offset, "offset"),
        ):
            if values is None:
                names[role] = None
                continue
            parts = _blocks(values, default)
            if len(parts) != len(blocks[0]):
                raise ValueError(f"{default} has {len(parts)} partitions, X has {len(blocks[0])}: make them alike")
            # The name of an array is none that a person gave it.
            name = getattr(values, "name", None) if hasattr(values, "dtypes") or hasattr(values, "to_frame") else None
            names[role] = free_name(name, default, taken)
            taken.add(names[role])
            order.append(names[role])
            blocks.append(parts)
        if names["target"] is None:
            raise ValueError("y is missing")
        parts = [(i, None, "") for i in range(len(blocks[0]))]
        cluster = Cluster(client, parts, lambda number: [part[number] for part in blocks], order)
        try:
            ordered = _orders(cluster, X) if typed else {}
        except BaseException:
            cluster.close()
            raise
        by_type = [name for name in typed if name not in ordered and name not in listed]
        return cluster, names, listed, (by_type, ordered)

    def _learn(
        self,
        cluster: Cluster,
        names: dict[str, Any],
        categorical: list[str],
        typed: tuple[list[str], dict[str, list[str]]],
    ) -> None:
        try:
            fit = started(self._local, names, categorical, self.gather, *typed)
            self._local, notes, self.searched_ = learned(self._local, fit, cluster.ask)
        finally:
            cluster.close()
        self._fitted = True
        # Bytes of every message and reply, and the seconds until the reply was there. There are at most 5 and as many
        # as nodes were searched where the rows are.
        self.rounds_ = cluster.rounds
        for note in notes:
            tell(note)

    def to_local(self) -> Any:
        """The ordinary estimator with the model that was learned."""
        if not self._fitted:
            raise ValueError("this estimator is not fitted yet: call fit first")
        return self._local

    def __getattr__(self, name: str) -> Any:
        # Whatever an ordinary estimator knows of its model.
        if name.startswith("_") or not self.__dict__.get("_fitted", False):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._local, name)

    def _map(self, X: Any, method: str, width: int | None, **known: Any) -> Any:
        local = self.to_local()
        text = local.to_json()
        known = {role: values for role, values in known.items() if values is not None}
        if hasattr(X, "map_partitions"):
            for role, values in known.items():
                _aligned(X, values, role)
            dtype = local.classes_.dtype if method == "predict" and hasattr(local, "classes_") else np.float64
            if width is not None:
                meta = pd.DataFrame({label: pd.Series(dtype=np.float64) for label in local.classes_})
                return X.map_partitions(_labelled, text, method, list(local.classes_), meta=meta)
            meta = pd.Series(dtype=dtype, name=local._model.target)
            given = (text, method, list(known), *known.values())
            return X.map_partitions(_series, *given, meta=meta, align_dataframes=False)
        if hasattr(X, "map_blocks"):
            X = X.rechunk({1: -1})
            dtype = local.classes_.dtype if method == "predict" and hasattr(local, "classes_") else np.float64
            if width is not None:
                chunks = (X.chunks[0], (width,))
                return X.map_blocks(predicted, text, method, dtype=dtype, chunks=chunks)
            columns = [_column(X, values, role) for role, values in known.items()]
            given = (*columns, text, method, list(known))
            return X.map_blocks(_block, *given, dtype=dtype, drop_axis=1)
        return getattr(local, method)(X, **known)

    def predict(self, X: Any) -> Any:
        """Predictions in the partitions of X, still to be computed."""
        return self._map(X, "predict", None)


def _orders(cluster: Cluster, X: Any) -> dict[str, list[str]]:
    """The levels of the ordered categoricals of a Dask DataFrame, in order. Where Dask does not know them, partitions
    do."""
    orders: dict[str, list[str]] = {}
    for name, dtype in X.dtypes.items():
        if str(dtype) != "category" or not dtype.ordered:
            continue
        if X[name].cat.known:
            found = [dtype.categories]
        else:
            found = cluster.computed([_levels(part) for part in X[name].to_delayed()])
        if any(list(levels) != list(found[0]) for levels in found[1:]):
            raise ValueError(
                f"column {str(name)!r} has other categories, or another order, in each partition: "
                f"give all the same, as with X[{str(name)!r}].cat.set_categories"
            )
        levels = in_order(str(name), found[0])
        if len(levels) > 1:
            orders[str(name)] = levels
    return orders


def _levels(part: Any) -> Any:
    """The categories of a partition, still to be computed."""
    import dask

    return dask.delayed(lambda column: column.cat.categories)(part)


def _aligned(X: Any, values: Any, role: str) -> None:
    """An error unless values are a series in the partitions of X."""
    if not hasattr(values, "map_partitions"):
        raise TypeError(f"{role} must be a Dask Series, as X is a Dask DataFrame, got {type(values).__name__}")
    if values.npartitions != X.npartitions:
        raise ValueError(f"{role} has {values.npartitions} partitions, X has {X.npartitions}: make them alike")


def _column(X: Any, values: Any, role: str) -> Any:
    """Values beside the blocks of X."""
    if not hasattr(values, "map_blocks") or values.ndim != 1:
        raise TypeError(
            f"{role} must be a Dask array of one dimension, as X is a Dask array, got {type(values).__name__}"
        )
    if len(values.chunks[0]) != len(X.chunks[0]):
        raise ValueError(f"{role} has {len(values.chunks[0])} blocks, X has {len(X.chunks[0])}: make them alike")
    return values[:, None]


def _series(X: Any, text: str, method: str, roles: list[str], *values: Any) -> pd.Series:
    return pd.Series(predicted(X, text, method, dict(zip(roles, values, strict=True))), index=X.index)


def _block(X: Any, *given: Any) -> Any:
    *values, text, method, roles = given
    known = {role: np.ravel(column) for role, column in zip(roles, values, strict=True)}
    return predicted(X, text, method, known)


def _labelled(X: Any, text: str, method: str, labels: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(predicted(X, text, method), index=X.index, columns=labels)


def _listed(given: Any) -> list[str]:
    if given is None or isinstance(given, str):
        return []
    listed = list(given)
    if not all(isinstance(name, str) for name in listed):
        raise ValueError("with files, categorical_features must be names of columns")
    return listed


class RuleRegressor(_DistributedRules):
    """`orthorules.RuleRegressor` on a Dask cluster: the same parameters, `client` and `gather`.

    Small tables are brought to the machine that runs the fit. gather="never" leaves all rows where they are: folds that
    choose reg_lambda and polish, which are defaults for small tables, and trends are refused then. Cross-validation,
    the bootstrap, exact search and SIRUS are refused in any case.
    """

    _kind = LocalRegressor

    def predict(self, X: Any, exposure: Any = None, offset: Any = None) -> Any:
        """Predictions in the partitions of X, still to be computed. Exposures and offsets are collections as X is.
        Without exposures predictions are per unit of it; a model that was fitted with offsets needs them."""
        return self._map(X, "predict", None, exposure=exposure, offset=offset)


class RuleClassifier(_DistributedRules):
    """`orthorules.RuleClassifier` on a Dask cluster: the same parameters but `class_weight`, `client` and `gather`.

    Small tables are brought to the machine that runs the fit. gather="never" leaves all rows where they are: folds that
    choose reg_lambda and polish, which are defaults for small tables, and trends are refused then. Cross-validation,
    the bootstrap, exact search and SIRUS are refused in any case.
    """

    _kind = LocalClassifier

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of all classes in the partitions of X, still to be computed."""
        return self._map(X, "predict_proba", len(self.to_local().classes_))
