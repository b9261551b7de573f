"""Random models as Python, JavaScript, C, SQL (SQLite and DuckDB) and ONNX: whether each has the numbers of the engine.

    python experiments/export_trials.py [--count 2000] [--seed 1] [--targets c,onnx]

Every model has 40 rows, whose values lie on thresholds and beside them, or are missing, infinite or unknown. Scores in
Python, JavaScript and C must be those of the engine to the bit, elsewhere within 1e-12. What this machine cannot run is
skipped and named. Needs: pip install orthorules duckdb onnxruntime pandas pyarrow; cc, node.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python" / "tests"))

from export_random import draw
from export_trials import TARGETS, missing

# Models that one program of a target is started for.
TOGETHER = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default=",".join(TARGETS))
    given = parser.parse_args()
    targets = []
    for target in given.targets.split(","):
        if missing(target):
            print(f"{target}: SKIPPED, since {missing(target)} is not here")
        else:
            targets.append(target)
    warnings.simplefilter("ignore")
    wrong, seconds = dict.fromkeys(targets, 0), dict.fromkeys(targets, 0.0)
    for start in range(0, given.count, TOGETHER):
        cases = [draw(number, given.seed) for number in range(start, min(start + TOGETHER, given.count))]
        for target in targets:
            began = time.monotonic()
            found = TARGETS[target](cases)
            seconds[target] += time.monotonic() - began
            wrong[target] += len({number for number, _ in found})
            for number, what in found:
                print(f"{target}: {what} of model {number} with seed {given.seed}", flush=True)
    for target in targets:
        print(f"{target}: {given.count} models, {wrong[target]} differ, {seconds[target]:.0f} s")
    sys.exit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
