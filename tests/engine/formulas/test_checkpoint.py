"""Bytes beside the steps: checkpoints and tokens."""

import pytest

from engine.formulas.checkpoint import (
    checkpoint_bytes,
    token_bytes_rate,
    write_time,
)


def test_405_billion_parameters_with_adam_are_5_7_terabytes():
    assert checkpoint_bytes(405e9, 2.0, 12.0) == pytest.approx(5.67e12)


def test_weights_alone_are_a_seventh_of_it():
    assert checkpoint_bytes(1.0, 2.0, 0.0) * 7 == checkpoint_bytes(1.0, 2.0, 12.0)


@pytest.mark.parametrize(
    ("storage", "node", "seconds"),
    [(100.0, 1e9, 10.0), (1e9, 5.0, 20.0), (100.0, 10.0, 10.0)],
    ids=["the storage", "the node", "both alike"],
)
def test_the_slower_of_storage_and_node_sets_the_pace(storage, node, seconds):
    assert write_time(1000.0, storage, 100.0, node) == seconds


def test_a_million_tokens_a_second_of_four_bytes_are_four_megabytes():
    assert token_bytes_rate(1e6, 4.0) == 4e6
