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


@pytest.fixture(scope="session")
def command():
    """Runs the command line; skips where it is not built."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = Path(os.environ.get("ORTHORULES_BIN", folder / "release" / "orthorules"))
    if not program.exists():
        pytest.skip(f"no command line at {program}: cargo build --release")

    def run(*arguments, **options):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
