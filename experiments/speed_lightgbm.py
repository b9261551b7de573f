#!/usr/bin/env python3
"""Time to learn from a million rows: Orthorules and LightGBM side by side, one thread each.

Generates seeded normal columns and a target with interactions, writes them as Parquet to a temporary directory and
lets both programs learn alternately: Orthorules 15 rules of at most 3 conditions, LightGBM 15 trees of depth 3, both
with at most 255 bins. Binning counts on both sides; reading the file counts on neither. The last figure compares the
cost of a late round with that of an early one.

    cargo build --release --workspace
    pip install lightgbm numpy pandas pyarrow
    python3 experiments/speed_lightgbm.py
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

# One thread each, also in the libraries below LightGBM.
os.environ.setdefault("OMP_NUM_THREADS", "1")

try:
    import lightgbm
    import numpy as np
    import pandas as pd
    import pyarrow  # noqa: F401  (pandas writes Parquet with it)
except ImportError as error:
    sys.exit(f"speed_lightgbm.py: {error}; run: pip install lightgbm numpy pandas pyarrow")

SEED = 20240501
ROUNDS = 15


def generate(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; a target with a product, a square, a line, an interaction and noise."""
    random = np.random.default_rng(SEED)
    x = random.standard_normal((rows, columns))
    y = (
        10 * np.sin(x[:, 0] * x[:, 1])
        + 20 * (x[:, 2] - 0.5) ** 2
        + 10 * x[:, 3]
        + np.where(x[:, 5] > 0, 5 * x[:, 4], 0)
        + random.standard_normal(rows)
    )
    return x, y


def orthorules(program: pathlib.Path, table: pathlib.Path) -> tuple[float, float, dict]:
    """Seconds without reading the file, the training risk, and where the time went."""
    command = [program, "fit", table, "--target", "y", "--json", "--threads", "1", "--max-bins", "255",
               "--max-rules", str(ROUNDS), "--max-conditions", "3"]
    document = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    seconds = document["seconds"]
    return seconds["total"] - seconds["read"], document["path"][-1]["train_risk"], seconds


def boosted_trees(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Seconds to bin and to boost, and the training risk."""
    params = {"objective": "regression", "learning_rate": 1.0, "max_depth": 3, "num_leaves": 8, "max_bin": 255,
              "num_threads": 1, "verbose": -1, "force_col_wise": True}
    start = time.perf_counter()
    data = lightgbm.Dataset(x, y, params=params, free_raw_data=False).construct()
    model = lightgbm.train(params, data, num_boost_round=ROUNDS)
    seconds = time.perf_counter() - start
    return seconds, float(np.mean((model.predict(x, num_threads=1) - y) ** 2))


def round_costs(program: pathlib.Path, rows: int, columns: int) -> dict[int, float]:
    """Seconds of every round from the second on."""
    command = [program, "speed", "--rows", str(rows), "--columns", str(columns), f"max_rules={ROUNDS}"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {int(k): float(s) for k, s in re.findall(r"^round +(\d+) +([\d.]+) s", text, re.MULTILINE)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bin-dir", type=pathlib.Path, default=pathlib.Path("target/release"),
                        help="where orthorules and orthorules-experiments are")
    args = parser.parse_args()
    program, lab = args.bin_dir / "orthorules", args.bin_dir / "orthorules-experiments"
    for needed in (program, lab):
        if not needed.exists():
            sys.exit(f"speed_lightgbm.py: {needed} does not exist; run: cargo build --release --workspace")

    x, y = generate(args.rows, args.columns)
    print(f"{args.rows:,} rows × {args.columns} columns, {ROUNDS} rounds, 255 bins, one thread; "
          f"LightGBM {lightgbm.__version__}")
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "rows.parquet"
        frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(args.columns)])
        frame.assign(y=y).to_parquet(table)
        del frame
        for repeat in range(1, args.repeats + 1):
            seconds, risk, spent = orthorules(program, table)
            ours.append(seconds)
            print(f"run {repeat}  orthorules {seconds:6.3f} s  (bin {spent['bin']:.3f}, search {spent['search']:.3f}, "
                  f"refit {spent['refit']:.3f})  training risk {risk:.1f}", flush=True)
            seconds, risk = boosted_trees(x, y)
            theirs.append(seconds)
            print(f"run {repeat}  LightGBM   {seconds:6.3f} s  training risk {risk:.1f}", flush=True)
    print(f"median  orthorules {statistics.median(ours):.3f} s, LightGBM {statistics.median(theirs):.3f} s, "
          f"ratio {statistics.median(ours) / statistics.median(theirs):.2f}")
    runs = [round_costs(lab, args.rows, args.columns) for _ in range(args.repeats)]
    early, late = (statistics.median(run[k] for run in runs) for k in (2, ROUNDS))
    print(f"round 2 {early:.3f} s, round {ROUNDS} {late:.3f} s, ratio {late / early:.2f} (medians of {args.repeats})")


if __name__ == "__main__":
    main()
