"""Names that a new guide or calculator cannot have, and what its author is told."""

import pytest

from builder.cli import new_files
from tests.builder.cli.test_new_files import ROOM, with_rooms


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
