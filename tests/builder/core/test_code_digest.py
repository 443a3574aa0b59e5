"""What a module does is told by its compiled code, the same whatever its lines are."""

import os
import subprocess
import sys

import pytest

from builder.core import module_imports
from tests.builder.conftest import ROOT

TEXT = '''"""A module."""
import math

SIZES = {"small", "large", "huge"}

def area(radius: float) -> float:
    """Return it."""
    if radius in {"a", "b", "c"}:
        raise ValueError("no number")
    return math.pi * radius**2
'''


def does(text):
    return module_imports.behavior_digest(compile(text, "", "exec", dont_inherit=True))


@pytest.mark.parametrize(
    "edited",
    [
        "# why\n\n" + TEXT,
        TEXT.replace("    return math", "    # because\n\n    return math"),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("math.pi * radius**2", "(\n        math.pi  # of a circle\n * radius**2)"),
    ],
)
def test_comments_and_lines_change_nothing(edited):
    assert does(edited) == does(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("**2", "**3"),
        ("**2", "**2.0"),
        ("math.pi", "math.e"),
        ("small", "tiny"),
        ('"a", "b"', '"a", "d"'),
        ("Return it", "Return the area"),
        ("radius: float", "radius: int"),
        ("radius: float", "radius: float = 1"),
        ("radius", "length"),
        ("def area", "def region"),
        ("    if", "    assert radius\n    if"),
    ],
)
def test_anything_else_changes_it(old, new):
    assert does(TEXT.replace(old, new)) != does(TEXT)


def test_it_is_the_same_in_every_process():
    code = (
        "import sys\nfrom builder.core import module_imports\n"
        "code = compile(sys.stdin.read(), '', 'exec', dont_inherit=True)\n"
        "print(module_imports.behavior_digest(code))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=TEXT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert said == {does(TEXT) + "\n"}


def test_all_texts_are_found():
    found = set(module_imports.string_constants(compile(TEXT, "", "exec", dont_inherit=True)))
    assert {"A module.", "small", "Return it.", "a", "no number"} <= found
