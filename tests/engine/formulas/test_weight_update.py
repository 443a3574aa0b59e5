"""New weights on their way: by hand."""

import pytest

from engine.core.units import GB
from engine.formulas.weight_update import by_files_time, one_sender_time, shared_sending_time


def test_one_sender_needs_its_port_for_all_weights():
    # 70 billion parameters of two bytes over 50 GB/s.
    assert one_sender_time(70e9, 2.0, 50 * GB) == pytest.approx(2.8)


def test_shared_sending_is_bound_by_the_fewer_ports():
    # Slices of a quarter: 35 GB over 50 GB/s; with half as many senders as receivers twice that.
    assert shared_sending_time(70e9, 2.0, 16, 16, 4, 50 * GB) == pytest.approx(0.7)
    assert shared_sending_time(70e9, 2.0, 8, 16, 4, 50 * GB) == pytest.approx(1.4)
    assert shared_sending_time(70e9, 2.0, 32, 16, 4, 50 * GB) == pytest.approx(0.7)


def test_files_are_written_once_and_read_by_each_engine():
    assert by_files_time(10e9, 2.0, 3, 10 * GB) == pytest.approx(8.0)
