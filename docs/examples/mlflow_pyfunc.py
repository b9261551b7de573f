"""An exported model in MLflow, without Orthorules where it is served.

    import mlflow
    import orthorules
    from mlflow_pyfunc import save

    save(orthorules.load("titanic.json"), "titanic-mlflow")
    served = mlflow.pyfunc.load_model("titanic-mlflow")
    served.predict(passengers)          # a data frame: score, prediction, reasons

`mlflow models serve -m titanic-mlflow` then answers HTTP requests.
"""

import importlib.util
import tempfile
from pathlib import Path

import mlflow.pyfunc
import pandas as pd


class ExportedRules(mlflow.pyfunc.PythonModel):
    """Scores data frames with an exported Python module."""

    def load_context(self, context):
        spec = importlib.util.spec_from_file_location("exported_model", context.artifacts["module"])
        self.model = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.model)

    def predict(self, context, model_input, params=None):
        rows = model_input.to_dict("records")
        columns = {name: [getattr(self.model, name)(row) for row in rows] for name in ("score", "reasons")}
        predictions = [self.model.predict(row) for row in rows]
        if predictions and isinstance(predictions[0], dict):
            columns |= {f"probability_{label}": [p[label] for p in predictions] for label in predictions[0]}
        else:
            columns["prediction"] = predictions
        return pd.DataFrame(columns, index=model_input.index)


def save(model, path):
    """Writes an MLflow model that holds the export of `model`."""
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "exported_model.py"
        model.export("python", module)
        mlflow.pyfunc.save_model(
            path,
            python_model=ExportedRules(),
            artifacts={"module": str(module)},
            code_paths=[__file__],
            pip_requirements=["mlflow", "pandas"],
        )
