"""`python -m engine schema run|request`: the JSON Schema of a run file or of a plan request."""

import sys
from collections.abc import Sequence

from engine.run.schema import SCHEMAS, schema_text

USAGE = f"python -m engine schema {'|'.join(SCHEMAS)}"


def main(arguments: Sequence[str]) -> int:
    """Print a schema; return 0, or 2 where none is named."""
    if len(arguments) != 1 or arguments[0] not in SCHEMAS:
        sys.stderr.write(f"usage: {USAGE}\n")
        return 2
    sys.stdout.write(schema_text(SCHEMAS[arguments[0]]()))
    return 0
