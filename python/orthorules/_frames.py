"""Data frames that hold exact numbers and print them with four digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import _native


class Frame(pd.DataFrame):  # type: ignore[misc]
    """A data frame in every way, but for how its numbers look. A format that pandas was told to use comes first."""

    @property
    def _constructor(self) -> type[Frame]:
        return Frame

    def to_string(self, *args: Any, **kwargs: Any) -> Any:
        """As pandas does it, with points below each other."""
        if not args and not _is_told(kwargs):
            kwargs["formatters"] = [_formatter(self.iloc[:, place]) for place in range(self.shape[1])]
        return super().to_string(*args, **kwargs)

    def _repr_html_(self) -> str | None:
        if _is_told({}):
            text: str | None = super()._repr_html_()
            return text
        with pd.option_context("display.float_format", lambda x: _native.readable(x, 4)):
            text = super()._repr_html_()
        return text


def _is_told(given: dict[str, Any]) -> bool:
    """Whether it was said how numbers are to look, or some columns alone were asked for."""
    asked = any(given.get(name) is not None for name in ("columns", "formatters", "float_format"))
    return asked or pd.get_option("display.float_format") is not None


def _formatter(column: pd.Series) -> Any:
    """How the numbers of a column look beside each other; nothing for others."""
    if column.dtype != np.float64:
        return None
    texts = dict(zip(column.tolist(), _native.aligned(column.tolist(), 4), strict=True))
    missing = "NaN" + " " * max((_after_point(text) for text in texts.values()), default=0)
    return lambda x: texts.get(x, missing)


def _after_point(text: str) -> int:
    """How many characters follow the whole part of a number."""
    return len(text) - min(
        (place for place in (text.find("."), text.find("e"), text.find(" ")) if place >= 0), default=len(text)
    )
