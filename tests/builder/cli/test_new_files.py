import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from builder import pipeline
from builder.cli import new_files, new_project
from builder.core import build_cache
from builder.project.activate_project import activate_project
from engine import calculator
from engine.core.numbers import Display
from engine.draw.export_text import export_text
from tests.builder.conftest import SERVICES, silent

ROOT = Path(__file__).resolve().parents[3]


ROOM = "moving_bytes"


def with_rooms(live):
    """Give the tiny site a folder for calculators."""
    room = live.root / "engine" / "calculators" / ROOM
    room.mkdir(parents=True)
    (room / "__init__.py").touch()


def scaffolded(live, name):
    """Make a calculator where the tiny site keeps its own."""
    with_rooms(live)
    paths = new_files.make_files(live.root, "calculator", f"{ROOM}/{name}", "engine")
    moved = live.root / "tiny_calculators" / f"{name}.py"
    paths[0].rename(moved)
    test = paths[1].read_text()
    paths[1].write_text(test.replace(f"engine.calculators.{ROOM}", "tiny_calculators"))
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
    new_files.make_files(live.root, "guide", "all-to-all", "engine")
    built = live.build(drafts=True)
    assert (built.problems, "guides/all-to-all/index.html" in built.output) == ((), True)


@pytest.fixture
def begun(tmp_path):
    """A new project that was entered."""
    root = tmp_path / "cash-flow"
    made = new_project.make_project(root)
    assert all(path.is_file() for path in made)
    return activate_project(root)


def built(places):
    return pipeline.build(places, pipeline.Options(), SERVICES, build_cache.BuildCache(), silent)


def test_a_new_project_builds(begun):
    done = built(begun)
    assert done.problems == ()
    assert "<title>A first guide · Cash flow</title>" in page(done, "guides/first-guide/")
    assert 'data-of="duration" data-output="over_amount"' in page(done, "tools/duration/")


def page(done, url):
    return done.output[f"{url}index.html"].decode()


def test_a_new_project_grows(begun):
    for kind, name in (("guide", "second"), ("calculator", "examples/second_duration")):
        new_files.make_files(begun.root, kind, name, begun.project.engine)
    again = activate_project(begun.root)
    done = built(again)
    assert done.problems == ()
    assert 'data-calculator="second_duration"' in page(done, "tools/second-duration/")


def test_the_test_and_the_terminal_of_a_new_project_work(begun):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for words in (["pytest", "-q", "-p", "no:cacheprovider"], ["cash_flow", "duration"]):
        command = [sys.executable, "-m", *words]
        done = subprocess.run(
            command, cwd=begun.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed" in done.stdout or "time  25.0 s" in done.stdout


def test_what_a_reader_copies_as_python_runs(begun):
    duration = calculator.load("duration")
    values = {**duration.defaults, "amount": 2000.0}
    text = export_text("python", duration, values, {}, Display())
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=begun.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("Result(time=45.0"), done.stdout + done.stderr


def test_a_new_project_needs_an_empty_folder(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(ValueError, match="is not empty; name a new or an empty folder"):
        new_project.make_project(tmp_path)


def test_the_package_of_a_new_project_is_one_that_can_be_imported():
    names = {name: new_project.package_name(name) for name in ("Cash-Flow", "json", "3d", "engine")}
    assert list(names.values()) == ["cash_flow", "json_engine", "site_3d", "engine_engine"]


def test_a_taken_name_is_refused(live):
    with pytest.raises(ValueError, match=r"'first' is taken: content/guides/first\.md exists"):
        new_files.make_files(live.root, "guide", "first", "engine")


def test_a_name_that_python_cannot_import_is_refused(live):
    with pytest.raises(ValueError, match="'all-to-all' cannot name a calculator"):
        new_files.make_files(live.root, "calculator", "moving_bytes/all-to-all", "engine")


def test_a_calculator_without_a_room_is_told_which_there_are(live):
    with_rooms(live)
    message = "stands in a room; write ROOM/all_to_all, ROOM one of moving_bytes"
    with pytest.raises(ValueError, match=message):
        new_files.make_files(live.root, "calculator", "all_to_all", "engine")


def test_an_unknown_room_is_refused(live):
    with_rooms(live)
    with pytest.raises(ValueError, match="there is no room 'nowhere'"):
        new_files.make_files(live.root, "calculator", "nowhere/all_to_all", "engine")


def test_a_calculator_may_not_take_the_address_of_a_guide(live):
    with_rooms(live)
    new_files.make_files(live.root, "guide", "checkpoint-interval", "engine")
    message = r"'checkpoint_interval' is taken: content/guides/checkpoint-interval\.md exists"
    with pytest.raises(ValueError, match=message):
        new_files.make_files(live.root, "calculator", f"{ROOM}/checkpoint_interval", "engine")


def test_a_guide_may_not_take_the_address_of_a_calculator(live):
    with_rooms(live)
    new_files.make_files(live.root, "calculator", f"{ROOM}/checkpoint_interval", "engine")
    with pytest.raises(ValueError, match=r"taken: content/tools/checkpoint-interval\.md exists"):
        new_files.make_files(live.root, "guide", "checkpoint-interval", "engine")


def test_a_calculator_may_not_take_the_name_of_one_in_another_room(live):
    with_rooms(live)
    other = live.root / "engine/calculators/one_gpu/all_to_all"
    other.mkdir(parents=True)
    for path in (other.parent / "__init__.py", other / "calculator.py"):
        path.touch()
    with pytest.raises(ValueError, match="taken: engine/calculators/one_gpu/all_to_all exists"):
        new_files.make_files(live.root, "calculator", f"{ROOM}/all_to_all", "engine")


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("calculator", f"{ROOM}/calculator", "'calculator' cannot name a calculator; it is the"),
        ("calculator", f"{ROOM}/class", "'class' cannot name a calculator; it is a word of Python"),
        ("calculator", f"{ROOM}/glossary", "'glossary' cannot name a calculator; it is a list"),
        ("calculator", f"{ROOM}/ring_time", "'ring_time' is taken: the equation of engine/form/"),
        ("guide", "old-name", "'old-name' is taken: content/guides/first.md was there"),
        ("guide", "First", "'First' cannot name a guide"),
    ],
)
def test_what_would_collide_is_refused(live, kind, name, said):
    with_rooms(live)
    (live.root / "engine" / "form").mkdir()
    (live.root / "engine" / "form" / "ring.py").write_text('TIME = Equation(\n    "ring_time",')
    live.edit("content/guides/first.md", "order = 1", 'order = 1\nwas = ["guides/old-name"]')
    with pytest.raises(ValueError, match=said):
        new_files.make_files(live.root, kind, name, "engine")


def test_a_name_with_capitals_cannot_name_a_guide(live):
    with pytest.raises(ValueError, match="'AllToAll' cannot name a guide"):
        new_files.make_files(live.root, "guide", "AllToAll", "engine")
