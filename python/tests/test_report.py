"""The report in a real browser: what it computes is what the engine computes."""

import itertools
import json

import numpy as np
import pandas as pd
import pages
import pytest

import orthorules

pytestmark = pages.NEEDS_BROWSER


@pytest.mark.parametrize("case", pages.CASES)
def test_a_thousand_typed_rows_get_the_engine_s_predictions_and_rules(made, chromium, case):
    rows = pages.random_rows(case, 1000)
    model = orthorules.load(made[case].model)
    pages.opened(chromium, made[case].page)
    typed = []
    # A few at a time: a script that takes long is taken for one that hangs.
    for start in range(0, len(rows), 50):
        typed += chromium.execute_script(pages.TYPE, [pages.values(rows, i) for i in range(start, start + 50)])
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
        fired[key] = {
            (classes.index(c), rule): on for c, rule, on in zip(labels, part["rule"], part["fired"], strict=True)
        }
    # Classes that share their rules have one list.
    shared = made[case].document().get("multiclass") == "shared"
    for i, told in enumerate(typed):
        lists = [{rule: on for (e, rule), on in fired[i].items() if e == k} for k in range(len(classes))]
        assert all(each == lists[0] for each in lists) or not shared
        expected_lists = lists[:1] if shared else lists
        shown = [{rule: on for e, rule, on in told["lit"] if e == k} for k in range(len(expected_lists))]
        assert shown == expected_lists, rows.iloc[i].to_dict()


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


def size_text(document, rules, trends):
    """What is said of a size: of classes with a list each, the longest."""
    if "one_vs_rest" in document:
        assert trends == 0
        return f"up to {rules} rule{'s' if rules != 1 else ''} a class"
    parts = [(rules, "rule"), (trends, "trend")] if trends > 0 else [(rules, "rule")]
    return " and ".join(f"{n} {what}{'s' if n != 1 else ''}" for n, what in parts if n > 0 or trends == 0)


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
        trends = [["trend" in ensembles[e]["rules"][k] for e_, k in lines if e_ == e] for e in range(len(ensembles))]
        counts = max(([each.count(False), each.count(True)] for each in trends), key=sum)
        assert label.split(",")[0] == size_text(document, *counts), (label, counts)
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
    shown = [(rule, said) for _, said, rule in chromium.execute_script(pages.LINES)]
    assert {rule for rule, said in shown if said.startswith(("per ", "for each "))} == set(trends)
    for rule, said in shown:
        assert rule == said or rule not in trends
    chromium.execute_script("document.querySelectorAll('button.rule').forEach((b) => b.click())")
    assert chromium.execute_script("return document.querySelectorAll('.panel polyline.step').length") == len(trends)
    # A column that has trends alone is drawn as a slope.
    slanted = (
        "return [...document.querySelectorAll('#columns line.step')]"
        ".filter((l) => l.y1.baseVal.value !== l.y2.baseVal.value).length"
    )
    assert chromium.execute_script(slanted) >= 1
    features = rows.drop(columns="years", errors="ignore")
    explained = model.explain(features)
    for i in range(len(rows)):
        chromium.execute_script(pages.TYPE, [pages.values(rows, i)])
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
        command_line = [
            [(c["column"], c["to"], c["example"], c["steps"]) for c in a["changes"]] for a in told["answers"]
        ]
        assert here == command_line
        for a, b in zip(page["answers"], told["answers"], strict=True):
            assert a["scores"] == b["scores"]
        options = {role: values[i : i + 1] for role, values in known.items()}
        frame = model.recourse(features.iloc[i : i + 1], lock=locked, **there, **options)
        flat = [(n, *c) for n, changes in enumerate(command_line, 1) for c in changes]
        assert (
            list(frame[["answer", "column", "change", "example", "steps"]].itertuples(index=False, name=None)) == flat
        )
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
                found[column["name"]] = sorted(
                    {v + d for v in cuts for d in ((-1, 0, 1) if whole else (-0.01, 0, 0.01))}
                )
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
        asked = (
            "const {view, Recourse} = orthorules;"
            "return new Recourse(view.model, view.places, arguments[0], arguments[1]).run(99)"
        )
        found = chromium.execute_script(asked, pages.values(rows, i), {"class": goal})
        assert found["complete"]
        assert {frozenset(c["column"] for c in a["changes"]) for a in found["answers"]} == least
        checked += len(least)
    assert checked > 10
