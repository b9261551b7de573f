"""Fits to many Parquet files by one process, Dask, and XGBoost on Dask; and what a round costs beside its counting.

    python experiments/scale_cluster.py files FOLDER [--files 50]
    python experiments/scale_cluster.py local FOLDER --binary target/release/orthorules [--files 50]
    python experiments/scale_cluster.py dask FOLDER [--files 50]
    python experiments/scale_cluster.py xgboost FOLDER [--files 50]
    python experiments/scale_cluster.py rounds

`files` writes two million rows of twenty columns to each file. The fits print seconds, processor seconds and peak
memory of every process, and the hash of the model. Both find at most 15 rules; XGBoost grows 15 trees of depth 3.
`rounds` prints, for rounds with much to send, the time beyond the slower worker's own work.
"""

import argparse
import hashlib
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scale import BLOCK, block

WORKERS = 2
RULES = 15


def files(folder: Path, count: int) -> None:
    folder.mkdir(exist_ok=True)
    for i in range(count):
        path = folder / f"part-{i:02}.parquet"
        if not path.exists():
            table = pa.concat_tables([block(2 * i, BLOCK), block(2 * i + 1, BLOCK)])
            part = path.with_suffix(".writing")
            pq.write_table(table, part, row_group_size=BLOCK, use_dictionary=False, compression="none")
            part.rename(path)


def some(folder: Path, count: int) -> tempfile.TemporaryDirectory:
    """A folder with links to the first files alone."""
    chosen = tempfile.TemporaryDirectory()
    for path in sorted(folder.glob("part-*.parquet"))[:count]:
        os.symlink(path.resolve(), Path(chosen.name) / path.name)
    return chosen


def peak() -> tuple[float, float]:
    """The peak memory in MB and the processor seconds of this process."""
    status = Path("/proc/self/status").read_text()
    memory = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int(memory) * 1024 / 1e6, used.ru_utime + used.ru_stime


def told(name: str, seconds: float, places: list[tuple[float, float]]) -> None:
    memory = ", ".join(f"{memory:.0f}" for memory, _ in places)
    spent = ", ".join(f"{cpu:.1f}" for _, cpu in places)
    print(f"{name}: {seconds:.1f} s; peak MB {memory}; processor seconds {spent}", flush=True)


def local(folder: Path, count: int, binary: str) -> None:
    with some(folder, count) as chosen, tempfile.TemporaryDirectory() as out:
        model = Path(out) / "model.json"
        command = [binary, "fit", chosen, "--target", "y", "--cv", "none", "--path", "nested"]
        start = time.perf_counter()
        command += ["--max-rules", str(RULES), "--threads", str(WORKERS), "--quiet", "-o", str(model)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit("the fit failed")
        most, cpu = used.ru_maxrss * 1024 / 1e6, used.ru_utime + used.ru_stime
        told("one process", time.perf_counter() - start, [(most, cpu)])
        print("model", hashlib.sha256(model.read_bytes()).hexdigest()[:16])


def cluster():
    import distributed

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    return distributed.LocalCluster(n_workers=WORKERS, **options)


def dask(folder: Path, count: int) -> None:
    import distributed
    from orthorules.dask import RuleRegressor

    with some(folder, count) as chosen, cluster() as workers, distributed.Client(workers) as client:
        idle = [*client.run(peak).values(), peak()]
        start = time.perf_counter()
        model = RuleRegressor(client=client, max_rules=RULES, path="nested").fit(chosen, "y")
        seconds = time.perf_counter() - start
        told("idle (workers, here)", 0, idle)
        told("Dask (workers, here)", seconds, [*client.run(peak).values(), peak()])
        sent, came, spent = zip(*model.rounds_, strict=True)
        print(f"{len(sent)} rounds; bytes sent {sum(sent)}, most {max(sent)}; come back {sum(came)}, most {max(came)}")
        print("seconds of rounds", " ".join(f"{s:.2f}" for s in spent))
        print("bytes that came back", *came)
        print("model", hashlib.sha256((model.to_json()).encode()).hexdigest()[:16])


def xgboost(folder: Path, count: int) -> None:
    import dask.dataframe as dd
    import distributed
    from xgboost import dask as boosting

    with some(folder, count) as chosen, cluster() as workers, distributed.Client(workers) as client:
        start = time.perf_counter()
        # `read_parquet` would put several files together where a single column is read. Features and target are read
        # apart, since to drop a column from a frame is to copy it.
        paths = sorted(Path(chosen).iterdir())
        features = [name for name in pq.read_schema(paths[0]).names if name != "y"]
        frame = dd.from_map(lambda path: pq.read_table(path, columns=features).to_pandas(self_destruct=True), paths)
        target = dd.from_map(lambda path: pq.read_table(path, columns=["y"]).to_pandas()["y"], paths)
        data = boosting.DaskQuantileDMatrix(client, frame, target)
        trees = {"tree_method": "hist", "max_depth": 3, "nthread": 1}
        boosting.train(client, trees, data, num_boost_round=RULES)
        told("XGBoost (workers, here)", time.perf_counter() - start, [*client.run(peak).values(), peak()])


def timed(fit, message, parts, threads):
    """Answers, and remembers how long that took."""
    import orthorules._dask_rows as inside

    start = time.perf_counter()
    reply = inside._answer(fit, message, parts, threads)
    inside.__dict__.setdefault("_spent", []).append(time.perf_counter() - start)
    return reply


def spent():
    import orthorules._dask_rows as inside

    return inside.__dict__.pop("_spent", [])


def rounds() -> None:
    import distributed
    import orthorules._dask_rows as inside
    import orthorules.dask as rules

    with tempfile.TemporaryDirectory() as folder, cluster() as workers, distributed.Client(workers) as client:
        for i in range(WORKERS):
            # Twice the columns, so that counts fill a megabyte.
            first, second = block(i, 20_000), block(i + WORKERS, 20_000)
            for name in second.column_names[:-1]:
                first = first.append_column(f"other {name}", second[name])
            pq.write_table(first, Path(folder) / f"{i}.parquet")
        answer, inside._answer = inside._answer, timed
        over = []
        # So few rows would be brought together.
        options = {"max_rules": RULES, "max_bins": 255, "path": "nested", "gather": "never"}
        for _ in range(4):
            client.run(spent)
            model = rules.RuleRegressor(client=client, **options).fit(folder, "y")
            counted = list(client.run(spent).values())
            if {len(one) for one in counted} != {len(model.rounds_)}:
                raise SystemExit("a worker was asked twice: start again")
            slower = [max(pair) for pair in zip(*counted, strict=True)]
            over += [
                (sent, came, whole, whole - own)
                for (sent, came, whole), own in zip(model.rounds_, slower, strict=True)
                if 1_000_000 < came < 2_000_000
            ]
        inside._answer = answer
    print("bytes that came back", *(came for _, came, _ in model.rounds_))
    extra = sorted(1000 * one[3] for one in over)
    bytes_back = statistics.median(one[1] for one in over)
    print(f"{len(model.rounds_)} rounds a fit; {len(over)} rounds with 1 to 2 MB to bring back")
    print(f"median bytes: sent {statistics.median(one[0] for one in over):.0f}, come back {bytes_back:.0f}")
    print(f"ms over counting: least {extra[0]:.0f}, quartiles {np.quantile(extra, [0.25, 0.5, 0.75]).round().tolist()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["files", "local", "dask", "xgboost", "rounds"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--binary", default="orthorules")
    given = parser.parse_args()
    if given.what == "rounds":
        return rounds()
    if given.folder is None:
        parser.error("FOLDER is missing")
    if given.what == "local":
        return local(given.folder, given.files, given.binary)
    return {"files": files, "dask": dask, "xgboost": xgboost}[given.what](given.folder, given.files)


if __name__ == "__main__":
    main()
