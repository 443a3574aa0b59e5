"""Labels of sources: what a text cites them by, and the letters that tell them apart."""

import json
import re
from string import ascii_lowercase

import pytest

from builder.content.bibliography import _short_authors
from builder.content.library import parse_library
from builder.core import html_tree
from builder.pages.page_markdown import page_markdown

SOURCE = '[{key}]\nauthors = ["{author}"]\nyear = {year}\ntitle = "T"\nurl = "https://e.org/"\n'
SECOND = SOURCE.format(key="second", author="Roger W. Hockney", year=1994)


def references(*sources):
    """Return the sources (key, author, year) as the bibliography reads them."""
    text = "\n".join(SOURCE.format(key=key, author=by, year=year) for key, by, year in sources)
    found, problems = parse_library(text, "")
    assert problems == []
    return found.references


def labels(*sources):
    return [one.label for one in references(*sources).values()]


def test_a_label_that_one_source_has_gets_no_letter():
    assert labels(("a", "NVIDIA", 2025), ("b", "NVIDIA", 2026)) == ["NVIDIA 2025", "NVIDIA 2026"]


def test_sources_of_one_label_have_letters_in_the_order_of_the_file():
    found = labels(("z", "NVIDIA", 2026), ("m", "PyTorch", 2026), ("a", "NVIDIA", 2026))
    assert found == ["NVIDIA 2026a", "PyTorch 2026", "NVIDIA 2026b"]


def test_a_source_that_is_added_at_the_end_changes_no_letter():
    before = (("z", "NVIDIA", 2026), ("a", "NVIDIA", 2026))
    assert labels(*before, ("b", "NVIDIA", 2026))[:2] == labels(*before)


def test_the_year_in_a_list_of_sources_has_the_letter_too():
    years = [one.year for one in references(("a", "X", 2026), ("b", "X", 2026)).values()]
    assert years == ["2026a", "2026b"]


def test_after_z_come_two_letters_and_a_list_keeps_that_order():
    found = references(*((f"k{number}", "X", 2026) for number in range(28)))
    letters = [*ascii_lowercase, "aa", "ab"]
    assert [one.letter for one in found.values()] == letters
    assert [one.letter for one in sorted(found.values(), key=lambda one: one.sort_key)] == letters


def test_labels_given_by_hand_are_told_apart_as_well():
    entry = '[{key}]\nlabel = "Docs"\nyear = 2020\ntitle = "T"\nurl = "https://e.org/"\n'
    found, _ = parse_library(entry.format(key="a") + entry.format(key="b"), "")
    assert [one.label for one in found.references.values()] == ["Docs a", "Docs b"]


def test_text_receipt_list_and_markdown_of_a_page_tell_two_sources_apart(live):
    live.edit("content/references.toml", "[unused2000]", SECOND + "[unused2000]")
    live.edit("content/guides/first.md", "[@hockney1994]", "[@hockney1994; @second]")
    page = live.page("guides/first/index.html")
    receipts = live.page("guides/first/receipts/index.html")
    assert re.findall(r'<a href="#ref-second">([^<]*)</a>', page) == ["Hockney 1994b"]
    told = re.findall(
        r'<a (?:data-cite="\w+" )?href="(?:\.\./)?#ref-hockney1994">([^<]*)</a>', page
    )
    told += re.findall(r'<a data-cite="hockney1994"[^>]*>([^<]*)</a>', receipts)
    assert set(told) == {"Hockney 1994a"}
    labels = json.loads(re.search(r"data-cite-labels>(.*?)</script>", receipts)[1])
    assert labels == {"hockney1994": "Hockney 1994a", "second": "Hockney 1994b"}
    assert "(1994a)" in page
    assert "(1994b)" in page
    assert "(Hockney 1994a; Hockney 1994b)" in page_markdown(
        html_tree.parse(page), "https://e.org/"
    )


@pytest.mark.parametrize(
    ("authors", "short"),
    [
        (["Shoeybi, Mohammad"], "Shoeybi"),
        (["Mohammad Shoeybi", "Patwary, Mostofa"], "Shoeybi and Patwary"),
        (["A. B. Cohen", "NVIDIA Corporation USA inc"], "Cohen and NVIDIA Corporation USA inc"),
        (["One, A", "Two, B", "Three, C"], "One et al."),
        (["One, A", "and others"], "One et al."),
    ],
)
def test_the_short_form_of_authors_has_their_last_names(authors, short):
    assert _short_authors(authors) == short
