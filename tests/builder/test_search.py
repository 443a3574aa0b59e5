"""What can be searched for: pages, calculators with their numbers, terms; and the index of it."""

import gzip
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from builder import pipeline
from builder.content import article
from builder.core import build_cache
from builder.core.problem import ServiceError
from builder.outputs import pagefind, search_documents
from tests.builder.conftest import SERVICES, silent


def test_pages_calculators_and_their_numbers_are_documents(live):
    found: dict[str, str] = {}
    services = replace(SERVICES, search=lambda texts: found.update(texts) or {})
    built = pipeline.build(
        live.folders, pipeline.Options(), services, build_cache.BuildCache(), silent
    )
    assert not built.problems
    pages = {path for path in built.output if path.endswith("/index.html")}
    pages -= {path for path in pages if path.endswith("/receipts/index.html")}
    assert pages <= {*found}
    calculators = {path: text for path, text in found.items() if path.startswith("_/")}
    assert any('<h2 id="' in text for text in calculators.values())


def test_an_index_names_its_files_in_a_folder_with_a_hash():
    page = search_documents._document("<h1>Bubble</h1><p>idle stages</p>", "Guide", "guides/x/")
    made = pagefind.build_index({"guides/x/index.html": page})
    where = json.loads(made[pagefind.INDEX_LOCATION])
    assert {f"search/{where['folder']}/{name}" for name in where["files"]} == {*made} - {
        pagefind.INDEX_LOCATION
    }
    assert "pagefind.js" in where["files"]
    assert not any(name.endswith(".css") for name in where["files"])
    assert made == pagefind.build_index({"guides/x/index.html": page})


def of_kinds(documents):
    kinds = ("Guide", "Tool", "Term", "Path", "Formula")
    texts = {n: f"<h1>Title {n}</h1><p>words</p>" for n in range(documents)}
    head = '<!doctype html><html lang="en">'
    return {
        f"{n}": head + search_documents._document(text, kinds[n % 5], f"{n}/")
        for n, text in texts.items()
    }


def test_an_index_of_several_kinds_has_the_same_bytes_again():
    made = pagefind.build_index(of_kinds(30))
    assert all(made == pagefind.build_index(of_kinds(30)) for _ in range(4))
    # Whatever is named after its content is there under that name.
    names = {name.rpartition("/")[2] for name in made}
    entry = json.loads(next(made[name] for name in made if name.endswith("pagefind-entry.json")))
    meta = f"pagefind.{entry['languages']['en']['hash']}.pf_meta"
    assert meta in names
    listed = next(gzip.decompress(made[name]) for name in made if name.endswith(meta))
    (held,) = [name for name in names if name.endswith(".pf_filter")]
    assert held.removesuffix(".pf_filter").encode() in listed


def test_a_filter_keeps_every_value_with_its_pages_in_order():
    pages = bytes([*range(24)]) + b"\x18\x18\x19\x01\x00"  # 0 to 24, and 256
    values = [b"\x82\x65Guide\x98\x1a" + pages, b"\x82\x64Tool\x81\x18\xff"]
    for given in (values, values[::-1]):
        sort = pagefind._sorted_values(b"\x82\x64kind\x82" + b"".join(given))
        assert sort == b"\x82\x64kind\x82" + b"".join(sorted(values))
    many = [bytes([0x82, 0x62]) + b"%02d" % n + bytes([0x81, n % 24]) for n in range(30)]
    sort = pagefind._sorted_values(b"\x82\x64kind\x98\x1e" + b"".join(many[::-1]))
    assert sort == b"\x82\x64kind\x98\x1e" + b"".join(many)


def test_a_filter_of_another_form_is_one_sentence():
    with pytest.raises(ServiceError, match="its filter has an unknown form"):
        pagefind._sorted_values(b"\x82\x64kind\x9f\x82\x61a\x80\xff")


def test_an_index_that_cannot_be_made_is_one_sentence(monkeypatch):
    def absent(*_, **__):
        raise OSError("no such program")

    monkeypatch.setattr(pagefind.subprocess, "run", absent)
    with pytest.raises(ServiceError, match="search index could not be made: no such program"):
        pagefind.build_index({})


@pytest.mark.parametrize("text", ["<b>&", "a\"b'c"])
def test_words_of_authors_are_text_in_a_document(text):
    from html import escape

    view = {"kind": "value", "label": text, "text": text, "note": ""}
    assert search_documents._output("id", view).count(escape(text)) == 2


FORMULAS = """<article><h2 id="file-x">X</h2><h3 id="ring">Ring<a class="headerlink">#</a></h3>
<div class="view"><div><mn data-slot="T">490 ms</mn></div></div><p><math>T</math> time ·</p>
<p>All ranks send.</p><h3 id="tree">Tree</h3><p>By halves.</p></article>"""
NAMES = ("Page", "Printed", "Right", "Verdict", "Why", "Sources")
CLAIMS = f"""<table class="stack" role="table"><thead><tr>
{"".join(f'<th scope="col">{name}</th>' for name in NAMES)}</tr></thead><tbody>
<tr role="row"><th role="rowheader">Size of <i>it</i></th><td role="cell">13 GB</td>
<td role="cell">14 GB</td><td role="cell">wrong</td><td role="cell" class="long">GiB.</td>
<td role="cell">A</td></tr></tbody></table>"""


def listed(slug, html, **library):
    page = article.Article(
        source="",
        slug=slug,
        url=f"reference/{slug}/",
        kind="page",
        title="",
        summary="",
        text="",
        body="",
    )
    return [
        (one.name, one.kind, re.sub(r"<[^>]+>", "|", one.html), one.url)
        for one in search_documents.page_entries(page, html, SimpleNamespace(references=library))
    ]


def test_every_formula_is_found_with_its_value():
    assert listed("formulas", FORMULAS) == [
        (
            "ring",
            "Formula",
            "|Ring||With the inputs of the sheet: 490 ms. time · All ranks send.|",
            "reference/formulas/#ring",
        ),
        ("tree", "Formula", "|Tree||By halves.|", "reference/formulas/#tree"),
    ]


def test_every_claim_is_found_with_what_is_right():
    said = "|Size of it||Printed: 13 GB. Right: 14 GB. Verdict: wrong. Why: GiB.|"
    assert listed("claims", CLAIMS) == [("0", "Claim", said, "reference/claims/#claims_checked")]


def test_every_question_is_found_with_its_answer():
    html = (
        '<article><h2 id="n">Networks</h2><h3 id="busbw">What is busbw?'
        '<a class="headerlink">#</a></h3><p>A rate of <output>480 GB/s</output>.</p></article>'
    )
    said = "|What is busbw?||A rate of 480 GB/s.|"
    assert listed("questions", html) == [("busbw", "Question", said, "reference/questions/#busbw")]


def test_every_source_is_found_with_what_was_taken_from_it():
    source = SimpleNamespace(
        authors="A & B", year="2009", title="Trees", where="J. 1", used_for="Two trees."
    )
    assert listed("bibliography", "", sanders=source) == [
        (
            "sanders",
            "Source",
            "|Trees||A &amp; B (2009). J. 1. Two trees.|",
            "reference/bibliography/#ref-sanders",
        )
    ]


def test_other_pages_list_nothing():
    assert listed("ring", FORMULAS + CLAIMS) == []
