"""`python -m engine schema run|request`: the JSON Schema of a run file or of a plan request."""

import argparse
import sys
from collections.abc import Sequence

from engine.run.schema import SCHEMAS, schema_text

USAGE = "python -m engine schema run|request"


def main(arguments: Sequence[str]) -> int:
    """Print a schema; return 0, or leave with 2 where none is named."""
    parser = argparse.ArgumentParser(
        usage=USAGE, allow_abbrev=False, description="Print the JSON Schema of what a file may say."
    )
    parser.add_argument("file", choices=tuple(SCHEMAS), help="a run file, or a request of plans")
    options = parser.parse_args(arguments)
    sys.stdout.write(schema_text(SCHEMAS[options.file]()))
    return 0
