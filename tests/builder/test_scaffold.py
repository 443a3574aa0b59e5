import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from builder import scaffold

ROOT = Path(__file__).resolve().parents[2]


def scaffolded(live, name):
    """Make a calculator where the tiny site keeps its own."""
    paths = scaffold.make(live.root, "calculator", name)
    moved = live.root / "tiny_calculators" / f"{name}.py"
    paths[0].rename(moved)
    return [moved, *paths[1:]]


def test_a_new_calculator_builds(live):
    scaffolded(live, "move_bytes")
    assert live.problems() == []


def test_a_new_calculator_stands_on_a_page_of_its_own(live):
    scaffolded(live, "move_bytes")
    assert 'data-calculator="move_bytes"' in live.page("tools/move-bytes/index.html")


def test_the_test_of_a_new_calculator_passes(live):
    test = scaffolded(live, "move_bytes")[1]
    spec = importlib.util.spec_from_file_location("scaffolded", test)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    claims = [value for name, value in vars(module).items() if name.startswith("test_")]
    assert [claim() for claim in claims] == [None]


def test_the_files_of_a_new_calculator_are_well_formed(live):
    paths = [path for path in scaffolded(live, "move_bytes") if path.suffix == ".py"]
    config = ROOT / "pyproject.toml"
    command = [sys.executable, "-m", "ruff", "check", "--config", config, "--ignore", "D,ANN,I"]
    done = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_new_guide_is_a_draft_that_builds(live):
    scaffold.make(live.root, "guide", "all-to-all")
    built = live.build(drafts=True)
    assert (built.problems, "guides/all-to-all/index.html" in built.output) == ((), True)


def test_a_taken_name_is_refused(live):
    with pytest.raises(ValueError, match=r"'first' is taken: content/guides/first\.md exists"):
        scaffold.make(live.root, "guide", "first")


def test_a_name_that_python_cannot_import_is_refused(live):
    with pytest.raises(ValueError, match="'all-to-all' cannot name a calculator"):
        scaffold.make(live.root, "calculator", "all-to-all")


def test_a_name_with_capitals_cannot_name_a_guide(live):
    with pytest.raises(ValueError, match="'AllToAll' cannot name a guide"):
        scaffold.make(live.root, "guide", "AllToAll")
