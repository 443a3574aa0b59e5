"""Growth of counters with their ends, and the verdicts of every sample."""

import pytest

from engine.calculators.moving_bytes.counter_decoder import SAMPLES
from engine.core.units import Gbit
from engine.run.logs.counters import read_counters
from engine.simulate.collectives.counter_rates import counter_growth, port_readings

LINE = 400 * Gbit


@pytest.mark.parametrize(
    ("first", "second", "bits", "clamps", "expected"),
    [
        (100, 250, 64, False, (150, "")),
        (100, 2**16 - 1, 16, True, (2**16 - 101, "full")),
        (100, 40, 16, True, (None, "reset")),
        (2**32 - 10, 5, 64, False, (15, "wrapped")),
        (2**64 - 10, 5, 64, False, (15, "")),
        (1000, 5, 64, False, (None, "reset")),
        (2**40, 5, 64, False, (None, "reset")),
    ],
)
def test_growth_over_the_end_of_a_counter(first, second, bits, clamps, expected):
    assert counter_growth(first, second, bits, clamps=clamps) == expected


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("paused", "paused"),
        ("cable", "broken"),
        ("credits", "waits"),
        ("healthy", "busy"),
        ("lost", "lost"),
    ],
)
def test_every_sample_has_its_verdict(name, verdict):
    (port,) = port_readings(read_counters(SAMPLES[name].text), 1.0, LINE)
    assert port.verdict == verdict
    assert port.apart == pytest.approx(10.0)


def test_words_of_infiniband_are_four_bytes():
    (port,) = port_readings(read_counters(SAMPLES["healthy"].text), 1.0, LINE)
    assert port.sent == pytest.approx(4 * 118.9e9 / 10)


def test_pauses_are_microseconds():
    (port,) = port_readings(read_counters(SAMPLES["paused"].text), 1.0, LINE)
    assert port.paused == pytest.approx(3.31 / 10)


def test_without_clocks_the_given_time_counts():
    text = "NIC statistics:\n tx_bytes_phy: 0\nNIC statistics:\n tx_bytes_phy: 1000\n"
    (port,) = port_readings(read_counters(text), 2.0, LINE)
    # Nothing that could speak against the port is counted.
    assert (port.sent, port.verdict) == (500.0, "unknown")


def test_the_host_that_pauses_others_is_told_from_the_one_that_is_paused():
    text = "NIC statistics:\n tx_prio3_pause_duration: {}\n rx_prio3_pause_duration: {}\n"
    (port,) = port_readings(
        read_counters(text.format(0, 0) + text.format((5e5).__int__(), 9)), 1.0, LINE
    )
    assert (port.verdict, port.pauses) == ("pauses", pytest.approx(0.5))


def test_a_full_counter_is_a_lower_bound():
    text = "# Port counters: Lid 6 port 1\nPortXmitData:.....{}\n"
    (port,) = port_readings(read_counters(text.format(7) + text.format(2**32 - 1)), 1.0, LINE)
    assert port.growth[0].odd == "full"
