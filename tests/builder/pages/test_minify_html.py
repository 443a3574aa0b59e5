"""Pages are sent without what HTML lets one leave out."""

from html.parser import HTMLParser

import pytest

from builder.pages.all_pages import minify_html

ROW = b"<tr><th>8</th> <td>4</td></tr>"
TABLE = b"<table><thead><tr><th>n</th></tr></thead>\n<tbody>%b</tbody></table>" % ROW


def test_a_table_keeps_its_cells_apart() -> None:
    thin = b"<table><thead><tr><th>n<tbody><tr><th>8<td>4</table>"
    assert minify_html(TABLE) == thin


@pytest.mark.parametrize(
    "html",
    [
        b"<td>one</td>two",
        b"<ul><li>one</li><!-- two --></ul>",
        b"<dl><dt>a</dt>b</dl>",
        b"<mtd>1</mtd><mtd>2</mtd>",
        b"<option>a</option>b",
    ],
)
def test_what_something_else_follows_keeps_its_end(html: bytes) -> None:
    assert minify_html(html) == html


def test_words_stay_apart() -> None:
    assert minify_html(b"<ul><li>one</li>\n<li>two</li>\n</ul>") == b"<ul><li>one\n<li>two\n</ul>"


BUTTON = b'<button class="close" type="button" disabled>Close</button>'


def test_a_button_outside_of_a_form_needs_no_type() -> None:
    assert minify_html(BUTTON) == b'<button class="close" disabled>Close</button>'
    assert minify_html(b"<form>%b</form>" % BUTTON) == b"<form>%b</form>" % BUTTON


def test_a_drawing_in_a_page_needs_no_namespace() -> None:
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" class="scene"></svg>'
    assert minify_html(drawing) == b'<svg class="scene"></svg>'


class Starts(HTMLParser):
    """Collects the tags that begin, and the words."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(f"<{tag}{attrs}")

    def handle_data(self, data: str) -> None:
        self.found += data.split()


def test_nothing_else_is_taken_away() -> None:
    read = []
    for html in (TABLE, minify_html(TABLE)):
        starts = Starts()
        starts.feed(html.decode())
        read.append(starts.found)
    assert read[0] == read[1]
