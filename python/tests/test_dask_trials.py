"""A few of the random trials of `experiments/dask_trials.py`: every dtype of pandas, and all workers killed."""

import contextlib
import importlib.util
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

import orthorules._dask_rows as inside  # noqa: E402
import orthorules.dask as rules  # noqa: E402
from conftest import ROOT  # noqa: E402
from orthorules import RuleRegressor  # noqa: E402


def program():
    path = ROOT / "experiments" / "dask_trials.py"
    spec = importlib.util.spec_from_file_location("dask_trials", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


trials = program()


@pytest.fixture(scope="module")
def client():
    with trials.cluster(2) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("seed", range(1, 13))
def test_random_tables_have_the_bytes_of_a_local_fit(client, seed):
    assert trials.compare(client, seed) is None


@pytest.mark.parametrize("known", [True, False])
def test_ordered_categories_stay_in_order(client, known):
    codes = np.arange(300) * 7 % 4
    X = pd.DataFrame({"k": pd.Categorical.from_codes(codes, trials.LEVELS, ordered=True), "x": np.arange(300.0) % 11})
    y = pd.Series(3.0 * (codes >= 2), name="y")
    local = RuleRegressor(max_rules=2).fit(X, y)
    assert "k >= high" in " ".join(local.rules_["rule"]) or "k <= mid" in " ".join(local.rules_["rule"])
    whole = dd.from_pandas(X.assign(y=y), npartitions=3)
    if not known:
        whole["k"] = whole["k"].cat.as_unknown()
    model = rules.RuleRegressor(client=client, max_rules=2).fit(whole[["k", "x"]], whole["y"])
    assert model.to_json() == local.to_json()


@pytest.mark.parametrize("workers", [1, 2])
def test_all_workers_may_be_killed(monkeypatch, workers):
    monkeypatch.setattr(inside, "_PATIENCE", 300.0)
    with trials.cluster(workers) as cluster, distributed.Client(cluster) as client:
        assert trials.killed(cluster, client, workers, "all").how == "same"


def slow(part):
    time.sleep(1.5)
    return part


@pytest.mark.parametrize("is_back", [True, False])
def test_workers_may_be_killed_while_categories_are_looked_for(monkeypatch, is_back):
    """Before the first question there is one for the order of categories that Dask does not know."""
    monkeypatch.setattr(inside, "_PATIENCE", 300.0 if is_back else 3.0)
    codes = np.arange(300) * 7 % 4
    X = pd.DataFrame({"k": pd.Categorical.from_codes(codes, trials.LEVELS, ordered=True)})
    whole = X.assign(y=3.0 * (codes >= 2))
    with trials.cluster(2) as cluster, distributed.Client(cluster) as client:
        parts = [dask.delayed(slow, pure=False)(whole.iloc[at : at + 75]) for at in range(0, 300, 75)]
        frame = dd.from_delayed(parts, meta=whole.iloc[:0], verify_meta=False)
        frame["k"] = frame["k"].cat.as_unknown()
        victims = list(client.run(os.getpid).values())

        def kill():
            if not is_back:
                cluster.scale(0)
            for victim in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)

        timer = threading.Timer(0.7, kill)
        timer.start()
        fit = rules.RuleRegressor(client=client, max_rules=2).fit
        if is_back:
            assert fit(frame[["k"]], frame["y"]).to_json() == RuleRegressor(max_rules=2).fit(X, whole["y"]).to_json()
        else:
            with pytest.raises(RuntimeError, match="no worker is left"):
                fit(frame[["k"]], frame["y"])
        timer.join()
