"""A small HTTP service for an exported model.

    orthorules export titanic.json --to python -o titanic.py
    MODEL=titanic.py uvicorn fastapi_service:app

    curl localhost:8000/score -H 'Content-Type: application/json' -d '[{"sex": "female", "age": 30}]'

The service needs FastAPI and the exported file, nothing else.
"""

import importlib.util
import os

from fastapi import FastAPI, HTTPException


def module(path):
    """The exported module in a file."""
    spec = importlib.util.spec_from_file_location("exported_model", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def service(model):
    """An application that scores lists of rows with an exported module."""
    app = FastAPI(title="Scores and their reasons")

    @app.post("/score")
    def score(rows: list[dict]):
        try:
            return [
                {"score": model.score(row), "prediction": model.predict(row), "reasons": model.reasons(row)}
                for row in rows
            ]
        except ValueError as error:  # a value that is no number where the model needs one
            raise HTTPException(status_code=422, detail=str(error)) from None

    return app


if "MODEL" in os.environ:
    app = service(module(os.environ["MODEL"]))
