"""The report in a real browser: what people read on it."""

import json
import re

import numpy as np
import pandas as pd
import pages
import pytest

import orthorules

pytestmark = pages.NEEDS_BROWSER


# ---- classes that share their rules ----


def test_classes_that_share_rules_have_one_table(validated, chromium):
    made = validated["several classes"]
    document = made.document()
    assert document["multiclass"] == "shared"
    size = pages.chosen_size(document)
    pages.opened(chromium, made.page)
    assert len(pages.texts_of(chromium, "table.rules")) == 1
    assert pages.texts_of(chromium, "table.rules thead tr:last-child th")[1:4] == document["classes"]
    lines = chromium.execute_script(
        "return [...document.querySelectorAll('table.rules tr.line')].map((tr) => [Number(tr.dataset.index),"
        "[...tr.querySelectorAll('td.weight')].map((td) => [td.dataset.head, td.firstChild.textContent])])"
    )
    members = size.get("members", list(range(size["rules"])))
    assert sorted(index for index, _ in lines) == sorted(members)
    for index, weights in lines:
        assert [head for head, _ in weights] == document["classes"]
        for (_, text), weight in zip(weights, size["weights"][members.index(index)], strict=True):
            assert float(text) == pytest.approx(weight, rel=0.005)
    always = pages.texts_of(chromium, "table.rules tr.always td.weight")
    assert [float(text) for text in always] == pytest.approx(size["intercepts"], rel=0.005)


def test_a_shared_rule_opened_tells_of_every_class(validated, chromium):
    made = validated["several classes"]
    document, data = made.document(), pd.read_csv(made.table)
    explained = orthorules.load(made.model).explain(data.drop(columns="care"))
    pages.opened(chromium, made.page)
    chromium.execute_script(pages.OPEN)
    panels = chromium.execute_script(
        "return [...document.querySelectorAll('tr.panel')].map((p) => [p.previousSibling.dataset.rule,"
        "[...p.querySelectorAll('table.classes tbody tr')]"
        ".map((tr) => [...tr.children].map((c) => c.textContent.trim()))])"
    )
    assert len(panels) > 3
    for rule, lines in panels:
        part = explained[(explained["rule"] == rule) & (explained["class"] == document["classes"][0])]
        on = part.sort_values("row")["fired"].to_numpy(dtype=bool)
        for label, (head, _, inside, outside) in zip(document["classes"], lines, strict=True):
            right = (data["care"] == label).to_numpy()
            assert head == label
            for text, rows in ((inside, on), (outside, ~on)):
                assert abs(float(text.strip("<>%")) - 100 * right[rows].mean()) <= 1, (rule, label)


def test_a_row_without_a_shared_rule_is_without_it_for_every_class(validated, chromium):
    pages.opened(chromium, validated["several classes"].page)
    chromium.execute_script("document.querySelector('button.rule').click()")
    row, index, without = chromium.execute_script(
        "const tr = document.querySelector('tr.line');"
        "const cells = tr.nextSibling.querySelector('table.moved tbody tr').children;"
        "return [Number(cells[0].textContent), Number(tr.dataset.index), cells[cells.length - 3].textContent]"
    )
    expected = chromium.execute_script(
        """
        const [number, index] = arguments;
        const { view } = orthorules;
        const { sample } = view.table;
        const i = sample.numbers.indexOf(number);
        const row = Object.fromEntries(sample.columns.map((c) => [
          c.name, c.values[i] === null ? null : c.levels ? c.levels[c.values[i]] : [c.values[i]].flat()[0]]));
        const scores = view.places.map((place, e) => view.model.terms(e, place)
          .filter((t) => t.index !== index && view.model.fires(t.rule, row))
          .reduce((sum, t) => sum + t.weight, view.model.ensembles[e].path[place].intercept));
        const prediction = view.model.predict(scores);
        return [view.model.classes[prediction.label], prediction.probabilities[prediction.label]];
        """,
        row,
        index,
    )
    label, chance = without.rsplit(" ", 1)
    assert label == expected[0]
    assert float(chance.strip("<>%")) == pytest.approx(100 * expected[1], abs=0.6)


def test_many_classes_fit_beside_their_rules(command, tmp_path, chromium):
    random = np.random.default_rng(9)
    x, y = random.random((2, 1500))
    classes = [f"digit {k}" for k in range(10)]
    frame = pd.DataFrame(
        {"x": x.round(3), "y": y.round(3), "class": np.array(classes)[(5 * x).astype(int) + 5 * (y > 0.5)]}
    )
    page = pages.fitted(command, tmp_path, frame, "class", "--cv", "none", "--max-rules", "6")
    pages.opened(chromium, page)
    rights = chromium.execute_script(
        "return [...document.querySelectorAll('tr.line .rule .clause')].map((c) => c.getBoundingClientRect().right)"
    )
    table = chromium.execute_script(
        "return document.querySelector('table.rules').closest('.wide').getBoundingClientRect().right"
    )
    assert rights and max(rights) <= table, "rules are in sight without scrolling"
    assert chromium.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    # A sentence tells of those that change most.
    line, parts = chromium.execute_script(
        "const [first] = orthorules.view.lists()[0].sort((a, b) => b.importance - a.importance || a.order - b.order);"
        "return [document.querySelector('.lineexample').textContent, first.parts.map((p) => Math.abs(p.weight))]"
    )
    largest = {classes[k] for k in np.argsort(parts)[-3:]}
    assert {label for label in classes if label in line} == largest


# ---- words ----

BANNED = (
    "in vain", "flatters", "really", "of that risk", "undefined", "NaN", "[object", "Infinity", "-0.000", "–0.000",
)  # fmt: skip


def test_nothing_odd_is_said(made, validated, chromium):
    for page in [*(m.page for m in made.values()), *(m.alone for m in validated.values())]:
        pages.opened(chromium, page)
        chromium.execute_script(pages.OPEN)
        for size in ("HOME", "END"):
            chromium.execute_script(
                "const s = document.querySelector('#size'); s.value = arguments[0] === 'HOME' ? s.min : s.max;"
                "s.dispatchEvent(new Event('input'))",
                size,
            )
            read = "\n".join(chromium.execute_script(pages.READ))
            assert len(read) > 2000
            for word in BANNED:
                assert word.lower() not in read.lower() if word.islower() else word not in read, (page, size, word)


def test_trends_are_counted_as_trends(made, chromium):
    """Wherever there is a number of rules, trends are no part of it."""
    for case in pages.SLOPING:
        pages.opened(chromium, made[case].page)
        kinds = chromium.execute_script("return orthorules.view.terms(0).map((t) => Boolean(t.rule.trend))")
        assert True in kinds and False in kinds
        said = " and ".join(
            f"{n} {what}{'s' if n > 1 else ''}"
            for n, what in ((kinds.count(False), "rule"), (kinds.count(True), "trend"))
            if n
        )
        assert pages.text_of(chromium, "table.rules caption") == said
        assert pages.text_of(chromium, ".slider output").startswith(f"{said}, complexity")
        assert f"Shown: {said}, complexity" in pages.text_of(chromium, "#sizes .lead")
        assert f"{len(kinds)} rules" not in pages.text_of(chromium)
        held = len(pages.texts_of(chromium, "table.waterfall tr[data-rule]"))
        silent = pages.texts_of(chromium, "table.waterfall tr:last-child")[-1]
        if held < len(kinds):
            counts = [int(n) for n in re.findall(r"\d+", silent)]
            assert sum(counts) == len(kinds) - held, silent


def test_a_rule_for_all_levels_but_some_says_unless(command, tmp_path, chromium):
    levels = ["CA", "NY", "TX", "WA"]

    def on(op, value, column="state"):
        return {"column": column, "op": op, "value": value}

    # What is said, the conditions, and for how many of 100 rows they hold.
    rules = {
        "if state = CA": ([on("=", "CA")], 5),
        "unless state = CA": ([on("!=", "CA")], 95),
        "if state ≠ NY": ([on("!=", "NY")], 50),
        "if state in {CA, NY}": ([on("in", ["CA", "NY"])], 55),
        "unless state in {CA, TX}": ([on("not in", ["CA", "TX"])], 75),
        "if state not in {NY, TX}": ([on("not in", ["NY", "TX"])], 25),
        # Of several conditions each stays as it is.
        "if state ≠ CA and age ≥ 20": ([on("!=", "CA"), on(">=", 20, "age")], 60),
        "if state ≠ CA and state ≠ WA": ([on("!=", "CA"), on("!=", "WA")], 70),
        # Rows without a value satisfy neither it nor its opposite.
        "if city ≠ CA": ([on("!=", "CA", "city")], 90),
        "if age ≥ 20": ([on(">=", 20, "age")], 60),
    }
    n = len(rules)
    path = [
        {"rules": 0, "intercept": 1.0, "weights": [], "train_risk": 3.0},
        {"rules": n, "intercept": 0.0, "weights": [float(n - k) for k in range(n)], "train_risk": 1.0},
    ]
    text = {"kind": "categorical", "levels": levels}
    model = {
        "format": "orthorules-model", "version": 2, "task": "regression", "loss": "squared", "target": "y", "rows": 100,
        "columns": [
            {"name": "state", "missing": 0, **text},
            {"name": "city", "missing": 2, **text},
            {"name": "age", "kind": "numeric"},
        ],
        "rules": [{"conditions": conditions, "covered": covered} for conditions, covered in rules.values()],
        "path": path, "chosen": n,
    }  # fmt: skip
    (tmp_path / "m.json").write_text(json.dumps(model))
    command("report", tmp_path / "m.json", "-o", tmp_path / "m.html")
    pages.opened(chromium, tmp_path / "m.html")
    shown = chromium.execute_script(pages.LINES)
    assert [text for _, text, _ in sorted(shown)] == list(rules)
    chromium.execute_script(pages.OPEN)
    sentences = pages.texts_of(chromium, "tr.panel .inside > p:first-child")
    expected = {f"{text[0].upper()}{text[1:]}, the prediction of y rises by {n - k}." for k, text in enumerate(rules)}
    assert {s.replace(" Otherwise the rule adds nothing.", "") for s in sentences} == expected


def test_missing_is_said_of_what_has_gaps(command, tmp_path, chromium):
    random = np.random.default_rng(8)
    n = 800
    frame = pd.DataFrame(
        {
            "height": random.normal(size=n).round(2),
            "width": random.normal(size=n).round(2),
            "colour": random.choice(["red", "green", "blue"], n),
            "shape": random.choice(["round", "square", "long"], n),
        }
    )
    y = 2.0 * (frame["height"] > 0) + 3.0 * (frame["width"] > 0.3) + 2.5 * (frame["colour"] == "red")
    frame["y"] = y + 1.5 * (frame["shape"] == "long") + random.normal(0, 0.1, n)
    pages.opened(chromium, pages.fitted(command, tmp_path, frame, "y", "--cv", "none"))
    chromium.execute_script(pages.OPEN)
    read = "\n".join(chromium.execute_script(pages.READ))
    assert "height" in read and "missing" not in read.lower()

    frame.loc[::9, "width"] = np.nan
    frame.loc[::7, "colour"] = None
    pages.opened(chromium, pages.fitted(command, tmp_path, frame, "y", "--cv", "none"))
    chromium.execute_script(pages.OPEN)
    cards = dict(
        zip(pages.texts_of(chromium, "#columns figcaption"), pages.texts_of(chromium, "#columns .card"), strict=True)
    )
    assert {name: "missing" in text for name, text in cards.items()} == {
        "height": False, "width": True, "colour": True, "shape": False,
    }  # fmt: skip
    fields = chromium.execute_script(
        "return [...document.querySelectorAll('form.fields [data-column]')]"
        ".map((f) => [f.dataset.column, f.placeholder || f.textContent])"
    )
    assert {name: "missing" in text for name, text in fields} == {name: name in ("width", "colour") for name in cards}
    pictures = chromium.execute_script(
        "return [...document.querySelectorAll('.panel svg.chart')]"
        ".map((s) => [s.getAttribute('aria-label'), s.textContent])"
    )
    assert len(pictures) >= 4
    for label, text in pictures:
        assert ("missing" in text) == any(name in label for name in ("width", "colour")), label


def test_nothing_is_marked_before_the_form_was_used(made, chromium):
    for case in ("two classes", "several classes", "slopes"):
        pages.opened(chromium, made[case].page)
        lit = "return document.querySelectorAll('tr.lit').length"
        legend = "return document.querySelector('.tried').getClientRects().length"
        slide = "const s = document.querySelector('#size'); s.value = s.max; s.dispatchEvent(new Event('input'))"
        assert (chromium.execute_script(lit), chromium.execute_script(legend)) == (0, 0)
        chromium.execute_script(slide)
        assert chromium.execute_script(lit) == 0
        counts = []
        for _ in range(5):
            chromium.execute_script("document.querySelector('#what-if .controls button:nth-child(2)').click()")
            fired = chromium.execute_script(
                "const { view } = orthorules;"
                "return view.lists()[0].filter((t) => view.model.fires(t.rule, view.tried.values)).length"
            )
            assert chromium.execute_script(lit) == fired
            assert chromium.execute_script(legend) > 0
            counts.append(fired)
        assert max(counts) > 0


# ---- numbers ----


def digits_of(text):
    """How many digits of a number mean something."""
    return len(re.sub(r"e.*|[-+.]", "", text).lstrip("0"))


def test_numbers_have_three_or_four_digits(made, chromium):
    random = np.random.default_rng(1)
    numbers = [float(x) for x in random.normal(size=400) * 10.0 ** random.integers(-9, 13, 400)]
    pages.opened(chromium, made["regression"].page)
    for digits in (3, 4):
        texts = chromium.execute_script(
            "return arguments[0].map((x) => orthorules.short(x, arguments[1]))", numbers, digits
        )
        for x, text in zip(numbers, texts, strict=True):
            assert float(text) == pytest.approx(x, rel=5.001 * 10.0**-digits)
            if "." in text:
                assert digits_of(text) == digits or (
                    float(text) == 10 ** round(np.log10(abs(x))) and digits_of(text) == digits + 1
                )
            assert len(text) <= 11, text
    special = [0, -0.0, 3, 1999, 250000, 0.9996, 999.96, 78627064910631.0, 31.887941397726497, 1234567.5, 1e-9]
    shown = chromium.execute_script("return arguments[0].map((x) => orthorules.short(x, 4))", special)
    assert shown == ["0", "0", "3", "1999", "250000", "0.9996", "1000", "7.863e13", "31.89", "1235000", "1.000e-9"]


def test_numbers_of_a_list_have_signs(made, chromium):
    """Shortest texts are those of the command line, by way of the package's own functions."""
    from orthorules import _native

    random = np.random.default_rng(1)
    numbers = [
        *(random.normal(size=300) * 10.0 ** random.integers(-12, 14, 300)),
        0,
        2.5,
        0.125,
        1e15,
        1e16,
        1e-5,
        9.99e-6,
        123456789.5,
    ]
    pages.opened(chromium, made["regression"].page)
    plain, rounded = chromium.execute_script(
        "return [arguments[0].map(orthorules.plain), arguments[0].map((x) => orthorules.rounded(x, 4))]", numbers
    )
    assert plain == [_native.plain(float(x)) for x in numbers]
    assert rounded == [_native.rounded(float(x), 4) for x in numbers]
    lists = [
        [0.741, -1.42, -0.409],
        [-0.82538, -0.303],
        [23211.4, 592.3, -81.0],
        [0.0],
        [1e300, -2.5e299],
        [0.5, 12345.0, -1e-7],
        [12, -3, 12345],
    ]
    signed = chromium.execute_script("return arguments[0].map((l) => orthorules.signed(l, 3))", lists)
    assert signed == [
        ["+0.741", "-1.42", "-0.409"],
        ["-0.825", "-0.303"],
        ["+23210", "+592", "-81.0"],
        ["0"],
        ["+1.00e300", "-2.50e299"],
        ["+0.500", "+12340", "0"],
        ["+12", "-3", "+12345"],
    ]


def test_long_numbers_of_a_table_are_short_on_the_page(command, tmp_path, chromium):
    """Values with all their digits, large targets, and a rule after which a class is rare but there."""
    random = np.random.default_rng(6)
    n = 1500
    frame = pd.DataFrame({"age": random.normal(40, 12, n), "income": random.gamma(2.0, 1.7e4, n)})
    frame["y"] = 1e7 * (1.3 + (frame["age"] > 41) + 0.37 * (frame["income"] > 4e4)) + random.normal(0, 2e6, n)
    pages.opened(chromium, pages.fitted(command, tmp_path, frame, "y", "--cv", "5"))
    chromium.execute_script(pages.OPEN)
    read = " ".join(chromium.execute_script(pages.READ))
    numbers = re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", read)
    assert len(numbers) > 200
    # Whole digits stay, and 64 bits of a digest are no number.
    long = {t for t in numbers if digits_of(t.rstrip("0")) > 6 or ("." in t and digits_of(t) > 5)}
    assert long == set()
    shown = [
        float(v)
        for v in chromium.execute_script(
            "return [...document.querySelectorAll('form.fields input[type=text]')].map((f) => f.value)"
        )
    ]
    exact = chromium.execute_script("return Object.values(orthorules.view.tried.values)")
    assert shown == pytest.approx(exact, rel=1e-3) and shown != exact

    rare = pd.DataFrame({"x": random.normal(size=6000)})
    rare["y"] = np.where((rare["x"] > 1) & (random.random(6000) < 0.9) | (rare.index % 1501 == 7), "yes", "no")
    pages.opened(
        chromium, pages.fitted(command, tmp_path, rare, "y", "--positive", "yes", "--cv", "none", "--max-rules", "1")
    )
    assert "<1%" in pages.texts_of(chromium, "tr.line td.n") and "0%" not in pages.texts_of(chromium, "tr.line td.n")


def test_a_number_is_on_its_own_side_of_every_threshold(command, tmp_path, chromium):
    random = np.random.default_rng(4)
    x = np.concatenate([random.uniform(0, 1, 600), np.full(200, 0.50004), np.full(200, 0.50006)])
    frame = pd.DataFrame({"x": x, "y": 5.0 * (x > 0.50005) + random.normal(0, 0.01, len(x))})
    pages.opened(chromium, pages.fitted(command, tmp_path, frame, "y", "--cv", "none"))
    values = [0.50004, 0.50006, *(float(v) for v in random.uniform(0.4999, 0.5001, 50))]
    shown, cuts = chromium.execute_script(
        "const { view } = orthorules; return [arguments[0].map((v) => view.number('x', v)),"
        "view.model.ensembles[0].rules.flatMap((r) => r.conditions.map((c) => c.value))]",
        values,
    )
    assert cuts
    for value, text in zip(values, shown, strict=True):
        assert all((float(text) > cut) == (value > cut) for cut in cuts), (value, text, cuts)
