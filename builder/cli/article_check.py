"""`test NAME` of an article that has no tests of its own: a build says what is wrong with it."""

from collections.abc import Callable
from pathlib import Path

from builder.cli.build_command import once
from builder.core.progress import Options, count_of
from builder.project.activate_project import enter


def refused(root: Path, name: str, report: Callable[[str], None]) -> bool:
    """Build a project, a draft too, and tell its problems; say whether there are any.

    Args:
        root: the project's folder.
        name: of the article.
        report: is told each problem, those of the article first.
    """
    places = enter(root)
    project = places.project
    options = Options(base_url=project.address, repository=project.repository, drafts=True)
    built = once(places, options)
    own = [one for one in built.problems if Path(one.path).name == f"{name}.md"]
    for one in (*own, *(one for one in built.problems if one not in own)):
        report(str(one))
    report(f"{name}: {count_of(len(own), 'problem')}, {len(built.problems) - len(own)} elsewhere")
    return bool(built.problems)
