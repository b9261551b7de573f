"""How long an export takes, and how fast exported C and SQL predict.

    python experiments/exports.py [--rows 1000000]

Needs the package itself, duckdb, a C compiler, and SQLite with mathematical functions. The model has complexity 50.
"""

import argparse
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

import orthorules

TARGETS = ["python", "javascript", "c", "sql", "excel", "pmml", "onnx"]

DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "model.c"
int main(void)
{
    static const char *const words[] = { "dry", "rain", "snow", NULL };
    orthorules_row *rows = malloc(sizeof *rows * ROWS);
    double total = 0.0;
    clock_t start;
    int i;
    srand(1);
    for (i = 0; i < ROWS; i++) {
        FILL
    }
    start = clock();
    for (i = 0; i < ROWS; i++) total += orthorules_predict(&rows[i]);
    printf("%.9f %.3f\\n", (double)(clock() - start) / CLOCKS_PER_SEC, total);
    return 0;
}
"""


def trips(rows):
    """Minutes to deliver, by three numbers and two texts."""
    random = np.random.default_rng(7)
    frame = pd.DataFrame({
        "km": random.uniform(0.5, 12, rows).round(2),
        "hour": random.integers(0, 24, rows).astype(float),
        "load": random.normal(size=rows).round(3),
        "weather": random.choice(["dry", "rain", "snow"], rows),
        "city": random.choice(["dry", "rain", "snow"], rows),
    })
    minutes = 18 + 2.5 * frame["km"] + 9 * (frame["weather"] == "snow") + 4 * np.sin(frame["hour"] / 3) + frame["load"]
    return frame, minutes + random.normal(0, 1, rows)


def best(function, times=5):
    """The least seconds of the processor in some runs: other work on the machine does not count."""
    found = []
    for _ in range(times):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def speed_of_c(model, rows, folder):
    text = model.export("c")
    body = text.split("typedef struct {")[1].split("}")[0]
    fields = [line.strip().split(";")[0].split() for line in body.strip().splitlines()]
    number = "rows[i].{} = rand() / (double)RAND_MAX * 24.0;"
    word = "rows[i].{} = words[rand() % 4];"
    fill = [(number if kind[0] == "double" else word).format(kind[-1].lstrip("*")) for kind in fields]
    (folder / "model.c").write_text(text, "utf-8")
    (folder / "driver.c").write_text(DRIVER.replace("ROWS", str(rows)).replace("FILL", " ".join(fill)), "utf-8")
    subprocess.run(["cc", "-O2", "-std=c99", "driver.c", "-o", "driver", "-lm"], cwd=folder, check=True)
    told = [subprocess.run([folder / "driver"], capture_output=True, text=True, check=True).stdout for _ in range(5)]
    return min(float(line.split()[0]) for line in told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    frame, minutes = trips(20_000)
    model = orthorules.RuleRegressor(max_complexity=50).fit(frame, minutes)
    print(f"complexity {model.complexity_}, {len(model.rules_)} rules\n")
    print("| target | milliseconds | bytes |\n|---|---|---|")
    for target in TARGETS:
        size = len(model.export(target))
        print(f"| {target} | {1e3 * best(lambda t=target: model.export(t)):.2f} | {size} |")
    trips_to_score, _ = trips(rows)
    seconds = {"predict of the package": best(lambda: model.predict(trips_to_score), 3)}
    with tempfile.TemporaryDirectory() as folder:
        seconds["C, cc -O2, one thread"] = speed_of_c(model, rows, Path(folder))
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("CREATE TABLE data AS SELECT * FROM trips_to_score")
    query = model.export("sql", dialect="duckdb")
    scores = f"SELECT sum(score), sum(prediction) FROM ({query})"
    seconds["DuckDB, one thread, scores"] = best(lambda: connection.execute(scores).fetchall(), 3)
    reasons = f"SELECT sum(score), sum(len(reasons)) FROM ({query})"
    seconds["DuckDB, one thread, scores and reasons"] = best(lambda: connection.execute(reasons).fetchall(), 3)
    lite = sqlite3.connect(":memory:")
    trips_to_score.to_sql("data", lite, index=False)
    query = model.export("sql")
    scores = f"SELECT sum(score), sum(prediction) FROM ({query})"
    seconds["SQLite, scores"] = best(lambda: lite.execute(scores).fetchall(), 3)
    print(f"\n| {rows} rows | seconds | rows a second |\n|---|---|---|")
    for name, taken in seconds.items():
        print(f"| {name} | {taken:.3f} | {rows / taken:,.0f} |")


if __name__ == "__main__":
    main()
