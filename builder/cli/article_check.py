"""`test NAME` of an article that has no tests of its own: a build says what is wrong with it."""

from collections.abc import Callable
from pathlib import Path

from builder.cli.build_command import build_with_cache
from builder.core.progress import Options, pluralize
from builder.project.activate_project import activate_project


def has_problems(root: Path, name: str, report: Callable[[str], None]) -> bool:
    """Build a project, a draft too, and tell its problems; say whether there are any.

    Args:
        root: the project's folder.
        name: of the article.
        report: is told each problem, those of the article first.
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
    report(
        f"{name}: {pluralize(len(own_problems), 'problem')}, {len(built.problems) - len(own_problems)} elsewhere"
    )
    return bool(built.problems)
