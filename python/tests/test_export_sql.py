"""The exported query in SQLite, DuckDB, PostgreSQL and Spark, on 10,000 rows."""

import json
import math
import re
import sqlite3

import pytest
from export_cases import CHANGES, COLUMNS, KINDS, KNOWN, MODELS, ROWS, YEARS, case, close, ordered, plain, table
from export_parity import fill_duckdb, fill_sqlite, in_columns, quoted, records, with_mathematics
from export_tools import postgresql, program

DIALECTS = ["sqlite", "duckdb", "postgresql", "spark"]
# A name that would end a statement, were it not quoted.
TABLE = "the \"table\"; drop `x` -- '"
SAME = 1e-12


def recorded():
    """The rows with a number each."""
    return records(table(), KINDS | {YEARS: "numeric", KNOWN: "numeric"}, plain)


class Sqlite:
    name = "sqlite"

    def __init__(self, _):
        self.connection = with_mathematics()
        if self.connection is None:
            pytest.skip("SKIPPED: SQL for SQLite was not run: this SQLite has no mathematical functions")
        fill_sqlite(self.connection, TABLE, recorded())

    def execute(self, query):
        self.connection.execute(query)

    def rows(self, query):
        cursor = self.connection.execute(query)
        return [c[0] for c in cursor.description], cursor.fetchall()

    def reasons(self, cell):
        return json.loads(cell)


class DuckDb(Sqlite):
    name = "duckdb"

    def __init__(self, _):
        duckdb = pytest.importorskip("duckdb", reason="SKIPPED: DuckDB was not run: it is not installed")
        self.connection = duckdb.connect()
        fill_duckdb(self.connection, TABLE, recorded())

    def reasons(self, cell):
        return cell


class PostgreSql(DuckDb):
    name = "postgresql"

    def __init__(self, request):
        opened = postgresql()
        self.connection = opened.__enter__()
        request.addfinalizer(lambda: opened.__exit__(None, None, None))
        names, kinds, rows = recorded()
        types = {"id": "integer", "numeric": "float8", "boolean": "boolean", "categorical": "text"}
        columns = ", ".join(f"{quoted(n)} {types[k]}" for n, k in zip(names, kinds, strict=True))
        self.connection.execute(f"CREATE TABLE {quoted(TABLE)} ({columns})")
        with self.connection.cursor() as cursor, cursor.copy(f"COPY {quoted(TABLE)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


class Spark(DuckDb):
    name = "spark"

    def __init__(self, request):
        sql = pytest.importorskip("pyspark.sql", reason="SKIPPED: Spark was not run: pyspark is not installed")
        program("java", "SQL for Spark")
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            "spark.driver.memory": "1g",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
        }
        builder = sql.SparkSession.builder.master("local[1]").appName("exports")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        request.addfinalizer(self.session.stop)
        from pyspark.sql import types as t

        names, kinds, rows = recorded()
        kind = {"id": t.IntegerType(), "numeric": t.DoubleType()}
        kind |= {"boolean": t.BooleanType(), "categorical": t.StringType()}
        schema = t.StructType([t.StructField(n, kind[k]) for n, k in zip(names, kinds, strict=True)])
        self.session.createDataFrame(rows, schema).createOrReplaceTempView("given")

    def execute(self, query):
        self.session.sql(query)

    def rows(self, query):
        frame = self.session.sql(query.replace("`" + TABLE.replace("`", "``") + "`", "given"))
        return frame.columns, [tuple(row) for row in frame.collect()]


ENGINES = {engine.name: engine for engine in (Sqlite, DuckDb, PostgreSql, Spark)}


@pytest.fixture(scope="module", params=DIALECTS)
def engine(request):
    return ENGINES[request.param](request)


def exported(case, engine, **options):
    return case.model.export("sql", dialect=engine.name, table=quoted(TABLE), **options)


def evaluate(engine, case, query):
    """Scores, predictions and reasons, by the number of the row."""
    names, found = engine.rows(query)
    assert len(found) == ROWS
    scores, predictions, reasons = in_columns(names, found, case, table().columns)
    return scores, predictions, [engine.reasons(cell) for cell in reasons]


def expected_reasons(case, row):
    """Rule, and in brackets what it contributes; of a trend, for each step. What is nearly 0 is no reason."""
    by_rule = {}
    for (text, label), adds in row.items():
        if abs(adds) > 1e-100:
            by_rule.setdefault(text, {})[label] = case.weights[text, label]
    return by_rule


NUMBER = r"[+-][0-9.]+(?:e[+-]?[0-9]+)?"


def told(case, reason):
    """The rule and the contributions of a reason."""
    labels = "|".join(re.escape(label) for label in case.labels) if case.several else ""
    one = f"(?:{labels}) {NUMBER}" if case.several else NUMBER
    text, inside = re.fullmatch(rf"(.*) \(({one}(?:, {one})*)\)", reason, re.DOTALL).groups()
    if not case.several:
        return text, {None: float(inside)}
    return text, {label: float(w) for label, w in re.findall(rf"({labels}) ({NUMBER})", inside)}


@pytest.mark.parametrize("name", MODELS)
def test_numbers_and_reasons_are_those_of_the_engine(name, engine):
    wanted = case(name)
    scores, predictions, reasons = evaluate(engine, wanted, exported(wanted, engine))
    assert close(scores, wanted.scores, SAME)
    assert close(predictions, wanted.predictions if wanted.several else wanted.predictions[:, -1:], SAME)
    for found, expected in zip(reasons, wanted.reasons, strict=True):
        pairs = [told(wanted, reason) for reason in found]
        assert dict(pairs) == expected_reasons(wanted, expected)
        assert len(pairs) == len(dict(pairs)) and ordered([wanted.sizes[text] for text, _ in pairs])


@pytest.mark.parametrize(("name", "number", "other"), CHANGES)
def test_a_changed_number_is_noticed(name, number, other, engine):
    wanted = case(name)
    text = exported(wanted, engine)
    # SQLite may have it as a whole number over a power of two.
    spelled = lambda x: [str(x), str(int(math.frexp(x)[0] * 2**53))]  # noqa: E731
    spoiled = text
    for found, instead in zip(spelled(number), spelled(other), strict=True):
        spoiled = spoiled.replace(found, instead)
    assert spoiled != text
    scores, _, _ = evaluate(engine, wanted, spoiled)
    assert not close(scores, wanted.scores, SAME)


def test_a_view_has_the_same_rows(engine):
    if engine.name == "spark":
        pytest.skip("a view of a temporary view is a temporary one in Spark, which has another statement")
    wanted = case("logistic")
    engine.execute(exported(wanted, engine, as_="view"))
    scores, predictions, _ = evaluate(engine, wanted, f"SELECT * FROM {quoted(TABLE + '_scored')}")
    assert close(scores, wanted.scores, SAME)
    engine.execute(f"DROP VIEW {quoted(TABLE + '_scored')}")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_parses(dialect):
    sqlglot = pytest.importorskip("sqlglot", reason="SKIPPED: SQL was not parsed: sqlglot is not installed")
    for name in MODELS:
        for form in ("select", "view"):
            text = case(name).model.export("sql", dialect=dialect, table=quoted(TABLE), as_=form)
            called = "postgres" if dialect == "postgresql" else dialect
            (statement,) = [s for s in sqlglot.parse(text, dialect=called) if s]
            assert statement.key == ("create" if form == "view" else "select")


def whole_numbers(engine_name):
    model = {
        "format": "orthorules-model",
        "version": 1,
        "task": "regression",
        "loss": "squared",
        "target": "y",
        "columns": [{"name": "n", "kind": "numeric"}, {"name": "c", "kind": "categorical", "levels": ["3"]}],
        "rules": [
            {"conditions": [{"column": "n", "op": ">=", "value": 2.5}]},
            {"conditions": [{"column": "c", "op": "=", "value": "3"}]},
        ],
        "path": [{"rules": 2, "intercept": 1.0, "weights": [10.0, 100.0], "train_risk": 1.0}],
        "chosen": 2,
    }
    import orthorules

    return orthorules.from_json(json.dumps(model)).export("sql", dialect=engine_name, table="small")


def test_whole_numbers_and_text_from_files(engine):
    """Columns of integers, and in SQLite of text, as an import of CSV makes them."""
    if engine.name == "spark":
        engine.session.createDataFrame([(2, 3), (3, 4), (None, None)], "n int, c int").createOrReplaceTempView("small")
    else:
        engine.execute("CREATE TABLE small (n INTEGER, c INTEGER)")
        engine.execute("INSERT INTO small VALUES (2, 3), (3, 4), (NULL, NULL)")
    _, found = engine.rows(whole_numbers(engine.name))
    assert [row[2] for row in sorted(found, key=lambda r: (r[0] is None, r[0]))] == [101.0, 11.0, 1.0]
    if engine.name == "sqlite":
        engine.execute("DROP TABLE small")
        engine.execute("CREATE TABLE small (n TEXT, c TEXT)")
        engine.execute("INSERT INTO small VALUES ('11', '3'), ('2', ' 4 '), ('', '')")
        assert [row[2] for row in engine.rows(whole_numbers("sqlite"))[1]] == [111.0, 1.0, 1.0]


def test_a_missing_column_is_an_error_and_no_text(engine):
    if engine.name == "spark":
        engine.session.createDataFrame([(1,)], "other int").createOrReplaceTempView("small")
    else:
        engine.execute("DROP TABLE IF EXISTS small")
        engine.execute("CREATE TABLE small (other INTEGER)")
        engine.execute("INSERT INTO small VALUES (1)")
    with pytest.raises(Exception, match="n"):
        engine.rows(whole_numbers(engine.name))


def test_deep_expressions():
    """A thousand rules are no deeper than SQLite allows."""
    import orthorules

    rules = [{"conditions": [{"column": "n", "op": ">=", "value": float(k)}]} for k in range(3000)]
    model = {
        "format": "orthorules-model",
        "version": 1,
        "task": "regression",
        "loss": "squared",
        "target": "y",
        "columns": [{"name": "n", "kind": "numeric"}],
        "rules": rules,
        "path": [{"rules": 3000, "intercept": 0.0, "weights": [1.0] * 3000, "train_risk": 1.0}],
        "chosen": 3000,
    }
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (n REAL)")
    connection.execute("INSERT INTO data VALUES (1499.5)")
    (row,) = connection.execute(orthorules.from_json(json.dumps(model)).export("sql")).fetchall()
    assert row[1] == row[2] == 1500.0 and len(json.loads(row[3])) == 1500


@pytest.mark.parametrize("name", ["true", "False"])
def test_columns_that_sqlite_loses_are_refused(name):
    """It finds a column of this name in a table, but not in a query, which several classes need."""
    import orthorules

    text = json.dumps(MODELS["several"]).replace(json.dumps(COLUMNS[0]["name"]), json.dumps(name))
    model = orthorules.from_json(text)
    with pytest.raises(ValueError, match=f'sqlite cannot hold the name "{name}" where there are several classes'):
        model.export("sql", dialect="sqlite")
    assert name in model.export("sql", dialect="duckdb")
    text = json.dumps(MODELS["regression"]).replace(json.dumps(COLUMNS[0]["name"]), json.dumps(name))
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(quoted(name if c is COLUMNS[0] else c["name"]) + " REAL" for c in COLUMNS)
    connection.execute(f"CREATE TABLE data ({columns})")
    connection.executemany(f"INSERT INTO data ({quoted(name)}) VALUES (?)", [(1.0,), (50.0,)])
    low, high = connection.execute(orthorules.from_json(text).export("sql")).fetchall()
    assert low[len(COLUMNS)] != high[len(COLUMNS)]
