"""Messages between two ranks, and the exchanges made of them."""

import pytest

from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK
from engine.core.units import GB, MiB
from engine.formulas.send_time import all_to_all_time, send_time

A100 = 235e9


def test_a_message_to_another_node_starts_later():
    assert send_time(0.0, A100, 2) > send_time(0.0, A100, 1)


def test_a_rank_of_sixteen_sends_half_of_its_buffer_to_the_other_node_in_two_groups_of_eight():
    found = all_to_all_time(64 * MiB, 16, 2, 40 * GB)
    waits = LAUNCH + NVLINK.start + 2 * INFINIBAND.step
    assert found == pytest.approx(waits + 32 * MiB / (40 * GB))
