"""The report in a real browser: what it says of sizes and of how good the model is."""

import json

import numpy as np
import pages
import pytest

pytestmark = pages.NEEDS_BROWSER


def path_model(members):
    """A model of numbers, its sizes with these rules."""
    conditions = [{"column": "x", "op": ">=", "value": k} for k in range(4)]
    path = [
        {
            "rules": len(own),
            "members": own,
            "intercept": 1.0,
            "weights": [0.5 + k for k in own],
            "train_risk": 9.0 / (1 + i),
        }
        for i, own in enumerate(members)
    ]
    return {
        "format": "orthorules-model", "version": 1, "task": "regression", "loss": "squared", "target": "y", "rows": 50,
        "columns": [{"name": "x", "kind": "numeric", "range": [0.0, 9.0], "missing": 0}],
        "rules": [{"conditions": [c], "covered": 10} for c in conditions],
        "path": path, "chosen": len(members[-1]),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("members", "nested"),
    [
        ([[], [0], [0, 1], [0, 1, 2]], True),
        ([[], [3], [3, 1]], True),
        ([[], [3], [0, 1]], False),
        ([[], [0, 1]], False),
    ],
)
def test_a_path_is_called_nested_where_it_is(command, tmp_path, chromium, members, nested):
    (tmp_path / "m.json").write_text(json.dumps(path_model(members)))
    command("report", tmp_path / "m.json", "-o", tmp_path / "m.html")
    pages.opened(chromium, tmp_path / "m.html")
    text = pages.text_of(chromium)
    assert ("one before it with one more rule" in text) == nested
    assert ("Each size is the best one found" in text) != nested
    assert "at this step" not in text and "order of discovery" not in text


CARDS = """
return [...document.querySelectorAll('.fact')].map((card) => [
  card.querySelector('.source').textContent, card.querySelector('b').textContent, card.textContent]);
"""


def test_cards_say_which_rows_they_are_of(validated, chromium):
    """Held-out rows come first; figures of one card are of the same rows."""
    for case, made in validated.items():
        document = made.document()
        pages.opened(chromium, made.alone)
        cards = chromium.execute_script(CARDS)
        sources = [source for source, _, _ in cards]
        assert sources[0] == "Cross-validation" and sources[-1] == "Training rows", (case, sources)
        assert set(sources) == {"Cross-validation", "Training rows"}
        held = " ".join(text for source, _, text in cards if source == "Cross-validation")
        trained = " ".join(text for source, _, text in cards if source == "Training rows")
        measures = chromium.execute_script("return orthorules.view.table.measures[orthorules.view.size]")
        cv = document["cv"]
        step = next(s for s in cv["path"] if s["complexity"] == pages.chosen_size(document)["complexity"])
        if "measures" in cv:
            assert f"{cv['measures']['accuracy'] * 100:.0f} of 100" in held
            assert f"{measures['accuracy'] * 100:.0f} of 100" in trained
        if "auc" in cv.get("measures", {}):
            assert f"{cv['measures']['auc']:.3f}" in held
        if case == "two classes":
            assert f"{measures['auc']:.3f}" in trained and f"{measures['auc']:.3f}" not in held
        if case in ("regression", "slopes"):
            assert float(cards[0][1]) == pytest.approx(np.sqrt(step["cv_risk"]), rel=0.005)
            assert float(cards[-1][1]) == pytest.approx(measures["rmse"], rel=0.005)
        # With rows that it has not seen, these alone.
        pages.opened(chromium, made.page)
        assert {source for source, _, _ in chromium.execute_script(CARDS)} == {"Test rows"}


def test_the_roc_curve_has_its_area_in_the_title(validated, chromium):
    pages.opened(chromium, validated["two classes"].page)
    for place, name in enumerate(("test", "table")):
        chromium.execute_script("document.querySelectorAll('#fit input[type=radio]')[arguments[0]].click()", place)
        auc = chromium.execute_script("return orthorules.view[arguments[0]].measures[orthorules.view.size].auc", name)
        assert f"ROC curve, AUC {auc:.3f}" in pages.texts_of(chromium, "#fit figcaption.title")


def test_errors_of_sizes_are_in_the_target_s_own_unit(validated, chromium):
    """Squared loss: RMSE, and its standard error to first order."""
    made = validated["regression"]
    document = made.document()
    pages.opened(chromium, made.alone)
    steps = {s["complexity"]: s for s in document["cv"]["path"]}
    lines = pages.texts_of(chromium, "#provenance table tbody tr")
    rows = chromium.execute_script(
        "return [...document.querySelectorAll('#provenance table tbody tr')]"
        ".map((tr) => [...tr.children].map((c) => Number(c.textContent)))"
    )
    trained = {s["complexity"]: s["train_risk"] for s in document["path"]}
    assert len(rows) == len(lines) > 5
    for _, complexity, train, cv in rows:
        assert train == pytest.approx(np.sqrt(trained[complexity]), rel=6e-4)
        assert cv == pytest.approx(np.sqrt(steps[complexity]["cv_risk"]), rel=6e-4)
    assert "RMSE" in pages.text_of(chromium, "#provenance p.caption") and "RMSE" in pages.text_of(
        chromium, "#sizes .lead"
    )
    tips = [float(t.split(": ")[1].split(" ")[0]) for t in pages.texts_of(chromium, "#sizes circle.cv title")]
    assert tips == pytest.approx([np.sqrt(s["cv_risk"]) for s in document["cv"]["path"]], rel=6e-4)
    # The band's height tells the standard error, on the scale of the ticks.
    up, middle, down, ticks = chromium.execute_script(
        """
        const band = [...document.querySelector('#sizes .band.cv').points].map((p) => p.y);
        const half = band.length / 2;
        const dots = [...document.querySelectorAll('#sizes circle.cv')].map((c) => c.cy.baseVal.value);
        const ticks = [...document.querySelectorAll('#sizes .grid')].map((g) => [
          Number(g.nextSibling.textContent), g.y1.baseVal.value]);
        return [band.slice(0, half), dots, band.slice(half).reverse(), ticks];
        """
    )
    (a, ya), (b, yb) = ticks[0], ticks[-1]
    log = "logarithmic" in pages.text_of(chromium, "#sizes svg .label:last-of-type") or "logarithmic" in pages.text_of(
        chromium, "#sizes"
    )
    scale = np.log if log else np.asarray
    back = np.exp if log else np.asarray

    def value(y):
        return back(scale(a) + (np.array(y) - ya) / (yb - ya) * (scale(b) - scale(a)))

    k = len(middle) // 2
    step = document["cv"]["path"][k]
    error = step["cv_se"] / (2 * np.sqrt(step["cv_risk"]))
    assert (value(up[k]) - value(middle[k])) == pytest.approx(error, rel=0.15)
    assert (value(middle[k]) - value(down[k])) == pytest.approx(error, rel=0.15)


@pytest.mark.parametrize("case", ["two classes", "several classes", "regression", "counts", "slopes"])
def test_the_curve_of_sizes_fills_its_picture(validated, chromium, case):
    pages.opened(chromium, validated[case].alone)
    places, box = chromium.execute_script(
        "return [[...document.querySelectorAll('#sizes circle')].map((c) => c.cy.baseVal.value),"
        "(({ y, height }) => [y.baseVal.value, height.baseVal.value])(document.querySelector('#sizes .here'))]"
    )
    assert max(places) - min(places) > 0.75 * box[1]
    assert min(places) >= box[0] and max(places) <= box[0] + box[1]
