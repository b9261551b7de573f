"""`export` itself: what it returns and writes, which sizes it takes, what it refuses; the command line beside it."""

import json

import pytest
from export_cases import MODELS, case

import orthorules

TARGETS = {"python": str, "javascript": str, "c": str, "sql": str, "pmml": str, "excel": bytes, "onnx": bytes}


@pytest.mark.parametrize("target", TARGETS)
def test_a_path_gets_what_would_be_returned(target, tmp_path):
    model = case("logistic").model
    found = model.export(target)
    assert type(found) is TARGETS[target]
    path = tmp_path / "out"
    assert model.export(to=target, path=path) is None
    assert path.read_bytes() == (found if isinstance(found, bytes) else found.encode())
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_sizes():
    model = case("regression").model
    head = lambda text: next(line for line in text.splitlines() if line.startswith("# Size"))  # noqa: E731
    assert head(model.export("python", rules=3)) == head(model.at(rules=3).export("python"))
    assert head(model.export("python", rules=0)) == "# Size: 0 rules, complexity 0."
    small = model.at(rules=3).complexity_
    assert head(model.export("python", complexity=small)) == head(model.export("python", rules=3))
    assert head(model.export("python", complexity=small - 1)) == head(model.export("python", rules=0))
    several = case("several").model
    assert f"complexity {several.complexity_}" in several.export("python")


def test_what_cannot_be_is_refused(tmp_path):
    model = case("regression").model
    for options, message in [
        ({"to": "cobol"}, "to must be python, javascript"),
        ({"to": "sql", "dialect": "oracle"}, "dialect must be sqlite"),
        ({"to": "sql", "as_": "table"}, "as must be select or view"),
        ({"to": "c", "table": "t"}, "table goes with the target sql"),
        ({"to": "c", "rules": 99}, "there is no size with 99 rules; there are 0, 3"),
        ({"to": "c", "rules": 3, "complexity": 4}, "either rules or complexity"),
        ({"to": "excel", "cases": 0}, "cases must be from 1"),
        ({"to": "sql", "table": ""}, "sqlite cannot hold the name"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.export(**options, path=tmp_path / "out")
    with pytest.raises(FileNotFoundError):
        model.export("c", tmp_path / "nowhere" / "model.c")
    with pytest.raises(ValueError, match="directory"):
        model.export("c", tmp_path)
    assert not any(tmp_path.iterdir())
    document = json.dumps(MODELS["several"]).replace('"select"', '"a\\u0000b"')
    for target, message in [("c", "c cannot hold"), ("pmml", "pmml cannot hold"), ("sql", "sqlite cannot hold")]:
        with pytest.raises(ValueError, match=message):
            orthorules.from_json(document).export(target)


@pytest.mark.parametrize("name", ["exposure", "offset_counts", "several", "members"])
def test_the_command_line_writes_the_same(name, command, tmp_path):
    model = case(name).model
    model.save(tmp_path / "m.json")
    for target in TARGETS:
        command("export", tmp_path / "m.json", "--to", target, "-o", tmp_path / "out")
        found = model.export(target)
        assert (tmp_path / "out").read_bytes() == (found if isinstance(found, bytes) else found.encode())
    view = command("export", tmp_path / "m.json", "--to", "sql", "--dialect", "spark", "--table", "a.b", "--as", "view")
    assert view == model.export("sql", dialect="spark", table="a.b", as_="view")
