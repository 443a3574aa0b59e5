"""Whose calculators these are: the package that they stand in, told by whoever runs the engine.

What the reader's browser loads has a module of its own here, which names the project's package.
"""

CALCULATORS = "engine.calculators"


def package() -> str:
    """Return the package of the project, whose module runs its calculators in a terminal."""
    return CALCULATORS.partition(".")[0]
