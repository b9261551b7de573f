"""Whether two builds of the program learn the same models, byte for byte.

    python experiments/same_models.py DATA OLD NEW [--only adult,iris] [--settings defaults,cob]

DATA is the directory of the benchmark data, OLD and NEW are programs. Every data set is fitted in every setting by
both. The files are compared, and the times of all fits of a setting are added up. Exit code 1 if a file differs.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

SETTINGS = {
    "defaults": [],
    "no folds": ["--cv", "none"],
    "cob": ["--preset", "cob", "--max-rules", "14"],
    "sgb": ["--preset", "sgb", "--max-rules", "14"],
    "sxb": ["--preset", "sxb", "--max-rules", "14"],
    "beam": ["--search", "beam", "--cv", "none"],
    "exact": "--search exact --max-bins 5 --max-rules 4 --max-conditions 2 --node-limit 20000".split(),
    "nested": ["--path", "nested", "--cv", "none"],
    "hinge": ["--terms", "hinge", "--cv", "none"],
    "sets": ["--sets", "on", "--cv", "none"],
    "one-vs-rest": ["--multiclass", "one-vs-rest", "--cv", "none"],
    "draws": ["--bootstrap", "20", "--max-complexity", "10", "--cv", "none"],
    "streamed": ["--memory-limit", "0"],
}


def fitted(program, table, about, options, folder):
    """The bytes of the model, or the message that refuses it; and the seconds of the program's processor."""
    model = folder / "m.json"
    model.unlink(missing_ok=True)
    task = ["--task", about["task"]] + (["--positive", about["positive_class"]] if about["positive_class"] else [])
    command = [program, "fit", table, "--target", about["target"], *task, *options, "-o", model, "--quiet"]
    began = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False)
    took = time.perf_counter() - began
    return (model.read_bytes() if done.returncode == 0 else done.stderr), took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", help="data sets, by name")
    parser.add_argument("--settings", help=", ".join(SETTINGS))
    given = parser.parse_args()
    sets = json.loads((given.data / "manifest.json").read_text())
    if given.only:
        sets = [about for about in sets if about["name"] in given.only.split(",")]
    chosen = given.settings.split(",") if given.settings else list(SETTINGS)
    differ = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for setting in chosen:
            total, same, refused = [0.0, 0.0], 0, 0
            for about in sets:
                table = given.data / about["file"]
                results = [fitted(p, table, about, SETTINGS[setting], folder) for p in (given.old, given.new)]
                total = [sum(pair) for pair in zip(total, (took for _, took in results), strict=True)]
                (old, _), (new, _) = results
                refused += not old.startswith(b"{")
                if old == new:
                    same += 1
                else:
                    differ += 1
                    print(f"{setting}: {about['name']} differs", flush=True)
            refusals = f", of which {refused} are refusals" if refused else ""
            seconds = f"{total[0]:.2f} s and {total[1]:.2f} s"
            print(f"{setting:12} {same} of {len(sets)} are the same{refusals}; {seconds}", flush=True)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
