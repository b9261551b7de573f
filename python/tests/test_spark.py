"""Fits on Spark: the bytes of the command line, whatever the partitions, and whichever executor dies."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from cluster_cases import CASES, EVEN, ODD, OFFSETS, ROLES, Expected, few_trips, table

sql = pytest.importorskip("pyspark.sql", reason="SKIPPED: fits on Spark were not run: pyspark is not installed")
if shutil.which("java") is None:
    reason = "SKIPPED: fits on Spark were not run, since java is not installed (make test-tools)"
    pytest.skip(reason, allow_module_level=True)

import orthorules._spark_rows as inside  # noqa: E402
import orthorules.spark as rules  # noqa: E402
from pyspark.ml import Pipeline, PipelineModel  # noqa: E402
from pyspark.ml.evaluation import MulticlassClassificationEvaluator  # noqa: E402
from pyspark.ml.feature import SQLTransformer, VectorAssembler  # noqa: E402
from pyspark.ml.tuning import ParamGridBuilder  # noqa: E402
from spark_faults import alive, at_round, kill_holders, kill_workers, places, processes, wait_for  # noqa: E402, F401

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning:pyspark")
COMPLEXITY = 6
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def session_on(master):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master(master).appName("fits")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def session():
    handler, python = signal.getsignal(signal.SIGINT), os.environ.get("PYSPARK_PYTHON")
    session = session_on("local[2]")
    yield session
    session.stop()
    signal.signal(signal.SIGINT, handler)
    os.environ.pop("PYSPARK_PYTHON")
    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return Expected(tmp_path_factory.mktemp("expected"), COMPLEXITY)


def cut(session, frame, ends):
    """A data frame whose partitions end before these rows."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    bounds = [0, *ends, len(frame)]
    whole = pa.Table.from_pandas(frame, preserve_index=False)
    parts = [whole.slice(a, b - a).combine_chunks() for a, b in zip(bounds, bounds[1:], strict=False)]
    text = pickle.dumps(parts)

    def rows(batches):
        import pickle

        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from pickle.loads(text)[number].to_batches(max_chunksize=350)

    return session.range(0, len(parts), 1, len(parts)).mapInArrow(rows, from_arrow_schema(whole.schema))


def estimator(name, frame, **more):
    target, weight, exposure, _, kind, options = CASES[name]
    columns = {"label_col": target, "weight_col": weight, "exposure_col": exposure}
    if OFFSETS[name]:
        columns["offset_col"] = "o"
    features = [c for c in frame.columns if c not in ROLES]
    return getattr(rules, kind)(**columns, features_cols=features, max_complexity=COMPLEXITY, **options, **more)


def fitted(name, session, ends, frame=None, **more):
    frame = table() if frame is None else frame
    return estimator(name, frame, **more).fit(cut(session, frame, ends))


CUTS = {"1": [], "3": [400, 800], "16": EVEN, "odd": ODD}


@pytest.mark.parametrize("cuts", CUTS)
def test_the_bytes_of_the_command_line_whatever_the_partitions(session, expected, cuts):
    model = fitted("regression", session, CUTS[cuts])
    assert model.to_json() == expected("regression")
    assert all(sent > 0 and came > 0 for sent, came, _ in model.rounds_)


@pytest.mark.parametrize("name", ["two classes", "three classes", "counts", "brought together, nested", "offsets"])
def test_the_bytes_of_the_command_line(session, expected, name):
    model = fitted(name, session, ODD)
    assert model.to_json() == expected(name)
    assert few_trips(model, name, expected(name)), (len(model.rounds_), model.searched_)


def test_replies_of_many_partitions_are_merged_in_order(session, expected, monkeypatch):
    monkeypatch.setattr(inside, "_FLAT", 4)
    assert fitted("regression", session, EVEN).to_json() == expected("regression")


def test_nothing_is_left_behind(session):
    seen = at_round(3, lambda rows: list(places(rows)))
    with seen.patched():
        fitted("regression", session, [500])
    folder, (_, process) = seen.found[0]
    assert alive(process) or not os.path.exists(folder)
    wait_for(lambda: not os.path.exists(folder) and not alive(process), 300)


# ---- stages of pyspark.ml ----


def test_numbers_are_predicted_in_a_pipeline_and_from_files(session, tmp_path):
    frame = table(300)
    whole = cut(session, frame, [100, 100])
    doubled = SQLTransformer(statement="SELECT *, x0 * 2 AS twice FROM __THIS__")
    counts = estimator("counts", frame)
    counts.set(counts.featuresCols, ["twice", "level", "flag", "x2"])
    model = Pipeline(stages=[doubled, counts]).fit(whole)
    found = model.transform(whole).toPandas()
    local = model.stages[1].to_local()
    given = frame.assign(twice=frame["x0"] * 2)
    np.testing.assert_array_equal(found["prediction"], local.predict(given, exposure=frame["e"]))
    assert list(found.columns) == [*frame.columns, "twice", "prediction"]
    # Without the column of exposures, predictions are per unit of it.
    rates = model.transform(whole.drop("e")).toPandas()["prediction"]
    np.testing.assert_array_equal(rates, local.predict(given))
    path = str(tmp_path / "pipeline")
    model.write().overwrite().save(path)
    model.write().overwrite().save(path)
    again = PipelineModel.load(path)
    assert again.stages[1].to_json() == model.stages[1].to_json()
    assert again.stages[1].getPredictionCol() == "prediction"
    np.testing.assert_array_equal(again.transform(whole).toPandas()["prediction"], found["prediction"])
    unfitted = Pipeline(stages=[doubled, counts])
    unfitted.write().overwrite().save(path)
    stage = Pipeline.load(path).getStages()[1]
    assert stage.extractParamMap() == {stage.getParam(p.name): v for p, v in counts.extractParamMap().items()}


def test_offsets_go_with_predictions(session, tmp_path):
    frame = table(300)
    whole = cut(session, frame, [100])
    model = estimator("offsets of counts", frame).fit(whole)
    local = model.to_local()
    found = model.transform(whole).toPandas()["prediction"]
    np.testing.assert_array_equal(found, local.predict(frame, exposure=frame["e"], offset=frame["o"]))
    model.write().overwrite().save(str(tmp_path / "model"))
    again = rules.RuleRegressionModel.load(str(tmp_path / "model"))
    rates = again.transform(whole.drop("e")).toPandas()["prediction"]
    np.testing.assert_array_equal(rates, local.predict(frame, offset=frame["o"]))
    with pytest.raises(ValueError, match="no column 'o': the model was fitted with these offsets"):
        model.transform(whole.drop("o"))


def test_classes_are_predicted_as_pyspark_does(session, tmp_path):
    frame = table(300)
    frame["label"] = np.select([frame["three"] == "high", frame["three"] == "mid"], [2.0, 1.0], 0.0)
    frame.loc[:120, "level"] = None
    whole = cut(session, frame, [100])
    model = rules.RuleClassifier(features_cols=["x0", "level", "big"], max_complexity=COMPLEXITY).fit(whole)
    found = model.transform(whole)
    local, rows = model.to_local(), found.toPandas()
    np.testing.assert_array_equal(rows["prediction"], local.predict(frame))
    assert found.schema["prediction"].dataType.simpleString() == "double"
    np.testing.assert_array_equal(np.stack([v.toArray() for v in rows["probability"]]), local.predict_proba(frame))
    raw = np.stack([v.toArray() for v in rows["rawPrediction"]])
    np.testing.assert_array_equal(raw, local.decision_function(frame))
    evaluator = MulticlassClassificationEvaluator(metricName="accuracy")
    assert evaluator.evaluate(found) == pytest.approx((rows["prediction"] == rows["label"]).mean())
    assert (model.labels, model.numClasses) == ([0, 1, 2], 3)
    # Labels that are text are told as text; of two classes the scores are opposites.
    two = rules.RuleClassifier(label_col="two", features_cols=["x0", "big"], probability_col="", max_rules=1).fit(whole)
    rows = two.transform(whole).toPandas()
    assert (rows["prediction"] == two.to_local().predict(frame)).all() and "probability" not in rows
    scores = two.to_local().decision_function(frame)
    np.testing.assert_array_equal(np.stack([v.toArray() for v in rows["rawPrediction"]])[:, 1], scores)
    two.write().overwrite().save(str(tmp_path / "two"))
    assert rules.RuleClassificationModel.load(str(tmp_path / "two")).to_json() == two.to_json()
    with pytest.raises(ValueError, match="not a orthorules.spark.RuleRegressionModel"):
        rules.RuleRegressionModel.load(str(tmp_path / "two"))


def test_parameters_are_those_of_pyspark(session):
    frame = table(200)
    whole = cut(session, frame, [100])
    plain = rules.RuleRegressor(label_col="number", features_cols=["x0", "x1"], max_rules=2)
    grid = ParamGridBuilder().addGrid(plain.max_rules, [0, 1]).build()
    sizes = [len(model.to_local().rules_) for _, model in plain.fitMultiple(whole, grid)]
    assert sizes == [0, 1] and plain.getOrDefault("max_rules") == 2
    other = plain.copy({plain.max_rules: 1})
    assert (other.getOrDefault("max_rules"), plain.getOrDefault("max_rules")) == (1, 2)
    assert "max_rules" in plain.explainParams() and plain.hasParam("exposureCol")
    constant = plain.fit(whole, {plain.max_rules: 0})
    assert constant.copy().transform(whole).select("prediction").distinct().count() == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such_parameter'"):
        rules.RuleRegressor(no_such_parameter=1)


def test_times_are_those_of_the_session(session):
    frame = table(200)
    times, decimals = "timestamp_seconds(1700000000 + 3600 * x0) AS t", "CAST(x1 AS DECIMAL(9, 2)) AS `a.b`"
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        source = cut(session, frame, [60]).selectExpr(times, decimals, "number")
        source = source.selectExpr("*", "hour(t) * 50000.0 + number AS y").drop("number")
        model = rules.RuleRegressor(label_col="y", max_rules=3).fit(source)
        rows = model.transform(source).toPandas()
        hours = source.selectExpr("hour(t) AS h").toPandas()["h"]
    finally:
        session.conf.unset("spark.sql.session.timeZone")
    assert any("hour" in rule for rule in model.to_local().rules_["rule"])
    # The session's clock has the say in the fit and in the predictions.
    assert np.corrcoef(rows["prediction"], hours)[0, 1] > 0.9


# ---- who dies ----


# While rows are read; then the survey, the sample, the codes, and counts.
@pytest.mark.parametrize(("round_", "after"), [(1, 0.3), (2, 0.02), (4, 0.02), (6, 0.02)])
def test_python_workers_may_be_killed(session, expected, round_, after):
    killing = at_round(round_, kill_workers, after)
    with killing.patched():
        model = fitted("regression", session, [300])
    assert killing.found and model.to_json() == expected("regression")
    assert max(killing.seconds) < 600


@pytest.mark.parametrize("round_", [2, 4, 6])
def test_the_process_that_holds_rows_may_be_killed(session, expected, round_):
    killing = at_round(round_, kill_holders)
    with killing.patched():
        model = fitted("regression", session, [300])
    assert killing.found and model.to_json() == expected("regression")
    assert max(killing.seconds) < 600


def test_files_that_are_lost_are_written_again(session, expected):
    losing = at_round(5, lambda rows: [shutil.rmtree(folder) for folder, _ in places(rows)])
    with losing.patched():
        assert fitted("regression", session, [300, 600]).to_json() == expected("regression")
    assert losing.found


def test_a_source_that_changes_ends_the_fit(session, tmp_path):
    source = tmp_path / "factor"
    source.write_text("1")
    path = str(source)

    def scaled(batches):
        import pyarrow as pa

        with open(path) as file:
            factor = float(file.read())
        for batch in batches:
            x = [float(v % 17) for v in batch.column(0).to_pylist()]
            yield pa.record_batch({"x": x, "y": [factor * v for v in x]})

    def change(rows):
        source.write_text("2")
        for folder, _ in places(rows):
            shutil.rmtree(folder)

    frame = session.range(0, 200, 1, 2).mapInArrow(scaled, "x double, y double")
    with at_round(3, change).patched(), pytest.raises(ValueError, match="partition 0 has other rows than before"):
        rules.RuleRegressor(label_col="y").fit(frame)


def sleeping(rows, message):
    return rows._context.parallelize([0, 1], 2).map(lambda _: time.sleep(900)).collect()


def test_an_interrupt_ends_the_fit_and_its_jobs(session, monkeypatch):
    when = []

    def interrupt(_):
        monkeypatch.setattr(inside.Rows, "_replies", sleeping)
        when.append(time.monotonic())
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with at_round(3, interrupt).patched(), pytest.raises(KeyboardInterrupt):
            fitted("regression", session, [500])
    finally:
        signal.signal(signal.SIGINT, before)
    took = time.monotonic() - when[0] - 0.5
    print(f"interrupted after {took:.2f} s")
    # Without the interrupt it would sleep for longer.
    assert took < 600
    wait_for(lambda: not session.sparkContext.statusTracker().getActiveJobsIds(), 300)


def test_without_executors_a_fit_ends_with_an_error(session, monkeypatch):
    assert inside._PATIENCE < 60
    monkeypatch.setattr(inside, "_PATIENCE", 2.0)
    monkeypatch.setattr(inside.Rows, "_executors", lambda rows: 0)
    monkeypatch.setattr(inside.Rows, "_replies", sleeping)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="no executor is left"):
        fitted("regression", session, [500])
    assert time.monotonic() - began < 600


# Executors that are processes of their own: one of two is killed, and then all go.
CLUSTER = """
import os, signal, sys, time
import test_spark as tests

session = tests.session_on("local-cluster[2,1,1024]")
context = session.sparkContext
kill = lambda _: [os.kill(p, signal.SIGKILL) for p, _ in list(tests.processes("CoarseGrainedExecutorBackend"))[:1]]
killing = tests.at_round(4, kill, 0.02)
with killing.patched():
    model = tests.fitted("regression", session, [400, 800])
assert killing.found
with open(sys.argv[1], "w") as file:
    file.write(model.to_json())
# The first rounds are those in which executors start.
print("slowest", max(killing.seconds[3:]))
assert max(killing.seconds[3:]) < 600

def leave(_):
    executors = context._jsc.sc().getExecutorIds()
    assert executors.size() > 0
    for i in range(executors.size()):
        context._jsc.sc().killExecutor(executors.apply(i))
    return time.monotonic()

leaving = tests.at_round(3, leave)
try:
    with leaving.patched():
        tests.fitted("regression", session, [500])
except RuntimeError as error:
    took = time.monotonic() - leaving.found
    print(error, took)
    assert "no executor is left" in str(error) and took < 600
    sys.exit(7)
"""


def test_executors_may_be_killed(expected, tmp_path):
    here = os.path.dirname(__file__)
    script, model = tmp_path / "cluster.py", tmp_path / "model.json"
    script.write_text(CLUSTER)
    environment = {**os.environ, "PYTHONPATH": here}
    command = [sys.executable, str(script), str(model)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 7, (done.stdout[-2000:], done.stderr[-4000:])
    assert model.read_text() == expected("regression")


# ---- what is refused ----


def test_what_cannot_be_is_told_in_a_line(session):
    frame = table(50)
    whole = cut(session, frame, [20])
    plain = {"label_col": "number", "features_cols": ["x0", "x1"]}
    for options in ({"cv": 3}, {"bootstrap": 20}, {"search": "exact"}, {"preset": "sirus"}):
        with pytest.raises(ValueError, match="several machines"):
            rules.RuleRegressor(**plain, **options).fit(whole)
    with pytest.raises(ValueError, match='set cv=None, polish="off" and a number for reg_lambda'):
        rules.RuleRegressor(**plain, gather="never").fit(whole)
    with pytest.raises(ValueError, match="gather must be 'auto' or 'never', got 'always'"):
        rules.RuleRegressor(**plain, gather="always").fit(whole)
    with pytest.raises(ValueError, match="class_weight .*: pass weight_col"):
        rules.RuleClassifier(**plain, class_weight="balanced").fit(whole)
    for columns, text in [
        ({"label_col": "nothing"}, "no column 'nothing'"),
        ({"features_cols": ["x0", "number"]}, "column 'number' cannot have two roles"),
        ({"features_cols": []}, "no column for rules"),
        ({"weight_col": "number"}, "column 'number' cannot have two roles"),
        ({"categorical_features": ["x9"]}, "no feature called 'x9'"),
    ]:
        with pytest.raises(ValueError, match=text):
            rules.RuleRegressor(**{**plain, **columns}).fit(whole)
    vectors = VectorAssembler(inputCols=["x0", "x1"], outputCol="features").transform(whole)
    with pytest.raises(ValueError, match="column 'features' is of type vector: features_cols may only name"):
        rules.RuleRegressor(label_col="number").fit(vectors.select("features", "number"))
    model = rules.RuleRegressor(**plain, max_rules=1).fit(whole)
    with pytest.raises(ValueError, match="no column 'x.', which the model uses"):
        model.transform(whole.drop("x0", "x1"))
    frame.loc[40, "number"] = np.nan
    with pytest.raises(ValueError, match="row 41: the value is missing"):
        rules.RuleRegressor(**plain).fit(cut(session, frame, [20]))
    with pytest.raises(ValueError, match="no rows"):
        rules.RuleRegressor(**plain).fit(session.createDataFrame([], whole.schema))
