"""What a fit from Python costs more than the command line's own computing: `overhead.py PROGRAM [ROWS] [REPEATS]`.

Both learn from the same million rows × 20 columns. The command line's time is its `total` without `read`; Python's is
the wall time of `fit`, from the frame to the model. The least of several alternating runs counts. The last columns are
the processor's seconds in all threads, which depend less on what else the machine does, and the part of `fit` that was
spent outside the engine's own fit, in the same run.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

from orthorules import RuleRegressor


def main() -> None:
    program = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 20))
    y = X[:, 0] + (X[:, 1] > 0) * X[:, 2] + 3 * (X[:, 3] > 1) + random.normal(size=rows)
    fortran = np.asfortranarray(X)
    frame = pd.DataFrame(fortran, columns=[f"x{i}" for i in range(20)])
    ways = {
        "NumPy, float64, C order": X,
        "NumPy, float64, Fortran order": fortran,
        "NumPy, float32, C order": X.astype(np.float32),
        "pandas": frame,
        "Polars": pl.from_pandas(frame),
    }
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "t.parquet"
        frame.assign(y=y).to_parquet(table)
        command = [program, "fit", str(table), "--target", "y", "--json", "--quiet"]
        seconds: dict[str, list[float]] = {name: [] for name in ("command line", *ways)}
        processor: dict[str, list[float]] = {name: [] for name in ways}
        outside: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(repeats):
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            spent = json.loads(done.stdout)["seconds"]
            seconds["command line"].append(spent["total"] - spent["read"])
            for name, data in ways.items():
                start, busy = time.perf_counter(), time.process_time()
                model = RuleRegressor().fit(data, y)
                seconds[name].append(time.perf_counter() - start)
                processor[name].append(time.process_time() - busy)
                outside[name].append(seconds[name][-1] / model.seconds_["total"] - 1)
    base = min(seconds["command line"])
    print(f"{rows:,} rows × 20 columns, default parameters, least of {repeats}")
    for name, runs in seconds.items():
        beside = f"{min(processor[name]):7.3f} s {float(np.median(outside[name])):7.1%}" if name in outside else ""
        print(f"{name:32} {min(runs):7.3f} s  {min(runs) / base - 1:+7.1%}  {beside}")


if __name__ == "__main__":
    main()
