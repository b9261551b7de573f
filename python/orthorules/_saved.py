"""A fitted estimator as a file, a text, or a program of another system; and back."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from . import _native

if TYPE_CHECKING:
    from typing_extensions import Self


class SavedMixin:
    """What is written of a model."""

    _model: _native.Model
    _size: int

    @classmethod
    def _of(cls, model: _native.Model) -> Self:
        """The estimator of a model."""
        raise NotImplementedError

    def _current(self) -> _native.Model:
        check_is_fitted(self)
        return self._model if self._size == self._model.chosen else self._model.at(self._size)

    def to_json(self) -> str:
        """The model as one JSON document, the same that the command line writes."""
        return self._current().to_json()

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the model to a file that the command line reads too: whole or not at all.

        A file that is replaced keeps its mode. A link is followed; one that leads nowhere is refused.
        """
        self._current().save(path)

    def export(
        self,
        to: str,
        path: str | PathLike[str] | None = None,
        *,
        dialect: str | None = None,
        table: str | None = None,
        as_: str | None = None,
        cases: int | None = None,
        rules: int | None = None,
        complexity: int | None = None,
    ) -> str | bytes | None:
        """The model in another system, with the same numbers and its reasons.

        `to` is "python", "javascript", "c", "sql", "excel", "pmml" or "onnx". With a `path` a file is written, whole or
        not at all; without, the text is returned, of a workbook and of ONNX the bytes. SQL takes a `dialect` ("sqlite",
        "duckdb", "postgresql" or "spark"), the name of a `table`, and `as_`: "select" or "view". A workbook has
        formulas for this many `cases`. Another size is named by `rules` or `complexity`, as in `at`.
        """
        if rules is not None and complexity is not None:
            raise ValueError("export needs either rules or complexity, not both")
        written = self._current().export(
            to, dialect=dialect, table=table, form=as_, cases=cases, rules=rules, complexity=complexity
        )
        if path is None:
            return written
        _native.write_whole(path, written.encode() if isinstance(written, str) else written)
        return None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The model in a file. Data frames are then matched by the names of their columns, as on the command line."""
        return cls._of(_native.Model.load(path))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The model of a JSON document."""
        return cls._of(_native.Model.from_json(text))
