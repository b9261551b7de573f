"""Fitting: threads, interrupts, forks, progress."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

from orthorules import RuleRegressor
from orthorules._progress import Progress


def noise(rows=60_000, columns=20):
    random = np.random.default_rng(1)
    return np.asfortranarray(random.normal(size=(rows, columns))), random.normal(size=rows)


def endless(**more):
    """A fit that takes minutes."""
    return RuleRegressor(max_rules=5000, path="nested", reg_lambda=0.0, max_complexity=100_000, **more)


def test_threads_do_not_change_the_result():
    X, y = noise(3000)
    models = [RuleRegressor(max_rules=5, n_jobs=n).fit(X, y).to_json() for n in (1, 2, 3, None, -1)]
    assert len(set(models)) == 1


def test_folds_choose_the_penalty():
    X, y = noise(120, 3)
    models = [RuleRegressor(reg_lambda="cv", max_complexity=10, n_jobs=n).fit(X, y).to_json() for n in (1, 2)]
    assert models[0] == models[1] != RuleRegressor(reg_lambda=8.0, max_complexity=10).fit(X, y).to_json()
    # It is the default for so small a table.
    plain = RuleRegressor(max_complexity=10).fit(X, y).to_json()
    asked, usual = ({**json.loads(text), "provenance": None} for text in (models[0], plain))
    assert asked == usual
    with pytest.raises(ValueError, match="reg_lambda must be a number from 0 to 1e100, or cv"):
        RuleRegressor(reg_lambda="folds").fit(X, y)


def ticks_during_a_fit(rows):
    """How often another thread ran while a fit of that many rows went on."""
    X, y = noise(rows)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    RuleRegressor(max_rules=15, path="nested").fit(X, y)
    end = time.monotonic()
    done.set()
    thread.join()
    return sum(start < t < end for t in ticks)


def test_other_threads_run_during_a_fit():
    # A fit that held Python's lock would let the other thread in once before and once after it, however long it took.
    # One that does not may be over before the other thread was given a processor: then a longer one tells.
    assert any(ticks_during_a_fit(rows) > 3 for rows in (20_000, 80_000, 320_000, 1_280_000))


def interrupted_after(seconds):
    """Presses Ctrl-C after a while, and says when."""
    pressed = []
    # A shell lets what it runs in the background ignore Ctrl-C, and Python inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, press)
    timer.start()
    return pressed


def test_an_interrupt_ends_the_fit():
    X, y = noise()
    model = endless()
    pressed = interrupted_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    # Without the interrupt it takes hours.
    assert time.monotonic() - pressed[0] < 600
    assert not hasattr(model, "_model")


def test_an_interrupted_fit_can_be_kept(monkeypatch):
    X, y = noise()
    found, pressed = [], []
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def heard(self, label, rules, *_):
        found.append(rules)
        if rules >= 1 and not pressed:
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Progress, "__call__", heard)
    model = endless(on_interrupt="keep", verbose=1)
    model.fit(X, y)
    assert time.monotonic() - pressed[0] < 600
    assert model.interrupted_
    assert 0 < len(model.rules_) < 5000
    assert np.isfinite(model.predict(X)).all()


def test_a_process_may_fork_between_fits():
    X, y = noise(20_000, 5)
    model = RuleRegressor(max_rules=3, n_jobs=2).fit(X, y)
    expected = model.to_json()
    child = os.fork()
    if child == 0:
        same = RuleRegressor(max_rules=3, n_jobs=2).fit(X, y).to_json() == expected
        os._exit(0 if same and np.isfinite(model.predict(X)).all() else 1)
    for _ in range(3000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child did not end")
    assert status == 0


def test_progress_has_a_line_for_each_rule(capsys):
    X, y = noise(2000, 3)
    RuleRegressor(max_rules=3, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines and all("complexity" in line and "RMSE" in line for line in lines)
    RuleRegressor(max_rules=3).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_progress_rewrites_a_terminals_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress = Progress(1)
    progress(None, 1, 2, 0.5, "x <= 1")
    progress("a", 2, 14, 0.25, "x <= 1")
    progress.close()
    text = capsys.readouterr().err
    assert "\n" not in text and text.count("\r") == 4
    assert "size 1, complexity 2, risk 0.5" in text and "a: size 2, complexity 14" in text


def test_progress_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, content, raw):
            shown.append(content["text/plain"])

    import IPython.display

    def display(content, raw, display_id):
        shown.append(content["text/plain"])
        return Handle()

    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.setattr("orthorules._progress._in_notebook", lambda: True)
    X, y = noise(2000, 3)
    RuleRegressor(max_rules=3, verbose=1).fit(X, y)
    assert len(shown) >= 3 and all("RMSE" in text for text in shown)


def test_importing_loads_nothing_heavy():
    program = """
        import sys
        import numpy
        import orthorules
        heavy = {"pandas", "matplotlib", "sklearn", "scipy", "polars", "pyarrow", "joblib"} & set(sys.modules)
        assert not heavy, heavy
        # scikit-learn's base class brings pandas along in some releases.
        import sklearn.base
        there = set(sys.modules)
        from orthorules import RuleRegressor
        RuleRegressor(max_rules=1).fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 2, 2]).predict([[1.0]])
        heavy = {"pandas", "matplotlib", "polars", "pyarrow", "sklearn.metrics"} & (set(sys.modules) - there)
        assert not heavy, heavy
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_weights_that_are_shares_are_pointed_out():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(50, 2)), random.normal(size=50)
    with pytest.warns(UserWarning, match="the weights of 50 rows sum to 1: .* divide them by their mean"):
        RuleRegressor(max_rules=2).fit(X, y, sample_weight=np.full(50, 0.02))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleRegressor(max_rules=2).fit(X, y, sample_weight=np.full(50, 0.2))
