"""Tables, models and pages for the tests of the report, and a browser that looks at them."""

import base64
import json
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

# Chromium's own services would ask the network; the page never does.
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-color-profile=srgb"
).split()


def missing_browser():
    """What is not installed, if anything."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return program
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium"
    return None


ABSENT = missing_browser()
NEEDS_BROWSER = pytest.mark.skipif(ABSENT is not None, reason=f"*** SKIPPED: the report; not installed: {ABSENT} ***")

# Types rows into the form, one field after the other, and tells what the page then shows.
TYPE = """
const told = [];
for (const row of arguments[0]) {
  for (const field of document.querySelectorAll('form.fields [data-column]')) {
    const value = row[field.dataset.column];
    if (field.tagName === 'SELECT') {
      const found = [...field.options].find((option) => option.textContent === value);
      field.value = value === null ? 'm' : found ? found.value : 'o';
    } else {
      field.value = value === null ? '' : String(value);
    }
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
  const shown = document.querySelector('#prediction').dataset;
  const lit = [...document.querySelectorAll('table.rules tr.line')].map((tr) => [
    Number(tr.dataset.ensemble), tr.dataset.rule, tr.classList.contains('lit')]);
  told.push({ scores: JSON.parse(shown.scores), prediction: JSON.parse(shown.prediction), lit });
}
return told;
"""


@contextmanager
def browser(width=1200, height=900, scheme="light"):
    """A browser with a fresh profile."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    profile = tempfile.mkdtemp()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    # A machine that does other work, too, may take its time.
    driver.set_script_timeout(300)
    try:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media(driver, scheme)
        yield driver
    finally:
        driver.quit()
        shutil.rmtree(profile, ignore_errors=True)


def media(driver, scheme="light", kind=""):
    """Light or dark, on a screen or on paper."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})


def opened(driver, path):
    """Opens a page and waits until it has drawn everything."""
    driver.get(Path(path).resolve().as_uri())
    driver.execute_async_script(
        "const done = arguments[0]; const look = () => (document.querySelector('#page[data-ready]')"
        " ? setTimeout(done, 200) : setTimeout(look, 10)); look();"
    )
    return driver


def requests(driver):
    """The addresses that the browser has asked for since this was last called."""
    events = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


def picture(driver, path, height=None, selector=None):
    """A screenshot of the whole page, of its top, or of an element; few colours, so that it is small."""
    from PIL import Image

    box = driver.execute_script(
        "const e = arguments[0] ? document.querySelector(arguments[0]) : document.documentElement;"
        "const r = e.getBoundingClientRect();"
        "return {x: r.left + scrollX, y: r.top + scrollY, width: r.width, height: r.height};",
        selector,
    )
    around = 24 if selector else 0
    clip = {
        "x": box["x"] - around,
        "y": box["y"] - around,
        "width": box["width"] + 2 * around,
        "height": min(box["height"] + 2 * around, height or box["height"] + 2 * around),
        "scale": 1,
    }
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(shot["data"]))
    Image.open(path).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


# ---- tables ----


def _columns(random, n):
    """Numbers, text with and without an order, a boolean and missing values."""
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(float),
            "income": random.gamma(3, 12, n).round(1),
            "region": random.choice(["north", "south", "east", "west"], n),
            "member": random.random(n) < 0.4,
            "visits": random.poisson(3, n).astype(float),
            "stage": random.choice(["low", "mid", "high"], n),
        }
    )
    frame.loc[random.random(n) < 0.1, "age"] = np.nan
    frame.loc[random.random(n) < 0.06, "region"] = None
    return frame


def _score(frame):
    age, income = frame["age"].fillna(40), frame["income"]
    return (
        1.4 * (age >= 55)
        - 1.1 * ((income >= 40) & frame["member"])
        + 0.9 * (frame["region"] == "south")
        + 0.8 * ((frame["visits"] >= 4) & (age <= 35))
        + 0.6 * frame["region"].isna()
        - 0.9 * (frame["stage"] == "low")
    )


def _regression(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    return frame.assign(cost=(20 + 8 * _score(frame) + random.normal(0, 2, n)).round(2))


def _two(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    yes = random.random(n) < 1 / (1 + np.exp(1.2 - 1.8 * _score(frame)))
    return frame.assign(returned=np.where(yes, "yes", "no"))


def lists(document):
    """The list of rules of every score."""
    if document.get("multiclass") == "shared":
        return [document] * len(document["classes"])
    return document.get("one_vs_rest") or [document]


def _several(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    level = _score(frame) + random.normal(0, 0.5, n)
    return frame.assign(care=np.select([level < 0.1, level < 1.1], ["home", "ward"], "clinic"))


def _counts(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    years = random.uniform(0.2, 3, n).round(2)
    return frame.assign(years=years, claims=random.poisson(years * 0.4 * np.exp(0.7 * _score(frame))))


def _known_costs(n, seed):
    frame = _regression(n, seed)
    known = np.random.default_rng(seed + 1).uniform(-50, 50, n).round(1)
    return frame.assign(known=known, cost=frame["cost"] + known)


def _known_counts(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    years, known = random.uniform(0.2, 3, n).round(2), random.normal(0, 0.7, n).round(3)
    return frame.assign(
        years=years, known=known, claims=random.poisson(years * np.exp(known - 1 + 0.7 * _score(frame)))
    )


def _amounts(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    return frame.assign(cost=(300 * np.exp(0.7 * _score(frame)) * random.gamma(2, 0.5, n)).round(2) + 0.01)


def _level(frame):
    """What grows with age and bends with income, beside steps."""
    age, income = frame["age"].fillna(40), frame["income"]
    return 0.05 * (age - 40) + 0.06 * np.maximum(0, income - 30) + 0.8 * (frame["region"] == "south")


def _slopes(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    return frame.assign(cost=(20 + 8 * _level(frame) + random.normal(0, 2, n)).round(2))


def _sloping_chances(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    yes = random.random(n) < 1 / (1 + np.exp(1.5 - 1.5 * _level(frame)))
    return frame.assign(returned=np.where(yes, "yes", "no"))


def _sloping_counts(n, seed):
    random = np.random.default_rng(seed)
    frame = _columns(random, n)
    years = random.uniform(0.2, 3, n).round(2)
    return frame.assign(years=years, claims=random.poisson(years * 0.4 * np.exp(0.6 * _level(frame))))


# Name of the case: how its table is made, its target, and further options of the fit.
CASES = {
    "regression": (_regression, "cost", []),
    "two classes": (_two, "returned", ["--positive", "yes"]),
    "several classes": (_several, "care", []),
    "a list for each class": (_several, "care", ["--multiclass", "one-vs-rest"]),
    "amounts": (_amounts, "cost", ["--task", "gamma"]),
    "counts": (_counts, "claims", ["--task", "poisson", "--exposure", "years"]),
    "known costs": (_known_costs, "cost", ["--offset", "known"]),
    "known counts": (
        _known_counts,
        "claims",
        ["--task", "poisson", "--exposure", "years", "--offset", "known", "--terms", "linear"],
    ),
    "slopes": (_slopes, "cost", ["--terms", "hinge"]),
    "sloping chances": (_sloping_chances, "returned", ["--positive", "yes", "--terms", "linear"]),
    "sloping counts": (_sloping_counts, "claims", ["--task", "poisson", "--exposure", "years", "--terms", "hinge"]),
}

# Cases by what they predict: counts have exposures.
COUNTS = ("counts", "sloping counts", "known counts")
NUMBERS = ("regression", "amounts", "slopes", "known costs")
SLOPING = ("slopes", "sloping chances", "sloping counts")
# Cases with a part of the score that is known.
OFFSET = ("known costs", "known counts")


def columns_of(rule):
    """The names of the columns that a rule or a trend of a model file looks at."""
    return {rule["trend"]["column"]} if "trend" in rule else {c["column"] for c in rule["conditions"]}


def table(case, n=600, seed=1):
    """The table of a case."""
    return CASES[case][0](n, seed)


def random_rows(case, n, seed=9):
    """Rows with values on both sides of everything, missing ones and levels that training never had."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.uniform(0, 100, n).round(random.integers(0, 3)),
            "income": random.gamma(3, 12, n),
            "region": random.choice(["north", "south", "east", "west", "abroad"], n),
            "member": random.choice([True, False], n).astype(object),
            "visits": random.integers(-1, 12, n).astype(float),
            "stage": random.choice(["low", "mid", "high", "unknown"], n),
        }
    )
    for name in frame.columns:
        frame.loc[random.random(n) < 0.1, name] = None
    if case in COUNTS:
        frame["years"] = random.uniform(0.2, 3, n)
    if case in OFFSET:
        frame["known"] = random.uniform(-1, 1, n)
    return frame


def taken_apart(case, rows):
    """The columns that rules may use; the exposures and offsets of a case as arguments; the offsets alone."""
    exposure = {"exposure": rows["years"]} if case in COUNTS else {}
    offset = {"offset": rows["known"]} if case in OFFSET else {}
    return rows.drop(columns=["years", "known"], errors="ignore"), exposure | offset, offset


class Made:
    """A case with its files: a table, rows it has not seen, the model and the page."""

    def __init__(self, command, folder, case, *options):
        _, target, extra = CASES[case]
        self.case, self.target, self.folder = case, target, Path(folder)
        self.table, self.test = self.folder / "table.csv", self.folder / "test.csv"
        self.model, self.page = self.folder / "model.json", self.folder / "page.html"
        table(case).to_csv(self.table, index=False)
        table(case, 300, 4).to_csv(self.test, index=False)
        chosen = ["--ordered", "stage=low<mid<high", *([] if "--cv" in options else ["--cv", "none"])]
        command("fit", self.table, "--target", target, *extra, *chosen, *options, "-q", "-o", self.model)
        command("report", self.model, self.table, "--test", self.test, "-o", self.page)

    def document(self):
        """The model's file."""
        return json.loads(self.model.read_text("utf-8"))


def values(frame, row):
    """A row of a frame as the page takes it."""
    cells = frame.iloc[row].to_dict()
    return {
        name: None if pd.isna(v) else str(v).lower() if isinstance(v, bool | np.bool_) else v
        for name, v in cells.items()
    }


# ---- reading a page ----


def fitted(command, folder, frame, target, *options):
    """A page about a table."""
    frame.to_csv(folder / "table.csv", index=False)
    command("fit", folder / "table.csv", "--target", target, *options, "-q", "-o", folder / "model.json")
    command("report", folder / "model.json", folder / "table.csv", "-o", folder / "page.html")
    return folder / "page.html"


def chosen_size(document):
    """The size of a model file that is used."""
    size = [s for s in document["path"] if s["rules"] == document["chosen"]]
    return next((s for s in size if s["complexity"] == document.get("chosen_complexity")), size[-1])


def text_of(driver, selector="#page"):
    """The text of an element, also where it is out of sight."""
    return driver.execute_script("return document.querySelector(arguments[0]).textContent", selector)


def texts_of(driver, selector):
    """The texts of all elements of a kind."""
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent.trim())", selector
    )


# Opens what is closed: every rule and every list.
OPEN = """
document.querySelectorAll('button.rule[aria-expanded=false]').forEach((b) => b.click());
document.querySelectorAll('details').forEach((d) => { d.open = true; });
"""

# Everything that people read, fields and descriptions among it.
READ = """
const parts = [document.querySelector('#page').innerText];
document.querySelectorAll('#page *').forEach((e) => {
  const said = ['placeholder', 'aria-label', 'title', 'data-head'].filter((a) => e.hasAttribute(a));
  parts.push(...said.map((a) => e.getAttribute(a)));
  if (['title', 'text', 'OPTION'].includes(e.tagName)) parts.push(e.textContent);
  if (e.tagName === 'INPUT' && e.type === 'text') parts.push(e.value);
});
return parts;
"""


# The rules in their lines: their place in the model, and what is said of them.
LINES = """
return [...document.querySelectorAll('tr.line')].map((tr) => [
  Number(tr.dataset.index), tr.querySelector('.rule').textContent, tr.dataset.rule]);
"""
