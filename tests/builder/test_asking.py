"""What asks other hosts, asked of one of this machine: links, and the BibTeX of a DOI.

No real host is asked by any test: how doi.org and the publishers answer today, no test knows.
"""

import http.server
from collections.abc import Iterator

import pytest

from builder.cli import cite_command, external_links
from tests.browser.hosting import hosting

BIBTEX = b"@article{A_2020, title={Of Lines}, year={2020}, url={https://e.org/}, author={A, B}}"


class Web(http.server.BaseHTTPRequestHandler):
    """A few addresses, each with its own manners."""

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        kind = self.path.strip("/")
        if kind.startswith("10."):  # as doi.org: it leads on to who knows the source
            self.lead("/bibtex")
        elif kind == "moved":
            self.lead("/there")
        elif kind == "round":
            self.lead("/round")
        elif kind == "no-head" and self.command == "HEAD":
            self.say(405)
        elif kind in ("404", "410", "403", "500"):
            self.say(int(kind))
        elif kind == "bibtex":
            wanted = self.headers["Accept"] == cite_command.ACCEPTED
            self.say(200 if wanted else 406, BIBTEX if wanted else b"")
        else:
            self.say(200)

    def lead(self, place: str) -> None:
        self.send_response(302)
        self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def say(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    with hosting(Web) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("there", 200),
        ("moved", 200),
        ("no-head", 200),
        ("404", 404),
        ("410", 410),
        ("403", 403),
        ("500", 500),
        ("round", 302),
    ],
)
def test_an_address_answers_with_its_status(web, path, status):
    assert external_links.fetch_status(web + path) == status


def test_a_host_that_is_not_there_gives_no_answer():
    assert external_links.fetch_status("http://127.0.0.1:9/") == 0
    assert external_links.fetch_status("http://no such host/") == 0


def test_a_doi_becomes_a_source(web, tmp_path, monkeypatch):
    (tmp_path / "content").mkdir()
    monkeypatch.setattr(cite_command, "RESOLVER", web)
    assert cite_command.add_sources(tmp_path, "10.1000/182") == ["a_2020"]
    assert 'title = "Of Lines"' in (tmp_path / "content/references.toml").read_text("utf-8")


def test_a_resolver_that_is_not_there_is_said(tmp_path, monkeypatch):
    (tmp_path / "content").mkdir()
    monkeypatch.setattr(cite_command, "RESOLVER", "http://127.0.0.1:9/")
    with pytest.raises(cite_command.CiteError, match="did not answer"):
        cite_command.add_sources(tmp_path, "10.1000/182")
