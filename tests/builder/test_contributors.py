"""Whatever a contributor sends as text: it is refused with its line, or it is only text."""

import html.parser
import time

import pytest

from builder.cli import cite_command
from tests.hostile import DRAWINGS, HARMLESS, REFUSED, RUN

SECOND = "content/guides/second.md"
SENT = '\\"><script>window.ran=1</script><img src=x onerror=window.ran=1>'
PLAIN = '"><script>window.ran=1</script><img src=x onerror=window.ran=1>'


class Active(html.parser.HTMLParser):
    """Collects what runs in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "script" and "src" not in given and "json" not in given.get("type", ""):
            self.found.append(tag)
        self.found += [name for name in given if name.startswith("on")]
        self.found += [one for one in given.values() if str(one).startswith("javascript:")]


def active(page: bytes) -> list[str]:
    reader = Active()
    reader.feed(page.decode())
    return reader.found


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told_with_its_file(live, name):
    live.append(SECOND, REFUSED[name])
    began = time.perf_counter()
    found = live.problems()
    assert time.perf_counter() - began < 10
    assert found
    assert all(one.startswith(f"{SECOND}:") for one in found), found


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_built_is_text(live, name):
    live.append(SECOND, HARMLESS[name])
    built = live.build()
    assert built.problems == ()
    page = built.output["guides/second/index.html"]
    assert active(page) == []
    assert b"root:" not in page  # of /etc/passwd


@pytest.mark.parametrize("text", DRAWINGS)
def test_a_drawing_that_is_more_is_refused(live, text):
    place = live.root / "content/guides/drawn.svg"
    place.write_text(text)
    assert live.problems()[0].startswith(f"content/guides/drawn.svg:{DRAWINGS[text]}")


def test_a_title_is_text_everywhere(live):
    text = (live.root / SECOND).read_text("utf-8")
    line = next(one for one in text.splitlines() if one.startswith("title ="))
    live.edit(SECOND, line, f'title = "{SENT}"')
    live.append("content/guides/first.md", "See [](second.md).")
    only_text(live.build(base_url="https://example.org/"))


@pytest.mark.parametrize("key", ["title", "where", "used_for"])
def test_a_source_is_text_everywhere(live, key):
    place = live.root / "content/references.toml"
    entry = {"title": "A", "where": "B", "used_for": "C", key: SENT}
    lines = "\n".join(f'{name} = "{value}"' for name, value in entry.items())
    told = f'\n[sent]\n{lines}\nyear = 2026\nurl = "https://e.org/"\nauthors = ["{SENT}"]\n'
    place.write_text(place.read_text("utf-8") + told, "utf-8")
    live.append(SECOND, "As said [@sent].")
    only_text(live.build())


def test_a_definition_is_text_everywhere(live):
    place = live.root / "content/glossary.toml"
    place.write_text(place.read_text("utf-8") + f'\n["sent"]\ntext = "{SENT}"\n', "utf-8")
    live.append(SECOND, "A ??sent??.")
    only_text(live.build())


def only_text(built):
    assert [str(one) for one in built.problems] == []
    whole = {path: data for path, data in built.output.items() if path.endswith(".html")}
    assert any(b"window.ran" in page for page in whole.values())
    assert {path: active(page) for path, page in whole.items() if active(page)} == {}
    feeds = [data for path, data in built.output.items() if path.endswith(".xml")]
    assert not any(b"<script>" in feed for feed in feeds)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('was = ["../../../tmp/x"]', "was names '../../../tmp/x'; an address is such as"),
        ('was = ["assets/main"]', "was names 'assets/main'; an address is such as"),
        ('next = ["../first"]', "'../first'"),
    ],
)
def test_front_matter_leads_nowhere_else(live, line, said):
    live.edit(SECOND, "order = 2", f"order = 2\n{line}")
    found = live.problems()
    assert said in found[0]
    assert found[0].startswith(f"{SECOND}:7: ")


def test_a_bibliography_is_text(tmp_path):
    (tmp_path / "content").mkdir()
    sent = tmp_path / "sent.bib"
    sent.write_text(
        f"@article{{a, title={{{PLAIN}}}, year={{2026}}, url={{https://e.org/}}, author={{A, B}}}}"
    )
    assert cite_command.add_sources(tmp_path, str(sent)) == ["a"]
    assert RUN in (tmp_path / "content/references.toml").read_text("utf-8")
    sent.write_text("@article{b, title={B}, year={2026}, url={javascript:window.ran=1}}")
    with pytest.raises(cite_command.CiteError, match="no url"):
        cite_command.add_sources(tmp_path, str(sent))
