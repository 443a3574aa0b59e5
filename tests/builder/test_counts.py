import pytest

from builder.counts import count_of
from builder.outside import unheard


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (0, "guide", "0 guides"),
        (1, "guide", "1 guide"),
        (2, "guide", "2 guides"),
        (1, "address", "1 address"),
        (3, "address", "3 addresses"),
    ],
)
def test_one_is_told_in_the_singular(count, noun, said):
    assert count_of(count, noun) == said


def test_one_address_that_nobody_asked():
    said = unheard(["https://e.org/"], {})
    assert said == "1 of 1 address was never asked; --online asks"
