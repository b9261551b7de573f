"""How far a fit has come: one changing line on a terminal or in a notebook, one line for each rule elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from . import _native


def _in_notebook() -> bool:
    """Whether output goes to a notebook's cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Hears of every rule. With `verbose` 1 the line is rewritten where that is possible; with 2 every rule has a
    line."""

    def __init__(self, verbose: int, squared: bool = False) -> None:
        self._squared = squared
        self._start = time.monotonic()
        self._handle: Any = None
        self._width = 0
        self._lines = verbose > 1
        self._notebook = not self._lines and _in_notebook()
        self._terminal = not self._lines and not self._notebook and sys.stderr.isatty()

    def __call__(self, label: str | None, rules: int, complexity: int, risk: float, rule: str) -> None:
        who = f"{label}: " if label else ""
        told = f"RMSE {_native.readable(risk**0.5, 4)}" if self._squared else f"risk {_native.readable(risk, 4)}"
        size = f"size {rules}, complexity {complexity}, {told}"
        seconds = time.monotonic() - self._start
        if self._notebook:
            self._show(f"{who}{size} ({seconds:.1f} s)")
        elif self._terminal:
            self._rewrite(f"{who}{size} ({seconds:.1f} s)")
        else:
            print(f"{who}{size}: {rule}", file=sys.stderr)

    def resampled(self, done: int, total: int) -> None:
        """Hears of every fit of a cross-validation or a bootstrap."""
        text = f"fit {done} of {total} ({time.monotonic() - self._start:.1f} s)"
        if self._notebook:
            self._show(text)
        elif self._terminal:
            self._rewrite(text)
        elif self._lines or done == total:
            print(text, file=sys.stderr)

    def _rewrite(self, text: str) -> None:
        print(f"\r{text.ljust(self._width)}", end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def _show(self, text: str) -> None:
        from IPython.display import display

        content = {"text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def close(self) -> None:
        """Leaves a terminal's line."""
        if self._terminal and self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)
