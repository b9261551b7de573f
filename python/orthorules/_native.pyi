"""The engine, in Rust."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str
PRESETS: list[str]

def parameters() -> list[tuple[str, str | None, str, str]]: ...
def write_whole(path: str | PathLike[str], data: bytes) -> None: ...
def plain(x: float) -> str: ...
def rounded(x: float, digits: int) -> str: ...
def readable(x: float, digits: int) -> str: ...
def aligned(values: list[float], digits: int) -> list[str]: ...
def main(arguments: list[str]) -> int: ...
def generate(name: str, rows: int = 0, seed: int = 0) -> dict[str, Any]: ...

def wanting(model: Model, edits: str, refit: str) -> Model: ...
def edited(
    model: Model,
    table: Table,
    edits: str | None,
    refit: str,
    *,
    weight: str | None = None,
    reg_lambda: float | None = None,
    cv: int | None = None,
    seed: int = 0,
) -> Model: ...
def ledger(model: Model) -> str: ...
def diff(
    before: Model,
    after: Model,
    sizes: tuple[int, int],
    tables: tuple[Table, Table] | None = None,
    examples: int = 5,
) -> str: ...
def moved(before: Model, after: Model) -> str: ...
def provenance(model: Model) -> tuple[str, str] | None: ...
def alternatives(
    model: Model,
    table: Table,
    rule: str | None,
    without: list[str],
    *,
    weight: str | None = None,
    reg_lambda: float | None = None,
) -> str: ...

class Table:
    warnings: list[str]
    kinds: tuple[list[str], list[str]]
    @staticmethod
    def of_columns(columns: list[tuple[Any, ...]], categorical: list[str], keep: list[str]) -> Table: ...
    @staticmethod
    def of_array(
        array: NDArray[Any], which: list[int], names: list[str], categorical: list[str], threads: int | None
    ) -> Table: ...
    def not_numeric(self, names: list[str]) -> tuple[str, int, str] | None: ...
    def add(self, name: str, array: NDArray[np.float64]) -> None: ...
    def add_labels(self, name: str, kind: str, codes: NDArray[np.float64], names: list[str]) -> None: ...
    def as_booleans(self, names: list[str]) -> None: ...

class Size:
    rules: int
    complexity: int
    members: list[int]
    intercept: float
    weights: list[float]
    train_risk: float

class Rule:
    text: str
    told: str
    conditions: int
    range: tuple[float, float] | None
    columns: list[str]
    covered: int
    value: float
    bound: float | None
    proven: bool

class Part:
    label: str | None
    rules: list[Rule]
    path: list[Size]
    place: int
    size: Size
    counted: str

class Model:
    sizes: list[list[int]]
    chosen: int
    used_columns: list[str]
    booleans: list[str]
    categories: list[str]
    dates: list[tuple[str, str]]
    classes: list[str]
    exposure: str | None
    offset: str | None
    task: str
    link: str
    shared: bool
    loss: str
    target: str
    target_kind: str
    rows: int | None
    columns: list[str]
    meaning: str
    sum_of_weights: str
    extents: list[tuple[int, int]]
    cv: list[tuple[int, int, float, float]]
    cv_measures: tuple[float | None, float, float] | None
    uncertainty: list[list[tuple[float, float, float]]]
    def parts(self, size: int) -> list[Part]: ...
    @staticmethod
    def from_json(text: str) -> Model: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def to_json(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    fingerprint: str
    def export(
        self,
        to: str,
        *,
        dialect: str | None = None,
        table: str | None = None,
        form: str | None = None,
        cases: int | None = None,
        rules: int | None = None,
        complexity: int | None = None,
    ) -> str | bytes: ...
    def at(self, size: int) -> Model: ...
    def risks(
        self, table: Table, weight: str | None = None, exposure: str | None = None, offset: str | None = None
    ) -> list[tuple[int, int, float]]: ...
    def apply(self, table: Table) -> Activations: ...
    def report(self, path: str | PathLike[str], size: int, table: Table | None = None) -> None: ...
    def recourse(
        self,
        table: Table,
        size: int,
        *,
        change_to: int | None = None,
        below: float | None = None,
        above: float | None = None,
        lock: list[str] = ...,
        most: int = 5,
    ) -> tuple[bool, bool, list[tuple[list[tuple[str, Any, str, Any, int]], list[float]]]]: ...

class Activations:
    unfamiliar: str | None
    def predict(self, size: int) -> NDArray[np.float64]: ...
    def labels(self, size: int) -> NDArray[np.uint32]: ...
    def scores(self, size: int) -> list[NDArray[np.float64]]: ...
    def offsets(self) -> NDArray[np.float64] | None: ...
    def fires(self, score: int, rule: int) -> NDArray[np.bool_]: ...
    def amounts(self, score: int, rule: int) -> NDArray[np.float64]: ...

def fit(
    table: Table,
    *,
    task: str,
    target: str,
    weight: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    groups: str | None = None,
    positive: str | None = None,
    categorical: list[str] = ...,
    from_model: Model | None = None,
    preset: str | None = None,
    cuts: dict[str, list[float]] | None = None,
    special: dict[str, list[tuple[float, str]]] | None = None,
    monotone: dict[str, int] | None = None,
    callback: Any | None = None,
    keep: bool = False,
    **options: str,
) -> tuple[Model, list[tuple[str, float]], list[str], bool]: ...

class Fit:
    def __init__(
        self,
        *,
        target: str,
        task: str | None = None,
        weight: str | None = None,
        exposure: str | None = None,
        offset: str | None = None,
        positive: str | None = None,
        categorical: list[str] = ...,
        by_type: list[str] = ...,
        ordered: dict[str, list[str]] = ...,
        ignore: list[str] = ...,
        gather: str = "auto",
        preset: str | None = None,
        cuts: dict[str, list[float]] | None = None,
        special: dict[str, list[tuple[float, str]]] | None = None,
        monotone: dict[str, int] | None = None,
        **options: str,
    ) -> None: ...
    def ask(self) -> bytes | None: ...
    def answer(self, reply: bytes) -> None: ...
    def stop(self) -> None: ...
    def news(self) -> list[tuple[str | None, int, int, float, str]]: ...
    def result(self) -> tuple[Model, list[tuple[str, float]], list[str], int]: ...

class Partition:
    coded: bool
    def __init__(self, path: str | PathLike[str], number: int, stamp: str, threads: int | None = None) -> None: ...
    def answer(self, message: bytes) -> bytes: ...

def merge(first: bytes, next: bytes) -> bytes: ...
def partition_files(path: str | PathLike[str]) -> list[str]: ...
