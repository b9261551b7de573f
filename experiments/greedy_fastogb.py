#!/usr/bin/env python3
"""Greedy search against fastogb 0.2.0 `search='greedy'`: the orthogonal objective, 14 rules, one thread each.

Two settings. *Raw*: both get the table as it is, strings as categories, and cut numeric columns into five quantile bins
themselves. *Binned*: both get the same table of bin numbers, strings as integers, and use every distinct value as a
threshold; the training risks then agree. All times include what each program does to turn the table into its own form
(bins here, propositions there) and leave out reading the file and compilation, all on one processor. The fastest of a
few fits counts on both sides. Theirs run in one process, after one that compiles. Ours are timed both in this way and
as single runs of the program, which find caches empty and memory untouched. Needs: pip install fastogb==0.2.0 pandas
pyarrow

    cargo build --release --workspace
    python experiments/greedy_fastogb.py DATA --bin-dir target/release
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

# One thread each, also in the libraries below fastogb. Set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy
import pandas
from fastogb_peer import REG, binned, estimator


def raw(path: pathlib.Path) -> tuple[pandas.DataFrame, str]:
    """The table with its last column as a centred number or as −1 and 1; and the task."""
    table = pandas.read_csv(path)
    target = table.columns[-1]
    if pandas.api.types.is_numeric_dtype(table[target]):
        # No intercept on either side: the centred target of the paper's experiments.
        table[target] -= table[target].mean()
        return table, "regression"
    table[target] = table[target].astype("category").cat.codes * 2 - 1
    return table, "classification"


def fastogb_seconds(
    table: pandas.DataFrame, task: str, as_binned: bool, rules: int, repeats: int
) -> tuple[float, float]:
    loss = "squared" if task == "regression" else "logistic"
    features = table.iloc[:, :-1]
    numbers = all(pandas.api.types.is_numeric_dtype(features[name]) for name in features)
    x, y = features.to_numpy(float if numbers else object), table.iloc[:, -1].to_numpy(float)

    def model(count: int):
        return estimator(count, loss, max_col_attr=None if as_binned else 10)  # ≤ and ≥ at five quantiles

    model(3).fit(x, y)  # compiles
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        fitted = model(rules).fit(x, y)
        seconds.append(time.perf_counter() - start)
    scores = fitted.decision_function(x)
    losses = (scores - y) ** 2 if task == "regression" else numpy.logaddexp(0, -y * scores)
    return min(seconds), float(numpy.mean(losses))


def our_seconds(
    folder_of_binaries: pathlib.Path, table: pandas.DataFrame, task: str, as_binned: bool, rules: int, repeats: int
):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.parquet"
        table.to_parquet(path, index=False)
        command = [folder_of_binaries / "orthorules", "fit", path, "--target", table.columns[-1], "--task", task,
                   "--preset", "cob", "--intercept", "none", "--search", "greedy", "--max-rules", str(rules),
                   "--max-bins", "exact" if as_binned else "5", "--reg-lambda", str(REG), "--threads", "1",
                   "--json", "--quiet"]
        documents = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                     for _ in range(repeats)]
        again = [folder_of_binaries / "orthorules-experiments", "speed", "--table", path, "--target", table.columns[-1],
                 *["--classes"][: task == "classification"], "--preset", "cob", "--repeats", str(repeats),
                 "intercept=none", "search=greedy", f"max_rules={rules}", "max_conditions=100",
                 f"max_bins={'exact' if as_binned else 5}", f"reg_lambda={REG}", "threads=1"]
        printed = subprocess.run(again, check=True, capture_output=True, text=True).stdout
        warm = json.loads(printed.splitlines()[0])["total"]
    single = min(d["seconds"]["total"] - d["seconds"]["read"] for d in documents)
    last = documents[0]["path"][-1]
    if last["rules"] != rules:
        raise SystemExit(f"only {last['rules']} rules were found")
    return single, warm, last["train_risk"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="directory with the CSV files")
    parser.add_argument("names", nargs="*", default=["insurance", "magic", "adult"])
    parser.add_argument("--bin-dir", type=pathlib.Path, default=pathlib.Path("target/release"))
    parser.add_argument("--rules", type=int, default=14)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    # One processor for both: threads that the peer starts all the same would wait for each other where others are at
    # work.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print("table       rows  columns  setting  single run  in one process   fastogb  ratios  "
          "training risk: orthorules, fastogb")
    for name in args.names:
        table, task = raw(args.data / f"{name}.csv")
        for setting, data in (("raw", table), ("binned", binned(table))):
            given = (task, setting == "binned", args.rules)
            single, warm, risk = our_seconds(args.bin_dir, data, *given, 3 * args.repeats)
            peer, their_risk = fastogb_seconds(data, *given, args.repeats)
            print(f"{name:10} {len(table):5}  {len(table.columns) - 1:7}  {setting:7} {1e3 * single:8.2f} ms "
                  f"{1e3 * warm:12.2f} ms {1e3 * peer:8.0f} ms {peer / single:4.0f} {peer / warm:4.0f}  "
                  f"{risk:.6g}, {their_risk:.6g}", flush=True)


if __name__ == "__main__":
    main()
