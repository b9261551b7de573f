"""Fits on a Dask cluster: the bytes of the command line, whatever the partitions, and whichever worker dies."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

import orthorules._dask_rows as inside  # noqa: E402
import orthorules.dask as rules  # noqa: E402
from cluster_cases import CASES, EVEN, ODD, OFFSETS, ROLES, ROWS, Expected, few_trips, table  # noqa: E402


@contextlib.contextmanager
def started(workers):
    """A cluster on this machine, and its client."""
    # On a busy machine a worker may take longer to come back than the 15 seconds that a cluster waits by default.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"})
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": 0}
    with distributed.LocalCluster(n_workers=workers, **options) as cluster, distributed.Client(cluster) as client:
        yield cluster, client


@pytest.fixture(scope="module")
def client():
    with started(2) as (_, client):
        yield client


@pytest.fixture
def mortal():
    """The client of a cluster whose workers may be killed."""
    with started(2) as (_, client):
        yield client


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return Expected(tmp_path_factory.mktemp("expected"), 14)


def estimator(name, client, **more):
    *_, kind, options = CASES[name]
    return getattr(rules, kind)(client=client, max_complexity=14, **options, **more)


def cut(frame, ends):
    """A Dask frame whose partitions end before these rows."""
    bounds = [0, *ends, len(frame)]
    parts = [frame.iloc[a:b] for a, b in zip(bounds, bounds[1:], strict=False)]
    return dd.from_delayed([delayed(part) for part in parts], meta=frame.iloc[:0], verify_meta=False)


def delayed(part):
    import dask

    return dask.delayed(lambda x: x, pure=False)(part)


def fitted(name, client, frame, ends, **more):
    target, weight, exposure, *_ = CASES[name]
    whole = cut(frame, ends)
    features = [c for c in frame.columns if c not in ROLES]
    arguments = {"sample_weight": weight, "exposure": exposure, "offset": "o" if OFFSETS[name] else None}
    given = {role: whole[column] for role, column in arguments.items() if column}
    return estimator(name, client, **more).fit(whole[features], whole[target], **given)


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_of_the_command_line(client, expected, name):
    for ends in [ODD] if name != "regression" else [[], [400, 800], EVEN, ODD]:
        model = fitted(name, client, table(), ends)
        assert model.to_json() == expected(name), (name, ends)
        assert few_trips(model, name, expected(name)), (name, ends, len(model.rounds_), model.searched_)


def test_large_replies_are_put_together_by_a_worker(client, expected, monkeypatch):
    submitted = []
    submit = inside.Cluster._submit

    def watched(self, function, *arguments, **more):
        submitted.append(function.__name__)
        return submit(self, function, *arguments, **more)

    monkeypatch.setattr(inside.Cluster, "_submit", watched)
    monkeypatch.setattr(inside, "_LARGE", 0)
    model = fitted("regression", client, table(), EVEN)
    assert model.to_json() == expected("regression")
    assert submitted.count("merged") >= len(model.rounds_)


def test_files_are_partitions(client, expected, tmp_path):
    frame = table()
    target, weight, exposure, *_ = CASES["counts"]
    frame = frame.drop(columns=[c for c in ROLES if c not in (target, weight, exposure)])
    for i, (a, b) in enumerate([(0, 500), (500, 500), (500, 501), (501, ROWS)]):
        frame.iloc[a:b].to_parquet(tmp_path / f"part-{i}.parquet", index=False)
    model = estimator("counts", client).fit(str(tmp_path / "*.parquet"), target, weight, exposure)
    assert model.to_json() == expected("counts")
    assert estimator("counts", client).fit(str(tmp_path), target, weight, exposure).to_json() == expected("counts")
    predicted = model.predict(dd.read_parquet(str(tmp_path))).compute()
    np.testing.assert_array_equal(predicted, model.to_local().predict(frame))


def test_arrays_have_partitions_too(client):
    from orthorules import RuleRegressor

    random = np.random.default_rng(1)
    X = np.round(random.normal(size=(500, 3)), 1)
    y = X[:, 0] + (X[:, 1] > 0.3) + 0.1 * random.normal(size=500)
    chunked = da.from_array(X, chunks=(120, 2))
    model = rules.RuleRegressor(client=client, max_rules=4).fit(chunked, da.from_array(y, chunks=120))
    local = RuleRegressor(max_rules=4).fit(X, y)
    assert model.to_json() == local.to_json()
    np.testing.assert_array_equal(model.predict(chunked).compute(), local.predict(X))


def test_predictions_stay_in_their_partitions(client):
    frame = table(300)
    model = fitted("three classes", client, frame, [100, 100])
    whole = cut(frame, [100, 100])
    local = model.to_local()
    assert (model.predict(whole).compute().to_numpy() == local.predict(frame)).all()
    found = model.predict_proba(whole).compute()
    assert list(found.columns) == list(local.classes_)
    np.testing.assert_array_equal(found, local.predict_proba(frame))


def test_offsets_and_exposures_go_with_predictions(client):
    frame = table(300)
    model = fitted("offsets of counts", client, frame, [100, 100])
    whole, local = cut(frame, [100, 100]), model.to_local()
    found = model.predict(whole, exposure=whole["e"], offset=whole["o"]).compute()
    np.testing.assert_array_equal(found, local.predict(frame, exposure=frame["e"], offset=frame["o"]))
    rates = model.predict(whole, offset=whole["o"]).compute()
    np.testing.assert_array_equal(rates, local.predict(frame, offset=frame["o"]))
    np.testing.assert_array_equal(model.predict(frame, offset=frame["o"]), local.predict(frame, offset=frame["o"]))
    with pytest.raises(ValueError, match="fitted with offset"):
        model.predict(whole).compute()
    with pytest.raises(TypeError, match="offset must be a Dask Series"):
        model.predict(whole, offset=frame["o"])
    with pytest.raises(ValueError, match="offset has 1 partitions, X has 3: make them alike"):
        model.predict(whole, offset=cut(frame, [])["o"])
    X, y, o = (frame[["x0", "x1"]].to_numpy(), frame["number"].to_numpy(), frame["o"].to_numpy())
    chunks = [da.from_array(X, chunks=(90, 1)), da.from_array(y, chunks=90), da.from_array(o, chunks=90)]
    model = rules.RuleRegressor(client=client, max_rules=3).fit(chunks[0], chunks[1], offset=chunks[2])
    found = model.predict(chunks[0], offset=chunks[2]).compute()
    np.testing.assert_array_equal(found, model.to_local().predict(X, offset=o))
    with pytest.raises(TypeError, match="offset must be a Dask array"):
        model.predict(chunks[0], offset=o)


def test_offsets_are_checked_with_the_row_of_the_whole(client, tmp_path):
    frame = table(60)[["x0", "x1", "number", "two", "o"]]
    frame.loc[40, "o"] = np.inf
    for i, (a, b) in enumerate([(0, 20), (20, 60)]):
        frame.iloc[a:b].to_parquet(tmp_path / f"part-{i}.parquet", index=False)
    bad = 'offset column "o", row 41: an offset must be a finite number, got inf'
    with pytest.raises(ValueError, match=bad):
        rules.RuleRegressor(client=client).fit(str(tmp_path), "number", offset="o")
    whole = cut(frame, [20])
    with pytest.raises(ValueError, match=bad):
        rules.RuleRegressor(client=client).fit(whole[["x0"]], whole["number"], offset=whole["o"])
    with pytest.raises(ValueError, match="offset needs task regression, poisson or gamma"):
        rules.RuleClassifier(client=client).fit(whole[["x0"]], whole["two"], offset=whole["x1"])


def killed_in(client, monkeypatch, name, round_, when=0.0, **more):
    """A fit during whose n-th round a worker is killed; and its longest round in seconds."""
    ask, count, seconds = inside.Cluster.ask, [0], []

    def killing(self, message):
        count[0] += 1
        if count[0] == round_:
            pid = next(iter(client.run(os.getpid).values()))
            threading.Timer(when, os.kill, (pid, signal.SIGKILL)).start()
        started = time.monotonic()
        try:
            return ask(self, message)
        finally:
            seconds.append(time.monotonic() - started)

    monkeypatch.setattr(inside.Cluster, "ask", killing)
    return fitted(name, client, table(), ODD, **more), max(seconds)


# The survey, the sample, the codes, and counts.
@pytest.mark.parametrize("round_", [1, 2, 3, 4, 9])
def test_a_worker_may_be_killed(mortal, expected, monkeypatch, round_):
    model, slowest = killed_in(mortal, monkeypatch, "regression", round_, 0.01)
    assert model.to_json() == expected("regression")
    assert slowest < 300


def test_a_worker_may_be_killed_while_replies_are_merged(mortal, expected, monkeypatch):
    monkeypatch.setattr(inside, "_ARITY", 1)
    model, slowest = killed_in(mortal, monkeypatch, "regression", 6, 0.03)
    assert model.to_json() == expected("regression")
    assert slowest < 300


def test_a_source_that_changes_ends_the_fit(client, monkeypatch, tmp_path):
    frame = table()[["x0", "x1", "number"]]
    path = tmp_path / "a.parquet"
    frame.to_parquet(path, index=False)
    ask, count = inside.Cluster.ask, [0]

    def changing(self, message):
        count[0] += 1
        if count[0] == 3:
            time.sleep(0.02)
            frame.iloc[::-1].to_parquet(path, index=False)
        return ask(self, message)

    monkeypatch.setattr(inside.Cluster, "ask", changing)
    with pytest.raises(ValueError, match="changed"):
        rules.RuleRegressor(client=client).fit(str(path), "number")


def test_what_needs_all_rows_is_refused(client):
    frame = table(50)
    whole = cut(frame, [20])
    for options in ({"cv": 3}, {"bootstrap": 20}, {"search": "exact"}, {"preset": "sirus"}):
        with pytest.raises(ValueError, match="several machines"):
            rules.RuleRegressor(client=client, **options).fit(whole[["x0", "x1"]], whole["number"])
    with pytest.raises(ValueError, match="class_weight"):
        rules.RuleClassifier(client=client, class_weight="balanced").fit(whole[["x0"]], whole["two"])
    with pytest.raises(TypeError, match="Dask collection"):
        rules.RuleRegressor(client=client).fit(frame[["x0"]], whole["number"])
    with pytest.raises(ValueError, match="partitions"):
        rules.RuleRegressor(client=client).fit(whole[["x0"]], cut(frame, [])["number"])
    with pytest.raises(TypeError, match="unexpected keyword"):
        rules.RuleRegressor(client=client, no_such_parameter=1)
    with pytest.raises(ValueError, match="not fitted"):
        rules.RuleRegressor(client=client).predict(whole)


def test_rows_that_must_stay_are_not_asked_for(client):
    whole = cut(table(200), [80])
    never = rules.RuleRegressor(client=client, gather="never")
    assert never.get_params()["gather"] == "never" and "gather='never'" in repr(never)
    for options in ({}, {"polish": "off"}, {"reg_lambda": 2.0}, {"path": "best"}):
        with pytest.raises(ValueError, match='set cv=None, polish="off" and a number for reg_lambda'):
            rules.RuleRegressor(client=client, gather="never", **options).fit(whole[["x0", "x1"]], whole["number"])
    with pytest.raises(ValueError, match="trends need all rows in one place"):
        rules.RuleRegressor(client=client, gather="never", terms="linear").fit(whole[["x0", "x1"]], whole["number"])
    with pytest.raises(ValueError, match="gather must be 'auto' or 'never', got 'always'"):
        rules.RuleRegressor(client=client, gather="always").fit(whole[["x0"]], whole["number"])
    # The codes of 200 rows in one byte each would be in a reply.
    plain = {"client": client, "polish": "off", "reg_lambda": 1.0, "max_rules": 2}
    here = rules.RuleRegressor(**plain).fit(whole[["x0"]], whole["number"])
    there = rules.RuleRegressor(**plain, gather="never").fit(whole[["x0"]], whole["number"])
    assert here.to_json() == there.to_json()
    assert len(here.rounds_) <= 5 and here.rounds_[-1][1] > 200 * 9


def test_bad_data_is_told_in_a_line(client):
    frame = table(60)
    frame.loc[40, "number"] = np.nan
    with pytest.raises(ValueError, match="row 41: the value is missing"):
        fitted("regression", client, frame, [20])


def test_without_workers_a_fit_ends_with_an_error(monkeypatch):
    assert inside._PATIENCE < 60
    monkeypatch.setattr(inside, "_PATIENCE", 3.0)
    with started(1) as (cluster, client):
        ask, count = inside.Cluster.ask, [0]

        def leaving(self, message):
            count[0] += 1
            if count[0] == 4:
                cluster.scale(0)
            return ask(self, message)

        monkeypatch.setattr(inside.Cluster, "ask", leaving)
        began = time.monotonic()
        with pytest.raises(RuntimeError, match="no worker is left"):
            fitted("regression", client, table(), [500])
        assert time.monotonic() - began < 300


# Before it is asked for how much there is to bring, and after it.
@pytest.mark.parametrize("when", [5, 6])
def test_replies_that_are_lost_when_they_are_done_do_not_hang_a_fit(monkeypatch, when):
    monkeypatch.setattr(inside, "_PATIENCE", 3.0)
    with started(1) as (cluster, client):
        wait, count = inside.Cluster._wait, [0]

        def leaving(self, futures):
            wait(self, futures)
            count[0] += 1
            if count[0] == when:
                (worker,) = cluster.workers.values()
                os.kill(worker.pid, signal.SIGKILL)
                cluster.scale(0)
                while client.nthreads():
                    time.sleep(0.05)

        monkeypatch.setattr(inside.Cluster, "_wait", leaving)
        began = time.monotonic()
        with pytest.raises(RuntimeError, match="no worker is left"):
            fitted("regression", client, table(), [500])
        assert time.monotonic() - began < 300


def test_an_interrupt_ends_the_fit_and_its_tasks(client, monkeypatch):
    ask, count = inside.Cluster.ask, [0]

    def slow(fit, message, parts, threads):
        time.sleep(0.5)
        return b""

    def interrupted(self, message):
        count[0] += 1
        if count[0] == 4:
            monkeypatch.setattr(inside, "_answer", slow)
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        return ask(self, message)

    monkeypatch.setattr(inside.Cluster, "ask", interrupted)
    # A program in the background is started without Python's own handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            fitted("regression", client, table(), [500])
    finally:
        signal.signal(signal.SIGINT, before)
    # No question is asked after that, and its tasks end.
    assert count[0] == 4
    until = time.monotonic() + 300
    while any(client.processing().values()):
        assert time.monotonic() < until
        time.sleep(0.1)
