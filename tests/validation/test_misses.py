"""What pages tell of measurements that no fit saw is what the model says."""

from tests.validation import misses


def test_the_rows_are_those_of_the_model():
    assert misses.TARGET.read_text(encoding="utf-8") == misses.text()
