#!/usr/bin/env python3
"""Time and memory to learn from generated tables: Orthorules beside the libraries that its users know.

Seeded normal columns and a target with interactions, float32, written as Parquet and as a NumPy array. Orthorules learns 15 rules of at
most 3 conditions (greedy search, nested sizes), the others 15 trees of depth 3 (fastogb and BOOMER: 15 rules), all with at most 255 bins (fastogb: five thresholds
for each column, its default). Every fit is a process of its own; binning counts, reading the file does not. Peak memory is the
whole process, with the table in it. Peers that would take minutes are left out of larger sizes.

    cargo build --release --workspace
    pip install lightgbm xgboost scikit-learn fastogb==0.2.0 numpy pandas pyarrow; pip install mlrl-boomer (pins old versions of
    the others: give it an environment of its own and name it by --python boomer=PATH)
    python3 experiments/speed_peers.py --out results

With `--curves` the cost of Orthorules alone against rows, columns, bins and rules follows. Writes CSV and SVG into `--out`.
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

import numpy as np

SEED = 20240501
ROUNDS = 15
# The largest table that a peer is asked to learn from.
PEERS = {"orthorules": 10_000_000, "lightgbm": 10_000_000, "xgboost": 10_000_000, "histgb": 10_000_000,
         "boomer": 1_000_000, "fastogb": 100_000}


def generate(rows: int, columns: int, folder: pathlib.Path) -> None:
    """Normal columns; a target with a product, a square, a line, an interaction and noise; in blocks, to save memory."""
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


def lightgbm_fit(x, y, threads):
    import lightgbm
    params = {"objective": "regression", "learning_rate": 1.0, "max_depth": 3, "num_leaves": 8, "max_bin": 255,
              "num_threads": threads, "verbose": -1, "force_col_wise": True}
    data = lightgbm.Dataset(x, y, params=params, free_raw_data=False).construct()
    return lightgbm.train(params, data, num_boost_round=ROUNDS)


def xgboost_fit(x, y, threads):
    import xgboost
    params = {"tree_method": "hist", "max_depth": 3, "learning_rate": 1.0, "max_bin": 255, "nthread": threads}
    return xgboost.train(params, xgboost.QuantileDMatrix(x, y, max_bin=255, nthread=threads), num_boost_round=ROUNDS)


def histgb_fit(x, y, _):
    from sklearn.ensemble import HistGradientBoostingRegressor
    model = HistGradientBoostingRegressor(max_iter=ROUNDS, max_depth=3, max_bins=255, learning_rate=1.0, early_stopping=False)
    return model.fit(x, y)


def fastogb_fit(x, y, threads):
    import fastogb

    def model(rules):
        return fastogb.GeneralRuleBoostingEstimator(
            num_rules=rules, objective_function=fastogb.OrthogonalBoostingObjective,
            weight_update_method=fastogb.FullyCorrective(), loss="squared", reg=0.1, search="greedy",
            objective_params={"epsilon": 1e-4}, n_jobs=threads)

    return model, (lambda: model(ROUNDS).fit(x.astype(float), y - y.mean()))


def boomer_fit(x, y, threads):
    from mlrl.boosting.learners import BoomerRegressor
    threaded = "false" if threads == 1 else f"true{{num_preferred_threads={threads}}}"
    model = BoomerRegressor(max_rules=ROUNDS + 1, shrinkage=1.0, loss="squared-error-decomposable", rule_pruning="none",
                            feature_binning="equal-frequency{bin_ratio=0.01,min_bins=255,max_bins=255}",
                            rule_induction="top-down-greedy{max_conditions=3}",
                            parallel_rule_refinement=threaded, parallel_statistic_update=threaded)
    return model.fit(x, y.reshape(-1, 1))


def worker(peer: str, folder: pathlib.Path, threads: int) -> None:
    """One fit in this process; prints seconds and the peak of memory."""
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    fit = {"lightgbm": lightgbm_fit, "xgboost": xgboost_fit, "histgb": histgb_fit, "boomer": boomer_fit}.get(peer)
    if peer == "fastogb":
        model, run = fastogb_fit(x, y, threads)
        model(2).fit(x[:500].astype(float), y[:500] - y[:500].mean())  # compiles
    else:
        fit(x[:1000], y[:1000], threads)  # loads what is loaded at first use
        run = lambda: fit(x, y, threads)  # noqa: E731
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def orthorules(program: pathlib.Path, folder: pathlib.Path, threads: int) -> dict:
    command = ["/usr/bin/env", "time", "-f", "%M", program, "fit", folder / "rows.parquet", "--target", "y", "--json", "--threads",
               str(threads), "--max-bins", "255", "--max-rules", str(ROUNDS), "--max-conditions", "3", "--search", "greedy",
               "--path", "nested", "--quiet"]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        peak = float(done.stderr.split()[-1]) / 1024
    except (FileNotFoundError, subprocess.CalledProcessError):  # no time(1) here
        done = subprocess.run(command[4:], check=True, capture_output=True, text=True)
        peak = float("nan")
    spent = json.loads(done.stdout)["seconds"]
    return {"seconds": spent["total"] - spent["read"], "peak_mb": peak}


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
                                runs[peer].append(peer_seconds(pythons.get(peer, sys.executable), peer, folder, threads))
                        except RuntimeError as error:
                            print(f"left out: {error}", file=sys.stderr)
                            del runs[peer]
                ours = statistics.median(r["seconds"] for r in runs["orthorules"]) if runs.get("orthorules") else float("nan")
                for peer, results in runs.items():
                    seconds = statistics.median(r["seconds"] for r in results)
                    peak = max(r["peak_mb"] for r in results)
                    found.append({"rows": rows, "columns": args.columns, "threads": threads, "peer": peer,
                                  "seconds": round(seconds, 4), "ratio": round(seconds / ours, 2), "peak_mb": round(peak)})
                    print("{rows:>10,} rows  {threads} thread(s)  {peer:11} {seconds:9.3f} s  {ratio:6.2f} times ours  "
                          "{peak_mb:6} MB".format(**found[-1]), flush=True)
    return found


def curves(args) -> list[dict]:
    """Seconds of Orthorules alone, one quantity changed at a time."""
    base = {"rows": 200_000, "columns": 20, "max_bins": 255, "max_rules": 15}
    axes = {"rows": [12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000],
            "columns": [6, 10, 20, 40, 80], "max_bins": [15, 31, 63, 127, 255, 511, 1023], "max_rules": [1, 2, 4, 8, 15, 30, 60]}
    found = []
    for axis, values in axes.items():
        for value in values:
            setting = base | {axis: value}
            command = [args.bin_dir / "orthorules-experiments", "speed", "--rows", str(setting["rows"]), "--columns",
                       str(setting["columns"]), "--repeats", str(args.repeats), f"max_bins={setting['max_bins']}",
                       f"max_rules={setting['max_rules']}", "search=greedy", "path=nested", "threads=1"]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            spent = json.loads(text.splitlines()[0])
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


def svg(path: pathlib.Path, panels: dict[str, dict[str, list[tuple[float, float]]]]) -> None:
    """Panels of curves, both axes logarithmic."""
    colours = ["#1b6ca8", "#c8553d", "#588b8b", "#8d6a9f", "#d4a017", "#666666"]
    width, height, parts = 300, 240, []
    for number, (title, lines) in enumerate(panels.items()):
        points = [p for line in lines.values() for p in line]
        low, high = np.log10(np.min(points, axis=0)), np.log10(np.max(points, axis=0))
        span = np.maximum(high - low, 1e-9)
        left, top = number * width, 0

        def place(point):
            x, y = (np.log10(point) - low) / span
            return left + 50 + x * (width - 70), top + height - 40 - y * (height - 80)

        parts.append(f'<text x="{left + 50}" y="20" font-weight="bold">{title}</text>')
        for k, (name, line) in enumerate(lines.items()):
            path_points = " ".join("{:.1f},{:.1f}".format(*place(p)) for p in line)
            colour = colours[k % len(colours)]
            parts.append(f'<polyline points="{path_points}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += ['<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="{}"/>'.format(*place(p), colour) for p in line]
            parts.append(f'<text x="{left + 55}" y="{40 + 13 * k}" fill="{colour}">{name}</text>')
        for value, anchor in ((low[0], "start"), (high[0], "end")):
            x, _ = place((10 ** value, 10 ** low[1]))
            parts.append(f'<text x="{x:.1f}" y="{height - 22}" text-anchor="{anchor}">{10 ** value:,.0f}</text>')
        for value in (low[1], high[1]):
            _, y = place((10 ** low[0], 10 ** value))
            parts.append(f'<text x="{left + 45}" y="{y:.1f}" text-anchor="end">{10 ** value:.2g} s</text>')
    total = width * len(panels)
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height}" viewBox="0 0 {total} {height}" '
                    f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>\n'
                    + "\n".join(parts) + "\n</svg>\n", encoding="utf-8")


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
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH", help="the interpreter of one peer")
    parser.add_argument("--curves", action="store_true")
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
            panel = panels.setdefault(f"rows, {row['threads']} thread(s)", {})
            panel.setdefault(row["peer"], []).append((row["rows"], row["seconds"]))
        svg(args.out / "speed-peers.svg", panels)
    if args.curves:
        found = curves(args)
        write(args.out / "speed-curves.csv", found)
        axes = dict.fromkeys(row["axis"] for row in found)
        svg(args.out / "speed-curves.svg",
            {axis: {"orthorules": [(r["value"], r["total"]) for r in found if r["axis"] == axis]} for axis in axes})


if __name__ == "__main__":
    main()
