"""Programs that run exports, looked for on this machine. What is not there is skipped, loudly."""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def program(name, what, folders=()):
    """The path of a program; without it the test is skipped."""
    found = shutil.which(name) or next((str(f / name) for f in folders if (f / name).exists()), None)
    if found is None:
        pytest.skip(f"SKIPPED: {what} was not run, since {name} is not installed (make test-tools)")
    return found


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False, **options)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout


@contextmanager
def postgresql():
    """A connection to a private server that ends with the block. The server refuses to run as root."""
    psycopg = pytest.importorskip("psycopg", reason="SKIPPED: PostgreSQL was not run: psycopg is not installed")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    initdb, server = (program(name, "SQL for PostgreSQL", folders) for name in ("initdb", "pg_ctl"))
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        if user:
            shutil.chown(folder, user["user"], user["group"])
        data = Path(folder) / "data"
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8"}
        options = {"env": environment, "cwd": folder, **user}
        run([initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync"], **options)
        # No network: a socket in the folder is enough.
        settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        run([server, "-D", data, "-o", settings, "-l", Path(folder) / "log", "-w", "start"], **options)
        try:
            with psycopg.connect(host=folder, user="tester", dbname="postgres", autocommit=True) as connection:
                yield connection
        finally:
            run([server, "-D", data, "-m", "immediate", "stop"], **options)
