"""What a verb prints, and the numbers that it ends with."""

import sys

from builder.core.plural import count_of
from builder.core.problem import Problem

WRONG_CONTENT, WRONG_USAGE = 1, 2


def say(text: str) -> None:
    """Print one line at once, also into a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def told(problems: tuple[Problem, ...]) -> bool:
    """Print every problem; say whether there were any."""
    for problem in problems:
        say(str(problem))
    if problems:
        say(f"{count_of(len(problems), 'problem')}; nothing was written")
    return bool(problems)
