"""What may happen to a fit on Spark while it goes on: processes are killed, files are lost."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import orthorules._spark_rows as inside
import pytest
from orthorules._holder import _place as place_of


class at_round:  # noqa: N801
    """Does something to the rows when the n-th question is asked, and sees how long each takes."""

    def __init__(self, round_, what, after=None):
        self.round, self.what, self.after = round_, what, after
        self.found, self.seconds, self.count = None, [], 0

    def do(self, rows):
        """Looks again where there was nothing to do it to yet."""
        for _ in range(6000):
            self.found = self.what(rows)
            if self.found:
                break
            time.sleep(0.01)

    def patched(self):
        patch, ask = pytest.MonkeyPatch(), inside.Rows.ask

        def asked(rows, message):
            self.count += 1
            if self.count == self.round:
                if self.after is None:
                    self.found = self.what(rows)
                else:
                    threading.Timer(self.after, self.do, [rows]).start()
            began = time.monotonic()
            try:
                return ask(rows, message)
            finally:
                self.seconds.append(time.monotonic() - began)

        patch.setattr(inside.Rows, "ask", asked)
        return undoing(patch)


class undoing:  # noqa: N801
    def __init__(self, patch):
        self.patch = patch

    def __enter__(self):
        return self.patch

    def __exit__(self, *_):
        self.patch.undo()


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # Its parent may not have waited for it yet.
    return not Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].startswith(" Z")


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def places(rows):
    """The folders of a fit on this machine, with the port and number of the process that holds its rows."""
    for folder in {row["folder"] for row in rows._loaded.collect()}:
        yield folder, place_of(folder)


def processes(name):
    """The numbers of programs that this one has started, also through others, with those of their parents."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if above == os.getpid() != process and name in Path(f"/proc/{process}/cmdline").read_text():
                yield process, parents[process]


def kill_workers(_):
    """Kills the Python processes that run tasks, not the one that starts them."""
    found = dict(processes("pyspark.daemon"))
    workers = [process for process, parent in found.items() if parent in found]
    for process in workers:
        os.kill(process, signal.SIGKILL)
    return workers


def kill_holders(rows):
    killed = [place[1] for _, place in places(rows) if place is not None]
    for process in killed:
        os.kill(process, signal.SIGKILL)
    return killed
