#!/usr/bin/env python3
"""Exact search against fastogb 0.2.0 `search='exhaustive'`: insurance, 5 rules, the orthogonal objective, one thread
each.

Both learn from the same table: strings as integers, numeric columns cut into five quantile bins beforehand, so that
both use every distinct value as a threshold. Compilation is not timed. Needs: pip install fastogb==0.2.0 pandas

    python experiments/exact_fastogb.py DATA --bin-dir target/release
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy
import pandas
from fastogb_peer import REG, binned, estimator


def fastogb_seconds(x: pandas.DataFrame, y: numpy.ndarray, rules: int) -> tuple[float, float]:
    def model(count: int):
        return estimator(count, search="exhaustive", max_col_attr=None)

    model(2).fit(x.iloc[:60, :2], y[:60])  # compiles
    start = time.perf_counter()
    fitted = model(rules).fit(x, y)
    seconds = time.perf_counter() - start
    return seconds, float(numpy.mean((fitted.predict(x) - y) ** 2))


def our_seconds(binary: pathlib.Path, table: pandas.DataFrame, rules: int) -> tuple[float, float, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.csv"
        table.to_csv(path, index=False)
        command = [binary, "fit", path, "--target", table.columns[-1], "--task", "regression", "--preset", "cob",
                   "--intercept", "none", "--search", "exact", "--max-rules", str(rules), "--max-bins", "exact",
                   "--reg-lambda", str(REG), "--threads", "1", "--json", "--quiet"]
        document = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seconds = document["seconds"]
    proven = sum(step.get("proven", False) for step in document["path"])
    return seconds["bin"] + seconds["search"] + seconds["refit"], document["path"][-1]["train_risk"], proven


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="directory with insurance.csv")
    parser.add_argument("--bin-dir", type=pathlib.Path, default=pathlib.Path("target/release"))
    parser.add_argument("--rules", type=int, default=5)
    args = parser.parse_args()
    table = binned(pandas.read_csv(args.data / "insurance.csv"))
    # No intercept on either side: the centred target of the paper's experiments.
    target = table.columns[-1]
    table[target] -= table[target].mean()
    ours = [our_seconds(args.bin_dir / "orthorules", table, args.rules) for _ in range(3)]
    seconds, risk, proven = sorted(ours)[1]
    print(
        f"orthorules exact: {seconds:.3f} s, training risk {risk:.1f}, {proven} of {args.rules} rules proven",
        flush=True,
    )
    theirs, their_risk = fastogb_seconds(table.iloc[:, :-1], table[target].to_numpy(), args.rules)
    print(f"fastogb exhaustive: {theirs:.1f} s, training risk {their_risk:.1f}")
    print(f"ratio: {theirs / seconds:.0f}")


if __name__ == "__main__":
    main()
