"""The rows of a Spark data frame: how they come to the executors' disks, and who answers for them.

A job writes every partition of the data frame to a file on the executor that computed it, and leaves one row in Spark's
cache: the number of the partition, the folder of the file, and a stamp of what is in it. Each question is a job over
these rows. Spark runs its tasks where the rows are cached. Where an executor was lost, Spark computes its partitions
again elsewhere, which writes their files again; another stamp than before ends the fit.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import queue
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import _native
from ._elsewhere import Missing, Round, merged
from ._holder import Failure, asked

# Partitions whose replies are merged by the driver. Those of more are first merged by executors.
_FLAT = 64
# Seconds without any executor after which a fit gives up.
_PATIENCE = 30.0
# How often a question is asked, and a job run, that ends with something lost.
_ATTEMPTS = 6
# What Spark says when a process was lost, rather than that the work is wrong.
_LOST = ("Python worker exited unexpectedly", "ExecutorLostFailure", "FetchFailed", "Connection reset")

_ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "OSError": OSError}


class Fit(NamedTuple):
    """The name of a fit, and what only its own processes know."""

    name: str
    key: bytes


# ---- on the executors ----


def _folders() -> Callable[[str], str]:
    # A function within a function is sent to executors as it is, and not by the name of this module.
    def folder(fit: str) -> str:
        """The folder of a fit on this executor. Spark removes it with the executor."""
        import os
        import tempfile

        place = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or tempfile.gettempdir()
        return os.path.join(place, f"orthorules-{fit}")

    return folder


_folder = _folders()


class _Stamp:
    """What tells whether rows are the same. It sees values, not how they lie in memory nor in which pieces they
    came."""

    def __init__(self, names: list[str]) -> None:
        self._rows = 0
        self._columns = [(hashlib.blake2b(name.encode()), hashlib.blake2b()) for name in names]

    def update(self, batch: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._rows += batch.num_rows
        for array, (present, values) in zip(batch.columns, self._columns, strict=True):
            present.update(np.asarray(pc.is_valid(array).to_numpy(zero_copy_only=False)).tobytes())
            if pa.types.is_floating(array.type) or pa.types.is_integer(array.type):
                values.update(np.ascontiguousarray(pc.fill_null(array, 0).to_numpy(zero_copy_only=False)).tobytes())
                continue
            text = pc.fill_null(pc.cast(array, pa.large_string()), "")
            present.update(pc.binary_length(text).to_numpy(zero_copy_only=False).tobytes())
            _, offsets, data = text.buffers()
            if data is not None and len(text):
                ends = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
                values.update(memoryview(data)[int(ends[0]) : int(ends[-1])])

    def __str__(self) -> str:
        whole = hashlib.blake2b(digest_size=16)
        for pair in self._columns:
            for part in pair:
                whole.update(part.digest())
        return f"{self._rows} rows {whole.hexdigest()}"


def _schema(frame: Any) -> Any:
    """Arrow's types of a Spark frame. Moments are in the time zone of the session, in which pandas sees them, too."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import TimestampType

    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    schema = to_arrow_schema(frame.schema)
    for i, field in enumerate(frame.schema.fields):
        if isinstance(field.dataType, TimestampType):
            schema = schema.set(i, schema.field(i).with_type(pa.timestamp("us", tz=zone)))
    return schema


def _load(fit: str, schema: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Writes the rows of a partition beside the executor, unless they are there, and tells where."""
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    number, folder = context.partitionId(), _folder(fit)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path, note = (os.path.join(folder, f"{number}.{end}") for end in ("arrow", "stamp"))
    if not (os.path.exists(note) and os.path.exists(path)):
        stamp = _Stamp(schema.names)
        # An attempt that was given up may still be writing.
        new = f"{path}.{uuid.uuid4().hex}"
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(new, schema, options=options) as writer:
            for batch in batches:
                stamp.update(batch)
                columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
        with open(f"{new}.stamp", "w", encoding="ascii") as file:
            file.write(str(stamp))
        os.replace(new, path)
        os.replace(f"{new}.stamp", note)
    with open(note, encoding="ascii") as file:
        told = file.read()
    yield pa.record_batch({"number": pa.array([number], pa.int32()), "folder": [folder], "stamp": [told]})


def _answer(fit: Fit, message: bytes, stamps: dict[int, str], number: int, rows: Iterable[Any]) -> Iterator[Any]:
    """The reply of a partition with its number; what is missing, or what went wrong, takes its place."""
    from pyspark import TaskContext

    yield number, _reply(fit, message, stamps, number, list(rows), TaskContext.get().cpus())


def _reply(fit: Fit, message: bytes, stamps: dict[int, str], number: int, rows: list[Any], threads: int) -> Any:
    folder = _folder(fit.name)
    # Spark may run a task elsewhere than where its row is cached.
    if len(rows) != 1 or rows[0]["folder"] != folder or not os.path.isdir(folder):
        return Missing([number])
    stamp = rows[0]["stamp"]
    if stamp != stamps[number]:
        return Failure("ValueError", changed(number))
    path = os.path.join(folder, f"{number}.arrow")
    try:
        reply = asked(folder, fit.key, _native.__file__, number, path, stamp, threads, message)
    except Failure as failure:
        return failure
    except FileNotFoundError:
        reply = None
    return Missing([number]) if reply is None else reply


def _in_order(replies: Iterable[tuple[int, Any]]) -> Any:
    """Numbered replies of neighbours as one."""
    ordered = [reply for _, reply in sorted(replies, key=lambda pair: pair[0])]
    failure = next((reply for reply in ordered if isinstance(reply, Failure)), None)
    return merged(ordered) if failure is None else failure


def _gathered(replies: Iterable[tuple[int, tuple[int, Any]]]) -> Iterator[tuple[int, Any]]:
    listed = list(replies)
    if listed:
        yield listed[0][0], _in_order(pair for _, pair in listed)


def _forgetting(fit: str) -> Callable[[Iterable[Any]], None]:
    """What removes the files of a fit from an executor. Its process sees that and ends.

    It needs nothing of this package: after an interrupt the workers are new, and would spend seconds on importing it.
    """
    folder = _folder

    def forget(rows: Iterable[Any]) -> None:
        import shutil

        # A worker that leaves rows unread is not used again.
        for _ in rows:
            pass
        shutil.rmtree(folder(fit), ignore_errors=True)

    return forget


def changed(number: int) -> str:
    """What is wrong with rows that are not what they were."""
    return (
        f"partition {number} has other rows than before: the source has changed, or the data frame gives "
        "rows in another order each time; write it to files first, or sort it"
    )


# ---- here ----


class _Thread:
    """Runs jobs one after the other, so that waiting for them can be interrupted."""

    def __init__(self, session: Any, group: str) -> None:
        from pyspark import inheritable_thread_target

        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

        def work() -> None:
            session.sparkContext.setJobGroup(group, "orthorules", interruptOnCancel=True)
            while (job := self._jobs.get()) is not None:
                job()

        threading.Thread(target=inheritable_thread_target(session)(work), daemon=True, name="orthorules jobs").start()

    def start(self, job: Callable[[], Any]) -> tuple[threading.Event, list[Any]]:
        """Starts a job. The event tells of its end; the list has its result or its exception then."""
        done, outcome = threading.Event(), list[Any]()

        def run() -> None:
            try:
                outcome.append(job())
            except BaseException as error:
                outcome.append(error)
            finally:
                done.set()

        self._jobs.put(run)
        return done, outcome

    def end(self) -> None:
        self._jobs.put(None)


class Rows:
    """The partitions of a data frame, and the executors that have them."""

    def __init__(self, frame: Any) -> None:
        self.fit = Fit(uuid.uuid4().hex, secrets.token_bytes(32))
        # Rounds of questions.
        self.rounds: list[Round] = []
        # What the partitions looked like at first.
        self.stamps: dict[int, str] = {}
        self._frame = frame
        self._context = frame.sparkSession.sparkContext
        self._thread = _Thread(frame.sparkSession, self.fit.name)
        self._loaded: Any = None

    def ask(self, message: bytes) -> bytes:
        """What all partitions reply together."""
        started = time.monotonic()
        if self._loaded is None:
            self._load()
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._load()
            reply = self._run(partial(self._replies, message))
            if isinstance(reply, Failure):
                kind, text = reply.args
                raise _ERRORS.get(kind, RuntimeError)(text)
            if not isinstance(reply, Missing):
                self.rounds.append((len(message), len(reply), time.monotonic() - started))
                return bytes(reply)
        raise RuntimeError("partitions are lost faster than they are read: the fit cannot go on")

    def _load(self) -> None:
        """Brings rows to the executors' disks, where they are not there yet."""
        from pyspark import StorageLevel

        if self._loaded is not None:
            self._loaded.unpersist()
        load = partial(_load, self.fit.name, _schema(self._frame))
        # Spark does not find columns whose names have dots in them.
        plain = self._frame.toDF(*(f"c{i}" for i in range(len(self._frame.columns))))
        told = plain.mapInArrow(load, "number int, folder string, stamp string")
        # Plans that adapt themselves run parts of the work to learn how many partitions there are.
        self._loaded = self._run(lambda: told.rdd.persist(StorageLevel.MEMORY_AND_DISK))
        stamps = {row["number"]: row["stamp"] for row in self._run(self._loaded.collect)}
        if not stamps:
            raise ValueError("the data frame has no partitions, so no rows")
        self.stamps = self.stamps or stamps
        for number, stamp in self.stamps.items():
            if stamps.get(number) != stamp:
                raise ValueError(changed(number))

    def _replies(self, message: bytes) -> Any:
        """One job: the merged reply, or what is missing, or what went wrong."""
        replies = self._loaded.mapPartitionsWithIndex(partial(_answer, self.fit, message, self.stamps))
        count = len(self.stamps)
        if count > _FLAT:
            size = math.ceil(math.sqrt(count))
            groups = replies.map(lambda pair: (pair[0] // size, pair)).partitionBy(math.ceil(count / size), int)
            replies = groups.mapPartitions(_gathered)
        return _in_order(replies.collect())

    def _executors(self) -> int:
        context = self._context._jsc.sc()
        # The driver is counted too.
        return 1 if context.isLocal() else int(context.getExecutorMemoryStatus().size()) - 1

    def _run(self, job: Callable[[], Any]) -> Any:
        """The result of a job, run again where a process was lost; an error if no executor is left."""
        for attempt in range(_ATTEMPTS):
            done, outcome = self._thread.start(job)
            alone = time.monotonic()
            while not done.wait(1.0):
                if self._executors() > 0:
                    alone = time.monotonic()
                elif time.monotonic() - alone > _PATIENCE:
                    raise RuntimeError("no executor is left: the fit cannot go on")
            result = outcome[0]
            if not isinstance(result, BaseException):
                return result
            lost = any(sign in str(result) for sign in _LOST)
            if not lost or attempt + 1 == _ATTEMPTS:
                raise result
        raise AssertionError("unreachable")

    def close(self, whole: bool) -> None:
        """Leaves no job, file or process behind. That is not waited for. `whole` says that the fit came to its end."""
        context, loaded, name = self._context, self._loaded, self.fit.name

        def forget() -> None:
            # A row that Spark has lost would be computed again, and with it a partition.
            spread = loaded if whole else context.parallelize(range(2 * context.defaultParallelism))
            spread.foreachPartition(_forgetting(name))
            loaded.unpersist()

        if not whole:
            with contextlib.suppress(Exception):
                context.cancelJobGroup(name)
        if loaded is not None:
            self._thread.start(forget)
        self._thread.end()
