"""Rows of "One change, one place" in CONTRIBUTING.md, done in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.layers import ROOT

LEFT_OUT = shutil.ignore_patterns(".*", "site", "node_modules", "__pycache__")
FOLDERS = ("engine", "builder", "content", "tests", "theme")
FILES = ("build.py", "pyproject.toml", "site.toml", "packages.lock.json")


@pytest.fixture
def copy(tmp_path):
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=LEFT_OUT)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(copy, *words):
    command = [sys.executable, *words]
    variables = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(
        command, cwd=copy, env=variables, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def check(copy, *tests):
    status, said = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert status == 0, said


def insert(path, before, text):
    whole = path.read_text("utf-8")
    assert before in whole
    path.write_text(whole.replace(before, text + before, 1), "utf-8")


def test_a_new_calculator_is_green_at_once(copy):
    status, said = run(copy, "build.py", "new", "calculator", "moving_bytes/chain_lab")
    assert status == 0, said
    assert "approved its numbers" in said
    own = "tests/engine/calculators/moving_bytes/test_chain_lab.py"
    check(copy, own, "tests/engine/calculators/test_approved.py", "-k", "chain_lab or no_longer")


def test_a_number_that_changes_ends_with_the_command_that_approves_it(copy):
    run(copy, "build.py", "new", "calculator", "moving_bytes/chain_lab")
    path = copy / "engine/calculators/moving_bytes/chain_lab.py"
    text = path.read_text("utf-8")
    changed = re.sub(r"(\] = )(\d+) \* MB", r"\g<1>3 * MB", text)
    assert changed != text
    path.write_text(changed, "utf-8")
    tests = ("tests/engine/calculators/test_approved.py", "-k", "chain_lab")
    status, said = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert status == 1
    assert re.search(r"chain_lab, defaults, \w+: [\d.e-]+ -> [\d.e-]+", said)
    assert "If every change is meant: python -m tests.engine.calculators.approved chain_lab" in said


def test_a_gpu_is_a_row_in_three_tables(copy):
    catalog = copy / "engine/catalog"
    row = '"H200-NVL": _hopper("H200 NVL", 139.72 * GiB, 4.8 * TB, 450 * GB, "nvidia_h200"),\n    '
    insert(catalog / "accelerators.py", '"H200-SXM": _hopper(', row)
    tests = [f"tests/engine/catalog/test_{name}.py" for name in ("constants", "hardware")]
    status, said = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert status == 1
    assert "add a row to ACHIEVED in engine/catalog/constants.py" in said
    assert "add a row to DEVICE_MEMORY in engine/catalog/device_memory.py" in said
    insert(catalog / "constants.py", '"H200 SXM": _HOPPER', '"H200 NVL": _HOPPER,\n    ')
    evidence = re.search(
        r'    "H200-SXM": .*?\),\n', (catalog / "device_memory.py").read_text("utf-8"), re.DOTALL
    )[0]
    insert(
        catalog / "device_memory.py",
        evidence.lstrip(),
        evidence.replace("H200-SXM", "H200-NVL").lstrip() + "    ",
    )
    check(copy, *tests, "tests/engine/run/test_run_file.py")


@pytest.mark.parametrize(
    ("room", "original", "name"),
    [
        ("collectives", "ring_all_reduce", "chain_all_reduce"),
        ("schedules", "gpipe", "all_forward_first"),
    ],
)
def test_a_collective_and_a_schedule_are_one_file(copy, room, original, name):
    text = (copy / f"engine/{room}/{original}.py").read_text("utf-8")
    changed = re.sub(r'^TITLE = ".*"', 'TITLE = "Another name"', text, flags=re.MULTILINE)
    assert changed != text
    (copy / f"engine/{room}/{name}.py").write_text(changed, "utf-8")
    check(copy, f"tests/engine/{room}", "-k", f"{name} or titles")


def test_a_published_run_of_a_known_source_is_one_row_and_two_programs(copy):
    table = copy / "engine/catalog/published_table.tsv"
    lines = table.read_text("utf-8").splitlines()
    (line,) = [one for one in lines if one.startswith("sc21-t2-") and "\tA100" in one][:1]
    name, _, rest = line.partition("\t")
    table.write_text("\n".join([*lines, f"{name}-again\t{rest}"]) + "\n", "utf-8")
    program = """
from engine.calculator import load, make
calculator = load("published_runs")
calculator.compute(make(calculator, {}))
"""
    status, said = run(copy, "-c", program)
    assert status == 1
    assert re.search(
        rf"row '{name}-again' has no line in engine/catalog/\w+\.tsv yet: "
        r"python -m tests\.validation\.\w+ writes it$",
        said.strip(),
    )
