"""No reply depends on the order of a set, which differs from one process to the next."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.calculator import load, names
from engine.core.parsing import exact_text
from engine.core.views import Value
from tests import lanes
from tests.engine.calculators.tried import answer, views_at

ROOT = Path(__file__).parents[3]
# Answers one request after the other, each in a line.
SCRIPT = """
import sys
from engine.answer import answer
for line in sys.stdin:
    print(answer(line), flush=True)
"""


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Callable[[str], str]]:
    """What another process answers, in which sets have another order than here."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:

        def ask(request: str) -> str:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            return process.stdout.readline().rstrip("\n")

        yield ask
        process.stdin.close()


@pytest.mark.parametrize("name", lanes.sampled([*names()], 3))
def test_every_process_gives_the_same_bytes(elsewhere, name):
    small = load(name).small  # of a search, a short one
    # With all receipts: also of them the bytes are the same.
    receipts = [key for key, view in views_at(name, small).items() if isinstance(view, Value)]
    values = {key: exact_text(value) for key, value in small.items()}
    request = json.dumps({"calculator": name, "values": values, "want": {"receipts": receipts}})
    assert elsewhere(request) == answer(request)
