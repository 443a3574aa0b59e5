"""What a guide says to do on Monday names the settings of five frameworks, with versions."""

import re
from pathlib import Path

import pytest

GUIDES = {path.stem: path for path in Path(__file__).parents[2].glob("content/guides/*.md")}
# Name -> the version that a reader can compare with their own; FSDP2 comes with PyTorch.
FRAMEWORKS = {
    "PyTorch": r"\b2\.13\b",
    "FSDP2": r"\b2\.13\b",
    "DeepSpeed": r"\b0\.19\b",
    "Megatron": r"\bCore 0\.19\b",
    "torchtitan": r"\b0\.3\.0\b",
}


def monday(slug: str) -> str:
    """Return the section of a guide that says what to do, "" where it has none."""
    text = GUIDES[slug].read_text("utf-8")
    found = re.search(r"^## On Monday\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def missing(slug: str) -> list[str]:
    """Return the frameworks that the section lacks, by name or by version."""
    section = monday(slug)
    return [
        name
        for name, version in FRAMEWORKS.items()
        if name not in section or not re.search(version, section)
    ]


@pytest.mark.parametrize("slug", sorted(GUIDES))
def test_monday_names_the_settings_of_five_frameworks_with_versions(slug):
    assert missing(slug) == []
