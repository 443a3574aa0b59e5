"""A chart's data as a table for reading."""

from engine.draw.table_of_chart import sample


def test_a_sample_keeps_both_ends():
    assert (sample(73)[0], sample(73)[-1], len(sample(73))) == (0, 72, 12)
