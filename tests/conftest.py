"""What all tests share: in which order they run, and which of them go to one worker together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import units

if TYPE_CHECKING:
    from xdist.remote import Producer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = units.ordered([item.nodeid for item in items])
    items[:] = [items[place] for place in order]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> units.Dealing:
    return units.Dealing(config, log)
