"""Former addresses of pages lead on, and the build refuses those that cannot."""

import re

import pytest

from tests.each import each


def rename(site, *was):
    named = ", ".join(f'"{one}"' for one in was)
    site.edit("content/guides/second.md", "minutes = 3", f"minutes = 3\nwas = [{named}]")


def test_a_former_address_leads_to_the_page(live):
    rename(live, "guides/before", "older")
    built = live.build(base_url="https://example.org/w/")
    assert not built.problems
    one, two = (built.output[f"{was}/index.html"].decode() for was in ("guides/before", "older"))
    assert re.findall(r'(?:href|data-to)="([^"]*)"', one) == [
        "https://example.org/w/guides/second/",
        "../../guides/second/",
        "../../guides/second/",
    ]
    assert 'content="0; url=../guides/second/"' in two
    assert b"guides/before" not in built.output["sitemap.xml"]


@each(
    ("was", "told"),
    [
        ("guides/first", "which is the address of content/guides/first.md"),
        ("guides/second", "which is the address of content/guides/second.md"),
        ("/guides/before/", "an address is such as 'guides/old-name'"),
        ("../outside", "an address is such as"),
        ("assets/main", "an address is such as"),
    ],
)
def test_an_address_that_cannot_lead_on_is_named_with_its_line(live, was, told):
    rename(live, was)
    (problem,) = live.problems()
    assert re.match(r"content/guides/second\.md:\d+: was names", problem)
    assert told in problem
    live.edit("content/guides/second.md", f'\nwas = ["{was}"]', "")


def test_two_pages_cannot_have_had_one_address(live):
    rename(live, "guides/before")
    live.edit("content/guides/first.md", "order = 1", 'order = 1\nwas = ["guides/before"]')
    (problem,) = live.problems()
    assert "and so does content/guides/" in problem


@pytest.mark.parametrize("was", ["guides/before", "deep/er/still"])
def test_links_in_prose_to_a_former_address_stay_wrong(live, was):
    rename(live, was)
    live.append("content/guides/first.md", f"[old]({was}.md)")
    assert any(f"'{was}.md'" in problem for problem in live.problems())
