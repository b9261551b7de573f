"""The guide's code runs, block after block, and so does that of the README and the worked examples."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
ROOT = Path(__file__).parents[2]


# What a page needs beyond the packages of all tests.
NEEDED = {"docs/survival.md": "lifelines"}


@pytest.mark.parametrize("page", ["docs/guide.md", "docs/insurance.md", "docs/survival.md", "README.md"])
def test_code_runs(page, tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    if page in NEEDED:
        pytest.importorskip(NEEDED[page])
    text = (ROOT / page).read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(ROOT / page), "exec"), names)  # noqa: S102
    plt.close("all")
