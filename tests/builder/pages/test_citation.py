"""Citations: of a page, and of the repository."""

import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

from builder.pages.page import cite_page
from builder.project.project_file import read_project
from tests.builder.content.test_navigation import article

ROOT = Path(__file__).parents[3]
SITE = read_project(ROOT)
# Of the schema of the Citation File Format 1.2.0.
KEYS = {
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi",
    "identifiers", "keywords", "license", "license-url", "message", "preferred-citation",
    "references", "repository", "repository-artifact", "repository-code", "title", "type", "url",
    "version",
}  # fmt: skip


def citation_file():
    """The file, of which the test needs texts and lists of texts."""
    values, key = {}, ""
    for line in (ROOT / "CITATION.cff").read_text("utf-8").splitlines():
        if line.startswith("  "):
            values[key] = [*(values[key] or []), line.strip().removeprefix("- ")]
        else:
            key, _, text = line.partition(": ")
            key = key.rstrip(":")
            values[key] = text.strip('"')
    return values


def test_the_citation_file_has_what_the_format_asks_for():
    values = citation_file()
    assert set(values) <= KEYS
    assert {"cff-version", "message", "title", "authors"} <= set(values)
    assert values["cff-version"] == "1.2.0"
    assert values["type"] in ("software", "dataset")
    assert [line.partition(": ")[0] for line in values["authors"]] == ["name"]
    assert date.fromisoformat(values["date-released"])


def test_version_and_date_agree_everywhere():
    values = citation_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert values["version"] == project["version"] == SITE.version
    assert values["date-released"] == SITE.released


def test_a_package_has_the_license_of_code_and_the_repository_that_of_its_texts_too():
    # The packages hold code alone; the citation is of the repository, texts and data included.
    code, texts = citation_file()["license"]
    assert (code, texts) == ("Apache-2.0", "CC-BY-4.0")
    for file in ("pyproject.toml", "builder/pyproject.toml"):
        written = tomllib.loads((ROOT / file).read_text("utf-8"))
        assert written["project"]["license"] == code
        included = written["tool"]["hatch"]["build"]["targets"].get("sdist", {}).get("include", [])
        assert not any("content" in path for path in included)
    license_file = (ROOT / "LICENSE").read_text("utf-8")
    assert "everything under content/" in license_file
    assert "License (CC BY 4.0)" in license_file
    assert "everything else is licensed under the Apache License, Version 2.0" in license_file


def test_a_page_is_cited_with_title_version_date_and_address():
    cited = cite_page(article("zero-1", updated="2026-11-28"), SITE, "https://example.org/")
    assert cited.text.endswith(". Wallclock 0.1.0, 2026-11-28.")
    lines = cited.bibtex.splitlines()
    assert lines[0] == "@misc{wallclock_guides_zero_1,"
    assert "  date = {2026-11-28}," in lines
    assert "  version = {0.1.0}," in lines
    assert "  url = {https://example.org/guides/zero-1/}" in lines


def test_what_has_a_meaning_for_latex_is_escaped():
    cited = cite_page(replace(article("one"), title="R&D: 5 % of $1"), SITE, "")
    assert r"title = {R\&D: 5 \% of \$1}" in cited.bibtex


def test_a_page_without_a_date_has_that_of_the_release():
    assert SITE.released in cite_page(article("one", updated=""), SITE, "").text
