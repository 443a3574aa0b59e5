"""One message to another node: its parts are its time."""

import pytest

from engine.form.what_if.inputs import Inputs, run_and_changes
from engine.formulas.send_time import send_time
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.network.node_message import node_message

RUN, _ = run_and_changes(Inputs())
RANK = rank_rates(RUN.cluster, RUN.training)


@pytest.mark.parametrize("size", [8.0, 64e3, 64e6])
def test_the_parts_are_the_time_of_the_message(size):
    assert node_message(RUN.cluster, RANK, size).time == pytest.approx(
        send_time(size, RANK.port, 2)
    )


def test_64_megabytes_at_400_gigabits_are_1_28_milliseconds_on_the_wire():
    assert node_message(RUN.cluster, RANK, 64e6).wire == pytest.approx(1.28e-3)


def test_at_the_even_size_the_bytes_take_half_of_the_time():
    one = node_message(RUN.cluster, RANK, 1.0)
    even = node_message(RUN.cluster, RANK, one.even)
    assert even.wire + even.loss == pytest.approx(even.time / 2)
