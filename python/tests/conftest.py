"""Tables that many tests use, and the command line to compare with."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def deliveries():
    """Minutes to deliver, by distance, hour and weather: numbers, text, a boolean and missing values."""
    import pandas as pd

    random = np.random.default_rng(7)
    n = 600
    km = random.uniform(0.5, 12, n).round(1)
    hour = random.integers(8, 23, n)
    weather = random.choice(["dry", "dry", "rain", "snow"], n)
    express = random.random(n) < 0.3
    minutes = 18 + 9.0 * (km > 4) + 14 * (weather == "snow") - 4 * express + random.normal(0, 1, n)
    frame = pd.DataFrame({"km": km, "hour": hour, "weather": weather, "express": express})
    frame.loc[::17, "km"] = np.nan
    frame.loc[::23, "weather"] = None
    return frame, pd.Series(minutes, name="minutes")


def _run(*arguments, **options):
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = Path(os.environ.get("ORTHORULES_BIN", folder / "release" / "orthorules"))
    if not program.exists():
        pytest.skip(f"no command line at {program}: cargo build --release")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="session")
def command():
    """Runs the command line and returns what it prints; skips where it is not built."""
    return lambda *arguments, **options: _run(*arguments, **options).stdout


@pytest.fixture(scope="session")
def command_told():
    """The same, of its notes."""
    return lambda *arguments, **options: _run(*arguments, **options).stderr


@pytest.fixture(scope="session")
def made(command, tmp_path_factory):
    """The cases of the report, each made once."""
    import pages

    return {
        case: pages.Made(command, tmp_path_factory.mktemp("report"), case, "--max-complexity", "24")
        for case in pages.CASES
    }


@pytest.fixture(scope="session")
def chromium():
    """A browser in a window of the usual size."""
    import pages

    with pages.browser() as driver:
        yield driver


@pytest.fixture(scope="session")
def validated(command, tmp_path_factory):
    """Cases whose size was chosen by cross-validation, each with a page of the training rows alone."""
    import pages

    made = {}
    for case in ("two classes", "several classes", "regression", "counts", "slopes"):
        made[case] = pages.Made(
            command, tmp_path_factory.mktemp("validated"), case, "--cv", "5", "--max-complexity", "24"
        )
        made[case].alone = made[case].folder / "alone.html"
        command("report", made[case].model, made[case].table, "-o", made[case].alone)
    return made
