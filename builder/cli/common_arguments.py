"""What the arguments of a verb mean: the project, its folders, where the output goes."""

import argparse
from pathlib import Path

from builder.core.folders import GENERATOR, Folders
from builder.core.options import Options

ROOT = GENERATOR  # the project that is meant where none is named


def root(given: argparse.Namespace) -> Path:
    """Return the folder of the project that a verb works on."""
    return Path(given.project).resolve() if given.project else ROOT


def places(given: argparse.Namespace, cache: Path | None = None) -> Folders:
    """Return the folders of the project, which is entered: its engine is the one asked."""
    from builder.project.activate_project import enter

    return enter(root(given), cache)


def target(given: argparse.Namespace) -> Path:
    """Return the folder that a build writes."""
    return Path(given.out).resolve() if given.out else root(given) / "site"


def options(given: argparse.Namespace, places: Folders) -> Options:
    """Return the options of a build: what is given, else what the project says."""
    base = getattr(given, "base_url", "") or places.project.address
    return Options(
        base_url=base if not base or base.endswith("/") else base + "/",
        repository=given.repository or places.project.repository,
    )
