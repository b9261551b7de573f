"""The rows of a fit on a Dask cluster: what workers keep and answer, and who asks them."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from . import _native
from ._elsewhere import Missing, Round, merged
from ._frame import as_arrow

# Replies that are merged in one place.
_ARITY = 8
# Bytes of replies beyond which a worker puts them together, so that one table comes here.
_LARGE = 1 << 22
# Seconds for results to arrive, after which they are asked for again.
_ARRIVAL = 5.0
# Seconds without any worker after which a fit gives up.
_PATIENCE = 50.0
# Looks in a row, a second apart, at which no worker is at any task of a question, before it is asked again.
_LOOKS = 3
# Rounds in a row that may end with partitions that no worker has, or with tasks that none takes.
_ATTEMPTS = 20

# ---- on the workers ----

# Partitions by fit and number. Whatever is here can be made again.
_held: dict[tuple[str, int], _native.Partition] = {}
_lock = threading.Lock()
_folder: str | None = None

# A partition as tasks know it: its number, the file that it is in if it is one, and what that file looked like.
Part = tuple[int, str | None, str]


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


def _answer(fit: str, message: bytes, parts: list[Part], threads: int) -> bytes | Missing:
    """The merged reply of some neighbouring partitions, or those of them that are not here."""
    missing = Missing()
    replies: list[bytes] = []
    for number, path, _ in parts:
        held = _held.get((fit, number))
        if held is None and path is not None:
            # The file is looked at again on every worker: a fit ends if it has changed.
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
    from pyarrow import feather

    table = as_arrow(_frame(names, blocks), len(names[0]))
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
    """Frees the partitions of a fit, without waiting for it."""
    for key in [key for key in _held if key[0] == fit]:
        _held.pop(key, None)
        _discard(*key)


# ---- here ----


class _NobodyAtIt(Exception):
    """Tasks wait for a worker that is gone, although there are others."""


class Cluster:
    """The partitions of a table and the workers that have them."""

    def __init__(self, client: Any, parts: list[Part], load: Callable[[int], list[Any]] | None, names: list[Any]):
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

    def _runs(self, workers: dict[str, int]) -> list[tuple[str, list[Part]]]:
        """Neighbouring partitions of one worker. What a worker has it keeps; what was lost goes to those with the
        least."""
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
        runs: list[tuple[str, list[Part]]] = []
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

        waiting, idle = list(futures), 0
        while waiting:
            try:
                distributed.wait(waiting, timeout=1.0, return_when="FIRST_COMPLETED")
                idle = 0
            except TimeoutError:
                idle = idle + 1 if self._is_idle(self._workers()) else 0
                if idle >= _LOOKS:
                    raise _NobodyAtIt from None
            waiting = [future for future in waiting if not future.done()]

    def _is_idle(self, workers: dict[str, int]) -> bool:
        """Whether a worker was lost and no other is at any task that is open. Such tasks stay bound to the address of
        the worker that was lost if there was no other when it went."""
        if all(owner in workers for owner in self._owner.values()):
            return False
        keys = {future.key for future in self._open}
        return not any(key in keys for taken in self.client.processing().values() for key in taken)

    def _results(self, futures: list[Any]) -> list[Any]:
        """The results. Those that are lost after they were done are made again; an error if no worker
        is left."""
        patience = _ARRIVAL
        for _ in range(_ATTEMPTS):
            self._wait(futures)
            found = self._arrived(futures, patience)
            if found is not None:
                return found
            patience *= 2
        raise RuntimeError("results do not arrive: the fit cannot go on")

    def _arrived(self, futures: list[Any], patience: float) -> list[Any] | None:
        """The results, if they arrive in this many seconds. Meanwhile it is looked at whether there are still
        workers."""

        async def gathered() -> list[Any]:
            return list(await self.client.gather(futures, asynchronous=True))

        arriving = asyncio.run_coroutine_threadsafe(gathered(), self.client.loop.asyncio_loop)
        until, idle = time.monotonic() + patience, 0
        try:
            while time.monotonic() < until and not arriving.cancelled():
                try:
                    return arriving.result(timeout=1.0)
                except (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError):
                    idle = idle + 1 if self._is_idle(self._workers()) else 0
                    if idle >= _LOOKS:
                        raise _NobodyAtIt from None
                    if arriving.done():
                        return None
        finally:
            arriving.cancel()
        return None

    def computed(self, parts: list[Any]) -> list[Any]:
        """What is computed of a collection beside the questions."""
        for _ in range(_ATTEMPTS):
            try:
                futures = self.client.compute(parts)
                self._open.extend(futures)
                found = self._results(futures)
                self._open.clear()
                return found
            except _NobodyAtIt:
                self._drop()
        raise RuntimeError("partitions are lost faster than they are read: the fit cannot go on")

    def _drop(self) -> None:
        """Gives up all tasks that are open."""
        self.client.cancel(self._open, force=True)
        self._open.clear()

    def ask(self, message: bytes) -> bytes:
        """What all partitions reply together."""
        started = time.monotonic()
        for _ in range(_ATTEMPTS):
            try:
                reply = self._asked(message)
                if not isinstance(reply, Missing):
                    self.rounds.append((len(message), len(reply), time.monotonic() - started))
                    return bytes(reply)
                self._fetch(reply)
            except _NobodyAtIt:
                self._drop()
        raise RuntimeError("partitions are lost faster than they are read: the fit cannot go on")

    def _asked(self, message: bytes) -> bytes | Missing:
        """What the workers reply that have the partitions, or are to have them."""
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
        reply: bytes | Missing = merged(self._results(futures))
        self._open.clear()
        return reply

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
