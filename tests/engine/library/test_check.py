"""`check` in a repository: its table, its exit status, and what the hook and the action run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from engine.__main__ import main
from tests.each import each
from tests.layers import ROOT

RUN = {
    "model": "llama-3-70b",
    "sequence_length": 8192,
    "cluster": {
        "gpu": "H100-SXM",
        "gpus_per_node": 8,
        "nics_per_node": 8,
        "nic_bandwidth": "400 Gb/s",
    },
    "parallelism": {"world_size": 64, "tensor_parallel": 8, "pipeline_parallel": 4},
    "training": {"micro_batch_size": 1, "global_batch_size": 128, "precision": "bf16"},
}
SCRIPT = """torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 \\
  --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 \\
  --global-batch-size 64 --tensor-model-parallel-size 8 --bf16 --swiglu --vocab-size 32000
"""
ROW = re.compile(r"^\| `(.+?)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)


def changed(**parallelism):
    return json.dumps({**RUN, "parallelism": {**RUN["parallelism"], **parallelism}})


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository with two configurations that fit."""
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "train.sh").write_text(SCRIPT)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def check(repository, capsys):
    def run(*arguments):
        try:
            status = main(["check", *arguments])
        except SystemExit as stop:
            status = stop.code
        return (status, *capsys.readouterr())

    return run


def test_what_fits_ends_with_status_0(check):
    status, output, errors = check("run.json", "train.sh")
    assert (status, errors) == (0, "")
    rows = ROW.findall(output)
    assert [(name, fits) for name, fits, *_ in rows] == [("run.json", "yes"), ("train.sh", "yes")]
    assert all("(" not in cell for row in rows for cell in row)


def test_what_no_longer_fits_ends_with_status_1_and_says_what_it_was(check, repository):
    (repository / "run.json").write_text(changed(tensor_parallel=4))
    status, output, errors = check("run.json", "--base", "HEAD")
    ((_, fits, memory, step, rate),) = ROW.findall(output)
    assert (status, errors, fits) == (1, "", "**no** (was: yes)")
    assert re.fullmatch(r"[\d.]+ GB \(\+[\d.]+ %\)", memory)
    assert re.fullmatch(r"[\d.]+ s \(−[\d.]+ %\)", step)
    assert re.fullmatch(r"[\d,.]+ tokens/s \(\+[\d.]+ %\)", rate)
    assert "- `run.json`: The process of the rank that holds most needs " in output


def test_what_has_not_changed_is_the_same(check):
    assert check("run.json", "--base", "HEAD")[1].count("(same)") == 3


def test_a_new_file_has_nothing_to_compare_with(check, repository):
    (repository / "new.json").write_text(json.dumps(RUN))
    status, output, _ = check("new.json", "--base", "HEAD")
    assert (status, "(" in output) == (0, False)


def test_a_step_may_become_slower_up_to_a_limit(check, repository):
    (repository / "run.json").write_text(changed(pipeline_parallel=8))
    assert check("run.json", "--base", "HEAD")[0] == 0
    status, _, errors = check("run.json", "--base", "HEAD", "--slower", "0.1")
    assert status == 1
    assert re.search(r"run\.json: a step takes [\d.]+ % longer; allowed: 0\.1 %", errors)


def test_the_numbers_come_as_json(check):
    status, output, _ = check("run.json", "--base", "HEAD", "--json")
    (entry,) = json.loads(output)
    assert status == 0
    assert entry["now"] == entry["before"]
    assert 0 < entry["now"]["memory_process"] < 80e9


@each(
    ("text", "said"),
    [
        ("{", "run.json: run.json: Expecting"),
        (json.dumps({**RUN, "sequence_length": 0}), "run.json: sequence_length: 0; allowed: "),
        (None, "No such file"),
    ],
)
def test_what_cannot_be_read_ends_with_status_2(check, repository, text, said):
    path = repository / "run.json"
    path.write_text(text) if text is not None else path.unlink(missing_ok=True)
    status, output, errors = check("run.json", "train.sh")
    assert status == 2
    assert said in errors
    assert "| `run.json` | cannot be read |" in output
    assert "| `train.sh` | yes |" in output


def test_files_of_one_job_are_joined(check, repository):
    (repository / "more.sh").write_text("export GPUS=16\n")
    assert "| `train.sh+more.sh` |" in check("train.sh+more.sh")[1]


def wallclock(folder):
    """A command `wallclock` that runs this repository's engine, as an installed one would."""
    folder.mkdir(parents=True)
    script = folder / "wallclock"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m engine "$@"\n')
    script.chmod(0o755)
    return script


def test_the_hook_names_a_command_that_runs(repository):
    (hook,) = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python"
    assert re.search(hook["files"], "jobs/run.json")
    command, *rest = hook["entry"].split()
    script = wallclock(repository / "bin")
    assert command == script.name
    done = subprocess.run([script, *rest, "run.json"], cwd=repository, check=False)
    assert done.returncode == 0


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
@each(("tensor_parallel", "status"), [(8, 0), (4, 1)])
def test_the_action_checks_and_writes_a_summary(repository, tmp_path, tensor_parallel, status):
    steps = YAML(typ="safe").load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (repository / "run.json").write_text(changed(tensor_parallel=tensor_parallel))
    temporary = tmp_path / f"runner{tensor_parallel}"
    wallclock(temporary / "wallclock/bin")
    variables = {
        **os.environ,
        "RUNNER_TEMP": str(temporary),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
        "FILES": "run.json\ntrain.sh\n",
        "BASE": "HEAD",
        "OPTIONS": "--slower=50",
    }
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[1]["run"]]
    done = subprocess.run(
        bash, cwd=repository, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    summary = (temporary / "summary").read_text()
    assert [row[0] for row in ROW.findall(summary)] == ["run.json", "train.sh"]
    (name, _, path) = (temporary / "output").read_text().strip().partition("=")
    assert (name, Path(path).read_text()) == ("table", summary)


def test_the_action_takes_its_inputs_from_the_environment():
    steps = YAML(typ="safe").load((ROOT / "action.yml").read_text())["runs"]["steps"]
    assert all("${{" not in step["run"] for step in steps)
    assert "pip install" in steps[0]["run"]
