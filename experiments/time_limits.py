"""How long `orthorules fit --time-limit` takes, for every way to fit and several tables.

    python experiments/time_limits.py target/release/orthorules [--limits .5,1,3] [--only sirus] [--tables large]

A fit should end within one and a half times its limit and a second, reading and printing included. A line is printed
for each fit that takes longer, with --all for every fit: the table, how it was fitted, and the limit; the seconds that
it took, and those of the processor after the limit, on all threads together; the exit code; rules, folds and draws of
the model; and what the program says that it left out. Where other work slows the machine down, fits are LATE that would
not be on an idle one. SLOW are those that worked for too long after the limit. Needs Linux, and: pip install numpy
pandas.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd


def numbers(rows, columns, seed):
    """Columns of numbers, and a score that rules and lines can say something about."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(rows, columns)), 3)
    score = X[:, 0] + (X[:, 1] > 0.3) * (X[:, 2] < 0.5) * 2 + np.maximum(X[:, 3], 0) + 0.5 * random.normal(size=rows)
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(columns)]), score, random


def regression(rows, columns):
    frame, score, _ = numbers(rows, columns, 1)
    return frame.assign(y=np.round(score, 3))


def counts(rows, columns):
    frame, score, random = numbers(rows, columns, 2)
    return frame.assign(y=random.poisson(np.exp(0.4 * score)))


def amounts(rows, columns):
    frame, score, random = numbers(rows, columns, 3)
    return frame.assign(y=np.round(1e6 * np.exp(0.4 * score) * random.gamma(2.0, 0.5, rows) + 1, 2))


def classes(rows, columns, count):
    frame, score, _ = numbers(rows, columns, 4)
    ranks = np.argsort(np.argsort(score + 0.7 * np.roll(frame["x4"], 1)))
    return frame.assign(y=[f"c{k:02}" for k in ranks * count // rows])


def levels(rows, columns):
    """Columns of 200 levels, beside numbers."""
    frame, score, random = numbers(rows, 4, 5)
    for i in range(columns):
        codes = random.integers(200, size=rows)
        score = score + 0.5 * (codes % (i + 3) == 0)
        frame[f"k{i}"] = [f"level {c}" for c in codes]
    return frame.assign(y=np.round(score, 3))


# Each with the name of the task where the values do not tell it.
TABLES = {
    "small": (lambda: regression(2_000, 10), []),
    "middle": (lambda: regression(20_000, 30), []),
    "large": (lambda: regression(200_000, 20), []),
    "wide": (lambda: regression(3_000, 500), []),
    "levels": (lambda: levels(50_000, 8), []),
    "counts": (lambda: counts(100_000, 15), ["--task", "poisson"]),
    "amounts": (lambda: amounts(100_000, 15), ["--task", "gamma"]),
    "two classes": (lambda: classes(200_000, 15, 2), []),
    "five classes": (lambda: classes(50_000, 15, 5), []),
    "many classes": (lambda: classes(20_000, 16, 26), []),
}
WAYS = {
    "plain": [],
    "folds": ["--cv", "5"],
    "ten folds": ["--cv", "10"],
    "groups": ["--cv", "5", "--cv-groups", "x5"],
    "bootstrap": ["--bootstrap", "200"],
    "folds and bootstrap": ["--cv", "5", "--bootstrap", "100"],
    "lambda": ["--reg-lambda", "cv"],
    "lambda and folds": ["--reg-lambda", "cv", "--cv", "5"],
    "polish": ["--polish", "full", "--cv", "none"],
    "polish and folds": ["--polish", "full", "--cv", "5"],
    "nested": ["--path", "nested", "--max-complexity", "400", "--cv", "none"],
    "long": ["--max-complexity", "400", "--cv", "none"],
    "bins": ["--max-bins", "exact", "--cv", "none"],
    "sets": ["--sets", "on"],
    "beam": ["--search", "beam", "--beam-width", "500", "--cv", "none"],
    "beam and folds": ["--search", "beam", "--beam-width", "100", "--cv", "5"],
    "exact": ["--search", "exact", "--max-rules", "8"],
    "exact and folds": ["--search", "exact", "--max-rules", "4", "--cv", "3"],
    "exact bootstrap": ["--search", "exact", "--max-rules", "4", "--bootstrap", "50"],
    "lines": ["--terms", "linear"],
    "hinges": ["--terms", "hinge"],
    "hinges and folds": ["--terms", "hinge", "--cv", "5"],
    "hinges and bootstrap": ["--terms", "hinge", "--bootstrap", "100"],
    "sirus": ["--preset", "sirus", "--num-trees", "50000"],
    "sirus and folds": ["--preset", "sirus", "--num-trees", "20000", "--cv", "5"],
    "sirus and bootstrap": ["--preset", "sirus", "--num-trees", "20000", "--bootstrap", "50"],
    "one list for each class": ["--multiclass", "one-vs-rest"],
    "one list for each class, folds": ["--multiclass", "one-vs-rest", "--cv", "5"],
    "one list for each class, exact": ["--multiclass", "one-vs-rest", "--search", "exact", "--max-rules", "3"],
    "one list for each class, hinges": ["--multiclass", "one-vs-rest", "--terms", "hinge"],
    "one list, exact": ["--multiclass", "shared", "--search", "exact", "--max-rules", "3"],
    "one list, folds": ["--multiclass", "shared", "--cv", "5"],
    "one list, beam": ["--multiclass", "shared", "--search", "beam", "--beam-width", "200"],
    "stepwise preset": ["--preset", "cob", "--max-rules", "200"],
    "file": ["--memory-limit", "64MB"],
    "file, hinges": ["--memory-limit", "256MB", "--terms", "hinge"],
}


def suits(table, way):
    """Whether a way to fit is one for this table."""
    several = table in ("five classes", "many classes")
    if "one list" in way and not several:
        return False
    if "sirus" in way and table in ("counts", "amounts"):
        return False
    return way != "sets" or table == "levels"


def used(process):
    """Seconds of the processor that a program has taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(program, path, flags, limit, model):
    """The seconds of a fit, those of the processor after the limit, its exit code, and what it said."""
    model.unlink(missing_ok=True)
    command = [program, "fit", path, "--target", "y", "--time-limit", str(limit), "-o", model, *flags]
    with tempfile.TemporaryFile("w+") as said:
        began, before = time.monotonic(), None
        started = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=said)
        while True:
            ended, status, usage = os.wait4(started.pid, os.WNOHANG)
            took = time.monotonic() - began
            if ended:
                break
            if before is None and took >= limit:
                before = used(started.pid)
            if took > 240:
                started.kill()
            time.sleep(0.01)
        code = started.returncode = os.waitstatus_to_exitcode(status)
        after = 0.0 if before is None else max(0.0, usage.ru_utime + usage.ru_stime - before)
        said.seek(0)
        lines = said.read().splitlines()
    if code:
        return took, after, code, "", lines[-1] if lines else ""
    document = json.loads(model.read_text("utf-8"))
    lists = document.get("one_vs_rest", [document])
    found = ["+".join(str(max(size["rules"] for size in each["path"])) for each in lists) + " rules"]
    found += [f"{document['cv']['folds']} folds"] if "cv" in document else []
    found += [f"{document['bootstrap']['samples']} draws"] if "bootstrap" in document else []
    told = [line.removeprefix("orthorules: note: ") for line in lines if "time" in line]
    return took, after, 0, ", ".join(found), "; ".join(told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--limits", default=".5,1,3", help="seconds, separated by commas")
    parser.add_argument("--tables", help="only these, separated by commas")
    parser.add_argument("--only", help="only ways whose name has this in it")
    parser.add_argument("--all", action="store_true", help="tell of every fit")
    given = parser.parse_args()
    limits = [float(limit) for limit in given.limits.split(",")]
    wanted = given.tables.split(",") if given.tables else list(TABLES)
    fits, late, worst = 0, 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.json"
        for table in wanted:
            make, task = TABLES[table]
            path = Path(folder) / f"{table}.csv"
            make().to_csv(path, index=False)
            for way, flags in WAYS.items():
                if not suits(table, way) or given.only and given.only not in way:
                    continue
                for limit in limits:
                    took, after, code, what, told = measured(given.program, path, [*task, *flags], limit, model)
                    fits += 1
                    may = 1.5 * limit + 1
                    late += took > may
                    worst = max(worst, after / (may - limit))
                    if given.all or took > may or after > may - limit or code != 0:
                        mark = " LATE" * (took > may) + " SLOW" * (after > may - limit)
                        seconds = f"{took:.2f} s, {after:.2f} s after it{mark}"
                        print(f"{table} | {way} | {limit:g} s | {seconds} | {code} | {what} | {told}", flush=True)
            path.unlink()
    print(f"{fits} fits, {late} late; the most that one worked after its limit is {worst:.2f} of what it may")
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
