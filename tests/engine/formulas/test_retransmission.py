"""Losses: hand-worked goodput, limits, and every closed form against packets sent one by one."""

import math

import pytest

from engine.core.units import GB, MICRO
from engine.formulas.retransmission import (
    answer_timeout,
    go_back_0_goodput,
    go_back_n_goodput,
    half_goodput_loss,
    round_trip_packets,
    selective_repeat_goodput,
)
from engine.simulate.network.lost_packets import (
    GO_BACK_0,
    GO_BACK_N,
    SELECTIVE,
    periodic_losses,
    random_losses,
    send_packets,
)


def test_a_round_trip_of_ten_microseconds_holds_123_packets_of_4_kib():
    # 50 GB/s for 10 us are 500,000 bytes, or 122.07 packets, and the lost one.
    assert round_trip_packets(50 * GB, 10 * MICRO, 4096.0) == pytest.approx(123.07, abs=0.01)


def test_one_lost_in_a_thousand_worked_by_hand():
    # 0.999 / (0.999 + 100 / 1000)
    assert go_back_n_goodput(0.001, 100.0) == pytest.approx(0.999 / 1.099)


@pytest.mark.parametrize("goodput", [
    go_back_n_goodput(0.0, 123.0), selective_repeat_goodput(0.0), go_back_0_goodput(0.0, 123.0, 9),
])  # fmt: skip
def test_without_losses_everything_arrives(goodput):
    assert goodput == 1.0


def test_with_a_round_trip_of_one_packet_going_back_repeats_only_what_was_lost():
    assert go_back_n_goodput(0.2, 1.0) == pytest.approx(selective_repeat_goodput(0.2))


def test_messages_of_one_packet_make_go_back_0_the_same_as_go_back_n():
    assert go_back_0_goodput(0.02, 50.0, 1) == pytest.approx(go_back_n_goodput(0.02, 50.0))


@pytest.mark.parametrize("window", [1.0, 10.0, 123.0, 1000.0])
def test_half_is_left_at_the_loss_that_says_so(window):
    assert go_back_n_goodput(half_goodput_loss(window), window) == pytest.approx(0.5)


def test_the_default_timeout_of_nccl_is_over_four_seconds():
    # 4.096 us times 2^20; with 7 retries about 30 s, as NCCL's documentation has it.
    assert answer_timeout(20) == pytest.approx(4.294967, rel=1e-6)
    assert 7 * answer_timeout(20) == pytest.approx(30, abs=1)


@pytest.mark.parametrize(("loss", "window"), [(0.001, 10), (0.01, 10), (0.01, 123), (0.1, 20)])
def test_going_back_n_packet_by_packet_agrees_with_the_closed_form(loss, window):
    played = send_packets(GO_BACK_N, random_losses(loss, 7), window, 1, 200_000)
    assert played.packets == 200_000
    # Failures are counted, and their number is known to its root: four deviations.
    failures = 200_000 * go_back_n_goodput(loss, window) * loss / (1 - loss)
    slack = 4 * (window / 200_000) * math.sqrt(failures)
    assert played.goodput == pytest.approx(go_back_n_goodput(loss, window), abs=slack)


def test_repeating_selectively_packet_by_packet_agrees_with_the_closed_form():
    played = send_packets(SELECTIVE, random_losses(0.03, 7), 123, 1, 200_000)
    assert played.goodput == pytest.approx(0.97, abs=4 * math.sqrt(0.03 * 0.97 / 200_000))


@pytest.mark.parametrize(("loss", "window", "message"), [(0.01, 5, 50), (0.004, 20, 100)])
def test_going_back_0_packet_by_packet_agrees_with_the_closed_form(loss, window, message):
    played = send_packets(GO_BACK_0, random_losses(loss, 3), window, message, 500_000)
    assert played.goodput == pytest.approx(go_back_0_goodput(loss, window, message), rel=0.05)


def test_every_256th_packet_lost_stops_messages_of_4000_packets():
    # Guo et al. 2016, section 4.1: no goodput with go-back-0, and some with go-back-N.
    assert send_packets(GO_BACK_0, periodic_losses(256), 50, 4000, 100_000).new == 0
    assert send_packets(GO_BACK_N, periodic_losses(256), 50, 4000, 100_000).goodput > 0.5


def test_messages_of_255_packets_get_through_every_256th_lost():
    assert send_packets(GO_BACK_0, periodic_losses(256), 1, 255, 256 * 10).messages == 10
    assert send_packets(GO_BACK_0, periodic_losses(256), 1, 256, 256 * 10).messages == 0
