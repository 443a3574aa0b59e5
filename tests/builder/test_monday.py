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
# Guide -> what its list has no setting of, why, and the version of what a reader sets instead.
NOTHING_TO_SET = {
    "layers-that-are-not-attention": (
        ("PyTorch", "FSDP2", "DeepSpeed"),
        "they take layers as the model's own code has them and know no kinds of layers",
        r"Megatron-LM\*\* \(Core 0\.19\)",
    ),
    "racks-of-72": (
        tuple(FRAMEWORKS),
        "whether a rack is one NVLink domain is decided by IMEX, NCCL and the scheduler",
        r"NCCL 2\.30",
    ),
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
    excepted, reason, instead = NOTHING_TO_SET.get(slug, ((), "none", ""))
    assert missing(slug) == list(excepted), reason
    assert re.search(instead, monday(slug))


def test_every_exception_is_of_a_guide_that_is_there():
    assert NOTHING_TO_SET.keys() <= GUIDES.keys()
