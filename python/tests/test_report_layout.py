"""The report in a real browser: who can use it and where, what it asks of the network."""

import base64
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pages
import pytest

pytestmark = pages.NEEDS_BROWSER


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
        "const names = ['ink', 'dim', 'paper', 'card', 'lit', 'up', 'down', 'blue', 'gold'];"
        "return Object.fromEntries(names.map((n) => [n, s.getPropertyValue('--' + n).trim()]))"
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
        lines = chromium.execute_script(
            "return [...document.querySelectorAll('button.rule')].map((b) => b.textContent)"
        )
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
    shown = chromium.execute_script(
        "return [...document.querySelectorAll('form.fields [data-column]')].map((f) => f.dataset.column)"
    )
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


# Texts below a picture that touch the next.
TOUCHING = """
    return [...document.querySelectorAll('svg.chart')].flatMap((svg) => {
        const texts = [...svg.querySelectorAll('text[text-anchor=middle]')].map((text) => [text.textContent,
            text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
        const lines = Object.values(Object.groupBy(texts, ([, box]) => Math.round(box.top)));
        return lines.flatMap((line) => line.sort((a, b) => a[1].left - b[1].left).slice(1)
            .map(([text, box], i) => [line[i][0], text, box.left - line[i][1].right])).filter(([, , gap]) => gap < 2);
    });
"""


def test_numbers_below_pictures_do_not_touch(made, command, tmp_path):
    random = np.random.default_rng(4)
    income, small = np.exp(random.normal(10, 0.7, 400)).round(-1), random.normal(0, 1e-4, 400).round(8)
    y = random.normal(size=400) + 3.0 * (income > 30_000) + 2.0 * (small > 0)
    rows = enumerate(zip(income, small, y, strict=True))
    cells = [f"{'' if i % 17 == 0 else a},{b},{c:.3f}" for i, (a, b, c) in rows]
    (tmp_path / "t.csv").write_text("\n".join(["income,small,y", *cells]))
    command("fit", tmp_path / "t.csv", "--target", "y", "--max-complexity", "9", "-o", tmp_path / "m.json")
    command("report", tmp_path / "m.json", tmp_path / "t.csv", "-o", tmp_path / "r.html")
    for width in (390, 1200):
        with pages.browser(width, 844) as driver:
            for page in [*(m.page for m in made.values()), tmp_path / "r.html"]:
                pages.opened(driver, page)
                assert driver.execute_script(TOUCHING) == [], page
                assert driver.execute_script("return document.querySelectorAll('svg.chart').length") > 0


def wide_model(random, columns):
    """A rule for each column, and every size up to all of them: more than any fit of so many columns keeps."""
    names = [f"measurement {i}" for i in range(columns)]
    conditions = [{"column": name, "op": "<=", "value": round(random.normal(), 3)} for name in names]
    weights = random.normal(size=columns)
    path = [
        {
            "rules": k,
            "intercept": random.normal(),
            "weights": list(weights[:k] * (1 + 1 / (k + 1))),
            "train_risk": 2.0 - k / columns,
        }
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
        typed = chromium.execute_script(pages.TYPE, [pages.values(rows, i) for i in range(len(rows))])
        assert len(typed) == 5
        assert "No table" in chromium.execute_script("return document.querySelector('#fit').textContent")


def printed(driver):
    """The pages on A4: of each the texts and how high they stand, from top to bottom."""
    from pypdf import PdfReader

    pdf = driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    found = []
    for page in PdfReader(io.BytesIO(base64.b64decode(pdf["data"]))).pages:
        lines = {}

        def visit(text, cm, tm, _font, _size, lines=lines):
            if text.strip():
                height = round(tm[5] * cm[3] + cm[5])
                lines[height] = lines.get(height, "") + text

        page.extract_text(visitor_text=visit)
        found.append([(y, re.sub(r"\s+", " ", lines[y]).strip()) for y in sorted(lines, reverse=True)])
    return found


@pytest.mark.parametrize("case", ["two classes", "several classes", "regression", "counts", "slopes"])
def test_paper_has_no_form_and_no_lonely_headings(validated, chromium, case):
    for page in (validated[case].page, validated[case].alone):
        pages.opened(chromium, page)
        chromium.execute_script("document.querySelector('#what-if .controls button').click()")
        headings = pages.texts_of(
            chromium, "#page h2, #page h3, #page h4, #page figcaption.title, #page caption, #page p.caption"
        )
        intro = pages.texts_of(chromium, "#page h2 + p")
        tables = {re.sub(r"\s", "", text).replace("bar", "") for text in pages.texts_of(chromium, "#page thead tr")}
        leaves = printed(chromium)
        text = " ".join(line for leaf in leaves for _, line in leaf)
        for word in (
            "Try a row",
            "keep",
            "Next row",
            "What would change it",
            "Which rules overlap",
            "holds for the row",
            "Sort by",
        ):
            assert word not in text, word
        assert "How to reproduce" in text and "Column by column" in text
        for leaf in leaves:
            last = leaf[-1][1]
            assert last not in headings, last
            assert re.sub(r"\s", "", last) not in tables, last
            assert not any(i.endswith(last) for i in intro if len(last) > 3), last


def test_long_names_break_where_words_end(command, tmp_path):
    random = np.random.default_rng(3)
    n = 500
    names = ["price_of_the_house_in_dollars", "NumberOfRoomsWithWindows", "automatic payments (credit card)"]
    frame = pd.DataFrame({name: random.normal(size=n).round(2) for name in names})
    frame["PaymentMethodOfTheCustomer"] = random.choice(["Bank transfer (automatic)", "Electronic check"], n)
    frame["the_target_column_of_this_table"] = frame[names].gt(0.2).sum(axis=1) + 2.0 * (
        frame["PaymentMethodOfTheCustomer"] == "Electronic check"
    )
    page = pages.fitted(command, tmp_path, frame, "the_target_column_of_this_table", "--cv", "none")
    with pages.browser(390, 844) as driver:
        pages.opened(driver, page)
        driver.execute_script(pages.OPEN)
        # Each word, up to a mark or a capital letter, is in one line.
        broken, seen = driver.execute_script(
            """
            const broken = [];
            let seen = 0;
            const walk = document.createTreeWalker(document.querySelector('#page'), NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) {
              const node = walk.currentNode;
              const parent = node.parentNode;
              const among = 'h1, .fields, .levels, .rules, .facts, .example';
              if (!parent.closest(among) || parent.closest('.hidden')) continue;
              for (const word of node.textContent.matchAll(/[A-Za-z]{4,}/g)) {
                const range = document.createRange();
                range.setStart(node, word.index);
                range.setEnd(node, word.index + word[0].length);
                const rows = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
                seen += 1;
                if (rows.size > 1) broken.push(word[0]);
              }
            }
            return [broken, seen];
            """
        )
        assert seen > 60 and broken == []
        outside = driver.execute_script(
            """
            const edge = (e) => e.getBoundingClientRect();
            return [...document.querySelectorAll('svg.chart .label')].filter((label) =>
              edge(label).right > edge(label.ownerSVGElement).right + 1 ||
              edge(label).left < edge(label.ownerSVGElement).left - 1).map((label) => label.textContent);
            """
        )
        assert outside == []
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390


def test_wide_parts_end_at_one_edge(made, chromium):
    for case in ("two classes", "regression"):
        pages.opened(chromium, made[case].page)
        ends = chromium.execute_script(
            "const wide = ['.facts > :last-child', '.example', '.stay', '#sizes svg', 'table.rules', '.cards'];"
            "return wide.map((s) =>"
            " document.querySelector(s).getBoundingClientRect().right)"
        )
        assert max(ends) - min(ends) < 2, ends


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
