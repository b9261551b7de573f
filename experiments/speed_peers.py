#!/usr/bin/env python3
"""Time and memory to learn from generated tables: Orthorules beside the libraries that its users know.

Seeded normal columns and a target with interactions, float32, written as Parquet and as a NumPy array. Orthorules
learns 15 rules of at most 3 conditions (greedy search, nested sizes), the others 15 trees of depth 3 (fastogb and
BOOMER: 15 rules), all with at most 255 bins (fastogb: five thresholds for each column, its default). Every fit is a
process of its own; binning counts, reading the file does not. Peak memory is the whole process, with the table in it.
Peers that would take minutes are left out of larger sizes.

    cargo build --release --workspace
    pip install lightgbm xgboost scikit-learn fastogb==0.2.0 numpy pandas pyarrow; pip install mlrl-boomer (pins old
    versions of the others: give it an environment of its own and name it by --python boomer=PATH)
    python3 experiments/speed_peers.py --out results

With `--ratios` follow, of Orthorules alone on the largest size up to a million rows: two threads against one, the
default objective against plain boosting, the last round against the second (and later against earlier rounds for rules
that cover equally many rows). So this gives every figure of the record of speed (`make speed`):

    python3 experiments/speed_peers.py --sizes 1000000 --peers orthorules,lightgbm --ratios

With `--curves` the cost of Orthorules alone against rows, columns, bins and rules follows. Writes CSV and SVG into
`--out`.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    from log_panels import svg
except ImportError as error:
    sys.exit(f"speed_peers.py: {error}; run: pip install numpy pyarrow, and the libraries to compare with")

SEED = 20240501
ROUNDS = 15
# The largest table that a peer is asked to learn from.
PEERS = {"orthorules": 10_000_000, "lightgbm": 10_000_000, "xgboost": 10_000_000, "histgb": 10_000_000,
         "boomer": 1_000_000, "fastogb": 100_000}


def generate(rows: int, columns: int, folder: pathlib.Path) -> None:
    """Normal columns; a target with a product, a square, a line, an interaction and noise; in blocks, to save
    memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(SEED)
    names = [f"x{i}" for i in range(columns)]
    x_file = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (rows, columns))
    y_file = np.lib.format.open_memmap(folder / "y.npy", "w+", np.float32, (rows,))
    schema = pa.schema([(name, pa.float32()) for name in [*names, "y"]])
    with pq.ParquetWriter(folder / "rows.parquet", schema) as writer:
        for start in range(0, rows, 1 << 18):
            count = min(1 << 18, rows - start)
            x = random.standard_normal((count, columns), dtype=np.float32)
            y = (10 * np.sin(x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3]
                 + np.where(x[:, 5] > 0, 5 * x[:, 4], 0) + random.standard_normal(count, dtype=np.float32))
            x_file[start:start + count], y_file[start:start + count] = x, y
            writer.write_table(pa.table([*x.T, y.astype(np.float32)], schema=schema))


# Each fit returns what predicts.
def lightgbm_fit(x, y, threads):
    import lightgbm
    params = {"objective": "regression", "learning_rate": 1.0, "max_depth": 3, "num_leaves": 8, "max_bin": 255,
              "num_threads": threads, "verbose": -1, "force_col_wise": True}
    data = lightgbm.Dataset(x, y, params=params, free_raw_data=False).construct()
    return lightgbm.train(params, data, num_boost_round=ROUNDS).predict


def xgboost_fit(x, y, threads):
    import xgboost
    params = {"tree_method": "hist", "max_depth": 3, "learning_rate": 1.0, "max_bin": 255, "nthread": threads}
    data = xgboost.QuantileDMatrix(x, y, max_bin=255, nthread=threads)
    return xgboost.train(params, data, num_boost_round=ROUNDS).inplace_predict


def histgb_fit(x, y, _):
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        max_iter=ROUNDS, max_depth=3, max_bins=255, learning_rate=1.0, early_stopping=False
    )
    return model.fit(x, y).predict


def fastogb_fit(x, y, threads):
    from fastogb_peer import estimator
    centre = y.mean()
    model = estimator(ROUNDS, threads=threads).fit(x.astype(float), y - centre)
    return lambda x: model.predict(x.astype(float)) + centre


def boomer_fit(x, y, threads):
    from mlrl.boosting.learners import BoomerRegressor
    threaded = "false" if threads == 1 else f"true{{num_preferred_threads={threads}}}"
    model = BoomerRegressor(max_rules=ROUNDS + 1, shrinkage=1.0, loss="squared-error-decomposable", rule_pruning="none",
                            feature_binning="equal-frequency{bin_ratio=0.01,min_bins=255,max_bins=255}",
                            rule_induction="top-down-greedy{max_conditions=3}",
                            parallel_rule_refinement=threaded, parallel_statistic_update=threaded)
    return model.fit(x, y.reshape(-1, 1)).predict


def worker(peer: str, folder: pathlib.Path, threads: int) -> None:
    """One fit in this process; prints seconds, the peak of memory and the training risk."""
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    fit = {
        "lightgbm": lightgbm_fit,
        "xgboost": xgboost_fit,
        "histgb": histgb_fit,
        "boomer": boomer_fit,
        "fastogb": fastogb_fit,
    }[peer]
    fit(x[:1000], y[:1000], threads)  # loads or compiles what is needed at first use
    start = time.perf_counter()
    predict = fit(x, y, threads)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    risk = float(np.mean((np.ravel(predict(x)) - y) ** 2))
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "risk": risk}))


def orthorules(program: pathlib.Path, folder: pathlib.Path, threads: int) -> dict:
    command = ["/usr/bin/env", "time", "-f", "%M", program, "fit", folder / "rows.parquet", "--target", "y", "--json",
               "--threads", str(threads), "--max-bins", "255", "--max-rules", str(ROUNDS), "--max-conditions", "3",
               "--search", "greedy", "--path", "nested", "--quiet"]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        peak = float(done.stderr.split()[-1]) / 1024
    except (FileNotFoundError, subprocess.CalledProcessError):  # no time(1) here
        done = subprocess.run(command[4:], check=True, capture_output=True, text=True)
        peak = float("nan")
    document = json.loads(done.stdout)
    spent = document["seconds"]
    return {"seconds": spent["total"] - spent["read"], "peak_mb": peak, "risk": document["path"][-1]["train_risk"]}


def peer_seconds(python: str, peer: str, folder: pathlib.Path, threads: int) -> dict:
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(limits, str(threads))
    command = [python, __file__, "--worker", peer, str(folder), str(threads)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{peer}: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(args, pythons: dict) -> list[dict]:
    """Medians for every size, number of threads and peer; runs of all peers alternate."""
    found = []
    for rows in args.sizes:
        with tempfile.TemporaryDirectory(dir=args.scratch) as name:
            folder = pathlib.Path(name)
            generate(rows, args.columns, folder)
            for threads in args.threads:
                runs = {peer: [] for peer, largest in PEERS.items() if rows <= largest and peer in args.peers}
                for _ in range(args.repeats if rows <= 1_000_000 else 1):
                    for peer in list(runs):
                        try:
                            if peer == "orthorules":
                                runs[peer].append(orthorules(args.bin_dir / "orthorules", folder, threads))
                            else:
                                runs[peer].append(
                                    peer_seconds(pythons.get(peer, sys.executable), peer, folder, threads)
                                )
                        except RuntimeError as error:
                            print(f"left out: {error}", file=sys.stderr)
                            del runs[peer]
                ours = (
                    statistics.median(r["seconds"] for r in runs["orthorules"])
                    if runs.get("orthorules")
                    else float("nan")
                )
                for peer, results in runs.items():
                    seconds = statistics.median(r["seconds"] for r in results)
                    peak = max(r["peak_mb"] for r in results)
                    found.append(
                        {
                            "rows": rows,
                            "columns": args.columns,
                            "threads": threads,
                            "peer": peer,
                            "seconds": round(seconds, 4),
                            "ratio": round(seconds / ours, 2),
                            "peak_mb": round(peak),
                            "risk": round(results[0]["risk"], 2),
                        }
                    )
                    print("{rows:>10,} rows  {threads} thread(s)  {peer:11} {seconds:9.3f} s  {ratio:6.2f} times ours  "
                          "{peak_mb:6} MB  training risk {risk:.1f}".format(**found[-1]), flush=True)
    return found


def alone(args, rows: int, columns: int, *settings: str) -> tuple[dict, dict[int, tuple[float, int]]]:
    """Seconds of Orthorules by phase; of every round from the second on, with the rows that its rule covers."""
    command = [args.bin_dir / "orthorules-experiments", "speed", "--rows", str(rows), "--columns", str(columns),
               "search=greedy", "path=nested", *settings]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rounds = re.findall(r"^round +(\d+) +([\d.]+) s +(\d+) rows", text, re.MULTILINE)
    return json.loads(text.splitlines()[0]), {int(k): (float(s), int(r)) for k, s, r in rounds}


def at_equal_rows(rounds: dict[int, tuple[float, int]]) -> tuple[float, float]:
    """Seconds of the later and of the earlier rounds for a rule that covers as many rows as all do on average. A round
    costs about a constant and so much for each row that its rule covers (or leaves out, if these are fewer): a line
    through either half tells both."""
    numbers = sorted(rounds)
    middle = np.mean([rounds[k][1] for k in numbers])

    def line(half):
        slope_and_level = np.polyfit([rounds[k][1] for k in half], [rounds[k][0] for k in half], 1)
        return float(np.polyval(slope_and_level, middle))

    return line(numbers[len(numbers) // 2:]), line(numbers[:len(numbers) // 2])


def ratios(args) -> list[dict]:
    """Threads, objectives and rounds of Orthorules alone: medians over repeats, in each of which the settings
    alternate."""
    rows = min(max(args.sizes), 1_000_000)
    found = {}
    for _ in range(args.repeats):
        one, rounds = alone(args, rows, args.columns, "threads=1")
        two, _ = alone(args, rows, args.columns, "threads=2")
        plain, _ = alone(args, rows, args.columns, "threads=1", "objective=gb")
        last = max(rounds)
        for name, above, below in (
            ("two threads / one", two["total"], one["total"]),
            ("onb / gb", one["total"], plain["total"]),
            (f"round {last} / round 2", rounds[last][0], rounds[2][0]),
            ("the same, equal rows", *at_equal_rows(rounds)),
        ):
            found.setdefault(name, []).append((above, below, above / below))
    medians = []
    for name, runs in found.items():
        above, below, ratio = (statistics.median(column) for column in zip(*runs))
        medians.append(
            {
                "rows": rows,
                "columns": args.columns,
                "what": name,
                "above": round(above, 4),
                "below": round(below, 4),
                "ratio": round(ratio, 2),
            }
        )
        print(
            f"{rows:>10,} rows  {name:20} {above:.4f} s / {below:.4f} s = {ratio:.2f} (medians of {args.repeats})",
            flush=True,
        )
    return medians


def curves(args) -> list[dict]:
    """Seconds of Orthorules alone, one quantity changed at a time."""
    base = {"rows": 200_000, "columns": 20, "max_bins": 255, "max_rules": 15}
    axes = {
        "rows": [12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000],
        "columns": [6, 10, 20, 40, 80],
        "max_bins": [15, 31, 63, 127, 255, 511, 1023],
        "max_rules": [1, 2, 4, 8, 15, 30, 60],
    }
    found = []
    for axis, values in axes.items():
        for value in values:
            setting = base | {axis: value}
            spent, _ = alone(args, setting["rows"], setting["columns"], "--repeats", str(args.repeats),
                             f"max_bins={setting['max_bins']}", f"max_rules={setting['max_rules']}", "threads=1")
            found.append({"axis": axis, "value": value, **{k: round(v, 5) for k, v in spent.items()}})
            print(f"{axis:10} {value:>9,}  {spent['total']:.4f} s", flush=True)
        first, last = (next(f for f in found if f["axis"] == axis and f["value"] == v) for v in (values[0], values[-1]))
        exponent = np.log(last["total"] / first["total"]) / np.log(values[-1] / values[0])
        print(f"{axis:10} exponent {exponent:.2f}")
    return found


def write(path: pathlib.Path, rows: list[dict]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]))
    numbers = lambda text: [int(n) for n in re.split("[ ,]", text)]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=numbers, default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3, help="up to a million rows; larger tables once")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS))
    parser.add_argument(
        "--python", action="append", default=[], metavar="PEER=PATH", help="the interpreter of one peer"
    )
    parser.add_argument("--ratios", action="store_true", help="threads, objectives and rounds of Orthorules")
    parser.add_argument("--curves", action="store_true", help="what rows, columns, bins and rules cost Orthorules")
    parser.add_argument("--bin-dir", type=pathlib.Path, default=pathlib.Path("target/release"))
    parser.add_argument("--scratch", type=pathlib.Path, default=None, help="where generated tables are kept meanwhile")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results"))
    args = parser.parse_args()
    for needed in ("orthorules", "orthorules-experiments"):
        if not (args.bin_dir / needed).exists():
            sys.exit(f"speed_peers.py: {args.bin_dir / needed} does not exist; run: cargo build --release --workspace")
    args.out.mkdir(parents=True, exist_ok=True)
    if args.sizes[0]:
        found = compare(args, dict(p.split("=", 1) for p in args.python))
        write(args.out / "speed-peers.csv", found)
        panels = {}
        for row in found:
            panel = panels.setdefault(
                "rows, one thread" if row["threads"] == 1 else f"rows, {row['threads']} threads", {}
            )
            panel.setdefault(row["peer"], []).append((row["rows"], row["seconds"]))
        svg(args.out / "speed-peers.svg", panels)
    if args.ratios:
        write(args.out / "speed-ratios.csv", ratios(args))
    if args.curves:
        found = curves(args)
        write(args.out / "speed-curves.csv", found)
        axes = dict.fromkeys(row["axis"] for row in found)
        svg(args.out / "speed-curves.svg",
            {axis: {"orthorules": [(r["value"], r["total"]) for r in found if r["axis"] == axis]} for axis in axes})


if __name__ == "__main__":
    main()
