"""A model as a DuckDB macro: `SELECT * FROM score('table')` works on every table that has the model's columns.

    import duckdb
    import orthorules
    from duckdb_macro import create_macro

    connection = duckdb.connect("company.duckdb")
    create_macro(connection, orthorules.load("titanic.json"), "score")
    connection.sql("SELECT name, prediction, reasons FROM score('passengers') ORDER BY prediction DESC")

The macro is part of the database. To use it later takes neither Python nor Orthorules.
"""

TABLE = "rows to score"


def create_macro(connection, model, name):
    """Defines the macro `name`. It takes the name of a table, and adds score, prediction and reasons to its rows."""
    query = model.export("sql", dialect="duckdb", table=f'"{TABLE}"')
    before, found, after = query.rpartition(f'FROM "{TABLE}"')
    assert found, "the query reads the table by its name"
    quoted = '"' + name.replace('"', '""') + '"'
    connection.execute(f"CREATE OR REPLACE MACRO {quoted}(source) AS TABLE {before}FROM query_table(source){after}")
