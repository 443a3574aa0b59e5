"""What the page tells of collectives and of one article is what the model says."""

from tests.validation import outside


def test_the_rows_are_those_of_the_model():
    assert outside.TARGET.read_text(encoding="utf-8") == outside.text()
