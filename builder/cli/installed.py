"""The generator as an installed package: `wallclock_site`, whose folder holds its own engine.

Its modules keep the names that they have in the repository, and are importable only in processes
of the site's verbs.
"""

import os
import sys
from pathlib import Path


def main() -> int:
    """Run one verb on the project in the current folder."""
    folder = str(Path(__file__).parent)
    sys.path.insert(0, folder)
    # Processes that a verb starts find the modules too.
    paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    from builder.cli.commands import command

    return command()
