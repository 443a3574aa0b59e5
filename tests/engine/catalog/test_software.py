"""Software that pages name: versions in one file, each change with its source."""

import re
import tomllib
from pathlib import Path

import pytest

from engine.calculators.moving_bytes.nccl_log.calculator import version_text
from engine.catalog import deepspeed_settings, fsdp2_settings, nccl_constants
from engine.catalog.software import BY_NAME, CHECKED, SOFTWARE, Software, version_key
from engine.catalog.software_changes import CHANGES
from engine.run.importers import megatron, model_families, torchtitan_derived
from tests.each import each
from tests.versions import compare, newest_in

CONTENT = Path(__file__).resolve().parents[3] / "content"
REFERENCES = tomllib.loads((CONTENT / "references.toml").read_text("utf-8"))
PAGES = sorted(CONTENT.rglob("*.md"))
# What the pages write -> the row of the catalog.
WRITTEN = {
    "PyTorch": "PyTorch",
    "FSDP2": "PyTorch",
    "NCCL": "NCCL",
    "Core": "Megatron Core",
    "DeepSpeed": "DeepSpeed",
    "torchtitan": "torchtitan",
    "verl": "verl",
    "TRL": "TRL",
    "NeMo RL": "NeMo RL",
    "nccl-tests": "nccl-tests",
    r"OpenRLHF\*\*": "OpenRLHF",
}
_INSTALL = re.compile(r"pip install [^\n`]*?([A-Za-z0-9-]+)==([0-9][\w.]*)")


def named_versions(text, name):
    """Return the versions that a text writes after a name, with or without a parenthesis."""
    return re.findall(rf"\b{name}\** \(?(?:PyTorch )?(\d+\.\d+(?:\.\d+)*)", text)


def is_known(row, version):
    """Return whether a row lists the version, or one that begins with it."""
    changes = [change.version for change in CHANGES if change.software == row.name]
    known = (row.read_at, row.newest, *(other for other, _ in row.others), *changes)
    key = version_key(version)
    return any(version_key(one)[: len(key)] == key for one in known)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_version_that_a_page_names_is_in_the_file(page):
    text = page.read_text("utf-8")
    unknown = [
        (name, version)
        for name, row in WRITTEN.items()
        for version in named_versions(text, name)
        if not is_known(BY_NAME[row], version)
    ]
    assert unknown == []


def test_versions_are_found_as_pages_write_them():
    text = "**verl** (0.9.1): FSDP2 (PyTorch 2.13), Megatron-LM (Core 0.19), torchtitan 0.3.0"
    assert named_versions(text, "verl") == ["0.9.1"]
    assert named_versions(text, "FSDP2") == ["2.13"]
    assert named_versions(text, "Core") == ["0.19"]
    assert named_versions(text, "torchtitan") == ["0.3.0"]
    assert not is_known(BY_NAME["Megatron Core"], "0.20")


def test_what_is_printed_to_install_is_a_release_of_the_file():
    printed = [
        (package, version)
        for folder in (CONTENT, CONTENT.parent / "engine")
        for path in [*folder.rglob("*.md"), *folder.rglob("*.py")]
        for package, version in _INSTALL.findall(path.read_text("utf-8"))
    ]
    newest = {row.package: row.newest for row in SOFTWARE if row.package}
    assert [pair for pair in printed if newest.get(pair[0], pair[1]) != pair[1]] == []


@each("row", SOFTWARE, ids=range(len(SOFTWARE)))
def test_every_row_has_its_source_and_what_was_compared(row):
    assert row.source in REFERENCES
    assert not row.newest or re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", row.newest_date)
    assert row.newest or not row.package
    assert row.newest_date <= CHECKED
    assert bool(row.tested) == row.is_behind


@each("row", CHANGES, ids=range(len(CHANGES)))
def test_every_change_has_a_source_a_date_and_a_page(row):
    assert row.software in BY_NAME
    assert row.source in REFERENCES
    assert re.fullmatch(r"20\d\d-[01]\d(-[0-3]\d)?", row.date)
    assert row.date <= CHECKED
    assert (CONTENT / f"{row.page}.md").is_file()
    assert "reference/what-changed.md" in (CONTENT / f"{row.page}.md").read_text("utf-8")
    assert all(text.endswith(".") for text in (row.before, row.since, row.engine))


@each("row", CHANGES, ids=range(len(CHANGES)))
def test_no_change_is_of_a_version_after_the_newest(row):
    newest = version_key(BY_NAME[row.software].newest)
    assert row.version == "main" or version_key(row.version) <= newest


@each(
    ("older", "newer"),
    [("2.9", "2.13"), ("2.13", "2.13.1"), ("0.19.2", "0.20"), ("2.32.3", "2.32.6")],
    ids=range(4),
)
def test_versions_compare_as_numbers(older, newer):
    assert version_key(older) < version_key(newer)


def test_a_zero_at_the_end_and_what_follows_the_numbers_count_for_nothing():
    assert version_key("2.13.0") == version_key("2.13")
    assert version_key("2.8.3.post2") == version_key("2.8.3")
    assert version_key("0.20.0rc1") == version_key("0.20")


def row(newest):
    return Software(
        name="A", package="a", read_at="1.0", newest=newest, newest_date="2026-01", source="x"
    )


ANSWER = "WARNING: something\na (1.2)\nAvailable versions: 1.2, 1.1, 1.0\n"


def test_the_answer_of_pip_names_the_newest():
    assert newest_in(ANSWER) == "1.2"
    assert newest_in("ERROR: No matching distribution found for a") == ""


def test_the_command_says_what_is_behind():
    lines, status = compare([row("1.1")], lambda _: "1.2")
    assert lines == ["A: read at 1.0, listed 1.1, index 1.2: BEHIND"]
    assert status == 1


def test_the_command_is_content_with_what_the_index_has():
    assert compare([row("1.2")], lambda _: "1.2")[1] == 0


def test_without_a_network_the_command_says_so():
    lines, status = compare([row("1.2")], lambda _: "")
    assert lines == ["No answer from the package index; is there a network?"]
    assert status == 2


@each(
    ("software", "named"),
    [
        ("PyTorch", fsdp2_settings.VERSION),
        ("DeepSpeed", deepspeed_settings.VERSION),
        ("NCCL", f"NCCL {nccl_constants.VERSION}"),
        ("Megatron Core", megatron.VERSION),
        ("torchtitan", torchtitan_derived.VERSION),
        ("Transformers", model_families.VERSION),
    ],
    ids=range(6),
)
def test_the_engine_reads_settings_at_the_version_of_the_file(software, named):
    program, version = named.rsplit(" ", 1)
    assert program == software
    key = version_key(version)
    assert version_key(BY_NAME[software].read_at)[: len(key)] == key


@each(
    ("version", "text"),
    [
        ("2.27.7", "2.27.7"),
        ("2.30.7", "2.30.7"),
        ("2.31.2", "2.31.2: newer than this model, which chooses as 2.30 does"),
        ("3.0", "3.0: newer than this model, which chooses as 2.30 does"),
        ("", "not named"),
    ],
    ids=range(5),
)
def test_the_log_reader_says_where_nccl_is_newer_than_the_model(version, text):
    assert version_text(version) == text
