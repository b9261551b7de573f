"""Rules from Spark data frames: the model of one machine, to the last byte, as a stage of `pyspark.ml`.

>>> from orthorules.spark import RuleRegressor  # doctest: +SKIP
>>> model = RuleRegressor(label_col="y", max_rules=9).fit(frame)  # doctest: +SKIP
>>> model.transform(frame)  # doctest: +SKIP

The rows of a large table stay on the executors as small codes. The fit runs on the driver and asks for counts, one
small job for each question. Executors keep nothing that cannot be made again from the data frame, so any of them may be
lost. Small tables are brought to the driver, unless gather="never" says that rows are not to leave the executors.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol, HasProbabilityCol, HasRawPredictionCol, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from ._classifier import RuleClassifier as LocalClassifier
from ._elsewhere import Round, learned, refuse, started
from ._files import from_json
from ._regressor import RuleRegressor as LocalRegressor
from ._spark_rows import Rows
from .exceptions import tell

__all__ = ["RuleClassificationModel", "RuleClassifier", "RuleRegressionModel", "RuleRegressor"]

# Kinds of columns that rules can use, and that a table can be read from.
_KINDS = (T.NumericType, T.BooleanType, T.StringType, T.DateType, T.TimestampType, T.TimestampNTZType)


def _column(name: str) -> Any:
    quoted = name.replace("`", "``")
    return F.col(f"`{quoted}`")


def _chosen(frame: Any, names: list[str]) -> Any:
    """These columns. A time is what clocks show in the time zone of the session."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    columns = []
    for name in names:
        column = _column(name)
        if isinstance(kinds[name], T.TimestampType):
            column = column.cast("timestamp_ntz").alias(name)
        columns.append(column)
    return columns


class _Columns(HasLabelCol, HasPredictionCol, HasWeightCol):  # type: ignore[misc]
    """The names of columns, which estimators and models share."""

    featuresCols: Param = Param(
        Params._dummy(),
        "featuresCols",
        "columns that rules may use; without it all but label, weight, exposure and offset",
        typeConverter=TypeConverters.toListString,
    )
    exposureCol: Param = Param(
        Params._dummy(),
        "exposureCol",
        "column of exposures: the mean of the label is exposure × rate",
        typeConverter=TypeConverters.toString,
    )

    offsetCol: Param = Param(
        Params._dummy(),
        "offsetCol",
        "column of offsets: a part of the score that is known, with weight 1",
        typeConverter=TypeConverters.toString,
    )

    def _named(self, param: str) -> Any:
        """The value of a parameter that need not be set."""
        return self.getOrDefault(param) if self.isDefined(param) else None


class _SparkRules(_Columns, Estimator, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """An estimator whose rows are a Spark data frame."""

    _kind: ClassVar[Any]
    _model_kind: ClassVar[Any]
    _names: ClassVar[tuple[str, ...]]

    gather: Param = Param(
        Params._dummy(),
        "gather",
        "'auto': small tables are brought to the driver; 'never': no rows leave the executors",
        typeConverter=TypeConverters.toString,
    )

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Every parameter of the ordinary estimator is one of pyspark.ml too.
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(cls._kind.__init__).parameters.items()
            if name != "self"
        }
        cls._names = tuple(defaults)
        for name in defaults:
            setattr(cls, name, Param(Params._dummy(), name, f"{name} of orthorules.{cls.__name__}"))

    def _given(self, columns: dict[str, Any], parameters: dict[str, Any]) -> None:
        defaults = self._kind().get_params(deep=False)
        for name in parameters:
            if name not in defaults:
                raise TypeError(f"{type(self).__name__} got an unexpected keyword argument {name!r}")
        self._setDefault(**defaults, gather="auto")
        self._set(**{name: value for name, value in columns.items() if value is not None})
        self._set(**parameters)

    def _local(self) -> Any:
        """The ordinary estimator with these parameters."""
        return self._kind(**{name: self.getOrDefault(name) for name in self._names})

    def _table(self, dataset: Any, local: Any) -> tuple[Any, dict[str, str | None], list[str]]:
        """The columns that take part, their roles, and which of them are categories."""
        if type(dataset).__module__.startswith("pyspark.sql.connect"):
            raise TypeError("orthorules.spark needs a classic Spark session: Spark Connect does not show partitions")
        names = {"target": self.getLabelCol(), "weight": self._named("weightCol")}
        names |= {"exposure": self._named("exposureCol"), "offset": self._named("offsetCol")}
        roles = [name for name in names.values() if name is not None]
        features = self._named("featuresCols")
        if features is None:
            features = [name for name in dataset.columns if name not in roles]
        if not features:
            raise ValueError("there is no column for rules to use: featuresCols is empty")
        kinds = {field.name: field.dataType for field in dataset.schema.fields}
        for name in [*features, *roles]:
            if name not in kinds:
                raise ValueError(f"the data frame has no column {name!r}")
            if not isinstance(kinds[name], _KINDS):
                raise ValueError(
                    f"column {name!r} is of type {kinds[name].simpleString()}: features_cols may only name "
                    "columns of numbers, booleans, text and dates"
                )
        for name in roles:
            if name in features or roles.count(name) > 1:
                raise ValueError(f"column {name!r} cannot have two roles")
        categorical = local._categorical(features)
        return dataset.select(*_chosen(dataset, [*features, *roles])), names, categorical

    def _fit(self, dataset: Any) -> Any:
        local = self._local()
        refuse(local, "weight_col")
        frame, names, categorical = self._table(dataset, local)
        fit = started(local, names, categorical, self.getOrDefault(self.gather))
        rows, whole = Rows(frame), False
        try:
            fitted, notes, searched = learned(local, fit, rows.ask)
            whole = True
        finally:
            rows.close(whole)
        for note in notes:
            tell(note)
        model = self._model_kind(fitted)
        model.rounds_, model.searched_ = rows.rounds, searched
        return self._copyValues(model)


class _SparkModel(_Columns, Model, MLReadable, MLWritable):  # type: ignore[misc]
    """A model that adds columns to data frames."""

    # Bytes of every message and reply, and the seconds until the reply was there.
    rounds_: list[Round]
    # Nodes that were searched where the rows are: there are at most 5 messages more.
    searched_: int

    def __init__(self, local: Any = None) -> None:
        super().__init__()
        self._local = local
        self.rounds_, self.searched_ = [], 0

    def to_local(self) -> Any:
        """The ordinary estimator with the model that was learned."""
        return self._local

    def to_json(self) -> str:
        """The model as one JSON document, the same that the command line writes."""
        text: str = self._local.to_json()
        return text

    def _needed(self, dataset: Any) -> list[str]:
        """The columns of a data frame that rules use."""
        model = self._local._model
        dates, there = dict(model.dates), set(dataset.columns)
        needed = {name if name in there else dates.get(name, name) for name in model.used_columns}
        for name in sorted(needed - there):
            raise ValueError(f"the data frame has no column {name!r}, which the model uses")
        return [name for name in dataset.columns if name in needed]

    def _outputs(self) -> dict[str, tuple[str, Any]]:
        """The columns that are added, by what they hold: their names and types."""
        raise NotImplementedError

    def _transform(self, dataset: Any) -> Any:
        outputs = {what: output for what, output in self._outputs().items() if output[0]}
        needed = self._needed(dataset)
        model = self._local._model
        # What is known of rows beside their features.
        known = {"exposure": model.exposure, "offset": model.offset}
        known = {role: name for role, name in known.items() if name is not None and name in dataset.columns}
        if model.offset is not None and "offset" not in known:
            raise ValueError(f"the data frame has no column {model.offset!r}: the model was fitted with these offsets")
        needed.extend(known.values())
        # A model without rules needs no column, but rows.
        columns = _chosen(dataset, needed) or [F.lit(0.0).alias("rows")]
        schema = to_arrow_schema(dataset.select(*columns).schema)
        text, wanted = self.to_json(), tuple(outputs)
        returned = T.StructType([T.StructField(what, kind) for what, (_, kind) in outputs.items()])

        @F.pandas_udf(returned)  # type: ignore[untyped-decorator]
        def said(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            local = from_json(text)
            for batch in batches:
                yield _said(local, batch, schema, known, wanted)

        struct = F.struct(*columns)
        # A name that no column has.
        held = "orthorules"
        while held in dataset.columns:
            held += "_"
        result = dataset.withColumn(held, said(struct))
        for what, (name, kind) in outputs.items():
            column = F.col(f"{held}.{what}")
            result = result.withColumn(name, array_to_vector(column) if isinstance(kind, T.ArrayType) else column)
        return result.drop(held)

    def write(self) -> MLWriter:
        """Writes parameters and model to a folder, wherever Spark can write."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """Reads what `write` wrote."""
        return _Reader(cls)


def _said(local: Any, batch: pd.DataFrame, schema: Any, known: dict[str, str], wanted: tuple[str, ...]) -> pd.DataFrame:
    """What a model says of some rows, whose exposures and offsets are the columns `known`."""
    import pyarrow as pa

    # Types are those of the data frame, also where all values are missing.
    X = pa.Table.from_pandas(batch, schema=schema, preserve_index=False)
    given = {role: X.column(name).to_numpy() for role, name in known.items()}
    X = X.drop_columns(list(known.values()))
    if X.num_columns == 0:
        X = X.append_column("rows", pa.array(np.zeros(len(batch))))
    found: dict[str, Any] = {}
    for what in wanted:
        if what == "prediction":
            found[what] = local.predict(X, **given)
        elif what == "probability":
            found[what] = list(local.predict_proba(X))
        else:
            score = local.decision_function(X)
            found[what] = list(score if score.ndim == 2 else np.column_stack([-score, score]))
    return pd.DataFrame(found)


class _Writer(MLWriter):  # type: ignore[misc]
    def __init__(self, model: Any) -> None:
        super().__init__()
        self._written = model

    def saveImpl(self, path: str) -> None:
        model = self._written
        DefaultParamsWriter.saveMetadata(model, path, self.sparkSession, extraMetadata={"model": model.to_json()})


class _Reader(MLReader):  # type: ignore[misc]
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self._kind = kind

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        name = f"{self._kind.__module__}.{self._kind.__name__}"
        if metadata["class"] != name or "model" not in metadata:
            raise ValueError(f"{path} holds a {metadata['class']}, not a {name}")
        model = self._kind(from_json(metadata["model"]))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


class RuleRegressionModel(_SparkModel):
    """Rules that predict numbers. `transform` adds the prediction: with the exposure, where its column is there. The
    offset must be there if the model was fitted with one."""

    def _outputs(self) -> dict[str, tuple[str, Any]]:
        return {"prediction": (self.getPredictionCol(), T.DoubleType())}


class RuleClassificationModel(_SparkModel, HasProbabilityCol, HasRawPredictionCol):  # type: ignore[misc]
    """Rules that predict classes. `transform` adds the label, probabilities and scores of all classes in order.

    The prediction is a number where labels are numbers, as pyspark.ml's evaluators want it, and else the label itself.
    """

    @property
    def labels(self) -> list[Any]:
        """The labels, in the order of probabilities."""
        return list(self._local.classes_.tolist())

    @property
    def numClasses(self) -> int:
        """How many classes there are."""
        return len(self._local.classes_)

    def _outputs(self) -> dict[str, tuple[str, Any]]:
        kinds = {"b": T.BooleanType(), "O": T.StringType(), "U": T.StringType()}
        kind = kinds.get(self._local.classes_.dtype.kind, T.DoubleType())
        numbers = T.ArrayType(T.DoubleType())
        return {
            "rawPrediction": (self.getRawPredictionCol(), numbers),
            "probability": (self.getProbabilityCol(), numbers),
            "prediction": (self.getPredictionCol(), kind),
        }


class RuleRegressor(_SparkRules):
    """`orthorules.RuleRegressor` on Spark: the same parameters, `gather` and the names of columns.

    Small tables are brought to the driver. gather="never" leaves all rows where they are: folds that choose reg_lambda
    and polish, which are defaults for small tables, and trends are refused then. Cross-validation, the bootstrap, exact
    search and SIRUS are refused in any case.
    """

    _kind = LocalRegressor
    _model_kind = RuleRegressionModel

    def __init__(
        self,
        *,
        label_col: str = "label",
        features_cols: list[str] | None = None,
        weight_col: str | None = None,
        exposure_col: str | None = None,
        offset_col: str | None = None,
        prediction_col: str = "prediction",
        gather: str = "auto",
        **parameters: Any,
    ) -> None:
        super().__init__()
        columns = {"labelCol": label_col, "featuresCols": features_cols, "weightCol": weight_col}
        columns |= {"exposureCol": exposure_col, "offsetCol": offset_col, "gather": gather}
        self._given({**columns, "predictionCol": prediction_col}, parameters)


class RuleClassifier(_SparkRules, HasProbabilityCol, HasRawPredictionCol):  # type: ignore[misc]
    """`orthorules.RuleClassifier` on Spark: the same parameters but `class_weight`, `gather` and the names of columns.

    Small tables are brought to the driver. gather="never" leaves all rows where they are: folds that choose reg_lambda
    and polish, which are defaults for small tables, and trends are refused then. Cross-validation, the bootstrap, exact
    search and SIRUS are refused in any case.
    """

    _kind = LocalClassifier
    _model_kind = RuleClassificationModel

    def __init__(
        self,
        *,
        label_col: str = "label",
        features_cols: list[str] | None = None,
        weight_col: str | None = None,
        exposure_col: str | None = None,
        prediction_col: str = "prediction",
        probability_col: str = "probability",
        raw_prediction_col: str = "rawPrediction",
        gather: str = "auto",
        **parameters: Any,
    ) -> None:
        super().__init__()
        columns = {"labelCol": label_col, "featuresCols": features_cols, "weightCol": weight_col}
        columns |= {"exposureCol": exposure_col, "gather": gather}
        outputs = {"predictionCol": prediction_col, "probabilityCol": probability_col}
        self._given({**columns, **outputs, "rawPredictionCol": raw_prediction_col}, parameters)
