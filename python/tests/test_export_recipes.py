"""The recipes of docs/examples, run as far as their packages are here."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor

FOLDER = Path(__file__).parents[2] / "docs" / "examples"


def recipe(name, needs, monkeypatch):
    pytest.importorskip(needs, reason=f"SKIPPED: the recipe {name} was not run: {needs} is not installed")
    monkeypatch.syspath_prepend(FOLDER)
    sys.modules.pop(name, None)
    return importlib.import_module(name)


@pytest.fixture
def late(deliveries):
    frame, minutes = deliveries
    return RuleClassifier(max_rules=5).fit(frame, np.where(minutes > 30, "late", "in time")), frame


def test_a_duckdb_macro(deliveries, monkeypatch):
    macro = recipe("duckdb_macro", "duckdb", monkeypatch)
    import duckdb

    frame, minutes = deliveries
    model = RuleRegressor(max_rules=5).fit(frame, minutes)
    connection = duckdb.connect()
    trips = frame.reset_index()
    connection.execute("CREATE TABLE trips AS SELECT * FROM trips")
    macro.create_macro(connection, model, 'my "score"')
    found = connection.sql("SELECT * FROM \"my \"\"score\"\"\"('trips') ORDER BY index").df()
    assert np.allclose(found["prediction"], model.predict(frame), rtol=1e-12, atol=0)
    assert (found["km"].isna() == trips["km"].isna()).all()


def test_a_service(late, tmp_path, monkeypatch):
    model, frame = late
    service = recipe("fastapi_service", "fastapi", monkeypatch)
    pytest.importorskip("httpx", reason="SKIPPED: the service was not asked: httpx is not installed")
    from fastapi.testclient import TestClient

    model.export("python", tmp_path / "late.py")
    client = TestClient(service.service(service.module(tmp_path / "late.py")))
    rows = [{k: v for k, v in row.items() if v == v and v is not None} for row in frame.to_dict("records")]
    told = client.post("/score", json=rows).json()
    wanted = model.predict_proba(frame)[:, list(model.classes_).index("late")]
    assert np.allclose([t["prediction"]["late"] for t in told], wanted, rtol=1e-15, atol=0)
    assert [t["score"] for t in told] == model.decision_function(frame).tolist()
    assert any(t["reasons"] for t in told)
    assert client.post("/score", json=[{"km": "far"}]).status_code == 422


def test_mlflow(late, tmp_path, monkeypatch):
    model, frame = late
    mlflow_recipe = recipe("mlflow_pyfunc", "mlflow", monkeypatch)
    import mlflow.pyfunc

    mlflow_recipe.save(model, tmp_path / "model")
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    found = served.predict(frame)
    assert isinstance(found, pd.DataFrame) and list(found.index) == list(frame.index)
    assert found["score"].tolist() == model.decision_function(frame).tolist()
    wanted = model.predict_proba(frame)[:, list(model.classes_).index("late")]
    assert np.allclose(found["probability_late"], wanted, rtol=1e-15, atol=0)
