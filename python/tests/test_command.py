"""The command that `pip install` installs is the program that `cargo build` makes."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

import orthorules
from orthorules import datasets

ROOT = Path(__file__).parents[2]
INSTALLED = Path(sysconfig.get_path("scripts")) / ("orthorules.exe" if os.name == "nt" else "orthorules")


@pytest.fixture(scope="module")
def program():
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = Path(os.environ.get("ORTHORULES_BIN", folder / "release" / "orthorules"))
    if not built.exists():
        pytest.skip(f"no command line at {built}: cargo build --release")
    return [str(built)]


WAYS = {"installed": [str(INSTALLED)], "module": [sys.executable, "-m", "orthorules"]}


@pytest.fixture(scope="module", params=WAYS)
def way(request):
    return WAYS[request.param]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = datasets.friedman1(rows=400, seed=5)
    path = tmp_path_factory.mktemp("tables") / "friedman.csv"
    X.assign(y=y).to_csv(path, index=False)
    return path


def run(way, *arguments, **options):
    return subprocess.run([*way, *map(str, arguments)], capture_output=True, check=False, timeout=600, **options)


def test_every_command_prints_the_same_bytes(way, program, table, tmp_path):
    model = tmp_path / "model.json"
    commands = [
        ["fit", table, "--target", "y", "--max-rules", 6, "--seed", 1, "-o", model],
        ["show", model],
        ["show", model, "--json"],
        ["predict", model, table],
        ["evaluate", model, table],
        ["explain", model, table, "--row", 3],
        ["--version"],
        ["--help"],
        ["fit", "--help"],
    ]
    for command in commands:
        ours, theirs = run(way, *command), run(program, *command)
        assert ours.returncode == theirs.returncode == 0, (command, ours.stderr)
        assert ours.stdout == theirs.stdout and ours.stdout, command
        assert ours.stderr == theirs.stderr, command


def test_the_version_is_that_of_the_package(way):
    assert run(way, "--version").stdout.decode() == f"orthorules {orthorules.__version__}\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ([], 2),
        (["fit"], 2),
        (["frobnicate"], 2),
        (["fit", "no such file.csv", "--target", "y"], 2),
        (["fit", "{table}", "--target", "z"], 2),
        (["fit", "{table}", "--target", "y", "--max-rules", "2", "-o", "/dev/full"], 1),
    ],
)
def test_exit_codes_and_messages_are_the_same(way, program, table, command, code):
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    command = [part.format(table=table) for part in command]
    ours, theirs = run(way, *command), run(program, *command)
    assert ours.returncode == theirs.returncode == code, ours.stderr
    assert ours.stderr == theirs.stderr
    assert ours.stderr.startswith(b"orthorules: ") and ours.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_file_names_need_not_be_text(way, table, tmp_path):
    odd = os.path.join(os.fsencode(tmp_path), b"t\xff.csv")
    try:
        shutil.copy(os.fsencode(table), odd)
    except OSError:
        pytest.skip("this file system wants text")
    done = subprocess.run([*way, "fit", odd, "--target", "y", "--max-rules", "1"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
def test_a_reader_that_has_had_enough_is_no_error(way, table, tmp_path):
    run(way, "fit", table, "--target", "y", "--max-rules", 2, "-o", tmp_path / "m.json")
    many = tmp_path / "many.csv"
    lines = table.read_text().splitlines(keepends=True)
    many.write_text("".join([lines[0], *lines[1:] * 100]))
    process = subprocess.Popen([*way, "predict", tmp_path / "m.json", many], stdout=-1, stderr=-1)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(600) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="files have no such numbers there")
def test_closed_standard_files_are_no_place_for_models(way, table, tmp_path):
    """Without standard output, the model file must not be what is printed to."""
    model = tmp_path / "m.json"
    command = [*way, "fit", str(table), "--target", "y", "--max-rules", "2", "-o", str(model)]
    done = subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *command], check=False, timeout=600)
    assert done.returncode == 0
    assert len(orthorules.load(model).rules_) == 2


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    """A table from which a fit could learn for minutes."""
    random = np.random.default_rng(1)
    path = tmp_path_factory.mktemp("tables") / "noise.csv"
    head = ",".join([*(f"x{i}" for i in range(20)), "y"])
    np.savetxt(path, random.normal(size=(20_000, 21)), "%.6f", delimiter=",", header=head, comments="")
    return path


def start(way, command, **options):
    """Runs a command that hears of Ctrl-C: a shell lets what it runs in the background ignore it."""
    return subprocess.Popen(
        [*way, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_keeps_the_rules_found_so_far(way, program, long_table, tmp_path):
    for name, how in (("ours", way), ("theirs", program)):
        model = tmp_path / f"{name}.json"
        command = ["fit", long_table, "--target", "y", "--max-rules", 5000, "--max-complexity", 100_000]
        command += ["--path", "nested", "--reg-lambda", 0, "--cv", "none", "-v", "-o", model]
        process = start(how, command)
        assert process.stderr is not None
        assert any(b"rule 1: " in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=600)
        assert process.returncode == 0 and b"weight" in printed, name
        assert 0 < len(orthorules.load(model).rules_) < 5000, name


def wait_for_thread(process, name):
    """Waits until a process has a thread of this name."""
    for _ in range(6000):
        for task in Path(f"/proc/{process.pid}/task").glob("*/comm"):
            with contextlib.suppress(OSError):
                if task.read_text().strip() == name:
                    return
        time.sleep(0.05)
    pytest.fail(f"no thread called {name}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are looked for in /proc")
def test_ctrl_c_ends_what_has_no_rules_to_keep(way, program, table, tmp_path):
    run(program, "fit", table, "--target", "y", "--max-rules", 2, "-o", tmp_path / "m.json")
    waiting = {
        # Before a fit begins there is a thread that ends the program; predictions end as every program does.
        ("fit", "-", "--target", "y"): ("ctrl-c", 130),
        ("predict", tmp_path / "m.json", "-"): ("signals", -signal.SIGINT),
    }
    for command, (thread, code) in waiting.items():
        for how in (way, program):
            process = start(how, command, stdin=subprocess.PIPE)
            wait_for_thread(process, thread)
            process.send_signal(signal.SIGINT)
            # Only then is the standard input closed.
            assert process.wait(600) == code, (command, how)
            assert process.communicate() == (b"", b""), (command, how)
