import pytest

from builder.cli.external_links import unanswered_message
from builder.core.progress import html_pages, pluralize


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
    assert pluralize(count, noun) == said


def test_one_address_that_nobody_asked():
    said = unanswered_message(["https://e.org/"], {})
    assert said == "1 of 1 address was never asked; --online asks"


def test_receipts_are_part_of_their_page():
    pages = ["index.html", "guides/a/index.html", "404.html"]
    beside = ["receipts/index.html", "guides/a/receipts/index.html", "guides/a/index.md"]
    assert html_pages([*pages, *beside]) == pages
