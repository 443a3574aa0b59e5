"""`test NAME` for an article without tests: builds the project and reports its problems."""

from collections.abc import Callable
from pathlib import Path

from builder.cli.build_command import build_with_cache
from builder.core.progress import Options, pluralize
from builder.project.activate_project import activate_project


def has_problems(root: Path, name: str, report: Callable[[str], None]) -> bool:
    """Build a project with drafts, report its problems, and return whether there are any.

    Args:
        root: the project's folder.
        name: of the article.
        report: called with each problem, problems of the article first.
    """
    folders = activate_project(root)
    project = folders.project
    options = Options(base_url=project.address, repository=project.repository, drafts=True)
    built = build_with_cache(folders, options)
    own_problems = [
        problem for problem in built.problems if Path(problem.path).name == f"{name}.md"
    ]
    for problem in (
        *own_problems,
        *(problem for problem in built.problems if problem not in own_problems),
    ):
        report(str(problem))
    elsewhere = len(built.problems) - len(own_problems)
    report(f"{name}: {pluralize(len(own_problems), 'problem')}, {elsewhere} elsewhere")
    return bool(built.problems)
