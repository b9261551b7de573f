"""What both estimators share: parameters, data in, fitting and sizes."""

from __future__ import annotations

import copy
import inspect
import json
import numbers
from collections.abc import Iterator
from os import PathLike
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_monotonic_cst,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _frame, _look, _native, _validate
from ._diff import DiffMixin
from ._edit import EditMixin
from ._evals import EvalMixin
from ._html import HtmlMixin
from ._look import LookMixin
from ._parameters import ENGINE, NUMBER_OR_WORD
from ._progress import Progress
from ._saved import SavedMixin
from .exceptions import tell

if TYPE_CHECKING:
    from typing_extensions import Self


# Parameters that are lists.
LISTS = ("require", "forbid", "interactions")


class BaseRules(DiffMixin, EditMixin, EvalMixin, HtmlMixin, LookMixin, SavedMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator made of rules."""

    _model: _native.Model
    _size: int
    _by_name: bool
    # The model that this one was made from, if it was.
    _before: _native.Model | None = None
    # The names of a data frame's columns where these are not text.
    _frame_names: list[Any] | None
    n_features_in_: int

    # ---- parameters ----

    def _options(self, folds: int | None) -> dict[str, str]:
        """The engine's parameters as text. A preset has the say where a parameter is left at its default."""
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        options = {}
        for name in ENGINE:
            if name not in defaults:
                continue  # `multiclass` is for classes alone.
            value = getattr(self, name)
            if name == "cv" and folds is not None:
                value = folds
            untouched = self.preset is not None and value == defaults[name]
            if value is not None and not untouched:
                options[name] = _text(name, value)
        options["threads"] = str(effective_n_jobs(self.n_jobs))
        if self.random_state is not None:
            options["seed"] = str(self._seed())
        return options

    def _seed(self) -> int:
        if isinstance(self.random_state, numbers.Integral):
            if self.random_state < 0:
                raise ValueError(f"random_state must be at least 0, got {self.random_state}")
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _given_folds(self, y: NDArray[Any], groups: Any) -> tuple[int, NDArray[np.intp]] | None:
        """The number of folds and the fold of each row, where `cv` is a splitter or a list of splits."""
        if self.cv is None or isinstance(self.cv, numbers.Number | str):
            return None
        # Not before it is needed: it loads much.
        from sklearn.model_selection import check_cv

        splits = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(np.empty((len(y), 0)), y, groups))
        fold = np.full(len(y), -1)
        for i, (train, test) in enumerate(splits):
            rest = np.ones(len(y), dtype=bool)
            rest[test] = False
            if (fold[test] >= 0).any() or not np.array_equal(np.sort(train), np.flatnonzero(rest)):
                raise ValueError("cv must hold out every row once, and learn from all others")
            fold[test] = i
        if (fold < 0).any():
            raise ValueError("cv must hold out every row once, and learn from all others")
        return len(splits), fold

    def _cuts(self) -> dict[str, list[float]]:
        if self.cuts is None:
            return {}
        if not hasattr(self.cuts, "items"):
            raise TypeError(f"cuts must be a dict of column names to thresholds, got {type(self.cuts).__name__}")
        return {str(name): [_validate.as_float(t) for t in np.ravel(values)] for name, values in self.cuts.items()}

    def _special(self) -> dict[str, list[tuple[float, str]]]:
        """Numbers that stand for words, by column."""
        given = self.special
        if given is None:
            return {}
        if not hasattr(given, "items"):
            raise TypeError(f"special must be a dict of column names to codes and names, got {type(given).__name__}")
        listed: dict[str, list[tuple[float, str]]] = {}
        for column, codes in given.items():
            if not hasattr(codes, "items"):
                raise TypeError(f"special[{column!r}] must be a dict of numbers to names, got {type(codes).__name__}")
            for name in codes.values():
                if not isinstance(name, str):
                    raise TypeError(f"special[{column!r}] must give names as text, got {name!r}")
            listed[str(column)] = [(_validate.as_float(code), name) for code, name in codes.items()]
        return listed

    def _monotone(self, table: _native.Table) -> dict[str, int]:
        """The features with which the score may only rise (1) or fall (-1)."""
        given = self.monotonic_cst
        if given is None:
            return {}
        if not isinstance(given, dict) and np.ndim(given) != 1:
            raise ValueError(f"monotonic_cst must be a dict or an array with one entry for each feature, got {given!r}")
        named: Any = self
        if self._frame_names is not None:
            named = SimpleNamespace(n_features_in_=self.n_features_in_, feature_names_in_=self._frame_names)
        directions = _check_monotonic_cst(named, given)
        listed = {name: int(d) for name, d in zip(self._names(), directions, strict=True) if d != 0}
        numbers, categories = table.kinds
        for name in listed:
            if name in categories:
                raise ValueError("Categorical features cannot have monotonic constraints.")
            if name not in numbers:
                raise ValueError(f"monotonic_cst: column {name!r} was left out, since no rule can use it")
        return listed

    # ---- data in ----

    def _validated(self, X: Any, *, reset: bool, by_name: bool = False) -> Any:
        """`X` as an array or a data frame, checked as scikit-learn does unless columns are found `by_name`."""
        X = _frame.opened(X)
        if _frame.library(X) == "array":
            # Where scikit-learn makes float64 of it without a word.
            objects = isinstance(X, np.ma.MaskedArray) or isinstance(X, np.ndarray) and X.dtype.kind == "O"
            if reset and objects and _validate.beyond(X):
                tell(_frame.ROUNDED.format(what="X"))
            try:
                matrix = _validate.matrix(X)
                checked = validate_data(self, matrix, reset=reset, dtype="numeric", ensure_all_finite=False)
            except (ValueError, TypeError, OverflowError) as error:
                names = None if reset else self._names()
                raise _validate.not_numbers(error, X, names) from None
            if reset:
                self._frame_names = None
            return checked
        rows, columns = _frame.rows_of(X), _frame.columns_of(X)
        for count, what in ((rows, "sample(s)"), (len(columns), "feature(s)")):
            if count == 0:
                raise ValueError(
                    f"Found array with 0 {what} (shape=({rows}, {len(columns)})) while a minimum of 1 is required "
                    f"by {type(self).__name__}."
                )
        if reset or not by_name:
            view = X
            if _frame.library(X) == "arrow":
                import pandas as pd

                view = pd.DataFrame(columns=columns)
            validate_data(self, view, reset=reset, skip_check_array=True)
        names = _frame.names_that_are_no_text(X)
        if reset:
            self._frame_names = names
        elif not by_name and self._frame_names is not None and names not in (None, self._frame_names):
            raise ValueError(
                "The feature names should match those that were passed during fit: X has the columns "
                f"{_listed(names)}, but the model was fitted to {_listed(self._frame_names)}, in this order"
            )
        return X

    def _names(self) -> list[str]:
        """The engine's names of the features."""
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        # Names that merely count the columns name nothing.
        if self._frame_names not in (None, list(range(self.n_features_in_))):
            return [str(name) for name in self._frame_names]
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _categorical(self, names: list[str]) -> list[str]:
        """The features that are to be categories whatever they hold."""
        listed = self.categorical_features
        if listed is None or isinstance(listed, str):
            if listed not in (None, "from_dtype"):
                raise ValueError(f"categorical_features must be 'from_dtype', None or a list, got {listed!r}")
            return []
        array = np.asarray(listed)
        if array.ndim != 1:
            raise ValueError(f"categorical_features must be a list, got {listed!r}")
        if array.dtype.kind == "b":
            if len(array) != len(names):
                raise ValueError(f"categorical_features has {len(array)} booleans, X has {len(names)} features")
            return [name for name, wanted in zip(names, array, strict=True) if wanted]
        if array.dtype.kind in "iu":
            for i in array:
                if not 0 <= i < len(names):
                    raise ValueError(
                        f"categorical_features: there is no feature {i} of {len(names)}: whole numbers count the "
                        f"features from 0, text names them, as with {names[0]!r}"
                    )
            return [names[i] for i in array]
        for name in array:
            if name not in names:
                raise ValueError(f"categorical_features: there is no feature called {str(name)!r}")
        return [str(name) for name in array]

    def _training_table(self, X: Any) -> _native.Table:
        names = self._names()
        listed = self._categorical(names)
        text = self.categorical_features is not None
        table = _frame.table(X, range(len(names)), names, listed, False, text, None)
        _frame.tell_of_columns(table)
        return table

    def _apply(self, X: Any, exposure: Any = None, offset: Any = None) -> _native.Activations:
        """Which rules hold for the rows of `X`."""
        table, _ = self._used_table(X, exposure, offset)
        activations = self._model.apply(table)
        if activations.unfamiliar is not None:
            tell(activations.unfamiliar)
        return activations

    def _used_table(self, X: Any, exposure: Any = None, offset: Any = None) -> tuple[_native.Table, int]:
        """The columns of `X` that rules use, with exposures and offsets, and how many rows there are."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, by_name=self._by_name)
        table = self._table(X)
        for name, values in _validate.known(self._model, exposure, offset, _frame.rows_of(X)).items():
            table.add(name, values)
        return table, _frame.rows_of(X)

    def _add_known(self, table: _native.Table, y: Any, rows: int) -> None:
        """Adds the known targets of this many rows to a table."""
        raise NotImplementedError

    def _table(self, X: Any) -> _native.Table:
        """The columns of `X` that rules use."""
        if self._by_name and _frame.library(X) != "array":
            names = [str(c) for c in _frame.columns_of(X)]
        else:
            names = self._names()
        dates = dict(self._model.dates)
        used = {dates.get(name, name) for name in self._model.used_columns if name not in names or name not in dates}
        used.update(name for name in self._model.used_columns if name in names)
        which = [i for i, name in enumerate(names) if name in used]
        chosen = [names[i] for i in which]
        # Dates are read as text, unless their parts are there.
        spelled = [*self._model.categories, *(name for name in dates.values() if name not in dates)]
        numeric = {*chosen}.difference(spelled, self._model.booleans)
        table = _frame.table(X, which, chosen, [], True, True, effective_n_jobs(self.n_jobs), spelled, numeric)
        _frame.refuse_text(table, numeric)
        _frame.tell_of_columns(table)
        table.as_booleans([name for name in chosen if name in self._model.booleans])
        if not which:
            table.add("", np.zeros(_frame.rows_of(X)))
        return table

    # ---- fitting ----

    def _learn(
        self,
        table: _native.Table,
        task: str,
        y: NDArray[Any],
        target: str,
        weight: Any,
        exposure: Any,
        groups: Any,
        positive: str | None,
        offset: Any = None,
        from_model: Any = None,
    ) -> None:
        """Learns from `table`, to which the target `y` was added."""
        before = None if from_model is None else _earlier(from_model)
        if groups is not None:
            groups = column_or_1d(_validate.unmasked(groups, "groups"))
            check_consistent_length(y, groups)
        given = self._given_folds(y, groups)
        if given is not None:
            groups = given[1]
        roles = {"sample_weight": weight, "exposure": exposure, "offset": offset, "groups": groups}
        names = self._add_roles(table, target, roles)
        if self.on_interrupt not in ("raise", "keep"):
            raise ValueError(f"on_interrupt must be 'raise' or 'keep', got {self.on_interrupt!r}")
        progress = Progress(int(self.verbose), squared=task == "regression") if self.verbose else None
        try:
            model, seconds, notes, interrupted = _native.fit(
                table,
                task=task,
                target=target,
                weight=names["sample_weight"],
                exposure=names["exposure"],
                offset=names["offset"],
                groups=names["groups"],
                positive=positive,
                categorical=self._categorical(self._names()),
                from_model=before,
                preset=self.preset,
                cuts=self._cuts(),
                special=self._special(),
                monotone=self._monotone(table),
                callback=progress,
                keep=self.on_interrupt == "keep",
                **self._options(None if given is None else given[0]),
            )
        finally:
            if progress is not None:
                progress.close()
        self._model, self._size, self._by_name, self._before = model, model.chosen, False, before
        self.seconds_ = dict(seconds)
        self.interrupted_ = interrupted
        for note in notes:
            tell(note)

    def _add_roles(self, table: _native.Table, target: str, roles: dict[str, Any]) -> dict[str, str | None]:
        """Adds columns with other parts than features to `table`, and says how they are called there."""
        taken = {*self._names(), target}
        names: dict[str, str | None] = {}
        for name, values in roles.items():
            if values is None:
                names[name] = None
                continue
            if name == "groups":
                values = np.unique(values, return_inverse=True)[1]
            free = _frame.free_name(getattr(values, "name", None), name, taken)
            taken.add(free)
            table.add(free, np.asarray(values, dtype=np.float64))
            names[name] = free
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    # ---- what the model says of itself ----

    def _parts(self) -> list[_native.Part]:
        """The scores, each at the chosen size."""
        check_is_fitted(self)
        return self._model.parts(self._size)

    @property
    def intercept_(self) -> Any:
        """β₀; one for each class, with more than two."""
        values = [part.size.intercept for part in self._parts()]
        return values[0] if len(values) == 1 else np.array(values)

    @property
    def complexity_(self) -> int:
        """Rules plus conditions of the chosen size."""
        check_is_fitted(self)
        return self._model.extents[self._size][1]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each feature moves the score, as shares that sum to 1; all 0 for a model without rules.

        A rule of weight w that covers the share p of the training rows moves the score by |w| · 2p(1 − p): the mean
        distance of its contribution from the mean of that. Its columns get equal parts of it. The classes' rules are
        added up.
        """
        rules = [part.rules[k] for part in self._parts() for k in part.size.members]
        places = {name: i for i, name in enumerate(self._names())}
        # Parts of a date count for the column of dates.
        places |= {part: places[date] for part, date in self._model.dates if part not in places and date in places}
        moved = np.zeros(len(self._names()))
        for rule, importance in zip(rules, _look.importance(self), strict=True):
            for column in rule.columns:
                moved[places[column]] += importance / len(rule.columns)
        whole = moved.sum()
        return moved / whole if whole > 0 else moved

    # ---- sizes ----

    def at(self, *, rules: int | None = None, complexity: int | None = None) -> Self:
        """This model at another size, without refitting.

        `rules` names a number of rules (for each class, with more than two); of several sizes with as many rules the
        most complex is taken. `complexity` takes the largest size up to that complexity.
        """
        check_is_fitted(self)
        if (rules is None) == (complexity is None):
            raise ValueError("at needs either rules or complexity")
        extents = self._model.extents
        if rules is not None:
            found = [i for i, extent in enumerate(extents) if extent[0] == rules]
            if not found:
                known = sorted({extent[0] for extent in extents})
                raise ValueError(f"there is no size with {rules} rules; there are {', '.join(map(str, known))}")
        elif complexity is not None:
            found = [i for i, extent in enumerate(extents) if extent[1] <= complexity]
            if not found:
                raise ValueError(f"complexity must be at least 0, got {complexity}")
        other = copy.copy(self)
        other._size = found[-1]
        return other

    def _staged(
        self, X: Any, exposure: Any = None, offset: Any = None
    ) -> Iterator[tuple[_native.Activations, int]]:
        activations = self._apply(X, exposure, offset)
        for size in range(len(self._model.sizes)):
            yield activations, size

    # ---- from a model ----

    @classmethod
    def _of(cls, model: _native.Model) -> Self:
        self = cls()
        self._model, self._size, self._by_name, self._frame_names = model, model.chosen, True, None
        self._adopt(model)
        names = model.columns
        self.n_features_in_ = len(names)
        if names != [f"x{i}" for i in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.seconds_, self.interrupted_ = {}, False
        return self

    def _adopt(self, model: _native.Model) -> None:
        """Takes over what a model says of the task."""
        raise NotImplementedError


def _earlier(model: Any) -> _native.Model:
    """A model that a fit goes on from: a fitted estimator, or the path of a model file."""
    if isinstance(model, str | PathLike):
        return _native.Model.load(model)
    if not isinstance(model, SavedMixin):
        raise TypeError(f"from_model must be a fitted estimator or a path, got {type(model).__name__}")
    return model._current()


def _text(name: str, value: Any) -> str:
    """A parameter as the engine reads it."""
    if isinstance(value, str):
        if name in LISTS:
            raise ValueError(f"{name} must be a list, got {value!r}")
        return value
    if name in LISTS:
        return json.dumps([text if isinstance(text, str) else _group(text) for text in value])
    if name == "column_cost":
        if not hasattr(value, "items"):
            raise TypeError(f"column_cost must be a dict of column names to costs, got {type(value).__name__}")
        return _costs(value)
    if name == "sets" and isinstance(value, bool | np.bool_):
        return "on" if value else "off"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number{' or text' if name in NUMBER_OR_WORD else ''}, got {value!r}")
    if isinstance(value, numbers.Integral) and abs(int(value)) < 2**64:
        return str(int(value))
    return repr(_validate.as_float(value))


def _costs(given: Any) -> str:
    """Costs of columns as the engine reads them."""
    costs = {str(name): _validate.as_float(cost) for name, cost in given.items()}
    for name, cost in costs.items():
        if not 0 <= cost < float("inf"):
            raise ValueError(f"column_cost must be numbers of at least 0, got {cost} for {name!r}")
    return json.dumps(costs)


def _group(names: Any) -> str:
    """Names as the engine reads a group of columns."""
    quoted = (str(name).replace('"', '""') for name in names)
    return ",".join(f'"{name}"' for name in quoted)


def _listed(names: list[Any]) -> str:
    """The first few names."""
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
