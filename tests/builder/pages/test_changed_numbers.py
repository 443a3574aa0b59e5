"""The list of numbers that have changed is the page of corrections, read by the build."""

import json
import re

from tests.each import each

HEAD = '+++\ntitle = "Corrections"\nsummary = "What changed."\n+++\n'
GOOD = """
## 2026-02-01: the speed

- Now: [[speed.time]].

## 2026-01-01: another

- Now: [[speed.time]].
"""


def with_corrections(site, text):
    folder = site.root / "content" / "reference"
    folder.mkdir(exist_ok=True)
    (folder / "corrections.md").write_text(HEAD + text, "utf-8")


def test_every_section_is_listed_with_its_calculators(live):
    with_corrections(live, GOOD)
    built = live.build()
    assert built.problems == ()
    found = json.loads(built.output["changes.json"])["changes"]
    assert [(one["date"], one["title"], one["calculators"]) for one in found] == [
        ("2026-02-01", "The speed", ["speed"]),
        ("2026-01-01", "Another", ["speed"]),
    ]
    page = built.output["reference/corrections/index.html"].decode()
    anchors = [one["url"].partition("#")[2] for one in found]
    assert all(f'id="{anchor}"' in page for anchor in anchors)


def test_a_page_without_a_section_lists_nothing(live):
    with_corrections(live, "Nothing has changed.")
    built = live.build()
    assert (built.problems, "changes.json" in built.output) == ((), False)


def test_without_such_a_page_there_is_no_list(live):
    assert "changes.json" not in live.build().output


@each(
    ("old", "new", "told"),
    [
        ("2026-02-01: the speed", "The speed", "does not begin with its date"),
        ("2026-02-01", "2026-02-30", "does not begin with its date"),
        ("2026-02-01", "2025-02-01", "the newest first; 2026-01-01 comes after 2025-02-01"),
        ("- Now: [[speed.time]].", "- Now: more.", "shows no number as it is now"),
    ],
)
def test_a_section_that_cannot_be_listed_is_named_with_its_line(live, old, new, told):
    with_corrections(live, GOOD.replace(old, new, 1))
    problems = live.problems()
    assert len(problems) == 1
    assert problems[0].startswith("content/reference/corrections.md:")
    assert told in problems[0]


def test_the_feed_names_corrections_beside_articles(live):
    with_corrections(live, GOOD)
    feed = live.build(base_url="https://example.org/w/").output["feed.xml"].decode()
    assert "<title>Corrected: The speed</title>" in feed
    ids = re.findall("<id>(.*?)</id>", feed)
    assert len(ids) == len(set(ids)) > 3
    dates = re.findall("<entry>.*?<updated>(.*?)</updated>", feed)
    assert dates == sorted(dates, reverse=True)
