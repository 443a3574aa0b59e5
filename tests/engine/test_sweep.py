"""A sweep: its grid, its journal; what was killed goes on, nothing is lost and nothing repeated."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import parquet

from engine.__main__ import main
from engine.run.document import InputError
from engine.run.sweep_grid import read_grid
from engine.sweep_run import append_to_journal, read_journal

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = {
    "name": "16 H100",
    "world_size": 16,
    "gpu": "H100-SXM",
    "gpus_per_node": 8,
    "nics_per_node": 8,
    "nic_bandwidth": 5e10,
}
GRID = {
    "models": ["llama-3-8b", "llama-2-7b"],
    "clusters": [CLUSTER, CLUSTER | {"name": "32 H100", "world_size": 32}],
    "prices": [2.0, 3.0],
    "sequence_lengths": [2048, 4096],
    "global_batch_tokens": 1 << 18,
    "tokens": 10**10,
}
TOML = """
models = ["llama-3-8b", "llama-2-7b", "llama-2-13b"]
prices = [2.0, 3.0]
sequence_lengths = [1024, 2048, 4096, 8192]
global_batch_tokens = 2097152
tokens = 10_000_000_000
[choose]
context_parallel = [1]
[[clusters]]
name = "32 H100"
world_size = 32
gpu = "H100-SXM"
gpus_per_node = 8
nics_per_node = 8
nic_bandwidth = 5e10
[[clusters]]
name = "32 A100"
world_size = 32
gpu = "A100-SXM-80GB"
gpus_per_node = 8
nics_per_node = 8
nic_bandwidth = 2.5e10
"""
POINTS = 24


def test_a_grid_is_every_combination_once():
    points = read_grid(GRID)
    assert len(points) == len({one.key for one in points}) == 8
    assert {one.request["global_batch_size"] for one in points} == {64, 128}
    assert all(one.prices == (2.0 / 3600, 3.0 / 3600) for one in points)


def test_the_same_point_has_the_same_key_in_another_grid():
    more = GRID | {"models": ["llama-2-13b", *GRID["models"]]}
    assert {one.key for one in read_grid(GRID)} < {one.key for one in read_grid(more)}
    dearer = GRID | {"prices": [4.0]}
    assert not {one.key for one in read_grid(GRID)} & {one.key for one in read_grid(dearer)}


def test_what_cannot_be_used_is_named_all_at_once():
    bad = GRID | {"prices": [-1], "sequence_lengths": [3000], "frobs": 1}
    with pytest.raises(InputError) as error:
        read_grid(bad | {"models": []})
    assert {problem.split(":")[0] for problem in error.value.problems} == {"models", "frobs"}
    with pytest.raises(InputError) as error:
        read_grid(GRID | {"prices": [-1], "sequence_lengths": [3000]})
    assert {problem.split(":")[0] for problem in error.value.problems} == {
        "prices",
        "sequence_lengths",
    }
    with pytest.raises(InputError, match="32 H100: world_size"):
        read_grid(GRID | {"clusters": [CLUSTER, CLUSTER | {"name": "32 H100", "world_size": 0}]})


def test_a_line_that_was_cut_off_counts_as_not_written(tmp_path):
    journal = str(tmp_path / "sweep.jsonl")
    assert read_journal(journal) == {}
    append_to_journal(journal, "a", [{"x": 1}])
    append_to_journal(journal, "b", [{"x": 2}])
    whole = Path(journal).read_bytes()
    Path(journal).write_bytes(whole[:-5])
    assert read_journal(journal) == {"a": [{"x": 1}]}
    append_to_journal(journal, "b", [{"x": 2}])
    assert Path(journal).read_bytes() == whole


def lines(stem):
    journal = Path(f"{stem}.jsonl")
    text = journal.read_text("utf-8") if journal.exists() else ""
    return [json.loads(line)["key"] for line in text.splitlines(keepends=True) if line[-1] == "\n"]


def table(stem):
    with Path(f"{stem}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_in_one_go_and_again(tmp_path, capsys):
    small = TOML.replace(', "llama-2-7b", "llama-2-13b"', "").replace(", 2048, 4096, 8192", "")
    grid, stem = tmp_path / "grid.toml", str(tmp_path / "out")
    grid.write_text(small)
    assert main(["sweep", str(grid), "--out", stem, "--workers", "1"]) == 0
    first = table(stem)
    assert [row["cluster"] for row in first] == ["32 H100"] * 2 + ["32 A100"] * 2
    cheap, dear = (float(row["cost"]) for row in first[:2])
    assert dear == pytest.approx(1.5 * cheap, rel=1e-12)
    assert main(["sweep", str(grid), "--out", stem]) == 0
    assert "2 searches, 2 of them done before" in capsys.readouterr().err
    assert len(lines(stem)) == 2
    assert table(stem) == first


def test_a_grid_that_is_none_ends_in_words(tmp_path, capsys):
    assert main(["sweep", str(tmp_path / "none.toml")]) == 2
    (tmp_path / "grid.toml").write_text("models = 3")
    assert main(["sweep", str(tmp_path / "grid.toml")]) == 2
    assert "models: 3; allowed: a list" in capsys.readouterr().err
    (tmp_path / "grid.toml").write_text("models = " + "9" * 5000)
    assert main(["sweep", str(tmp_path / "grid.toml")]) == 2
    assert "a number is too long; allowed: a TOML file" in capsys.readouterr().err


def started(*arguments, **options):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-P", "-m", *arguments], cwd=ROOT, **quiet | options)


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each a process of its own."""
    file = str(tmp_path / "scheduler.json")
    where = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    dask = "distributed.cli.dask_{}".format
    options = ("--scheduler-file", file)
    parts = [
        started(
            dask("scheduler"), *options, "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            **where,
        )
    ]  # fmt: skip
    for _ in range(100):
        if Path(file).exists():
            break
        time.sleep(0.1)
    one = (dask("worker"), *options, "--nthreads", "1", "--no-dashboard", "--no-nanny")
    place = ("--local-directory", str(tmp_path))
    parts += [started(*one, *place, **where) for _ in range(2)]
    yield json.loads(Path(file).read_text())["address"], parts
    for part in parts:
        part.kill()
    for part in parts:
        part.wait()


def test_killed_half_way_and_resumed_nothing_is_lost_and_nothing_done_twice(tmp_path, cluster):
    address, (_, worker, _) = cluster
    grid, stem = tmp_path / "grid.toml", str(tmp_path / "out")
    grid.write_text(TOML)
    asked = ("engine", "sweep", str(grid), "--out", stem, "--scheduler", address)
    where = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    first = started(*asked, **where)
    while len(lines(stem)) < POINTS // 3:
        assert first.poll() is None
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)  # the driver, without a word
    first.wait()
    worker.send_signal(signal.SIGKILL)  # and one of the two workers
    before = lines(stem)
    assert 0 < len(before) < POINTS
    again = started(*asked, stderr=subprocess.PIPE, text=True, **where)
    _, said = again.communicate(timeout=300)
    assert again.returncode == 0
    assert f"{POINTS} searches, {len(before)} of them done before." in said
    after = lines(stem)
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) == POINTS
    assert len(table(stem)) == 2 * POINTS
    rows = parquet.read_table(f"{stem}.parquet").to_pylist()
    assert [row["plan"] for row in rows] == [row["plan"] for row in table(stem)]
    alone = str(tmp_path / "alone")
    assert main(["sweep", str(grid), "--out", alone, "--workers", "1"]) == 0
    assert table(alone) == table(stem)
