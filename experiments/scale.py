"""Time and peak memory of `orthorules fit` and `orthorules predict` on files of growing size, and the speed of reading
CSV.

    python experiments/scale.py target/release/orthorules FOLDER [--rows 100000 1000000 10000000] [--csv 1000000]

Writes Parquet files of float32 columns (row groups of a million rows) to FOLDER unless they are there, fits each in a
process of its own, and prints seconds, peak resident memory as the system tells it, and the exponent by which time
grows with the rows. Needs numpy and pyarrow.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

COLUMNS = 20
BLOCK = 1_000_000


def block(number: int, rows: int) -> pa.Table:
    """Normal columns and a target with interactions, from a seed for each block."""
    random = np.random.default_rng(number)
    x = random.standard_normal((COLUMNS, rows), dtype=np.float32)
    y = 10 * np.sin(x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + np.where(x[5] > 0, 5 * x[4], 0)
    y = (y + random.standard_normal(rows, dtype=np.float32)).astype(np.float32)
    return pa.table({**{f"x{i}": x[i] for i in range(COLUMNS)}, "y": y})


def write(path: Path, rows: int) -> None:
    """The first `rows` rows, a block at a time; nothing half-written stays."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    writer = None
    for number, start in enumerate(range(0, rows, BLOCK)):
        table = block(number, min(BLOCK, rows - start))
        if writer is None:
            make = pacsv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter
            writer = make(part, table.schema)
        writer.write_table(table)
    writer.close()
    part.rename(path)


def run(command: list[str]) -> tuple[float, float, dict]:
    """Seconds, peak MB (a million bytes) and the document that `command` prints."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return seconds, usage.ru_maxrss * 1024 / 1e6, json.loads(output) if output else {}


def fits(binary: str, folder: Path, sizes: list[int], flags: list[str]) -> None:
    first = None
    for rows in sizes:
        path = folder / f"rows{rows}.parquet"
        write(path, rows)
        seconds, peak, document = run([binary, "fit", str(path), "--target", "y", "--json", "--quiet", *flags])
        spent = document["seconds"]
        parts = "  ".join(f"{name} {spent[name]:.2f}" for name in ("read", "bin", "search", "refit"))
        grows = "" if first is None else f"  exponent {math.log(seconds / first[1]) / math.log(rows / first[0]):.2f}"
        rules = document["chosen"]["rules"]
        print(f"{rows:>9} rows  {seconds:7.2f} s  {peak:6.0f} MB  {rules} rules  ({parts}){grows}", flush=True)
        first = first or (rows, seconds)


def predictions(binary: str, folder: Path, sizes: list[int], flags: list[str]) -> None:
    """All rows of each file, predicted by the rules of the first and written as CSV."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        model, output = f"{place}/model.json", f"{place}/predictions.csv"
        run([binary, "fit", str(folder / f"rows{sizes[0]}.parquet"), "--target", "y", "--json", "-o", model, *flags])
        for rows in sizes:
            path = folder / f"rows{rows}.parquet"
            seconds, peak, _ = run([binary, "predict", model, str(path), "-o", output, "--quiet"])
            written = os.path.getsize(output) / 1e6
            print(
                f"{rows:>9} rows predicted  {seconds:7.2f} s  {peak:6.0f} MB  ({written:.0f} MB of CSV written)",
                flush=True,
            )


def csv(binary: str, folder: Path, rows: int) -> None:
    """Text to numbers in memory (as cross-validation needs them), and text to codes in two passes; one thread."""
    path = folder / f"rows{rows}.csv"
    write(path, rows)
    size = path.stat().st_size / 1e6
    os.environ["RAYON_NUM_THREADS"] = "1"
    base = [binary, "fit", str(path), "--target", "y", "--max-rules", "0", "--threads", "1", "--json", "--quiet"]
    table = run([*base, "--cv", "2", "--reg-lambda", "1"])[2]["seconds"]["read"]
    _, peak, document = run(base)
    codes = document["seconds"]["read"] + document["seconds"]["bin"]
    print(f"CSV of {size:.0f} MB, one thread: to a table {table:.2f} s ({size / table:.0f} MB/s), ", end="")
    print(f"to codes in two passes {codes:.2f} s, peak {peak:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--csv", type=int, default=1_000_000)
    parser.add_argument("--threads", default="2")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    same = ["--max-rules", "15", "--max-conditions", "3", "--path", "nested", "--threads", args.threads]
    for name, flags in [("32 bins", []), ("255 bins", ["--max-bins", "255"])]:
        print(f"15 rules of at most 3 conditions, {name}, {args.threads} threads")
        fits(args.binary, args.folder, args.rows, same + flags)
    predictions(args.binary, args.folder, args.rows, same)
    csv(args.binary, args.folder, args.csv)


if __name__ == "__main__":
    main()
