"""The report in a real browser: what it computes, what it shows, what it asks of the network."""

import base64
import io
import itertools
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pages
import pytest

import orthorules

ABSENT = pages.missing_browser()
pytestmark = pytest.mark.skipif(ABSENT is not None, reason=f"*** SKIPPED: the report; not installed: {ABSENT} ***")


@pytest.fixture(scope="module")
def made(command, tmp_path_factory):
    """The cases, each made once."""
    return {
        case: pages.Made(command, tmp_path_factory.mktemp("report"), case, "--max-complexity", "24")
        for case in pages.CASES
    }


@pytest.fixture(scope="module")
def chromium():
    with pages.browser() as driver:
        yield driver


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


@pytest.mark.parametrize("case", pages.CASES)
def test_a_thousand_typed_rows_get_the_engine_s_predictions_and_rules(made, chromium, case):
    rows = pages.random_rows(case, 1000)
    model = orthorules.load(made[case].model)
    pages.opened(chromium, made[case].page)
    typed = []
    # A few at a time: a script that takes long is taken for one that hangs.
    for start in range(0, len(rows), 50):
        typed += chromium.execute_script(TYPE, [pages.values(rows, i) for i in range(start, start + 50)])
    features, known, offset = pages.taken_apart(case, rows)
    if case in (*pages.COUNTS, *pages.NUMBERS):
        expected = model.predict(features, **known)[:, None]
    else:
        # The page has the classes in the model's order, the estimator in its own.
        order = [list(model.classes_).index(c) for c in made[case].document()["classes"]]
        expected = model.predict_proba(features)[:, order]
    found = np.array([t["prediction"] for t in typed])
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-12 * np.maximum(1, np.abs(expected)).max()
    assert len(np.unique(found.round(9), axis=0)) > 10, "rows that all get the same prediction prove nothing"

    explained = model.explain(features, **offset)
    explained = explained[explained["rule"] != "offset"]
    classes = list(explained["class"].unique()) if "class" in explained else [None]
    fired = {}
    for key, part in explained[explained["rule"] != "always (intercept)"].groupby("row"):
        labels = part["class"] if "class" in part else [None] * len(part)
        fired[key] = {(classes.index(c), rule): on for c, rule, on in zip(labels, part["rule"], part["fired"], strict=True)}
    for i, told in enumerate(typed):
        assert {(e, rule): on for e, rule, on in told["lit"]} == fired[i], rows.iloc[i].to_dict()


# Which rules and fields are there, and what is said of the size.
SHOWN = """
const of = (selector) => [...document.querySelectorAll(selector)];
return [
  of('table.rules tr.line').map((tr) => [Number(tr.dataset.ensemble), Number(tr.dataset.index)]),
  of('form.fields [data-column]').map((field) => field.dataset.column),
  document.querySelector('#sizes .lead').textContent,
  document.querySelector('#size').getAttribute('aria-valuetext'),
];
"""


@pytest.mark.parametrize("case", pages.CASES)
def test_the_slider_changes_table_and_form(made, chromium, case):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    document = made[case].document()
    ensembles = pages.lists(document)
    pages.opened(chromium, made[case].page)
    slider = chromium.find_element(By.ID, "size")
    slider.send_keys(Keys.HOME)
    seen = []
    for _ in range(int(slider.get_attribute("max")) + 1):
        lines, fields, text, label = chromium.execute_script(SHOWN)
        used = {column for e, k in lines for column in pages.columns_of(ensembles[e]["rules"][k])}
        assert set(fields) - {document.get("exposure"), document.get("offset")} == used
        most = max(sum(e == line[0] for line in lines) for e in range(len(ensembles)))
        assert re.match(rf"(up to )?{most} rules?\b", label), (label, most)
        seen.append((len(lines), text))
        slider.send_keys(Keys.ARROW_RIGHT)
    assert seen[0][0] == 0 and seen[-1][0] > 3 and len({count for count, _ in seen}) >= 3
    assert len({text for _, text in seen}) == len(seen), "the curve says what is shown"


# What a form shows of one row: the contributions of its terms, in the list that adds up to the score.
ADDED = """
const told = {};
document.querySelectorAll('table.waterfall tr[data-rule]').forEach((tr) => {
  told[tr.dataset.rule] = Number(tr.dataset.adds);
});
return told;
"""


@pytest.mark.parametrize("case", pages.SLOPING)
def test_trends_are_told_with_their_lines(made, chromium, case):
    rows = pages.random_rows(case, 20, seed=3)
    model = orthorules.load(made[case].model)
    pages.opened(chromium, made[case].page)
    texts = chromium.execute_script("return orthorules.view.terms(0).map((t) => [t.text, Boolean(t.rule.trend)])")
    trends = [text for text, is_trend in texts if is_trend]
    assert trends and len(trends) < len(texts), "there should be both"
    lead = chromium.execute_script("return document.querySelector('p.lead').textContent")
    counts = [(len(texts) - len(trends), "rule"), (len(trends), "trend")]
    expected = " and ".join(f"one {what}" if n == 1 else f"{n} {what}s" for n, what in counts)
    assert lead.lower().startswith(f"{expected} predict ")
    # Each has a line where rules have a bar; and its own view has a picture of it.
    assert chromium.execute_script("return document.querySelectorAll('table.rules .slope').length") == len(trends)
    shown = "return [...document.querySelectorAll('tr.line')].map((tr) => [tr.dataset.rule, tr.querySelector('.rule').textContent])"
    assert {rule for rule, said in chromium.execute_script(shown) if said.startswith("per ")} == set(trends)
    for rule, said in chromium.execute_script(shown):
        assert rule == said or rule not in trends
    chromium.execute_script("document.querySelectorAll('button.rule').forEach((b) => b.click())")
    assert chromium.execute_script("return document.querySelectorAll('.panel polyline.step').length") == len(trends)
    # A column that has trends alone is drawn as a slope.
    slanted = "return [...document.querySelectorAll('#columns line.step')].filter((l) => l.y1.baseVal.value !== l.y2.baseVal.value).length"
    assert chromium.execute_script(slanted) >= 1
    features = rows.drop(columns="years", errors="ignore")
    explained = model.explain(features)
    for i in range(len(rows)):
        chromium.execute_script(TYPE, [pages.values(rows, i)])
        part = explained[(explained["row"] == i) & explained["fired"] & (explained["rule"] != "always (intercept)")]
        told = chromium.execute_script(ADDED)
        assert set(told) == set(part["rule"])
        for rule, adds in zip(part["rule"], part["contribution"], strict=True):
            assert told[rule] == pytest.approx(adds, rel=1e-12, abs=1e-12)
    # Importance is what Python says.
    found = chromium.execute_script("return orthorules.view.terms(0).map((t) => t.importance)")
    from orthorules._look import importance

    assert found == pytest.approx(importance(model), rel=1e-9)
    assert chromium.get_log("browser") == []


def test_a_line_is_read_as_what_it_adds_to(made, chromium):
    """With one list for several classes a weight is added to a score; no probability rises by 2.4."""
    for case, expected in [
        ("several classes", "the score of "),
        ("two classes", "the odds of "),
        ("regression", "the prediction of "),
    ]:
        pages.opened(chromium, made[case].page)
        said = chromium.execute_script("return document.querySelector('.example').textContent")
        assert expected in said and (expected == "the odds of " or " by " in said), (case, said)
        assert ("odds against a class whose score stays" in said) == (case == "several classes")


def test_the_page_has_the_figures_of_evaluate(made, chromium, command):
    for case in pages.CASES:
        pages.opened(chromium, made[case].page)
        shown = chromium.execute_script(
            "const { view } = orthorules; return [view.table, view.test].map((t) => t.measures)"
        )
        for measures, file in zip(shown, (made[case].table, made[case].test), strict=True):
            path = json.loads(command("evaluate", made[case].model, file, "--json"))["path"]
            assert len(measures) == len(path)
            for here, there in zip(measures, sorted(path, key=lambda s: s["complexity"]), strict=True):
                for name, value in here.items():
                    assert value == pytest.approx(there[name], rel=1e-7, abs=1e-7), (case, name)


def test_coverage_and_means_are_those_of_the_table(made, chromium):
    """Of the table's own rows, counted by pandas."""
    for case in pages.CASES:
        data = pd.read_csv(made[case].table)
        model = orthorules.load(made[case].model)
        pages.opened(chromium, made[case].page)
        told = chromium.execute_script("return orthorules.view.table")
        assert told["training"] is True and told["used"] == len(data)
        assert chromium.execute_script("return orthorules.view.test.training") is False
        document = made[case].document()
        ensembles = pages.lists(document)
        features, _, offset = pages.taken_apart(case, data.drop(columns=made[case].target))
        largest = model.at(complexity=10**9)
        explained = largest.explain(features, **offset)
        parts = explained.groupby("class", sort=False) if "class" in explained else [(None, explained)]
        for e, (label, part) in enumerate(parts):
            if case in pages.COUNTS:
                y, mass = data["claims"], data["years"]
            elif case in pages.NUMBERS:
                y, mass = data[made[case].target], pd.Series(1.0, data.index)
            else:
                y = (data[made[case].target] == (label or "yes")).astype(float)
                mass = pd.Series(1.0, data.index)
            wide = part.pivot_table(index="row", columns="rule", values="fired", aggfunc="first").astype(bool)
            texts = chromium.execute_script("return orthorules.view.words.rules[arguments[0]]", e)
            assert len(texts) == len(ensembles[e]["rules"])
            for k, text in enumerate(texts):
                if text in wide:
                    on = wide[text].to_numpy()
                    figures = told["rules"][e][k]
                    assert figures["rows"] == on.sum()
                    assert figures["inside"] == pytest.approx(y[on].sum() / mass[on].sum(), rel=1e-7)
                    # A trend may say something of every row.
                    outside = y[~on].sum() / mass[~on].sum() if not on.all() else None
                    assert figures["outside"] == pytest.approx(outside, rel=1e-7)


RECOURSE = """
const { view, Recourse } = orthorules;
return arguments[0].map(([row, goal, locked, exposure]) =>
  new Recourse(view.model, view.places, row, goal, locked, exposure).run(5));
"""


def goals(made, case, prediction):
    """A goal that the row has not reached, as the page, the command line and Python have it."""
    if case in ("regression", "slopes", "known costs"):
        return {"below": prediction - 3}, ["--below", str(prediction - 3)], {"below": prediction - 3}
    if case in (*pages.COUNTS, "amounts"):
        return {"above": prediction * 1.5}, ["--above", str(prediction * 1.5)], {"above": prediction * 1.5}
    classes = made[case].document()["classes"]
    other = classes[(classes.index(prediction) + 1) % len(classes)]
    return {"class": classes.index(other)}, ["--change-to", other], {"change_to": other}


def find_the_same_changes(made, chromium, command, case):
    """Compares the page with the command line and Python."""
    rows = pages.random_rows(case, 12, seed=4)
    rows.to_csv(made[case].folder / "rows.csv", index=False)
    model = orthorules.load(made[case].model)
    features, known, _ = pages.taken_apart(case, rows)
    exposure = known.get("exposure")
    predicted = model.predict(features, **known)
    asked, lines = [], []
    for i in range(len(rows)):
        locked = ["region"] if i % 3 == 0 else []
        here, flags, there = goals(made, case, predicted[i])
        row = pages.values(rows, i)
        asked.append([row, here, locked, 1 if exposure is None else float(exposure[i])])
        lock = ["--lock", ",".join(locked)] if locked else []
        file = made[case].folder / "rows.csv"
        out = command("explain", made[case].model, file, "--row", i + 1, *flags, *lock, "--json", "-q")
        lines.append((json.loads(out)["rows"][0]["recourse"], there, locked, i))
    pages.opened(chromium, made[case].page)
    found = chromium.execute_script(RECOURSE, asked)
    sizes = set()
    for (told, there, locked, i), page in zip(lines, found, strict=True):
        assert (page["met"], page["complete"]) == (told["met"], told["complete"]) == (False, True)
        here = [[(c["column"], c["text"], c["example"], c["steps"]) for c in a["changes"]] for a in page["answers"]]
        command_line = [[(c["column"], c["to"], c["example"], c["steps"]) for c in a["changes"]] for a in told["answers"]]
        assert here == command_line
        for a, b in zip(page["answers"], told["answers"], strict=True):
            assert a["scores"] == b["scores"]
        options = {role: values[i : i + 1] for role, values in known.items()}
        frame = model.recourse(features.iloc[i : i + 1], lock=locked, **there, **options)
        flat = [(n, *c) for n, changes in enumerate(command_line, 1) for c in changes]
        assert list(frame[["answer", "column", "change", "example", "steps"]].itertuples(index=False, name=None)) == flat
        sizes |= {len(a) for a in here}
    assert sizes, "no row had an answer"


@pytest.mark.parametrize("case", pages.CASES)
def test_page_command_and_python_find_the_same_changes(made, chromium, command, case):
    find_the_same_changes(made, chromium, command, case)


def test_several_classes_along_trends_have_the_same_changes(command, tmp_path, chromium):
    case = "a list for each class"
    # With few bins there are few thresholds, and a line says more.
    made = {case: pages.Made(command, tmp_path, case, "--terms", "linear", "--max-bins", "3")}
    assert "trend" in made[case].model.read_text()
    find_the_same_changes(made, chromium, command, case)


def test_recourse_is_what_all_changes_give(command, tmp_path, chromium):
    """A small model: every combination of values on both sides of every threshold is predicted."""
    case = pages.Made(command, tmp_path, "two classes", "--max-rules", "4", "--max-conditions", "2")
    model = orthorules.load(case.model)
    document = case.document()
    step = next(s for s in reversed(document["path"]) if s["rules"] == document["chosen"])
    members = step.get("members") or range(step["rules"])
    conditions = [c for k in members for c in document["rules"][k]["conditions"]]

    def candidates(row):
        """Values on both sides of every threshold; whole ones where thresholds and the row's value are."""
        found = {}
        for column in document["columns"]:
            own = [c for c in conditions if c["column"] == column["name"]]
            if own and column["kind"] == "numeric":
                cuts = [c["value"] for c in own if "value" in c]
                now = row[column["name"]]
                whole = all(float(x).is_integer() for x in [*cuts, *([] if pd.isna(now) else [now])])
                found[column["name"]] = sorted({v + d for v in cuts for d in ((-1, 0, 1) if whole else (-0.01, 0, 0.01))})
            elif own:
                found[column["name"]] = [
                    level == "true" if column["kind"] == "boolean" else level for level in column["levels"]
                ]
        return found

    rows = pages.random_rows("two classes", 25, seed=11)
    pages.opened(chromium, case.page)
    checked = 0
    for i in range(len(rows)):
        row = rows.iloc[i : i + 1]
        label = model.predict(row)[0]
        goal = document["classes"].index("no" if label == "yes" else "yes")
        others = candidates(rows.iloc[i])
        assert len(others) >= 3
        grid = [[rows.iloc[i][name], *values] for name, values in others.items()]
        combos = list(itertools.product(*grid))
        frame = pd.concat([row] * len(combos), ignore_index=True)
        for j, name in enumerate(others):
            frame[name] = pd.Series([combo[j] for combo in combos], dtype=rows[name].dtype)
        reached = model.predict(frame) != label
        sets = {
            frozenset(n for n, v, w in zip(others, combo, combos[0], strict=True) if v is not w and v != w)
            for combo, yes in zip(combos, reached, strict=True)
            if yes
        }
        least = {s for s in sets if not any(t < s for t in sets)}
        asked = "const {view, Recourse} = orthorules; return new Recourse(view.model, view.places, arguments[0], arguments[1]).run(99)"
        found = chromium.execute_script(asked, pages.values(rows, i), {"class": goal})
        assert found["complete"]
        assert {frozenset(c["column"] for c in a["changes"]) for a in found["answers"]} == least
        checked += len(least)
    assert checked > 10


def test_it_says_nothing_and_asks_for_nothing(made, command, tmp_path):
    from selenium.webdriver.common.by import By

    command("demo", "--quiet", "-o", tmp_path / "demo.html")
    command("report", made["counts"].model, "-o", tmp_path / "alone.html")
    with pages.browser() as driver:
        for page in [*(m.page for m in made.values()), tmp_path / "demo.html", tmp_path / "alone.html"]:
            pages.requests(driver)
            pages.opened(driver, page)
            for button in driver.find_elements(By.CSS_SELECTOR, "button.rule")[:2]:
                driver.execute_script("arguments[0].click()", button)
            driver.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            driver.execute_async_script("setTimeout(arguments[0], 200)")
            assert driver.get_log("browser") == []
            others = [url for url in pages.requests(driver) if not url.startswith(("file:", "data:"))]
            assert others == []
            policy = driver.find_element(By.CSS_SELECTOR, "meta[http-equiv]").get_attribute("content")
            assert "default-src 'none'" in policy and "unsafe" not in policy


def test_keyboard_alone_reaches_and_works_everything(made, chromium):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    pages.opened(chromium, made["two classes"].page)
    reached = []
    for _ in range(120):
        ActionChains(chromium).send_keys(Keys.TAB).perform()
        active = chromium.switch_to.active_element
        key = active.get_attribute("id") or active.get_attribute("class") or active.text or active.tag_name
        if active.tag_name == "body":
            break
        reached.append(key)
        outline = active.value_of_css_property("outline-style")
        assert outline != "none" or active.get_attribute("contenteditable"), f"{key} does not show its focus"
        if active.get_attribute("class") == "rule" and active.get_attribute("aria-expanded") == "false":
            active.send_keys(Keys.ENTER)
            panel = active.get_attribute("aria-controls")
            assert active.get_attribute("aria-expanded") == "true"
            assert chromium.execute_script("return !document.getElementById(arguments[0]).hidden", panel)
    for wanted in ("skip", "size", "order", "search", "rule", "threshold", "field-0", "lock-0", "goal-class"):
        assert any(wanted == r or wanted in r.split() for r in reached), (wanted, reached)


USED = {"button", "link", "slider", "textbox", "combobox", "searchbox", "checkbox", "image", "radio"}


def test_everything_that_can_be_used_has_a_name(made, chromium):
    for case in pages.CASES:
        pages.opened(chromium, made[case].page)
        tree = chromium.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        seen = set()
        for node in tree:
            role = node.get("role", {}).get("value")
            if node.get("ignored") or role not in USED:
                continue
            seen.add(role)
            assert node.get("name", {}).get("value", "").strip(), (case, node)
        assert {"button", "link", "slider", "textbox", "combobox", "checkbox", "image"} <= seen
        assert chromium.execute_script("return document.documentElement.lang") == "en"
        assert chromium.execute_script("return document.querySelectorAll('h1').length") == 1


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(made, chromium, scheme):
    """WCAG AA: 4.5 to 1 for text, on every ground that it stands on."""
    pages.media(chromium, scheme)
    pages.opened(chromium, made["regression"].page)
    colours = chromium.execute_script(
        "const s = getComputedStyle(document.documentElement);"
        "return Object.fromEntries(['ink', 'dim', 'paper', 'card', 'lit', 'up', 'down', 'blue', 'gold'].map((n) => [n, s.getPropertyValue('--' + n).trim()]))"
    )
    pages.media(chromium)
    for text in ("ink", "dim", "up", "down", "blue", "gold"):
        for ground in ("paper", "card", "lit"):
            one, two = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
            assert (one + 0.05) / (two + 0.05) >= 4.5, (scheme, text, ground)


def test_it_prints_on_a4_with_every_rule(made, chromium):
    from pypdf import PdfReader
    from selenium.webdriver.common.print_page_options import PrintOptions

    for case in ("two classes", "several classes"):
        pages.opened(chromium, made[case].page)
        options = PrintOptions()
        options.background = True
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        pdf = chromium.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        pages.media(chromium)
        reader = PdfReader(io.BytesIO(base64.b64decode(pdf["data"])))
        width, height = (float(x) for x in reader.pages[0].mediabox.upper_right)
        assert (round(width / 72 * 25.4), round(height / 72 * 25.4)) == (210, 297)
        text = re.sub(r"\s+", "", " ".join(page.extract_text() for page in reader.pages))
        lines = chromium.execute_script("return [...document.querySelectorAll('button.rule')].map((b) => b.textContent)")
        assert len(lines) > 3
        for line in lines:
            assert re.sub(r"\s+", "", line) in text, line
        assert "Intendeduse" in text and "Howtoreproduce" in text


ODD = {
    "<script>alert(1)</script>": "numbers",
    "\"quoted\" & 'so' </script><img src=x onerror=alert(2)>": "numbers",
    "גיל \u202e המטופל": "text",
    "a very long name " * 20: "numbers",
}


def test_names_are_text_and_nothing_else(command, tmp_path, chromium):
    random = np.random.default_rng(5)
    n = 400
    frame = pd.DataFrame({name.strip(): random.normal(size=n).round(2) for name in ODD})
    levels = ["</script><script>alert(3)</script>", "שלום", "{{x}}"]
    frame["גיל \u202e המטופל"] = random.choice(levels, n)
    numbers = [name for name in frame.columns if frame[name].dtype.kind == "f"]
    frame["<b>y</b>"] = sum((3 + i) * (frame[name] > 0.2) for i, name in enumerate(numbers)) + 5.0 * (
        frame["גיל \u202e המטופל"] == levels[0]
    )
    frame.to_csv(tmp_path / "odd.csv", index=False)
    command("fit", tmp_path / "odd.csv", "--target", "<b>y</b>", "--max-rules", "5", "-q", "-o", tmp_path / "m.json")
    command("report", tmp_path / "m.json", tmp_path / "odd.csv", "-o", tmp_path / "odd.html")
    pages.opened(chromium, tmp_path / "odd.html")
    counts = "return ['img', 'script', 'b b', 'iframe'].map((t) => document.querySelectorAll(t).length)"
    chromium.execute_script("document.querySelectorAll('button.rule').forEach((b) => b.click())")
    assert chromium.execute_script(counts) == [0, 2, 0, 0]
    assert "<b>y</b>" in chromium.execute_script("return document.querySelector('h1').textContent")
    shown = chromium.execute_script("return [...document.querySelectorAll('form.fields [data-column]')].map((f) => f.dataset.column)")
    assert set(shown) == set(frame.columns) - {"<b>y</b>"}
    assert chromium.get_log("browser") == []
    # Long names do not push the page out of the window.
    assert chromium.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_a_phone_shows_it_all_without_scrolling_sideways(made, command, tmp_path):
    command("demo", "--quiet", "-o", tmp_path / "demo.html")
    with pages.browser(390, 844) as driver:
        for page in [*(m.page for m in made.values()), tmp_path / "demo.html"]:
            pages.opened(driver, page)
            driver.execute_script("document.querySelectorAll('button.rule').forEach((b, i) => i < 2 && b.click())")
            assert driver.execute_script("return document.documentElement.scrollWidth") <= 390


def wide_model(random, columns):
    """A rule for each column, and every size up to all of them: more than any fit of so many columns keeps."""
    names = [f"measurement {i}" for i in range(columns)]
    conditions = [{"column": name, "op": "<=", "value": round(random.normal(), 3)} for name in names]
    weights = random.normal(size=columns)
    path = [
        {"rules": k, "intercept": random.normal(), "weights": list(weights[:k] * (1 + 1 / (k + 1))), "train_risk": 2.0 - k / columns}
        for k in range(columns + 1)
    ]
    return {
        "format": "orthorules-model",
        "version": 1,
        "task": "regression",
        "loss": "squared",
        "target": "y",
        "columns": [{"name": name, "kind": "numeric"} for name in names],
        "rules": [{"conditions": [condition]} for condition in conditions],
        "path": path,
        "chosen": columns,
    }


def test_two_hundred_columns_take_less_than_two_megabytes(command, tmp_path, chromium):
    random = np.random.default_rng(3)
    model = wide_model(random, 200)
    (tmp_path / "wide.json").write_text(json.dumps(model))
    names = [column["name"] for column in model["columns"]]
    frame = pd.DataFrame(random.normal(size=(3000, 200)).round(4), columns=names).assign(y=random.normal(size=3000))
    for name in ("table.csv", "test.csv"):
        frame.to_csv(tmp_path / name, index=False)
    files = [tmp_path / name for name in ("wide.json", "table.csv", "test.csv", "wide.html")]
    command("report", files[0], files[1], "--test", files[2], "-o", files[3])
    assert files[3].stat().st_size < 2_000_000
    pages.opened(chromium, files[3])
    assert chromium.get_log("browser") == []
    assert len(chromium.execute_script("return document.querySelectorAll('table.rules tr.line')")) == 200


def test_a_page_without_a_table_is_small_and_works(made, command, tmp_path, chromium):
    for case in pages.CASES:
        page = tmp_path / "alone.html"
        command("report", made[case].model, "-o", page)
        assert page.stat().st_size < 500_000
        pages.opened(chromium, page)
        rows = pages.random_rows(case, 5)
        typed = chromium.execute_script(TYPE, [pages.values(rows, i) for i in range(len(rows))])
        assert len(typed) == 5
        assert "No table" in chromium.execute_script("return document.querySelector('#fit').textContent")


def test_numbers_are_those_of_the_command_line(made, chromium):
    """The formats of Rust, by way of the package's own functions."""
    from orthorules import _native

    random = np.random.default_rng(1)
    numbers = [*(random.normal(size=300) * 10.0 ** random.integers(-12, 14, 300)), 0, 2.5, 0.125, 1e15, 1e16, 1e-5, 9.99e-6, 123456789.5]
    pages.opened(chromium, made["regression"].page)
    plain, rounded = chromium.execute_script(
        "return [arguments[0].map(orthorules.plain), arguments[0].map((x) => orthorules.rounded(x, 4))]", numbers
    )
    assert plain == [_native.plain(float(x)) for x in numbers]
    assert rounded == [_native.rounded(float(x), 4) for x in numbers]
    lists = [[0.741, -1.42, -0.409], [23211.4, 592.3, -81.0], [0.0], [1e300, -2.5e299], [2.5, 1000.0], [0.5, 1.5, 2.5, 12345.0]]
    signed = chromium.execute_script("return arguments[0].map((l) => orthorules.signed(l, 3))", lists)
    assert signed == [
        ["+0.74", "-1.42", "-0.41"],
        ["+23211", "+592", "-81"],
        ["+0"],
        ["+1.00e300", "-2.50e299"],
        ["+2.5", "+1000.0"],
        ["+0.50", "+1.50", "+2.50", "+12345.00"],
    ]


def test_screenshots(made, command, tmp_path):
    """Pictures for the documentation: written there if ORTHORULES_SCREENSHOTS names the folder."""
    folder = Path(os.environ.get("ORTHORULES_SCREENSHOTS", tmp_path))
    two = pages.Made(command, tmp_path, "two classes", "--cv", "5", "--max-complexity", "40")
    taken = []
    with pages.browser(1100, 900) as driver:
        pages.opened(driver, two.page)
        taken.append(pages.picture(driver, folder / "report.png", height=1560))
        driver.execute_script("document.querySelector('button.rule').click()")
        taken.append(pages.picture(driver, folder / "report-rules.png", selector="#rules"))
        taken.append(pages.picture(driver, folder / "report-columns.png", selector="#columns"))
        taken.append(pages.picture(driver, folder / "report-fit.png", selector="#fit"))
        taken.append(pages.picture(driver, folder / "report-try.png", selector="#what-if"))
    with pages.browser(1100, 900, "dark") as driver:
        pages.opened(driver, two.page)
        taken.append(pages.picture(driver, folder / "report-dark.png", height=1000))
    with pages.browser(390, 844) as driver:
        pages.opened(driver, two.page)
        taken.append(pages.picture(driver, folder / "report-phone.png", height=1700))
    assert all(10_000 < path.stat().st_size < 250_000 for path in taken), [(p.name, p.stat().st_size) for p in taken]
