"""What all tests share: which of them run, in which order, and which go to one worker together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builder.project.activate_project import activate_project
from engine.calculator import names
from tests import lanes, units

if TYPE_CHECKING:
    from xdist.remote import Producer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(lanes.OPTION, action="store_true", help="leave out what is like another")
    parser.addoption("--shard", default="1/1", help="of several machines, which")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(lanes.OPTION):
        os.environ[lanes.VARIABLE] = "1"
    if lanes.PROJECT in os.environ:  # its calculators are tried, not ours
        activate_project(Path(os.environ[lanes.PROJECT]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    calculators, shard = tuple(names()), config.getoption("--shard")
    repeated = lanes.repetitions(item.nodeid for item in items)
    left_out = [
        item
        for item in items
        if not units.is_in_shard(item.nodeid, shard)
        or (
            config.getoption(lanes.OPTION)
            and (
                item.nodeid in repeated
                or lanes.is_left_to_all(item)
                or not lanes.is_short(item.nodeid, calculators)
            )
        )
    ]
    if left_out:
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
        config.hook.pytest_deselected(items=left_out)
    order = units.ordered([item.nodeid for item in items])
    items[:] = [items[place] for place in order]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> units.Dealing:
    return units.Dealing(config, log)
