"""A process that holds partitions of one fit beside Spark's workers, and how these ask it.

Spark gives a task to any of an executor's Python processes. If these held codes, each would come to hold all of them.
So an executor has one process more for each fit, which this file is the program of. The first task that needs it starts
it; a task that finds it dead starts another. It reads the rows again from the files that lie in its folder.

It ends when its folder is removed, when the executor is gone, or when no question came for a while.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # The folder of this file holds modules with the names of others, such as Dask's.
    sys.path.pop(0)

import contextlib
import importlib.machinery
import importlib.util
import json
import os
import socket
import subprocess
import threading
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

# Where the process tells its port and its number.
_PLACE = "holder"
# Seconds without a question after which it ends. The next question then starts another.
_IDLE = 900.0
# Seconds until a process that was started must be there, and how often one is started for a question.
_PATIENCE, _ATTEMPTS = 30.0, 4


def _place(folder: str) -> tuple[int, int] | None:
    """The port and the number of the process of a folder, if there is one."""
    try:
        with open(os.path.join(folder, _PLACE), encoding="ascii") as file:
            port, process = file.read().split()
        return int(port), int(process)
    except (FileNotFoundError, NotADirectoryError):
        return None


# ---- the process ----


class _Holder:
    def __init__(self, native: Any, folder: str, owner: int, key: bytes) -> None:
        self._native, self._folder, self._owner, self._key = native, folder, owner, key
        self._held: dict[int, tuple[str, Any]] = {}
        self._lock = threading.Lock()
        self._asked = time.monotonic()
        self._busy = 0

    def serve(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.5)
            own = (int(listener.getsockname()[1]), os.getpid())
            if not self._publish(own):
                return  # Another was faster.
            while self._wanted(own):
                with contextlib.suppress(TimeoutError):
                    connection, _ = listener.accept()
                    connection.setblocking(True)
                    threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _publish(self, own: tuple[int, int]) -> bool:
        new = os.path.join(self._folder, f"{_PLACE}.{os.getpid()}")
        with open(new, "x", encoding="ascii") as file:
            file.write(f"{own[0]} {own[1]}")
        try:
            os.link(new, os.path.join(self._folder, _PLACE))
        except FileExistsError:
            return False
        finally:
            os.unlink(new)
        return True

    def _wanted(self, own: tuple[int, int]) -> bool:
        if os.name == "posix":
            try:
                os.kill(self._owner, 0)
            except ProcessLookupError:
                return False
            except PermissionError:
                pass
        with self._lock:
            idle = not self._busy and time.monotonic() - self._asked > _IDLE
        return not idle and _place(self._folder) == own

    def _talk(self, accepted: socket.socket) -> None:
        """One question and its answer. A question must have the key of the fit."""
        with Connection(accepted.detach()) as line, contextlib.suppress(Exception):
            deliver_challenge(line, self._key)
            answer_challenge(line, self._key)
            number, path, stamp, threads = json.loads(line.recv_bytes())
            message = line.recv_bytes()
            with self._lock:
                self._busy += 1
            try:
                line.send_bytes(self._reply(number, path, stamp, threads, message))
            finally:
                with self._lock:
                    self._busy -= 1
                    self._asked = time.monotonic()

    def _reply(self, number: int, path: str, stamp: str, threads: int, message: bytes) -> bytes:
        with self._lock:
            known = self._held.get(number)
            if known is None or known[0] != stamp:
                known = (stamp, self._native.Partition(path, number, stamp, threads))
                self._held[number] = known
        try:
            return b"+" + bytes(known[1].answer(message))
        except FileNotFoundError:
            return b"?"
        except Exception as error:
            return b"-" + json.dumps([type(error).__name__, str(error)]).encode()


def _native(path: str) -> Any:
    """The engine alone: the package around it takes a second to load."""
    loader = importlib.machinery.ExtensionFileLoader("orthorules._native", path)
    spec = importlib.util.spec_from_file_location("orthorules._native", path, loader=loader)
    if spec is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


# ---- the side that asks ----

# What this process started, so that it can be waited for when it has ended.
_started: list[subprocess.Popen[bytes]] = []


class Failure(Exception):
    """What a partition answered instead of a reply: the name of an exception and its text."""


def asked(
    folder: str, key: bytes, native: str, number: int, path: str, stamp: str, threads: int, message: bytes
) -> bytes | None:
    """The reply of a partition; nothing if its rows are not here any more."""
    for _ in range(_ATTEMPTS):
        place = _place(folder) or _start(folder, key, native)
        if place is None:
            continue
        try:
            with _connected(place[0]) as line:
                answer_challenge(line, key)
                deliver_challenge(line, key)
                line.send_bytes(json.dumps([number, path, stamp, threads]).encode())
                line.send_bytes(message)
                reply = line.recv_bytes()
        except (OSError, EOFError, AuthenticationError):
            # It was killed. The first to see that clears the place.
            if _place(folder) == place:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, _PLACE))
            continue
        if reply[:1] == b"-":
            raise Failure(*json.loads(reply[1:]))
        return reply[1:] if reply[:1] == b"+" else None
    raise Failure(
        "RuntimeError",
        f"the process that holds rows was lost {_ATTEMPTS} times: an executor has too little memory beside Spark's own",
    )


def _connected(port: int) -> Connection[Any, Any]:
    accepted = socket.create_connection(("127.0.0.1", port))
    accepted.setblocking(True)
    return Connection(accepted.detach())


def _start(folder: str, key: bytes, native: str) -> tuple[int, int] | None:
    """Starts the process of a folder, and tells where it, or one that was faster, is to be found."""
    _started[:] = [process for process in _started if process.poll() is None]
    command = [sys.executable, __file__, native, folder, str(os.getppid())]
    new = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    _started.append(new)
    if new.stdin is not None:
        with contextlib.suppress(BrokenPipeError), new.stdin:
            new.stdin.write(key)
    since = time.monotonic()
    while time.monotonic() - since < _PATIENCE:
        place = _place(folder)
        if place is not None or new.poll() is not None:
            return place
        time.sleep(0.01)
    return None


if __name__ == "__main__":
    _Holder(_native(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.stdin.buffer.read()).serve()
