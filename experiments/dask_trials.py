"""Fits on a Dask cluster of this machine: random tables and options against a local fit, and workers killed at random.

    python experiments/dask_trials.py tables [--count 300] [--seed 1]
    python experiments/dask_trials.py kills  [--count 30]  [--seed 1]

`tables` compares the bytes of models, with columns of every pandas dtype. `kills` kills one worker or all at a random
moment of a fit, now and then also those that Dask's nannies start in their place. The fit must end with the bytes of a
local one. If no worker comes back, since a nanny gives up on one that is killed while it starts, the fit must say so
within a minute. Needs: pip install orthorules "dask[dataframe]" distributed pandas pyarrow.
"""

import argparse
import contextlib
import os
import random
import signal
import sys
import threading
import time
import warnings

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd

import orthorules
import orthorules.dask as rules

ZONES = ["Europe/Berlin", "America/St_Johns", "Asia/Kolkata", "UTC"]
LEVELS = ["low", "mid", "high", "top"]


def holes(values, draw, share):
    """The same objects, some of which are missing."""
    return [None if draw.random() < share else value for value in values]


def column(kind, rows, draw):
    """A random column of a dtype, and a number for each row that says what it holds."""
    codes = np.array([draw.randrange(4) for _ in range(rows)])
    share = draw.choice([0.0, 0.1, 0.5])
    seconds = np.array([draw.randrange(40_000_000) for _ in range(rows)])
    moments = pd.Series(pd.to_datetime("2023-06-01") + pd.to_timedelta(seconds, unit="s"))
    if draw.random() < 0.3:
        moments = moments.dt.normalize()
    gaps = pd.Series([draw.random() < share for _ in range(rows)])
    made = {
        "float64": lambda: pd.Series(np.round(codes + np.linspace(0, 1, rows), 2)).mask(gaps),
        "int64": lambda: pd.Series(codes * 10),
        "large": lambda: pd.Series(codes + 2**60),
        "bool": lambda: pd.Series(codes > 1),
        "Int64": lambda: pd.Series(holes(codes.tolist(), draw, share), dtype="Int64"),
        "Float64": lambda: pd.Series(holes((codes / 2).tolist(), draw, share), dtype="Float64"),
        "boolean": lambda: pd.Series(holes([bool(c > 1) for c in codes], draw, share), dtype="boolean"),
        "string": lambda: pd.Series(holes([LEVELS[c] for c in codes], draw, share), dtype="string"),
        "numerals": lambda: pd.Series(holes([str(c / 2) for c in codes], draw, share), dtype="string"),
        "object": lambda: pd.Series(holes([LEVELS[c] for c in codes], draw, share), dtype=object),
        "mixed": lambda: pd.Series(holes([LEVELS[c] if c > 1 else int(c) for c in codes], draw, share), dtype=object),
        "truths": lambda: pd.Series(holes([bool(c > 1) for c in codes], draw, share), dtype=object),
        "numbers": lambda: pd.Series(holes([float(c) if c > 1 else int(c) for c in codes], draw, share), dtype=object),
        "category": lambda: pd.Series(pd.Categorical.from_codes(np.where(gaps, -1, codes), LEVELS)),
        "ordered": lambda: pd.Series(pd.Categorical.from_codes(np.where(gaps, -1, codes), LEVELS, ordered=True)),
        "ordered numbers": lambda: pd.Series(
            pd.Categorical.from_codes(np.where(gaps, -1, codes), [10, 9, 8.5, 7], ordered=True)
        ),
        "one in order": lambda: pd.Series(
            pd.Categorical.from_codes(np.where(codes > 1, 0, -1), ["only"], ordered=True)
        ),
        "blanks in order": lambda: pd.Series(pd.Categorical.from_codes(codes, [" b", "", "a ", "c"], ordered=True)),
        "category of names": lambda: pd.Series(
            [f"name {s % (2 * rows)}" for s in seconds], dtype="category"
        ).mask(gaps),
        "category of days": lambda: moments.dt.normalize().astype("category"),
        "category of numbers": lambda: pd.Series(pd.Categorical.from_codes(codes, [3, 1, 2, 10])),
        "datetime": lambda: moments.mask(gaps),
        "zoned": lambda: moments.dt.tz_localize("UTC").dt.tz_convert(draw.choice(ZONES)).mask(gaps),
        "datetime objects": lambda: moments.dt.tz_localize("UTC").dt.tz_convert(ZONES[0]).astype(object).mask(gaps),
        "days": lambda: moments.dt.date.astype(object).mask(gaps),
    }
    values = made[kind]() if kind else list(made)
    if not kind:
        return values
    hours = moments.dt.hour.to_numpy() / 12
    return values, hours if kind in ("datetime", "zoned", "datetime objects") else codes


KINDS = column(None, 1, random.Random(0))


def table(draw, rows):
    """A random table, its target, and whether that has classes."""
    kinds = draw.sample(KINDS, draw.randrange(1, 6))
    columns, score = {}, np.zeros(rows)
    for kind in kinds:
        columns[kind.replace(" ", "_")], part = column(kind, rows, draw)
        score = score + draw.choice([0.0, 1.0, 2.0]) * (part > 1.4)
    columns["noise"] = pd.Series([round(draw.gauss(0, 1), 1) for _ in range(rows)])
    score = score + np.array([draw.gauss(0, 0.3) for _ in range(rows)])
    classes = draw.random() < 0.3
    y = pd.Series(np.where(score > np.median(score), "yes", "no") if classes else np.round(score, 3), name="y")
    return pd.DataFrame(columns), y, classes


def options(draw):
    """Random parameters that a cluster takes."""
    found = {"max_complexity": draw.choice([4, 9])}
    if draw.random() < 0.5:
        found |= {"polish": "off", "reg_lambda": draw.choice([0.5, 2.0])}
    if draw.random() < 0.3:
        found["sets"] = "on"
    if draw.random() < 0.3:
        found["path"] = draw.choice(["nested", "best"])
    if draw.random() < 0.3:
        found["max_bins"] = draw.choice([3, 16, 300])
    return found


def cut(frame, draw):
    """A Dask frame in random partitions, some of them empty."""
    ends = sorted(draw.randrange(len(frame) + 1) for _ in range(draw.randrange(5)))
    bounds = [0, *ends, len(frame)]
    parts = [dask.delayed(frame.iloc[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)]
    return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


def compare(client, seed):
    """What is wrong with the fit of a random table; nothing if it has the bytes of a local one."""
    draw = random.Random(seed)
    X, y, classes = table(draw, draw.choice([30, 120, 400]))
    parameters = options(draw)
    gather = "never" if "polish" in parameters and draw.random() < 0.5 else "auto"
    if gather == "never":
        # Folds need all rows in one place.
        parameters["cv"] = None
    kind = "RuleClassifier" if classes else "RuleRegressor"
    whole = cut(X.assign(y=y), draw)
    if draw.random() < 0.5:
        # Dask looks at the partitions for their categories.
        for name in X.columns[X.dtypes == "category"]:
            whole[name] = whole[name].cat.as_unknown()

    def told(fit):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return fit().to_json()
            except (ValueError, TypeError) as error:
                return f"{type(error).__name__}: {error}"

    here = told(lambda: getattr(orthorules, kind)(**parameters).fit(X, y))
    there = told(
        lambda: getattr(rules, kind)(client=client, gather=gather, **parameters).fit(whole[list(X.columns)], whole["y"])
    )
    if here == there:
        return None
    lines = f"  here  {changed(here, there)}\n  there {changed(there, here)}"
    return f"seed {seed}: {kind}({parameters}) of {dict(X.dtypes)}\n{lines}"


def changed(text, other):
    """The first lines of a text that another does not have."""
    known = set(other.splitlines())
    return " | ".join([line.strip() for line in text.splitlines() if line not in known][:4])[:300]


def cluster(workers):
    # Otherwise a cluster gives up on a worker that takes longer than 15 seconds to come back, as on a busy machine.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"})
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=50
    )


def tables(count, seed):
    """How many random tables are fitted otherwise than here."""
    failed = 0
    with cluster(2) as started, distributed.Client(started) as client:
        for number in range(seed, seed + count):
            found = compare(client, number)
            if found is not None:
                failed += 1
                print(found, flush=True)
    print(f"{count} tables, {failed} differ")
    return failed


class Outcome:
    """How a fit ended: `same` (the bytes of a local one), `error` (the product's own, that no worker is left), or what
    else. Seconds are those of the fit, or since there was a worker last."""

    def __init__(self, how, when, seconds):
        self.how, self.when, self.seconds = how, when, seconds

    def is_fine(self):
        """The model is right, or the fit has given up in time."""
        return self.how == "same" or self.how == "error" and self.seconds < GIVES_UP


# Seconds since there was a worker after which a fit has told that there is none.
GIVES_UP = 60.0
# Seconds after which a fit hangs.
HANGS = 900


def processes(started):
    """The numbers of the processes of workers, those included that are starting."""
    for nanny in list(started.workers.values()):
        with contextlib.suppress(AttributeError):
            yield nanny.process.process.pid


def kill(started, whom, seconds):
    """Kills one worker or all; all that come after them, too, for some seconds."""
    until = time.monotonic() + seconds
    while True:
        found = [pid for pid in processes(started) if pid]
        for pid in found if whom != "one" else found[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() >= until:
            return
        time.sleep(0.02)


def killed(started, client, seed, whom):
    """A fit during which `one` worker is killed, or `all`, or `again` those that follow them for a while. None if there
    are no workers to begin with."""
    draw = random.Random(seed)
    random_ = np.random.default_rng(seed)
    X = pd.DataFrame(np.round(random_.normal(size=(2000, 5)), 1), columns=list("abcde"))
    y = pd.Series(X["a"] + 2 * (X["b"] > 0.3) + 0.1 * random_.normal(size=len(X)), name="y")
    fixed = {"max_rules": 6, "polish": "off", "reg_lambda": 1.0}
    expected = orthorules.RuleRegressor(**fixed).fit(X, y).to_json()
    whole = cut(X.assign(y=y), draw)

    def fitted():
        model = rules.RuleRegressor(client=client, gather="never", **fixed).fit(whole[list(X.columns)], whole["y"])
        return model.to_json() == expected

    # How long it takes without a loss, so that the loss comes before its end. The first fit takes longer than others.
    try:
        how = "same" if fitted() and fitted() else "other bytes without a loss"
        began = time.monotonic()
        fitted()
    except RuntimeError:
        # What was killed at the end of the last trial was still there when this one began.
        return None
    when = draw.uniform(0.05, 0.95) * (time.monotonic() - began)
    lasts = draw.uniform(0.5, 6.0) if whom == "again" else 0.0
    victims = list(client.nthreads())
    timer = threading.Timer(when, kill, [started, whom, lasts])
    began = time.monotonic()
    timer.start()
    seen, done = [began], threading.Event()
    looking = threading.Thread(target=look, args=[started, seen, done])
    looking.start()
    try:
        with at_most(HANGS):
            how = how if fitted() else "other bytes"
    except RuntimeError as error:
        how = "error" if "no worker is left" in str(error) else repr(error)
    except TimeoutError:
        how = "hangs"
    ended = time.monotonic()
    done.set()
    looking.join()
    timer.join()
    # The scheduler hears of it a moment later. A new worker may have the old address.
    until = time.monotonic() + 30
    while how == "same" and time.monotonic() < until and any(victim in client.nthreads() for victim in victims):
        time.sleep(0.05)
    return Outcome(how, when, ended - (began if how == "same" else seen[0]))


def look(started, seen, done):
    """Keeps in `seen` when there was a worker last."""
    while not done.wait(0.05):
        if started.scheduler.workers:
            seen[0] = time.monotonic()


@contextlib.contextmanager
def at_most(seconds):
    """Raises TimeoutError in the block after so many seconds."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def are_there(client, workers):
    """Whether all workers have come back. Dask's nanny gives up where one is killed while it starts."""
    try:
        client.wait_for_workers(workers, timeout=60)
    except TimeoutError:
        return False
    return True


def kills(count, seed):
    """How many fits with killed workers hang, fail or have other bytes."""
    outcomes = []
    for workers in (1, 2):
        numbers = iter(range(seed + workers - 1, seed + count, 2))
        number = next(numbers, None)
        while number is not None:
            with cluster(workers) as started, distributed.Client(started) as client:
                while number is not None and are_there(client, workers):
                    ways = ["all", "again", "one"][: 1 + workers]
                    whom = ways[number // 2 % len(ways)]
                    outcome = killed(started, client, number, whom)
                    if outcome is None:
                        break
                    outcomes.append(outcome)
                    late = ", after the fit" if outcome.how == "same" and outcome.when > outcome.seconds else ""
                    told = f"{whom} of {workers} killed after {outcome.when:.2f} s{late}: {outcome.how}"
                    print(f"{told}, {outcome.seconds:.1f} s", flush=True)
                    number = next(numbers, None)
    hows = [outcome.how for outcome in outcomes]
    failed = sum(not outcome.is_fine() for outcome in outcomes)
    print(f"{len(hows)} kills: {hows.count('same')} same bytes, {hows.count('error')} told in time, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tables", "kills"])
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    count = given.count or {"tables": 300, "kills": 30}[given.what]
    sys.exit(1 if {"tables": tables, "kills": kills}[given.what](count, given.seed) else 0)


if __name__ == "__main__":
    main()
