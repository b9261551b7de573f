"""Rules from tables that are spread over a Dask cluster: the model of one machine, to the last byte.

>>> from orthorules.dask import RuleRegressor  # doctest: +SKIP
>>> model = RuleRegressor(max_rules=9, client=client).fit("data/*.parquet", "target")  # doctest: +SKIP
>>> model.predict(frame)  # doctest: +SKIP

The rows of a large table stay on the workers as small codes. The fit runs here and asks the workers for counts, one task
for each worker and question. Workers keep nothing that cannot be made again from the data, so any of them may be lost.
Small tables are brought here, unless gather="never" says that rows are not to leave the workers.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from . import _native
from ._classifier import RuleClassifier as LocalClassifier
from ._elsewhere import Missing, Round, learned, merged, predicted, refuse, started
from ._frame import free_name
from ._regressor import RuleRegressor as LocalRegressor
from .exceptions import tell

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RuleClassifier", "RuleRegressor"]

# Replies that are merged in one place.
_ARITY = 8
# Bytes of replies beyond which a worker puts them together, so that one table comes here.
_LARGE = 1 << 22
# Seconds for results to arrive, after which it is looked at whether there are still workers.
_ARRIVAL = 5.0
# Seconds without any worker after which a fit gives up.
_PATIENCE = 30.0
# Rounds in a row that may end with partitions that nobody has.
_ATTEMPTS = 20

# ---- on the workers ----

# Partitions by fit and number. Whatever is here can be made again.
_held: dict[tuple[str, int], _native.Partition] = {}
_lock = threading.Lock()
_folder: str | None = None

# A partition as tasks know it: its number, the file that it is in if it is one, and what that file looked like.
_Part = tuple[int, str | None, str]


def _scratch() -> str:
    global _folder
    with _lock:
        if _folder is None or not os.path.isdir(_folder):
            _folder = tempfile.mkdtemp(prefix="orthorules-")
            atexit.register(shutil.rmtree, _folder, ignore_errors=True)
        return _folder


def _stamp(path: str) -> str:
    """What tells whether a file is the one that it was."""
    about = os.stat(path)
    return f"{about.st_size} {about.st_mtime_ns}"


def _answer(fit: str, message: bytes, parts: list[_Part], threads: int) -> bytes | Missing:
    """The merged reply of some neighbouring partitions, or those of them that are not here."""
    missing = Missing()
    replies: list[bytes] = []
    for number, path, _ in parts:
        held = _held.get((fit, number))
        if held is None and path is not None:
            # The file is looked at again, whoever looks: a fit ends if it has changed.
            held = _native.Partition(path, number, _stamp(path), threads)
            _held[fit, number] = held
        if held is None:
            missing.append(number)
        elif not missing:
            replies.append(held.answer(message))
            if path is None and held.coded:
                _discard(fit, number)
    return missing or merged(replies)


def _discard(fit: str, number: int) -> None:
    """Removes what a partition was read from, once there are codes."""
    path = os.path.join(_scratch(), f"{fit}-{number}.arrow")
    if os.path.exists(path):
        os.unlink(path)


def _load(fit: str, number: int, threads: int, names: list[Any], blocks: list[Any]) -> int:
    """Takes the rows of a partition over, in a file beside the worker until there are codes."""
    import pyarrow as pa
    from pyarrow import feather

    table = pa.Table.from_pandas(_frame(names, blocks), preserve_index=False)
    path = os.path.join(_scratch(), f"{fit}-{number}.arrow")
    feather.write_feather(table, path, compression="uncompressed")
    _held[fit, number] = _native.Partition(path, number, "rows of a collection", threads)
    return number


def _frame(names: list[Any], blocks: list[Any]) -> pd.DataFrame:
    """Features and the other columns side by side."""
    features, *others = blocks
    if not isinstance(features, pd.DataFrame):
        features = pd.DataFrame(np.asarray(features))
    frame = features.reset_index(drop=True)
    frame.columns = pd.Index(names[0])
    for name, values in zip(names[1:], others, strict=True):
        column = values.reset_index(drop=True) if hasattr(values, "reset_index") else pd.Series(np.asarray(values))
        if isinstance(column, pd.DataFrame):
            column = column.iloc[:, 0]
        if len(column) != len(frame):
            raise ValueError(f"{name} has {len(column)} rows in a partition where X has {len(frame)}")
        frame[name] = column
    return frame


async def _forget(fit: str) -> None:
    """Frees the partitions of a fit. Nobody waits for it."""
    for key in [key for key in _held if key[0] == fit]:
        _held.pop(key, None)
        _discard(*key)


# ---- here ----


class _Cluster:
    """The partitions of a table and the workers that have them."""

    def __init__(self, client: Any, parts: list[_Part], load: Callable[[int], list[Any]] | None, names: list[Any]):
        self.fit = uuid.uuid4().hex
        self.client = client
        self.parts = parts
        self.names = names
        self._load = load
        self._owner: dict[int, str] = {}
        self._open: list[Any] = []
        self.rounds: list[Round] = []

    def _workers(self) -> dict[str, int]:
        """Threads of every worker. Waits a while if there is none."""
        since = time.monotonic()
        while True:
            workers = dict(self.client.nthreads())
            if workers:
                return workers
            if time.monotonic() - since > _PATIENCE:
                raise RuntimeError("no worker is left: the fit cannot go on")
            time.sleep(0.2)

    def _runs(self, workers: dict[str, int]) -> list[tuple[str, list[_Part]]]:
        """Neighbouring partitions of one worker. What a worker has it keeps; what was lost goes to those with the least."""
        if not self._owner:
            order = sorted(workers)
            for i, (number, *_) in enumerate(self.parts):
                self._owner[number] = order[i * len(order) // len(self.parts)]
        load = dict.fromkeys(workers, 0)
        for owner in self._owner.values():
            if owner in load:
                load[owner] += 1
        for number, owner in self._owner.items():
            if owner not in load:
                self._owner[number] = min(load, key=lambda worker: (load[worker], worker))
                load[self._owner[number]] += 1
        runs: list[tuple[str, list[_Part]]] = []
        for part in self.parts:
            owner = self._owner[part[0]]
            if runs and runs[-1][0] == owner:
                runs[-1][1].append(part)
            else:
                runs.append((owner, [part]))
        return runs

    def _submit(self, function: Any, *arguments: Any, worker: str | None = None) -> Any:
        place = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        future = self.client.submit(function, *arguments, pure=False, **place)
        self._open.append(future)
        return future

    def _wait(self, futures: list[Any]) -> None:
        """Until all are done, however many workers are lost on the way; an error if none is left."""
        import distributed

        waiting = list(futures)
        while waiting:
            try:
                distributed.wait(waiting, timeout=1.0, return_when="FIRST_COMPLETED")
            except TimeoutError:
                self._workers()
            waiting = [future for future in waiting if not future.done()]

    def _results(self, futures: list[Any]) -> list[Any]:
        """The results. Those that are lost after they were done are made again; an error if there is nobody to do so."""
        patience = _ARRIVAL
        while True:
            self._wait(futures)
            try:
                gather = partial(self.client.gather, futures, asynchronous=True)
                return list(self.client.sync(gather, callback_timeout=patience))
            except (TimeoutError, asyncio.TimeoutError):
                self._workers()
                patience *= 2

    def ask(self, message: bytes) -> bytes:
        """What all partitions reply together."""
        started = time.monotonic()
        for _ in range(_ATTEMPTS):
            workers = self._workers()
            runs = self._runs(workers)
            futures = [
                self._submit(_answer, self.fit, message, parts, workers[owner], worker=owner) for owner, parts in runs
            ]
            while len(futures) > _ARITY:
                step = max(_ARITY, 2)
                groups = [futures[i : i + step] for i in range(0, len(futures), step)]
                futures = [self._submit(merged, group) for group in groups]
            self._wait(futures)
            if len(futures) > 1:
                sizes = self.client.nbytes([future.key for future in futures], summary=False)
                if sum(sizes.values()) > _LARGE:
                    futures = [self._submit(merged, futures)]
            reply = merged(self._results(futures))
            self._open.clear()
            if not isinstance(reply, Missing):
                self.rounds.append((len(message), len(reply), time.monotonic() - started))
                return bytes(reply)
            self._fetch(reply)
        raise RuntimeError("partitions are lost faster than they are read: the fit cannot go on")

    def _fetch(self, missing: list[int]) -> None:
        """Brings rows to the workers that are to have them."""
        load = self._load
        if load is None:
            raise RuntimeError("a partition is gone and nothing tells where it came from")
        workers = self._workers()
        futures = []
        for number in missing:
            owner = self._owner[number]
            threads = workers.get(owner, 1)
            blocks = self.client.compute(load(number), workers=[owner], allow_other_workers=True)
            self._open.extend(blocks)
            futures.append(self._submit(_load, self.fit, number, threads, self.names, blocks, worker=owner))
        self._results(futures)
        self._open.clear()

    def close(self) -> None:
        """Leaves nothing behind: no task, and no partition."""
        import contextlib

        with contextlib.suppress(Exception):
            self.client.cancel(self._open, force=True)
        with contextlib.suppress(Exception):
            self.client.run(_forget, self.fit, wait=False)


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
            Text names Parquet, Arrow or CSV files that every worker can read: one file, a folder or a pattern. Each file is
            a partition. The order of partitions is the order of rows.
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
            cluster = _Cluster(client, [(i, path, "") for i, path in enumerate(files)], None, [])
        else:
            cluster, names, listed = self._of_collections(client, X, y, sample_weight, exposure, offset)
        self._learn(cluster, names, listed)
        return self

    def _of_collections(self, client: Any, X: Any, y: Any, weight: Any, exposure: Any, offset: Any) -> Any:
        local = self._local
        blocks = [_blocks(X, "X")]
        if hasattr(X, "columns"):
            columns = [str(name) for name in X.columns]
            typed = [str(name) for name, dtype in X.dtypes.items() if str(dtype) == "category"]
        else:
            columns, typed = [f"x{i}" for i in range(X.shape[1])], []
        by_dtype = isinstance(local.categorical_features, str)
        listed = typed if by_dtype else local._categorical(columns)
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
        return _Cluster(client, parts, lambda number: [part[number] for part in blocks], order), names, listed

    def _learn(self, cluster: _Cluster, names: dict[str, Any], categorical: list[str]) -> None:
        try:
            fit = started(self._local, names, categorical, self.gather)
            self._local, notes = learned(self._local, fit, cluster.ask)
        finally:
            cluster.close()
        self._fitted = True
        # Bytes of every message and reply, and the seconds until the reply was there.
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


def _aligned(X: Any, values: Any, role: str) -> None:
    """An error unless values are a series in the partitions of X."""
    if not hasattr(values, "map_partitions"):
        raise TypeError(f"{role} must be a Dask Series, as X is a Dask DataFrame, got {type(values).__name__}")
    if values.npartitions != X.npartitions:
        raise ValueError(f"{role} has {values.npartitions} partitions, X has {X.npartitions}: make them alike")


def _column(X: Any, values: Any, role: str) -> Any:
    """Values beside the blocks of X."""
    if not hasattr(values, "map_blocks") or values.ndim != 1:
        raise TypeError(f"{role} must be a Dask array of one dimension, as X is a Dask array, got {type(values).__name__}")
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
    choose reg_lambda and polish, which are defaults for small tables, and trends are refused then. Cross-validation, the
    bootstrap, exact search and SIRUS are refused in any case.
    """

    _kind = LocalRegressor

    def predict(self, X: Any, exposure: Any = None, offset: Any = None) -> Any:
        """Predictions in the partitions of X, still to be computed. Exposures and offsets are collections as X is. Without
        exposures predictions are per unit of it; a model that was fitted with offsets needs them."""
        return self._map(X, "predict", None, exposure=exposure, offset=offset)


class RuleClassifier(_DistributedRules):
    """`orthorules.RuleClassifier` on a Dask cluster: the same parameters but `class_weight`, `client` and `gather`.

    Small tables are brought to the machine that runs the fit. gather="never" leaves all rows where they are: folds that
    choose reg_lambda and polish, which are defaults for small tables, and trends are refused then. Cross-validation, the
    bootstrap, exact search and SIRUS are refused in any case.
    """

    _kind = LocalClassifier

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of all classes in the partitions of X, still to be computed."""
        return self._map(X, "predict_proba", len(self.to_local().classes_))
