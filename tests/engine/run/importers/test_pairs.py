"""Two formats pasted at once give no answer with the defaults of a third."""

import random

import pytest

from tests.engine.run.importers.fuzz_pairs import pair, tried

SOURCE = random.Random("two at once")
PAIRS = [pair(SOURCE) for _ in range(120)]


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_two_texts_at_once_mix_no_defaults(number):
    assert tried(*PAIRS[number]) in ("answered", "contradicted", "refused")
