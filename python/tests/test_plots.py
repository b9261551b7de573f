"""Pictures: scales on which sizes can be told apart, and words that do not overlap."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from orthorules import RuleClassifier, RuleRegressor, datasets
from orthorules._plot import LINES, WIDEST, WIDTH, _broken

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


@pytest.fixture(scope="module")
def friedman():
    return datasets.friedman1(300, seed=2)


def drawn(ax):
    """The picture's words with their boxes, after it was drawn."""
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    ticks = []
    for axis in (axis for side in (ax, *ax.child_axes) for axis in (side.xaxis, side.yaxis)):
        low, high = sorted(axis.get_view_interval())
        places = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
        ticks.extend(label for place, label in places if low <= place <= high)
    texts = [t for t in [*ticks, *ax.texts, ax.xaxis.label, ax.yaxis.label] if t.get_text() and t.get_visible()]
    # The words alone, without the line that leads to them.
    return [(t.get_text(), mpl.text.Text.get_window_extent(t, renderer)) for t in texts]


def assert_tidy(ax):
    """No words overlap, none are outside of the picture, and no number is scientific."""
    words = drawn(ax)
    low, high = ax.figure.bbox.get_points()
    for i, (text, box) in enumerate(words):
        assert (box.min >= low - 2).all() and (box.max <= high + 2).all(), text
        assert "e+" not in text and "1e" not in text
        for other, around in words[:i]:
            across = min(box.x1, around.x1) - max(box.x0, around.x0)
            along = min(box.y1, around.y1) - max(box.y0, around.y0)
            assert min(across, along) <= 1.5, (text, other)


def labels(ax):
    """The names of the rows, in one line each."""
    return [t.get_text().replace("\n", " ") for t in ax.get_yticklabels()]


# ---- sizes ----


def test_risks_are_in_per_cent_of_the_constant_models(friedman):
    model = RuleRegressor(max_complexity=20).fit(*friedman)
    ax = model.plot_path()
    line = ax.get_lines()[0]
    risks = model.path_["train_risk"].to_numpy()
    assert line.get_xdata().tolist() == model.path_["complexity"].tolist()
    assert line.get_ydata() == pytest.approx(100 * risks / risks[0])
    assert "% of the constant model's" in ax.get_ylabel()
    # At the right, the root of the risk, which has the unit of the target.
    (right,) = ax.child_axes
    ax.figure.canvas.draw()
    top = ax.get_ylim()[1]
    assert right.get_ylim()[1] == pytest.approx(np.sqrt(top * risks[0] / 100))
    assert_tidy(ax)


def test_cross_validation_has_a_band_of_one_standard_error(friedman):
    model = RuleRegressor(max_complexity=20, cv=4, terms="rules", random_state=1).fit(*friedman)
    ax = model.plot_path()
    path = model.path_
    unit = 100 / path["cv_risk"].iloc[0]
    (band,) = ax.collections
    edges = pd.DataFrame(band.get_paths()[0].vertices, columns=["x", "y"]).groupby("x")["y"]
    expected = unit * (path["cv_risk"] + path["cv_se"])
    assert edges.max().to_numpy() == pytest.approx(expected.to_numpy())
    assert edges.min().to_numpy() == pytest.approx((unit * (path["cv_risk"] - path["cv_se"])).to_numpy())
    legend = [t.get_text() for t in ax.get_legend().get_texts()]
    count = len(model.rules_)
    assert legend == [
        "training",
        "± 1 standard error",
        "cross-validation",
        f"chosen: {count} rule{'' if count == 1 else 's'}, complexity {model.complexity_}",
    ]
    circle = ax.get_lines()[-1]
    assert circle.get_xdata()[0] == model.complexity_, "the chosen size is marked"
    assert_tidy(ax)


def test_the_constant_model_does_not_squash_the_rest():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 3))
    y = 1e6 * (30.0 * (X[:, 0] > 0) + 2 * (X[:, 1] > 0) + random.normal(0, 1.5, 500))
    ax = RuleRegressor(max_complexity=20, reg_lambda=0.0).fit(X, y).plot_path()
    risks = ax.get_lines()[0].get_ydata()
    low, high = ax.get_ylim()
    assert risks[0] == 100 and risks[1:].max() < high < 10, "it is beyond the top, which a note says"
    assert np.ptp(risks[1:]) > 0.7 * (high - low)
    assert [t.get_text() for t in ax.texts] == ["↑ constant model: 100 %"]
    assert_tidy(ax)


def test_the_constant_model_is_shown_where_there_is_room_or_it_was_chosen(friedman):
    X, y = friedman
    ax = RuleRegressor(max_complexity=20).fit(X, y).plot_path()
    assert ax.get_ylim()[1] > 100 and not ax.texts
    noise = np.random.default_rng(0).normal(size=300)
    model = RuleRegressor(max_complexity=10, cv=5, select="1se", random_state=0).fit(X, noise)
    assert model.complexity_ == 0
    low, high = model.plot_path().get_ylim()
    assert low < 100 < high
    empty = RuleRegressor(max_rules=0).fit(X, y).plot_path()
    assert empty.get_xlim() == (0, 1) and empty.get_ylim()[0] < 100 < empty.get_ylim()[1]
    flat = RuleRegressor().fit(X, np.full(300, 7.0)).plot_path()
    assert flat.get_ylabel() == "mean squared loss", "a risk of 0 has no parts"


def test_risks_of_many_decades_are_logarithms(friedman):
    X, _ = friedman
    y = sum(10.0**-i * (X[f"x{i + 1}"] > 0.5) for i in range(5))
    ax = RuleRegressor(max_rules=5, reg_lambda=0.0, max_bins=2).fit(X, y).plot_path()
    assert ax.get_yscale() == "log" and ax.get_ylim()[0] > 0.001
    assert_tidy(ax)


def test_classes_have_a_line_each_with_their_names(friedman):
    X, y = friedman
    names = np.array(["low", "a bit lower than the middle", "middle", "high"])[np.digitize(y, [9, 12, 17])]
    model = RuleClassifier(max_rules=4, multiclass="one-vs-rest").fit(X, names)
    ax = model.plot_path()
    shown = [c if len(c) < 25 else "a bit lower…n the middle" for c in model.classes_]
    assert sorted(t.get_text() for t in ax.texts) == sorted(shown)
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) > 1]
    assert len(lines) == 4 and all(line.get_ydata()[0] == pytest.approx(100) for line in lines)
    assert_tidy(ax)
    each = RuleClassifier(max_rules=4, cv=3, random_state=0, multiclass="one-vs-rest")
    together = each.fit(X, names).plot_path()
    assert "all classes" in together.get_ylabel() and len(together.collections) == 1
    assert_tidy(together)


@pytest.fixture(scope="module")
def ten():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.integers(0, 100, (600, 4)), columns=list("abcd"))
    model = RuleClassifier(max_rules=8, multiclass="one-vs-rest")
    return model.fit(X, np.array([f"class {i}" for i in range(10)])[X["a"] // 10])


def test_ten_classes_fit_in_one_picture(ten):
    ax = ten.plot_path()
    assert len(ax.texts) == 10
    assert_tidy(ax)


# ---- rules ----


def test_the_most_important_rule_is_at_the_top(friedman):
    model = RuleRegressor(max_complexity=20).fit(*friedman)
    ax = model.plot_rules()
    frame = model.rules_
    moved = frame["weight"].abs() * frame["coverage"] * (1 - frame["coverage"])
    order = moved.sort_values(ascending=False, kind="stable").index
    assert labels(ax) == frame["rule"][order].tolist()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(frame["weight"][order].tolist())
    beside = [t.get_text().split() for t in ax.child_axes[0].get_yticklabels()]
    assert beside[0] == ["weight", "rows"] and len(beside) == 1 + len(frame)
    assert_tidy(ax)


def test_rules_are_grouped_by_class(ten):
    ax = ten.plot_rules(top=2)
    found = labels(ax)
    assert len(ax.patches) == 20 and len(found) == 30
    heads = found[::3]
    assert [head.split("  ")[0] for head in heads] == ten.classes_.tolist()
    assert all(head.endswith("(2 of 8 rules)") or "of" in head for head in heads)
    bold = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
    assert bold == heads
    for head, first in zip(ten.classes_, found[1::3], strict=True):
        assert first in ten.rules_.query("`class` == @head")["rule"].tolist()
    assert_tidy(ax)


def test_a_picture_of_very_many_rules_is_shortened(ten):
    assert len(ten.rules_) > 60
    assert len(ten.plot_rules().patches) <= 60
    assert len(ten.plot_rules(top=100).patches) == len(ten.rules_)


def test_long_names_and_large_numbers_do_not_overlap():
    random = np.random.default_rng(0)
    names = [f"how_content_are_you_with_question_{i}_of_the_questionnaire" for i in range(4)]
    X = pd.DataFrame(random.normal(size=(500, 4)), columns=names)
    y = 1e7 * (3 * (X[names[0]] > 0) + (X[names[1]] > 0) * (X[names[2]] > 0.3) + random.normal(0, 0.3, 500))
    model = RuleRegressor(max_complexity=20).fit(X, y)
    ax = model.plot_rules()
    assert any("question_2" in label for label in labels(ax)), "names that fit are whole"
    for picture in (ax, model.plot_contributions(X.iloc[[0]]), model.plot_path()):
        assert_tidy(picture)
    _, given = mpl.pyplot.subplots(figsize=(12, 8), layout="constrained")
    assert model.plot_rules(given) is given
    assert_tidy(given)


def test_rules_are_broken_between_conditions():
    assert _broken("a <= 1 & b >= 2") == "a <= 1 & b >= 2"
    three = " & ".join(f"{letter * 30} <= 1" for letter in "abc")
    assert _broken(three).split("\n") == [f"{'a' * 30} <= 1 &", f"{'b' * 30} <= 1 &", f"{'c' * 30} <= 1"]
    six = _broken(" & ".join(f"{letter * 30} <= 1" for letter in "abcdef"))
    assert len(six.split("\n")) == LINES and six.endswith(f"… {'f' * 30} <= 1")
    one = _broken(f"{'x' * 60} <= 1")
    assert one.replace("\n", "") == f"{'x' * 60} <= 1", "a long name goes on in the next line"
    endless = _broken(f"{'x' * 500} <= 1 & y = 2")
    assert "…" in endless and endless.endswith("y = 2")
    assert all(len(line) <= WIDTH + 2 for line in endless.split("\n")) and WIDTH < WIDEST
