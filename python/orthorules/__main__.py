"""The command line: `orthorules` and `python -m orthorules` are the program that `cargo build` makes."""

from __future__ import annotations

import os
import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line that the process was started with, and returns its exit code."""
    _open_standard_files()
    # The engine answers Ctrl-C itself: a fit keeps the rules found so far, everything else ends at once.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["orthorules", *sys.argv[1:]])


def _open_standard_files() -> None:
    """Gives input, output and messages a place to go if they were closed: no other file may get their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(main())
