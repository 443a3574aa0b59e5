import contextlib
import datetime
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest

from builder.cli import external_links

PAGE = (
    b'<a href="https://a.org/x#y">a</a><a href="https://b.org/">b</a><a href="https://me.org/r/1">'
)
DAY = datetime.date(2026, 11, 23)


def test_addresses_are_those_of_other_sites(live):
    output = {"index.html": PAGE, "a.js": b"https://c.org"}
    found = external_links.external_urls(output, ("", "https://me.org/r"))
    assert found == ["https://a.org/x", "https://b.org/"]


def test_what_was_heard_is_kept_and_told_without_a_network(live):
    line = live.append("content/guides/second.md", "See [a](https://a.org/x).")
    urls = ["https://a.org/x", "https://b.org/", "https://c.org/"]
    heard = {"https://a.org/x": 404, "https://b.org/": 200, "https://c.org/": 403}
    assert external_links.ask_all(
        live.root, urls, DAY, heard.__getitem__
    ) == external_links.load_answers(live.root)
    kept = external_links.load_answers(live.root)
    told = external_links.problems(live.folders, [*urls, "https://d.org/"], kept)
    assert [str(one) for one in told] == [
        f"content/guides/second.md:{line}: https://a.org/x answered 404 on 2026-11-23"
    ]
    assert external_links.unanswered_message([*urls, "https://d.org/"], kept) == (
        "1 of 4 addresses were never asked; 1 gave no clear answer, such as https://c.org/; "
        "--online asks"
    )


def test_damaged_answers_are_none(live):
    for text in ("{", "[]", '{"https://a.org": 3}'):
        (live.root / external_links.FILE).write_text(text)
        assert external_links.load_answers(live.root) == {}


@pytest.mark.parametrize("status", [404, 410])
def test_an_address_that_is_gone_is_a_problem_where_it_is_written(live, status):
    live.append("content/guides/second.md", "See [it](https://example.org/x).")
    heard = {"https://example.org/x": (status, "2026-11-01")}
    (found,) = external_links.problems(live.folders, ["https://example.org/x"], heard)
    assert found.path == "content/guides/second.md"
    assert found.message == f"https://example.org/x answered {status} on 2026-11-01"


@pytest.mark.parametrize("status", [0, 200, 403, 405, 411, 500])
def test_an_address_that_answers_otherwise_may_be_there(live, status):
    heard = {"https://example.org/x": (status, "2026-11-01")}
    assert external_links.problems(live.folders, ["https://example.org/x"], heard) == []


@pytest.mark.parametrize(
    ("head", "get", "status"), [(200, 500, 200), (405, 200, 200), (404, 410, 410), (400, 0, 0)]
)
def test_a_host_that_refuses_to_answer_shortly_is_asked_for_the_whole(
    monkeypatch, head, get, status
):
    answers = {"HEAD": head, "GET": get}

    def urlopen(request, timeout):
        code = answers[request.get_method()]
        if not code:
            raise TimeoutError
        if code >= 400:
            raise urllib.error.HTTPError(request.full_url, code, "no", {}, None)
        return contextlib.nullcontext(SimpleNamespace(status=code))

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    assert external_links.fetch_status("https://example.org/") == status


def test_what_is_no_address_answers_nothing():
    assert external_links.fetch_status("nowhere") == 0
