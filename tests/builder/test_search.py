"""What can be searched for: pages, calculators with their numbers, terms; and the index of it."""

import json
from dataclasses import replace

import pytest

from builder import memo, pipeline
from builder.search import documents, pagefind
from tests.builder.conftest import SERVICES, silent


def test_pages_calculators_and_their_numbers_are_documents(live):
    found: dict[str, str] = {}
    services = replace(SERVICES, search=lambda texts: found.update(texts) or {})
    built = pipeline.build(live.folders, pipeline.Options(), services, memo.Memo(), silent)
    assert not built.problems
    pages = {path for path in built.output if path.endswith("/index.html")}
    assert pages <= {*found}
    calculators = {path: text for path, text in found.items() if path.startswith("_/")}
    assert any('<h2 id="' in text for text in calculators.values())


def test_an_index_names_its_files_in_a_folder_with_a_hash():
    page = documents._document("<h1>Bubble</h1><p>idle stages</p>", "Guide", "guides/x/")
    made = pagefind.index({"guides/x/index.html": page})
    where = json.loads(made[pagefind.WHERE])
    assert {f"search/{where['folder']}/{name}" for name in where["files"]} == {*made} - {
        pagefind.WHERE
    }
    assert "pagefind.js" in where["files"]
    assert not any(name.endswith(".css") for name in where["files"])
    assert made == pagefind.index({"guides/x/index.html": page})


def test_an_index_that_cannot_be_made_is_one_sentence(monkeypatch):
    from builder.problem import ServiceError

    def absent(*_, **__):
        raise OSError("no such program")

    monkeypatch.setattr(pagefind.subprocess, "run", absent)
    with pytest.raises(ServiceError, match="search index could not be made: no such program"):
        pagefind.index({})


@pytest.mark.parametrize("text", ["<b>&", "a\"b'c"])
def test_words_of_authors_are_text_in_a_document(text):
    from html import escape

    view = {"kind": "value", "label": text, "text": text, "note": ""}
    assert documents._output("id", view).count(escape(text)) == 2
