"""The package whose calculators this process runs; set by the command line or the site.

What the reader's browser loads has a module of its own here, which names the project's package.
"""

CALCULATORS = "engine.calculators"


def package() -> str:
    """Return the name of the package that holds the project's calculators."""
    return CALCULATORS.partition(".")[0]
