"""What the live runtime weighs, and that what is in it depends on the engine alone."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from builder.project.project_file import read_project
from builder.project.python_packages import load_wheels
from builder.runtime.bundle import build_runtime
from tests.browser.runtime_fixtures import ROOT

GROUPS = load_wheels(read_project(ROOT), ROOT, ROOT / ".cache").groups
LAB = ROOT / "content" / "guides" / "gradient-sync-lab.md"


def test_the_live_runtime_of_the_lab_is_at_most_4_9_megabytes_compressed():
    runtime = build_runtime(ROOT / "engine", ROOT / ".cache", groups=GROUPS)
    used = re.findall(r"\[\[(\w+)", LAB.read_text("utf-8"))
    others = set(runtime.calculators) - set(used)
    left_out = {runtime.calculators[name] for name in others}
    sent = {name: data for name, data in runtime.files.items() if name not in left_out}
    assert sum(map(_sent, sent.items())) <= 4.9e6


@pytest.mark.left_to_all("the test below compares the files of two engines")
def test_the_same_engine_gives_the_same_bytes(tmp_path: Path):
    engine = tmp_path / "engine"
    shutil.copytree(ROOT / "engine", engine)
    for room in (engine / "calculators").iterdir():
        if room.is_dir() and room.name != "reference":  # a few calculators of all kinds
            shutil.rmtree(room)
    one, other = (build_runtime(engine, tmp_path / n, groups=GROUPS) for n in ("one", "other"))
    assert one == other


def test_another_calculator_changes_no_file_that_the_lab_loads(tmp_path: Path):
    shutil.copytree(ROOT / "engine", tmp_path / "engine")
    more = tmp_path / "engine" / "calculators" / "one_gpu" / "one_more.py"
    ladder = (ROOT / "engine/calculators/splitting_the_model/bubble_conventions.py").read_text()
    more.write_text(ladder + "\nfrom fractions import Fraction\nHALF = Fraction(1, 2)\n")
    before = build_runtime(ROOT / "engine", ROOT / ".cache", groups=GROUPS)
    after = build_runtime(tmp_path / "engine", ROOT / ".cache", groups=GROUPS)
    assert set(after.files) - set(before.files) == {after.calculators["one_more"]}
    assert after.manifest == before.manifest


def _sent(file: tuple[str, bytes]) -> int:
    """Return the bytes a static host sends: it compresses text, .bin is compressed already."""
    name, content = file
    return len(content) if name.endswith(".bin") else len(gzip.compress(content, 6))
